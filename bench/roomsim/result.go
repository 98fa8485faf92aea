package roomsim

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// Outcome is the outcome of one case. Times are in milliseconds, and -1 for what did
// not happen. Silent, Decided and Listening are the figures of internal/figures, for
// the labelled onset and the room's speaker.
type Outcome struct {
	ID    string `json:"id"`
	Kind  Kind   `json:"kind"`
	Group string `json:"group"`
	Lang  string `json:"language,omitempty"`
	Weak  bool   `json:"weakOnset,omitempty"`
	Long  int64  `json:"long"` // from onset to end

	Silent    float64 `json:"silent"`    // from the onset to silence at the speaker
	Strong    float64 `json:"strong"`    // the same from the first loud part
	Held      float64 `json:"held"`      // from the onset to the hold on suspicion
	Decided   float64 `json:"decided"`   // from the onset to the core's decision
	Listening float64 `json:"listening"` // from the onset to Listening
	Resumed   float64 `json:"resumed"`   // from the end to the next sound at the speaker
	Lost      float64 `json:"lost"`      // from the onset to the detected onset; negative is early
	Told      bool    `json:"told"`      // the words reached the core
	WentOn    bool    `json:"wentOn"`    // the answer continued
	Stuck     bool    `json:"stuck,omitempty"`
}

// Interrupted reports whether the assistant fell silent before the end of the
// person's sound, or for a short sound, soon afterwards.
func (o Outcome) Interrupted() bool { return o.Silent >= 0 }

// Missed reports whether an intended interruption was not detected or was retracted.
func (o Outcome) Missed() bool { return o.Kind == BargeIn && (!o.Interrupted() || !o.Told) }

// Result is the result of a Cell.
type Result struct {
	Outcomes []Outcome
	// Sounding is how long the assistant was audible. Pauses and Interruptions count
	// false ones; interruptions took the floor, or the answer, from the assistant.
	Sounding              time.Duration
	Pauses, Interruptions int
	Holds                 int             // on false suspicions
	Early                 int             // Pauses before Settled
	FalseAt               []time.Duration // times of the pauses
	JumpAt, Refound       time.Duration   // when the echo's delay jumped, and when the new delay was found for good; 0 for never
	HalfDuplex            time.Duration   // time without voice interruptions
	Audio, CPU            time.Duration   // length, and CPU time of the media path; 0 if unknown
	Software              []time.Duration // from an onset's event to its effect on the player, in real time
	DSP                   dsp.Stats
	Errors                []string
}

// Settled is when the echo canceller has adapted to the room for sure, which it does
// while the assistant first speaks.
const Settled = 10 * time.Second

// never is the position of what did not happen.
const never = -1 << 40

// grace is how long after the end of a clip it may still cause a pause.
const grace = 700 * time.Millisecond

func ms(samples int64) float64 { return float64(samples) / perMs }

func (s *sim) result() Result {
	res := Result{Sounding: audio.Duration(s.sounds), DSP: s.front.Stats(), Errors: s.world.errors, Software: s.world.software, CPU: s.cpu, Audio: audio.Duration(s.pos)}
	res.HalfDuplex = time.Duration(s.deaf) * audio.FrameTime
	res.JumpAt, res.Refound = audio.Duration(s.jumped), audio.Duration(s.refound)
	for i := range s.person.said {
		res.Outcomes = append(res.Outcomes, outcome(&s.person.said[i], s.tape, s.world.happened, audio.Samples(s.Render)))
	}
	res.countFalse(s.person.said, s.world.happened)
	return res
}

// outcome evaluates a saying. A pause is audible buffered samples after the core's
// decision, or later.
func outcome(said *saying, tape *Tape, happened []happening, buffered int64) Outcome {
	c := said.c
	onset, strong, end := said.begin+c.Onset, said.begin+c.Strong, said.begin+c.End
	o := Outcome{
		ID: c.ID, Kind: c.Kind, Group: c.Group, Lang: c.Lang, Weak: c.WeakOnset, Long: (c.End - c.Onset) / perMs,
		Silent: -1, Strong: -1, Decided: -1, Listening: -1, Resumed: -1, Held: -1, Lost: never, Told: said.told, Stuck: said.stuck,
	}
	limit := end + audio.Samples(grace)
	flushed, held := false, int64(never)
	for _, h := range happened {
		if h.pos < onset || h.pos > said.over {
			continue
		}
		switch {
		case h.what == "hold":
			held = h.pos
			if o.Held < 0 {
				o.Held = ms(h.pos - onset)
			}
		case (h.what == "pause" || h.what == "flush") && o.Decided < 0 && h.pos <= limit:
			o.Decided = ms(h.pos - onset)
			from := h.pos
			if h.pos-held <= audio.Samples(vad.SuspicionLasts) {
				from = held // and silent from there
			}
			if silent, ok := tape.Silent(from+buffered, limit+audio.SampleRate); ok {
				o.Silent, o.Strong = ms(silent-onset), ms(silent-strong)
				if again, ok := tape.Sounds(max(silent, end), said.over+audio.SampleRate); ok {
					o.Resumed = ms(again - end)
				}
			}
		case h.what == "listening" && o.Listening < 0:
			o.Listening = ms(h.pos - onset)
		}
		flushed = flushed || h.what == "flush"
	}
	o.WentOn = !flushed && !said.stuck
	if said.first != never {
		o.Lost = ms(said.first - onset)
	}
	return o
}

// countFalse counts reactions while the person was silent.
func (res *Result) countFalse(said []saying, happened []happening) {
	pending := false
	for _, h := range happened {
		var caused bool
		for i := range said {
			caused = caused || h.pos >= said[i].begin && (said[i].over == 0 || h.pos <= said[i].over)
		}
		switch {
		case caused:
			if h.what != "hold" {
				pending = false
			}
		case h.what == "hold":
			res.Holds++
		case h.what == "pause":
			res.pause(h.pos)
			pending = true
		case h.what == "flush":
			if !pending {
				res.pause(h.pos)
			}
			res.Interruptions++
			pending = false
		case h.what == "listening" && pending:
			res.Interruptions++
			pending = false
		case h.what == "resume":
			pending = false
		}
	}
}

func (res *Result) pause(pos int64) {
	res.Pauses++
	if audio.Duration(pos) < Settled {
		res.Early++
	}
	res.FalseAt = append(res.FalseAt, audio.Duration(pos))
}
