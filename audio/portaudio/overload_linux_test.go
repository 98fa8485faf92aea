package portaudio

import "testing"

func TestRunnable(t *testing.T) {
	for loadavg, want := range map[string]int{
		"18.44 22.10 25.93 17/142 4874\n": 17, "0.00 0.01 0.05 1/80 99": 1, "": 0, "1 2 3": 0, "a b c d e": 0,
	} {
		if got := runnable(loadavg); got != want {
			t.Errorf("%q: %d, want %d", loadavg, got, want)
		}
	}
}
