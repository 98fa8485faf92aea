package realtime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/rtp"
	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

func TestUplinkTimestampsArePositions(t *testing.T) {
	f := newFakeService(t)
	c, r := connect(t, f, f.config(Local))
	var frame audio.Frame
	for i := range 21 { // the last frame is half a packet, which is not sent
		for j := range frame {
			frame[j] = int16(i*100 + j)
		}
		c.WriteFrame(&frame)
	}
	if got := c.Position(); got != 21*audio.FrameSamples {
		t.Errorf("position %d", got)
	}
	var first *rtp.Packet
	for i := range 10 {
		p := receive(t, f.rtp, "a packet")
		if first == nil {
			first = p
		}
		if p.Timestamp != uint32(i*packetSamples) || p.SequenceNumber != first.SequenceNumber+uint16(i) || p.Marker != (i == 0) {
			t.Fatalf("packet %d has timestamp %d, sequence number %d, marker %v", i, p.Timestamp, p.SequenceNumber, p.Marker)
		}
	}
	// The service's speech positions map to positions in the written audio.
	f.emit(`{"type":"input_audio_buffer.speech_started","event_id":"e","item_id":"i1","audio_start_ms":100}`)
	f.emit(`{"type":"input_audio_buffer.speech_stopped","event_id":"e","item_id":"i1","audio_end_ms":200}`)
	r.want(t, "started i1 4800", "stopped i1 9600")
	waitFor(t, "10 packets to be counted as sent", func() bool { return c.Stats().PacketsSent == 10 })
	if s := c.Stats(); s.PacketsDropped != 0 {
		t.Errorf("%+v", s)
	}
}

