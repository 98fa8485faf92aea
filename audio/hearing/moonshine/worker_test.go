//go:build cgo

package moonshine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	testworker "github.com/agentvoice/agentvoice-daemon/internal/testutil/worker"
)

// serve starts a worker, and returns it with a function that returns its replies since the last
// call.
func serve(t *testing.T) (*worker, func() []engine.Reply) {
	t.Helper()
	w, replies := testworker.Load(t, modelFiles(t), LoadWorker)
	return w.(*worker), replies
}

// say sends an utterance in pieces of 32 ms.
func say(w *worker, stream uint32, words []string, pcm []int16) {
	w.Work(engine.Frame{Kind: engine.Start, Stream: stream, Payload: engine.Utterance{Words: words}.Payload()})
	for piece := range slices.Chunk(pcm, 512) {
		w.Work(engine.Frame{Kind: engine.Audio, Stream: stream, Payload: engine.Bytes(piece)})
	}
	w.Work(engine.Frame{Kind: engine.Finish, Stream: stream})
}

// TestWorkerHearsWhileItIsSpoken: the words grow while an utterance is spoken, at a cost that
// is bounded, and the final is that of Recognize.
func TestWorkerHearsWhileItIsSpoken(t *testing.T) {
	w, replies := serve(t)
	tick := time.Unix(0, 0)
	w.now = func() time.Time { // a draft takes 60 ms, so the next is due 400 ms later
		tick = tick.Add(60 * time.Millisecond)
		return tick
	}
	r := readRecordings(t, "testdata")[0]
	say(w, 7, nil, r.pcm)
	all := replies()
	final := all[len(all)-1]
	want, err := w.model.Recognize(slices.Concat(r.pcm, silence), w.names)
	if err != nil {
		t.Fatal(err)
	}
	if final.Stream != 7 || final.Final == nil || final.Final.Text != want.Text {
		t.Fatalf("the final is %+v, want %q", final, want.Text)
	}
	probs := final.Final.Probs
	if len(probs) != len(strings.Fields(want.Text)) || slices.Min(probs) <= 0 || slices.Max(probs) > 1 || slices.Max(probs) < 0.8 {
		t.Errorf("%q has the probabilities %v", want.Text, probs)
	}
	partials := len(all) - 1
	for _, r := range all[:partials] {
		if r.Partial == nil || strings.HasSuffix(*r.Partial, ".") {
			t.Errorf("the partial result %+v says that the sentence is over", r)
		}
	}
	if most := int(r.seconds()/0.4) + 1; partials < 2 || partials > most {
		t.Errorf("%d partial results in %.1f s, want 2 to %d", partials, r.seconds(), most)
	}
	if len(w.utterances) != 0 {
		t.Error("the utterance is kept")
	}
}

// TestWorkerJoinsWhatWasSaidBefore: a sentence with a pause is recognised in parts and as a whole, once
// the voice has paused, and again only if it goes on. Longer audio is not joined.
func TestWorkerJoinsWhatWasSaidBefore(t *testing.T) {
	w, replies := serve(t)
	r := readRecording(t, "async")
	half := len(r.pcm) / 2
	want, err := w.model.Recognize(slices.Concat(r.pcm, silence), nil)
	if err != nil {
		t.Fatal(err)
	}
	begin := func(before []int16) {
		w.Work(engine.Frame{Kind: engine.Start, Stream: 1, Payload: engine.Utterance{}.Payload()})
		w.Work(engine.Frame{Kind: engine.Before, Stream: 1, Payload: engine.Bytes(before)})
	}
	end := func() *engine.Final {
		w.Work(engine.Frame{Kind: engine.Finish, Stream: 1})
		all := replies()
		if all[len(all)-1].Final == nil {
			t.Fatalf("the final is %+v", all[len(all)-1])
		}
		return all[len(all)-1].Final
	}
	begin(r.pcm[:half])
	for _, part := range [][]int16{r.pcm[half : half+4000], r.pcm[half+4000:]} {
		w.Work(engine.Frame{Kind: engine.Resume, Stream: 1})
		w.Work(engine.Frame{Kind: engine.Audio, Stream: 1, Payload: engine.Bytes(part)})
		w.Work(engine.Frame{Kind: engine.Settle, Stream: 1})
	}
	f := end()
	if f.Joined == "" || f.Joined != want.Text && f.Joined != strings.TrimSpace(want.Text) {
		t.Errorf("the whole is %q, want %q", f.Joined, want.Text)
	}
	if len(strings.Fields(f.Text)) >= len(strings.Fields(f.Joined)) || len(f.Probs) != len(strings.Fields(f.Text)) {
		t.Errorf("the second part is %q of %q, with the probabilities %v", f.Text, f.Joined, f.Probs)
	}
	begin(make([]int16, longestPiece-half))
	w.Work(engine.Frame{Kind: engine.Audio, Stream: 1, Payload: engine.Bytes(r.pcm[half:])})
	if f := end(); f.Joined != "" || f.Text == "" {
		t.Errorf("joined to %d s: %+v", longestPiece/SampleRate, f)
	}
}

