package realtime

import (
	"sync/atomic"
	"time"
)

// Stats are the figures of one call.
type Stats struct {
	PacketsSent      uint64
	PacketsDropped   uint64 // 20 ms microphone packets that the network did not accept
	PacketsResent    uint64 // microphone packets sent again after the path was silent
	PacketsReceived  uint64
	PacketsLost      uint64        // lost or too late
	PacketsConcealed uint64        // lost packets that were concealed
	PacketsLate      uint64        // late or duplicate
	PacketsBroken    uint64        // could not be decoded
	Jitter           time.Duration // interarrival jitter, RFC 3550
	JitterTarget     time.Duration // how long a packet waits for a missing one, and playback before it starts
	Unsolicited      uint64        // unsolicited responses, which were cancelled
	Mismatches       uint64        // segments whose spoken words differ from the text
	Malformed        uint64        // events that could not be parsed
	ServiceErrors    uint64        // error events
	Path             string        // one of the Path constants
	Fallback         bool          // the network blocks media, so the call uses the WebSocket
	Connect          ConnectTimes
}

// ConnectTimes breaks down the duration of the dial.
type ConnectTimes struct {
	Key        time.Duration // credential and ephemeral key
	Signalling time.Duration // offer to answer, or the handshake of the WebSocket
	ICE        time.Duration // answer to a working network path
	Channel    time.Duration // DTLS and the data channel
	Session    time.Duration // session.update to session.updated
	Total      time.Duration // of the whole dial, including a path that failed before
}

// counters are written by the loop and may be read concurrently.
type counters struct {
	received, lost, concealed atomic.Uint64
	late, broken              atomic.Uint64
	jitter, target            atomic.Int64
	unsolicited, mismatches   atomic.Uint64
	malformed, serviceErrors  atomic.Uint64
}
