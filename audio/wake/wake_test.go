package wake

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeEngine detects the phrase where told to, and records its input.
type fakeEngine struct {
	heard    map[int]bool // by the number of the piece
	fail     map[int]error
	hold     chan struct{} // each piece waits for a value, unless nil
	began    chan struct{} // the engine has received a piece
	pieces   chan int      // lengths
	n        int
	restarts int
	closed   chan struct{}
}

func newFake() *fakeEngine {
	return &fakeEngine{heard: map[int]bool{}, fail: map[int]error{}, pieces: make(chan int, 1000), began: make(chan struct{}, 1000), closed: make(chan struct{})}
}

func (e *fakeEngine) listen(pcm []int16) (match, error) {
	e.began <- struct{}{}
	if e.hold != nil {
		<-e.hold
	}
	e.pieces <- len(pcm)
	e.n++
	return match{found: e.heard[e.n]}, e.fail[e.n]
}

func (e *fakeEngine) restart() error {
	e.restarts++
	return nil
}

func (e *fakeEngine) close() { close(e.closed) }

// within waits for one value of c.
func within[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatal("timeout")
		panic("not reached")
	}
}

func startTest(t *testing.T, e engine, heard func(Heard)) *Spotter {
	t.Helper()
	s, err := start(e, heard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestPositionOfADetection(t *testing.T) {
	e := newFake()
	e.heard[3] = true
	heard := make(chan Heard, 10)
	s := startTest(t, e, func(h Heard) { heard <- h })
	const first = 7000 * audio.FrameSamples
	for i := range int64(20) {
		if !s.Push(first+i*audio.FrameSamples, &audio.Frame{}) {
			t.Fatal("the queue is full")
		}
	}
	if h := within(t, heard); h.Pos != first+3*pieceFrames*audio.FrameSamples || h.To >= h.Pos {
		t.Errorf("heard at %d, want the end of the third piece", h.Pos-first)
	}
	total := 0
	for range 4 {
		total += within(t, e.pieces)
	}
	if want := 20 * SampleRate / 100; total > want || total < want-100 {
		t.Errorf("the engine was given %d samples of %d", total, want)
	}
	if st := s.Stats(); st.Heard != 1 || st.Dropped != 0 || st.Err != nil {
		t.Errorf("%+v", st)
	}
}

func TestGapRestartsTheEngine(t *testing.T) {
	e := newFake()
	s := startTest(t, e, nil)
	pos := int64(0)
	push := func(frames int) {
		for range frames {
			s.Push(pos, &audio.Frame{})
			pos += audio.FrameSamples
		}
	}
	push(pieceFrames + 3) // three frames are left over
	pos += audio.FrameSamples
	push(pieceFrames)
	within(t, e.pieces)
	if n := within(t, e.pieces); n > pieceFrames*SampleRate/100 {
		t.Errorf("a piece with %d samples spans the gap", n)
	}
	s.Close()
	if e.restarts != 1 {
		t.Errorf("the engine restarted %d times, want once", e.restarts)
	}
}

// Push does not block while the engine hangs.
func TestPushNeverBlocks(t *testing.T) {
	e := newFake()
	e.hold = make(chan struct{})
	s := startTest(t, e, nil)
	const frames = 2*queueFrames + 50
	dropped := uint64(0)
	for i := range int64(frames) {
		if !s.Push(i*audio.FrameSamples, &audio.Frame{}) {
			dropped++
		}
	}
	if st := s.Stats(); dropped < queueFrames || dropped > frames-queueFrames || st.Dropped != dropped {
		t.Errorf("%d of %d frames were dropped, stats %+v", dropped, frames, st)
	}
	close(e.hold)
	within(t, e.pieces)
}

func TestPushAllocatesNothing(t *testing.T) {
	e := newFake()
	s := startTest(t, e, nil)
	var f audio.Frame
	pos := int64(0)
	if n := testing.AllocsPerRun(1000, func() {
		s.Push(pos, &f)
		pos += audio.FrameSamples
	}); n != 0 {
		t.Errorf("%v allocations per frame", n)
	}
}

func TestFailureIsInStats(t *testing.T) {
	e := newFake()
	broken := errors.New("broken")
	e.fail[2] = broken
	heard := make(chan Heard, 10)
	e.heard[3] = true
	s := startTest(t, e, func(h Heard) { heard <- h })
	for i := range int64(4 * pieceFrames) {
		s.Push(i*audio.FrameSamples, &audio.Frame{})
	}
	within(t, e.pieces)
	within(t, e.pieces)
	s.Close()
	if st := s.Stats(); !errors.Is(st.Err, broken) || len(heard) != 0 {
		t.Errorf("%+v, detected %d times", st, len(heard))
	}
}

func TestCloseStopsTheSpotter(t *testing.T) {
	e := newFake()
	e.hold = make(chan struct{})
	e.heard[1] = true
	heard := make(chan Heard, 10)
	s, err := start(e, func(h Heard) { heard <- h })
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(pieceFrames) {
		s.Push(i*audio.FrameSamples, &audio.Frame{})
	}
	within(t, e.began)
	done := make(chan error, 2)
	for range 2 {
		go func() { done <- s.Close() }()
	}
	<-s.quit // Close has started
	select {
	case <-done:
		t.Fatal("Close did not wait for the engine")
	default:
	}
	close(e.hold)
	for range 2 {
		if err := within(t, done); err != nil {
			t.Error(err)
		}
	}
	within(t, e.closed)
	if len(heard) != 0 {
		t.Error("the phrase was detected after Close")
	}
	if s.Push(0, &audio.Frame{}) {
		t.Error("a frame was accepted after Close")
	}
}

func TestThresholdIsChecked(t *testing.T) {
	for _, threshold := range []float64{-1, 1.5, math.NaN(), math.Inf(1)} {
		if _, err := New(Config{Threshold: threshold}); err == nil || !strings.Contains(err.Error(), "threshold") {
			t.Errorf("threshold %v: %v", threshold, err)
		}
	}
}

// modelDir is the folder of the installed models.
func modelDir(t testing.TB) string {
	t.Helper()
	dir, err := assets.PocketSphinx()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWordsOfPhrase(t *testing.T) {
	_, dictionary, err := modelIn(modelDir(t))
	if err != nil {
		t.Fatal(err)
	}
	for phrase, want := range map[string]string{
		"okay copilot":                   "",
		"  Hey   COMPUTER ":              "",
		"hello hello":                    "",
		"don't panic":                    "",
		"":                               "0 words",
		"copilot":                        "1 words",
		"a b c d e f g h i":              "9 words",
		"hey agentvoice":                 `"agentvoice" is not in the English dictionary`,
		"hello(2) computer":              `"hello(2)" is not in`,
		"<sil> computer":                 `"<sil>" is not in`,
		"hey computer!":                  `"computer!" is not in`,
		"hi you":                         "4 sounds",
		"grüß gott computer":             `"grüß" is not in`,
		"okay computer\x00and something": "is not in",
	} {
		words, err := parsePhrase(phrase, dictionary)
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", phrase, err)
		case want == "" && len(words) != 2:
			t.Errorf("%q has the words %v", phrase, words)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", phrase, err, want)
		}
	}
	words, err := parsePhrase("Okay Copilot", dictionary)
	if want := []word{{"okay", "OW K EY"}, {"copilot", "K OW P AY L AH T"}}; err != nil || !slices.Equal(words, want) {
		t.Errorf("%v, %v", words, err)
	}
}

func TestMissingModel(t *testing.T) {
	dir := t.TempDir()
	for _, cfg := range []string{dir, dir + "/none"} {
		_, _, err := modelIn(cfg)
		if err == nil || !strings.Contains(err.Error(), "pocketsphinx-en-us") || strings.Contains(err.Error(), dir) {
			t.Errorf("%v", err)
		}
	}
	if _, err := pronunciations(dir+"/none", []string{"okay"}); err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("%v", err)
	}
}

func TestQuestionAboutAPhrase(t *testing.T) {
	question := Question("hello my Computer")
	for _, want := range []string{"Hello my computer.", "Hello, my computer.", "Hello My Computer!", "Hello, My Computer"} {
		if !slices.Contains(question[0], want) {
			t.Errorf("%q is missing in %q", want, question[0])
		}
		if !Confirms(question, want, mostBehind) || Confirms(question, want, mostBehind+1) {
			t.Errorf("%q does not confirm the phrase, or does if another text is likelier", want)
		}
	}
	if want := []string{"Hello.", "Computer."}; !slices.Equal(question[1], want) || Confirms(question, want[0], 0) {
		t.Errorf("other answers are %q, want %q, which do not confirm the phrase", question[1], want)
	}
}