// TestUplinkNeverBlocks checks that without a sender the newest audio is dropped,
// positions advance, and nothing is allocated.
func TestUplinkNeverBlocks(t *testing.T) {
	u := newUplink()
	var frame audio.Frame
	const packets = uplinkPackets + 10
	for range 2 * packets {
		u.write(&frame)
	}
	if got := u.pos.Load(); got != packets*packetSamples {
		t.Errorf("position %d", got)
	}
	if got := u.dropped.Load(); got != 10 {
		t.Errorf("%d packets dropped", got)
	}
	u.free <- <-u.full
	u.write(&frame)
	if want := int64(packets * packetSamples); u.cur.pos != want {
		t.Errorf("the next packet is at %d, want %d", u.cur.pos, want)
	}
	if n := testing.AllocsPerRun(100, func() { u.write(&frame) }); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func TestTranscripts(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	_, r := connect(t, f, f.config(OpenAI))
	const kind = "conversation.item.input_audio_transcription."
	f.emit(`{"type":"` + kind + `delta","event_id":"e","item_id":"i1","content_index":0,"delta":"run the"}`)
	f.emit(`{"type":"` + kind + `delta","event_id":"e","item_id":"i2","content_index":0,"delta":"other"}`)
	f.emit(`{"type":"` + kind + `delta","event_id":"e","item_id":"i1","content_index":0,"delta":" tests"}`)
	f.emit(`{"type":"` + kind + `completed","event_id":"e","item_id":"i1","content_index":0,"transcript":"Run the tests.","usage":{"type":"duration","seconds":1}}`)
	f.emit(`{"type":"` + kind + `completed","event_id":"e","item_id":"i4","transcript":"sure it","logprobs":[{"token":"sure","logprob":0.2},{"token":" it","logprob":-0.6931472}]}`)
	f.emit(`{"type":"` + kind + `failed","event_id":"e","item_id":"i2","content_index":0,"error":{"type":"server_error","code":"audio_unintelligible","message":"m"}}`)
	f.emit(`{"type":"` + kind + `failed","event_id":"e","item_id":"i3","content_index":0,"error":{"code":"Text of the SERVICE","message":"m"}}`)
	r.want(t, `partial i1 "run the"`, `partial i2 "other"`, `partial i1 "run the tests"`, `final i1 "Run the tests."`, `final i4 "sure it" [1.000 0.500]`,
		"nottranscribed i2 audio_unintelligible", "nottranscribed i3 transcriptionFailed")
}

func TestCommitAndClear(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	c, _ := connect(t, f, f.config(OpenAI))
	c.CommitInput(1, 0, false)
	c.ClearInput()
	f.expect("input_audio_buffer.commit")
	f.expect("input_audio_buffer.clear")
}

// TestEmptyCommitNamesItsUtterance checks that a service without audio to commit
// reports that instead of a transcript, and that the utterance is identified.
func TestEmptyCommitNamesItsUtterance(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	c, r := connect(t, f, f.config(OpenAI))
	c.CommitInput(3, 0, false)
	id := f.expect("input_audio_buffer.commit")["event_id"]
	f.emit(fmt.Sprintf(`{"type":"error","event_id":"e","error":{"type":"invalid_request_error","code":"input_audio_buffer_commit_empty","message":"m","event_id":%q}}`, id))
	r.want(t, "empty 3")
	if n := c.Stats().ServiceErrors; n != 0 {
		t.Errorf("%d service errors, want 0: a commit that crosses the service's own is no fault", n)
	}
}

// TestSpeakShape checks the request for a segment against the public reference.
func TestSpeakShape(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	c, _ := connect(t, f, f.config(OpenAI))
	c.Speak(Segment{ID: audio.SegmentID{Gen: 3, Seq: 4}, Turn: 7, Text: "All tests pass."})
	b, _ := json.Marshal(f.expect("response.create"))
	instructions, _ := json.Marshal(verbatim)
	jsonEqual(t, "response.create", b, `{"type":"response.create","event_id":"speak_3_4","response":{"conversation":"none",
		"output_modalities":["audio"],"metadata":{"turn":"7","segment":"4","generation":"3"},"instructions":`+string(instructions)+`,
		"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"All tests pass."}]}]}}`)
}

func TestSpeakWithMarkers(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	c, r := connect(t, f, f.config(Local))
	c.Speak(seg(1, 1))
	c.Speak(seg(1, 2))
	f.expect("response.create")
	f.emit(created("r1", seg(1, 1)))
	f.sound(10, true)
	r.want(t, "audio 1.1")
	f.emit(done("r1", "completed"))
	f.expect("response.create")
	f.emit(created("r2", seg(1, 2)))
	f.emit(done("r2", "completed"))
	f.sound(5, true)
	f.emit(buffer("stopped", "r2"))
	r.want(t, "ended 1.1", "audio 1.2", "ended 1.2")
	if a, b := r.samples(1, 1), r.samples(1, 2); a != 10*packetSamples || b != 5*packetSamples {
		t.Errorf("%d and %d samples were delivered", a, b)
	}
	if s := c.Stats(); s.PacketsReceived != 15 || s.PacketsLost != 0 || s.PacketsConcealed != 0 {
		t.Errorf("%+v", s)
	}
}

// TestSpeakByEvents covers a service that sends RTP during silence, no markers and no
// output_audio_buffer events.
func TestSpeakByEvents(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	c, r := connect(t, f, f.config(OpenAI))
	silence := &[2]audio.Frame{}
	for range 5 {
		f.packet(silence, true)
	}
	c.Speak(seg(1, 1))
	c.Speak(seg(1, 2))
	f.expect("response.create")
	f.emit(created("r1", seg(1, 1)))
	echo(f, r)
	for range 5 {
		f.packet(silence, true)
	}
	f.sound(10, true)
	f.emit(done("r1", "completed"))
	r.want(t, "audio 1.1", "ended 1.1")
	f.expect("response.create")
	f.emit(created("r2", seg(1, 2)))
	echo(f, r)
	f.sound(10, false)
	f.emit(done("r2", "completed"))
	r.want(t, "audio 1.2", "ended 1.2")
	if got := r.samples(1, 1); got != 10*packetSamples {
		t.Errorf("%d samples were delivered: leading silence is not part of a segment", got)
	}
}

// echo makes a round trip on the data channel: everything sent earlier has been handled
// when it returns.
func echo(f *fakeService, r *recorder) {
	f.t.Helper()
	f.emit(`{"type":"conversation.item.input_audio_transcription.completed","event_id":"e","item_id":"echo","transcript":""}`)
	r.want(f.t, `final echo ""`)
}

// waitFor polls for a condition that no event announces.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("%s: never", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestCancelSpeech(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	c, r := connect(t, f, f.config(Local))
	c.Speak(seg(1, 1))
	c.Speak(seg(1, 2))
	f.expect("response.create")
	f.emit(created("r1", seg(1, 1)))
	echo(f, r)
	f.sound(5, true)
	r.want(t, "audio 1.1")
	waitFor(t, "all audio", func() bool { return r.samples(1, 1) == 5*packetSamples })

	c.CancelSpeech(1)
	c.Speak(seg(1, 3)) // too late
	c.Speak(seg(2, 1))
	if e := f.expect("response.cancel"); e["response_id"] != "r1" {
		t.Errorf("%v was cancelled", e["response_id"])
	}
	f.expect("output_audio_buffer.clear")
	f.sound(5, false) // already in progress
	f.emit(`{"type":"response.done","event_id":"e","response":{"id":"r1","status":"cancelled","status_details":{"type":"cancelled","reason":"client_cancelled"}}}`)
	f.emit(buffer("cleared", "r1"))
	e := f.expect("response.create")
	if e["event_id"] != "speak_2_1" {
		t.Errorf("%v was asked for", e["event_id"])
	}
	f.sound(5, false) // still dropped
	f.emit(created("r2", seg(2, 1)))
	f.sound(5, true)
	f.emit(done("r2", "completed"))
	f.emit(buffer("stopped", "r2"))
	r.want(t, "audio 2.1", "ended 2.1")
	if a, b := r.samples(1, 1), r.samples(2, 1); a != 5*packetSamples || b != 5*packetSamples {
		t.Errorf("%d samples of the cancelled segment and %d of the next were delivered", a, b)
	}
}

