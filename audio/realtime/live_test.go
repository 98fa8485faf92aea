package realtime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// liveSide drives the state machine with its own clock.
type liveSide struct {
	t *testing.T
	live
	now time.Time
}

func newLiveSide(t *testing.T) *liveSide { return &liveSide{t: t, now: time.Unix(1000, 0)} }

func (v *liveSide) event(format string, args ...any) {
	v.t.Helper()
	var e liveEvent
	if err := json.Unmarshal(fmt.Appendf(nil, format, args...), &e); err != nil {
		v.t.Fatal(err)
	}
	if !v.received(e, v.now) {
		v.t.Errorf("%+v is not understood", e)
	}
}

func (v *liveSide) hears(words string, from, to int) {
	v.t.Helper()
	v.event(`{"type":"session.input_transcript.delta","delta":%q,"start_ms":%d,"end_ms":%d}`, words, from, to)
}

func (v *liveSide) delegates(id string, offset int) {
	v.t.Helper()
	v.event(`{"type":"session.delegation.created","delegation":{"id":%q,"type":"delegation","target":"client"},"offset_ms":%d}`, id, offset)
}

// after advances the clock, stopping at each deadline.
func (v *liveSide) after(d time.Duration) {
	end := v.now.Add(d)
	for at := v.deadline(); !at.After(end); at = v.deadline() {
		v.now = at
		v.due(at)
	}
	v.now = end
}

func (v *liveSide) segment(turn uint64, gen, seq uint32, text string) {
	v.sent(responseCreate(Segment{ID: audio.SegmentID{Gen: gen, Seq: seq}, Turn: turn, Text: text}, ""), v.now)
}

// told returns what the loop and the service have received so far.
func (v *liveSide) told() (all []string) {
	for _, e := range v.out {
		switch e.Type {
		case "input_audio_buffer.speech_started":
			all = append(all, fmt.Sprintf("%s from %d", e.ItemID, e.AudioStartMs))
		case "input_audio_buffer.speech_stopped":
			all = append(all, fmt.Sprintf("%s to %d", e.ItemID, e.AudioEndMs))
		case "conversation.item.input_audio_transcription.delta":
		case "conversation.item.input_audio_transcription.completed":
			all = append(all, e.ItemID+" is "+e.Transcript)
		case "error":
			all = append(all, "error "+e.Error.Code+" of "+e.Error.EventID)
		default:
			all = append(all, e.Type+" "+e.Response.ID)
		}
	}
	for _, a := range v.say {
		to := "nobody"
		if a.DelegationID != nil {
			to = *a.DelegationID
		}
		all = append(all, fmt.Sprintf("%s to %s: %s", strings.TrimSuffix(strings.TrimPrefix(a.Type, "session."), ".append"), to, a.Content))
	}
	v.out, v.say = nil, nil
	return all
}

