package live

import (
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// leastGrace is how long the user must have been silent before an answer begins to be spoken. What the
// user adds until then belongs to the same message (docs/design/measurements.md, Pauses inside a
// sentence). A pause is known 0.2 to 0.35 s after the voice.
const leastGrace = 900 * time.Millisecond

// grace keeps an answer that is ready very soon from being spoken into a pause of the user's: a turn is
// provisional until its answer is audible. A key and a phrase end a turn for certain, and with high
// eagerness the user wants answers soon.
type grace struct {
	now     func() time.Duration
	after   func(time.Duration, func()) (stop func() bool)
	post    func(csm.Event)
	applies func() bool

	mu       sync.Mutex
	speaking bool
	since    time.Duration // when the user fell silent
	stop     func() bool   // stops the last report
}

func newGrace(w *World) *grace {
	return &grace{
		now: w.now, post: w.port.Post, applies: func() bool { return takesGrace(w.port.Settings()) }, stop: func() bool { return true },
		after: func(d time.Duration, f func()) func() bool {
			return time.AfterFunc(time.Duration(float64(d)/w.cfg.Speed), f).Stop
		},
	}
}

// takesGrace says whether a pause ends the user's turn, so that it may not have been meant.
func takesGrace(set protocol.Settings) bool {
	mode := protocol.TurnMode(set.TurnDetection.Mode)
	return mode != protocol.TurnPhrase && mode != protocol.TurnPushToTalk && set.TurnDetection.Eagerness != protocol.EagernessHigh
}

// heard follows the user's voice.
func (g *grace) heard(e csm.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch e.(type) {
	case csm.SpeechStarted, csm.SpeechResumed:
		g.speaking = true
	case csm.SpeechPaused, csm.SpeechStopped:
		if g.speaking {
			g.speaking, g.since = false, g.now()
		}
	default: // no voice
	}
}

// buffered reports that audio of an answer is ready: later, if that is too soon. The audio cannot have
// begun to play before.
func (g *grace) buffered(e csm.SpeechBuffered) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if rest := g.since + leastGrace - g.now(); g.since > 0 && rest > 0 && g.applies() {
		g.stop = g.after(rest, func() { g.post(e) })
		return
	}
	g.post(e)
}

// shut reports nothing more.
func (g *grace) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stop()
}