func TestUnsolicitedResponse(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	c, r := connect(t, f, f.config(LocalAI))
	f.emit(`{"type":"response.created","event_id":"e","response":{"id":"x1","conversation_id":"conv_1"}}`)
	if e := f.expect("response.cancel"); e["response_id"] != "x1" {
		t.Errorf("%v was cancelled", e["response_id"])
	}
	f.expect("output_audio_buffer.clear")
	f.sound(5, false)
	f.emit(done("x1", "cancelled"))
	c.Speak(seg(1, 1))
	f.expect("response.create")
	f.emit(created("r1", seg(1, 1)))
	echo(f, r)
	f.sound(3, false)
	f.emit(done("r1", "completed"))
	r.want(t, "audio 1.1", "ended 1.1")
	if got := r.samples(1, 1); got != 3*packetSamples {
		t.Errorf("%d samples were delivered", got)
	}
	if s := c.Stats(); s.Unsolicited != 1 {
		t.Errorf("%+v", s)
	}
}

// TestSpeechErrors covers an error event for a request, a failed response, and a model
// that answers instead of reading, which is reported but still played.
func TestSpeechErrors(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	var logged lockedBuffer
	cfg := f.config(OpenAI)
	cfg.Log = zerolog.New(&logged)
	c, r := connect(t, f, cfg)
	c.Speak(seg(1, 1))
	f.expect("response.create")
	f.emit(`{"type":"error","event_id":"e","error":{"type":"invalid_request_error","code":"rate_limit_exceeded","message":"key ` + canary + `","event_id":"speak_1_1"}}`)
	r.want(t, "failed 1.1 rate_limit_exceeded")

	c.Speak(seg(1, 2))
	f.expect("response.create")
	f.emit(created("r2", seg(1, 2)))
	f.emit(`{"type":"response.done","event_id":"e","response":{"id":"r2","status":"failed","status_details":{"type":"failed","error":{"type":"server_error","code":"out_of_voices"}}}}`)
	r.want(t, "failed 1.2 out_of_voices")
	f.expect("output_audio_buffer.clear")

	c.Speak(seg(1, 3))
	f.expect("response.create")
	f.emit(created("r3", seg(1, 3)))
	f.emit(`{"type":"response.output_audio_transcript.done","event_id":"e","response_id":"r3","item_id":"i","output_index":0,"content_index":0,"transcript":"Great, what shall we do next?"}`)
	r.want(t, "mismatch 1.3 from 0")
	f.emit(done("r3", "completed"))
	f.sound(10, true)
	r.want(t, "audio 1.3", "ended 1.3")

	f.emit(`{"type":"error","event_id":"e","error":{"type":"invalid_request_error","code":"` + strings.ToUpper(canary) + `","message":"m"}}`)
	f.emit(`{"type":"error","event_id":"e","error":{"type":"invalid_request_error","code":"response_cancel_not_active","message":"m"}}`)
	echo(f, r)
	if s := c.Stats(); s.Mismatches != 1 || s.ServiceErrors != 2 {
		t.Errorf("%+v", s)
	}
	noSecret(t, logged.String())
	if strings.Contains(logged.String(), "Great") || strings.Contains(logged.String(), "tests pass") {
		t.Errorf("text is in the log: %s", logged.String())
	}
}

