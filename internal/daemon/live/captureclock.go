package live

import (
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// The window is long enough to contain a frame that arrives promptly, and short enough
// for the drift of a device's clock.
const (
	clockBuckets = 8
	clockBucket  = 2 * audio.SampleRate // samples
)

// captureClock estimates when the device had a captured sample. Scheduling delays the
// delivery of a frame and never advances it, so the promptest delivery of the last 14 to
// 16 s stands for the device. Its zero value is ready to use. It belongs to the source's
// goroutine.
type captureClock struct {
	least [clockBuckets]time.Duration // smallest delivery time minus position, in each bucket
	used  int                         // buckets so far; the oldest is replaced
	from  int64                       // position at which the current bucket starts
}

// delivered records that the frame that ends at position end was delivered at now, by the
// conversation's clock.
func (c *captureClock) delivered(end int64, now time.Duration) {
	offset := now - audio.Duration(end)
	if c.used == 0 || end-c.from >= clockBucket {
		c.least[c.used%clockBuckets] = offset
		c.used, c.from = c.used+1, end
		return
	}
	current := &c.least[(c.used-1)%clockBuckets]
	*current = min(*current, offset)
}

// origin returns when the device had the sample at position 0, or would have had it. It is
// 0 before the first frame.
func (c *captureClock) origin() time.Duration {
	if c.used == 0 {
		return 0
	}
	return slices.Min(c.least[:min(c.used, clockBuckets)])
}

// restart forgets the deliveries, because the device stopped meanwhile.
func (c *captureClock) restart() { *c = captureClock{} }
