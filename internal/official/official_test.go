package official

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/respjson"
	"github.com/openai/openai-go/v3/realtime"
)

// lines reads a golden file of one JSON object a line.
func lines(t *testing.T, file string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(b), []byte("\n"))
}

// TestServerEvents: the library reads each event of the embedded server, and knows
// every member of it.
func TestServerEvents(t *testing.T) {
	for _, line := range lines(t, "../../audio/localrealtime/testdata/events.jsonl") {
		var e realtime.RealtimeServerEventUnion
		if err := json.Unmarshal(line, &e); err != nil {
			t.Errorf("%v: %s", err, line)
			continue
		}
		event := e.AsAny()
		if event == nil {
			t.Errorf("an event of unknown type: %s", line)
			continue
		}
		for _, path := range unknown(reflect.ValueOf(event), "") {
			if !slices.Contains(documented, path) {
				t.Errorf("%s: the library does not know %s", e.Type, path)
			}
		}
	}
}

// documented members of a session are in the public reference, and not in the
// library's type, which is that of a request.
var documented = []string{
	".Session.OfRealtimeSessionCreateRequest.id", ".Session.OfRealtimeSessionCreateRequest.object",
	".Session.OfRealtimeSessionCreateRequest.expires_at",
}

// unknown lists the members that were in the JSON and are not in the types. Of the
// variants of a union, that counts which knows the most.
func unknown(v reflect.Value, path string) (paths []string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return unknown(v.Elem(), path)
		}
	case reflect.Slice:
		for i := range v.Len() {
			paths = append(paths, unknown(v.Index(i), fmt.Sprintf("%s[%d]", path, i))...)
		}
	case reflect.Struct:
		var variants [][]string
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if strings.HasPrefix(f.Name, "Of") {
				if !v.Field(i).IsZero() {
					variants = append(variants, unknown(v.Field(i), path+"."+f.Name))
				}
				continue
			}
			if f.Name != "JSON" {
				if f.IsExported() {
					paths = append(paths, unknown(v.Field(i), path+"."+f.Name)...)
				}
				continue
			}
			if extra := v.Field(i).FieldByName("ExtraFields"); extra.IsValid() {
				for name := range extra.Interface().(map[string]respjson.Field) {
					paths = append(paths, path+"."+name)
				}
			}
		}
		if len(variants) > 0 {
			paths = append(paths, slices.MinFunc(variants, func(a, b []string) int { return len(a) - len(b) })...)
		}
	}
	return paths
}

// TestClientEvents: what the client sends, read and written again by the library,
// is the same. The library drops null when it reads, so that is left out.
func TestClientEvents(t *testing.T) {
	for _, line := range lines(t, "../../audio/realtime/testdata/events.jsonl") {
		var head struct{ Type string }
		if err := json.Unmarshal(line, &head); err != nil {
			t.Fatal(err)
		}
		event, known := map[string]any{
			"session.update":            new(realtime.SessionUpdateEventParam),
			"response.create":           new(realtime.ResponseCreateEventParam),
			"response.cancel":           new(realtime.ResponseCancelEventParam),
			"input_audio_buffer.append": new(realtime.InputAudioBufferAppendEventParam),
			"input_audio_buffer.commit": new(realtime.InputAudioBufferCommitEventParam),
			"input_audio_buffer.clear":  new(realtime.InputAudioBufferClearEventParam),
			"output_audio_buffer.clear": new(realtime.OutputAudioBufferClearEventParam),
		}[head.Type]
		if !known {
			t.Errorf("an event of unknown type: %s", line)
			continue
		}
		if err := json.Unmarshal(line, event); err != nil {
			t.Errorf("%v: %s", err, line)
			continue
		}
		again, err := json.Marshal(event)
		if err != nil || !reflect.DeepEqual(value(t, again), value(t, line)) {
			t.Errorf("%v: the library makes\n%s of\n%s", err, again, line)
		}
	}
}

func value(t *testing.T, data []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return withoutNull(v)
}

func withoutNull(v any) any {
	if object, ok := v.(map[string]any); ok {
		for name, member := range object {
			if member = withoutNull(member); member == nil {
				delete(object, name)
			} else {
				object[name] = member
			}
		}
		if len(object) == 0 {
			return nil
		}
	}
	return v
}

// TestUnknownMembersAreFound: both checks can fail.
func TestUnknownMembersAreFound(t *testing.T) {
	var e realtime.RealtimeServerEventUnion
	if err := json.Unmarshal([]byte(`{"type":"conversation.item.done","item":{"type":"message","role":"user","mood":"glad"}}`), &e); err != nil {
		t.Fatal(err)
	}
	if found := unknown(reflect.ValueOf(e.AsAny()), "event"); len(found) != 1 {
		t.Errorf("found %q, want one", found)
	}
}

// TestCallForm: a call is made by a form with the offer and the session, as the
// tests of the embedded server make it.
func TestCallForm(t *testing.T) {
	parts := make(chan []string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		var seen []string
		for form := multipart.NewReader(r.Body, params["boundary"]); ; {
			p, err := form.NextPart()
			if err != nil {
				break
			}
			b, _ := io.ReadAll(p)
			seen = append(seen, fmt.Sprintf("%s %s %s", p.FormName(), p.Header.Get("Content-Type"), b))
		}
		parts <- append([]string{r.Method + " " + r.URL.Path}, seen...)
	}))
	defer server.Close()
	client := openai.NewClient(option.WithBaseURL(server.URL+"/v1"), option.WithAPIKey("k"), option.WithMaxRetries(0))
	res, err := client.Realtime.Calls.New(t.Context(), realtime.CallNewParams{Sdp: "v=0", Session: realtime.RealtimeSessionCreateRequestParam{Model: "m"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	want := []string{"POST /v1/realtime/calls", "sdp application/sdp v=0", `session application/json {"model":"m","type":"realtime"}`}
	if got := <-parts; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAudioRequests: what is sent to the audio endpoints is what the library would send:
// the same JSON for speech, and fields that it has for a transcription.
func TestAudioRequests(t *testing.T) {
	sent := lines(t, "../../audio/hosted/testdata/requests.jsonl")
	var speech openai.AudioSpeechNewParams
	if err := json.Unmarshal(sent[0], &speech); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(speech)
	if err != nil || !reflect.DeepEqual(value(t, again), value(t, sent[0])) {
		t.Errorf("%v: the library makes\n%s of\n%s", err, again, sent[0])
	}
	var form map[string]string
	if err := json.Unmarshal(sent[1], &form); err != nil {
		t.Fatal(err)
	}
	fields := map[string]bool{"stream": true} // the library adds it in NewStreaming
	params := reflect.TypeFor[openai.AudioTranscriptionNewParams]()
	for i := range params.NumField() {
		name, _, _ := strings.Cut(params.Field(i).Tag.Get("json"), ",")
		fields[name] = true
	}
	for name := range form {
		if !fields[strings.TrimSuffix(name, "[]")] {
			t.Errorf("the library does not know the field %s", name)
		}
	}
	for _, e := range []string{`{"type":"transcript.text.delta","delta":"All"}`, `{"type":"transcript.text.done","text":"All tests.","logprobs":[{"logprob":-0.1}]}`} {
		var event openai.TranscriptionStreamEventUnion
		if err := json.Unmarshal([]byte(e), &event); err != nil || event.AsAny() == nil {
			t.Errorf("%v: the library does not know %s", err, e)
			continue
		}
		for _, path := range unknown(reflect.ValueOf(event.AsAny()), "") {
			t.Errorf("%s: the library does not know %s", e, path)
		}
	}
}
