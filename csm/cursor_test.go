package csm

import "testing"

// A cursor that goes back, or that is of what cannot be heard, moves nothing and
// is counted: how much of an answer was heard only ever grows.
func TestCursorNeverGoesBack(t *testing.T) {
	d := newDrive(t).toListening().toSpeaking(1)
	gen, seq := d.s.Speech.Generation(), d.s.IDs.Segment
	d.do(SpeechCursor{Gen: gen, Seq: seq, Played: 50, Of: 100})
	at, stale := d.s.Cursor, d.s.Counters.Stale
	if at.Seq != seq || at.Played != 50 {
		t.Fatalf("the cursor is %+v", at)
	}
	for i, c := range []SpeechCursor{
		{Gen: gen, Seq: seq, Played: 49, Of: 100},
		{Gen: gen, Seq: seq - 1, Played: 90, Of: 100},
		{Gen: gen + 1, Seq: seq, Played: 90, Of: 100},
	} {
		if d.do(c); d.s.Cursor != at || d.s.Counters.Stale != stale+uint64(i)+1 {
			t.Errorf("%+v moved the cursor to %+v, %d stale", c, d.s.Cursor, d.s.Counters.Stale)
		}
	}
	if d.do(SpeechCursor{Gen: gen, Seq: seq, Played: 60, Of: 100}); d.s.Cursor.Played != 60 {
		t.Errorf("the cursor is stuck at %+v", d.s.Cursor)
	}
	d.do(SpeechStarted{Epoch: d.s.IDs.Epoch, Utterance: 9}).want(PhaseInterrupted)
	d.do(TimerFired{TimerInterrupt, d.s.Timers[TimerInterrupt].Gen}).want(PhaseListening)
	if h := d.s.History.Said().Items; h[len(h)-1].Heard != 12 {
		t.Errorf("history %+v, want 60 of 100 of 20 characters heard", h)
	}
}
