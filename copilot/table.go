package copilot

import (
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm/statechart"
)

// Input is what happens to the region. Which of the fields after Do matter is
// said where Do is.
type Input struct {
	Do      Do
	Request uint64
	Round   int
	Attempt int
	Call    Call
	Load    uint32
	Model   uint64
	Percent int
	Reason  string
}

// Do is the kind of an input.
type Do uint8

// The inputs. Those from Progress on are about the model that is loading or the live
// request, and stale when they name another one, another round of it or another call.
const (
	Open     Do = iota // a conversation begins
	Load               // Model is to be loaded, as Load; from Idle on it is not
	Search             // Request is begun with a search for tools
	Send               // Request is handed over, without a search
	Ask                // Request is begun with the question about Call
	Shut               // the conversation is over
	Progress           // Percent of Load is loaded
	Loaded             // Load is done
	Unloaded           // Load failed, for Reason
	Attempt            // the adapter makes Attempt
	Sign               // a sign of life
	Wants              // the answer asks for Call
	Found              // the tools of the round are chosen
	NotFound           // or not, or the search was cancelled
	Terminal           // the answer of the round is whole
	Fail               // or has failed, or was cancelled
	Cancel             // the request is to stop
	Approve            // Call is allowed
	Reject             // Call is not
	ToolDone           // Call has ended well
	ToolFail           // Call has failed, or was cancelled
	numDos
)

var doNames = [numDos]string{
	"open", "load", "search", "send", "ask", "shut", "progress", "loaded", "unloaded", "attempt", "sign", "wants", "found", "notFound",
	"terminal", "fail", "cancel", "approve", "reject", "toolDone", "toolFail",
}

func (d Do) String() string { return doNames[d] }

// Outcome is what an input meant.
type Outcome uint8

// The outcomes. Stale and Ignored leave the state as it was.
const (
	Stale Outcome = iota
	Ignored
	Changed
	First     // the first sign of life
	More      // a further one
	Ended     // the terminal of the live request
	Confirmed // the terminal of a cancelled one
	Asks      // the user is to be asked about the first of Calls
	NextRound // the request continues with another round
	Refused   // the round asks for more calls than it may
)

// change is an input, in a state with data.
type change struct {
	data
	Input
}

type (
	// Row is one line of the region's table.
	Row = statechart.Row[name, Do, Outcome, change, func(change) data]
	// Guard is a condition on an input.
	Guard = statechart.Guard[change]
)

var (
	row   = statechart.NewRow[name, Do, Outcome, change, func(change) data]
	when  = statechart.When[change]
	table = statechart.New(Table(), parents)
)

// Chart is the region's table.
func Chart(of statechart.Region) statechart.Chart { return statechart.ChartOf(of, table, parents) }

// Next is total and pure.
func Next(s State, in Input) (State, Outcome) {
	at, d := s.parts()
	c := change{d, in}
	answers := in.Do >= Progress
	if answers && c.stale() {
		return s, Stale
	}
	row := table.Choose(at, in.Do, c)
	switch {
	case row != nil && row.Do != nil:
		return state(row.Next(at), row.Do(c)), row.Means
	case row != nil && !row.Internal():
		return state(row.Next(at), d), row.Means
	case row != nil:
		return s, row.Means
	case answers && len(table.Cell(at, in.Do).Rows) == 0: // nothing that is live can have given it
		return s, Stale
	default:
		return s, Ignored
	}
}

// stale says whether the input is about something else than what is live, or is what a
// request still says that was told to stop.
func (c change) stale() bool {
	other := c.Live.Request != c.Input.Request
	switch c.Input.Do {
	case Progress, Loaded, Unloaded:
		return c.load.Load != c.Input.Load
	case Approve, Reject, ToolDone, ToolFail:
		return !c.isNext(c.Call)
	case Cancel:
		return other
	}
	says := c.Input.Do == Attempt || c.Input.Do == Sign || c.Input.Do == Wants
	return other || c.Live.Round != c.Input.Round || says && c.Cancelled
}

