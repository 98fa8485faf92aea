package realtime

import (
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// disconnectedFor is how long ICE may be disconnected before the call counts as lost
// (the protocol, section 3).
const disconnectedFor = 2 * time.Second

// outage tracks an interruption of the network path. pion reports one after pathSilence
// by the wall clock, also if only this process was late and the packets are waiting in
// its sockets. So a report by itself ends nothing: the call is lost when the path stays
// silent while this process runs on time, or when audio of the service is missing
// afterwards.
type outage struct {
	since     time.Time     // when pion reported it; zero while the path works
	silence   audio.Timeout // runs during an outage
	up        bool          // the path works again, but it is unknown whether audio was lost
	continued bool          // audio arrived since, and none is missing before it
	last      sequence
}

// begin handles pion's report.
func (o *outage) begin(now time.Time) {
	o.since, o.up, o.continued = now, false, false
	o.silence.Start(pathCheck, disconnectedFor)
}

func (o *outage) end() {
	o.since, o.up = time.Time{}, false
	o.silence.Stop()
}

func (o *outage) underWay() bool { return !o.since.IsZero() }

// sequence is the position in the service's audio.
type sequence struct {
	known bool
	ssrc  uint32
	seq   uint16 // of the newest packet
}

// follow adds a packet. newer is false for one that is late or a duplicate. complete
// reports that no more audio is missing before it than can be concealed.
func (s *sequence) follow(p *rtp.Packet) (newer, complete bool) {
	ahead := int16(p.SequenceNumber - s.seq)
	if same := s.known && p.SSRC == s.ssrc; !same {
		complete = p.Marker // it begins a stretch of speech
	} else if ahead <= 0 && ahead >= -jitterRestart {
		return false, false
	} else {
		complete = ahead > 0 && ahead <= maxConcealed+1
	}
	s.known, s.ssrc, s.seq = true, p.SSRC, p.SequenceNumber
	return true, complete
}

const lostAudio = "audio of the service was lost on the network; connect again"

func (l *loop) onICE(state webrtc.ICEConnectionState, now time.Time) {
	switch state {
	case webrtc.ICEConnectionStateDisconnected:
		l.path.begin(now)
		// A busy machine detects the outage late, so go further back; the service drops
		// duplicates.
		l.outage(pathChange{since: now.Add(-3 * pathSilence)})
	case webrtc.ICEConnectionStateConnected, webrtc.ICEConnectionStateCompleted:
		if !l.path.underWay() {
			return
		}
		l.outage(pathChange{up: true})
		if l.speech.underWay() && !l.path.continued {
			l.path.up = true
			return
		}
		l.path.end()
	case webrtc.ICEConnectionStateFailed:
		l.pathLost("the network path to the service failed; connect again", now)
	}
}

// onPacket checks that no audio was lost in an outage: lost speech is repeated over a
// new call.
func (l *loop) onPacket(p *rtp.Packet, now time.Time) {
	newer, complete := l.path.last.follow(p)
	switch {
	case !newer || !l.path.underWay() || l.path.continued || !l.speech.underWay():
	case !complete:
		l.pathLost(lostAudio, now)
	case l.path.up:
		l.path.end()
	default:
		l.path.continued = true
	}
}

// onSilence handles the end of a step of the outage's timeout.
func (l *loop) onSilence(now time.Time) {
	switch {
	case !l.path.underWay() || !l.path.silence.Expired():
	case !l.path.up:
		l.pathLost("no answer from the service for too long; connect again", now)
	case l.speech.sounding():
		l.pathLost(lostAudio, now)
	default: // its first packet shows whether audio was lost
		l.path.silence.Start(disconnectedFor, disconnectedFor)
	}
}

// pathLost ends the call because the network path was silent for too long.
func (l *loop) pathLost(message string, now time.Time) {
	unheard := pathSilence + pathCheck
	if l.path.underWay() {
		unheard += now.Sub(l.path.since)
	}
	l.fail(&Error{Code: CodeConnectionLost, Retryable: true, Message: message, Unheard: unheard})
}
