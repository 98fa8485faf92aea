package dispatch

import (
	"reflect"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Queued cursors are merged; events in between keep their place.
func TestQueuedCursorsAreMerged(t *testing.T) {
	var got []csm.Event
	l := New(Config{Clock: &Virtual{}, Execute: func(s Step) { got = append(got, s.Envelope.Event) }})
	at := func(gen, seq uint32, played int64) csm.SpeechCursor {
		return csm.SpeechCursor{Gen: gen, Seq: seq, Played: played}
	}
	played := csm.SpeechPlayed{Gen: 1, Seq: 1}
	for _, e := range []csm.Event{at(1, 1, 480), at(1, 1, 960), played, at(1, 2, 480), at(1, 3, 480), at(2, 4, 480)} {
		l.Post(e)
	}
	l.Drain()
	if want := []csm.Event{at(1, 1, 960), played, at(1, 3, 480), at(2, 4, 480)}; !reflect.DeepEqual(got, want) {
		t.Errorf("stepped %v, want %v", got, want)
	}
}
