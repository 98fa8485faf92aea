package daemon

import (
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// maxTimes is how many times of each kind are remembered for reports.
const maxTimes = 256

// interruptionBudget is how long after an onset a stage may be, for 95 of a
// hundred: what a user was promised. A stage without one is reported alone.
var interruptionBudget = map[protocol.InterruptionStage]time.Duration{
	protocol.StageSilent:    150 * time.Millisecond,
	protocol.StageListening: 400 * time.Millisecond,
}

// floorMeter counts what became of onsets over the assistant, and measures how
// long each stage took from the onset. It belongs to the publisher.
type floorMeter struct {
	confirmed, retracted int64
	times                map[protocol.InterruptionStage][]time.Duration
	over                 map[protocol.InterruptionStage]int64

	onset  time.Duration // of the present one, on the daemon's clock
	begun  bool          // there is one that is measured
	paused bool          // its pause is under way
}

// step takes what a step did with the floor.
func (i *floorMeter) step(s dispatch.Step) {
	switch s.Envelope.Event.(type) {
	case csm.SpeechCursor, csm.SpeechDrained, csm.SpeechFlushed: // the pause's cursor, or the flush's
		if i.paused {
			i.paused = false
			i.measure(protocol.StageSilent, s.Envelope.At)
		}
	}
	for _, f := range s.Effects {
		switch f := f.(type) {
		case csm.PublishTurn:
			if f.End == csm.TurnCutOff {
				i.confirmed++
			}
		case csm.PublishState:
			i.moved(s, f)
		default: // nobody's floor
		}
	}
}

func (i *floorMeter) moved(s dispatch.Step, f csm.PublishState) {
	at := s.Envelope.At
	switch {
	case f.To == csm.PhaseInterrupted:
		// Where nobody says how late an onset was noticed, when it was is not known:
		// a service's, a command, and a voice that goes on after a silence.
		e, ok := s.Envelope.Event.(csm.SpeechStarted)
		i.begun, i.onset = ok && e.Late > 0, at-e.Late
		i.paused = i.begun
		i.measure(protocol.StagePaused, at)
	case f.Cause == csm.CauseInterruptRetract:
		i.retracted++
		i.measure(protocol.StageResumed, at)
		i.begun, i.paused = false, false
	case f.From == csm.PhaseInterrupted && f.To == csm.PhaseListening && f.Cause == csm.CauseInterruptCleared:
		i.measure(protocol.StageListening, at)
	default:
		i.begun, i.paused = false, false
	}
}

func (i *floorMeter) measure(stage protocol.InterruptionStage, at time.Duration) {
	if !i.begun {
		return
	}
	if i.times == nil {
		i.times, i.over = map[protocol.InterruptionStage][]time.Duration{}, map[protocol.InterruptionStage]int64{}
	}
	took := at - i.onset
	list := append(i.times[stage], took)
	i.times[stage] = list[max(0, len(list)-maxTimes):]
	if most := interruptionBudget[stage]; most > 0 && took > most {
		i.over[stage]++
	}
}

// Interruptions reports on the onsets over the assistant in this process.
func (d *Daemon) Interruptions() protocol.InterruptionReport {
	d.pubMu.Lock()
	defer d.pubMu.Unlock()
	i := &d.pub.floor
	r := protocol.InterruptionReport{Confirmed: i.confirmed, Retracted: i.retracted, Stages: protocol.List[protocol.InterruptionTimes]{}}
	for _, stage := range protocol.InterruptionStages {
		if len(i.times[stage]) == 0 {
			continue
		}
		r.Stages = append(r.Stages, protocol.InterruptionTimes{
			Stage: stage, Times: Distribution(i.times[stage]),
			BudgetMs: float64(interruptionBudget[stage].Milliseconds()), Over: i.over[stage],
		})
	}
	return r
}

// Distribution sums up times, of which there is at least one.
func Distribution(times []time.Duration) protocol.Latency {
	sorted := slices.Sorted(slices.Values(times))
	at := func(share float64) float64 {
		return float64(sorted[int(share*float64(len(sorted)-1))].Microseconds()) / 1000
	}
	return protocol.Latency{Count: int64(len(sorted)), P50: at(0.5), P95: at(0.95), Max: at(1)}
}
