package machine

import "github.com/agentvoice/agentvoice-daemon/csm/statechart"

// Memory is what the Model remembers: a summary of the beginning of the conversation,
// and the rest verbatim.
type Memory struct {
	At   MemoryState
	Job  uint32 // the summary in progress
	From int    // after a failure: the size at which to retry
}

// MemoryState is a state of the memory, or a superstate.
type MemoryState uint8

const (
	normal MemoryState = iota
	compacting
	closedMemory
	liveMemory
)

func (s MemoryState) String() string {
	return [...]string{"normal", "compacting", "closed", "live"}[s]
}

var memoryParents = map[MemoryState]MemoryState{normal: liveMemory, compacting: liveMemory}

func memoryRows() []line[MemoryState] {
	long := statechart.When("it is too long", func(r *run) bool {
		limit := r.Settings.Remember
		return limit > 0 && r.e.Size > limit && r.e.Size >= r.Memory.From
	})
	whole := statechart.When("of this job, whole", func(r *run) bool { return r.e.ID == r.Memory.Job && r.e.OK })
	failed := statechart.When("of this job, failed", func(r *run) bool { return r.e.ID == r.Memory.Job && !r.e.OK })
	inIt := statechart.When("of what is summarised", func(r *run) bool { return r.e.OK })
	stop := does(act(StopSummary), func(r *run) { r.Memory.Job = 0 })
	return []line[MemoryState]{
		row(normal, Grown, long, compacting, Taken, (*run).compact),
		row(normal, Changed, inIt, normal, Taken, act(ForgetSummary)),
		row(compacting, Summarised, whole, normal, Taken, (*run).keep),
		row(compacting, Summarised, failed, normal, Taken, stop),
		row(compacting, Changed, inIt, normal, Taken, does(stop, act(ForgetSummary))),
		row(compacting, shut, always{}, closedMemory, Taken, stop),
		row(liveMemory, shut, always{}, closedMemory, Taken, nil),
	}
}

// compact starts a summary. After a failure, it retries when the conversation has grown
// by a quarter of the limit.
func (r *run) compact() {
	r.Memory.Job = r.number()
	r.Memory.From = r.e.Size + max(r.Settings.Remember/4, 1)
	r.emit(Summarise, r.Memory.Job)
}

func (r *run) keep() {
	r.emit(KeepSummary, r.Memory.Job)
	r.Memory.Job, r.Memory.From = 0, 0
}

func (r *run) memory(on Kind) Outcome {
	row := r.t.memory.Choose(r.Memory.At, on, r)
	if row == nil {
		return Stale
	}
	r.Memory.At = row.Next(r.Memory.At)
	if row.Do != nil {
		row.Do(r)
	}
	return row.Means
}
