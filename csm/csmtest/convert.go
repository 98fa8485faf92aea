package csmtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Convert formats events as a scenario that replays them exactly: no answers and no
// deadlines are added, and the order is kept.
func Convert(events []csm.Event) string {
	w := &World{}
	for i, e := range events {
		w.Log = append(w.Log, csm.Envelope{Seq: uint64(i) + 1, Event: e})
	}
	return w.Scenario("")
}

// Scenario is Convert for the world's events so far, with their times and the accepted
// stale event, if any.
func (w *World) Scenario(comment string) string {
	var b strings.Builder
	for l := range strings.SplitSeq(comment, "\n") {
		if l != "" {
			fmt.Fprintf(&b, "# %s\n", l)
		}
	}
	b.WriteString("world silent\n")
	now := time.Duration(0)
	write := func(at time.Duration, stale string, e csm.Event) {
		data, err := json.Marshal(e)
		if err != nil { // cannot happen: events are plain structs
			panic(fmt.Sprintf("csmtest: event %v: %v", csm.KindOf(e), err))
		}
		if at > now {
			fmt.Fprintf(&b, "at %v ", at)
			now = at
		}
		fmt.Fprintf(&b, "%sevent %s %s\n", stale, csm.KindOf(e), data)
	}
	for _, env := range w.Log {
		write(env.At, "", env.Event)
	}
	if w.Injected != nil {
		write(w.At, "stale ", w.Injected)
	}
	b.WriteString("expect progress\n")
	return b.String()
}
