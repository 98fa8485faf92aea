package journal_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

// long returns a journal of at least n events of a conversation that never rests.
func long(b *testing.B, n int) []byte {
	b.Helper()
	var out bytes.Buffer
	w, err := journal.NewWriter(&out, header)
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 7))
	k := newTalk(w, r.IntN)
	for int(k.steps) < n {
		k.next()
		flush(w)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

// BenchmarkReplayFile measures a replay from a file, including reading and all digests.
func BenchmarkReplayFile(b *testing.B) {
	path := filepath.Join(b.TempDir(), "journal.jsonl")
	if err := os.WriteFile(path, long(b, 20_000), 0o600); err != nil {
		b.Fatal(err)
	}
	events := 0
	b.ReportAllocs()
	for b.Loop() {
		list, err := journal.ReadFiles(path)
		if err != nil {
			b.Fatal(err)
		}
		res, err := journal.Replay(list[0])
		if err != nil || res.Difference != nil || res.Lost > 0 {
			b.Fatalf("%+v, %v", res, err)
		}
		events += res.Events
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkReplayStepsAlone measures only the core's steps for the same events.
func BenchmarkReplayStepsAlone(b *testing.B) {
	j, err := journal.Read(bytes.NewReader(long(b, 20_000)))
	if err != nil {
		b.Fatal(err)
	}
	var list []csm.Envelope
	for _, l := range j.Lines {
		if l.Event == "" {
			continue
		}
		env, err := l.Envelope()
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, env)
	}
	events := 0
	for b.Loop() {
		s := csm.Initial()
		for _, env := range list {
			s, _ = csm.Step(s, env)
		}
		events += len(list)
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(0, "ns/op")
}
