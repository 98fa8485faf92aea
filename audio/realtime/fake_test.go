package realtime

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/pion/ice/v4"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/memhttp"
)

// fakeService is a scripted realtime service with real HTTP, real WebRTC, and the
// replies that a test needs. It is used for faults and for the client's own contract;
// other tests use the embedded server.
type fakeService struct {
	t      *testing.T
	url    string
	client *http.Client

	// http replies to a request itself and returns true, to break the signalling.
	http func(w http.ResponseWriter, r *http.Request, body []byte) bool
	// deaf makes the service reply 201 and never connect.
	deaf bool
	// mute leaves session.update unanswered.
	mute bool
	// tcp makes the service accept media over ICE-TCP, exclusively unless udp is set.
	tcp net.Listener
	udp bool
	// sockets makes the service accept calls over WebSocket.
	sockets bool
	// updated is the session of session.updated.
	updated string

	mu       sync.Mutex
	requests []fakeRequest
	pc       *webrtc.PeerConnection
	closers  []func()

	events  chan map[string]any // from the client, except session.update
	session chan map[string]any // the session.update
	rtp     chan *rtp.Packet    // from the client
	channel chan *webrtc.DataChannel
	dc      *webrtc.DataChannel
	socket  chan *websocket.Conn // of the calls
	conn    *websocket.Conn      // used by emit
	track   *webrtc.TrackLocalStaticRTP

	enc *opus.Encoder
	seq uint16
	ts  uint32
}

type fakeRequest struct {
	path   string
	query  string
	header http.Header
	body   []byte
}

const fakeKey = "ek_ephemeral_canary"

func newFakeService(t *testing.T) *fakeService {
	t.Helper()
	return newService(t, false)
}

// newVirtualService returns a service in a synctest bubble, where media is not available.
func newVirtualService(t *testing.T) *fakeService {
	t.Helper()
	f := newService(t, true)
	f.sockets = true
	return f
}

func newService(t *testing.T, virtual bool) *fakeService {
	t.Helper()
	f := &fakeService{t: t, events: make(chan map[string]any, 64), session: make(chan map[string]any, 4),
		rtp: make(chan *rtp.Packet, 1024), channel: make(chan *webrtc.DataChannel, 1), socket: make(chan *websocket.Conn, 4)}
	var err error
	if f.enc, err = opus.NewEncoder(opus.Config{FEC: true}); err != nil {
		t.Skip(err)
	}
	var closeServer func()
	if virtual {
		f.url, f.client, closeServer = memhttp.URL, memhttp.Serve(t, http.HandlerFunc(f.serve)), func() {}
	} else {
		srv, tr := httptest.NewServer(http.HandlerFunc(f.serve)), &http.Transport{}
		f.closers = append(f.closers, tr.CloseIdleConnections)
		f.url, f.client, closeServer = srv.URL, &http.Client{Transport: tr}, srv.Close
	}
	t.Cleanup(func() {
		closeServer() // no handler can create another peer afterwards; those of a WebSocket may still run
		f.mu.Lock()
		closers := slices.Clone(f.closers)
		f.mu.Unlock()
		for _, c := range closers {
			c()
		}
	})
	return f
}

func (f *fakeService) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.requests = append(f.requests, fakeRequest{r.URL.Path, r.URL.RawQuery, r.Header.Clone(), body})
	f.mu.Unlock()
	if f.http != nil && f.http(w, r, body) {
		return
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/realtime/client_secrets"):
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"value": fakeKey, "expires_at": 1, "session": map[string]any{"type": "realtime"}})
	case strings.HasSuffix(r.URL.Path, "/realtime/calls"):
		offer, asJSON := string(body), r.Header.Get("Content-Type") == "application/json"
		if asJSON {
			var v struct{ SDP string }
			_ = json.Unmarshal(body, &v)
			offer = v.SDP
		}
		answer := f.answer(offer)
		w.Header().Set("Location", "/v1/realtime/calls/rtc_fake1")
		if asJSON {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(map[string]string{"sdp": answer, "session_id": "sess_1"})
			return
		}
		w.Header().Set("Content-Type", "application/sdp")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, answer)
	case f.sockets && strings.HasSuffix(r.URL.Path, "/realtime"):
		f.talk(w, r)
	case strings.HasSuffix(r.URL.Path, "/hangup"):
		w.WriteHeader(http.StatusOK)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// answer creates the service's peer.
