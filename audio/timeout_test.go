package audio

import (
	"testing"
	"testing/synctest"
	"time"
)

// expiry returns after how many steps and how much time a Timeout expires if this process
// handles each step late.
func expiry(quiet, limit, late time.Duration) (steps int, took time.Duration) {
	begun := time.Now()
	var timeout Timeout
	for timeout.Start(quiet, limit); ; {
		<-timeout.C()
		time.Sleep(late)
		steps++
		if timeout.Expired() {
			return steps, time.Since(begun)
		}
	}
}

// A process that runs on time waits exactly as long as with a timer. One that is late
// waits as much longer as it is late.
func TestTimeout(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		quiet, limit, late time.Duration
		steps              int
		took               time.Duration
	}{
		{250 * ms, 450 * ms, 0, 5, 450 * ms},
		{250 * ms, 430 * ms, 0, 5, 430 * ms},
		{50 * ms, 2000 * ms, 0, 40, 2000 * ms},
		{time.Hour, 450 * ms, 0, 1, 450 * ms},
		{250 * ms, 450 * ms, 100 * ms, 5, 950 * ms},
		{250 * ms, 450 * ms, time.Hour, 5, 5*time.Hour + 450*ms},
	} {
		synctest.Test(t, func(t *testing.T) {
			if steps, took := expiry(c.quiet, c.limit, c.late); steps != c.steps || took != c.took {
				t.Errorf("%+v: %d steps in %v", c, steps, took)
			}
		})
	}
}

// TestTimeoutRestarts: signs of life cause no wake-up; an extension counts from the start.
func TestTimeoutRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var timeout Timeout
		if timeout.Stop(); timeout.C() != nil {
			t.Error("a new Timeout runs")
		}
		for range 100 {
			timeout.Start(250*time.Millisecond, 450*time.Millisecond)
			time.Sleep(10 * time.Millisecond)
			select {
			case <-timeout.C():
				t.Fatal("woken although nothing is silent")
			default:
			}
		}
		begun := time.Now()
		timeout.Start(250*time.Millisecond, 450*time.Millisecond)
		<-timeout.C()
		timeout.Extend(time.Second)
		for !timeout.Expired() {
			<-timeout.C()
		}
		if took := time.Since(begun); took != 1450*time.Millisecond {
			t.Errorf("expired after %v", took)
		}
		timeout.Start(250*time.Millisecond, 450*time.Millisecond)
		timeout.Stop()
		time.Sleep(time.Hour)
		select {
		case <-timeout.C():
			t.Error("a stopped Timeout fired")
		default:
		}
	})
}
