package roomsim

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	contract "github.com/agentvoice/agentvoice-daemon/csm/world"
)

// ThinkTime is the time from a request to the first sentence of its answer.
const ThinkTime = 300 * time.Millisecond

// sentencesPerAnswer gives answers of about half a minute.
const sentencesPerAnswer = 8

// happening is an action of the core, with its position on the tape.
type happening struct {
	pos  int64  // of the tape
	what string // pause, resume, flush, or listening
}

// world answers the core's effects by the contract of the handlers: everything
// succeeds at once, and the assistant always has more to say.
type world struct {
	clock  dispatch.Clock
	loop   *dispatch.Loop
	player *audio.Player
	says   Assistant
	where  func() int64 // current position of the tape
	order  []int        // of sentences
	next   int          // in order

	tones *tones
	quiet atomic.Int32       // frames since the assistant was audible
	said  func(*audio.Frame) // receives the assistant's audio as it is rendered

	retracted func() // called when the core retracts an interruption

	mu        sync.Mutex
	happened  []happening
	phase     csm.Phase
	idle      bool // listening, without an active turn
	utterance uint64
	connected uint32 // epoch of the connection
	errors    []string
	noticed   time.Time       // when the onset was passed to the core, in real time; zero if none is pending
	software  []time.Duration // from the onset to the pause
}

func newWorld(clock dispatch.Clock, says Assistant, seed uint64) *world {
	w := &world{clock: clock, says: says, order: pick(seed, len(says)), said: func(*audio.Frame) {}}
	w.tones = newTones(clock, w.renderSpeech)
	w.where = func() int64 { return audio.Samples(clock.Now()) }
	w.loop = dispatch.New(dispatch.Config{Clock: clock, Execute: w.execute})
	return w
}

// begin starts the conversation.
func (w *world) begin(cfg csm.Config) {
	w.loop.Post(csm.Configure{Config: cfg})
	w.loop.Post(csm.UserStart{})
}

// render fills the next frame for the speaker: speech or a tone.
func (w *world) render(f *audio.Frame) { w.tones.mixer.Render(f) }

func (w *world) renderSpeech(f *audio.Frame) {
	w.player.Render(f)
	w.said(f)
	if audio.LevelOf(f[:]).RMS > SilenceLevel {
		w.quiet.Store(0)
		return
	}
	w.quiet.Add(1)
}

// sounding reports whether the assistant was audible in the last rendered frame, or
// shortly before.
func (w *world) sounding() bool { return time.Duration(w.quiet.Load())*audio.FrameTime < Hold }

// epoch returns the epoch of the connection.
func (w *world) epoch() uint32 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.connected
}

// speaking reports whether the assistant is speaking and no suspicion is open.
func (w *world) speaking() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.phase == csm.PhaseSpeaking
}

// newUtterance returns the next utterance number, for spoken or typed input.
func (w *world) newUtterance() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.utterance++
	return w.utterance
}

// feed submits a question if no turn is active.
func (w *world) feed() {
	w.mu.Lock()
	idle := w.idle
	w.idle = false
	w.mu.Unlock()
	if idle {
		w.loop.Post(csm.UserText{Utterance: w.newUtterance(), Words: 3})
	}
}

func (w *world) execute(s dispatch.Step) {
	for _, e := range s.Effects {
		w.carryOut(e)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.phase = s.State.Phase()
	w.idle = w.phase == csm.PhaseListening && s.State.Current.ID == 0
}

func (w *world) carryOut(e csm.Effect) {
	switch e := e.(type) {
	case csm.OpenConnection:
		w.mu.Lock()
		w.connected = e.Epoch
		w.mu.Unlock()
		w.loop.Post(contract.Reaction(e))
	case csm.SendCopilot:
		w.answer(e)
	case csm.Speak:
		w.speak(e)
	case csm.StartPlayback:
		w.player.Start(e.Gen)
	case csm.PausePlayback:
		w.player.Pause(e.Gen)
		w.note("pause")
	case csm.ResumePlayback:
		w.player.Resume(e.Gen)
		w.note("resume")
	case csm.Flush:
		w.player.Flush(e.Gen)
		w.note("flush")
	case csm.PublishState:
		w.tones.entered(e.To)
		if e.To == csm.PhaseListening {
			w.note("listening")
		}
		if e.Cause == csm.CauseInterruptRetract {
			w.retracted()
		}
	case csm.PublishError:
		w.complain(string(e.Code))
	case csm.Report:
		w.complain(e.What)
	default:
		if answer := contract.Reaction(e); answer != nil {
			w.loop.Post(answer)
		}
	}
}

// onset records that an onset is about to be passed to the core.
func (w *world) onset() {
	w.mu.Lock()
	w.noticed = time.Now()
	w.mu.Unlock()
}

func (w *world) note(what string) {
	pos := w.where()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.happened = append(w.happened, happening{pos: pos, what: what})
	if what != "listening" && what != "hold" && !w.noticed.IsZero() {
		w.software = append(w.software, time.Since(w.noticed))
		w.noticed = time.Time{}
	}
}

func (w *world) complain(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.errors = append(w.errors, what)
}

// answer schedules the next sentences after ThinkTime.
func (w *world) answer(e csm.SendCopilot) {
	w.loop.Post(csm.CopilotSent{Request: e.Request, Attempt: 1, Round: e.Round})
	w.clock.AfterFunc(ThinkTime, func() {
		for i := range sentencesPerAnswer {
			w.loop.Post(csm.CopilotSegment{Request: e.Request, Start: 80 * i, End: 80 * (i + 1), Round: e.Round})
		}
		w.loop.Post(csm.CopilotDone{Request: e.Request, Round: e.Round})
	})
}

// speak passes a whole sentence to the player.
func (w *world) speak(e csm.Speak) {
	seg := audio.SegmentID{Gen: e.Gen, Seq: e.Segment.Seq}
	pcm := w.says[w.order[w.next%len(w.order)]]
	w.next++
	if err := w.player.Write(seg, pcm); err != nil {
		w.complain(err.Error())
		w.loop.Post(csm.SpeechFailed{Gen: e.Gen, Seq: e.Segment.Seq, Code: csm.CodeSpeechFailed})
		return
	}
	if err := w.player.EndSegment(seg); err != nil {
		w.complain(err.Error())
	}
}

// played converts the player's events to events of the core.
func (w *world) played(e audio.PlayerEvent) {
	gen, seq := e.Seg.Gen, e.Seg.Seq
	switch e.Kind {
	case audio.Buffered:
		w.loop.Post(csm.SpeechBuffered{Gen: gen, Seq: seq})
	case audio.SegmentPlayed:
		w.loop.Post(csm.SpeechPlayed{Gen: gen, Seq: seq})
	case audio.Paused:
		w.loop.Post(csm.SpeechCursor{Gen: gen, Seq: seq, Played: e.Samples, Of: e.Of})
	case audio.Drained:
		w.loop.Post(csm.SpeechDrained{Gen: gen, Seq: seq})
	case audio.Flushed:
		w.loop.Post(csm.SpeechFlushed{Gen: gen, Seq: seq, Played: e.Samples, Of: e.Of})
	case audio.SegmentStarted, audio.Underrun:
	}
}
