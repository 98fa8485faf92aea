package rpc

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// configure changes the named settings. One invalid setting refuses all.
func (s *server) configure(c *call, p protocol.Configuration) {
	if unknown := p.Strangers(); len(unknown) > 0 {
		c.refuse(s.locale().InvalidParams(unknown))
		return
	}
	s.change(c, p)
}

// change may run on any goroutine. Changes are serialised, because each reads the
// settings that it modifies.
func (s *server) change(c *call, p protocol.Configuration) {
	s.changing.Lock()
	defer s.changing.Unlock()
	settings, bad := s.back.Daemon.Settings().Apply(p)
	if len(bad) > 0 {
		c.refuse(s.locale().InvalidParams(bad))
		return
	}
	if s.cfg.Settings != nil {
		var err error
		if settings, err = s.cfg.Settings(settings); err != nil {
			c.fail(protocol.CodeInvalidParams, err.Error())
			return
		}
	}
	s.recorder.configured(settings)
	s.back.Daemon.Configure(settings)
	c.reply(nil)
}

// devices lists the audio devices. The sound system may be slow.
func (s *server) devices(c *call) {
	audio := s.back.Audio
	if audio == nil {
		c.fail(protocol.CodeDeviceUnavailable, "this daemon has no audio devices")
		return
	}
	list := func() {
		result, err := audio.Devices(s.back.Daemon.Settings())
		if err != nil {
			c.fail(protocol.CodeDeviceUnavailable, err.Error())
			return
		}
		c.reply(result)
	}
	if s.back.Stage != nil {
		list()
		return
	}
	s.spawn(list)
}

// selectDevice selects the devices of the current conversation and of later ones. A
// missing device is refused without any change.
func (s *server) selectDevice(c *call, p protocol.SelectDeviceParams) {
	if p.Input == "" && p.Output == "" {
		c.refuse(s.locale().InvalidParams([]protocol.FieldError{{Problem: "names no device", Allowed: "input, output or both"}}))
		return
	}
	audio := s.back.Audio
	if audio == nil {
		c.fail(protocol.CodeDeviceUnavailable, "this daemon has no audio devices")
		return
	}
	change := func() {
		here, err := audio.Devices(s.back.Daemon.Settings())
		if err != nil {
			c.fail(protocol.CodeDeviceUnavailable, err.Error())
			return
		}
		missing := append(absent("input", p.Input, here.Inputs), absent("output", p.Output, here.Outputs)...)
		if len(missing) > 0 {
			c.refuse(s.locale().InvalidParams(missing))
			return
		}
		s.selected(c, p)
	}
	if s.back.Stage != nil {
		change()
		return
	}
	s.spawn(change)
}

// defaultDevice selects the system's default device.
const defaultDevice = "default"

// absent returns an error for a device that is not in the list, by its id or its name.
func absent(field, name string, here []protocol.Device) []protocol.FieldError {
	known := func(d protocol.Device) bool { return d.ID == name || d.Name == name }
	if name == "" || name == defaultDevice || slices.ContainsFunc(here, known) {
		return nil
	}
	return []protocol.FieldError{{Field: field, Problem: fmt.Sprintf("is %q, which is not connected", clip(name)), Allowed: "default, or an id or name of audio/devices"}}
}

// selected writes the selected devices to the settings.
func (s *server) selected(c *call, p protocol.SelectDeviceParams) {
	change := protocol.Configuration{}
	for name, value := range map[string]string{"agentvoice.audio.inputDevice": p.Input, "agentvoice.audio.outputDevice": p.Output} {
		if value == "" {
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			c.fail(protocol.CodeInternalError, "")
			return
		}
		change[name] = raw
	}
	s.change(c, change)
}

func (s *server) mute(c *call, p protocol.MuteParams) {
	if s.back.Audio == nil {
		c.fail(protocol.CodeDeviceUnavailable, "this daemon has no microphone")
		return
	}
	s.back.Daemon.Mute(p)
	c.reply(nil)
}
