package audio

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"
)

// expectOutput checks Sounded and Silenced since the last call.
func (r *rig) expectOutput(want ...PlayerEvent) {
	r.t.Helper()
	synctest.Wait()
	if len(want) != len(r.output) || len(want) > 0 && !reflect.DeepEqual(r.output, want) {
		r.t.Fatalf("output\n got %+v\nwant %+v", r.output, want)
	}
	r.output = nil
}

// TestPlayerReportsWhenTheOutputFallsSilent compares the reports with the rendered
// audio, for each way to fall silent.
func TestPlayerReportsWhenTheOutputFallsSilent(t *testing.T) {
	const fade = SampleRate + fadeSamples
	for _, tt := range []struct {
		name  string
		stop  func(r *rig)
		again func(r *rig) // makes the output audible again; nil if impossible
	}{
		{"held", func(r *rig) { r.Hold(30 * time.Millisecond) }, func(*rig) {}},
		{"paused", func(r *rig) { r.Pause(1) }, func(r *rig) { r.Resume(1) }},
		{"flushed", func(r *rig) { r.Flush(2) }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withRig(t, PlayerConfig{}, func(r *rig) {
				playing(r)
				r.expectOutput(PlayerEvent{Kind: Sounded, Seg: seg11})
				tt.stop(r)
				out := r.render(3)
				last := 0
				for i, s := range out {
					if s != 0 {
						last = i
					}
				}
				if last >= fadeSamples || last < fadeSamples-2 {
					t.Errorf("the last audible sample is %d, and the fade has %d", last, fadeSamples)
				}
				r.expectOutput(PlayerEvent{Kind: Silenced, Seg: seg11, Samples: fade, At: fade})
				if tt.again == nil {
					r.render(10)
					r.expectOutput()
					return
				}
				tt.again(r)
				r.render(1)
				r.expectOutput(PlayerEvent{Kind: Sounded, Seg: seg11, Samples: fade, At: SampleRate + 3*FrameSamples})
			})
		})
	}
}

// TestPlayerReportsWhereTheAudioEnds after draining and in an underrun.
func TestPlayerReportsWhereTheAudioEnds(t *testing.T) {
	withRig(t, PlayerConfig{}, func(r *rig) {
		r.write(seg11, 0, 2980)
		r.Start(1)
		r.render(8)
		r.expectOutput(PlayerEvent{Kind: Sounded, Seg: seg11}, PlayerEvent{Kind: Silenced, Seg: seg11, Samples: 2980, At: 2980})
		r.end(seg11)
		r.render(1)
		r.expectOutput()
	})
	withRig(t, PlayerConfig{}, func(r *rig) {
		r.write(seg11, 0, 700)
		r.end(seg11)
		r.Start(1)
		r.render(3)
		r.expectOutput(PlayerEvent{Kind: Sounded, Seg: seg11, Of: 700}, PlayerEvent{Kind: Silenced, Seg: seg11, Samples: 700, Of: 700, At: 700})
	})
}