// TestWorkerComparesShortSounds: only a sound that is short enough is compared with the
// expected answers, and only if there are some.
func TestWorkerComparesShortSounds(t *testing.T) {
	w, replies := serve(t)
	short, long := readRecording(t, "stop").pcm, readRecordings(t, "testdata")[0].pcm
	if len(short) > longestAnswer || len(long) <= longestAnswer {
		t.Fatalf("recordings of %d and %d samples", len(short), len(long))
	}
	for _, c := range []struct {
		pcm      []int16
		expected [][]string
		want     bool
	}{{short, spoken.Answers, true}, {short, nil, false}, {short, [][]string{{"Stop."}}, false}, {short[:100], spoken.Answers, false}, {long, spoken.Answers, false}} {
		w.Work(engine.Frame{Kind: engine.Start, Stream: 1, Payload: engine.Utterance{Expected: c.expected}.Payload()})
		w.Work(engine.Frame{Kind: engine.Audio, Stream: 1, Payload: engine.Bytes(c.pcm)})
		w.Work(engine.Frame{Kind: engine.Finish, Stream: 1})
		all := replies()
		final := all[len(all)-1].Final
		if final == nil || (final.Answer != nil) != c.want || c.want && spoken.Classify(final.Answer.Phrase).Command != spoken.CommandStop {
			t.Errorf("%d samples, %d groups: %+v, %+v", len(c.pcm), len(c.expected), final, final.Answer)
		}
	}
}

// TestInventionsAreNothing: a click in a quiet room says nothing, and words that only contain
// an invention are kept.
func TestInventionsAreNothing(t *testing.T) {
	w, replies := serve(t)
	pcm := make([]int16, SampleRate/2)
	for i := range 200 { // a key stroke
		pcm[4000+i] = int16(9000 * (1 - i/200) * (1 - 2*(i/7%2)))
	}
	say(w, 1, nil, pcm)
	all := replies()
	if last := all[len(all)-1]; last.Final == nil || last.Final.Text != "" || last.Final.Probs != nil {
		t.Errorf("a key stroke says %+v", last.Final)
	}
	for text, want := range map[string]bool{
		"You": true, "You.": true, "Thank you for watching!": true, "Thanks for watching.": true,
		"": false, "Thank you.": false, "Are you there?": false, "Thank you for watching the tests.": false,
	} {
		if invented(text) != want {
			t.Errorf("%q is an invention: %v", text, !want)
		}
	}
}

// TestWorkerServesStreams: utterances do not mix, a dropped one is forgotten, and one that
// was not started is an error.
func TestWorkerServesStreams(t *testing.T) {
	w, replies := serve(t)
	list := readRecordings(t, "testdata")
	w.Work(engine.Frame{Kind: engine.Start, Stream: 1})
	w.Work(engine.Frame{Kind: engine.Audio, Stream: 1, Payload: engine.Bytes(list[0].pcm)})
	w.Work(engine.Frame{Kind: engine.Cancel, Stream: 1})
	w.Work(engine.Frame{Kind: engine.Finish, Stream: 1})
	say(w, 2, []string{"split fields"}, list[1].pcm)
	all := replies()
	want, err := w.model.Recognize(list[1].pcm, w.names)
	if err != nil {
		t.Fatal(err)
	}
	if last := all[len(all)-1]; last.Stream != 2 || last.Final == nil || last.Final.Text != want.Text {
		t.Errorf("heard %+v, want %q", last, want.Text)
	}
	if !slices.ContainsFunc(all, func(r engine.Reply) bool { return r.Stream == 1 && r.Error == "the utterance was not started" }) {
		t.Errorf("replies %+v, want an error of stream 1", all)
	}
}

