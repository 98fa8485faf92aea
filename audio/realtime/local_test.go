package realtime

import (
	"context"
	"math"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	voices "github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// startLocal runs the embedded server and returns the client configuration for it.
func startLocal(t testing.TB, change func(*localrealtime.Config)) (*localrealtime.Server, Config) {
	t.Helper()
	if _, err := opus.NewDecoder(); err != nil {
		t.Skip(err)
	}
	cfg := localrealtime.Config{APIKey: canary, Log: zerolog.Nop(),
		Detector:    func() (vad.Detector, error) { return fakeDetector{}, nil },
		Recognizer:  func() (hearing.Recognizer, error) { return fakeRecognizer{}, nil },
		Synthesizer: func() (voices.Synthesizer, error) { return fakeSynthesizer{}, nil },
	}
	if change != nil {
		change(&cfg)
	}
	s, err := localrealtime.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		web.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, Config{Dialect: Local, BaseURL: web.URL, Model: "local", Loopback: true, Log: zerolog.Nop(),
		HTTPClient: web.Client(), ConnectTimeout: 2 * patience, mediaLimit: patience,
		Credentials: func(context.Context) (Credential, error) { return Credential{Value: canary, Kind: APIKey}, nil }}
}

// fakeDetector, fakeRecognizer and fakeSynthesizer replace the engines in tests of the
// connection: silence in, a tone of 100 ms per word out.
type fakeDetector struct{}

func (fakeDetector) Process([]int16) (float32, error) { return 0, nil }
func (fakeDetector) Reset()                           {}
func (fakeDetector) Close() error                     { return nil }

type fakeRecognizer struct{}

func (fakeRecognizer) Start() error                    { return nil }
func (fakeRecognizer) Write([]int16) error             { return nil }
func (fakeRecognizer) Partial() string                 { return "" }
func (fakeRecognizer) Finish() (hearing.Result, error) { return hearing.Result{}, nil }
func (fakeRecognizer) Close() error                    { return nil }

type fakeSynthesizer struct{}

func (fakeSynthesizer) Voices() []string { return []string{"fake"} }
func (fakeSynthesizer) Close() error     { return nil }
func (fakeSynthesizer) SetRate(float64)  {}
func (fakeSynthesizer) Speak(ctx context.Context, _, text string, emit func([]int16, int) error) error {
	pcm := make([]int16, 1600)
	for i := range pcm {
		pcm[i] = int16(8000 * math.Sin(2*math.Pi*440*float64(i)/16000))
	}
	for range strings.Fields(text) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := emit(pcm, 16000); err != nil {
			return err
		}
	}
	return nil
}

const wordSamples = audio.SampleRate / 10

func words4(gen, seq uint32) Segment {
	return Segment{ID: audio.SegmentID{Gen: gen, Seq: seq}, Text: "one two three four"}
}

func dialLocal(t testing.TB, cfg Config) (*Client, *recorder) {
	t.Helper()
	r := newRecorder()
	c, err := Dial(context.Background(), cfg, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, r
}

// bothWays runs a test over each transport.
func bothWays(t *testing.T, test func(t *testing.T, over func(Config) Config)) {
	t.Helper()
	for name, over := range map[string]func(Config) Config{"WebRTC": func(cfg Config) Config { return cfg }, "WebSocket": overSocket} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, over)
		})
	}
}

// TestLocalSpeech checks that segments arrive complete and in order, and that each ends
// once.
func TestLocalSpeech(t *testing.T) { bothWays(t, speaksWhole) }

func speaksWhole(t *testing.T, over func(Config) Config) {
	_, cfg := startLocal(t, nil)
	c, r := dialLocal(t, over(cfg))
	for seq := range uint32(3) {
		c.Speak(words4(1, seq+1))
	}
	r.want(t, "audio 1.1", "ended 1.1", "audio 1.2", "ended 1.2", "audio 1.3", "ended 1.3")
	for seq := range uint32(3) {
		if got := r.samples(1, seq+1); got < 4*wordSamples || got > 4*wordSamples+2*packetSamples {
			t.Errorf("segment %d has %d samples, want %d", seq+1, got, 4*wordSamples)
		}
	}
	if s := c.Stats(); s.Unsolicited+s.Mismatches+s.Malformed+s.ServiceErrors+s.PacketsLost != 0 {
		t.Errorf("%+v", s)
	}
}

