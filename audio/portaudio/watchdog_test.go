package portaudio

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// watched is a device for a watchdog, on a machine whose timers may be late.
type watched struct {
	watchdog
	made  int64         // callbacks
	rests time.Time     // until when it plays at rest
	late  time.Duration // between the end of a step and its handling

	overloaded bool
}

// started returns a watched device that has started; probe is nil without a server.
func started(late time.Duration, probe func(context.Context) error) *watched {
	d := &watched{late: late}
	d.watchdog = watchdog{
		callbacks: func() int64 { return d.made },
		rested:    d.atRest,
		probe:     probe, starting: settled,
		overload: func() bool { return d.overloaded },
	}
	d.start()
	for range settled + 1 {
		time.Sleep(audio.FrameTime)
		d.made++
		d.reset()
	}
	return d
}

// atRest returns the frames started at rest.
func (d *watched) atRest() (frames int64, resting bool) {
	now := time.Now()
	if now.After(d.rests) {
		now = d.rests
	}
	return now.UnixNano() / int64(audio.FrameTime), !d.rests.IsZero()
}

// silent waits without callbacks until the device counts as lost, or for a limit.
func (d *watched) silent(limit time.Duration) (after time.Duration, err error) {
	begun, end := time.Now(), time.After(limit)
	for err == nil {
		select {
		case <-d.timeout.C():
			time.Sleep(d.late)
			err = d.step()
		case answer := <-d.answer:
			err = d.answered(answer)
		case <-end:
			return time.Since(begun), nil
		}
	}
	return time.Since(begun), err
}

// A device counts as lost when its callbacks are missing while this process is on time.
func TestWatchdog(t *testing.T) {
	const ms = time.Millisecond
	answers := func(after time.Duration, err error) func(context.Context) error {
		return func(ctx context.Context) error {
			select {
			case <-time.After(after):
				return err
			case <-ctx.Done():
				return errNoAnswer
			}
		}
	}
	broken := errors.New("broken")
	for _, c := range []struct {
		name  string
		late  time.Duration // overloaded if negative
		probe func(context.Context) error
		after time.Duration
		err   error
	}{
		{"no server", 0, nil, stallTime, errStalled},
		{"server that answers", 0, answers(ms, nil), patience, errStalled},
		{"server that hangs", 0, answers(time.Hour, nil), stallTime, errNoAnswer},
		{"server that has ended", 0, answers(ms, broken), suspectTime + ms, broken},
		{"late process, no server", 150 * ms, nil, stallTime + 5*150*ms, errStalled},
		{"late process, server that hangs", 150 * ms, answers(time.Hour, nil), stallTime + 5*150*ms, errNoAnswer},
		{"late process, late server", 150 * ms, answers(700*ms, nil), patience + 26*150*ms, errStalled},
		{"overloaded machine, server that hangs", -1, answers(time.Hour, nil), busyTime, errNoAnswer},
		{"overloaded machine, late server", -1, answers(700*ms, nil), busyTime, errStalled},
		{"overloaded machine, server that answers", -1, answers(ms, nil), busyTime, errStalled},
		{"overloaded machine, no server", -1, nil, busyTime, errStalled},
		{"stopped process", time.Hour, nil, stallTime + 5*time.Hour, errStalled},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := started(max(c.late, 0), c.probe)
				d.overloaded = c.late < 0
				defer d.stop()
				if after, err := d.silent(24 * time.Hour); after != c.after || !errors.Is(err, c.err) {
					t.Errorf("lost after %v with %v, want %v with %v", after, err, c.after, c.err)
				}
			})
		})
	}
}

// Callbacks that come late because the process is late are no loss, even if their
// wake-up has not been handled; callbacks that come in time cause no step at all.
func TestWatchdogSeesLateCallbacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := started(0, nil)
		defer d.stop()
		for range 100 {
			time.Sleep(audio.FrameTime)
			d.made++
			d.reset()
			select {
			case <-d.timeout.C():
				t.Fatal("a step ended although nothing is late")
			default:
			}
		}
		for range 20 { // stalls of which each ends just before the device would be lost
			for range 4 {
				<-d.timeout.C()
				if err := d.step(); err != nil {
					t.Fatal(err)
				}
			}
			<-d.timeout.C()
			time.Sleep(time.Second) // this process stalls, too, and then handles the timer first
			d.made++
			if err := d.step(); err != nil {
				t.Fatalf("after a callback: %v", err)
			}
		}
	})
}

// A device that starts has startTime, without a probe. One at rest makes no callbacks.
func TestWatchdogAtStartAndAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &watched{}
		d.watchdog = watchdog{
			callbacks: func() int64 { return d.made }, rested: d.atRest, starting: settled, overload: func() bool { return false },
			probe: func(context.Context) error { t.Error("probed while the device starts"); return nil },
		}
		d.start()
		d.made++
		d.reset()
		if after, err := d.silent(time.Hour); after != startTime || !errors.Is(err, errStalled) {
			t.Errorf("a device that does not start is lost after %v with %v", after, err)
		}
		d = started(0, nil)
		defer d.stop()
		begun := time.Now()
		d.rests = begun.Add(time.Minute)
		if after, err := d.silent(time.Hour); after < time.Minute+stallTime-audio.FrameTime || after > time.Minute+stallTime+suspectTime || !errors.Is(err, errStalled) {
			t.Errorf("a device that plays for a minute at rest is lost after %v with %v", after, err)
		}
	})
}
