package timeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/figures"
)

// reader builds a record from a journal's lines.
type reader struct {
	record
	now     time.Duration
	event   csm.Event    // of the current line, or nil if unknown
	change  stateChange  // of the current line
	capture moment       // sample 0 of the user's voice
	playing bool         // buffered audio is audible
	floor   *interrupted // the interruption whose Listening is pending or happens in this step
	meter   figures.Meter
	seq     uint64 // of the last event
	blind   bool   // no state was seen since a gap
}

func read(j *journal.Journal) *record {
	r := &reader{record: record{heard: map[uint64]int{}, words: map[wordsKey]string{}, joined: map[uint64]int{}}}
	begun := false
	for _, l := range j.Lines {
		if !begun {
			begun, r.start, r.end = true, l.Time(), l.Time()
		}
		if l.Seq > 0 {
			r.gapBefore(l)
		}
		r.end = max(r.end, l.Time())
		if l.Snapshot != nil { // of the state after an event that is in another file or lost
			r.now, r.event, r.change = l.Time(), nil, stateChange{}
			r.phase(l.Phase)
			continue
		}
		if l.Note != "" {
			r.note(l)
			continue
		}
		r.line(l)
	}
	if n := len(r.states); n > 0 && !r.blind {
		r.states[n-1].to = r.end
	}
	r.trimEnds()
	return &r.record
}

// trimEnds moves the ends of each utterance to where the voice is, except for an
// onset that was detected on this machine with sample accuracy. A service reports an
// onset with its padding, which would make an interruption look slow, and an end with
// the silence that it waited for, which would make a reply look fast.
func (r *record) trimEnds() {
	const below, floor = 30, -50       // below this much under the utterance's peak (dB), or this level (dBFS), there is no voice
	const step = 50 * time.Millisecond // covered by a level, before its time
	for _, u := range r.utterances {
		if !u.onset.known || !u.end.known {
			continue
		}
		span := r.levels[sort.Search(len(r.levels), func(i int) bool { return r.levels[i].at > u.onset.at }):]
		span = span[:sort.Search(len(span), func(i int) bool { return span[i].at > u.end.at })]
		peak := floor + float64(below)
		for _, l := range span {
			peak = max(peak, l.User)
		}
		voiced := func(l level) bool { return l.User > peak-below }
		first, last := slices.IndexFunc(span, voiced), len(span)-1
		for last >= 0 && !voiced(span[last]) {
			last--
		}
		if first < 0 {
			continue
		}
		// Differences below one level and its jitter are not significant.
		if begin := span[first].at - step; !u.exact && begin-u.onset.at > step {
			u.onset = at(begin)
		}
		if u.end.at-span[last].at > step+step/5 {
			u.end = at(span[last].at)
		}
	}
}

func (r *reader) note(l journal.Line) {
	switch l.Note {
	case journal.NoteLevel:
		v := level{at: l.Time()}
		if json.Unmarshal(l.Data, &v.Level) == nil {
			r.levels = append(r.levels, v)
			return
		}
	case journal.NoteOutput:
		var o journal.Sound
		if json.Unmarshal(l.Data, &o) == nil {
			r.output(o)
			return
		}
	case journal.NoteWords:
		var w journal.Words
		if json.Unmarshal(l.Data, &w) == nil {
			r.words[wordsKey{w.Kind, w.ID}] = w.Text
			if w.Of > 0 {
				r.joined[w.ID] = w.Of
			}
			return
		}
	}
	r.unknown++
}

func (r *reader) line(l journal.Line) {
	r.now = l.Time()
	r.event = nil
	if env, err := l.Envelope(); err == nil {
		r.event = env.Event
		r.voice()
		r.assistant()
		r.speech()
	} else {
		r.unknown++
	}
	r.change = stateChange{}
	if l.Phase != "" { // otherwise the outcome is missing
		r.applyEffects(l.Effects)
		r.phase(l.Phase)
	}
	r.playNext()
}

// gapBefore records the events that are missing before a line, if any.
func (r *reader) gapBefore(l journal.Line) {
	if r.seq > 0 && l.Seq > r.seq+1 {
		r.gaps = append(r.gaps, gap{from: r.now, to: max(l.Time(), r.now), events: int(l.Seq - r.seq - 1)})
		if n := len(r.states); n > 0 && !r.blind {
			r.states[n-1].to = r.now
		}
		r.playing, r.blind = false, true
	}
	r.seq = max(r.seq, l.Seq)
}

// phase handles a change of the conversation's state.
func (r *reader) phase(phase string) {
	if n := len(r.states); n > 0 && !r.blind {
		if r.states[n-1].phase == phase {
			return
		}
		r.states[n-1].to = r.now
	}
	r.blind = false
	r.states = append(r.states, stateSpan{phase: phase, from: r.now, cause: r.change.Cause, turn: r.change.Turn, code: r.change.Code})
	switch phase {
	case csm.PhaseSuspended.String():
		r.mark("suspended", "suspended", "why: "+r.change.Cause+r.reason())
	}
	r.followInterruption(phase)
}

// reason returns who requested a suspension, if the cause does not say.
func (r *reader) reason() string {
	s, ok := r.event.(csm.Suspend)
	if !ok {
		return ""
	}
	//exhaustive:enforce
	names := map[csm.SuspendReason]string{
		csm.SuspendUser: "user", csm.SuspendRenewal: "renewal", csm.SuspendConnection: "connection",
		csm.SuspendMicrophone: "microphone", csm.SuspendSpeaker: "speaker", csm.SuspendDiagnostics: "diagnostics", csm.SuspendHeartbeat: "heartbeat",
	}
	return " (" + names[s.Reason] + ")"
}

