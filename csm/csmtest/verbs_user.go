package csmtest

import (
	"fmt"
	"maps"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

var _ = addVerbs(map[string]func(*player, *words) error{
	"user":    (*player).user,
	"suspend": func(p *player, w *words) error { return p.reason("suspend", w) },
	"resume":  func(p *player, w *words) error { return p.reason("resume", w) },
})

// commands maps one-word user commands to their events.
var commands = map[string]string{
	"starts": "user.start", "stops": "user.stop", "interrupts": "user.interrupt", "commits": "user.commit",
}

// user is an action of the user, as a call that expects a reply:
//
//	user starts | stops [CODE] | interrupts | commits | retries [STAGE] [as tool N]
//	user types "words" | says "words" | has N characters read
//	user pauses | continues | approves [tool N] | rejects [tool N] | selects model N
func (p *player) user(w *words) error {
	p.call++
	what := w.word()
	if kind, ok := commands[what]; ok {
		return p.make(kind, map[string]any{"Call": p.call, "Code": csm.Code(w.word())})
	}
	switch what {
	case "retries":
		return p.retries(w)
	case "types":
		s, ok := w.text()
		if !ok {
			return fmt.Errorf("missing words; write user types \"words\"")
		}
		p.voice++
		return p.happen(csm.UserText{Call: p.call, Utterance: p.voice, Words: len(strings.Fields(s))})
	case "says":
		return p.says(w)
	case "has":
		n, err := w.number()
		if err != nil || !w.is("characters read") {
			return fmt.Errorf("write user has N characters read")
		}
		return p.happen(csm.UserSpeak{Call: p.call, Ref: uint64(p.call), Chars: int(n)})
	case "pauses", "continues":
		return p.happen(csm.UserPlayback{Call: p.call, Pause: what == "pauses"})
	case "approves", "rejects":
		if w.is("tool") {
			n, err := w.number()
			if err != nil {
				return err
			}
			p.tool = n
		}
		return p.make("user.approve", map[string]any{"Call": p.call, "ToolCall": p.tool, "Approved": what == "approves"})
	case "selects":
		w.is("model")
		n, err := w.number()
		if err != nil {
			return err
		}
		return p.make("user.model", map[string]any{"Call": p.call, "Model": n})
	default:
		return fmt.Errorf("unknown user action %q", what)
	}
}

// retries is "user retries [STAGE] [as tool N]": N is the id for another call of the
// failed tool.
func (p *player) retries(w *words) error {
	fields := map[string]any{"Call": p.call}
	if stage := w.peek(); stage != "" && stage != "as" {
		s, err := stageByName(w.word())
		if err != nil {
			return err
		}
		fields["Stage"] = s
	}
	if w.is("as tool") {
		n, err := w.number()
		if err != nil {
			return err
		}
		p.tool, fields["ToolCall"] = n, n
	}
	return p.make("user.retry", fields)
}

func stageByName(name string) (copilot.Stage, error) {
	for s := copilot.StageNone; s <= copilot.StageCall; s++ {
		if s.String() == name {
			return s, nil
		}
	}
	return 0, fmt.Errorf("unknown request stage %q", name)
}

// says is a complete utterance: onset, end and transcript.
func (p *player) says(w *words) error {
	for _, verb := range []string{"vad.start", "vad.end"} {
		if err := verbs[verb](p, &words{}); err != nil {
			return err
		}
	}
	return verbs["stt.final"](p, w)
}

// reasons maps the names in scenarios to reasons to suspend.
var reasons = map[string]csm.SuspendReason{
	"": csm.SuspendUser, "user": csm.SuspendUser, "renewal": csm.SuspendRenewal, "connection": csm.SuspendConnection,
	"microphone": csm.SuspendMicrophone, "speaker": csm.SuspendSpeaker,
	"diagnostics": csm.SuspendDiagnostics, "heartbeat": csm.SuspendHeartbeat, "nothing": 0,
}

// reason is "suspend [for] REASON" and "resume [from] REASON".
func (p *player) reason(kind string, w *words) error {
	p.call++
	_ = w.is("for") || w.is("from")
	var why csm.SuspendReason
	for first := true; first || w.is("and"); first = false {
		name := w.word()
		r, ok := reasons[name]
		if !ok {
			return fmt.Errorf("unknown reason to suspend %q", name)
		}
		why |= r
	}
	return p.make(kind, map[string]any{"Call": p.call, "Reason": why})
}

// make posts an event of a kind, built from fields by name.
func (p *player) make(kind string, fields ...map[string]any) error {
	all := map[string]any{}
	for _, f := range fields {
		maps.Copy(all, f)
	}
	e, err := Make(kind, all)
	if err != nil {
		return err
	}
	return p.happen(e)
}
