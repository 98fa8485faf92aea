package hosted

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"mime"
	"mime/multipart"
	"os"
	"testing"
	"testing/synctest"
)

var update = flag.Bool("update", false, "write the golden requests")

// TestFormsOfRequests checks that requests have the form validated by
// internal/official: one line with the body of a speech request, and one with the
// fields of a transcription.
func TestFormsOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got bytes.Buffer
		body, err := json.Marshal(speechRequest{Model: "gpt-4o-mini-tts", Input: "All tests pass.", Voice: "alloy", ResponseFormat: "pcm", Speed: 1.5})
		if err != nil {
			t.Fatal(err)
		}
		got.Write(append(body, '\n'))
		tr, _ := ears(t, answer("application/json", `{"text":""}`), nil)
		form, contentType, err := tr.form(make([]int16, 10))
		if err != nil {
			t.Fatal(err)
		}
		_, params, err := mime.ParseMediaType(contentType)
		if err != nil {
			t.Fatal(err)
		}
		fields := map[string]string{}
		for parts := multipart.NewReader(bytes.NewReader(form), params["boundary"]); ; {
			p, err := parts.NextPart()
			if err != nil {
				break
			}
			value, _ := io.ReadAll(p)
			if p.FileName() != "" {
				value = []byte(p.FileName())
			}
			fields[p.FormName()] = string(value)
		}
		if len(fields) != 7 { // those of gpt-4o-transcribe
			t.Errorf("the form has %v", fields)
		}
		if err := json.NewEncoder(&got).Encode(fields); err != nil {
			t.Fatal(err)
		}
		const golden = "testdata/requests.jsonl"
		if *update {
			if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%v; the requests are\n%swant\n%s\nif that is meant, run go test ./audio/hosted -run Forms -update", err, got.Bytes(), want)
		}
	})
}