// TestWorkerSettles: in a pause the final is computed at once, and returned at the end without
// another computation, unless the voice goes on.
func TestWorkerSettles(t *testing.T) {
	w, replies := serve(t)
	r := readRecordings(t, "testdata")[0]
	half := len(r.pcm) / 2
	audio := func(pcm []int16) {
		w.Work(engine.Frame{Kind: engine.Audio, Stream: 1, Payload: engine.Bytes(pcm)})
	}
	settle := func() string {
		t.Helper()
		w.Work(engine.Frame{Kind: engine.Settle, Stream: 1})
		all := replies()
		if last := all[len(all)-1]; last.Settled != nil {
			return last.Settled.Text
		}
		t.Fatalf("replies %+v", all)
		return ""
	}
	w.Work(engine.Frame{Kind: engine.Start, Stream: 1})
	audio(r.pcm[:half])
	first := settle()
	w.Work(engine.Frame{Kind: engine.Resume, Stream: 1})
	audio(r.pcm[half:])
	whole := settle()
	want, err := w.model.Recognize(slices.Concat(r.pcm, silence), w.names)
	if err != nil {
		t.Fatal(err)
	}
	if whole != want.Text || first == whole {
		t.Errorf("settled as %q and %q, want %q at the end", first, whole, want.Text)
	}
	audio(make([]int16, 5*SampleRate))
	partial := replies()
	w.utterances[1].pcm = nil // what is computed again would be empty
	w.Work(engine.Frame{Kind: engine.Finish, Stream: 1})
	if all := replies(); len(partial) > 0 || len(all) != 1 || all[0].Final == nil || all[0].Final.Text != whole {
		t.Errorf("%d drafts in the pause, then %+v, want %q", len(partial), all, whole)
	}
}

// TestWorkerCutsLongSpeechAtPauses: what a pause has settled is not computed again if it is long
// enough, so the work of a pause does not grow with what was said before; no word is lost or
// doubled, however long the pause is, and no sound after it.
func TestWorkerCutsLongSpeechAtPauses(t *testing.T) {
	w, replies := serve(t)
	r := readRecordings(t, "testdata")[0]
	long := slices.Concat(r.pcm, r.pcm)
	for len(long) < shortestPiece {
		long = slices.Concat(long, r.pcm)
	}
	for _, pause := range []int{SampleRate / 4, 30 * SampleRate} {
		w.Work(engine.Frame{Kind: engine.Start, Stream: 1})
		w.Work(engine.Frame{Kind: engine.Audio, Stream: 1, Payload: engine.Bytes(long)})
		w.Work(engine.Frame{Kind: engine.Settle, Stream: 1})
		all := replies()
		before := all[len(all)-1].Settled
		for part := range slices.Chunk(make([]int16, pause), 512) {
			w.Work(engine.Frame{Kind: engine.Audio, Stream: 1, Payload: engine.Bytes(part)})
		}
		w.Work(engine.Frame{Kind: engine.Resume, Stream: 1})
		if kept := len(w.utterances[1].pcm); kept > pause || pause < SampleRate && kept != pause {
			t.Errorf("a pause of %d samples: %d of %d samples are kept after it", pause, kept, len(long)+pause)
		}
		for part := range slices.Chunk(r.pcm, 512) {
			w.Work(engine.Frame{Kind: engine.Audio, Stream: 1, Payload: engine.Bytes(part)})
		}
		w.Work(engine.Frame{Kind: engine.Finish, Stream: 1})
		all = replies()
		final := all[len(all)-1].Final
		after, err := w.model.Recognize(slices.Concat(make([]int16, SampleRate/4), r.pcm, silence), w.names)
		if err != nil {
			t.Fatal(err)
		}
		if want := before.Text + " " + after.Text; final == nil || final.Text != want {
			t.Errorf("a pause of %d samples: final %+v, want %q", pause, final, want)
		}
	}
}
