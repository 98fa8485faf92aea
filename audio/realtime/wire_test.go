package realtime

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

var update = flag.Bool("update", false, "write the golden events")

// TestFormsOfEvents checks that the client's events have the form validated by
// internal/official.
func TestFormsOfEvents(t *testing.T) {
	full := Config{
		Voice: "marin", Language: "en", TranscriptionModel: "whisper-1", TranscriptionPrompt: "goroutine, gopls",
		TurnDetection: TurnDetection{Type: ServerVAD, Threshold: 0.6, PrefixPadding: 200 * time.Millisecond, Silence: 400 * time.Millisecond},
	}
	semantic, manual, pipeline := full, full, full
	semantic.TurnDetection = TurnDetection{Type: SemanticVAD, Eagerness: "low"}
	manual.TurnDetection = TurnDetection{Type: NoDetection}
	pipeline.Dialect, pipeline.TranscriptionModel = LocalAI, ""
	configured := pipeline
	configured.TurnDetection = TurnDetection{Type: ServiceDetection}
	listening := Config{
		Listens: true, NoLogprobs: true, NoiseReduction: NearField, TranscriptionModel: "gpt-live-transcribe", Keywords: []string{"goroutine", "parseConfig"}, Languages: []string{"en"},
		TurnDetection: TurnDetection{Type: NoDetection},
	}
	var events []clientEvent
	for _, cfg := range []Config{full, semantic, manual, pipeline, configured, listening} {
		events = append(events, sessionUpdates(cfg, true)...)
	}
	events = append(events, sessionUpdate(wantedSession(Config{Model: "gpt-realtime"}, true)), speedUpdate(1.25),
		responseCreate(Segment{ID: audio.SegmentID{Gen: 3, Seq: 4}, Turn: 7, Text: "All tests pass."}, ""),
		responseCreate(Segment{ID: audio.SegmentID{Gen: 3, Seq: 5}, Turn: 7, Text: "Hello."}, "bf_emma"),
		responseCancel("resp_1"), inputCommit(5, 96000, false, false), inputClear, outputClear)
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	for _, e := range events {
		if err := enc.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	a, err := newAppender()
	if err != nil {
		t.Fatal(err)
	}
	got.Write(append(a.event(make([]int16, audio.FrameSamples)), '\n'))
	const golden = "testdata/events.jsonl"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%v; the events are\n%swant\n%s\nif that is meant, run go test ./audio/realtime -run Forms -update", err, got.Bytes(), want)
	}
}
