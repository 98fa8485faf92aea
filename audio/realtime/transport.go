package realtime

import (
	"context"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
)

// transport carries one call: events in both directions, the user's audio, and the
// service's voice. It hides WebRTC (peer) and WebSocket (socket) from the client.
type transport interface {
	// connect establishes the connection, and returns when events can be sent: msgOpen
	// was posted. It returns the name of a failed step.
	connect(ctx context.Context, s *signaller) (step string, err error)
	// send queues an event without blocking. Only the loop uses it.
	send(event []byte) error
	// carry sends microphone audio until ctx is done.
	carry(ctx context.Context, u *uplink)
	// voice returns the decoder of the service's audio.
	voice() voice
	// clear makes the service drop its buffered audio, by an event through post, if it
	// buffers any.
	clear(post func(clientEvent) bool)
	// path returns one of the Path constants, or "" if unknown.
	path() string
	// close ends the connection and waits for its goroutines. It also works on a
	// partially established one.
	close() error
}

// Values of Stats.Path.
const (
	PathUDP       = "udp"
	PathTCP       = "tcp"
	PathRelay     = "relay"
	PathWebSocket = "websocket"
)

// voice converts what a transport received into ordered audio. It belongs to the loop.
type voice interface {
	// push adds received data; ok is false if it cannot be audio.
	push(s sound, now time.Time) (ok bool)
	// drain delivers what can be played now. play returns the segment that the audio
	// belongs to, and whether it was delivered.
	drain(now time.Time, play func(chunk) (seg audio.SegmentID, heard bool))
	// deadline returns when drain has more without another push.
	deadline() time.Time
	// drop discards what was not delivered.
	drop()
	// names reports whether each chunk names its response.
	names() bool
	// bound returns how long audio may be held for a missing packet.
	bound() time.Duration
	publish(c *counters)
}

// sound is a piece of the service's voice, as a packet or in an event.
type sound struct {
	packet   *rtp.Packet
	response string // response id, for an event
	delta    string // base64 PCM at socketRate
	ends     bool   // end of the response
}

// chunk is decoded audio. pcm is valid until the next chunk.
type chunk struct {
	pcm    []int16
	marker bool
	// resumes means that the stream begins with this chunk, or that lost packets before
	// it included a pause in the stream, whose marker is therefore missing.
	resumes  bool
	silent   bool
	response string // its response, if the transport names it
	ends     bool   // end of the response
}

// message is what a transport delivers to the loop, in order of arrival.
type message struct {
	kind    messageKind
	event   []byte
	packet  *rtp.Packet
	ice     webrtc.ICEConnectionState
	err     *Error        // why the connection ended; nil if the service gave no reason
	unheard time.Duration // Error.Unheard of the connection
}

type messageKind int

const (
	msgOpen   messageKind = iota // events can be sent
	msgEvent                     // an event arrived
	msgPacket                    // an RTP packet arrived
	msgICE                       // the ICE state changed
	msgGone                      // the connection is closed
)

// newTransport creates a transport of the given kind. It delivers messages to post,
// which may block.
func newTransport(kind provider.Transport, cfg Config, up *uplink, post func(message)) (transport, error) {
	if kind == provider.WebSocket {
		return newSocket(up, post)
	}
	return newPeer(cfg, post)
}
