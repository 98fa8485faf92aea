package realtime

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// TestSpeedChangesBetweenResponses: a service accepts a new speed only while it
// generates no response, so a segment with another speed waits for the end of the
// previous ones.
func TestSpeedChangesBetweenResponses(t *testing.T) {
	var s speech
	now := time.Unix(0, 0)
	speak := func(seq uint32, speed float64) {
		s.speak(Segment{ID: audio.SegmentID{Gen: 1, Seq: seq}, Speed: speed}, now)
	}
	wants := func(what string, want ...string) {
		t.Helper()
		if got := describe(s.take()); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	speak(1, 0)
	wants("normal speed needs no word", "create 1.1")
	s.created("r1", nil, now)
	speak(2, 1.5)
	wants("another speed waits")
	s.done("r1", "", now)
	now = now.Add(10 * time.Second)
	s.settle(now)
	if got := strings.Join(describe(s.take()), ", "); !strings.HasSuffix(got, "speed 1.5, create 1.2") {
		t.Errorf("after the response before: %s", got)
	}
	s.created("r2", nil, now)
	s.done("r2", "", now)
	now = now.Add(10 * time.Second)
	s.settle(now)
	s.take()
	speak(3, 1.5)
	wants("the same speed needs no word", "create 1.3")
}

func TestSpeedIsThatOfTheSession(t *testing.T) {
	b, err := json.Marshal(speedUpdate(1.25))
	if err != nil {
		t.Fatal(err)
	}
	jsonEqual(t, "the speed", b, `{"type":"session.update","event_id":"speed","session":{"type":"realtime","audio":{"output":{"speed":1.25}}}}`)
	for dialect, want := range map[Dialect][2]float64{OpenAI: {0.25, 1.5}, Azure: {0.25, 1.5}, LocalAI: {1, 1}, Local: {0.5, 3}} {
		if slowest, fastest := Speeds(dialect); slowest != want[0] || fastest != want[1] {
			t.Errorf("%s speaks at %v to %v, want %v", dialect, slowest, fastest, want)
		}
	}
}
