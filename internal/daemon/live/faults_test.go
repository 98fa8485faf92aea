//go:build cgo

package live

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// longFaults is the flag of `make faults`.
var longFaults = flag.Bool("long-faults", false, "include the network faults that take minutes")

// network sits between the daemon and the service. It can be down or change its
// address, and each dial can fail at a given step.
type network struct {
	transport *http.Transport
	down      atomic.Bool
	noUDP     atomic.Bool

	mu      sync.Mutex
	sockets []*socket
	streams []*stream
	dies    []string // the step at which the next dials fail: a path, or a count of packets
}

// socket is the socket of a call.
type socket struct {
	net.PacketConn
	of   *network
	dead atomic.Bool  // its address is gone
	left atomic.Int64 // packets until it fails; negative means unlimited
}

func newNetwork(t *testing.T) *network {
	n := &network{}
	n.transport = &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		s := &stream{Conn: conn, of: n, closed: make(chan struct{})}
		n.mu.Lock()
		defer n.mu.Unlock()
		n.streams = append(n.streams, s)
		return s, nil
	}}
	t.Cleanup(n.transport.CloseIdleConnections)
	return n
}

func (n *network) instrument(cfg *realtime.Config) {
	cfg.HTTPClient = &http.Client{Transport: n}
	cfg.ConnectTimeout = 2 * time.Second
	cfg.WrapPacketConn = func(p net.PacketConn) net.PacketConn {
		s := &socket{PacketConn: p, of: n}
		s.left.Store(-1)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.sockets = append(n.sockets, s)
		var packets int64
		if len(n.dies) > 0 {
			if _, err := fmt.Sscanf(n.dies[0], "after %d packets", &packets); err == nil {
				s.left.Store(packets)
				n.dies = n.dies[1:]
			}
		}
		return s
	}
}

// RoundTrip implements http.RoundTripper.
func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	if n.down.Load() {
		return nil, errors.New("network is unreachable")
	}
	n.mu.Lock()
	dies := len(n.dies) > 0 && strings.HasSuffix(r.URL.Path, n.dies[0])
	if dies {
		n.dies = n.dies[1:]
	}
	n.mu.Unlock()
	if dies {
		return nil, errors.New("connection reset")
	}
	return n.transport.RoundTrip(r)
}

// checkDials checks that every failure of a dial was met.
func (n *network) checkDials(t *testing.T) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.dies) > 0 {
		t.Errorf("no dial came to %q", n.dies)
	}
}

// lose drops all packets for a time.
func (n *network) lose(d time.Duration) {
	n.down.Store(true)
	time.Sleep(d)
	n.down.Store(false)
}

// move makes every open socket dead in both directions, as when the address changed;
// new sockets work.
func (n *network) move() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range n.sockets {
		s.dead.Store(true)
	}
	for _, s := range n.streams {
		s.dead.Store(true)
	}
}

// cut resets every open connection.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range n.streams {
		_ = s.Close()
	}
}

// stream is a TCP connection, which delivers lost data later.
type stream struct {
	net.Conn
	of     *network
	dead   atomic.Bool // its address is gone
	close  sync.Once
	closed chan struct{}
}

