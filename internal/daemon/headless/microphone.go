package headless

import (
	"sync"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
)

// microphone is the state that decides whether the wake phrase is listened for.
type microphone struct {
	mu                sync.Mutex
	wake, muted, busy bool // enabled by the settings; muted; a conversation has the device
	waking            bool // as last reported
}

// set changes a part and reports the result to the daemon.
func (m *microphone) set(port daemon.Port, change func(*microphone)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
	if now := m.wake && !m.muted && !m.busy; now != m.waking {
		m.waking = now
		port.Waking(now)
	}
}

// posted updates the state from an event about the device.
func (m *microphone) posted(port daemon.Port, e csm.Event) {
	switch e := e.(type) {
	case csm.AudioReady:
		port.Capturing(true)
	case csm.AudioClosed, csm.AudioFailed:
		port.Capturing(false)
	case csm.AudioLost:
		if e.Device != csm.Speaker {
			port.Capturing(false)
		}
	case csm.AudioRestored:
		if e.Device != csm.Speaker {
			port.Capturing(true)
		}
	default: // ignored
	}
}

// listensForPhrase reports whether the wake phrase would be heard.
func (m *microphone) listensForPhrase() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waking
}
