package csm

import "testing"

// A cursor that moves back, or of inaudible audio, changes nothing and is counted: the
// heard length of an answer never decreases.
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
	d.do(Final{Epoch: d.s.IDs.Epoch, Utterance: 9, Class: Stop}).want(PhaseListening)
	if h := d.s.History.Said().Items; h[len(h)-1].Heard != 12 {
		t.Errorf("history %+v, want 60 of 100 of 20 characters heard", h)
	}
}

// The next segment starts at position 0, and so does a segment that is synthesised again
// after a lost connection.
func TestCursorResetsPerSegment(t *testing.T) {
	d := newDrive(t).toListening().toSpeaking(1)
	first, request := d.s.IDs.Segment, d.s.Current.Request
	d.do(CopilotSegment{Request: request, Start: 20, End: 40}, CopilotDone{Request: request})
	at := func(seq uint32, played int64) {
		t.Helper()
		stale := d.s.Counters.Stale
		d.do(SpeechCursor{Gen: d.s.Speech.Generation(), Seq: seq, Played: played, Of: 100})
		if d.s.Cursor.Seq != seq || d.s.Cursor.Played != played || d.s.Counters.Stale != stale {
			t.Errorf("the cursor is %+v with %d stale, want %d of segment %d", d.s.Cursor, d.s.Counters.Stale-stale, played, seq)
		}
	}
	at(first, 90)
	at(first+1, 10)
	d.do(ConnLost{Epoch: d.s.IDs.Epoch}).want(PhaseSuspended)
	d.do(ConnReady{Epoch: d.s.IDs.Epoch})
	d.do(SpeechBuffered{Gen: d.s.Speech.Generation(), Seq: first}).want(PhaseSpeaking)
	at(first, 5)
}

// StepObserved gives the same results on the fast path.
func TestObservedCursor(t *testing.T) {
	d := newDrive(t).toListening().toSpeaking(1)
	e := Envelope{Event: SpeechCursor{Gen: d.s.Speech.Generation(), Seq: d.s.IDs.Segment, Played: 50, Of: 100}}
	plain, _ := Step(d.s, e)
	observed, _, seen := StepObserved(d.s, e)
	if observed.Cursor != plain.Cursor || len(seen.Fired) != 0 || plain.Cursor.Played != 50 {
		t.Errorf("the cursor is %+v, observed %+v, rows %v", plain.Cursor, observed.Cursor, seen.Fired)
	}
}
