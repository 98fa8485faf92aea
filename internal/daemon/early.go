package daemon

import (
	"strings"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/speculation"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// stableAfter is how long partial words must be unchanged, while the voice is silent, to
// count as the whole utterance. docs/design/measurements.md has the figures.
const stableAfter = 200 * time.Millisecond

// mostEarly is how many requests are sent early for one utterance. Each costs money.
const mostEarly = 3

// early sends the assistant's request before the user's words are final, if the user
// enabled that (agentvoice.speculation). The core does not know about it: the answer stays
// hidden until SendCopilot asks exactly the same.
type early struct {
	d        *Daemon
	attempts *speculation.Speculator

	mu        sync.Mutex
	now       csm.State // after the last step
	utterance uint64    // the only one whose words are awaited; 0 if no request may be sent early
	silent    bool      // its voice is silent
	words     string    // recognised so far
	settled   bool      // the recogniser expects no change of words while the voice is silent
	stop      func()    // stops the timer; nil if none runs
	gen       uint64    // increments when the timer becomes invalid
	counted   uint64    // the utterance for which sent counts
	sent      int       // requests sent early
}

func newEarly(d *Daemon) *early {
	return &early{d: d, attempts: speculation.New(), stop: func() {}}
}

// step follows the conversation. It runs on the loop, after the step's requests were
// claimed.
func (e *early) step(s dispatch.Step) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now = s.State
	utterance, silent := awaited(s.State)
	if utterance != e.utterance {
		e.forget()
		e.utterance = utterance
	}
	if utterance == 0 {
		return
	}
	began := silent && !e.silent
	e.silent = silent
	if !silent {
		e.disarm()
		e.settled = false
	}
	if p, ok := s.Envelope.Event.(csm.Partial); ok && p.Utterance == utterance {
		e.hear(e.d.content.utterance(utterance), false)
	}
	if began {
		e.arm()
	}
}

// awaited returns the utterance whose words are the next request, and whether its voice
// is silent; 0 if there is no such utterance, or the request could not be sent at once.
func awaited(st csm.State) (utterance uint64, silent bool) {
	_, busy := copilot.LiveOf(st.Copilot)
	_, speaks := speech.LineOf(st.Speech)
	if st.Phase() == csm.PhaseSuspended || busy || speaks || len(st.Queue) > 0 || len(st.Drafts) > 0 ||
		st.Config.Turns == turn.Manual || st.Model.Wanted != st.Model.Loaded {
		return 0, false
	}
	switch conv := st.Conv.(type) {
	case csm.Listening:
		pending := turn.Pending(st.Turn)
		switch t := st.Turn.(type) {
		case turn.UserSpeaking:
			if len(pending) == 0 {
				return t.Open.ID, t.Silent
			}
		case turn.EndPending:
			if len(pending) == 1 {
				return pending[0].ID, true
			}
		}
	case csm.Analysing:
		if len(st.Current.More) == 0 {
			return conv.Unsent, false
		}
	}
	return 0, false
}

// hear handles the words so far. A beginning of the words is late, and changes nothing.
func (e *early) hear(words string, settled bool) {
	if !settled && strings.HasPrefix(e.words, words) {
		return
	}
	if words != e.words {
		e.attempts.Drop()
	}
	e.words, e.settled = words, settled && e.silent
	if e.silent {
		e.arm()
	}
}

// heardSettled handles words that the recogniser expects to keep if the voice remains
// silent. What a sound is for certain is heard at once, like a word that is spoken: "stop"
// pauses the answer before its final words decide.
func (d *Daemon) heardSettled(epoch uint32, utterance uint64, said Transcript) csm.Event {
	words, _ := said.words()
	if d.assistant != nil && words != "" { // a sound that is compared apart has no text
		d.assistant.early.hearSettled(utterance, words)
	}
	if said.Answer == nil || !said.Answer.certain() {
		return nil
	}
	return d.heardPartly(epoch, utterance, words)
}

func (e *early) hearSettled(utterance uint64, words string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if utterance == e.utterance && utterance != 0 {
		e.hear(words, true)
	}
}

// arm starts a request when the words are stable.
func (e *early) arm() {
	e.disarm()
	if e.words == "" || !e.d.settings().Speculation {
		return
	}
	wait, gen := stableAfter, e.gen
	if e.settled {
		wait = 0
	}
	e.stop = e.d.cfg.Clock.AfterFunc(wait, func() { e.start(gen) })
}

func (e *early) disarm() {
	e.gen++
	e.stop()
	e.stop = func() {}
}

// forget drops the words and the attempt.
func (e *early) forget() {
	e.disarm()
	e.attempts.Drop()
	e.utterance, e.silent, e.words, e.settled = 0, false, "", false
}

// reset is forget for other goroutines than the loop's: the microphone was muted, or the
// settings have changed.
func (e *early) reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.forget()
}

// start sends the request for the words so far, written as those of a final transcript
// would be.
func (e *early) start(gen uint64) {
	e.mu.Lock()
	words, current := e.words, gen == e.gen
	e.mu.Unlock()
	g := e.d.grammar()
	if !current || g.Classify(words).Class != spoken.UtteranceContent || g.Begins(words) || !e.d.maySpeculate() {
		return
	}
	words, _ = e.d.corrected(words)
	a := e.d.assistant
	e.mu.Lock()
	defer e.mu.Unlock()
	if gen != e.gen {
		return
	}
	if e.utterance != e.counted {
		e.counted, e.sent = e.utterance, 0
	}
	if e.sent == mostEarly {
		return
	}
	said := e.now.History.Said()
	req := copilot.Request{
		ID: wireID("early-", gen), Messages: a.content.promptOf(said.Summary, said.Items, words, true),
		Tools: a.content.offered(), Model: e.d.modelOf(e.now), Used: a.used,
	}
	if e.attempts.Start(a.uses(), req) {
		e.sent++
	}
}

// maySpeculate reports whether a request may be sent whose answer may be thrown away.
func (d *Daemon) maySpeculate() bool {
	return !d.muted() && !d.callsTools() && (d.cfg.Record == nil || !d.cfg.Record.Spent())
}
