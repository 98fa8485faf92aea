package history

import (
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm/statechart"
)

// input is an input of the region.
type input uint8

const (
	said input = iota
	again
	heard
	compact
	summarised
	failed
	stop
)

func (in input) String() string {
	return [...]string{"said", "again", "heard", "compact", "summarised", "failed", "stop"}[in]
}

// change is an input, its arguments and the state's data.
type change struct {
	data
	item Item
	job  uint32
	n    int // items to keep, or to add before the next compaction
}

type (
	// Row is one line of the region's table. It means that something changed.
	Row = statechart.Row[name, input, bool, change, func(change) data]
	// Guard is a condition on an input.
	Guard = statechart.Guard[change]
)

var (
	row   = statechart.NewRow[name, input, bool, change, func(change) data]
	when  = statechart.When[change]
	table = statechart.New(Table(), parents)
)

// Chart is the region's table.
func Chart(of statechart.Region) statechart.Chart { return statechart.ChartOf(of, table, parents) }

func next(s State, in input, c change) (State, bool) {
	var at name
	at, c.data = s.parts()
	row := table.Choose(at, in, c)
	switch {
	case row == nil:
		return s, false
	case row.Do == nil:
		return state(row.Next(at), c.data), row.Means
	default:
		return state(row.Next(at), row.Do(c)), row.Means
	}
}

// Table returns the rows in order.
func Table() []Row {
	further := when("heard more", func(c change) bool { return c.item.Heard > HeardOf(c.Log, c.item.Request) })
	long := when("more items than to keep", func(c change) bool { return len(c.Items) > c.n })
	live := when("this job", func(c change) bool { return c.job == c.Job })
	return []Row{
		row(all, said, Guard{}, all, true, change.added),
		row(all, again, Guard{}, all, true, change.replaced),
		row(all, heard, further, all, true, change.raised),
		row(normal, compact, long, compacting, true, change.begun),
		row(compacting, summarised, live, normal, true, change.cut),
		row(compacting, failed, live, normal, true, func(c change) data { c.from = len(c.Items) + c.n; return c.data }),
		row(compacting, stop, Guard{}, normal, true, nil),
	}
}

func (c change) added() data {
	c.Items = append(c.Items[:len(c.Items):len(c.Items)], c.item)
	return c.data
}

func (c change) replaced() data {
	if n := Asked(c.Log, c.item.Utterance); n >= c.Count {
		c.Items = c.Items[:n]
	}
	return c.added()
}

// raised returns the history after more of an answer was heard.
func (c change) raised() data {
	if n := len(c.Items); n > 0 && c.Items[n-1].Request == c.item.Request {
		c.Items = slices.Clone(c.Items)
		c.Items[n-1].Heard = c.item.Heard
		return c.data
	}
	c.item.From = HeardOf(c.Log, c.item.Request)
	return c.added()
}

// begun returns the history with all but the last n items being summarised.
func (c change) begun() data {
	last := len(c.Items) - c.n
	count := last
	for count > 0 && c.Items[count].Utterance == 0 {
		count--
	}
	if count == 0 {
		count = last
	}
	return data{Compacting: Compacting{Log: c.Log, Job: c.job, Count: count}}
}

// cut returns the history with the summary in place of its items.
func (c change) cut() data {
	left := c.Left
	for _, it := range c.Items[:c.Count] {
		if it.Request != 0 {
			left = Answer{it.Request, it.Heard}
		}
	}
	c.Log = Log{Items: slices.Clone(c.Items[c.Count:]), Summary: c.Job, Left: left}
	return c.data
}
