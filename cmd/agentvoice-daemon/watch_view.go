package main

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/daemon/watch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// watchView shows another daemon's conversation in the format of talk, with the time of
// day.
type watchView struct {
	*talkView
	muted bool
}

func newWatchView(out screen, verbose bool) *watchView {
	v := &watchView{talkView: newTalkView(out, time.Time{}, nil, false, verbose)}
	v.stamp = func(at time.Time) string { return at.Local().Format("15:04:05.0") }
	return v
}

// follow shows everything until the connection ends, and returns the reason.
func (v *watchView) follow(ctx context.Context, c *watch.Client, card watch.Card) error {
	defer v.followResizes(ctx)()
	v.line(time.Now(), fmt.Sprintf("following %v", card))
	v.snapshot(c.Snapshot)
	for {
		m, err := c.Next()
		if err != nil {
			v.end()
			return err
		}
		row, known := protocol.Lookup(m.Method)
		if !known || row.Params == nil {
			continue // added by a later version
		}
		params := reflect.New(reflect.TypeOf(row.Params))
		if err := json.Unmarshal(m.Params, params.Interface()); err != nil {
			return fmt.Errorf("%v sends an unknown form of %s; update this program: %w", card, m.Method, err)
		}
		v.show(params.Elem().Interface())
	}
}

func (v *watchView) snapshot(s protocol.Snapshot) {
	v.state = s.Label
	v.line(s.Since.Time, fmt.Sprintf("%-24s session %s%s", s.Label, s.Session.State, suffix(" ", s.TurnID)))
	v.microphone(s.Microphone)
}

// show shows one notification.
func (v *watchView) show(params any) {
	now := time.Now()
	switch p := params.(type) {
	case protocol.StateParams:
		changed := p.Label != v.state
		v.state = p.Label
		if v.verbose {
			v.line(p.Since.Time, fmt.Sprintf("%-24s %s%s%s", p.Label, p.Cause, suffix(" ", p.TurnID), suffix(" ", p.Metadata.Reason)))
		} else if changed {
			v.line(p.Since.Time, p.Label)
		}
	case protocol.TurnParams:
		if p.DurationMs != nil {
			lasted := (time.Duration(*p.DurationMs) * time.Millisecond).Round(100 * time.Millisecond)
			v.line(p.Timestamp.Time, fmt.Sprintf("  %s %s after %v%s", p.TurnID, p.Outcome, lasted, suffix(" ", string(p.Code))))
		}
	case protocol.SessionParams:
		if p.State != p.PreviousState {
			v.line(now, fmt.Sprintf("  session %s, service %s%s", p.State, p.Provider, suffix(" ", string(p.Code))))
		}
		v.path(p.Path)
	case protocol.ToolParams:
		v.line(now, fmt.Sprintf("  tool %s%s %s%s", p.CallID, suffix(" ", p.Name), p.Status, suffix(": ", p.Question)))
	case protocol.Queue:
		if p.Count > 0 {
			v.line(now, fmt.Sprintf("  %d more utterances queued", p.Count))
		}
	case protocol.PausedParams:
		v.line(now, "  paused: "+onOff(p.Conversation)+", voice: "+onOff(p.Voice))
	case protocol.Microphone:
		v.microphone(p)
	case protocol.NotificationParams:
		v.notification(now, p)
	case protocol.ErrorParams:
		v.line(now, "! "+p.Message+" "+p.Remediation)
	default:
		v.notify("", params)
	}
}

func (v *watchView) notification(now time.Time, p protocol.NotificationParams) {
	switch {
	case p.Kind == protocol.NotificationResync && p.Snapshot != nil:
		v.line(now, fmt.Sprintf("! %s %d messages were dropped.", p.Message, p.Dropped))
		v.snapshot(*p.Snapshot)
	case p.Progress != nil:
		v.line(now, fmt.Sprintf("  model %.0f %% loaded", 100**p.Progress))
	case p.Code == protocol.CodeShuttingDown, p.Code == protocol.CodeWatchRefused: // shown in the last line
	case p.Message != "":
		v.line(now, "! "+p.Message)
	}
}

// microphone shows a change of the mute state.
func (v *watchView) microphone(m protocol.Microphone) {
	if m.Muted == v.muted {
		return
	}
	v.muted = m.Muted
	words := "  microphone unmuted"
	if m.Muted {
		words = "  microphone muted" + suffix(" by ", string(m.MutedBy))
	}
	v.line(time.Now(), words)
}

// end clears the status line.
func (v *watchView) end() {
	fmt.Fprint(v.out, v.erase())
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
