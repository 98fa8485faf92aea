package secondmodel

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// step is the visible part of one step of the core: an event and its results. The
// model sees nothing else of the core.
type step struct {
	Event csm.Event
	Phase string
	FX    []csm.Effect
}

// trace is a conversation as numbers, in the format of testdata/promela/conversation.pml.
type trace struct {
	Name string
	Rows [][columns]int
}

// The columns of a row: the event, then its results.
const (
	colKind    = iota // csm.Kind
	colA              // first argument: an utterance, a request, a call, a segment, a reason
	colB              // see args
	colC              //
	colPhase          // number of the published phase, -1 if it differs from the resulting phase
	colSend           // requests sent, including tool searches
	colCancel         // requests cancelled, including tool searches
	colSpeak          // pieces to synthesize
	colFlush          // playback is flushed: 1 before everything else, 2 after something
	colSound          // the player may play
	colOpen           // the microphone is open
	colTool           // 1 called, 2 cancelled, 4 approval requested, 8 rejected
	colTurn           // 1 started, 2 answered, 4 failed, 8 dropped, 16 interrupted
	colQueue          // number of queued utterances
	colRefused        // the request was rejected
	colPost           // the core's own events: 1 next of the queue, 2 fatal fault, 4 everything closed
	colTimers         // bits of the running deadlines
	columns
)

var phases = map[string]int{
	"Idle": 0, "Preparing": 1, "Listening": 2, "Analysing": 3, "WaitingForCopilot": 4, "GeneratingResponse": 5,
	"Speaking": 6, "Interrupted": 7, "Faulted": 8, "Terminating": 9, "Suspended": 10,
}

// samplesMs is samples of a position per millisecond.
const samplesMs = 48

// reader tracks state that the model does not have, so that the model needs no clock
// and no connection ids: which deadline is current, which connection is live, how
// long a voice lasted.
type reader struct {
	timers  [csm.NumTimers]uint32 // generation of each running timer, or 0
	epochs  map[uint32]bool
	inst    uint32
	onset   map[uint64]int64
	confirm time.Duration
	queue   int

	successor, load, gen  uint32
	started, paused, open bool // of the player and the microphone
}

