package csmtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Convert writes events as a scenario that replays them as they were: nothing is
// answered, no deadline passes by itself, and none changes its place.
func Convert(events []csm.Event) string {
	log := make([]csm.Envelope, len(events))
	for i, e := range events {
		log[i] = csm.Envelope{Seq: uint64(i) + 1, Event: e}
	}
	return ConvertLog(log, "")
}

// ConvertLog is Convert with the times at which events happened, and a comment.
func ConvertLog(log []csm.Envelope, comment string) string {
	var b strings.Builder
	for l := range strings.SplitSeq(comment, "\n") {
		if l != "" {
			fmt.Fprintf(&b, "# %s\n", l)
		}
	}
	b.WriteString("world silent\n")
	var now time.Duration
	for _, env := range log {
		data, err := json.Marshal(env.Event)
		if err != nil { // events are plain structs
			panic(fmt.Sprintf("csmtest: event %v: %v", env.Event.Kind(), err))
		}
		if env.At > now {
			fmt.Fprintf(&b, "at %v ", env.At)
			now = env.At
		}
		fmt.Fprintf(&b, "event %s %s\n", env.Event.Kind(), data)
	}
	return b.String()
}
