package csmtest

import (
	"fmt"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
)

// trace returns the golden trace, without the file's prelude, one line per step. Started
// deadlines are in brackets; stopped ones are omitted, and so are notifications that the
// transition implies.
func (p *player) trace() []string {
	var out []string
	for _, s := range p.steps[min(p.visible, len(p.steps)):] {
		out = append(out, s.String())
	}
	return out
}

func (s step) String() string {
	var parts []string
	if did := s.did(); did != "" {
		parts = append(parts, did)
	}
	var timers []string
	for _, f := range s.fx {
		switch f := f.(type) {
		case csm.StartTimer:
			timers = append(timers, fmt.Sprintf("%v %v", f.Timer, f.After))
		default:
			if t := short(f); t != "" {
				parts = append(parts, t)
			}
		}
	}
	if len(timers) > 0 {
		parts = append(parts, "["+strings.Join(timers, ", ")+"]")
	}
	return strings.TrimRight(fmt.Sprintf("%-8v %-42s %s", s.env.At, s.event(), strings.Join(parts, "; ")), " ")
}

// event returns the event with its fields, except those that identify live things.
func (s step) event() string {
	skip := []string{"Call", "Config", "Pos"}
	f := flat(s.env.Event)
	if f["Instance"] == any(s.before.Instance) {
		skip = append(skip, "Instance")
	}
	if e := f["Epoch"]; e == any(connection.Epoch(s.before.Conn)) || e == any(s.before.IDs.Epoch) {
		skip = append(skip, "Epoch")
	}
	if t, ok := s.env.Event.(csm.TimerFired); ok {
		name := fmt.Sprint("timer ", uint8(t.Timer))
		if t.Timer < csm.NumTimers {
			name = "timer " + t.Timer.String()
		}
		return name
	}
	return strings.TrimSpace(csm.KindOf(s.env.Event).String() + " " + compact(s.env.Event, skip...))
}

// did returns the event's effect on the conversation.
func (s step) did() string {
	for _, f := range s.fx {
		if c, ok := f.(csm.PublishState); ok {
			return fmt.Sprintf("%v > %v (%s)", c.From, c.To, c.Cause)
		}
	}
	switch {
	case s.after.Counters.Stale > s.before.Counters.Stale:
		return "stale"
	case s.after.Counters.Ignored > s.before.Counters.Ignored:
		return "ignored"
	}
	return ""
}

// short abbreviates an effect; "" if the line already implies it.
func short(f csm.Effect) string {
	switch f := f.(type) {
	case csm.StopTimer, csm.PublishState, csm.Post:
		return ""
	case csm.Reply:
		if f.Code == "" {
			return ""
		}
		return "refused: " + string(f.Code)
	case csm.PublishTurn:
		if f.End == "" {
			return fmt.Sprintf("turn %d begins", f.Turn.ID)
		}
		return fmt.Sprintf("turn %d %s after %v", f.Turn.ID, f.End, f.Duration)
	case csm.PublishHeard:
		return fmt.Sprintf("heard %d", f.Chars)
	case csm.PublishQueue:
		return fmt.Sprintf("%d wait", f.Waiting)
	case csm.PublishTool:
		return strings.TrimSpace(fmt.Sprintf("tool %d %s %s", f.ToolCall, f.Status, map[bool]string{true: "destructive"}[f.Destructive]))
	case csm.PublishModel:
		return strings.TrimSpace(fmt.Sprintf("model %d %d %% %s", f.Model, f.Percent, f.Code))
	case csm.Notify:
		return "tells " + string(f.Code)
	case csm.PublishError:
		return strings.TrimSpace("shows " + string(f.Code) + map[bool]string{true: " (fatal)"}[f.Fatal])
	default:
		return strings.TrimSpace(csm.NameOf(f) + " " + compact(f, "Instance", "Deadline"))
	}
}
