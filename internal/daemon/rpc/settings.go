package rpc

import (
	"encoding/json"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// configure changes the settings that are named; one bad one refuses all.
func (s *server) configure(c *call, p protocol.Configuration) { s.change(c, p) }

func (s *server) change(c *call, p protocol.Configuration) {
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

// devices lists the audio devices. The sound system may take its time.
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

// selectDevice names the devices: of the conversation that runs, and from then on.
func (s *server) selectDevice(c *call, p protocol.SelectDeviceParams) {
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
	s.back.Audio.Mute(p.Muted)
	c.reply(nil)
}