// lockedBuffer is a log that the test can read while the loop writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestMalformedEvents(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	c, r := connect(t, f, f.config(OpenAI))
	bad := []string{``, `{`, `[]`, `null`, `{"type":5}`, `{"type":""}`, `{"type":"response.created"}`, `{"type":"response.done","response":7}`,
		`{"type":"input_audio_buffer.speech_started"}`, `{"type":"input_audio_buffer.speech_stopped","item_id":""}`,
		`{"type":"conversation.item.input_audio_transcription.delta","delta":"x"}`,
		`{"type":"conversation.item.input_audio_transcription.completed"}`,
		`{"type":"conversation.item.input_audio_transcription.failed"}`,
		`{"type":"response.output_audio_transcript.done","transcript":"x"}`}
	for _, e := range bad {
		f.emit(e)
	}
	f.emit(`{"type":"something.new","event_id":"e"}`)                                             // allowed
	f.emit(`{"type":"response.output_audio.delta","delta":"` + strings.Repeat("A", 4<<20) + `"}`) // a whole utterance in one event
	echo(f, r)
	if s := c.Stats(); s.Malformed != uint64(len(bad)) {
		t.Errorf("%d malformed events were counted, want %d", s.Malformed, len(bad))
	}
}

// faultyConn is a failing network: it drops RTP packets to the client, numbered by
// arrival, or everything in both directions.
type faultyConn struct {
	net.PacketConn
	lose func(n int) bool
	n    int
	gone atomic.Bool
}

func (c *faultyConn) WriteTo(p []byte, to net.Addr) (int, error) {
	if c.gone.Load() {
		return len(p), nil
	}
	return c.PacketConn.WriteTo(p, to)
}

func (c *faultyConn) ReadFrom(p []byte) (int, net.Addr, error) {
	for {
		n, from, err := c.PacketConn.ReadFrom(p)
		if err == nil && (c.gone.Load() || c.lost(p[:n])) {
			continue
		}
		return n, from, err
	}
}

// lost distinguishes RTP from other protocols by RFC 7983, and from RTCP by RFC 5761.
func (c *faultyConn) lost(p []byte) bool {
	if c.lose == nil || len(p) < 12 || p[0] < 128 || p[0] > 191 || p[1] >= 192 && p[1] <= 223 {
		return false
	}
	c.n++
	return c.lose(c.n - 1)
}

