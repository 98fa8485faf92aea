package live

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hosted"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
)

// Hearing turns the user's voice into words. What it hears it tells a realtime.Handler:
// where the user begins and ends, partial words where it has them, and final ones with
// how sure it is of them. Names and terms that the user is likely to say are given when
// it is made; see vocabulary.
type Hearing interface {
	// WriteFrame takes the next 10 ms. It never blocks and allocates nothing.
	WriteFrame(*audio.Frame)
	// SkipFrame takes its place for a frame that need not be sent.
	SkipFrame(*audio.Frame)
	// Position is how many samples were written.
	Position() int64
	// CommitInput ends the user's turn by hand, ClearInput drops it.
	CommitInput(utterance uint64)
	ClearInput()
	// Expires is when the service stops hearing, if that is known.
	Expires() (at time.Time, known bool)
	Stats() realtime.Stats
	Close() error
}

// Voice turns text into audio. It tells a hosted.Listener the audio of each segment in
// order, and how it ended: exactly once, unless it was cancelled.
type Voice interface {
	// Speak queues a segment behind those queued before.
	Speak(realtime.Segment)
	// CancelSpeech drops all segments of a generation and older ones, at once.
	CancelSpeech(gen uint32)
	// Speeds is how slowly and how fast it speaks at most.
	Speeds() (slowest, fastest float64)
	Close() error
}

// A session with a service is both.
var (
	_ Hearing = (*realtime.Client)(nil)
	_ Voice   = (*realtime.Client)(nil)
	_ Voice   = (*hosted.Queue)(nil)
)
