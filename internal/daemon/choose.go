package daemon

import (
	"errors"
	"io"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// adapter is who answers; nil where the World does.
func (d *Daemon) adapter() copilot.Adapter {
	if d.assistant == nil {
		return nil
	}
	return d.assistant.uses()
}

// choose takes who answers from the settings, when a conversation begins: no request is
// live then. The history stays; an agent that comes new to it is told what was said.
func (d *Daemon) choose() {
	if d.assistant == nil || d.cfg.Choose == nil {
		return
	}
	chosen := d.cfg.Choose(d.settings(), d.vocabulary.folder())
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

// uses is who answers now.
func (a *assistant) uses() copilot.Adapter {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.adapter
}

// use has another adapter answer from the next request on, and returns the one before.
func (a *assistant) use(next copilot.Adapter) (was copilot.Adapter) {
	a.mu.Lock()
	defer a.mu.Unlock()
	was, a.adapter = a.adapter, next
	return was
}
