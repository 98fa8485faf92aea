//go:build cgo

package localrealtime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/pion/ice/v4"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/audio/engine/sherpa"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
)

const testKey = "test-key"

// patience is the timeout of every wait for an event. It is long, because a busy machine
// is slow; only a failing test waits that long.
const patience = time.Minute

// childEnv makes the test binary run as the child process of a speech engine.
const childEnv = "AGENTVOICE_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		goleak.VerifyTestMain(m)
	}
	if err := engine.Serve(os.Args[1:], os.Stdin, os.Stdout, func(engine.Model) engine.Loader { return sherpa.Load }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	syscall.Exit(0) // os.Exit runs destructors under the race detector, while a model may still be loading
}

// harness is a server with its HTTP side and, by default, fake engines.
type harness struct {
	*Server
	engines *fakeEngines
	web     *httptest.Server
}

func start(t *testing.T, change ...func(*Config)) *harness {
	t.Helper()
	e := newFakeEngines()
	cfg := Config{
		Recognizer: e.recognizer, Synthesizer: e.synthesizer, Detector: e.detector,
		APIKey: testKey, Speed: 10, Log: zerolog.New(zerolog.NewTestWriter(t)),
	}
	for _, f := range change {
		f(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	// A test process that gets no processor time for 200 ms must not look like a caller who
	// stopped sending.
	s.stallSlack = time.Hour
	h := &harness{Server: s, engines: e, web: httptest.NewServer(s.Handler())}
	t.Cleanup(func() {
		h.web.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if made, closed := e.made.Load(), e.closed.Load(); made != closed {
			t.Errorf("%d engines were made and %d closed", made, closed)
		}
	})
	return h
}

// event is one event of the server, loosely typed.
type event struct {
	Type         string          `json:"type"`
	EventID      string          `json:"event_id"`
	ItemID       string          `json:"item_id"`
	ResponseID   string          `json:"response_id"`
	AudioStartMs int64           `json:"audio_start_ms"`
	AudioEndMs   int64           `json:"audio_end_ms"`
	Delta        string          `json:"delta"`
	Transcript   string          `json:"transcript"`
	Answer       *hearing.Answer `json:"answer"`
	Joined       *joined         `json:"joined"`
	Logprobs     []logprob
	Previous     string `json:"previous_item_id"`
	Session      session
	CallID       string `json:"call_id"`
	Name         string
	Arguments    string
	Item         struct {
		ID, Role, Status string
		Content          []struct{ Transcript string }
	}
	Response struct {
		ID, Status string
		Output     []struct{ Type, ID string }
		Usage      usage
		Metadata   map[string]string
		Audio      struct {
			Output struct {
				Voice  string
				Format audioFormat
			}
		}
		StatusDetails struct {
			Reason string
			Error  struct{ Message string }
		} `json:"status_details"`
	}
	Usage struct{ Seconds float64 }
	Error struct {
		Code, Param, Message string
		EventID              string `json:"event_id"`
	}
	// Live API
	ClientEventID string `json:"client_event_id"`
	StartMs       int64  `json:"start_ms"`
	EndMs         int64  `json:"end_ms"`
	Reason        string
	Delegation    struct{ ID, Target string }

	at time.Time
}

// peer is a client, either pion or WebSocket; for WebSocket only t, ws and events are
// set.
type peer struct {
	t        *testing.T
	ws       *websocket.Conn
	pc       *webrtc.PeerConnection
	dc       *webrtc.DataChannel
	mic      *webrtc.TrackLocalStaticRTP
	events   chan event
	rules    wireRules
	live     bool // a Live session, which has other rules
	packets  chan *rtp.Packet
	location string
	opened   time.Time

	server  *harness // runs the call that say speaks to
	encoder *opus.Encoder
	header  rtp.Header
	// ahead lets say run ahead of the recogniser and the Listener, for tests in which
	// they are slow.
	ahead bool
}

// firstTimestamp and firstSequence are those of a peer's first packet. Both wrap around soon.
const (
	firstTimestamp = 1<<32 - 96000
	firstSequence  = 65500
)

// newPeer returns a peer and its offer.
func newPeer(t *testing.T) (*peer, string) {
	t.Helper()
	var se webrtc.SettingEngine
	se.SetIncludeLoopbackCandidate(true)
	se.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	se.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	se.SetIPFilter(net.IP.IsLoopback)
	var me webrtc.MediaEngine
	if err := me.RegisterDefaultCodecs(); err != nil {
		t.Fatal(err)
	}
	pc, err := webrtc.NewAPI(webrtc.WithSettingEngine(se), webrtc.WithMediaEngine(&me)).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pc.GracefulClose() })
	p := &peer{t: t, pc: pc, events: make(chan event, 1000), packets: make(chan *rtp.Packet, 10000)}
	if p.mic, err = webrtc.NewTrackLocalStaticRTP(opusCapability, "audio", "mic"); err != nil {
		t.Fatal(err)
	}
	if p.encoder, err = opus.NewEncoder(opus.Config{FEC: true}); err != nil {
		t.Fatal(err)
	}
	p.header = rtp.Header{Version: 2, SequenceNumber: firstSequence, Timestamp: firstTimestamp}
	if _, err := pc.AddTrack(p.mic); err != nil {
		t.Fatal(err)
	}
	if p.dc, err = pc.CreateDataChannel(eventChannel, nil); err != nil {
		t.Fatal(err)
	}
	p.dc.OnMessage(func(m webrtc.DataChannelMessage) { p.onMessage(m.Data) })
	pc.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		for {
			packet, _, err := track.ReadRTP()
			if err != nil {
				return
			}
			p.packets <- packet
		}
	})
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	gathered := webrtc.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(offer); err != nil {
		t.Fatal(err)
	}
	<-gathered
	return p, pc.LocalDescription().SDP
}

