package copilot

import (
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm/statechart"
)

// Input is an input of the region. Do determines which of the other fields are used.
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

// The inputs. Those from Progress on concern the loading model or the live request; they
// are stale if they name another model, request, round or call.
const (
	Open     Do = iota // a conversation starts
	Load               // load Model, with id Load; ignored in Idle
	Search             // start Request with a search for tools
	Send               // start Request without a search
	Ask                // start Request with the question about Call
	Shut               // the conversation ended
	Progress           // Load is at Percent
	Loaded             // Load succeeded
	Unloaded           // Load failed for Reason
	Attempt            // the adapter starts Attempt
	Sign               // a sign of an answer
	Wants              // the answer requests Call
	Found              // the tools of the round were selected
	NotFound           // the search failed or was cancelled
	Terminal           // the answer of the round is complete
	Fail               // the round failed or was cancelled
	Cancel             // cancel the request
	Approve            // Call was approved
	Reject             // Call was rejected
	ToolDone           // Call succeeded
	ToolFail           // Call failed or was cancelled
	numDos
)

var doNames = [numDos]string{
	"open", "load", "search", "send", "ask", "shut", "progress", "loaded", "unloaded", "attempt", "sign", "wants", "found", "notFound",
	"terminal", "fail", "cancel", "approve", "reject", "toolDone", "toolFail",
}

func (d Do) String() string { return doNames[d] }

// Outcome is the meaning of an input.
type Outcome uint8

// The outcomes. Stale and Ignored do not change the state.
const (
	Stale Outcome = iota
	Ignored
	Changed
	First     // the first sign of an answer
	More      // more of the answer
	Ended     // the live request ended
	Confirmed // a cancelled request ended
	Asks      // the user must be asked about Calls[0]
	NextRound // the request continues with the next round
	Refused   // the round has too many calls
)

// change is an input and the state's data.
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

// Next applies an input. It is total and pure.
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
	case answers && len(table.Cell(at, in.Do).Rows) == 0: // no live request can have sent it
		return s, Stale
	default:
		return s, Ignored
	}
}

// stale says whether the input concerns something that is not live, or a request that was
// cancelled.
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

// Table returns the rows in order.
func Table() []Row {
	cancelled := when("cancelled", func(c change) bool { return c.Cancelled })
	going := cancelled.Not()
	further := when("progress increased", func(c change) bool { return min(c.Input.Percent, 100) > c.load.Percent })
	later := when("newer attempt", func(c change) bool { return c.Input.Attempt > c.Live.Attempt })
	known := when("known call", func(c change) bool {
		return slices.ContainsFunc(c.Calls, func(k Call) bool { return k.ID == c.Call.ID })
	})
	full := when("call limit reached", func(c change) bool { return len(c.Calls) == MaxCalls })
	asks := when("it calls tools", func(c change) bool { return len(c.Calls) > 0 })
	more := when("more calls pending", func(c change) bool { return len(c.Calls) > 1 })
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
		row(streaming, Attempt, Guard{}, streaming, Ignored, nil), // reported late
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

		// While the user is asked, nothing is running that would have to confirm a
		// cancel.
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