// passes waits until the network works; false means never again.
func (s *stream) passes() bool {
	for s.dead.Load() || s.of.down.Load() {
		select {
		case <-s.closed:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return true
}

func (s *stream) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	if !s.passes() {
		return 0, net.ErrClosed
	}
	return n, err
}

func (s *stream) Write(b []byte) (int, error) {
	if !s.passes() {
		return 0, net.ErrClosed
	}
	return s.Conn.Write(b)
}

func (s *stream) Close() error {
	s.close.Do(func() { close(s.closed) })
	return s.Conn.Close()
}

func (s *socket) drops() bool {
	left := s.left.Load()
	if left > 0 {
		s.left.Add(-1)
	}
	return left == 0 || s.dead.Load() || s.of.down.Load() || s.of.noUDP.Load()
}

func (s *socket) WriteTo(b []byte, to net.Addr) (int, error) {
	if s.drops() {
		return len(b), nil
	}
	return s.PacketConn.WriteTo(b, to)
}

func (s *socket) ReadFrom(b []byte) (n int, from net.Addr, err error) {
	for {
		if n, from, err = s.PacketConn.ReadFrom(b); err != nil || !s.drops() {
			return n, from, err
		}
	}
}

// spoken is a tap that measures how much the assistant said.
type spoken struct{ samples atomic.Int64 }

func (*spoken) User(int64, *audio.Frame) {}
func (s *spoken) Assistant(f *audio.Frame) {
	for _, v := range f {
		if v > 30 || v < -30 {
			s.samples.Add(1)
		}
	}
}

// reach waits until the core is in a state.
func (tk *talk) reach(what string, is func(csm.State) bool) {
	tk.t.Helper()
	for limit := time.After(tk.patience()); !is(tk.d.State()); {
		select {
		case <-tk.news:
		case <-time.After(20 * time.Millisecond):
		case <-limit:
			tk.t.Fatalf("not within %v: %s; the core is in %v", tk.patience(), what, tk.d.State().Phase())
		}
	}
}

// toldLost reports whether the user was told that words were lost.
func (tk *talk) toldLost() bool {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	return slices.ContainsFunc(tk.notes, func(n protocol.NotificationParams) bool { return n.Code == protocol.CodeUtteranceLost })
}

// answeredAll returns a condition: the assistant received that many requests, and all
// are answered.
func (tk *talk) answeredAll(turns int) func(csm.State) bool {
	return func(st csm.State) bool {
		return len(tk.agent.requests()) >= turns && st.Phase() == csm.PhaseListening && st.Current.ID == 0
	}
}

// fault is a row of the table.
type fault struct {
	name   string
	inject func(tk *talk, n *network)
	answer bool          // the fault hits an answer, else the user's sentence
	noUDP  bool          // UDP is blocked from the beginning, and media over TCP is unavailable too
	path   string        // transport at the end; "" means udp
	gone   bool          // the sentence is lost, and the user is told
	max    time.Duration // the setting suspend.maxMs; 0 means the default
	long   bool
}

var faults = []fault{
	{name: "none", inject: func(*talk, *network) {}, long: true},
	{name: "network lost for 2 s", inject: func(_ *talk, n *network) { n.lose(2 * time.Second) }},
	{name: "network lost for 5 s", inject: func(_ *talk, n *network) { n.lose(5 * time.Second) }},
	{name: "network lost for 10 s", inject: func(_ *talk, n *network) { n.lose(10 * time.Second) }, long: true},
	{name: "address changed", inject: func(_ *talk, n *network) { n.move() }, long: true},
	{name: "service restarted", inject: func(tk *talk, _ *network) { tk.w.service.hangUp() }, long: true},
	{name: "laptop asleep for 5 s", inject: func(tk *talk, n *network) {
		tk.mouth.mu.Lock() // also stops the microphone
		defer tk.mouth.mu.Unlock()
		n.lose(5 * time.Second)
	}, long: true},
	{name: "dials get no key, then no answer", inject: dies("/client_secrets", "/calls"), long: true},
	{name: "a dial finds no network path", path: realtime.PathWebSocket, inject: dies("after 0 packets"), long: true},
	{name: "a dial dies in DTLS", path: realtime.PathWebSocket, inject: dies("after 8 packets"), long: true},
	{name: "a dial dies before the session", path: realtime.PathWebSocket, inject: dies("after 20 packets"), long: true},
	{name: "network lost for 20 s, longer than speech is kept", gone: true, inject: func(_ *talk, n *network) { n.lose(20 * time.Second) }, long: true},
	{name: "UDP and TCP blocked", noUDP: true, path: realtime.PathWebSocket, inject: func(*talk, *network) {}},
	{name: "UDP blocked in the middle", path: realtime.PathWebSocket, inject: func(_ *talk, n *network) { n.noUDP.Store(true) }},
	{name: "UDP blocked in an answer", answer: true, path: realtime.PathWebSocket, inject: func(_ *talk, n *network) { n.noUDP.Store(true) }, long: true},
	{name: "WebSocket reset", noUDP: true, path: realtime.PathWebSocket, inject: func(_ *talk, n *network) { n.cut() }, long: true},
	{name: "WebSocket reset in an answer", noUDP: true, answer: true, path: realtime.PathWebSocket, inject: func(_ *talk, n *network) { n.cut() }},
	{name: "network lost for 2 s over a WebSocket", noUDP: true, path: realtime.PathWebSocket, inject: func(_ *talk, n *network) { n.lose(2 * time.Second) }, long: true},
	{name: "network lost for 10 s over a WebSocket", noUDP: true, path: realtime.PathWebSocket, inject: func(_ *talk, n *network) { n.lose(10 * time.Second) }, long: true},
	{name: "address changed over a WebSocket", noUDP: true, path: realtime.PathWebSocket, inject: func(_ *talk, n *network) { n.move() }, long: true},
	{name: "network lost for 2 s in an answer", answer: true, inject: func(_ *talk, n *network) { n.lose(2 * time.Second) }},
	{name: "service restarted in an answer", answer: true, long: true, inject: func(tk *talk, _ *network) { tk.w.service.hangUp() }},
	{name: "network lost for 30 s in an answer", answer: true, long: true, inject: func(_ *talk, n *network) { n.lose(30 * time.Second) }},
	{name: "network lost for 300 s in an answer", answer: true, long: true, max: 10 * time.Minute, inject: func(_ *talk, n *network) { n.lose(300 * time.Second) }},
}

// dies moves to another address, and lets the next dials fail at these steps.
func dies(steps ...string) func(*talk, *network) {
	return func(_ *talk, n *network) {
		n.mu.Lock()
		n.dies = steps
		n.mu.Unlock()
		n.move()
	}
}

// A sentence of 5.5 s.
const (
	longSentence   = "sense_and_sensibility_01_austen_64kb-0920.wav"
	longSentenceIs = "had he married a more a amiable woman he might have been made still more respectable than he was"
)

// After each network fault the conversation continues: what was said is heard,
// requested and answered once, and a second turn follows. It runs in real time.
//
//test:realtime
func TestNetworkFaults(t *testing.T) {
	for _, f := range faults {
		if f.long && !*longFaults {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			f.run(t)
		})
	}
}

