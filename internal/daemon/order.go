package daemon

import (
	"slices"
	"sync"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// order gives words to the core in the order of the onsets, and after their voice. Services may
// finish transcripts in any order, and before the user has finished. Words wait for those of
// earlier utterances until these arrive or the core gives them up.
type order struct {
	post func(csm.Event)

	mu   sync.Mutex
	list []onset // oldest first
}

// onset is an utterance whose words the core does not have.
type onset struct {
	epoch     uint32
	utterance uint64
	known     bool      // the core knew it after some step
	ended     bool      // its voice has ended
	words     csm.Event // nil until they arrive
}

// Post posts an event of the World in its order.
func (o *order) Post(e csm.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch e := e.(type) {
	case csm.SpeechStarted:
		o.list = append(o.list, onset{epoch: e.Epoch, utterance: e.Utterance})
	case csm.SpeechStopped:
		o.post(e)
		o.end(e.Utterance)
		return
	case csm.Final:
		o.heard(e.Epoch, e.Utterance, e)
		return
	case csm.RecognitionLost:
		o.heard(e.Epoch, e.Utterance, e)
		return
	case csm.ConnLost:
		o.list = slices.DeleteFunc(o.list, func(u onset) bool { return u.epoch == e.Epoch })
	default: // no words
	}
	o.post(e)
}

// heard posts words, or keeps them until it is their turn.
func (o *order) heard(epoch uint32, utterance uint64, words csm.Event) {
	at := slices.IndexFunc(o.list, func(u onset) bool { return u.epoch == epoch && u.utterance == utterance && u.words == nil })
	if at < 0 {
		o.post(words)
		return
	}
	o.list[at].words = words
	if _, lost := words.(csm.RecognitionLost); lost {
		o.list[at].ended = true
	}
	o.release()
}

// end records the end of a voice.
func (o *order) end(utterance uint64) {
	for i, u := range o.list {
		o.list[i].ended = u.ended || u.utterance == utterance
	}
	o.release()
}

// release posts the words that wait for no others.
func (o *order) release() {
	for len(o.list) > 0 && o.list[0].words != nil && o.list[0].ended {
		o.post(o.list[0].words)
		o.list = o.list[1:]
	}
}

// step follows the core: it forgets the utterances that the core has given up.
func (o *order) step(s dispatch.Step) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = slices.DeleteFunc(o.list, func(u onset) bool {
		_, known := turn.Find(s.State.Turn, u.utterance)
		return u.known && !known
	})
	for i, u := range o.list {
		if _, known := turn.Find(s.State.Turn, u.utterance); known {
			sp, _ := s.State.Turn.(turn.UserSpeaking)
			o.list[i].known, o.list[i].ended = true, u.ended || u.known && sp.Open.ID != u.utterance // the core may have ended it
		} else if e, now := s.Envelope.Event.(csm.SpeechStarted); now && e.Utterance == u.utterance {
			o.list[i].known = true // the core did not take it
		}
	}
	o.release()
}
