//go:build cgo

package hearing

import (
	"bufio"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

// recordings contains human speech from Debian's pocketsphinx-testdata: five sentences
// of a novel read by a LibriVox volunteer.
const recordings = "/usr/share/pocketsphinx/test/data/librivox"

type recording struct {
	name, words string
	pcm         []int16
}

func readRecordings(tb testing.TB) []recording {
	tb.Helper()
	file, err := os.Open(filepath.Join(recordings, "transcription"))
	if err != nil {
		tb.Fatalf("no recordings: %v; install pocketsphinx-testdata with `make deps`", err)
	}
	defer file.Close()
	line := regexp.MustCompile(`^<s> (.*) </s> \((.*)\)$`)
	var list []recording
	for scan := bufio.NewScanner(file); scan.Scan(); {
		m := line.FindStringSubmatch(scan.Text())
		if m == nil {
			tb.Fatalf("a line of the transcription has another form: %q", scan.Text())
		}
		b, err := os.ReadFile(filepath.Join(recordings, m[2]+".wav"))
		if err != nil {
			tb.Fatal(err)
		}
		pcm := make([]int16, (len(b)-44)/2) // 44 bytes of RIFF header
		if _, err := binary.Decode(b[44:], binary.LittleEndian, pcm); err != nil {
			tb.Fatal(err)
		}
		list = append(list, recording{m[2], m[1], pcm})
	}
	if len(list) != 5 {
		tb.Fatalf("%d recordings, want 5", len(list))
	}
	return list
}

func newRecognizer(tb testing.TB) Recognizer {
	tb.Helper()
	r, err := PocketSphinx(assets.PocketSphinx)()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// write feeds windows of 32 ms, as the voice detector delivers them.
func write(tb testing.TB, r Recognizer, pcm []int16) {
	tb.Helper()
	for len(pcm) > 0 {
		n := min(512, len(pcm))
		if err := r.Write(pcm[:n]); err != nil {
			tb.Fatal(err)
		}
		pcm = pcm[n:]
	}
}

// around adds 300 ms before the onset and 500 ms of silence after the end, as the
// endpointer does.
func around(pcm []int16) []int16 {
	whole := make([]int16, SampleRate*3/10, len(pcm)+SampleRate*8/10)
	whole = append(whole, pcm...)
	return append(whole, make([]int16, SampleRate/2)...)
}

func say(tb testing.TB, r Recognizer, pcm []int16) Result {
	tb.Helper()
	if err := r.Start(); err != nil {
		tb.Fatal(err)
	}
	write(tb, r, pcm)
	result, err := r.Finish()
	if err != nil {
		tb.Fatal(err)
	}
	return result
}

//test:long
func TestWordErrorRateOfHumanSpeech(t *testing.T) {
	r := newRecognizer(t)
	var errs, words int
	var audio, work, finish time.Duration
	for _, rec := range readRecordings(t) {
		pcm := around(rec.pcm)
		began := time.Now()
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		write(t, r, pcm)
		wrote := time.Now()
		result, err := r.Finish()
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(wrote)
		e, w := wer.Compute(rec.words, result.Text)
		t.Logf("%s: %d of %d words wrong, probabilities %.2f, finish %v", rec.name[len(rec.name)-4:], e, w, result.Probs, took)
		if len(result.Probs) != len(strings.Fields(result.Text)) || slices.Min(result.Probs) <= 0 || slices.Max(result.Probs) > 1 {
			t.Errorf("probabilities %v", result.Probs)
		}
		errs, words = errs+e, words+w
		audio += time.Duration(len(pcm)) * time.Second / SampleRate
		work, finish = work+wrote.Sub(began), max(finish, took)
	}
	rate := float64(errs) / float64(words)
	t.Logf("word error rate %.1f %%, %.2f of real time, slowest finish %v", 100*rate, work.Seconds()/audio.Seconds(), finish)
	if rate >= 0.35 {
		t.Errorf("word error rate %.1f %%, want under 35", 100*rate)
	}
}

func TestPartialsGrowAndEndWithTheUtterance(t *testing.T) {
	r := newRecognizer(t)
	rec := readRecordings(t)[0]
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	if got := r.Partial(); got != "" {
		t.Errorf("partial %q before any audio", got)
	}
	write(t, r, rec.pcm[:len(rec.pcm)/2])
	half := len(strings.Fields(r.Partial()))
	write(t, r, rec.pcm[len(rec.pcm)/2:])
	whole := len(strings.Fields(r.Partial()))
	if half == 0 || whole <= half {
		t.Errorf("%d words after half of the audio, %d after all", half, whole)
	}
	if _, err := r.Finish(); err != nil {
		t.Fatal(err)
	}
	if got := r.Partial(); got != "" {
		t.Errorf("partial %q after the utterance", got)
	}
}

func TestNoVoiceNoWords(t *testing.T) {
	r := newRecognizer(t)
	random := rand.New(rand.NewPCG(3, 4))
	noise := make([]int16, 2*SampleRate)
	for i := range noise {
		noise[i] = int16(random.IntN(41) - 20)
	}
	for name, pcm := range map[string][]int16{
		"nothing": nil, "one sample": {1}, "silence": make([]int16, 2*SampleRate), "low noise": noise,
	} {
		if got := say(t, r, pcm); got.Text != "" || got.Probs != nil {
			t.Errorf("%s: heard %d words, probabilities %v", name, len(strings.Fields(got.Text)), got.Probs)
		}
	}
}

func TestStartDropsAnUnfinishedUtterance(t *testing.T) {
	recs := readRecordings(t)
	r := newRecognizer(t)
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	write(t, r, recs[0].pcm)
	got := say(t, r, around(recs[4].pcm))
	if e, w := wer.Compute(recs[4].words, got.Text); e > w/2 {
		t.Errorf("%d of %d words wrong after a dropped utterance", e, w)
	}
}

// The engine crashes on an utterance of 327 s, so long ones are cut.
//
//test:long
func TestALongUtteranceIsRecognisedInPieces(t *testing.T) {
	recs := readRecordings(t)
	for name, limits := range map[string][2]int{
		"at pauses": {SampleRate, 100 * SampleRate}, "anywhere": {3 * SampleRate, 3 * SampleRate},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecognizer(t)
			s := r.(*sphinx)
			s.softLimit, s.hardLimit = limits[0], limits[1]
			if err := r.Start(); err != nil {
				t.Fatal(err)
			}
			var words []string
			partial := 0
			for _, rec := range recs[2:] {
				// One Write: the limits also apply within it.
				if err := r.Write(around(rec.pcm)); err != nil {
					t.Fatal(err)
				}
				words = append(words, rec.words)
				if n := len(strings.Fields(r.Partial())); n <= partial {
					t.Errorf("partial has %d words, %d before", n, partial)
				} else {
					partial = n
				}
			}
			if len(s.texts) < 2 {
				t.Errorf("cut into %d pieces", len(s.texts)+1)
			}
			got, err := r.Finish()
			if err != nil {
				t.Fatal(err)
			}
			e, w := wer.Compute(strings.Join(words, " "), got.Text)
			t.Logf("%d pieces, %d of %d words wrong", len(s.texts), e, w)
			if e > w/2 {
				t.Errorf("%d of %d words wrong", e, w)
			}
		})
	}
}