func (f fault) run(t *testing.T) {
	net, said := newNetwork(t), &spoken{}
	net.noUDP.Store(f.noUDP)
	mic := &mouth{pace: 1}
	tk := newTalkOver(t, func(s *protocol.Settings) {
		s.Cues.Enabled = false
		if f.max != 0 {
			s.Suspend.Max = f.max
		}
	}, Config{
		Source: func(protocol.Settings) (audio.Source, error) { return mic, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{pace: 1}, nil },
		Speed:  1, Tap: said, Instrument: net.instrument,
	})
	tk.mouth, tk.limit = mic, patience+f.max
	tk.agent.become(says("This is the first sentence of the answer. And this is the second one."))
	epoch := connection.Epoch(tk.d.State().Conn)
	mic.say(t, longSentence)
	if f.answer {
		tk.reach("the assistant speaks", func(st csm.State) bool { return st.Phase() == csm.PhaseSpeaking })
	} else {
		tk.reach("the user speaks", func(st csm.State) bool { return st.Current.ID != 0 })
		time.Sleep(time.Second) // of the sentence
	}
	began := time.Now()
	f.inject(tk, net)
	turns := 2
	if f.gone {
		turns = 1
		tk.reach("the user was told", func(st csm.State) bool { return st.Phase() == csm.PhaseListening && tk.toldLost() })
	} else {
		tk.reach("the first answer is heard", tk.answeredAll(1))
	}
	took, epochs := time.Since(began), connection.Epoch(tk.d.State().Conn)-epoch
	if f.gone { // the loss is also said aloud
		tk.reach("the loss is said aloud", func(csm.State) bool { return said.samples.Load() > 0 })
		tk.reach("the microphone is heard again", func(csm.State) bool { return !tk.w.aside.sounding() })
	}
	mic.say(t, longSentence)
	tk.reach("the last answer is heard", tk.answeredAll(turns))
	if told := tk.toldLost(); told != f.gone {
		t.Errorf("the user was told that words were lost: %v", told)
	}

	tk.mu.Lock()
	defer tk.mu.Unlock()
	var heard []string
	for _, w := range tk.words {
		if w.Role == protocol.RoleUser && w.Text != "" {
			heard = append(heard, w.Text)
		}
	}
	const words = 19
	least := words // of the two sentences
	var wrong []int
	for _, h := range heard {
		n, _ := wer.Compute(longSentenceIs, h)
		wrong, least = append(wrong, n), min(least, len(strings.Fields(h)))
	}
	seconds := tk.secondsHeard()
	lost, twice, again := max(0, turns-len(heard)), max(0, len(heard)-turns), max(0, len(tk.agent.requests())-turns)
	t.Logf("| %s | turn over after %.1f s | new calls %d | turns lost %d | said twice %d | asked twice %d | words heard %d of %d | wrong %d | audio %.2f s | answers %.1f s |",
		f.name, took.Seconds(), epochs, lost, twice, again, least, words, wrong, seconds, audio.Duration(said.samples.Load()).Seconds())
	if lost+twice+again != 0 || len(tk.agent.requests()) != turns || tk.d.State().Instance != 1 {
		t.Errorf("heard %q, asked %d times, in conversation %d; want %d turns, in the first", heard, len(tk.agent.requests()), tk.d.State().Instance, turns)
	}
	// A loss of 2 s would be of 7 words. What the recogniser gets wrong varies from call to
	// call: 4 to 9 words of a sentence that no fault touches. So the sentences are compared.
	if least < words-4 || len(wrong) == 2 && wrong[0] > wrong[1]+5 {
		t.Errorf("heard %q, want %q both times", heard, longSentenceIs)
	}
	for _, e := range tk.errors {
		t.Errorf("error %s: %s", e.Code, e.Message)
	}
	f.checkPath(t, tk)
	net.checkDials(t)
}

