package explore

import (
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

// World is a closed part of the possible events. Everything within its limits is
// explored.
type World struct {
	Name  string `json:"name"`
	About string `json:"about"`
	world.Limits
}

// boundNames are the column headers of bounds.
var boundNames = [...]string{"queue", "pending", "segments", "attempts", "faults", "calls", "rounds", "drafts", "history", "epochs"}

// bounds returns the numeric limits of a world. At most one connection follows another at
// a time, so epochs need no limit of their own.
func (w World) bounds() [len(boundNames)]int {
	return [...]int{w.Queue, w.Pending, w.Segments, w.Attempts, w.Faults, w.Calls, w.Rounds, w.Drafts, w.History, 2}
}

// Worlds returns the worlds in the order of exploration.
func Worlds() []World {
	list := []World{
		{Name: "turns", About: "speech, typing and answers: interrupted, failed, retried and queued", Limits: world.Limits{Queue: 2, Pending: 1, Segments: 1, Attempts: 1,
			Groups: world.Voice | world.Text | world.User | world.Retrying | world.Failing | world.Holding}},
		{Name: "prose", About: "answers that end with a question to the user; agents that act by themselves", Limits: world.Limits{Queue: 1, Pending: 1, Segments: 1, Attempts: 1,
			Groups: world.Voice | world.Text | world.User | world.Replying | world.Asking | world.Acting}},
		{Name: "answers", About: "attempts, pieces and failures of answers; the configuration changes", Limits: world.Limits{Queue: 2, Segments: 2, Attempts: 2,
			Groups: world.Text | world.User | world.Retrying | world.Failing | world.Holding | world.Configuring}},
		{Name: "speech", About: "speech: segments, texts read aloud, pauses by the user and by suspensions", Limits: world.Limits{Queue: 1, Pending: 1, Segments: 2, Attempts: 1,
			Groups: world.Voice | world.Text | world.Reading | world.Pausing | world.User | world.Holding | world.Failing}},
		{Name: "suspension", About: "every set of reasons to suspend, in every state of a turn", Limits: world.Limits{Queue: 1, Pending: 1, Segments: 1, Attempts: 1,
			Groups: world.Voice | world.Text | world.Holding | world.Renewing | world.Device | world.Dropping | world.Failing}},
		{Name: "tools", About: "searches, questions, calls and rounds, approved manually", Limits: world.Limits{Queue: 1, Segments: 1, Attempts: 1, Calls: 1, Rounds: 1,
			Groups: world.Text | world.User | world.Retrying | world.Failing | world.Holding | world.Dropping | world.Tooling | world.Allowing}},
		{Name: "approval", About: "questions about tools answered by voice", Limits: world.Limits{Queue: 1, Pending: 2, Segments: 1, Attempts: 1, Calls: 1, Rounds: 1,
			Groups: world.Voice | world.User | world.Replying | world.Waiting | world.Holding | world.Tooling | world.Destroying}},
		{Name: "models", About: "models that load, change and fail during requests", Limits: world.Limits{Queue: 2, Segments: 1, Attempts: 1,
			Groups: world.Text | world.User | world.Retrying | world.Failing | world.Holding | world.Loading}},
		{Name: "manual", About: "turns that the user ends manually or by the send phrase", Limits: world.Limits{Queue: 1, Pending: 1, Segments: 1, Attempts: 1, Drafts: 2,
			Groups: world.Voice | world.Text | world.Phrases | world.Silences | world.User | world.Holding}},
		{Name: "history", About: "histories that are summarised during the conversation", Limits: world.Limits{Queue: 1, Segments: 1, Attempts: 1, History: 3,
			Groups: world.Text | world.User | world.Failing | world.Holding}},
		{Name: "renewal", About: "expiring connections, replaced make-before-break", Limits: world.Limits{Queue: 1, Pending: 1, Segments: 1, Attempts: 1,
			Groups: world.Voice | world.Expiring | world.Dropping | world.Holding}},
		{Name: "pauses", About: "silences inside utterances that end by themselves", Limits: world.Limits{Queue: 1, Pending: 1, Segments: 1, Attempts: 1,
			Groups: world.Voice | world.Silences | world.User | world.Holding}},
		{Name: "overlap", About: "speech over the assistant: pausing, reverted, confirmed, and without meaning", Limits: world.Limits{Queue: 1, Pending: 1, Segments: 1, Attempts: 1,
			Groups: world.Voice | world.Silences | world.Pausing | world.User | world.Holding | world.Text | world.Dropping}},
		{Name: "overlap-questions", About: "the same over questions about tools", Limits: world.Limits{Queue: 1, Pending: 1, Segments: 1, Attempts: 1, Calls: 1, Rounds: 1,
			Groups: world.Voice | world.Silences | world.Replying | world.Tooling | world.Allowing | world.Failing}},
		{Name: "overlap-words", About: "speech over the assistant that interrupts only with words", Limits: world.Limits{Queue: 1, Pending: 1, Segments: 1, Attempts: 1, Calls: 1, Rounds: 1,
			Groups: world.Voice | world.User | world.Tooling | world.Holding, Interruption: csm.ByWords}},
		{Name: "overlap-none", About: "speech over the assistant that never interrupts", Limits: world.Limits{Queue: 1, Pending: 1, Segments: 1, Attempts: 1,
			Groups: world.Voice | world.Text | world.User | world.Holding, Interruption: csm.Never}},
		{Name: "faults", About: "starts, faults, recoveries, the breaker and the end", Limits: world.Limits{Queue: 1, Segments: 1, Attempts: 1, Faults: 2,
			Groups: world.Text | world.Holding | world.Device | world.Dropping | world.Failing | world.Fatally | world.Breaking | world.Quiet}},
	}
	for i := range list {
		list[i].Limits = list[i].Configured()
	}
	return list
}

// Pairs returns each pair of worlds as one: the events of both, with the larger of the
// bounds. If either uses manual turns or another interruption mode, so does the pair.
func Pairs(worlds []World) []World {
	var out []World
	for i, a := range worlds {
		for _, b := range worlds[i+1:] {
			p := World{Name: a.Name + "+" + b.Name, About: a.About + "; " + b.About, Limits: world.Limits{
				Groups: a.Groups | b.Groups, Queue: max(a.Queue, b.Queue), Pending: max(a.Pending, b.Pending), Segments: max(a.Segments, b.Segments),
				Attempts: max(a.Attempts, b.Attempts), Faults: max(a.Faults, b.Faults), Calls: max(a.Calls, b.Calls),
				Rounds: max(a.Rounds, b.Rounds), Drafts: max(a.Drafts, b.Drafts), History: max(a.History, b.History),
				Interruption: max(a.Interruption, b.Interruption),
			}}
			p.Limits = p.Configured()
			out = append(out, p)
		}
	}
	return out
}

// DeepWorlds returns the same worlds with larger bounds, for runs on demand: higher
// limits, and all kinds of suspensions everywhere.
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
		w.Groups |= world.Holding | world.Dropping | world.Renewing
		w.Limits = w.Configured()
	}
	return list
}
