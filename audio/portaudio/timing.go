package portaudio

import (
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// timing holds a device's delay. The callback writes it; any goroutine may read it.
type timing struct {
	reported  time.Duration // as reported at opening
	measured  atomic.Int64  // ns, smoothed over about 16 callbacks; 0 before the first
	callbacks atomic.Int64
	xruns     atomic.Int64
}

// maxDelay exceeds any real delay. Some devices report garbage before they run.
const maxDelay = 2 * time.Second

// called records one callback: the delay of its samples, and whether the device
// reported an xrun before it.
func (t *timing) called(delay time.Duration, xrun bool) {
	t.callbacks.Add(1)
	if xrun {
		t.xruns.Add(1)
	}
	if delay <= 0 || delay > maxDelay {
		return
	}
	if old := t.measured.Load(); old != 0 {
		delay = time.Duration(old) + (delay-time.Duration(old))/16
	}
	t.measured.Store(max(1, int64(delay)))
}

func (t *timing) timing(lost int64) audio.Timing {
	return audio.Timing{
		Reported: t.reported, Measured: time.Duration(t.measured.Load()),
		Callbacks: t.callbacks.Load(), Xruns: t.xruns.Load(), Lost: lost,
	}
}