// secondsHeard returns the seconds of audio of each utterance, as the service counted
// them, and checks them. An item of the silence after an utterance, which the matcher
// ignored, belongs to none. The caller holds the talk's mu.
func (tk *talk) secondsHeard() (seconds []float64) {
	const sentence, margin = 6.35, 0.3 // with the silence at both ends
	var other int64
	for _, u := range tk.uses {
		if s := u.AudioIn.Seconds(); s > 0 {
			if seconds = append(seconds, s); math.Abs(s-sentence) > margin {
				other++
			}
		}
	}
	h := tk.w.link.live.Load().hearer
	h.mu.Lock()
	defer h.mu.Unlock()
	if other > h.match.ignored {
		tk.t.Errorf("the service heard %.2f s of audio, want %.2f s; %d items were silence", seconds, sentence, h.match.ignored)
	}
	return seconds
}

// checkPath checks the final transport of the voice and what the user was told about
// it. The caller holds the talk's mu.
func (f fault) checkPath(t *testing.T, tk *talk) {
	want := cmp.Or(f.path, realtime.PathUDP)
	if got := tk.lives[len(tk.lives)-1].Path; got != want || tk.w.SessionPath() != want {
		t.Errorf("the voice goes over %q, and %q was told; want %q", tk.w.SessionPath(), got, want)
	}
	told := 0
	for _, n := range tk.notes {
		if n.Code == protocol.CodeVoiceOverWebSocket {
			told++
		}
	}
	if (told == 1) != (want == realtime.PathWebSocket) || told > 1 {
		t.Errorf("the user was told %d times that the voice goes over a WebSocket", told)
	}
}
