package daemon

import (
	"errors"
	"io"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
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

// choose picks the adapter from the settings when a conversation begins, while no
// request is live. The history is kept, and the new adapter receives it with the first
// request.
func (d *Daemon) choose() {
	if d.assistant == nil || d.cfg.Choose == nil {
		return
	}
	folder, given := d.trustedFolder()
	chosen := d.cfg.Choose(d.settings(), folder, given)
	if chosen == nil {
		chosen = d.cfg.Adapter
	}
	if was := d.assistant.use(chosen); was != chosen {
		if was != d.cfg.Adapter {
			go func() { _ = closeAdapters(was) }()
		}
		d.loop.Post(csm.Configure{Config: d.coreConfig()})
	}
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
