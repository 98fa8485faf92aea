package live

import (
	"cmp"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/turns"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// judge judges when a pause ends the user's turn. The tracker measures the pause, and the judge says
// how long it must last, by what the service has recognised. A nil judge leaves that to the service.
// The hearer's mu guards it.
type judge struct {
	delays     turns.Delays        // of the open utterance
	next       func() turns.Delays // of the next one
	unfinished func(words string) bool
	// settles: the service says what it has recognised up to a pause. Another one keeps all audio,
	// and reports words at any time or not at all.
	settles bool
	// Of the pause, and of one in which a faint voice is heard.
	why, faint turns.Judgement
}

// reasons has the judge's reasons as the core knows them.
var reasons = map[turns.Reason]csm.EndReason{
	turns.OfSilence: csm.EndedBySilence, turns.OfNoWords: csm.EndedUnknown, turns.OfWords: csm.EndedByWords,
	turns.OfUnfinished: csm.EndedUnfinished, turns.OfStop: csm.EndedByStop, turns.OfSound: csm.EndedBySound, turns.OfFaintVoice: csm.EndedFaint,
}

// newJudge returns the judge that the settings select. There is none if the service owns the turns
// (mode server, OpenAI Live, and what does not take commits), without a detector, and in push-to-talk.
// With a phrase, pauses separate utterances.
func newJudge(w *World, set protocol.Settings) *judge {
	row, _ := provider.Of(string(set.SessionWith()))
	mode := set.TurnDetection.Mode
	settles := row.Name == provider.Local
	switch {
	case w.cfg.Detector == nil || w.link.deaf.Load() && !settles, row.Session == nil || !settles && !row.Session.Commits, mode == protocol.TurnServer || mode == protocol.TurnPushToTalk:
		return nil
	}
	next := func() turns.Delays { return pauses(w.port.Settings().TurnDetection) }
	return &judge{delays: pauses(set.TurnDetection), next: next, unfinished: w.port.Unfinished, settles: settles}
}

// pauses returns the pauses that end an utterance.
func pauses(set protocol.TurnDetectionSettings) turns.Delays {
	eagerness := set.Eagerness
	switch set.Mode {
	case protocol.TurnPhrase:
		return turns.Silence(set.Silence)
	case protocol.TurnPatient:
		eagerness = protocol.EagernessLow
	}
	d, _ := turns.Eager(cmp.Or(eagerness, protocol.EagernessAuto))
	return d
}

// ends reports whether the judge ends utterances: the tracker finds them.
func (j *judge) ends(m *matcher) bool { return j != nil && m.local }

// judge returns how long a pause must last from now on.
func (j *judge) judge(m *matcher) (silence, faint time.Duration) {
	if j == nil {
		return 0, 0
	}
	u := m.open()
	if u == nil {
		j.delays = j.next()
		return j.unknown()
	}
	heard := turns.Evidence{Words: cmp.Or(u.partial, u.words)}
	known := heard
	if j.settles {
		known = turns.Evidence{Words: u.words, Stop: u.stop, Behind: u.reached+audio.Samples(edges) < u.to}
		if !known.Behind {
			known.Sound = u.complete
		}
	}
	j.why = j.delays.Judge(j.meant(known))
	heard.Faint = true
	j.faint = j.delays.Judge(j.meant(heard))
	return j.why.Delay, j.faint.Delay
}

// edges is by how much the tracker may place the end of a voice later than the service does.
const edges = 100 * time.Millisecond

// meant adds whether the words mean something alone.
func (j *judge) meant(e turns.Evidence) turns.Evidence {
	e.Unfinished = !e.Behind && e.Words != "" && j.unfinished != nil && j.unfinished(e.Words)
	return e
}

// unknown returns how long a pause must last if nothing is known about what was said.
func (j *judge) unknown() (silence, faint time.Duration) {
	if j == nil {
		return 0, 0
	}
	return j.delays.Unclear, j.delays.Unclear
}

// pauseLimit is how long a pause must last, from the judge to the tracker. Zero leaves the tracker as it
// was configured. It is safe for concurrent use.
type pauseLimit struct{ silence, faint atomic.Int64 }

func (p *pauseLimit) set(silence, faint time.Duration) {
	p.silence.Store(int64(silence))
	p.faint.Store(int64(faint))
}

func (p *pauseLimit) get() (silence, faint time.Duration, known bool) {
	silence, faint = time.Duration(p.silence.Load()), time.Duration(p.faint.Load())
	return silence, faint, silence > 0
}