func TestPacketLoss(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	cfg := f.config(Local)
	cfg.WrapPacketConn = func(p net.PacketConn) net.PacketConn {
		return &faultyConn{PacketConn: p, lose: func(n int) bool { return n == 5 || n == 10 || n == 11 }}
	}
	c, r := connect(t, f, cfg)
	c.Speak(seg(1, 1))
	f.expect("response.create")
	f.emit(created("r1", seg(1, 1)))
	f.sound(20, true)
	f.emit(done("r1", "completed"))
	f.emit(buffer("stopped", "r1"))
	r.want(t, "audio 1.1", "ended 1.1")
	if got := r.samples(1, 1); got != 20*packetSamples {
		t.Errorf("%d samples were delivered, want all 20 packets' worth", got)
	}
	if s := c.Stats(); s.PacketsReceived != 17 || s.PacketsLost != 3 || s.PacketsConcealed != 3 {
		t.Errorf("%+v", s)
	}
	if loud := r.loud[audio.SegmentID{Gen: 1, Seq: 1}]; loud < 19*packetSamples*9/10 {
		t.Errorf("only %d samples are loud: the losses are holes", loud)
	}
}

// TestLost checks that each way in which a call can break is reported once.
func TestLost(t *testing.T) {
	t.Parallel()
	for name, breakIt := range map[string]func(*fakeService, *faultyConn){
		"the service closes the connection": func(f *fakeService, _ *faultyConn) { _ = f.pc.Close() },
		"the service closes the channel":    func(f *fakeService, _ *faultyConn) { f.must((<-f.channel).Close()) },
		"the network is gone":               func(_ *fakeService, n *faultyConn) { n.gone.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeService(t)
			cfg := f.config(Local)
			var conn *faultyConn
			cfg.WrapPacketConn = func(p net.PacketConn) net.PacketConn {
				conn = &faultyConn{PacketConn: p}
				return conn
			}
			c, r := connect(t, f, cfg)
			breakIt(f, conn)
			r.want(t, "lost connectionLost")
			// The client is unusable, and its methods do nothing.
			c.Speak(seg(1, 1))
			c.CancelSpeech(1)
			c.CommitInput(1, 0, false)
			var frame audio.Frame
			for range 4 * uplinkPackets {
				c.WriteFrame(&frame)
			}
			_ = c.Close()
			r.none(t)
		})
	}
}

func TestCloseIsFinal(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	c, r := connect(t, f, f.config(Local))
	c.Speak(seg(1, 1))
	f.expect("response.create")
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	c.Speak(seg(1, 2))
	r.none(t)
	if s := c.Stats(); s.Connect.Total == 0 {
		t.Error("the figures are gone")
	}
	if reqs := f.seen(); !strings.HasSuffix(reqs[len(reqs)-1].path, "/hangup") {
		t.Error(fmt.Sprint("the call was not hung up: ", reqs[len(reqs)-1].path))
	}
}

// Audio that arrives before the event that names its response waits for the event, so
// the beginning of a segment is not lost on a busy machine or a network that delays the
// event.
func TestAudioOvertakesItsResponse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of    Segment
		heard int
	}{
		"of the segment": {seg(1, 1), 20 * packetSamples},
		"of nobody":      {seg(9, 9), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeService(t)
			client, r := connect(t, f, f.config(OpenAI))
			client.Speak(seg(1, 1))
			f.expect("response.create")
			f.sound(20, true)
			waitFor(t, "20 packets", func() bool { return client.Stats().PacketsReceived == 20 })
			r.none(t)
			f.emit(created("resp_1", c.of))
			if c.heard == 0 {
				f.expect("response.cancel")
				r.none(t)
				return
			}
			r.want(t, "audio 1.1")
			waitFor(t, "all of the audio", func() bool { return r.samples(1, 1) == c.heard })
		})
	}
}
