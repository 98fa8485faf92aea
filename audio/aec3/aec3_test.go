package aec3

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
)

var both = Config{EchoCancellation: true, HighPass: true}

func newCanceller(t *testing.T, cfg Config) *Canceller {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// talker is noise with the spectrum and the rhythm of speech: bursts with pauses.
type talker struct {
	rng         *rand.Rand
	level       float64
	low, lower  float64
	left, pause int
}

func newTalker(seed uint64, level float64) *talker {
	return &talker{rng: rand.New(rand.NewPCG(seed, 1)), level: level}
}

func (s *talker) next(frame []int16) {
	for i := range frame {
		if s.left--; s.left < 0 {
			s.pause = s.rng.IntN(SampleRate / 5)
			s.left = s.pause + SampleRate/20 + s.rng.IntN(SampleRate/4)
		}
		loud := s.level
		if s.left < s.pause {
			loud = 0
		}
		s.low = 0.6*s.low + loud*s.rng.NormFloat64()
		s.lower = 0.9*s.lower + 0.1*s.low
		frame[i] = int16(max(min(s.low-s.lower, math.MaxInt16), math.MinInt16))
	}
}

// path is the way from the speaker to the microphone: 30 ms, then a decaying response. It
// has few reflections, because the race detector makes each slow.
type path struct {
	gain      float64
	past      [pathSamples]float64
	reflected []reflection
}

type reflection struct {
	late int
	gain float64
}

const pathSamples = SampleRate / 10

func newPath(gain float64) *path {
	p := &path{gain: gain, reflected: []reflection{{480, 1}}}
	rng := rand.New(rand.NewPCG(7, 7))
	for range 30 {
		late := 480 + rng.IntN(600)
		p.reflected = append(p.reflected, reflection{late, 0.5 * rng.NormFloat64() * math.Exp(-float64(late-480)/150)})
	}
	return p
}

func (p *path) add(near, far []int16) {
	copy(p.past[FrameSamples:], p.past[:])
	for i, v := range far {
		p.past[FrameSamples-1-i] = float64(v)
	}
	for i := range far {
		sum := float64(near[i])
		for _, r := range p.reflected {
			sum += p.gain * r.gain * p.past[FrameSamples-1-i+r.late]
		}
		near[i] = int16(max(min(sum, math.MaxInt16), math.MinInt16))
	}
}

func power(samples []int16) (sum float64) {
	for _, v := range samples {
		sum += float64(v) * float64(v)
	}
	return sum
}

func decibels(before, after float64) float64 { return 10 * math.Log10((before+1)/(after+1)) }

// scene is a far end, its echo and possibly a person.
type scene struct {
	c         *Canceller
	far, near []int16
	says      *talker
	echo      *path
	person    *talker
}

func newScene(c *Canceller) *scene {
	return &scene{c: c, far: make([]int16, FrameSamples), near: make([]int16, FrameSamples), says: newTalker(1, 3000), echo: newPath(0.5)}
}

// run processes frames, and returns by how much the near end was reduced, in dB.
func (s *scene) run(t *testing.T, frames int) float64 {
	t.Helper()
	before, after := 0.0, 0.0
	for range frames {
		s.says.next(s.far)
		clear(s.near)
		if s.person != nil {
			s.person.next(s.near)
		}
		s.echo.add(s.near, s.far)
		before += power(s.near)
		if err := s.c.Process(s.far, s.near); err != nil {
			t.Fatal(err)
		}
		after += power(s.near)
	}
	return decibels(before, after)
}

// TestModuleIsAsPublished: it is the file of the package, to which the licence belongs.
func TestModuleIsAsPublished(t *testing.T) {
	const published = "a2f432546daf1b366d04b4921e1a1cdf0d097da7722fb1d5fe553bed3cadb756"
	if got := fmt.Sprintf("%x", sha256.Sum256(code)); got != published {
		t.Errorf("aec3.wasm has SHA-256 %s, want %s", got, published)
	}
	if n := bytes.Count(code, []byte(stockMemory)); n != 1 {
		t.Errorf("the import of the memory is there %d times", n)
	}
}

func TestEchoIsRemoved(t *testing.T) {
	s := newScene(newCanceller(t, both))
	s.run(t, 300)
	if erle := s.run(t, 300); erle < 25 {
		t.Errorf("after three seconds the echo is reduced by %.1f dB, want 25", erle)
	}
}

func TestSilentFarEndPassesTheNearEnd(t *testing.T) {
	c := newCanceller(t, Config{EchoCancellation: true})
	person := newTalker(2, 2000)
	var in, out []int16
	near := make([]int16, FrameSamples)
	for n := range 300 {
		person.next(near)
		in = append(in, near...)
		var far []int16 // nil is silence
		if n%2 == 0 {
			far = make([]int16, FrameSamples)
		}
		if err := c.Process(far, near); err != nil {
			t.Fatal(err)
		}
		out = append(out, near...)
	}
	best, at := 0.0, 0
	for lag := range FrameSamples {
		sum := 0.0
		for i := lag; i < len(out); i++ {
			sum += float64(out[i]) * float64(in[i-lag])
		}
		if c := sum / math.Sqrt(power(in)*power(out)); c > best {
			best, at = c, lag
		}
	}
	if at != c.Latency() || best < 0.98 {
		t.Errorf("the near end is %d samples late, want %d, and correlates by %.3f", at, c.Latency(), best)
	}
	if d := decibels(power(in), power(out)); math.Abs(d) > 0.5 {
		t.Errorf("the near end is reduced by %.1f dB", d)
	}
}

// TestSuppressionLevels: a lower level leaves more of a person who speaks over the echo.
func TestSuppressionLevels(t *testing.T) {
	left := func(level int) float64 {
		s := newScene(newCanceller(t, both))
		s.run(t, 400)
		if err := s.c.Suppress(level); err != nil {
			t.Fatal(err)
		}
		s.person = newTalker(3, 1000)
		return s.run(t, 300)
	}
	high, moderate, low := left(High), left(Moderate), left(Low)
	if high <= moderate || moderate <= low+1 {
		t.Errorf("echo and person are reduced by %.1f, %.1f and %.1f dB", high, moderate, low)
	}
}

// TestResetStartsOver: after Reset the outputs are those of a new Canceller, bit by bit.
func TestResetStartsOver(t *testing.T) {
	reset, fresh := newScene(newCanceller(t, both)), newScene(newCanceller(t, both))
	reset.run(t, 200)
	if err := reset.c.Suppress(Low); err != nil {
		t.Fatal(err)
	}
	if err := reset.c.Reset(); err != nil {
		t.Fatal(err)
	}
	reset.says, reset.echo = newTalker(1, 3000), newPath(0.5)
	for n := range 100 {
		reset.run(t, 1)
		fresh.run(t, 1)
		if !slices.Equal(reset.near, fresh.near) {
			t.Fatalf("frame %d differs", n)
		}
	}
}

// TestConcurrentCancellers: they share the code and nothing else.
func TestConcurrentCancellers(t *testing.T) {
	var all sync.WaitGroup
	outputs := make([][]int16, 4)
	for i := range outputs {
		s := newScene(newCanceller(t, both))
		all.Go(func() {
			for range 50 {
				s.run(t, 1)
				outputs[i] = append(outputs[i], s.near...)
			}
		})
	}
	all.Wait()
	for _, o := range outputs[1:] {
		if !slices.Equal(o, outputs[0]) {
			t.Error("the same input gave two outputs")
		}
	}
}

func TestProcessAllocatesNothing(t *testing.T) {
	c := newCanceller(t, both)
	far, near := make([]int16, FrameSamples), make([]int16, FrameSamples)
	says := newTalker(1, 3000)
	n := testing.AllocsPerRun(200, func() {
		says.next(far)
		copy(near, far)
		if err := c.Process(far, near); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations per frame", n)
	}
}

// TestMemoryIsEnough: the module has a sixteenth of the memory that it asks for, and uses
// half of that, whatever it hears.
func TestMemoryIsEnough(t *testing.T) {
	s := newScene(newCanceller(t, both))
	s.run(t, 500)
	s.person = newTalker(5, 30000) // clips
	s.run(t, 300)
	s.echo = newPath(40)
	s.run(t, 300)
	s.says.level, s.person = 0, nil
	s.run(t, 300)
	memory, ok := s.c.in.memory.Read(0, s.c.in.memory.Size())
	if half := len(memory) / 2; !ok || half != 1<<19 || bytes.ContainsFunc(memory[half:], func(r rune) bool { return r != 0 }) {
		t.Errorf("of %d bytes more than half are in use", len(memory))
	}
}

// TestFailureLasts until Reset, and is the same error, so that it is logged once.
func TestFailureLasts(t *testing.T) {
	s := newScene(newCanceller(t, both))
	s.run(t, 10)
	s.c.self = math.MaxUint32 // outside of the memory
	first := s.c.Process(s.far, s.near)
	if first == nil || !strings.HasPrefix(first.Error(), "the echo canceller failed: ") {
		t.Fatalf("a trap is not reported: %v", first)
	}
	if again := s.c.Process(s.far, s.near); again != first {
		t.Errorf("then: %v", again)
	}
	if err := s.c.Reset(); err != nil {
		t.Fatal(err)
	}
	s.run(t, 10)
}

func TestClose(t *testing.T) {
	c := newCanceller(t, both)
	c.Close()
	c.Close()
	if err := c.Process(nil, make([]int16, FrameSamples)); !errors.Is(err, errClosed) {
		t.Errorf("Process after Close: %v", err)
	}
	if err := c.Suppress(Low); !errors.Is(err, errClosed) {
		t.Errorf("Suppress after Close: %v", err)
	}
}

// TestAnotherModuleIsRefused, in one sentence.
func TestAnotherModuleIsRefused(t *testing.T) {
	config := wazero.NewRuntimeConfigCompiler()
	if _, err := compile([]byte("not a module"), config); err == nil || !strings.Contains(err.Error(), "install the program again") {
		t.Errorf("no module: %v", err)
	}
	empty, err := compile([]byte("\x00asm\x01\x00\x00\x00"), config)
	if err != nil {
		t.Fatal(err)
	}
	c := &Canceller{cfg: both, module: empty}
	if err := c.start(); !errors.Is(err, errMissing) {
		t.Errorf("an empty module: %v", err)
	}
	// The same module, with parameters of another version.
	in := newCanceller(t, both).in
	in.memory.WriteFloat32Le(normalAddress, 3)
	if err := c.findGains(in.memory); !errors.Is(err, errMissing) {
		t.Errorf("other parameters: %v", err)
	}
}

// TestMachinesThatCannotCompile: wazero panics there, which must not end the daemon.
func TestMachinesThatCannotCompile(t *testing.T) {
	m, err := compile(code, nil) // wazero panics without a configuration, too
	if m != nil || err == nil || !strings.HasSuffix(err.Error(), "; allow this program to make memory executable, or use headphones") {
		t.Errorf("%v, %v", m, err)
	}
}

func TestHighPass(t *testing.T) {
	reduced := func(cfg Config, hertz float64) float64 {
		c := newCanceller(t, cfg)
		before, after := 0.0, 0.0
		near := make([]int16, FrameSamples)
		for n := range 200 {
			for i := range near {
				near[i] = int16(3000 * math.Sin(2*math.Pi*hertz*float64(n*FrameSamples+i)/SampleRate))
			}
			was := power(near)
			if err := c.Process(nil, near); err != nil {
				t.Fatal(err)
			}
			if n >= 100 {
				before, after = before+was, after+power(near)
			}
		}
		return decibels(before, after)
	}
	for _, c := range []struct {
		cfg         Config
		hertz       float64
		least, most float64
	}{
		{Config{HighPass: true}, 25, 22, 27}, {Config{HighPass: true}, 100, 2.5, 3.5}, {Config{HighPass: true}, 1000, -0.1, 0.1},
		{Config{}, 25, 0, 0}, {both, 25, 15, 99},
	} {
		if got := reduced(c.cfg, c.hertz); got < c.least || got > c.most {
			t.Errorf("%+v: %v Hz is reduced by %.1f dB", c.cfg, c.hertz, got)
		}
	}
	if c := newCanceller(t, Config{HighPass: true}); c.Latency() != 0 || c.in != nil || c.Reset() != nil || c.Suppress(Low) != nil {
		t.Error("the high-pass alone needs the module")
	}
}

// BenchmarkProcess measures a frame with an echo.
func BenchmarkProcess(b *testing.B) {
	c, err := New(both)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	far, near := make([]int16, FrameSamples), make([]int16, FrameSamples)
	says, echo := newTalker(1, 3000), newPath(0.5)
	frames := make([][2][FrameSamples]int16, 100)
	for i := range frames {
		says.next(frames[i][0][:])
		echo.add(frames[i][1][:], frames[i][0][:])
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		copy(far, frames[i%len(frames)][0][:])
		copy(near, frames[i%len(frames)][1][:])
		if err := c.Process(far, near); err != nil {
			b.Fatal(err)
		}
	}
}