// read converts steps to a trace.
func read(name string, steps []step) (trace, error) {
	t := trace{Name: name}
	r := reader{epochs: map[uint32]bool{}, onset: map[uint64]int64{}, confirm: csm.DefaultConfig().Confirm}
	for _, s := range steps {
		row, err := r.row(s)
		if err != nil {
			return t, fmt.Errorf("%s: %w", name, err)
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

func (r *reader) row(s step) (row [columns]int, err error) {
	phase, known := phases[s.Phase]
	if !known {
		return row, fmt.Errorf("the model has no phase %s", s.Phase)
	}
	if row[colKind] = slices.Index(events, csm.KindOf(s.Event).String()); row[colKind] < 0 {
		return row, fmt.Errorf("the model has no event %v", csm.KindOf(s.Event))
	}
	row[colPhase] = phase
	told := s.Phase
	row[colA], row[colB], row[colC] = r.args(s.Event)
	if dry, ok := s.Event.(csm.SpeechDrained); ok && dry.Gen == r.gen {
		r.started = false // and must be started again
	}
	for i, f := range s.FX {
		r.follow(f, &row)
		switch f := f.(type) {
		case csm.Flush:
			row[colFlush] = 1 + bit(i > 0)
		case csm.PublishState:
			told = f.To.String()
		default:
		}
	}
	if told != s.Phase {
		row[colPhase] = -1
	}
	row[colQueue], row[colSound], row[colOpen] = r.queue, bit(r.started && !r.paused), bit(r.open)
	for t, gen := range r.timers {
		if gen != 0 {
			n := slices.Index(timers, csm.Timer(t).String())
			if n < 0 {
				return row, fmt.Errorf("the model has no deadline %v", csm.Timer(t))
			}
			row[colTimers] |= 1 << n
		}
	}
	return row, nil
}

func (r *reader) follow(f csm.Effect, row *[columns]int) {
	switch f := f.(type) {
	case csm.ActivateSession:
		r.inst = f.Instance
	case csm.OpenConnection:
		if r.successor = f.Epoch; !f.Successor {
			clear(r.epochs)
			r.successor = 0
		}
		r.epochs[f.Epoch] = true
	case csm.CloseConnection:
		if delete(r.epochs, f.Epoch); f.Epoch == 0 {
			clear(r.epochs)
		}
	case csm.StartTimer:
		r.timers[f.Timer] = f.Gen
	case csm.StopTimer:
		r.timers[f.Timer] = 0
	case csm.SendCopilot, csm.SearchTools:
		row[colSend]++
	case csm.CancelCopilot, csm.CancelSearch:
		row[colCancel]++
	case csm.Speak:
		row[colSpeak]++
	case csm.StartPlayback:
		r.started = true
	case csm.PausePlayback:
		r.paused = true
	case csm.ResumePlayback:
		r.paused = false
	case csm.LoadModel:
		r.load = f.Load
	case csm.Flush:
		r.gen, r.started, r.paused = f.Gen, false, false
	case csm.StartCapture, csm.ReleaseCapture:
		r.open = true
	case csm.HoldCapture, csm.CloseAudio:
		r.open = false
	case csm.CallTool:
		row[colTool] |= 1
	case csm.CancelTool:
		row[colTool] |= 2
	case csm.PublishTool:
		row[colTool] |= map[csm.ToolStatus]int{csm.ToolPending: 4, csm.ToolRejected: 8}[f.Status]
	case csm.PublishTurn:
		row[colTurn] |= map[csm.TurnEnd]int{"": 1, csm.Answered: 2, csm.TurnFailed: 4, csm.TurnDropped: 8, csm.TurnCutOff: 16}[f.End]
	case csm.PublishQueue:
		r.queue = f.Waiting
	case csm.Post:
		row[colPost] |= map[csm.Kind]int{csm.KindQueueNext: 1, csm.KindFatal: 2, csm.KindReset: 4}[f.Event]
	case csm.Reply:
		if f.Code != "" {
			row[colRefused] = 1
		}
	default: // notifications, and regions outside of the model
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// args returns the arguments of an event.
func (r *reader) args(e csm.Event) (a, b, c int) {
	switch e := e.(type) {
	case csm.Configure:
		r.confirm = e.Config.Confirm
		return int(e.Config.Interruption) + 4*int(e.Config.Turns), e.Config.QueueMax, bit(e.Config.Tools) + 2*e.Config.RoundsMax
	case csm.UserText:
		return int(e.Utterance), bit(e.Words > 0), 0
	case csm.UserApprove:
		return int(e.ToolCall), bit(e.Approved), 0
	case csm.UserRetry:
		return int(e.ToolCall), int(e.Stage), bit(e.Call == 0)
	case csm.UserStop:
		return 0, 0, bit(e.Call == 0)
	case csm.UserPlayback:
		return bit(e.Pause), 0, 0
	case csm.Suspend:
		return int(e.Reason), 0, 0
	case csm.Resume:
		return int(e.Reason), 0, 0
	case csm.SessionRenewal:
		return 0, bit(e.Instance == r.inst && (e.Epoch == 0 || r.epochs[e.Epoch])), 0
	case csm.SessionReady, csm.SessionRenewed, csm.SessionFailed, csm.AudioPrimed, csm.AudioReady, csm.AudioFailed:
		return 0, bit(field(e, "Instance") == int(r.inst)), 0
	case csm.AudioLost:
		return int(e.Device), bit(e.Instance == r.inst), 0
	case csm.AudioRestored:
		return int(e.Device), bit(e.Instance == r.inst), 0
	case csm.ConnReady, csm.ConnFailed:
		epoch := uint32(field(e, "Epoch"))
		return int(epoch), bit(r.epochs[epoch]), bit(r.successor == epoch)
	case csm.ConnLost:
		return int(e.Epoch), bit(r.epochs[e.Epoch]), bit(e.Kept)
	case csm.ModelLoaded, csm.ModelFailed:
		return 0, bit(field(e, "Load") == int(r.load)), 0
	case csm.SpeechStarted, csm.SpeechPaused, csm.SpeechResumed, csm.SpeechStopped, csm.Partial, csm.Final, csm.RecognitionLost:
		return r.voice(e)
	case csm.CopilotSent:
		return int(e.Request), e.Round, 0
	case csm.CopilotDelta:
		return int(e.Request), e.Round, bit(e.Acted)
	case csm.ToolSearchDone:
		return int(e.Request), e.Round, ending(e.Code, e.Cancelled)
	case csm.CopilotSegment:
		return int(e.Request), e.Round, e.End
	case csm.CopilotToolCall:
		return int(e.Request), e.Round, int(e.ToolCall)<<3 | bit(e.Reads)<<2 | bit(e.Allowed)<<1 | bit(e.Destructive)
	case csm.CopilotDone:
		return int(e.Request), e.Round, ending(e.Code, e.Cancelled) + 4*bit(e.Asks)
	case csm.ToolDone:
		return int(e.ToolCall), 0, ending(e.Code, e.Cancelled)
	case csm.SpeechBuffered, csm.SpeechPlayed, csm.SpeechDrained, csm.SpeechFailed:
		return field(e, "Seq"), field(e, "Gen"), 0
	case csm.SpeechFlushed:
		return 0, int(e.Gen), 0
	case csm.TimerFired:
		live := r.timers[e.Timer] == e.Gen && e.Gen != 0
		if live {
			r.timers[e.Timer] = 0
		}
		return slices.Index(timers, e.Timer.String()), bit(live), 0
	}
	return 0, 0, 0
}

// field returns a number that several events have under the same name.
func field(e csm.Event, name string) int {
	v := reflect.ValueOf(e).FieldByName(name)
	if v.CanUint() {
		return int(v.Uint())
	}
	return int(v.Int())
}

// voice returns the arguments of an event about the user's voice.
func (r *reader) voice(e csm.Event) (a, b, c int) {
	u := uint64(field(e, "Utterance"))
	a, b = int(u), bit(r.epochs[uint32(field(e, "Epoch"))])
	switch e := e.(type) {
	case csm.SpeechStarted:
		if _, known := r.onset[u]; !known {
			r.onset[u] = e.Pos
		}
	case csm.SpeechPaused:
		c = r.short(u, e.Pos)
	case csm.SpeechStopped:
		c = r.short(u, e.Pos)
	case csm.Partial:
		c = int(e.Class) + 16*bit(e.Words == 0)
	case csm.Final:
		c = int(e.Class) + 16*bit(e.Named) + 32*bit(e.Doubted) + 64*bit(e.Words == 0)
	}
	return a, b, c
}

func ending(code csm.Code, cancelled bool) int {
	if cancelled {
		return 2
	}
	return bit(code != "")
}

// short reports whether a voice ended before it counts (interruption.confirmMs).
func (r *reader) short(u uint64, pos int64) int {
	from, known := r.onset[u]
	return bit(known && time.Duration(pos-from)*time.Millisecond/samplesMs < r.confirm)
}

// write writes traces in the model's format: the number of rows, a name, and the rows.
func write(all []trace) []byte {
	var out bytes.Buffer
	for _, t := range all {
		fmt.Fprintf(&out, "%d %s\n", len(t.Rows), t.Name)
		for _, row := range t.Rows {
			for _, n := range row {
				fmt.Fprintf(&out, "%d ", n)
			}
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}
