package realtime

import (
	"cmp"
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// The speech queue decides when to request each segment, which response and which audio
// belong to which segment, and when a segment has ended. It is a plain state machine:
// no clock, no goroutine, no network. The loop feeds it and runs the actions it
// returns.
//
// live holds the requested segments, in the order of the service's audio. The audio of
// live[0], the head, is playing or awaited. Only the head has timeouts, so one deadline
// is enough.

// Timeouts of the queue. They are not configurable, because a service that needs longer
// is broken.
const (
	requestTimeout = 5 * time.Second        // response.create to response.created
	stallTimeout   = 10 * time.Second       // between two signs of life of a response
	noAudioTimeout = 2 * time.Second        // from the end of the response to its first sound
	cancelTimeout  = 3 * time.Second        // response.cancel to response.done
	quietTime      = 300 * time.Millisecond // silence after response.done that ends its audio
	// quietTimeAnnounced applies if the service announces the end of its audio, so that
	// a pause between two sentences does not end it.
	quietTimeAnnounced = 2 * time.Second
)

type actionKind int

const (
	actCreate      actionKind = iota // send response.create for seg
	actSpeed                         // set the speed of the segments from seg on
	actCancel                        // send response.cancel for the response id
	actClear                         // send output_audio_buffer.clear
	actEnded                         // call SpeechEnded(seg)
	actFailed                        // call SpeechFailed(seg, code)
	actUnsolicited                   // count an unsolicited response
	actMismatch                      // report a response whose words differ from the text, from byte right on
)

type action struct {
	kind actionKind
	seg  Segment
	id   string // response id, for actCancel
	code string // for actFailed
	// right is how many bytes of the text were said as they are written; for actMismatch.
	right int
}

// queued is a segment that was not yet requested.
type queued struct {
	Segment
	at       time.Time // when it was queued
	repeated bool      // requested before, and withdrawn unheard
}

// utterance is one response of the service, from its request (or from response.created,
// if unsolicited) until no more of its audio can arrive.
type utterance struct {
	queued
	solicited bool
	id        string // response id; empty until response.created
	dropped   bool   // its audio is discarded: cancelled, failed or unsolicited
	started   bool   // its audio has begun
	done      bool   // response.done was received
	released  bool   // output_audio_buffer.stopped, or .cleared after it was dropped, was received

	progress  time.Time // last sign of life, or when it became the head
	droppedAt time.Time
	doneAt    time.Time
	releaseAt time.Time
	lastSound time.Time // its last packet that was not silent
	samples   int       // of its audio so far
	behind    bool      // it was requested while another was live
	reading   reading   // of its text, once words of it are known
	said      string    // its words so far
	differs   bool      // they were found to differ from the text
}

type speech struct {
	markers   bool          // see provider.Voice.HeardPositions
	named     bool          // audio names its response and that response's end
	free      bool          // the service paraphrases, pauses as it likes, and does not announce the end
	pause     time.Duration // silence so far, if free
	proves    bool          // the service may say something else, which is compared while it speaks
	announced bool          // the service sends output_audio_buffer events
	echoes    bool          // the service echoes metadata, so a response without metadata is unsolicited
	speed     float64       // of the session; 1 if zero
	bound     time.Duration // how long the jitter buffer may hold a packet
	waiting   []queued
	live      []*utterance
	out       []action
}

// speed returns the speaking speed of a segment.
func (s Segment) speed() float64 { return cmp.Or(s.Speed, 1) }

// generating reports whether a response is being generated or will be.
func (s *speech) generating() bool {
	return slices.ContainsFunc(s.live, func(u *utterance) bool { return !u.done })
}

// grace allows for audio that arrives after the event that ends it: the data channel
// and RTP are not ordered with each other, and the jitter buffer holds packets.
func (s *speech) grace() time.Duration {
	if s.named {
		return 0
	}
	return max(jitterLeast, s.bound) + 20*time.Millisecond
}

// underWay reports whether the service is speaking or was asked to.
func (s *speech) underWay() bool { return len(s.live) > 0 }

// sounding reports whether the audio of a segment is arriving.
func (s *speech) sounding() bool { return len(s.live) > 0 && s.live[0].started }

// take returns the pending actions, in order.
func (s *speech) take() []action {
	out := s.out
	s.out = nil
	return out
}

func (s *speech) emit(a action) { s.out = append(s.out, a) }

// speak queues a segment.
func (s *speech) speak(seg Segment, now time.Time) {
	at := len(s.waiting)
	if seg.Next {
		at = 0
	}
	s.waiting = slices.Insert(s.waiting, at, queued{Segment: seg, at: now})
	s.settle(now)
}

// cancel silently drops all segments of the generation and older.
func (s *speech) cancel(gen uint32, now time.Time) {
	kept := s.waiting[:0]
	for _, q := range s.waiting {
		if q.ID.Gen > gen {
			kept = append(kept, q)
		}
	}
	s.waiting = kept
	var hit []*utterance
	for _, u := range s.live {
		if u.solicited && !u.dropped && u.ID.Gen <= gen {
			u.dropped, u.droppedAt = true, now
			hit = append(hit, u)
		}
	}
	s.silence(hit...)
	s.settle(now)
}

// silence stops dropped responses at the service. It clears the service's buffer only
// if that contains nothing that should be heard.
func (s *speech) silence(us ...*utterance) {
	for _, u := range us {
		if u.id != "" && !u.done {
			s.emit(action{kind: actCancel, id: u.id})
		}
	}
	if len(us) == 0 {
		return
	}
	for _, u := range s.live {
		if !u.dropped {
			return
		}
	}
	s.emit(action{kind: actClear})
}

// fail ends a segment that cannot be heard (any more).
func (s *speech) fail(u *utterance, code string, now time.Time) {
	u.dropped, u.droppedAt = true, now
	s.emit(action{kind: actFailed, seg: u.Segment, code: code})
	s.silence(u)
}

// created handles response.created. meta is the response's metadata.
func (s *speech) created(id string, meta map[string]string, now time.Time) {
	if s.find(id) != nil {
		return
	}
	u := s.match(meta)
	if u == nil {
		s.unsolicited(id, now)
		s.settle(now)
		return
	}
	u.id, u.progress = id, now
	if u.dropped {
		s.silence(u)
	}
	s.settle(now)
}

// match finds the request that a new response answers: by metadata if the service
// echoes it, else the oldest one.
func (s *speech) match(meta map[string]string) *utterance {
	seg, ok := segmentOf(meta)
	s.echoes = s.echoes || ok
	for _, u := range s.live {
		if u.id == "" && (ok && u.ID == seg || !s.echoes) {
			return u
		}
	}
	return nil
}

// unsolicited handles an unsolicited response, which is cancelled and never played. Its
// audio cannot be distinguished from that of requested segments that have not begun, so
// these are withdrawn and requested again after it, once.
func (s *speech) unsolicited(id string, now time.Time) {
	s.emit(action{kind: actUnsolicited})
	var again []queued
	var hit []*utterance
	place := len(s.live)
	for i, u := range s.live {
		if u.id == "" && i < place {
			place = i
		}
		if u.solicited && !u.dropped && !u.started && !u.repeated {
			u.dropped, u.droppedAt = true, now
			hit = append(hit, u)
			again = append(again, queued{Segment: u.Segment, at: now, repeated: true})
		}
	}
	s.waiting = append(again, s.waiting...)
	u := &utterance{id: id, dropped: true, droppedAt: now, progress: now}
	s.live = append(s.live[:place], append([]*utterance{u}, s.live[place:]...)...)
	s.silence(append(hit, u)...)
}

// done handles response.done. code is empty if the response completed, else why it did
// not. ends reports whether the response was live.
func (s *speech) done(id, code string, now time.Time) (ends bool) {
	u := s.find(id)
	if u == nil || u.done {
		return false
	}
	u.done, u.doneAt, u.progress = true, now, now
	if code != "" && !u.dropped {
		s.fail(u, code, now)
	}
	s.settle(now)
	return true
}

// announce handles output_audio_buffer.started.
func (s *speech) announce() { s.announced = true }

// stopped handles output_audio_buffer.stopped: the service has sent all audio of the
// response. Some services omit the id.
func (s *speech) stopped(id string, now time.Time) {
	if s.named {
		return // not all sent audio has been delivered
	}
	s.announced = true
	u := s.find(id)
	if id == "" && len(s.live) > 0 {
		u = s.live[0]
	}
	if u != nil && !u.released {
		u.released, u.releaseAt = true, now
	}
	s.settle(now)
}

// cleared handles output_audio_buffer.cleared: the service's buffer contains no more
// dropped audio.
func (s *speech) cleared(now time.Time) {
	s.announced = true
	for _, u := range s.live {
		if u.dropped && !u.released {
			u.released, u.releaseAt = true, now
		}
	}
	s.settle(now)
}

// refused handles an error event about a response.create.
func (s *speech) refused(seg audio.SegmentID, code string, now time.Time) {
	for i, u := range s.live {
		if !u.solicited || u.ID != seg || u.id != "" {
			continue
		}
		if !u.dropped {
			s.emit(action{kind: actFailed, seg: u.Segment, code: code})
		}
		s.live = append(s.live[:i], s.live[i+1:]...)
		break
	}
	s.settle(now)
}

// alive records that a response is being generated, before or between its audio.
func (s *speech) alive(id string, now time.Time) {
	if u := s.find(id); u != nil {
		u.progress = now
	}
}

// broke ends the response that is being generated, which the service reports without its id.
func (s *speech) broke(code string, now time.Time) {
	for _, u := range s.live {
		if u.id != "" && !u.done {
			s.done(u.id, code, now)
			return
		}
	}
}

// saying compares the words so far with the text, while they are played: a service says what it is going
// to play. Only a service that may say something else is compared so early.
func (s *speech) saying(id, more string, now time.Time) {
	u := s.find(id)
	if u == nil || !s.proves || len(u.said)+len(more) > maxTranscript {
		return
	}
	u.said += more
	s.compare(u, false)
	s.settle(now)
}

// transcript compares the spoken words with the text. A mismatch is reported once; its audio plays on
// unless the Handler cancels it.
func (s *speech) transcript(id, text string, now time.Time) {
	u := s.find(id)
	if u == nil {
		return
	}
	u.progress, u.said = now, text
	s.compare(u, true)
	s.settle(now)
}

func (s *speech) compare(u *utterance, whole bool) {
	if u.dropped || u.differs {
		return
	}
	if u.reading.text == "" {
		u.reading = newReading(u.Text)
	}
	right, differs := u.reading.deviation(u.said, whole)
	if u.differs = differs; differs {
		s.emit(action{kind: actMismatch, seg: u.Segment, right: right})
	}
}

// audio attributes one packet of decoded audio to a segment; ok is false if it must not
// be played.
func (s *speech) audio(c chunk, now time.Time) (seg audio.SegmentID, ok bool) {
	if len(s.live) == 0 {
		return seg, false
	}
	if s.named {
		return s.ofResponse(c, now)
	}
	switch h := s.live[0]; {
	case s.markers:
		s.turnOver(c)
	case s.free:
		s.turnOverAtPause(c)
	case h.id != "" && !c.silent:
		h.started = true // leading silence does not count
	}
	if len(s.live) == 0 || !s.live[0].started {
		return seg, false
	}
	h := s.live[0]
	h.samples += len(c.pcm)
	if !c.silent {
		h.lastSound, h.progress = now, now
	}
	return h.ID, !h.dropped
}

// ofResponse attributes audio that names its response.
func (s *speech) ofResponse(c chunk, now time.Time) (seg audio.SegmentID, ok bool) {
	u := s.find(c.response)
	if u == nil {
		return seg, false
	}
	if c.ends {
		u.released, u.releaseAt = true, now
	}
	if len(c.pcm) > 0 {
		u.started, u.lastSound, u.progress = true, now, now
	}
	return u.ID, !u.dropped
}

// unclaimed reports whether audio must wait for response.created: without a marker its
// response is unknown, and it may arrive before the event.
func (s *speech) unclaimed() bool {
	return !s.markers && !s.named && len(s.live) > 0 && s.live[0].id == "" && !s.live[0].dropped
}

// turnOver begins the next response's audio at its marker, which ends the previous one.
// A marker without a requested successor is a pause of the same response. If a marker
// is lost, the pause that precedes it is used instead; not for a dropped response,
// because it is unknown whether its audio was to begin.
func (s *speech) turnOver(c chunk) {
	h := s.live[0]
	if !c.marker && (!c.resumes || h.dropped) {
		return
	}
	if h.started && len(s.live) > 1 {
		if !h.dropped {
			s.emit(action{kind: actEnded, seg: h.Segment})
		}
		s.live = s.live[1:]
		h = s.live[0]
	}
	h.started = true
}

func (s *speech) find(id string) *utterance {
	for _, u := range s.live {
		if u.id == id && id != "" {
			return u
		}
	}
	return nil
}

type verdict int

const (
	vanished verdict = iota // a dropped response sends nothing more
	ended
	soundless
	stalled
)

// due returns when the head's timeout expires, and its verdict at that time.
func (s *speech) due(u *utterance) (time.Time, verdict) {
	quiet, first := quietTime, noAudioTimeout
	switch {
	case s.announced:
		quiet = quietTimeAnnounced
	case s.free:
		quiet, first = livePause, liveFirstSound
	}
	switch {
	case u.dropped && u.done && s.named:
		return u.doneAt, vanished
	case u.dropped && u.done && u.released:
		return latest(u.releaseAt, u.doneAt, u.lastSound).Add(s.grace()), vanished
	case u.dropped && u.done && s.free:
		return latest(u.droppedAt, u.lastSound, u.progress).Add(quiet), vanished
	case u.dropped && u.done:
		return latest(u.droppedAt, u.lastSound, u.progress).Add(quietTime), vanished
	case u.dropped:
		return latest(u.droppedAt.Add(cancelTimeout), u.lastSound.Add(quietTime)), vanished
	case u.id == "" && !u.started:
		return u.progress.Add(requestTimeout), stalled
	case !u.done || s.named && !u.released: // the rest is being delivered meanwhile
		return u.progress.Add(stallTimeout), stalled
	case u.released && u.started:
		return latest(u.releaseAt, u.lastSound).Add(s.grace()), ended
	case u.released:
		return u.releaseAt.Add(s.grace()), soundless
	case u.started:
		return latest(u.lastSound, u.progress).Add(quiet), ended
	case u.behind && s.free: // it was part of the preceding audio
		return u.progress.Add(liveFollows), ended
	default:
		return u.progress.Add(first), soundless
	}
}

// settle handles expired timeouts, and requests the next segment if possible.
func (s *speech) settle(now time.Time) {
	for len(s.live) > 0 {
		u := s.live[0]
		at, what := s.due(u)
		if now.Before(at) {
			break
		}
		switch what {
		case stalled:
			s.fail(u, CodeSpeechTimeout, now)
			continue // it is now awaited as a dropped one
		case soundless:
			s.emit(action{kind: actFailed, seg: u.Segment, code: CodeSpeechNoAudio})
		case ended:
			s.emit(action{kind: actEnded, seg: u.Segment})
		case vanished:
		}
		s.live = s.live[1:]
		if len(s.live) > 0 {
			s.live[0].progress = latest(s.live[0].progress, now)
		}
	}
	for len(s.waiting) > 0 && s.mayAsk() {
		q := s.waiting[0]
		if speed := q.speed(); speed != cmp.Or(s.speed, 1) {
			if s.generating() {
				break // the speed can change only between responses
			}
			s.speed = speed
			s.emit(action{kind: actSpeed, seg: q.Segment})
		}
		s.waiting = s.waiting[1:]
		s.live = append(s.live, &utterance{queued: q, solicited: true, progress: now, behind: len(s.live) > 0})
		s.emit(action{kind: actCreate, seg: q.Segment})
	}
	// A service that never stops talking would block the queue forever.
	for len(s.waiting) > 0 && s.blockedUntil().Before(now) {
		s.emit(action{kind: actFailed, seg: s.waiting[0].Segment, code: CodeSpeechTimeout})
		s.waiting = s.waiting[1:]
	}
}

// mayAsk reports whether the next segment may be requested. That is when the service is
// idle. With markers, it is also as soon as the service has generated the previous
// segment's audio, so that synthesis overlaps playback; with a free service, as soon as
// it speaks the previous one. Requests never overlap across generations, because
// cancelling one clears the service's whole buffer. Named audio is delivered long
// before it is played, and the queue has room for one segment of it.
func (s *speech) mayAsk() bool {
	if len(s.live) == 0 {
		return true
	}
	for _, u := range s.live {
		if u.dropped || !u.done || u.ID.Gen != s.waiting[0].ID.Gen {
			return false
		}
	}
	return s.markers && !s.named || s.free && s.live[len(s.live)-1].started
}

// blockedUntil returns when the next segment has waited too long for dropped responses
// to end. It is far in the future while a response is being played.
func (s *speech) blockedUntil() time.Time {
	if len(s.live) == 0 || !s.live[0].dropped {
		return farAway
	}
	return latest(s.live[0].droppedAt, s.waiting[0].at).Add(stallTimeout)
}

var farAway = time.Unix(1<<40, 0)

// deadline returns when settle must be called next.
func (s *speech) deadline() time.Time {
	at := farAway
	if len(s.live) > 0 {
		at, _ = s.due(s.live[0])
	}
	if len(s.waiting) > 0 {
		if b := s.blockedUntil(); b.Before(at) {
			at = b.Add(time.Nanosecond)
		}
	}
	return at
}

func latest(ts ...time.Time) (t time.Time) {
	for _, x := range ts {
		if x.After(t) {
			t = x
		}
	}
	return t
}