func (r *reader) mark(kind, label, detail string) {
	r.marks = append(r.marks, mark{kind: kind, at: r.now, label: label, detail: detail})
}

// captured returns when a sample of the user's voice was captured, which is never
// later than its event. If the start of the capture is unknown it returns the event's
// time.
func (r *reader) captured(pos int64) moment {
	if !r.capture.known {
		return moment{}
	}
	return at(min(r.capture.at+audio.Duration(pos), r.now))
}

// onset returns when a voice started: as long before the event as the event says,
// otherwise by its position.
func (r *reader) onset(e csm.SpeechStarted) moment {
	if e.Late > 0 {
		return at(r.now - e.Late)
	}
	return r.captured(e.Pos).or(at(r.now))
}

// voice handles events about the user's voice.
func (r *reader) voice() {
	switch e := r.event.(type) {
	case csm.AudioReady:
		r.capture = at(r.now)
	case csm.SpeechStarted:
		if r.record.utterance(e.Utterance) == nil {
			r.utterances = append(r.utterances, &utterance{id: e.Utterance, onset: r.onset(e), exact: e.Late > 0})
		}
	case csm.SpeechStopped:
		if u := r.record.utterance(e.Utterance); u != nil && !u.ended.known {
			u.end, u.ended, u.why = r.captured(e.Pos), at(r.now), e.Why
		}
	case csm.Partial:
		if u := r.record.utterance(e.Utterance); u != nil {
			u.words = e.Words
		}
	case csm.Final:
		if u := r.record.utterance(e.Utterance); u != nil && !u.final.known {
			u.final, u.words, u.class = at(r.now), e.Words, e.Class
		}
	case csm.RecognitionLost:
		if u := r.record.utterance(e.Utterance); u != nil {
			u.lost = e.Code
		}
	case csm.UserText:
		u := &utterance{id: e.Utterance, onset: at(r.now), words: e.Words, typed: true}
		r.utterances = append(r.utterances, u)
	}
}

// assistant handles events about the answer.
func (r *reader) assistant() {
	switch e := r.event.(type) {
	case csm.CopilotSent:
		if q := r.record.request(e.Request); q != nil {
			q.attempts = max(q.attempts, e.Attempt)
		}
	case csm.CopilotDelta:
		if q := r.record.request(e.Request); q != nil {
			q.delta.first(r.now)
			q.chars = max(q.chars, e.Chars)
		}
	case csm.CopilotSegment:
		if q := r.record.request(e.Request); q != nil {
			q.delta.first(r.now)
			q.firstSegment.first(r.now)
			q.chars = max(q.chars, e.End)
		}
	case csm.CopilotDone:
		if q := r.record.request(e.Request); q != nil && !q.done.known {
			q.done, q.code = at(r.now), e.Code
		}
	}
}

// speech handles events about the assistant's voice.
func (r *reader) speech() {
	switch e := r.event.(type) {
	case csm.SpeechBuffered:
		if s := r.segment(e.Gen, e.Seq); s != nil {
			s.buffered.first(r.now)
		}
	case csm.SpeechPlayed:
		if s := r.segment(e.Gen, e.Seq); s != nil {
			r.heardWhole(s)
		}
	case csm.SpeechDrained:
		for _, s := range r.segments {
			if s.gen == e.Gen && s.Seq <= e.Seq {
				r.heardWhole(s)
			}
		}
		r.playing = false
	case csm.SpeechFlushed:
		r.flushed(e)
	case csm.SpeechFailed:
		if s := r.segment(e.Gen, e.Seq); s != nil && s.outcome == pending {
			s.outcome, s.code = failed, e.Code
			if s.from.known {
				s.to = at(r.now)
			}
		}
	}
}

func (r *reader) segment(gen, seq uint32) *segment {
	for i := len(r.segments) - 1; i >= 0; i-- {
		if s := r.segments[i]; s.gen == gen && s.Seq == seq {
			return s
		}
	}
	return nil
}

// heardWhole ends a segment that was heard completely. If its start was not seen, it
// started when the previous segment ended.
func (r *reader) heardWhole(s *segment) {
	if s.outcome != pending {
		return
	}
	if !s.from.known {
		s.from = at(s.spoke)
		for _, before := range r.segments {
			if before.gen == s.gen && before.Seq < s.Seq && before.to.known {
				s.from.at = max(s.from.at, before.to.at)
			}
		}
	}
	s.to, s.outcome = at(r.now), played
}

// playNext starts the next buffered segment if no other is audible.
func (r *reader) playNext() {
	if !r.playing {
		return
	}
	for _, s := range r.segments {
		if s.outcome != pending {
			continue
		}
		if s.buffered.known {
			s.from.first(r.now)
		}
		return
	}
}

// silenced ends the audible segments of all generations before gen.
func (r *reader) silenced(gen uint32) {
	for _, s := range r.segments {
		if s.gen >= gen || s.outcome != pending {
			continue
		}
		s.outcome = dropped
		if s.from.known {
			s.outcome, s.to = cut, at(r.now)
		}
	}
	r.playing = false
}

// flushed records how much of the flushed segments was heard.
func (r *reader) flushed(e csm.SpeechFlushed) {
	for _, s := range r.segments {
		switch {
		case s.gen != e.Gen || s.outcome != cut:
		case s.Seq < e.Seq:
			s.outcome = played
		case s.Seq == e.Seq:
			s.samples, s.all = e.Played, e.Of
		}
	}
}

// notice records a notification to the user.
func (r *reader) notice(kind string, code csm.Code, turn uint64) {
	detail := "code " + string(code)
	if turn != 0 {
		detail += fmt.Sprintf(", turn %d", turn)
	}
	r.mark(kind, humanise(string(code)), detail)
}
