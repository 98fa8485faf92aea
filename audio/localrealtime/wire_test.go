//go:build cgo

package localrealtime

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write the golden events")

// goldenEvents has one event of each form that the server sends. internal/official
// parses them with the types of the public client library.
const goldenEvents = "testdata/events.jsonl"

// samples returns events of each form, with members filled in.
func samples() []any {
	s, err := newSession(false, json.RawMessage(transcribing()))
	if err != nil {
		panic(err)
	}
	s.ID, s.ExpiresAt = "sess_1", 1_800_000_000
	text, audio, previous, at := "hello", "AAAA", "item_0", int64(1200)
	said := item{ID: "item_1", Type: itemMessage, Status: "completed", Role: "assistant", Content: []part{{Type: "output_audio", Transcript: &text}}}
	heard := item{ID: "item_2", Type: itemMessage, Status: "completed", Role: "user", Content: []part{{Type: "input_audio", Transcript: &text}}}
	typed := item{ID: "item_3", Type: itemMessage, Status: "completed", Role: "user", Content: []part{{Type: "input_text", Text: text}}}
	called := item{ID: "item_4", Type: itemFunctionCall, Status: "completed", CallID: "call_1", Name: "look", Arguments: `{"at":"main.go"}`}
	answered := item{ID: "item_5", Type: itemFunctionOutput, Status: "completed", CallID: "call_1", Output: "42 lines"}
	c := &call{session: s}
	r := &response{id: "resp_1", metadata: map[string]string{"turn": "7"}, voice: "slt", rate: 24000}
	failure := invalidf("input_audio_buffer_commit_empty", "session.type", "no audio")
	failure.EventID = &previous
	const e = "event_1"
	transcribed := transcribedEvent{Type: "conversation.item.input_audio_transcription.completed", EventID: e, ItemID: "item_2", Transcript: text, Logprobs: []logprob{{text, -0.5}}}
	transcribed.Usage.Type, transcribed.Usage.Seconds = "duration", 1.5
	return []any{
		sessionEvent{"session.created", e, s},
		sessionEvent{"session.updated", e, s},
		audioBufferEvent{"input_audio_buffer.speech_started", e, "item_2", &at, nil},
		audioBufferEvent{"input_audio_buffer.speech_stopped", e, "item_2", nil, &at},
		audioBufferEvent{"input_audio_buffer.timeout_triggered", e, "item_2", &at, &at},
		committedEvent{"input_audio_buffer.committed", e, &previous, "item_2"},
		inputClearedEvent{"input_audio_buffer.cleared", e},
		itemEvent{"conversation.item.added", e, &previous, heard},
		itemEvent{"conversation.item.done", e, &previous, heard},
		retrievedEvent{"conversation.item.retrieved", e, typed},
		itemDeletedEvent{"conversation.item.deleted", e, "item_1"},
		itemTruncatedEvent{"conversation.item.truncated", e, "item_1", 0, at},
		transcriptDeltaEvent{"conversation.item.input_audio_transcription.delta", e, "item_2", 0, text},
		transcribed,
		transcriptionFailedEvent{"conversation.item.input_audio_transcription.failed", e, "item_2", 0, &protocolError{Type: "server_error", Code: "transcription_failed", Message: "failed"}},
		responseEvent{"response.created", e, c.object(r, "in_progress", nil)},
		responseEvent{"response.done", e, c.object(r, "cancelled", &statusDetails{Type: "cancelled", Reason: reasonClientCancelled})},
		outputItemEvent{"response.output_item.added", e, "resp_1", 0, said},
		outputItemEvent{"response.output_item.done", e, "resp_1", 0, said},
		contentPartEvent{"response.content_part.added", e, "resp_1", "item_1", 0, 0, part{Type: "audio", Transcript: &text}},
		contentPartEvent{"response.content_part.done", e, "resp_1", "item_1", 0, 0, part{Type: "audio", Transcript: &text}},
		outputItemEvent{"response.output_item.done", e, "resp_1", 1, called},
		itemEvent{"conversation.item.added", e, &previous, called},
		itemEvent{"conversation.item.added", e, &previous, answered},
		functionArgumentsEvent{"response.function_call_arguments.delta", e, "resp_1", "item_4", 1, "call_1", called.Arguments, "", ""},
		functionArgumentsEvent{"response.function_call_arguments.done", e, "resp_1", "item_4", 1, "call_1", "", called.Name, called.Arguments},
		outputAudioEvent{Type: "response.output_audio.delta", EventID: e, ResponseID: "resp_1", ItemID: "item_1", Delta: &audio},
		outputAudioEvent{Type: "response.output_audio.done", EventID: e, ResponseID: "resp_1", ItemID: "item_1"},
		outputAudioEvent{Type: "response.output_audio_transcript.delta", EventID: e, ResponseID: "resp_1", ItemID: "item_1", Delta: &text},
		outputAudioEvent{Type: "response.output_audio_transcript.done", EventID: e, ResponseID: "resp_1", ItemID: "item_1", Transcript: &text},
		outputBufferEvent{"output_audio_buffer.started", e, "resp_1"},
		outputBufferEvent{"output_audio_buffer.stopped", e, "resp_1"},
		outputBufferEvent{"output_audio_buffer.cleared", e, "resp_1"},
		errorEvent{"error", e, failure},
	}
}

// TestFormsOfEvents checks that the server's events have the form validated by
// internal/official.
func TestFormsOfEvents(t *testing.T) {
	for file, events := range map[string][]any{goldenEvents: samples(), goldenLive: liveSamples()} {
		var got bytes.Buffer
		for _, e := range events {
			b, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "%s\n", b)
		}
		if *update {
			if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(file, got.Bytes(), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%v; the forms of the events are\n%swant\n%s\nif that is meant, run go test ./audio/localrealtime -run Forms -update", err, got.Bytes(), want)
		}
	}
	if err := checkForm([]byte(`{"type":"input_audio_buffer.cleared"}`)); err == nil {
		t.Error("an event that lacks a member passes")
	}
}

// forms maps each event type to the members of its golden events.
var forms = sync.OnceValue(func() map[string][][]string {
	all := map[string][][]string{}
	for _, e := range slices.Concat(samples(), liveSamples()) {
		b, _ := json.Marshal(e)
		kind, members := formOf(b)
		all[kind] = append(all[kind], members)
	}
	return all
})

func formOf(data []byte) (kind string, members []string) {
	var e map[string]json.RawMessage
	_ = json.Unmarshal(data, &e)
	_ = json.Unmarshal(e["type"], &kind)
	delete(e, "logprobs") // present only on request
	return kind, slices.Sorted(maps.Keys(e))
}

// checkForm checks that a sent event has the form of a golden one.
func checkForm(data []byte) error {
	kind, got := formOf(data)
	want := forms()[kind]
	if kind == settledType { // OpenAI's library does not know it
		want = [][]string{{"audio_end_ms", "event_id", "item_id", "transcript", "type"}}
	}
	got = slices.DeleteFunc(got, func(member string) bool {
		return slices.Contains([]string{"answer", "joined", "stop", "complete"}, member)
	}) // nor these
	if !slices.ContainsFunc(want, func(w []string) bool { return slices.Equal(got, w) }) {
		return fmt.Errorf("%q has the members %s, want one of %v as in testdata", kind, strings.Join(got, ", "), want)
	}
	return nil
}
