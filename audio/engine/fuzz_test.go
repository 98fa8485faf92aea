package engine

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzFrames reads what the process of the engine and its parent send to each other.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{1, 0, 0, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 'c'})
	f.Add([]byte("{\"final\":{\"text\":\"a\",\"probs\":[1e999]}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for in := bytes.NewReader(data); ; {
			frame, err := readFrame(in)
			if err != nil {
				break
			}
			if len(frame.Payload) > MaxPayload || len(frame.Payload) > len(data) {
				t.Fatalf("a payload of %d bytes", len(frame.Payload))
			}
			_ = UtteranceOf(frame.Payload)
		}
		if r, err := readReply(data); err == nil {
			_ = r.last()
		}
	})
}

// FuzzModel reads the description of a model: none of its files is outside of its folder.
func FuzzModel(f *testing.F) {
	for _, s := range []string{
		"{\"name\":\"a\",\"kind\":\"nemo-transducer\",\"files\":{\"encoder\":\"a\",\"decoder\":\"a\",\"joiner\":\"a\",\"tokens\":\"a\"}}",
		"{\"files\":{\"encoder\":\"../a\"}}", "{", "null", "{\"name\":\"a\",\"kind\":\"smart-turn\",\"files\":{\"model\":\"/etc/passwd\"}}",
	} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, DescriptionFile), data, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := ReadModel(dir)
		if err != nil {
			return
		}
		for part := range m.Files {
			if rel, err := filepath.Rel(dir, m.Path(part)); err != nil || !filepath.IsLocal(rel) {
				t.Fatalf("%s is outside of the folder", part)
			}
		}
	})
}
