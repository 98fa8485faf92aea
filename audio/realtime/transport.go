package realtime

import (
	"context"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
)

// transport carries one call: events both ways, what the user says, and the voice of the
// service. The client knows nothing else of WebRTC (peer) or WebSocket (socket).
type transport interface {
	// connect makes the connection, and returns when events can be sent: msgOpen was
	// posted. It names the step that failed.
	connect(ctx context.Context, s *signaller) (step string, err error)
	// send puts an event on its way without waiting. Only the loop uses it.
	send(event []byte) error
	// carry sends what the microphone gives until ctx is done.
	carry(ctx context.Context, u *uplink)
	// voice decodes what the service says.
	voice() voice
	// clear has the service drop the audio that it holds back, by post, where it holds any.
	clear(post func(clientEvent) bool)
	// path is what the call goes over: one of the Path constants, empty while unknown.
	path() string
	// close ends the connection and waits for its goroutines. It works on one that was
	// made in part.
	close() error
}

// Paths of a call: Stats.Path.
const (
	PathUDP       = "udp"
	PathTCP       = "tcp"
	PathRelay     = "relay"
	PathWebSocket = "websocket"
)

// voice turns what a transport brought into the service's audio, in order. It belongs to
// the loop.
type voice interface {
	// push takes what came; ok is false where it cannot be audio.
	push(s sound, now time.Time) (ok bool)
	// drain hands over what can be played now. play says whose it is, and whether it was
	// handed on.
	drain(now time.Time, play func(chunk) (seg audio.SegmentID, heard bool))
	// deadline is when drain has more, without another push.
	deadline() time.Time
	// drop forgets what was not handed over.
	drop()
	// names says that each chunk has the response it is of.
	names() bool
	// bound is for how long audio may be held for something that is missing.
	bound() time.Duration
	publish(c *counters)
}

// sound is a piece of the service's voice, as a packet or in an event.
type sound struct {
	packet   *rtp.Packet
	response string // of an event
	delta    string // base64 of PCM at socketRate
	ends     bool   // nothing more of the response comes
}

// chunk is decoded audio. pcm is valid until the next one is made.
type chunk struct {
	pcm    []int16
	marker bool
	// resumes: the stream begins with it, or packets before it were lost and a
	// pause in the stream was among them, whose marker nobody saw.
	resumes  bool
	silent   bool
	response string // it is of, where the transport says so
	ends     bool   // it was all of the response
}

// message is what a transport delivers to the loop, in the order of arrival.
type message struct {
	kind    messageKind
	event   []byte
	packet  *rtp.Packet
	ice     webrtc.ICEConnectionState
	err     *Error        // why it is gone; nil where the service closed it without a reason
	unheard time.Duration // Error.Unheard of what is gone
}

type messageKind int

const (
	msgOpen   messageKind = iota // events can be sent
	msgEvent                     // an event came
	msgPacket                    // an RTP packet came
	msgICE                       // the state of ICE changed
	msgGone                      // the connection is closed
)

// newTransport makes the transport of that kind. What it brings goes to post, which may
// block.
func newTransport(kind provider.Transport, cfg Config, up *uplink, post func(message)) (transport, error) {
	if kind == provider.WebSocket {
		return newSocket(up, post)
	}
	return newPeer(cfg, post)
}