func TestMisuse(t *testing.T) {
	r := newRecognizer(t)
	if err := r.Write([]int16{1}); !errors.Is(err, ErrNoUtterance) {
		t.Errorf("Write before Start: %v", err)
	}
	if _, err := r.Finish(); !errors.Is(err, ErrNoUtterance) {
		t.Errorf("Finish before Start: %v", err)
	}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	_, finish := r.Finish()
	for name, err := range map[string]error{"Start": r.Start(), "Write": r.Write([]int16{1}), "Finish": finish} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
	if got := r.Partial(); got != "" {
		t.Errorf("partial %q after Close", got)
	}
}

func BenchmarkPocketSphinxFinish(b *testing.B) {
	r := newRecognizer(b)
	pcm := around(readRecordings(b)[0].pcm)
	for b.Loop() {
		b.StopTimer()
		if err := r.Start(); err != nil {
			b.Fatal(err)
		}
		write(b, r, pcm)
		b.StartTimer()
		if _, err := r.Finish(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPocketSphinxSecond(b *testing.B) {
	r := newRecognizer(b)
	pcm := readRecordings(b)[0].pcm
	for b.Loop() {
		say(b, r, pcm)
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/(float64(len(pcm))/SampleRate), "of-real-time")
}

func BenchmarkPocketSphinxLoad(b *testing.B) {
	for b.Loop() {
		r, err := PocketSphinx(assets.PocketSphinx)()
		if err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}
