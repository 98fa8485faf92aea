package daemon

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// farewell is how long a conversation that a budget ends continues, so that the user hears why.
const farewell = 5 * time.Second

// budgetSpent ends the conversation, aloud if it can be heard. The microphone is muted meanwhile, and the
// answer is stopped first, because its next segment would discard the farewell.
func (d *Daemon) budgetSpent() {
	st := d.loop.State()
	if _, open := st.Conn.(connection.Open); !open || st.Voiceless() || d.settings().Voice.Silent {
		d.loop.Post(csm.UserStop{})
		return
	}
	d.setLeaving(leaving{instance: st.Instance})
	d.muteWorld(true)
	d.wish(typedWish, wish{do: func() { d.sayAloud(d.spoken(protocol.CodeBudgetSpent)) }})
	d.loop.Post(csm.UserInterrupt{})
	d.cfg.Clock.AfterFunc(farewell, func() {
		if d.loop.State().Instance == st.Instance {
			d.loop.Post(csm.UserStop{})
		}
	})
}

// muteWorld mutes the microphone, or restores what the user chose.
func (d *Daemon) muteWorld(muted bool) {
	d.muting.Lock()
	defer d.muting.Unlock()
	d.world.Mute(muted || d.muted())
}

// leaving is a conversation during its farewell.
type leaving struct {
	instance uint32 // 0 for none
	stopped  bool   // it is ended before the farewell is over
}

// leave ends the conversation during its farewell if it would make another paid request or has lost its
// connection. It reports whether the step's request must not be sent.
func (d *Daemon) leave(s dispatch.Step) (withhold bool) {
	d.mu.Lock()
	now := d.leaving
	d.mu.Unlock()
	switch {
	case now.instance == 0:
		return false
	case now.instance != s.State.Instance || !s.State.Phase().Active():
		d.forgetWish(typedWish)
		d.setLeaving(leaving{})
		d.muteWorld(false)
		return false
	}
	_, open := s.State.Conn.(connection.Open)
	stop := !open
	var unsent []csm.Event
	for _, f := range s.Effects {
		switch f := f.(type) {
		case csm.OpenConnection, csm.Summarise:
			stop = true
		case csm.SendCopilot:
			stop = true
			unsent = append(unsent, csm.CopilotDone{Request: f.Request, Round: f.Round, Cancelled: true})
		default: // free, or part of what was paid before
		}
	}
	if stop && !now.stopped {
		d.setLeaving(leaving{s.State.Instance, true})
		d.loop.Post(csm.UserStop{})
	}
	for _, e := range unsent { // after the end of the conversation, which else would go on without an answer
		d.loop.Post(e)
	}
	return len(unsent) > 0
}

func (d *Daemon) setLeaving(l leaving) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.leaving = l
}
