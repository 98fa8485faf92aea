package live

import (
	"fmt"
	"math"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/turns"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
)

// scene is a microphone whose frames have given levels.
type scene struct {
	levels levels
	next   int64
}

// frames captures frames of a level, and returns the positions between which they are.
func (s *scene) frames(n int, level float64) (from, to int64) {
	from = s.next
	for range n {
		s.levels.push(s.next, level)
		s.next += audio.FrameSamples
	}
	return from, s.next
}

// speaks captures an utterance after a second of noise, and reports whether it is distant.
func (s *scene) speaks(noise, voice float64) bool {
	s.frames(100, noise)
	s.levels.begin()
	return s.levels.pause(s.frames(30, voice))
}

// After the user has spoken, a voice is distant if it is more than 12 dB below theirs, the median of
// the last nine utterances.
func TestAVoiceFarBelowTheUsersIsDistant(t *testing.T) {
	for _, c := range []struct {
		own   []float64
		voice float64
		want  bool
	}{
		{[]float64{-30}, -42, false},
		{[]float64{-30}, -42.1, true},
		{[]float64{-30, -50, -31}, -43, false}, // the median is -31
		{[]float64{-30, -50, -31}, -43.1, true},
		{[]float64{-30, -30, -30, -30, -50, -50, -50, -50, -50}, -60, false}, // the user moved away
		{[]float64{-10, -10, -10, -10, -10, -10, -30, -30, -30, -30, -30}, -40, false},
		{[]float64{-30}, -30, false},
		{[]float64{-30}, -5, false},
	} {
		s := &scene{}
		for _, own := range c.own {
			s.speaks(-80, own)
		}
		if got := s.speaks(-80, c.voice); got != c.want {
			t.Errorf("after %v dB, %v dB is distant: %v", c.own, c.voice, got)
		}
	}
}

// The first voice of a conversation is distant if it is less than 9 dB above the noise, the lower
// quartile of the 3 s before it.
func TestAFirstVoiceInTheNoiseIsDistant(t *testing.T) {
	for _, c := range []struct {
		noise, voice float64
		want         bool
	}{
		{-50, -41, false}, {-50, -41.1, true}, {-100, -60, false}, {-100, -91.1, true}, {-20, -30, true},
	} {
		if got := (&scene{}).speaks(c.noise, c.voice); got != c.want {
			t.Errorf("%v dB over noise of %v dB is distant: %v", c.voice, c.noise, got)
		}
	}
	s := &scene{}
	s.frames(49, -40) // less than half a second of noise says nothing
	if s.levels.pause(s.frames(30, -40)) {
		t.Error("a voice is distant without known noise")
	}
	s = &scene{}
	s.frames(100, -60)
	s.frames(200, -20) // the assistant's voice, and a pause in it
	if s.levels.pause(s.frames(30, -51)) {
		t.Error("the assistant's voice counts as noise")
	}
}

// A voice that goes on after a pause is measured as a whole, and counts once.
func TestAVoiceThatGoesOnIsOneUtterance(t *testing.T) {
	s := &scene{}
	s.speaks(-80, -30)
	s.frames(100, -80)
	s.levels.begin()
	from, to := s.frames(30, -50)
	if !s.levels.pause(from, to) {
		t.Error("a quiet beginning is not distant")
	}
	if _, to = s.frames(90, -32); s.levels.pause(from, to) {
		t.Error("an utterance that becomes loud is distant")
	}
	s.levels.begin()
	s.levels.begin()
	if got := fmt.Sprint(s.levels.own); got != "[-30 -32]" {
		t.Errorf("the user's levels are %v", got)
	}
}

// A pause within an utterance and a click do not change its level.
func TestTheLevelOfAVoiceIsThatOfItsVoicedFrames(t *testing.T) {
	for _, c := range []struct {
		frames []float64
		want   float64
	}{
		{[]float64{-30}, -30},
		{[]float64{-90, -90, -90, -30, -34, -38, -90, -90}, -34},
		{[]float64{-5, -30, -30, -30, -30, -30, -31, -32, -33, -34, -35, -36}, -30}, // a click
	} {
		if got, ok := turns.LevelOfVoice(c.frames); !ok || got != c.want {
			t.Errorf("%v: %v, want %v", c.frames, got, c.want)
		}
	}
	if _, ok := turns.LevelOfVoice(nil); ok {
		t.Error("nothing has a level")
	}
}

// Frames that were not captured, or were overwritten, have no level.
func TestOnlyCapturedFramesHaveALevel(t *testing.T) {
	var l levels
	if l.pause(0, 4800) || l.paused {
		t.Error("a voice that was not captured is measured")
	}
	const shift = 100 // the processing delays frames
	for i := range int64(backlogFrames + 10) {
		l.push(i*audio.FrameSamples-shift, float64(-i))
	}
	if got := l.between(-shift, 20*audio.FrameSamples); len(got) != 11 || got[0] != -10 {
		t.Errorf("of the overwritten frames, %v remain", got)
	}
	if got := l.between(15*audio.FrameSamples-shift, 18*audio.FrameSamples-shift); fmt.Sprint(got) != "[-15 -16 -17]" {
		t.Errorf("frames 15 to 17 have levels %v", got)
	}
	if got := quantile(nil, 1, 4); !math.IsInf(got, -1) {
		t.Errorf("nothing is at %v dB", got)
	}
}

// The words of a distant voice reach the daemon marked, unless the key is held.
func TestTheWordsOfADistantVoiceAreMarked(t *testing.T) {
	var got []daemon.Transcript
	w := &World{port: daemon.Port{
		Post: func(csm.Event) {}, NewUtterance: ids(),
		Heard: func(_ uint32, _ uint64, said daemon.Transcript) csm.Final {
			got = append(got, said)
			return csm.Final{}
		},
	}}
	w.cues = newCues(func(*audio.Frame) {}, func() {})
	w.grace = newGrace(w)
	s := &scene{}
	e := &ear{w: w}
	h := &hearer{w: w, call: &call{link: &link{w: w}}, ear: e}
	h.match = newMatcher(w.port, 1, true, func(int64, int64) bool { return false })
	say := func(level float64, press bool) {
		s.frames(100, -80)
		from, to := s.frames(40, level)
		e.levels.frames = s.levels.frames
		if press {
			h.press(from)
		}
		h.voice(vad.Mark{Kind: vad.Onset, Pos: from}, 0)
		h.voice(vad.Mark{Kind: vad.Paused, Pos: to}, 0)
		h.SpeechStarted(fmt.Sprint("item ", from), from)
		h.SpeechStopped(fmt.Sprint("item ", from), to)
		h.FinalTranscript(fmt.Sprint("item ", from), realtime.Transcript{Text: "yes"})
		h.voice(vad.Mark{Kind: vad.Ended, Pos: to}, 0)
	}
	say(-30, false)
	say(-50, false)
	say(-50, true)
	say(-31, false)
	var distant []bool
	for _, said := range got {
		distant = append(distant, said.Distant)
	}
	if fmt.Sprint(distant) != "[false true false false]" {
		t.Errorf("distant are %v; the user's levels are %v", distant, e.levels.own)
	}
}