func (v *liveSide) wants(want ...string) {
	v.t.Helper()
	if got := v.told(); !slices.Equal(got, want) {
		v.t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The words up to a delegation are one utterance and are passed on once: late fragments
// belong to it, and those that begin later belong to the next.
func TestLiveWordsAreHandedOnOnce(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(*liveSide)
		want    []string
	}{
		"a delegation": {func(v *liveSide) {
			v.hears("open", 100, 400)
			v.hears(" the file", 400, 900)
			v.delegates("d1", 1200)
			v.after(time.Minute)
		}, []string{"live_1 from 100", "live_1 to 900", "live_1 is open the file"}},
		"words after the delegation": {func(v *liveSide) {
			v.hears("open", 100, 400)
			v.delegates("d1", 1200)
			v.after(100 * time.Millisecond)
			v.hears(" the file", 400, 900)
			v.after(time.Minute)
		}, []string{"live_1 from 100", "live_1 to 900", "live_1 is open the file"}},
		"all words after the delegation": {func(v *liveSide) {
			v.delegates("d1", 1200)
			v.hears("open it", 100, 900)
			v.after(lateWords)
		}, []string{"live_1 from 100", "live_1 to 900", "live_1 is open it"}},
		"the next words at once": {func(v *liveSide) {
			v.hears("open it", 100, 900)
			v.delegates("d1", 1200)
			v.hears("no", 1300, 1500)
			v.after(time.Minute)
		}, []string{"live_1 from 100", "live_1 to 900", "live_1 is open it", "live_2 from 1300", "live_2 to 1500", "live_2 is no"}},
		"a second delegation of the same words": {func(v *liveSide) {
			v.hears("open it", 100, 900)
			v.delegates("d1", 1200)
			v.after(time.Second)
			v.delegates("d2", 2200)
			v.after(time.Minute)
		}, []string{"live_1 from 100", "live_1 to 900", "live_1 is open it", "thinking to d1: The client took care of this. Say nothing about it."}},
		"no delegation": {func(v *liveSide) {
			v.hears("stop", 100, 400)
			v.after(undelegated - 1)
			v.hears(" it", 400, 500)
			v.after(undelegated)
			v.delegates("d1", 9000)
			v.after(time.Minute)
		}, []string{"live_1 from 100", "live_1 to 500", "live_1 is stop it"}},
		"a commit": {func(v *liveSide) {
			v.hears("open it", 100, 900)
			v.sent(inputCommit(7, 0, false, false), v.now)
			v.after(time.Second)
			v.hears(" now", 900, 1100)
			v.delegates("d1", 1500)
			v.after(time.Minute)
		}, []string{"live_1 from 100", "live_1 to 1100", "live_1 is open it now"}},
		"a commit before the words": {func(v *liveSide) {
			v.sent(inputCommit(7, 0, false, false), v.now)
			v.after(time.Second)
			v.hears("open it", 100, 900)
			v.after(time.Minute)
		}, []string{"live_1 from 100", "live_1 to 900", "live_1 is open it"}},
		"a commit of nothing": {func(v *liveSide) {
			v.sent(inputCommit(7, 0, false, false), v.now)
			v.after(time.Minute)
		}, []string{"error input_audio_buffer_commit_empty of commit_7"}},
		"what was said is dropped": {func(v *liveSide) {
			v.hears("open it", 100, 900)
			v.sent(inputClear, v.now)
			v.after(time.Minute)
		}, []string{"live_1 from 100"}},
	} {
		t.Run(name, func(t *testing.T) {
			v := newLiveSide(t)
			c.happens(v)
			v.wants(c.want...)
		})
	}
}

// A turn of the conversation answers the latest delegation, and no delegation is
// answered by two turns, despite interruptions, late answers and speech outside the
// conversation.
func TestLiveAnswersADelegationOnce(t *testing.T) {
	v := newLiveSide(t)
	v.delegates("d1", 1000)
	v.segment(0, 1<<31, 1, "Reconnected.") // outside the conversation
	v.segment(1, 1, 1, "One.")
	v.segment(1, 1, 2, "Two.")
	v.sent(responseCancel("speak_1_1"), v.now)
	v.sent(outputClear, v.now)
	v.wants("commentary to nobody: Reconnected.", "commentary to d1: One.", "commentary to d1: Two.",
		"thinking to d1: The user interrupted. Do not say the rest of the commentary so far.")
	v.segment(2, 2, 1, "Typed.") // a typed question
	v.delegates("d2", 2000)
	v.segment(2, 2, 2, "Still the typed one.")
	v.wants("commentary to nobody: Typed.", "commentary to nobody: Still the typed one.")
	v.delegates("d3", 3000) // a command handled d2
	v.segment(3, 3, 1, "Three.")
	v.segment(4, 4, 1, "Late.")
	v.wants("thinking to d2: The client took care of this. Say nothing about it.", "commentary to d3: Three.", "commentary to nobody: Late.")
}

// An accepted segment becomes its own response; a long text is sent in pieces.
func TestLiveAcceptsSegments(t *testing.T) {
	v := newLiveSide(t)
	long := strings.TrimSpace(strings.Repeat("word ", 150))
	v.segment(1, 3, 4, long)
	if len(v.say) != 2 || v.say[0].EventID != "speak_3_4" || v.say[1].EventID == "speak_3_4" || v.say[0].Content+" "+v.say[1].Content != long {
		t.Errorf("%+v", v.say)
	}
	v.told()
	for _, a := range []string{"speak_3_4", "part_1_of_speak_3_4", "nothing_d1"} {
		v.event(`{"type":"session.commentary.appended","client_event_id":%q,"start_ms":1,"end_ms":1}`, a)
	}
	v.wants("response.created speak_3_4", "response.done speak_3_4")
	v.event(`{"type":"error","error":{"type":"invalid_request_error","code":"too_long","message":"no","client_event_id":"speak_3_5"}}`)
	v.wants("error too_long of speak_3_5")
}

// TestFormsOfLiveEvents checks that the client's events have the form validated by
// internal/official.
func TestFormsOfLiveEvents(t *testing.T) {
	v := newLiveSide(t)
	v.segment(0, 1, 1, "All tests pass.")
	v.delegates("d1", 1000)
	v.segment(1, 1, 2, "All tests pass.")
	v.delegates("d2", 2000)
	v.delegates("d3", 3000)
	sent := []any{liveCall{
		Session:   wantedLive(Config{Model: "gpt-live-1", Voice: "marin", Language: "en", TranscriptionPrompt: "goroutine, gopls"}),
		Transport: liveTransport{Type: "webrtc", SDP: "v=0"},
	}}
	for _, a := range v.say {
		sent = append(sent, a)
	}
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	for _, e := range sent {
		if err := enc.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	const golden = "testdata/live.jsonl"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%v; the events are\n%swant\n%s\nif that is meant, run go test ./audio/realtime -run Forms -update", err, got.Bytes(), want)
	}
}

// startLive runs the Live side of the embedded server. It recognises one word per 200
// ms of loud sound.
func startLive(t *testing.T, change func(*localrealtime.Config)) Config {
	t.Helper()
	_, cfg := startLocal(t, func(c *localrealtime.Config) {
		c.Detector = func() (vad.Detector, error) { return loudDetector{}, nil }
		c.Recognizer = func() (hearing.Recognizer, error) { return &countingRecognizer{}, nil }
		if change != nil {
			change(c)
		}
	})
	cfg.Dialect = Live
	return cfg
}

// loudDetector detects a voice where the audio is loud.
type loudDetector struct{ fakeDetector }

func (loudDetector) Process(window []int16) (float32, error) {
	var sum float64
	for _, s := range window {
		sum += float64(s) * float64(s)
	}
	if math.Sqrt(sum/float64(len(window))) > 1000 {
		return 1, nil
	}
	return 0, nil
}

// countingRecognizer recognises numbered words in any audio.
type countingRecognizer struct {
	fakeRecognizer
	heard int
}

func (r *countingRecognizer) Start() error            { r.heard = 0; return nil }
func (r *countingRecognizer) Write(pcm []int16) error { r.heard += len(pcm); return nil }
func (r *countingRecognizer) Partial() string         { return "" }
func (r *countingRecognizer) Finish() (hearing.Result, error) {
	return hearing.Result{Text: "open the file"}, nil
}

// speaksInto sends a loud sound followed by silence, in real time.
func speaksInto(t *testing.T, c *Client) {
	t.Helper()
	pacer := audio.NewPacer(1)
	for i := range 60 { // 600 ms of each
		if err := pacer.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		var f audio.Frame
		if i < 30 {
			for n := range f {
				f[n] = int16(12000 * math.Sin(2*math.Pi*440*float64(n)/audio.SampleRate))
			}
		}
		c.WriteFrame(&f)
	}
}

// silence sends silence until stop is closed.
func silence(c *Client, stop <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.WriteFrame(&audio.Frame{})
		case <-stop:
			return
		}
	}
}

