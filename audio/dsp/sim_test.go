//go:build cgo

package dsp

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/bench/room"
)

const answer = `The test suite has finished, and two of the tests have failed. The first one is in
the parser, where an empty line is taken for the end of the file. The second is a race in the
cache, which I can show you if you like. I would mend the parser first, because the other fault
may be a consequence of it. There are also seven warnings, most of them about names that are not
used. Shall I open the file and make the change now?`

// The assistant is synthetic, in two voices, at -20 dBFS while it speaks: 40 s.
var assistant = sync.OnceValues(func() ([]int16, error) {
	synth, err := voice.Flite()()
	if err != nil {
		return nil, err
	}
	defer synth.Close()
	var pcm []int16
	from := 0
	for _, voice := range []string{"slt", "rms"} {
		err := synth.Speak(context.Background(), voice, answer, func(piece []int16, rate int) error {
			pcm, from = append(pcm, piece...), rate
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return to48(pcm, from, -20)
})

func assistantSpeech(t testing.TB) []int16 {
	t.Helper()
	pcm, err := assistant()
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

func to48(pcm []int16, from int, level float64) ([]int16, error) {
	r, err := audio.NewResampler(from, audio.SampleRate)
	if err != nil {
		return nil, err
	}
	return atLevel(r.Flush(r.Process(nil, pcm)), level), nil
}

func atLevel(pcm []int16, level float64) []int16 {
	gain := math.Pow(10, (level-room.ActiveLevel(pcm))/20)
	out := make([]int16, len(pcm))
	for i, s := range pcm {
		out[i] = int16(max(min(math.Round(float64(s)*gain), math.MaxInt16), math.MinInt16))
	}
	return out
}

// sentence is human speech of pocketsphinx-testdata.
type sentence struct{ file, words string }

var sentences = []sentence{
	{"librivox/sense_and_sensibility_01_austen_64kb-0870.wav", "and mister john dashwood had then leisure to consider how much there might be prudently in his power to do for them"},
	{"librivox/sense_and_sensibility_01_austen_64kb-0880.wav", "he was not an ill disposed young man"},
	{"librivox/sense_and_sensibility_01_austen_64kb-0890.wav", "unless to be rather cold hearted and rather selfish is to be ill disposed"},
	{"librivox/sense_and_sensibility_01_austen_64kb-0920.wav", "had he married a more a amiable woman he might have been made still more respectable than he was"},
	{"librivox/sense_and_sensibility_01_austen_64kb-0930.wav", "he might even have been made amiable himself"},
	{"cards/001.wav", "ten of clubs"},
	{"cards/003.wav", "seven of clubs"},
	{"cards/005.wav", "eight of spades four of clubs seven of hearts"},
	{"goforward.raw", "go forward ten meters"},
}

// human returns the sentence at 48 kHz, at a level in dBFS.
func (s sentence) human(t testing.TB, level float64) []int16 {
	t.Helper()
	path := filepath.Join("/usr/share/pocketsphinx/test/data", s.file)
	if filepath.Ext(path) == ".wav" {
		pcm, err := wavio.ReadAll(path)
		if err != nil {
			t.Fatalf("%v; install pocketsphinx-testdata with `make deps`", err)
		}
		return atLevel(pcm, level)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; install pocketsphinx-testdata with `make deps`", err)
	}
	var raw []int16
	for ; len(b) >= 2; b = b[2:] {
		raw = append(raw, int16(binary.LittleEndian.Uint16(b)))
	}
	pcm, err := to48(raw, 16000, level)
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

func echoOf(t testing.TB, name string) []float32 {
	t.Helper()
	s, ok := room.ShapeNamed(name)
	if !ok {
		t.Fatalf("unknown room %s", name)
	}
	return s.EchoResponse()
}

// scene is a room with a Processor in it, frame by frame.
type scene struct {
	t    testing.TB
	p    *Processor
	room *room.Room
	far  []int16 // what the assistant says, repeated

	said  int  // rendered samples of far
	quiet bool // the assistant is silent
	stop  bool // the sink does not render at all

	mic audio.Frame
	out Output
}

// library is one that can cancel echoes in this build; see libraries.
type library struct {
	name   string
	newAPM func(apmConfig) (apm, error)
	// By how many dB the echo is reduced at least, in the second to fifth second of speech
	// and after that.
	adapting, adapted float64
}

// each runs a test with each library.
func each(t *testing.T, test func(t *testing.T, l library)) {
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) { test(t, l) })
	}
}

func (l library) processor(t testing.TB, cfg Config) *Processor {
	t.Helper()
	front, back := cfg.stages()
	p, err := newProcessor(l.newAPM, front, back)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func (l library) scene(t testing.TB, cfg Config, rc room.Config) *scene {
	t.Helper()
	r, err := room.New(rc)
	if err != nil {
		t.Fatal(err)
	}
	return &scene{t: t, p: l.processor(t, cfg), room: r, far: assistantSpeech(t)}
}

// newScene returns a scene with the library of this build.
func newScene(t testing.TB, cfg Config, rc room.Config) *scene {
	t.Helper()
	return library{newAPM: newAPM}.scene(t, cfg, rc)
}

// capture returns the next microphone frame. near may be nil.
func (s *scene) capture(near *audio.Frame) {
	s.room.Capture(func(f *audio.Frame) {
		clear(f[:])
		if s.stop {
			return
		}
		for i := 0; i < len(f) && !s.quiet; i++ {
			f[i] = s.far[s.said%len(s.far)]
			s.said++
		}
		s.p.Reference(f)
	}, near, &s.mic)
}

// run advances time with near at the microphone (nil: nobody speaks), and returns the
// reduction from the microphone to Trigger in dB.
func (s *scene) run(d time.Duration, near []int16) (erle float64) {
	s.t.Helper()
	before, after := 0.0, 0.0
	s.each(d, near, func() {
		before += power(s.mic[:])
		after += power(s.out.Trigger[:])
	})
	return 10 * math.Log10((before+1e-10)/(after+1e-10))
}

// each calls frame after each frame.
func (s *scene) each(d time.Duration, near []int16, frame func()) {
	s.t.Helper()
	for range int(d / audio.FrameTime) {
		var n *audio.Frame
		if len(near) >= audio.FrameSamples {
			n = (*audio.Frame)(near[:audio.FrameSamples])
			near = near[audio.FrameSamples:]
		}
		s.capture(n)
		if err := s.p.Process(&s.mic, &s.out); err != nil {
			s.t.Fatal(err)
		}
		frame()
	}
}

func atMs(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }

// likeness returns the normalized correlation of two pieces of audio.
func likeness(a, b []int16) float64 {
	var ab, aa, bb float64
	for i := range min(len(a), len(b)) {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}