func (f *fakeService) answer(offer string) string {
	media := &webrtc.MediaEngine{}
	f.must(media.RegisterCodec(webrtc.RTPCodecParameters{RTPCodecCapability: opusCapability, PayloadType: 111}, webrtc.RTPCodecTypeAudio))
	settings := webrtc.SettingEngine{}
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	settings.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() })
	if f.tcp != nil {
		settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeTCP4})
		if f.udp {
			settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeTCP4})
		}
		mux := webrtc.NewICETCPMux(nil, f.tcp, 16)
		settings.SetICETCPMux(mux)
		defer func() { f.mu.Lock(); f.closers = append(f.closers, func() { _ = mux.Close() }); f.mu.Unlock() }()
	}
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	settings.SetSCTPMaxMessageSize(64 << 20)
	settings.SetDTLSRetransmissionInterval(100 * time.Millisecond)
	pc, err := webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithSettingEngine(settings)).NewPeerConnection(webrtc.Configuration{})
	f.must(err)
	track, err := webrtc.NewTrackLocalStaticRTP(opusCapability, "audio", "fake")
	f.must(err)
	sender, err := pc.AddTrack(track)
	f.must(err)
	var readers sync.WaitGroup
	readers.Go(func() {
		for buf := make([]byte, 1500); ; {
			if _, _, err := sender.Read(buf); err != nil {
				return
			}
		}
	})
	pc.OnTrack(func(t *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		for {
			p, _, err := t.ReadRTP()
			if err != nil {
				return
			}
			select {
			case f.rtp <- p:
			default:
			}
		}
	})
	pc.OnDataChannel(func(dc *webrtc.DataChannel) {
		dc.OnOpen(func() { f.channel <- dc })
		dc.OnMessage(func(m webrtc.DataChannelMessage) { f.onMessage(dc.SendText, m.Data) })
	})
	f.mu.Lock()
	f.pc, f.track = pc, track
	f.closers = append(f.closers, func() { _ = pc.GracefulClose(); readers.Wait() })
	f.mu.Unlock()

	f.must(pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}))
	answer, err := pc.CreateAnswer(nil)
	f.must(err)
	gathered := webrtc.GatheringCompletePromise(pc)
	f.must(pc.SetLocalDescription(answer))
	<-gathered
	sdp := pc.LocalDescription().SDP
	if f.deaf {
		_ = pc.Close()
	}
	return sdp
}

// talk runs a call over WebSocket.
func (f *fakeService) talk(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	f.must(err)
	conn.SetReadLimit(-1)
	f.mu.Lock()
	f.closers = append(f.closers, func() { _ = conn.CloseNow() })
	f.mu.Unlock()
	f.socket <- conn
	for {
		_, data, err := conn.Read(context.Background())
		if err != nil {
			return
		}
		f.onMessage(func(event string) error {
			return conn.Write(context.Background(), websocket.MessageText, []byte(event))
		}, data)
	}
}

func (f *fakeService) onMessage(send func(string) error, data []byte) {
	var e map[string]any
	f.must(json.Unmarshal(data, &e))
	if e["type"] == "session.update" {
		f.session <- e
		if !f.mute {
			f.must(send(`{"type":"session.created","session":{"type":"realtime"}}`))
			f.must(send(`{"type":"session.updated","session":` + cmp.Or(f.updated, `{"type":"realtime"}`) + `}`))
		}
		return
	}
	f.events <- e
}

func (f *fakeService) must(err error) {
	if err != nil {
		f.t.Error("fake service: ", err)
	}
}

// emit sends an event to the client.
func (f *fakeService) emit(event string) {
	f.t.Helper()
	if f.sockets {
		if f.conn == nil {
			f.conn = receive(f.t, f.socket, "the WebSocket")
		}
		f.must(f.conn.Write(f.t.Context(), websocket.MessageText, []byte(event)))
		return
	}
	if f.dc == nil {
		f.dc = receive(f.t, f.channel, "the data channel")
	}
	f.must(f.dc.SendText(event))
}

// expect returns the client's next event, which must have the given type.
func (f *fakeService) expect(kind string) map[string]any {
	f.t.Helper()
	e := receive(f.t, f.events, kind)
	if e["type"] != kind {
		f.t.Fatalf("the client sent %v, want %s", e, kind)
	}
	return e
}