// A turn over a Live session: the user's words arrive once, the answer is spoken
// completely, and after an interruption only the next answer is played.
//
//test:long
func TestLiveConversation(t *testing.T) {
	cfg := startLive(t, nil)
	var paid meter
	cfg.Meter = func() Meter { return &paid }
	cfg.Used = func(u Usage) { t.Errorf("used %+v beside the meter", u) }
	c, r := dialLocal(t, cfg)
	if at, ok := c.Expires(); !ok || time.Until(at) > localrealtime.DefaultSessionLimit {
		t.Errorf("the session ends at %v", at)
	}
	speaksInto(t, c)
	stop, done := make(chan struct{}), make(chan struct{})
	go silence(c, stop, done)
	defer func() { close(stop); <-done }()
	started := receive(t, r.calls, "the user's voice")
	if !strings.HasPrefix(started, "started live_1 ") {
		t.Errorf("told %q", started)
	}
	for _, want := range []string{`partial live_1 "open the file"`, "stopped live_1 ", `final live_1 "open the file"`} {
		if got := receive(t, r.calls, want); !strings.HasPrefix(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	s := words4(1, 1)
	s.Turn = 1
	c.Speak(s)
	r.want(t, "audio 1.1", "ended 1.1")
	if got := r.samples(1, 1); got < 4*wordSamples || got > 4*wordSamples+2*packetSamples {
		t.Errorf("the answer has %d samples, want %d", got, 4*wordSamples)
	}
	long := Segment{ID: audio.SegmentID{Gen: 2, Seq: 1}, Turn: 2, Text: strings.TrimSpace(strings.Repeat("on ", 20))}
	c.Speak(long)
	r.want(t, "audio 2.1")
	c.CancelSpeech(2)
	s.ID.Gen, s.Turn = 3, 3
	c.Speak(s) // after what the service still speaks of the previous answer
	r.want(t, "audio 3.1", "ended 3.1")
	if got := r.samples(3, 1); got < 4*wordSamples || got > 4*wordSamples+2*packetSamples {
		t.Errorf("the next answer has %d samples, want %d", got, 4*wordSamples)
	}
	if s := c.Stats(); s.Malformed+s.ServiceErrors+s.Unsolicited != 0 {
		t.Errorf("%+v", s)
	}
	if paid.reported.Load() == 0 || paid.closed.Load() != 0 {
		t.Errorf("the meter was told %v, and closed %d times", time.Duration(paid.reported.Load()), paid.closed.Load())
	}
}

// A Live session that reaches its limit is distinguished from one that broke.
func TestLiveSessionEnds(t *testing.T) {
	// On a busy machine, the dial may take longer than the first limit.
	for limit := time.Second; limit < patience; limit *= 2 {
		cfg := startLive(t, func(c *localrealtime.Config) { c.SessionLimit = limit })
		r := newRecorder()
		c, err := Dial(t.Context(), cfg, r)
		if err != nil {
			continue
		}
		defer func() { _ = c.Close() }()
		r.want(t, "lost "+CodeSessionExpired)
		return
	}
	t.Error("no dial succeeded")
}

// A free service speaks two segments without a break: the second begins at a pause, but
// not at one in the middle of the first, and the last one ends with silence.
func TestSegmentsOfAFreeService(t *testing.T) {
	s, now := speech{free: true}, time.Unix(1000, 0)
	var told []string
	note := func() {
		for _, a := range s.take() {
			told = append(told, fmt.Sprintf("%s %s", map[actionKind]string{actCreate: "create", actEnded: "ended", actFailed: "failed"}[a.kind], a.seg.ID))
		}
	}
	accept := func(id string, of Segment) {
		meta := map[string]string{metaGeneration: fmt.Sprint(of.ID.Gen), metaSegment: fmt.Sprint(of.ID.Seq)}
		s.created(id, meta, now)
		s.done(id, "", now)
	}
	sound := func(ms int, silent bool) {
		for range ms / 20 {
			now = now.Add(20 * time.Millisecond)
			owner, ok := s.audio(chunk{pcm: make([]int16, packetSamples), silent: silent}, now)
			note() // as in the loop: the end of the previous segment comes first
			if line := fmt.Sprintf("audio %s", owner); ok && !silent && told[len(told)-1] != line {
				told = append(told, line)
			}
			s.settle(now)
			note()
		}
	}
	s.speak(seg(1, 1), now) // 15 characters: at least 600 ms
	s.speak(seg(1, 2), now)
	note()
	accept("a", seg(1, 1))
	sound(400, false)
	accept("b", seg(1, 2))
	sound(300, true)
	sound(400, false)
	sound(300, true)
	sound(800, false)
	sound(int(livePause.Milliseconds())+20, true)
	want := []string{"create 1.1", "audio 1.1", "create 1.2", "audio 1.1", "ended 1.1", "audio 1.2", "ended 1.2"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