// TestLocalCancel checks that an interrupted segment is cut off, and that the next
// generation is delivered from its first to its last sample, repeatedly.
func TestLocalCancel(t *testing.T) { bothWays(t, isCutOff) }

func isCutOff(t *testing.T, over func(Config) Config) {
	_, cfg := startLocal(t, nil)
	c, r := dialLocal(t, over(cfg))
	for gen := range uint32(5) {
		c.Speak(words4(gen, 1))
		c.Speak(words4(gen, 2))
		name := words4(gen, 1).ID.String()
		if gen == 2 { // before any audio was delivered
			c.CancelSpeech(gen)
			continue
		}
		r.want(t, "audio "+name)
		if gen < 4 {
			c.CancelSpeech(gen)
			r.forget() // the segment may have ended before the cancel
			continue
		}
		r.want(t, "ended "+name, "audio 4.2", "ended 4.2")
	}
	for seq := range uint32(2) {
		if got := r.samples(4, seq+1); got < 4*wordSamples || got > 4*wordSamples+2*packetSamples {
			t.Errorf("segment 4.%d has %d samples, want %d", seq+1, got, 4*wordSamples)
		}
	}
	if s := c.Stats(); s.Unsolicited+s.ServiceErrors != 0 {
		t.Errorf("%+v", s)
	}
	r.none(t)
}

// TestLocalLoss checks that with one packet in seven lost, including some with the
// marker, each segment is heard and ends once.
func TestLocalLoss(t *testing.T) {
	_, cfg := startLocal(t, nil)
	cfg.WrapPacketConn = func(p net.PacketConn) net.PacketConn {
		return &faultyConn{PacketConn: p, lose: func(n int) bool { return n%7 == 0 }}
	}
	c, r := dialLocal(t, cfg)
	const segments = 7 // of 20 packets: marker number 1, 3, 5 ... of them is lost
	for seq := range uint32(segments) {
		c.Speak(words4(1, seq+1))
	}
	for seq := range uint32(segments) {
		name := words4(1, seq+1).ID.String()
		r.want(t, "audio "+name, "ended "+name)
		if got := r.samples(1, seq+1); got < 3*wordSamples || got > 5*wordSamples {
			t.Errorf("segment %s has %d samples, want about %d", name, got, 4*wordSamples)
		}
	}
	if s := c.Stats(); s.PacketsLost < 15 || s.PacketsConcealed != s.PacketsLost {
		t.Errorf("%+v", s)
	}
}

// countingConn counts sent packets.
type countingConn struct {
	net.PacketConn
	sent *atomic.Int64
}

func (c countingConn) WriteTo(p []byte, to net.Addr) (int, error) {
	c.sent.Add(1)
	return c.PacketConn.WriteTo(p, to)
}

// TestQuietCall checks that while nobody speaks, as in a suspended conversation, each
// side of a call sends little, because each packet wakes up both.
func TestQuietCall(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	count := func(p net.PacketConn) net.PacketConn { return countingConn{p, &sent} }
	_, cfg := startLocal(t, func(c *localrealtime.Config) { c.WrapPacketConn = count })
	cfg.WrapPacketConn = count
	dialLocal(t, cfg)
	// The caller's checks are 2 per second and the server's one per 2 s, and each gets
	// a reply. RTCP reports are rare and sent together. The first stretch of time has the
	// end of connection setup, which may take some more on a busy machine.
	var counts []int64
	for end := time.Now().Add(patience); time.Now().Before(end); {
		before := sent.Load()
		time.Sleep(2 * time.Second)
		n := sent.Load() - before
		if len(counts) > 0 && n >= 4 && n <= 20 {
			return
		}
		counts = append(counts, n)
	}
	t.Errorf("in stretches of 2 s of silence, %v packets were sent", counts)
}

func TestLocalHangUp(t *testing.T) { bothWays(t, isHungUpOn) }