// onMessage checks that the event has the form validated by internal/official and
// follows the wire rules.
func (p *peer) onMessage(data []byte) {
	if err := checkForm(data); err != nil {
		p.t.Error(err)
	}
	e := event{at: time.Now()}
	if err := json.Unmarshal(data, &e); err != nil {
		p.t.Errorf("%s: %v", data, err)
	}
	if broken := p.rules.take(e); broken != "" && !p.live {
		p.t.Errorf("%s, and %s came", broken, data)
	}
	p.events <- e
}

// do sends a request and returns the whole response.
func (h *harness) do(t *testing.T, method, path, key, kind string, body io.Reader) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequest(method, h.web.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", kind)
	res, err := h.web.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, b
}

// call connects with a form that contains the offer and the session, as the public
// client library does.
func (h *harness) call(t *testing.T, session string) *peer {
	t.Helper()
	began := time.Now()
	p, offer := newPeer(t)
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for _, f := range []struct{ name, kind, value string }{{"sdp", "application/sdp", offer}, {"session", "application/json", session}} {
		part, err := w.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {fmt.Sprintf("form-data; name=%q", f.name)}, "Content-Type": {f.kind},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(part, f.value)
	}
	_ = w.Close()
	res, answer := h.do(t, http.MethodPost, "/v1/realtime/calls", testKey, w.FormDataContentType(), &form)
	if res.StatusCode != http.StatusCreated {
		t.Fatalf("%s: %s", res.Status, answer)
	}
	p.location, p.server = res.Header.Get("Location"), h
	p.accept(string(answer))
	p.next("session.created")
	p.opened = time.Now()
	t.Logf("connected in %v", time.Since(began).Round(time.Millisecond))
	return p
}

func (p *peer) accept(answer string) {
	p.t.Helper()
	if err := p.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}); err != nil {
		p.t.Fatal(err)
	}
}

// next waits for the next event, which must have the given type.
func (p *peer) next(kind string) event {
	p.t.Helper()
	select {
	case e := <-p.events:
		if e.Type != kind {
			p.t.Fatalf("got %+v, want %s", e, kind)
		}
		return e
	case <-time.After(patience):
		p.t.Fatalf("no %s came", kind)
		return event{}
	}
}

// until collects events up to and including the first of the given type. While events
// arrive, it waits.
func (p *peer) until(kind string) []event {
	p.t.Helper()
	var all []event
	for {
		select {
		case e := <-p.events:
			all = append(all, e)
			if e.Type == kind {
				return all
			}
		case <-time.After(patience):
			p.t.Fatalf("no %s came, only %v", kind, types(all))
		}
	}
}

// settled sends an event that always gets a reply, and returns all events before the
// reply: nothing else is pending.
func (p *peer) settled() []event {
	p.t.Helper()
	p.sendJSON(`{"type":"conversation.item.retrieve","item_id":"none","event_id":"settled"}`)
	all := p.until("error")
	if last := all[len(all)-1]; last.Error.EventID != "settled" {
		p.t.Fatalf("unexpected error %+v", last.Error)
	}
	return all[:len(all)-1]
}

func types(events []event) []string {
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, e.Type)
	}
	return kinds
}

func wantTypes(t *testing.T, got []event, want ...string) {
	t.Helper()
	if g := types(got); !slices.Equal(g, want) {
		t.Fatalf("events\n%s\nwant\n%s", strings.Join(g, "\n"), strings.Join(want, "\n"))
	}
}

