package live

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// deaf is a voice whose speaker is the test.
func deaf(t *testing.T) (v *assistant, posted chan csm.Event) {
	t.Helper()
	posted = make(chan csm.Event, 64)
	w := &World{cfg: Config{Log: zerolog.Nop()}, port: daemon.Port{
		Output: func(daemon.Output) {},
		Post:   func(e csm.Event) { posted <- e }, Words: func(speech.Segment) string { return "words" },
	}}
	v = newVoice(w)
	t.Cleanup(func() {
		if err := v.shut(); err != nil {
			t.Error(err)
		}
	})
	return v, posted
}

// patience is the limit of a wait for an event that must come.
const patience = 60 * time.Second

// next returns the next event of a kind.
func next(t *testing.T, posted <-chan csm.Event, kind csm.Kind) csm.Event {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case e := <-posted:
			if csm.KindOf(e) == kind {
				return e
			}
		case <-late:
			t.Fatalf("no %v", kind)
		}
	}
}

// A tenth of a second of audio posts one cursor, with what is known about the segment;
// silence posts none.
func TestCursorTenTimesASecond(t *testing.T) {
	v, posted := deaf(t)
	seg := audio.SegmentID{Gen: 1, Seq: 1}
	v.pieces[seg] = &piece{chars: 5, rate: 1}
	render := func() {
		var f audio.Frame
		v.player.Render(&f)
		v.rendered()
	}
	v.player.Start(1)
	second := make([]int16, audio.SampleRate)
	v.audio(seg, second)
	next(t, posted, csm.KindSpeechBuffered)
	for range cursorFrames {
		render()
	}
	const tenth = audio.SampleRate / 10
	open := next(t, posted, csm.KindSpeechCursor).(csm.SpeechCursor)
	if want := (csm.SpeechCursor{Gen: 1, Seq: 1, Played: tenth, Buffered: audio.SampleRate - tenth}); open != want {
		t.Errorf("the cursor of a segment that goes on is %+v, want %+v", open, want)
	}
	v.ended(seg)
	for range cursorFrames {
		render()
	}
	ended := next(t, posted, csm.KindSpeechCursor).(csm.SpeechCursor)
	if want := (csm.SpeechCursor{Gen: 1, Seq: 1, Played: 2 * tenth, Of: audio.SampleRate, Buffered: audio.SampleRate - 2*tenth}); ended != want {
		t.Errorf("the cursor of a segment that ended is %+v, want %+v", ended, want)
	}
	for range 8 * cursorFrames {
		render()
	}
	next(t, posted, csm.KindSpeechDrained)
	for range 5 * cursorFrames { // silence
		render()
	}
	v.due <- struct{}{} // accepted once the previous one was taken
	v.due <- struct{}{}
	v.due <- struct{}{}
	for len(posted) > 0 {
		if c, ok := (<-posted).(csm.SpeechCursor); ok && c.Played == audio.SampleRate {
			t.Errorf("%+v after the end was said", c)
		}
	}
}

// A service that paraphrases is reported once per conversation, and nothing fails.
func TestMismatchIsAWarningOnceAConversation(t *testing.T) {
	var warned []protocol.ErrorCode
	w := &World{cfg: Config{Log: zerolog.Nop()}, port: daemon.Port{
		Warn: func(code protocol.ErrorCode, _ string) { warned = append(warned, code) },
		Post: func(e csm.Event) { t.Errorf("the core is told %T", e) },
	}}
	w.voice = &assistant{w: w}
	h := &hearer{w: w}
	for range 2 {
		h.SpeechMismatch(audio.SegmentID{Gen: 1, Seq: 1}, 0)
		h.SpeechMismatch(audio.SegmentID{Gen: 1, Seq: 2}, 0)
		w.voice.warned.Store(false) // as ActivateSession does
	}
	if !slices.Equal(warned, []protocol.ErrorCode{protocol.CodeSpeechMismatch, protocol.CodeSpeechMismatch}) {
		t.Errorf("the user is told %v", warned)
	}
}

// TestOutputIsTimedByItsFrame: a busy machine renders frames late and in bursts, and
// reports them later still. The output fell silent when its last frame was rendered.
func TestOutputIsTimedByItsFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []daemon.Output
		w := &World{cfg: Config{Speed: 2}, port: daemon.Port{Output: func(o daemon.Output) { got = append(got, o) }}}
		v := &assistant{w: w}
		const at = 7*audio.FrameSamples + 96 // 2 ms into a frame
		rendered := time.Now()
		time.Sleep(15 * time.Millisecond) // 30 ms of a conversation at double speed
		v.output(audio.PlayerEvent{Kind: audio.Silenced, At: at, Rendered: rendered})
		if want := []daemon.Output{{Silent: true, Pos: at, Ago: 28 * time.Millisecond}}; !slices.Equal(got, want) {
			t.Errorf("output %v, want %v", got, want)
		}
	})
}
