package daemon

import (
	"cmp"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Mute mutes or unmutes the microphone. It takes effect before it returns, and applies
// to conversations and the wake phrase until the next call.
func (d *Daemon) Mute(m protocol.MuteParams) {
	d.muting.Lock()
	defer d.muting.Unlock()
	d.world.Mute(m.Muted)
	d.setMicrophone(func(mic *protocol.Microphone) { d.setMuted(mic, m) })
}

// muteIfTyped mutes the microphone of a conversation that begins with typed text, which
// does not ask to be heard. An earlier mute keeps its reason.
func (d *Daemon) muteIfTyped(f csm.OpenAudio) {
	if f.Typed && !d.muted() {
		d.Mute(protocol.MuteParams{Muted: true, By: protocol.MutedByTyped})
	}
}

// muted reports whether the microphone is muted. It takes no lock, for callers that hold pubMu.
func (d *Daemon) muted() bool { return d.isMuted.Load() }

func (d *Daemon) setMuted(mic *protocol.Microphone, m protocol.MuteParams) {
	d.isMuted.Store(m.Muted)
	mic.Muted, mic.MutedBy = m.Muted, ""
	if m.Muted {
		mic.MutedBy = cmp.Or(m.By, protocol.MutedByUser)
	}
}

// setMicrophone updates the microphone state and publishes it if it changed.
func (d *Daemon) setMicrophone(change func(*protocol.Microphone)) {
	d.pubMu.Lock()
	defer d.pubMu.Unlock()
	was := d.pub.microphone
	change(&d.pub.microphone)
	if d.pub.microphone == was {
		return
	}
	d.pub.microphone.Seq++
	d.pub.notify(protocol.NotifyMicrophone, d.pub.microphone)
}

// capturing handles the World's report on capture for a conversation.
func (d *Daemon) capturing(open bool) {
	d.setMicrophone(func(mic *protocol.Microphone) {
		d.pub.capturing = open
		mic.Open = open || mic.Wake
	})
}

// faulty handles the World's report on a fault of the microphone.
func (d *Daemon) faulty(fault protocol.ErrorCode) {
	d.setMicrophone(func(mic *protocol.Microphone) { mic.Fault = fault })
	if fault != "" {
		d.warn(fault, "")
	}
}

// waking handles the World's report on capture for the wake phrase. The phrase hands the open
// microphone over to the conversation, so the two overlap.
func (d *Daemon) waking(listening bool) {
	d.setMicrophone(func(mic *protocol.Microphone) { mic.Open, mic.Wake = listening || d.pub.capturing, listening })
}

// Holder is a World that can keep the user's speech while the conversation is
// suspended.
type Holder interface {
	// Held passes the suspend reasons when they change, before the effects of the step.
	// It does not block.
	Held(csm.SuspendReason)
}

func (d *Daemon) tellHeld(why csm.SuspendReason) {
	if w, ok := d.world.(Holder); ok && why != d.held {
		w.Held(why)
	}
	d.held = why
}

// fixTurns freezes the turn detection settings for the duration of a conversation,
// because connection, detector and core depend on them.
func (d *Daemon) fixTurns(s dispatch.Step) {
	idle := s.State.Phase() == csm.PhaseIdle
	d.mu.Lock()
	switch {
	case idle:
		d.turns = nil
	case d.turns == nil:
		turns := d.set.TurnDetection
		d.turns = &turns
	}
	d.mu.Unlock()
	if idle {
		d.showSettings()
	}
}

// showSettings publishes the microphone state that follows from the settings.
func (d *Daemon) showSettings() {
	set := d.conversationSettings()
	d.setMicrophone(func(mic *protocol.Microphone) { setSettings(mic, set) })
}

func setSettings(mic *protocol.Microphone, set protocol.Settings) {
	mic.Mode, mic.Phrase = protocol.TurnMode(set.TurnDetection.Mode), ""
	if set.Wake.Enabled {
		mic.Phrase = set.Wake.Phrase
	}
}

// conversationSettings returns the settings of the current conversation, or else of the
// next one.
func (d *Daemon) conversationSettings() protocol.Settings {
	d.mu.Lock()
	defer d.mu.Unlock()
	set := d.set
	if d.turns != nil {
		set.TurnDetection = *d.turns
	}
	return set
}

// endsSooner says whether shorter pauses end a turn: the user wants that, and a request that is
// cancelled because the user goes on has done nothing but cost tokens.
func (d *Daemon) endsSooner(set protocol.Settings) bool {
	if !set.Speculation || d.assistant == nil || d.callsTools() || set.TurnDetection.Eagerness == protocol.EagernessLow {
		return false
	}
	_, may := d.assistant.uses().(copilot.Speculative)
	return may
}

// TurnMode returns how turns end in the current conversation, or else in the next one.
func (d *Daemon) TurnMode() protocol.TurnMode {
	return protocol.TurnMode(d.conversationSettings().TurnDetection.Mode)
}