func (p *peer) send(event any) {
	p.t.Helper()
	b, err := json.Marshal(event)
	if err != nil {
		p.t.Fatal(err)
	}
	p.sendJSON(string(b))
}

func (p *peer) sendJSON(text string) {
	p.t.Helper()
	var err error
	if p.ws != nil {
		err = p.ws.Write(p.t.Context(), websocket.MessageText, []byte(text))
	} else {
		err = p.dc.SendText(text)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// maxAhead is how much audio the test's microphone sends before the server has processed
// it: a packet, a window, the resampler's delay, and the packets that the server holds
// while it waits for a missing one.
const maxAhead = 200 * listenRate / 1000

// say sends pcm (listenRate) as RTP, one packet each pace, and waits whenever the server
// is behind. The result depends on positions in the audio, not on the machine's speed.
func (p *peer) say(pcm []int16, pace time.Duration) {
	p.t.Helper()
	p.sayDamaged(pcm, pace, func(int) bool { return true })
}

// sayDamaged sends only the packets for which keep returns true.
func (p *peer) sayDamaged(pcm []int16, pace time.Duration, keep func(i int) bool) {
	p.t.Helper()
	up, err := audio.NewResampler(listenRate, audio.SampleRate)
	if err != nil {
		p.t.Fatal(err)
	}
	pcm = up.Flush(up.Process(nil, pcm))
	due := time.Now()
	for i := 0; len(pcm) >= opus.PacketSamples; i++ {
		payload, err := p.encoder.Encode((*audio.Frame)(pcm), (*audio.Frame)(pcm[audio.FrameSamples:]))
		if err != nil {
			p.t.Fatal(err)
		}
		pcm = pcm[opus.PacketSamples:]
		if keep(i) {
			if err := p.mic.WriteRTP(&rtp.Packet{Header: p.header, Payload: slices.Clone(payload)}); err != nil {
				p.t.Fatal(err)
			}
		}
		p.header.SequenceNumber++
		p.header.Timestamp += opus.PacketSamples
		due = due.Add(pace)
		time.Sleep(time.Until(due)) // at the pace of a microphone
		p.awaitServer(maxAhead)
	}
}

// awaitServer waits until the server has processed all but the last samples of the sent
// audio, or the call is over.
func (p *peer) awaitServer(last int64) {
	p.t.Helper()
	c := p.server.callOf(p)
	if c == nil {
		return
	}
	sent := int64(p.header.Timestamp-firstTimestamp) * listenRate / rtpRate
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		processed := make(chan bool, 1)
		c.post(func() {
			processed <- c.turns.pos+last >= sent && (p.ahead || c.recognition.idle() && !c.listening)
		})
		select {
		case done := <-processed:
			if done {
				return
			}
		case <-c.done:
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("the server did not process the first %d ms of audio", msOf(sent-last))
		}
	}
}

// callOf returns the call of a peer, or nil if it is over.
func (h *harness) callOf(p *peer) *call {
	for _, c := range h.liveCalls() {
		if strings.HasSuffix(p.location, "/"+c.id) {
			return c
		}
	}
	return nil
}

// idle reports whether the recogniser has processed its queue and reported the results.
func (r *recognition) idle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.queue == nil // pop sets it when it finds nothing more to do
}

// heard returns the packets received so far, waiting for at least n.
func (p *peer) heard(n int) []*rtp.Packet {
	p.t.Helper()
	var all []*rtp.Packet
	limit := time.After(patience)
	for len(all) < n {
		select {
		case k := <-p.packets:
			all = append(all, k)
		case <-limit:
			p.t.Fatalf("%d packets came, want %d", len(all), n)
		}
	}
	return all
}

// recording reads a WAV file of 16 kHz, 16 bit, mono.
func recording(t *testing.T, path string) []int16 {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no recording: %v (make deps-test brings it)", err)
	}
	b = b[44:]
	pcm := make([]int16, len(b)/2)
	for i := range pcm {
		pcm[i] = int16(uint16(b[2*i]) | uint16(b[2*i+1])<<8)
	}
	return pcm
}

// transcribing is a session with transcripts and server_vad.
func transcribing() string {
	return `{"type":"realtime","model":"gpt-realtime","include":["` + includeLogprobs + `"],"audio":{"input":{
		"transcription":{"model":"whisper-1"},
		"turn_detection":{"type":"server_vad","create_response":false,"interrupt_response":false,"prefix_padding_ms":200,"silence_duration_ms":400}}}}`
}