// sound sends n packets of a tone in one burst; the first has the marker bit if mark is
// set.
func (f *fakeService) sound(n int, mark bool) {
	f.t.Helper()
	var tone [2]audio.Frame
	for i := range n {
		for j := range packetSamples {
			tone[j/audio.FrameSamples][j%audio.FrameSamples] = int16(8000 * math.Sin(2*math.Pi*440*float64(int(f.ts)+j)/audio.SampleRate))
		}
		f.packet(&tone, mark && i == 0)
	}
}

func (f *fakeService) packet(sound *[2]audio.Frame, mark bool) {
	payload, err := f.enc.Encode(&sound[0], &sound[1])
	f.must(err)
	f.seq, f.ts = f.seq+1, f.ts+packetSamples
	f.must(f.track.WriteRTP(&rtp.Packet{
		Header: rtp.Header{Version: 2, SequenceNumber: f.seq, Timestamp: f.ts, Marker: mark}, Payload: payload}))
}

func (f *fakeService) seen() []fakeRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]fakeRequest(nil), f.requests...)
}

func (f *fakeService) config(d Dialect) Config {
	return Config{
		Dialect: d, BaseURL: f.url, Model: "gpt-realtime", Loopback: true, Log: zerolog.Nop(),
		HTTPClient:         f.client,
		ConnectTimeout:     2 * patience,
		mediaLimit:         patience,
		TranscriptionModel: map[Dialect]string{Azure: "our-transcriber"}[d],
		Credentials:        func(context.Context) (Credential, error) { return Credential{Value: canary, Kind: APIKey}, nil },
	}
}

const canary = "sk-canary-0123456789"

// recorder is a Handler that records its calls as text.
type recorder struct {
	calls chan string
	mu    sync.Mutex
	audio map[audio.SegmentID]int // samples
	loud  map[audio.SegmentID]int // samples that are not silent
	lost  *Error                  // of the call
}

func newRecorder() *recorder {
	return &recorder{calls: make(chan string, 1024), audio: map[audio.SegmentID]int{}, loud: map[audio.SegmentID]int{}}
}

func (r *recorder) SpeechStarted(item string, pos int64) { r.add("started %s %d", item, pos) }
func (r *recorder) SpeechStopped(item string, pos int64) { r.add("stopped %s %d", item, pos) }
func (r *recorder) PartialTranscript(item, text string)  { r.add("partial %s %q", item, text) }
func (r *recorder) SettledTranscript(item string, t Settled) {
	sure := ""
	if t.Answer != nil {
		sure = fmt.Sprintf(" %+v", *t.Answer)
	}
	r.add("settled %s %q%s", item, t.Text, sure)
}
func (r *recorder) FinalTranscript(item string, t Transcript) {
	sure := ""
	if t.Probs != nil {
		sure = fmt.Sprintf(" %.3f", t.Probs)
	}
	if t.Answer != nil {
		sure += fmt.Sprintf(" %+v", *t.Answer)
	}
	if t.Joined != nil {
		sure += fmt.Sprintf(" joined to %v: %q", t.Joined.Items, t.Joined.Transcript)
	}
	r.add("final %s %q%s", item, t.Text, sure)
}
func (r *recorder) SpeakerRefused(item string)         { r.add("refused %s", item) }
func (r *recorder) TranscriptFailed(item, code string) { r.add("nottranscribed %s %s", item, code) }
func (r *recorder) InputCommitted(utterance uint64, item string) {
	r.add("committed %d %s", utterance, item)
}
func (r *recorder) InputEmpty(utterance uint64)     { r.add("empty %d", utterance) }
func (r *recorder) SpeechEnded(seg audio.SegmentID) { r.add("ended %s", seg) }
func (r *recorder) SpeechFailed(seg audio.SegmentID, code string) {
	r.add("failed %s %s", seg, code)
}
func (r *recorder) SpeechMismatch(seg audio.SegmentID, right int) {
	r.add("mismatch %s from %d", seg, right)
}
func (r *recorder) Lost(code string, err error) {
	r.mu.Lock()
	errors.As(err, &r.lost)
	r.mu.Unlock()
	r.add("lost %s", code)
}

func (r *recorder) SpeechAudio(seg audio.SegmentID, pcm []int16) {
	r.mu.Lock()
	first := r.audio[seg] == 0
	r.audio[seg] += len(pcm)
	for _, s := range pcm {
		if s > 100 || s < -100 {
			r.loud[seg]++
		}
	}
	r.mu.Unlock()
	if first {
		r.add("audio %s", seg)
	}
}

func (r *recorder) samples(gen, seq uint32) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.audio[audio.SegmentID{Gen: gen, Seq: seq}]
}
