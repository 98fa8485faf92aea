package daemon

import (
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/figures"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Output is an output event that does not go through the core: the output fell silent
// or has audio again.
type Output struct {
	Silent bool
	Pos    int64         // output position, in samples rendered
	Ago    time.Duration // elapsed since then, by the conversation's clock
}

// maxTimes is how many interruptions are kept for reports.
const maxTimes = 256

// interruptionBudget is the promised 95th percentile of each figure, measured from the
// onset. A figure without a budget is only reported.
var interruptionBudget = map[figures.Figure]time.Duration{
	figures.Decided:   250 * time.Millisecond,
	figures.Silent:    150 * time.Millisecond,
	figures.Listening: 400 * time.Millisecond,
}

// stages maps the figures to their names on the wire.
var stages = map[protocol.InterruptionStage]figures.Figure{
	protocol.StageDecided: figures.Decided, protocol.StageSilent: figures.Silent,
	protocol.StageListening: figures.Listening, protocol.StageResumed: figures.Resumed,
}

// floorMeter counts the outcomes of onsets during playback, and measures them. It
// belongs to the publisher.
type floorMeter struct {
	confirmed, retracted int64
	meter                figures.Meter
	list                 []measured // interruptions with a known onset, oldest first
}

// measured is an interruption with a known onset.
type measured struct {
	onset time.Duration
	*figures.Interruption
}

// output handles an output event.
func (i *floorMeter) output(silent bool, since time.Duration) {
	if silent {
		i.meter.Silenced(since)
	} else {
		i.meter.Sounded(since)
	}
}

// step handles the floor effects of a step.
func (i *floorMeter) step(s dispatch.Step) {
	for _, f := range s.Effects {
		switch f := f.(type) {
		case csm.PublishTurn:
			if f.End == csm.TurnCutOff {
				i.confirmed++
			}
		case csm.PublishState:
			i.moved(s, f)
		default: // no floor effect
		}
	}
}

func (i *floorMeter) moved(s dispatch.Step, f csm.PublishState) {
	at := s.Envelope.At
	switch {
	case f.To == csm.PhaseInterrupted:
		decided := i.meter.Decide(at)
		// Only a detector in this process reports how late it noticed an onset. The
		// delay of a service, a command, or a voice after a pause is unknown.
		if e, ok := s.Envelope.Event.(csm.SpeechStarted); ok && e.Late > 0 {
			i.list = append(i.list, measured{at - e.Late, decided})
			i.list = i.list[max(0, len(i.list)-maxTimes):]
		}
	case f.Cause == csm.CauseInterruptRetract:
		if !pausesVoice(s.Envelope.Event) {
			i.retracted++
		}
		i.meter.Resume(at)
	case f.From == csm.PhaseInterrupted && f.To == csm.PhaseListening && f.Cause == csm.CauseInterruptCleared:
		i.meter.Listen(at)
	default:
		i.meter.Abandon()
	}
}

// pausesVoice reports whether an event is a spoken command that pauses or resumes the
// voice. Such an interruption is intentional, even though the answer is kept.
func pausesVoice(e csm.Event) bool {
	f, ok := e.(csm.Final)
	return ok && (f.Class == csm.Pause || f.Class == csm.Continue)
}

// times returns the known values of one figure, and how many exceed its budget.
func (i *floorMeter) times(f figures.Figure) (times []time.Duration, over int64) {
	for _, m := range i.list {
		took, known := m.Of(f, m.onset)
		if !known {
			continue
		}
		times = append(times, took)
		if most := interruptionBudget[f]; most > 0 && took > most {
			over++
		}
	}
	return times, over
}

// Interruptions reports on the onsets during playback in this process.
func (d *Daemon) Interruptions() protocol.InterruptionReport {
	d.pubMu.Lock()
	defer d.pubMu.Unlock()
	i := &d.pub.floor
	r := protocol.InterruptionReport{Confirmed: i.confirmed, Retracted: i.retracted, Stages: protocol.List[protocol.InterruptionTimes]{}}
	for _, stage := range protocol.InterruptionStages {
		figure := stages[stage]
		times, over := i.times(figure)
		if len(times) == 0 {
			continue
		}
		r.Stages = append(r.Stages, protocol.InterruptionTimes{
			Stage: stage, Times: Distribution(times),
			BudgetMs: float64(interruptionBudget[figure].Milliseconds()), Over: over,
		})
	}
	return r
}

// Distribution summarises times, which must not be empty.
func Distribution(times []time.Duration) protocol.Latency {
	sorted := slices.Sorted(slices.Values(times))
	at := func(share float64) float64 {
		return float64(sorted[int(share*float64(len(sorted)-1))].Microseconds()) / 1000
	}
	return protocol.Latency{Count: int64(len(sorted)), P50: at(0.5), P95: at(0.95), Max: at(1)}
}
