package daemon

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// adapter returns the adapter that answers now, or nil if the World answers.
func (d *Daemon) adapter() copilot.Adapter {
	if d.assistant == nil {
		return nil
	}
	return d.assistant.uses()
}

// agent returns the display name of the current adapter, or "" for Copilot.
func (d *Daemon) agent() string {
	if d.assistant == nil {
		return ""
	}
	if a, ok := d.assistant.uses().(copilot.Titled); ok {
		return a.Title()
	}
	return ""
}

// spec returns the row of a code, worded for the current adapter.
func (d *Daemon) spec(code protocol.ErrorCode) protocol.ErrorSpec { return code.Spec().By(d.agent()) }

// choose picks the adapter from the settings while no request is live: when a conversation
// begins, and after another assistant was chosen. The history is kept, and the new adapter
// receives it with the first request.
func (d *Daemon) choose() {
	if d.assistant == nil || d.cfg.Choose == nil {
		return
	}
	d.mu.Lock()
	d.switching = false
	d.mu.Unlock()
	folder, given := d.trustedFolder()
	chosen := d.cfg.Choose(d.settings(), folder, given)
	if chosen == nil {
		chosen = d.cfg.Adapter
	}
	if was := d.assistant.use(chosen); was != chosen {
		if was != d.cfg.Adapter {
			go func() { _ = closeAdapters(was) }()
		}
		d.modelPending = true
		d.loop.Post(csm.Configure{Config: d.coreConfig()})
		d.loop.Post(csm.UserSelectModel{Model: d.content.modelID(d.modelFor(d.settings()))})
	}
}

// modelFor returns the model that a conversation begins with; "" is the adapter's default. The
// setting names one of the assistant that the daemon was started with.
func (d *Daemon) modelFor(set protocol.Settings) string {
	if d.adapter() != d.cfg.Adapter {
		return ""
	}
	return set.Copilot.Model
}

// modelToSend returns the model of a request: that of the core's state, unless another adapter was chosen and the
// core has not yet heard of its model. It runs on the loop.
func (d *Daemon) modelToSend(s csm.State) string {
	if d.modelPending {
		return d.modelFor(d.settings())
	}
	return d.modelOf(s)
}

// switchAssistant picks the adapter after another assistant was chosen in a conversation,
// once the request that was live is over.
func (d *Daemon) switchAssistant(s dispatch.Step) {
	d.mu.Lock()
	switching := d.switching
	d.mu.Unlock()
	begins := slices.ContainsFunc(s.Effects, func(f csm.Effect) bool {
		send, is := f.(csm.SendCopilot)
		return is && send.Round == 0
	})
	if switching && d.conversing() && (begins || d.assistant.request == 0) {
		d.choose()
		d.cost()
		d.refuse()
	}
}

// tellSwitch says who answers from the next message on, and what it knows of the
// conversation.
func (d *Daemon) tellSwitch(was, s protocol.Settings) {
	if d.cfg.Assistants == nil {
		return
	}
	all, selected := d.cfg.Assistants(s)
	if _, before := d.cfg.Assistants(was); before == selected {
		return
	}
	words := agentTexts[d.locale()]
	i := slices.IndexFunc(all, func(a protocol.Assistant) bool { return a.ID == selected })
	if i < 0 {
		return
	}
	said := fmt.Sprintf(words.switched, clipSpoken(all[i].Title))
	d.pubMu.Lock()
	begun := len(d.pub.entries) > 0
	d.pubMu.Unlock()
	switch {
	case !begun:
	case selected == protocol.OfflineAssistant:
		said += words.knowsNothing
	default:
		said += words.knowsWords
	}
	d.say(said)
}

func closeAdapters(all ...copilot.Adapter) error {
	var errs []error
	for _, a := range all {
		if c, ok := a.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// uses returns the adapter that answers now.
func (a *assistant) uses() copilot.Adapter {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.adapter
}

// use switches to another adapter from the next request on, and returns the previous
// one.
func (a *assistant) use(next copilot.Adapter) (was copilot.Adapter) {
	a.mu.Lock()
	defer a.mu.Unlock()
	was, a.adapter = a.adapter, next
	return was
}