// Table returns the rows, in their order.
func Table() []Row {
	cancelled := when("it was told to stop", func(c change) bool { return c.Cancelled })
	going := cancelled.Not()
	further := when("further than before", func(c change) bool { return min(c.Input.Percent, 100) > c.load.Percent })
	later := when("later than before", func(c change) bool { return c.Input.Attempt > c.Live.Attempt })
	known := when("of a known call", func(c change) bool {
		return slices.ContainsFunc(c.Calls, func(k Call) bool { return k.ID == c.Call.ID })
	})
	full := when("as many are asked for as may be", func(c change) bool { return len(c.Calls) == MaxCalls })
	asks := when("it asks for calls", func(c change) bool { return len(c.Calls) > 0 })
	more := when("more calls", func(c change) bool { return len(c.Calls) > 1 })
	nothing := func(change) data { return data{} }
	load := func(c change) data { return data{load: LoadingModel{Load: c.Input.Load, Model: c.Model}} }
	begin := func(c change) data { return data{Live: Live{Request: c.Input.Request, Attempt: 1}} }
	cancel := func(c change) data { c.Cancelled = true; return c.data }
	decided := func(c change) data { c.Calls = c.Calls[1:]; return c.data }
	nextRound := func(c change) data {
		return data{Live: Live{Request: c.Live.Request, Attempt: 1, Round: c.Live.Round + 1}}
	}
	return []Row{
		row(all, Shut, Guard{}, idle, Changed, nothing),
		row(idle, Open, Guard{}, ready, Changed, nothing),

		// A model.
		row(ready, Load, Guard{}, loadingModel, Changed, load),
		row(loadFailed, Load, Guard{}, loadingModel, Changed, load),
		row(loadingModel, Load, Guard{}, loadingModel, Changed, load),
		row(loadingModel, Progress, further, loadingModel, Changed, func(c change) data {
			c.load.Percent = min(c.Input.Percent, 100)
			return c.data
		}),
		row(loadingModel, Loaded, Guard{}, ready, Changed, nothing),
		row(loadingModel, Unloaded, Guard{}, loadFailed, Changed, func(c change) data { return data{reason: c.Reason} }),

		// A request.
		row(ready, Search, Guard{}, searchingTools, Changed, begin),
		row(ready, Send, Guard{}, generating, Changed, begin),
		row(ready, Ask, Guard{}, waitingForApproval, Asks, func(c change) data {
			return data{Live: Live{Request: c.Input.Request, Attempt: 1, Calls: []Call{c.Call}}}
		}),
		row(searchingTools, Found, going, generating, Changed, func(c change) data { c.Live.Attempt = 1; return c.data }),
		row(searchingTools, Found, cancelled, ready, Confirmed, nothing),
		row(searchingTools, NotFound, going, ready, Ended, nothing),
		row(searchingTools, NotFound, cancelled, ready, Confirmed, nothing),
		row(searchingTools, Cancel, going, searchingTools, Changed, cancel),

		// Its answer.
		row(generating, Attempt, later, generating, Changed, func(c change) data { c.Live.Attempt = c.Input.Attempt; return c.data }),
		row(streaming, Attempt, Guard{}, streaming, Ignored, nil), // told of late
		row(generating, Sign, Guard{}, streaming, First, nil),
		row(streaming, Sign, Guard{}, streaming, More, nil),
		row(answering, Wants, known.Not().And(full.Not()), streaming, More, func(c change) data {
			c.Calls = append(c.Calls[:len(c.Calls):len(c.Calls)], c.Call)
			return c.data
		}),
		row(answering, Wants, known.Not().And(full), answering, Refused, nil),
		row(answering, Terminal, going.And(asks), waitingForApproval, Asks, nil),
		row(answering, Terminal, going.And(asks.Not()), ready, Ended, nothing),
		row(answering, Terminal, cancelled, ready, Confirmed, nothing),
		row(answering, Fail, going, ready, Ended, nothing),
		row(answering, Fail, cancelled, ready, Confirmed, nothing),
		row(answering, Cancel, going, answering, Changed, func(c change) data { c.Cancelled, c.Calls = true, nil; return c.data }),

		// Its calls. Nothing runs while the user is asked that would have to confirm a stop.
		row(waitingForApproval, Approve, Guard{}, callingTool, Changed, nil),
		row(waitingForApproval, Reject, more, waitingForApproval, Asks, decided),
		row(waitingForApproval, Reject, more.Not(), searchingTools, NextRound, nextRound),
		row(waitingForApproval, Cancel, Guard{}, ready, Ended, nothing),
		row(callingTool, ToolDone, going.And(more), waitingForApproval, Asks, decided),
		row(callingTool, ToolDone, going.And(more.Not()), searchingTools, NextRound, nextRound),
		row(callingTool, ToolDone, cancelled, ready, Confirmed, nothing),
		row(callingTool, ToolFail, going, ready, Ended, nothing),
		row(callingTool, ToolFail, cancelled, ready, Confirmed, nothing),
		row(callingTool, Cancel, going, callingTool, Changed, cancel),
	}
}
