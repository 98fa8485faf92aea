//go:build cgo

package live

import (
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// TestADeviationIsCutOff: of a segment that the session says in other words, what it said rightly stays, what
// waits is dropped, and the voice that reads says the rest and what follows.
func TestADeviationIsCutOff(t *testing.T) {
	const first, second = "All tests of the parser pass again.", "Shall I commit it?"
	one, two := audio.SegmentID{Gen: 0, Seq: 1}, audio.SegmentID{Gen: 0, Seq: 2}
	for name, c := range map[string]struct {
		written time.Duration // of the segment, in the player
		right   string        // what was said as it is written
		rest    string
	}{
		"nothing was heard":                  {0, "All tests", first},
		"nothing was right":                  {3 * time.Second, "", first},
		"more was right than was heard":      {900 * time.Millisecond, "All tests of the parser", "tests of the parser pass again."},
		"less was right than may be heard":   {3 * time.Second, "All tests of", "the parser pass again."},
		"all was right, and something added": {10 * time.Second, first, ""},
	} {
		v, _ := deaf(t)
		v.w.port.Warn = func(protocol.ErrorCode, string) {}
		session, own := &saying{}, &saying{}
		c1 := &call{voice: &reader{session: session, own: own}}
		v.pieces[one] = &piece{rate: 1, said: realtime.Segment{ID: one, Text: first}, written: audio.Samples(c.written)}
		v.pieces[two] = &piece{rate: 1, said: realtime.Segment{ID: two, Text: second}}
		v.behind = []unproven{{seg: one, pcm: []int16{1}}, {seg: one, ends: true}}
		v.mismatched(c1, one, len(c.right))
		var said []string
		for _, s := range own.said {
			said = append(said, s.Text)
		}
		want := []string{c.rest, second}
		if c.rest == "" {
			want = want[1:]
		}
		ends := len(v.behind) == 1 && v.behind[0].ends && v.behind[0].seg == one
		if !slices.Equal(said, want) || len(v.behind) > 0 != (c.rest == "") || c.rest == "" && !ends || !c1.voice.reads {
			t.Errorf("%s: the voice says %q, want %q; %d pieces of audio wait", name, said, want, len(v.behind))
		}
	}
}

// TestADeviationKeepsTheSentenceBefore, which waits while the next one is found to deviate; the session says
// nothing more of the answer if the other voice fails, and speaks again in the next one.
func TestADeviationKeepsTheSentenceBefore(t *testing.T) {
	one, two := audio.SegmentID{Gen: 3, Seq: 1}, audio.SegmentID{Gen: 3, Seq: 2}
	v, _ := deaf(t)
	v.w.port.Warn = func(protocol.ErrorCode, string) {}
	session, own := &saying{}, &saying{}
	r := &reader{session: session, own: own}
	c := &call{voice: r}
	v.pieces[one] = &piece{rate: 1, said: realtime.Segment{ID: one, Text: "All tests pass."}, written: audio.SampleRate}
	v.pieces[two] = &piece{rate: 1, said: realtime.Segment{ID: two, Text: "Shall I commit it?"}}
	v.behind = []unproven{{seg: one, pcm: []int16{1}}, {seg: one, ends: true}, {seg: two, pcm: []int16{2}}}
	v.mismatched(c, two, 0)
	if len(v.behind) != 2 || !v.behind[1].ends || v.behind[1].seg != one || len(own.said) != 1 || own.said[0].Text != "Shall I commit it?" {
		t.Errorf("%+v waits, and the voice says %+v", v.behind, own.said)
	}
	if v.takeOver(c, two, "authentication") || len(session.said) > 0 {
		t.Errorf("the session is asked to say %+v of what was cancelled", session.said)
	}
	if r.reads || r.canceled != 4 {
		t.Errorf("reads %v, canceled before %d", r.reads, r.canceled)
	}
}

// TestAudioWaitsForItsProof: a session that delivers sentences at once has one second of them in the player,
// in order; without another voice nothing waits.
func TestAudioWaitsForItsProof(t *testing.T) {
	seg := audio.SegmentID{Gen: 0, Seq: 1}
	for _, alone := range []bool{false, true} {
		v, _ := deaf(t)
		r := &reader{session: &saying{}, own: &saying{}}
		if alone {
			r.own = nil
		}
		c := &call{voice: r}
		v.pieces[seg] = &piece{}
		for range 30 { // three seconds
			v.spoken(c, unproven{seg: seg, pcm: make([]int16, audio.SampleRate/10)})
		}
		v.spoken(c, unproven{seg: seg, ends: true})
		if p := v.pieces[seg]; p.ended != alone || !alone && (p.written != audio.SampleRate || len(v.behind) != 21) {
			t.Errorf("alone %v: %d samples in the player, ended %v, %d wait", alone, p.written, p.ended, len(v.behind))
		}
		v.drop(0)
		if v.feed(); len(v.behind) > 0 {
			t.Error("flushed audio waits")
		}
	}
}
