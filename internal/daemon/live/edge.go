package live

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hosted"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
)

// Hearing turns the user's voice into words. It reports to a realtime.Handler where the
// user starts and stops speaking, partial words if available, and final words with a
// confidence. Names and terms that the user is likely to say are passed at
// construction; see vocabulary.
type Hearing interface {
	// WriteFrame takes the next 10 ms. It never blocks and does not allocate.
	WriteFrame(*audio.Frame)
	// SkipFrame replaces WriteFrame for a frame that need not be sent.
	SkipFrame(*audio.Frame)
	// Position returns the number of samples written.
	Position() int64
	// CommitInput ends the user's turn, whose audio precedes a position; ClearInput drops it.
	CommitInput(utterance uint64, end int64, found bool)
	// HoldInput says that only CommitInput ends the utterance of an item. ForgetInput drops audio
	// in which nobody spoke.
	HoldInput(item string)
	ForgetInput()
	ClearInput()
	// Expires returns when the service stops recognition, if known.
	Expires() (at time.Time, known bool)
	Stats() realtime.Stats
	Close() error
}

// Voice turns text into audio. It reports to a hosted.Listener the audio of each
// segment, in order, and the segment's end: exactly once, unless it was cancelled.
type Voice interface {
	// Speak queues a segment.
	Speak(realtime.Segment)
	// CancelSpeech immediately drops all segments of a generation and older ones.
	CancelSpeech(gen uint32)
	// Speeds returns the range of supported speech rates.
	Speeds() (slowest, fastest float64)
	Close() error
}

// A session with a service implements both.
var (
	_ Hearing = (*realtime.Client)(nil)
	_ Voice   = (*realtime.Client)(nil)
	_ Voice   = (*hosted.Queue)(nil)
)