func isHungUpOn(t *testing.T, over func(Config) Config) {
	s, cfg := startLocal(t, nil)
	cfg = over(cfg)
	_, r := dialLocal(t, cfg)
	s.HangUpAll()
	r.want(t, "lost connectionLost")
	c, r := dialLocal(t, cfg) // and again
	c.Speak(words4(1, 1))
	r.want(t, "audio 1.1", "ended 1.1")
}

func TestLocalWrongKey(t *testing.T) {
	_, cfg := startLocal(t, nil)
	cfg.Credentials = func(context.Context) (Credential, error) { return Credential{Value: "sk-other"}, nil }
	_, err := Dial(t.Context(), cfg, newRecorder())
	if e, ok := err.(*Error); !ok || e.Code != CodeAuthentication {
		t.Errorf("got %v", err)
	}
}

// TestLocalListens: a session that recognises only, as the service has it: what is committed is recognised, and
// it says nothing.
func TestLocalListens(t *testing.T) { bothWays(t, onlyListens) }

func onlyListens(t *testing.T, over func(Config) Config) {
	_, cfg := startLocal(t, func(c *localrealtime.Config) {
		c.Recognizer = func() (hearing.Recognizer, error) { return certainRecognizer{}, nil }
	})
	cfg.Dialect, cfg.TURN, cfg.Listens, cfg.NoLogprobs = OpenAI, TURN{}, true, true
	cfg.TurnDetection, cfg.Keywords, cfg.Languages = TurnDetection{Type: NoDetection}, []string{"parseConfig"}, []string{"en"}
	c, r := dialLocal(t, over(cfg))
	send(c, make([]int16, audio.SampleRate))
	c.CommitInput(7, audio.SampleRate, false)
	var calls []string
	for len(calls) == 0 || !strings.HasPrefix(calls[len(calls)-1], "final ") {
		calls = append(calls, receive(t, r.calls, "a call"))
	}
	if !slices.ContainsFunc(calls, func(s string) bool { return strings.HasPrefix(s, "committed 7 ") }) || !strings.Contains(calls[len(calls)-1], "run the tests") {
		t.Errorf("told %q", calls)
	}
	c.Speak(words4(1, 1))
	if got := receive(t, r.calls, "a call"); !strings.HasPrefix(got, "failed 1.1 ") {
		t.Errorf("told %q", got)
	}
}

// certainRecognizer hears the same in everything.
type certainRecognizer struct{ fakeRecognizer }

func (certainRecognizer) Finish() (hearing.Result, error) {
	return hearing.Result{Text: "run the tests"}, nil
}

// TestLocalEngines uses only real parts: human speech is sent and recognised; a
// sentence is sent and spoken.
func TestLocalEngines(t *testing.T) { hearAndSpeak(t, PathUDP, func(cfg Config) Config { return cfg }) }

// TestSocketEngines is TestLocalEngines over a WebSocket.
func TestSocketEngines(t *testing.T) { hearAndSpeak(t, PathWebSocket, overSocket) }

func hearAndSpeak(t *testing.T, path string, over func(Config) Config) {
	t.Helper()
	if _, err := opus.NewDecoder(); err != nil {
		t.Skip(err) // this build has no cgo
	}
	// From here on, missing files are a failure: make deps-test installs them.
	model, err := assets.Silero()
	if err != nil {
		t.Fatal(err)
	}
	runtime, err := assets.ONNXRuntime()
	if err != nil {
		t.Fatal(err)
	}
	const recording = "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0880.wav"
	synth, err := voices.Flite()()
	if err != nil {
		t.Fatal(err)
	}
	if err := synth.Close(); err != nil {
		t.Error(err)
	}
	pcm, err := wavio.ReadAll(recording) // "he was not an ill disposed young man"
	if err != nil {
		t.Fatal(err)
	}
	_, cfg := startLocal(t, func(c *localrealtime.Config) {
		c.Detector = func() (vad.Detector, error) { return vad.NewSilero(model, runtime) }
		c.Recognizer = hearing.PocketSphinx(assets.PocketSphinx)
		c.Synthesizer = voices.Flite()
	})
	cfg.TurnDetection = TurnDetection{Type: ServerVAD, Silence: 300 * time.Millisecond}
	c, r := dialLocal(t, over(cfg))
	if got := c.Stats().Path; got != path {
		t.Errorf("the call goes over %q, want %q", got, path)
	}

	send(c, append(pcm, make([]int16, audio.SampleRate)...))
	heard := map[string]string{}
	for heard["final"] == "" {
		call := receive(t, r.calls, "the transcript")
		kind, rest, _ := strings.Cut(call, " ")
		heard[kind] = rest
	}
	if heard["started"] == "" || heard["stopped"] == "" || !strings.Contains(heard["final"], "young man") {
		t.Errorf("heard %v", heard)
	}

	begin := time.Now()
	c.Speak(Segment{ID: audio.SegmentID{Gen: 1, Seq: 1}, Turn: 1, Text: "All tests of the parser pass."})
	r.want(t, "audio 1.1")
	first := time.Since(begin)
	r.want(t, "ended 1.1")
	seconds := float64(r.samples(1, 1)) / audio.SampleRate
	if seconds < 1 || seconds > 5 || r.loud[audio.SegmentID{Gen: 1, Seq: 1}] == 0 {
		t.Errorf("the sentence has %.1f s", seconds)
	}
	t.Logf("dial %+v; first audio %v after Speak; %.1f s of speech; %+v", c.Stats().Connect, first, seconds, c.Stats())
}

