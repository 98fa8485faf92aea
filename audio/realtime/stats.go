package realtime

import (
	"sync/atomic"
	"time"
)

// Stats are the figures of one call.
type Stats struct {
	PacketsSent      uint64
	PacketsDropped   uint64 // 20 ms packets of the microphone that the network did not take
	PacketsResent    uint64 // of the microphone, after the network path was silent
	PacketsReceived  uint64
	PacketsLost      uint64        // never came, or too late
	PacketsConcealed uint64        // of those, made up for
	PacketsLate      uint64        // came after their turn, or twice
	PacketsBroken    uint64        // could not be decoded
	Jitter           time.Duration // interarrival jitter, RFC 3550
	JitterTarget     time.Duration // how long a packet waits for a missing one, and playback for its beginning
	Unsolicited      uint64        // responses nobody asked for, cancelled
	Mismatches       uint64        // segments that were read differently
	Malformed        uint64        // events that could not be read
	ServiceErrors    uint64        // error events
	Path             string        // what the call goes over: one of the Path constants
	Fallback         bool          // no media passes this network, so the call goes over the WebSocket
	Connect          ConnectTimes
}

// ConnectTimes is where the time of the dial went.
type ConnectTimes struct {
	Key        time.Duration // credential and ephemeral key
	Signalling time.Duration // offer to answer, or the handshake of the WebSocket
	ICE        time.Duration // answer to a working network path
	Channel    time.Duration // DTLS and the data channel
	Session    time.Duration // session.update to session.updated
	Total      time.Duration // of the dial, with a path that did not work before
}

// counters are written by the loop and read by anyone.
type counters struct {
	received, lost, concealed atomic.Uint64
	late, broken              atomic.Uint64
	jitter, target            atomic.Int64
	unsolicited, mismatches   atomic.Uint64
	malformed, serviceErrors  atomic.Uint64
}
