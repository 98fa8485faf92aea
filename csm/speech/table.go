package speech

import "github.com/agentvoice/agentvoice-daemon/csm/statechart"

// input is an input of the region.
type input uint8

const (
	enqueue input = iota
	asked
	end
	buffered
	start
	played
	drained
	pause
	resume
	words
	restart
	flush
)

var inputs = [...]string{"enqueue", "asked", "end", "buffered", "start", "played", "drained", "pause", "resume", "words", "restart", "flush"}

func (in input) String() string { return inputs[in] }

// change is an input, its arguments and the state's data.
type change struct {
	Paused
	seg      Segment
	gen, seq uint32
}

type (
	// Row is one line of the region's table.
	Row = statechart.Row[name, input, Outcome, change, func(change) Paused]
	// Guard is a condition on an input.
	Guard = statechart.Guard[change]
)

var (
	row   = statechart.NewRow[name, input, Outcome, change, func(change) Paused]
	when  = statechart.When[change]
	table = statechart.New(Table(), parents)
)

// Chart is the region's table.
func Chart(of statechart.Region) statechart.Chart { return statechart.ChartOf(of, table, parents) }

// next applies an input. It is total and pure. Repeated reports, and those of another
// generation, are stale.
func next(s State, in input, c change) (State, Outcome) {
	var at name
	at, c.Paused = s.parts()
	row := table.Choose(at, in, c)
	switch {
	case row != nil && row.Do == nil:
		return state(row.Next(at), c.Paused), row.Means
	case row != nil:
		return state(row.Next(at), row.Do(c)), row.Means
	case in == played, in == drained, in == buffered && (c.gen != c.Gen || at == buffering && c.Played < len(c.Segments)):
		return s, Stale
	default:
		return s, Ignored
	}
}

// Table returns the rows in order.
func Table() []Row {
	ended := when("the line has ended", func(c change) bool { return c.Ended })
	heard := when("everything was heard", func(c change) bool { return c.Played == len(c.Segments) })
	live := when("live generation", func(c change) bool { return c.gen == c.Gen })
	awaited := when("an unheard segment", func(c change) bool { return c.Played < len(c.Segments) && c.seq >= c.Segments[c.Played].Seq })
	next := when("the next segment", func(c change) bool { return c.Played < c.Asked && c.seq == c.Segments[c.Played].Seq })
	last := when("the whole line", func(c change) bool { return c.Ended && c.through().Played == len(c.Segments) })
	return []Row{
		row(closed, enqueue, Guard{}, buffering, Queued, change.added),
		row(open, enqueue, Guard{}, open, Queued, change.added),
		row(draining, enqueue, Guard{}, playing, Queued, change.added),
		row(open, asked, Guard{}, open, Queued, func(c change) Paused { c.Asked = len(c.Segments); return c.Paused }),
		row(open, end, ended.Not(), open, Advanced, change.ended),
		row(playing, end, Guard{}, draining, Advanced, change.ended),
		row(buffering, end, ended.Not().And(heard), closed, Done, nil),

		row(buffering, buffered, live.And(awaited), ready, Waits, nil),
		row(ready, start, ended.Not(), playing, Started, nil),
		row(ready, start, ended, draining, Started, nil),
		row(begun, played, live.And(next), begun, Advanced, func(c change) Paused { c.Played++; return c.Paused }),
		row(begun, drained, live.And(last), closed, Done, nil),
		row(begun, drained, live.And(last.Not()), buffering, Underran, change.through),
		row(sounding, pause, Guard{}, paused, Stopped, nil),
		row(paused, resume, ended.Not(), playing, Started, nil),
		row(paused, resume, ended, draining, Started, nil),
		row(paused, words, Guard{}, paused, Advanced, func(c change) Paused { c.HasWords = true; return c.Paused }),

		row(open, restart, ended.And(heard), closed, Done, change.renewed),
		row(open, restart, Guard{}, buffering, Queued, change.rest),
		row(all, flush, Guard{}, closed, Stopped, change.renewed),
	}
}

func (c change) added() Paused {
	c.Ended = false
	segs := make([]Segment, 0, len(c.Segments)+1)
	c.Segments = append(append(segs, c.Segments...), c.seg)
	return c.Paused
}

func (c change) ended() Paused { c.Ended = true; return c.Paused }

// through returns the line with everything through segment seq heard.
func (c change) through() Paused {
	for c.Played < c.Asked && c.Segments[c.Played].Seq <= c.seq {
		c.Played++
	}
	return c.Paused
}

// renewed returns an empty line under a new generation.
func (c change) renewed() Paused { return Paused{Line: Line{Gen: c.Gen + 1}} }

// rest returns the unheard rest under a new generation.
func (c change) rest() Paused {
	return Paused{Line: Line{Gen: c.Gen + 1, Segments: c.Segments[c.Played:], Ended: c.Ended}}
}
