package hearing

import (
	"errors"
	"slices"
	"strconv"
	"testing"
)

// flaky is an engine whose result is the number of samples it received.
type flaky struct {
	fail    string // the call that fails; "" for no failure
	samples int
	closed  int
}

var errFlaky = errors.New("fails")

func (f *flaky) at(call string) error {
	if f.fail == call {
		return errFlaky
	}
	return nil
}
func (f *flaky) Start() error { f.samples = 0; return f.at("start") }
func (f *flaky) Write(pcm []int16) error {
	f.samples += len(pcm)
	return f.at("write")
}
func (f *flaky) Partial() string         { return strconv.Itoa(f.samples) }
func (f *flaky) Finish() (Result, error) { return Result{Text: f.Partial()}, f.at("finish") }
func (f *flaky) Close() error            { f.closed++; return nil }

// engines returns a factory that returns the engines of a list in turn; for nil it
// fails.
func engines(list ...*flaky) Factory {
	return func() (Recognizer, error) {
		next := list[0]
		list = append(list[1:], list[0])
		if next == nil {
			return nil, errFlaky
		}
		return next, nil
	}
}

// Wherever an engine fails, the first working engine recognises the whole utterance.
func TestFallbackHearsAll(t *testing.T) {
	for _, call := range []string{"start", "write", "finish"} {
		for _, c := range []struct {
			name         string
			again, spare *flaky
			failures     int
		}{
			{"the first engine works again", &flaky{}, nil, 1},
			{"it fails again", &flaky{fail: call}, &flaky{}, 2},
			{"it cannot be made again", nil, &flaky{}, 2},
			{"nothing works", nil, nil, 0},
		} {
			first := &flaky{fail: call}
			reported := 0
			r, err := WithFallback(engines(first, c.again), engines(c.spare), func(error) { reported++ })()
			if err != nil {
				t.Fatal(err)
			}
			err = r.Start()
			for range 5 {
				if err == nil {
					err = r.Write(make([]int16, 100))
				}
			}
			var result Result
			if err == nil {
				result, err = r.Finish()
			}
			if works := c.again != nil && c.again.fail == "" || c.spare != nil; works != (err == nil) || works && result.Text != "500" {
				t.Errorf("%s in %s: heard %q, %v", c.name, call, result.Text, err)
			}
			if reported != c.failures {
				t.Errorf("%s in %s: %d failures reported, want %d", c.name, call, reported, c.failures)
			}
			if first.closed != 1 {
				t.Errorf("%s in %s: the engine that failed was closed %d times", c.name, call, first.closed)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			for _, e := range []*flaky{c.again, c.spare} {
				if e != nil && e.closed > 1 {
					t.Errorf("%s in %s: an engine was closed %d times", c.name, call, e.closed)
				}
			}
		}
	}
}

// The audio of an utterance is wiped at its end, and at most LongestUtterance is kept.
func TestKeptAudioIsBoundedAndWiped(t *testing.T) {
	for _, end := range []string{"finish", "start", "close"} {
		r, err := WithFallback(engines(&flaky{}), engines(nil), func(error) {})()
		if err != nil {
			t.Fatal(err)
		}
		k := r.(*keeper)
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		loud := make([]int16, SampleRate)
		for i := range loud {
			loud[i] = 7
		}
		for range LongestUtterance/SampleRate + 10 {
			if err := r.Write(loud); err != nil {
				t.Fatal(err)
			}
		}
		if len(k.kept) != LongestUtterance {
			t.Errorf("%d samples are kept, want %d", len(k.kept), LongestUtterance)
		}
		kept := k.kept
		switch end {
		case "finish":
			_, err = r.Finish()
		case "start":
			err = r.Start()
		case "close":
			err = r.Close()
		}
		if err != nil || len(k.kept) != 0 || slices.ContainsFunc(kept[:cap(kept)], func(s int16) bool { return s != 0 }) {
			t.Errorf("%s leaves audio: %v", end, err)
		}
	}
}

// The first engine is retried for the next utterance.
func TestFirstEngineComesBack(t *testing.T) {
	first, back, spare := &flaky{fail: "write"}, &flaky{}, &flaky{}
	r, err := WithFallback(engines(first, nil, back), engines(spare), func(error) {})()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := errors.Join(r.Start(), r.Write(make([]int16, 10))); err != nil {
			t.Fatal(err)
		}
		if result, err := r.Finish(); err != nil || result.Text != "10" {
			t.Errorf("heard %q, %v", result.Text, err)
		}
	}
	if spare.closed != 1 || back.samples != 10 {
		t.Errorf("the spare was closed %d times, and the first engine heard %d samples", spare.closed, back.samples)
	}
}

// prefers is an engine that records its hot words.
type prefers struct {
	flaky
	words    []string
	expected [][]string
}

func (p *prefers) SetWords(words []string)       { p.words = words }
func (p *prefers) SetExpected(groups [][]string) { p.expected = groups }

// TestWordsReachEachEngine checks that an engine gets the words when it takes over in
// the middle of an utterance, and when it is used again for the next.
func TestWordsReachEachEngine(t *testing.T) {
	first, again, spare := &prefers{flaky: flaky{fail: "write"}}, &prefers{flaky: flaky{fail: "write"}}, &prefers{}
	list := []Recognizer{first, again}
	made := func() (Recognizer, error) {
		next := list[0]
		list = append(list[1:], next)
		return next, nil
	}
	r, err := WithFallback(made, func() (Recognizer, error) { return spare, nil }, func(error) {})()
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"parse config"}
	expected := [][]string{{"Yes."}, {"No."}}
	r.(WordTaker).SetWords(words)
	r.(AnswerTaker).SetExpected(expected)
	if err := errors.Join(r.Start(), r.Write(make([]int16, 10))); err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]*prefers{"the first engine": first, "its successor": again, "the fallback": spare} {
		if !slices.Equal(e.words, words) || len(e.expected) != len(expected) {
			t.Errorf("%s was given %q and %q", name, e.words, e.expected)
		}
	}
}
