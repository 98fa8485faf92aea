package csmtest

import (
	"fmt"
	"maps"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Outcome is how the world deals with what an effect asks for.
type Outcome uint8

// The outcomes. Late is done, after other things; Lost has no answer, and the
// core's deadline stands in for it.
const (
	Done Outcome = iota
	Failed
	Cancelled
	Late
	Lost
	numOutcomes
)

var outcomeNames = [numOutcomes]string{"done", "failed", "cancelled", "late", "lost"}

func (o Outcome) String() string { return outcomeNames[o] }

// answer says by which events an effect is answered. The fields of an event that
// the effect has too are copied from it.
type answer struct {
	before []string       // what is reported before the terminal
	done   string         // the terminal when all goes well
	failed string         // the terminal when not; done with a code where it is empty
	set    map[string]any // fields of done that the effect does not have
}

// answers is the environment's knowledge of effects. A new effect that waits for
// an answer is a line here.
var answers = map[string]answer{
	"ActivateSession":   {done: "session.ready", failed: "session.failed"},
	"DeactivateSession": {done: "session.closed"},
	"OpenAudio":         {done: "audio.primed", failed: "audio.failed"},
	"StartCapture":      {done: "audio.ready", failed: "audio.failed"},
	"CloseAudio":        {done: "audio.closed"},
	"OpenConnection":    {done: "conn.ready", failed: "conn.failed"},
	"CloseConnection":   {done: "conn.closed"},
	"SendCopilot":       {before: []string{"copilot.request"}, done: "copilot.done"},
	"CancelCopilot":     {done: "copilot.done", set: map[string]any{"Cancelled": true}},
	"Speak":             {before: []string{"tts.bufferReady"}, done: "tts.played", failed: "tts.failed"},
	"Flush":             {done: "tts.flushed"},
	"LoadModel":         {done: "model.ready", failed: "model.failed"},
	"SearchTools":       {done: "tools.found"},
	"CancelSearch":      {done: "tools.found", set: map[string]any{"Cancelled": true}},
	"CallTool":          {done: "tool.done"},
	"CancelTool":        {done: "tool.done", set: map[string]any{"Cancelled": true}},
	"Summarise":         {done: "history.summarised"},
	"CancelSummary":     {done: "history.summarised", set: map[string]any{"Code": csm.CodeInternalError}},
}

// Answers lists the events by which the world answers f when it ends as o, in
// their order, the terminal last; code is what it fails with. There is none for an
// effect that waits for no answer, and for one that is lost.
func Answers(f csm.Effect, o Outcome, code csm.Code) []csm.Event {
	a, ok := answers[f.Name()]
	if !ok || o == Lost {
		return nil
	}
	fields := flat(f)
	if g, ok := f.(csm.Flush); ok {
		fields["Gen"] = g.Gen - 1 // what was flushed is what was before
	}
	fields["Attempt"] = 1
	var out []csm.Event
	for _, kind := range a.before {
		out = append(out, must(kind, fields))
	}
	last := a.done
	maps.Copy(fields, a.set)
	switch o {
	case Failed:
		if fields["Code"] = code; a.failed != "" {
			last = a.failed
		}
	case Cancelled:
		fields["Cancelled"] = true
	}
	return append(out, must(last, fields))
}

// must is Make for kinds that the tables name.
func must(kind string, fields map[string]any) csm.Event {
	e, err := Make(kind, fields)
	if err != nil {
		panic(fmt.Sprintf("csmtest: %v; mend the table of answers", err))
	}
	return e
}
