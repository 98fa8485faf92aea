package explore

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// World is one closed part of what can happen: the groups of events that it has,
// and how much of each. Everything within it is explored.
type World struct {
	Name     string     `json:"name"`
	About    string     `json:"about"`
	Groups   group      `json:"groups"` // what can happen beside answers and deadlines
	Config   csm.Config `json:"-"`
	Queue    int        `json:"queue"`    // utterances that wait
	Pending  int        `json:"pending"`  // utterances whose words are awaited, beside the open one
	Segments int        `json:"segments"` // pieces of one answer
	Attempts int        `json:"attempts"` // of one request
	Faults   int        `json:"faults"`   // recoveries in a row
	Calls    int        `json:"calls"`    // of tools, in one round
	Rounds   int        `json:"rounds"`   // of a request, after the first
	Drafts   int        `json:"drafts"`   // utterances gathered in a turn that is ended by hand; 0 where turns end by themselves, and one may be merged
	History  int        `json:"history"`  // items before the oldest are summarised, 0 for never

	Interruption csm.Interruption `json:"interruption"` // what stops the assistant
}

// boundNames are the heads of bounds.
var boundNames = [...]string{"queue", "pending", "segments", "attempts", "faults", "calls", "rounds", "drafts", "history", "epochs"}

// bounds are the numbers that bound a world. A connection is followed by one
// other at a time; which number it has is no matter.
func (w World) bounds() [len(boundNames)]int {
	return [...]int{w.Queue, w.Pending, w.Segments, w.Attempts, w.Faults, w.Calls, w.Rounds, w.Drafts, w.History, 2}
}

// manual is turn.Manual: who ends the user's turn is the user.
const manual = 2

func (w World) with() World {
	c := csm.DefaultConfig()
	c.QueueMax, c.FaultRetries, c.BreakerFaults, c.BreakerWindow = w.Queue, w.Faults, 2, time.Minute
	c.Tools, c.RoundsMax = w.Groups&tooling != 0, w.Rounds
	c.HistoryMax, c.HistoryKeep, c.Interruption = w.History, 1, w.Interruption
	if w.Drafts > 0 {
		c.Turns = manual
	}
	w.Config = c
	return w
}

// Worlds are the worlds in the order in which they are explored.
func Worlds() []World {
	list := []World{
		{Name: "turns", About: "speech, typing and answers: interrupted, failed, tried again and queued", Queue: 2, Pending: 1, Segments: 1, Attempts: 1,
			Groups: voice | text | user | retrying | failing | holding},
		{Name: "answers", About: "attempts, pieces and failures of answers; the configuration changes", Queue: 2, Segments: 2, Attempts: 2,
			Groups: text | user | retrying | failing | holding | configuring},
		{Name: "speech", About: "what is said: pieces, texts read aloud, paused by the user and by suspensions", Queue: 1, Pending: 1, Segments: 2, Attempts: 1,
			Groups: voice | text | reading | pausing | user | holding | failing},
		{Name: "suspension", About: "every set of reasons to suspend, in every state of a turn", Queue: 1, Pending: 1, Segments: 1, Attempts: 1,
			Groups: voice | text | holding | renewing | device | dropping | failing},
		{Name: "tools", About: "searches, questions, calls and rounds, answered by hand", Queue: 1, Segments: 1, Attempts: 1, Calls: 1, Rounds: 1,
			Groups: text | user | retrying | failing | holding | dropping | tooling},
		{Name: "approval", About: "questions about tools answered by voice", Queue: 1, Pending: 2, Segments: 1, Attempts: 1, Calls: 1, Rounds: 1,
			Groups: voice | user | replying | holding | tooling | destroying},
		{Name: "models", About: "models loaded, changed and failed under way", Queue: 2, Segments: 1, Attempts: 1,
			Groups: text | user | retrying | failing | holding | loading},
		{Name: "manual", About: "turns that the user ends by hand or phrase", Queue: 1, Pending: 1, Segments: 1, Attempts: 1, Drafts: 2,
			Groups: voice | text | phrases | silences | user | holding},
		{Name: "history", About: "histories summarised while the conversation goes on", Queue: 1, Segments: 1, Attempts: 1, History: 3,
			Groups: text | user | failing | holding},
		{Name: "renewal", About: "connections that expire, replaced while they work", Queue: 1, Pending: 1, Segments: 1, Attempts: 1,
			Groups: voice | expiring | dropping | holding},
		{Name: "pauses", About: "silences inside utterances that end by themselves", Queue: 1, Pending: 1, Segments: 1, Attempts: 1,
			Groups: voice | silences | user | holding},
		{Name: "overlap", About: "speech over the assistant that pauses, is taken back, counts, and turns out to be nothing", Queue: 1, Pending: 1, Segments: 1, Attempts: 1,
			Groups: voice | silences | pausing | user | holding | text | dropping, Interruption: csm.Confirmed},
		{Name: "overlap-questions", About: "the same over questions about tools", Queue: 1, Pending: 1, Segments: 1, Attempts: 1, Calls: 1, Rounds: 1,
			Groups: voice | silences | replying | tooling | failing, Interruption: csm.Confirmed},
		{Name: "overlap-words", About: "speech over the assistant that stops it with words", Queue: 1, Pending: 1, Segments: 1, Attempts: 1, Calls: 1, Rounds: 1,
			Groups: voice | user | tooling | holding, Interruption: csm.ByWords},
		{Name: "overlap-none", About: "speech over an assistant that nothing but the hand stops", Queue: 1, Pending: 1, Segments: 1, Attempts: 1,
			Groups: voice | text | user | holding, Interruption: csm.Never},
		{Name: "faults", About: "starts, faults, recoveries, the breaker and the end", Queue: 1, Segments: 1, Attempts: 1, Faults: 2,
			Groups: text | holding | renewing | device | dropping | failing | fatally | breaking | quiet},
	}
	for i := range list {
		list[i] = list[i].with()
	}
	return list
}

// Pairs are every two of some worlds in one: what can happen in either, with the
// larger of the bounds. Where one has the user's turns end by hand, or another thing
// stop the assistant than an onset, the pair has it too.
func Pairs(worlds []World) []World {
	var out []World
	for i, a := range worlds {
		for _, b := range worlds[i+1:] {
			p := World{
				Name: a.Name + "+" + b.Name, About: a.About + "; " + b.About, Groups: a.Groups | b.Groups,
				Queue: max(a.Queue, b.Queue), Pending: max(a.Pending, b.Pending), Segments: max(a.Segments, b.Segments),
				Attempts: max(a.Attempts, b.Attempts), Faults: max(a.Faults, b.Faults), Calls: max(a.Calls, b.Calls),
				Rounds: max(a.Rounds, b.Rounds), Drafts: max(a.Drafts, b.Drafts), History: max(a.History, b.History),
				Interruption: max(a.Interruption, b.Interruption),
			}
			out = append(out, p.with())
		}
	}
	return out
}

// DeepWorlds are the same worlds with larger bounds, for runs on demand: more of
// everything that has a number, and suspensions of every kind everywhere.
func DeepWorlds() []World {
	list := Worlds()
	for i := range list {
		w := &list[i]
		w.Queue, w.Segments, w.Attempts = 2, 2, 2
		if w.Pending > 0 {
			w.Pending = 2
		}
		if w.Calls > 0 {
			w.Calls, w.Rounds = 2, 2
		}
		w.Groups |= holding | dropping | renewing
		*w = w.with()
	}
	return list
}
