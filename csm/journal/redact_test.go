package journal_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

const canary = "the canary sings"

// Text in place of a code is not in the journal, which replays consistently.
func TestTextInPlaceOfCodeIsNotRecorded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		w, err := journal.NewWriter(&out, header)
		if err != nil {
			t.Fatal(err)
		}
		k := newTalk(w, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") })
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			code := csm.Code(rapid.SampledFrom([]string{canary, canary + " twice", "canary", string(csm.CodeDeviceLost), ""}).Draw(t, "code"))
			s := k.loop.State()
			k.loop.Post(rapid.SampledFrom([]csm.Event{
				csm.SessionFailed{Instance: s.Instance, Code: code}, csm.AudioFailed{Instance: s.Instance, Code: code},
				csm.ConnLost{Epoch: s.IDs.Epoch, Code: code}, csm.CopilotDone{Request: s.IDs.Request, Code: code},
				csm.UserStop{Code: code}, csm.RecognitionLost{Epoch: s.IDs.Epoch, Utterance: k.words, Code: code},
				csm.SpeechFailed{Gen: s.Speech.Generation(), Seq: s.IDs.Segment, Code: code},
			}).Draw(t, "failure"))
			k.next()
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "canary") {
			t.Fatalf("it leaks:\n%s", out.String())
		}
		if res, err := replay(out.String()); err != nil || res.OtherCore {
			t.Fatalf("%+v, %v", res, err)
		}
	})
}

// A conversation recorded with and without words replays to the same transitions and
// effects; only the full journal contains the words.
func TestRedactedReplaysAsFull(t *testing.T) {
	full := header
	full.Content = journal.Full
	rapid.Check(t, func(t *rapid.T) {
		var a, b bytes.Buffer
		redacted, err := journal.NewWriter(&a, header)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := journal.NewWriter(&b, full)
		if err != nil {
			t.Fatal(err)
		}
		k := newTalk(redacted, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") })
		k.also = func(s dispatch.Step) {
			for _, w := range []*journal.Writer{redacted, whole} {
				w.Words(s.Envelope.At, journal.Words{Kind: "utterance", ID: k.words, Text: fmt.Sprint(canary, k.words)})
			}
			whole.Event(s.Envelope)
			whole.Outcome(s.State, s.Effects)
		}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			k.next()
		}
		for _, w := range []*journal.Writer{redacted, whole} {
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(a.String(), "canary") || !strings.Contains(b.String(), "canary") {
			t.Fatal("the words are where they should not be, or are not where they should")
		}
		x, y := steps(t, a.String()), steps(t, b.String())
		if !reflect.DeepEqual(x, y) {
			t.Fatal("they differ in more than the notes of words")
		}
		for _, s := range []string{a.String(), b.String()} {
			if res, err := replay(s); err != nil || res.Events != len(x) {
				t.Fatalf("%+v, %v", res, err)
			}
		}
	})
}

// steps returns the events with their outcomes and digests.
func steps(t *rapid.T, s string) (list []string) {
	j, err := journal.Read(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range j.Lines {
		if l.Event != "" {
			list = append(list, fmt.Sprint(l.Seq, l.At, l.Event, string(l.Data), l.Phase, string(l.Effects), l.Digest))
		}
	}
	return list
}
