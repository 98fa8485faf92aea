package realtime

import (
	"sync"
	"time"
)

// Usage is the usage that a service reports for a response or a transcription. Input
// includes the cached tokens.
type Usage struct {
	Transcription                  bool // otherwise a response
	TextIn, TextCached, TextOut    int64
	AudioIn, AudioCached, AudioOut int64
	Seconds                        float64 // of the user's audio
}

// usage is the usage member of an event: tokens, or a duration.
type usage struct {
	Seconds float64 `json:"seconds"`
	Input   int64   `json:"input_tokens"`
	Output  int64   `json:"output_tokens"`
	In      struct {
		Text   int64 `json:"text_tokens"`
		Audio  int64 `json:"audio_tokens"`
		Cached struct {
			Text  int64 `json:"text_tokens"`
			Audio int64 `json:"audio_tokens"`
		} `json:"cached_tokens_details"`
	} `json:"input_token_details"`
	Out struct {
		Audio int64 `json:"audio_tokens"`
	} `json:"output_token_details"`
}

// used reports usage unless it is zero. Tokens that the details do not list are text.
func (l *loop) used(transcription bool, u *usage) {
	if l.cfg.Used == nil || u == nil || *u == (usage{}) {
		return
	}
	l.cfg.Used(Usage{
		Transcription: transcription, Seconds: max(u.Seconds, 0),
		TextIn: max(u.Input-u.In.Audio, 0), TextCached: max(u.In.Cached.Text, 0), TextOut: max(u.Output-u.Out.Audio, 0),
		AudioIn: max(u.In.Audio, 0), AudioCached: max(u.In.Cached.Audio, 0), AudioOut: max(u.Out.Audio, 0),
	})
}

// Meter counts the time of a session that is paid by the minute.
type Meter interface {
	// Reported passes the service's own count so far.
	Reported(total time.Duration)
	Close()
}

// metered is the meter of the session, if it has one.
type metered struct {
	mu    sync.Mutex
	meter Meter
}

// open begins to count, because the service has created a session.
func (m *metered) open(of func() Meter) {
	if of == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.meter == nil {
		m.meter = of()
	}
}

// reported passes the service's count to the meter, and reports whether there is one.
func (m *metered) reported(seconds float64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.meter == nil {
		return false
	}
	m.meter.Reported(time.Duration(seconds * float64(time.Second)))
	return true
}

func (m *metered) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.meter != nil {
		m.meter.Close()
	}
}