// send writes audio at four times real time, or as fast as the client sends it: its queue
// is sized for capture jitter, not for a whole recording.
func send(c *Client, pcm []int16) {
	tick := time.NewTicker(audio.FrameTime / 4)
	defer tick.Stop()
	var frame audio.Frame
	for len(pcm) >= len(frame) {
		copy(frame[:], pcm)
		pcm = pcm[len(frame):]
		c.WriteFrame(&frame)
		<-tick.C
		for len(c.up.full) > uplinkPackets/10 {
			<-tick.C
		}
	}
}

// BenchmarkDial measures the time to an established call, on loopback. Each server gets
// only as many calls as the burst of its rate limit allows.
func BenchmarkDial(b *testing.B) { bothTimed(b, timeDials) }

// bothTimed runs a benchmark over each transport.
func bothTimed(b *testing.B, run func(b *testing.B, over func(Config) Config)) {
	b.Run("WebRTC", func(b *testing.B) { run(b, func(cfg Config) Config { return cfg }) })
	b.Run("WebSocket", func(b *testing.B) { run(b, overSocket) })
}

func timeDials(b *testing.B, over func(Config) Config) {
	const callsPerServer = 20
	var cfg Config
	var sum ConnectTimes
	for calls := 0; b.Loop(); calls++ {
		if calls%callsPerServer == 0 {
			b.StopTimer()
			_, cfg = startLocal(b, nil)
			cfg = over(cfg)
			b.StartTimer()
		}
		c, err := Dial(context.Background(), cfg, newRecorder())
		if err != nil {
			b.Fatal(err)
		}
		t := c.Stats().Connect
		sum.Key += t.Key
		sum.Signalling += t.Signalling
		sum.ICE += t.ICE
		sum.Channel += t.Channel
		sum.Session += t.Session
		b.StopTimer()
		_ = c.Close()
		b.StartTimer()
	}
	for unit, d := range map[string]time.Duration{"key-ms": sum.Key, "signalling-ms": sum.Signalling, "ice-ms": sum.ICE,
		"channel-ms": sum.Channel, "session-ms": sum.Session} {
		b.ReportMetric(float64(d)/float64(b.N)/1e6, unit)
	}
}

// BenchmarkSpeak measures the time from Speak to the first decoded audio, on loopback
// and without a real synthesiser.
func BenchmarkSpeak(b *testing.B) { bothTimed(b, timeSpeech) }

func timeSpeech(b *testing.B, over func(Config) Config) {
	_, cfg := startLocal(b, nil)
	c, r := dialLocal(b, over(cfg))
	gen := uint32(0)
	for b.Loop() {
		gen++
		c.Speak(Segment{ID: audio.SegmentID{Gen: gen, Seq: 1}, Text: "one"})
		r.want(b, "audio "+words4(gen, 1).ID.String())
		b.StopTimer()
		r.want(b, "ended "+words4(gen, 1).ID.String())
		b.StartTimer()
	}
}
