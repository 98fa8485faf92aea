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

// reader makes a record of a journal's lines.
type reader struct {
	record
	now     time.Duration
	event   csm.Event    // of the present line, nil where it is not known
	change  stateChange  // of the present line
	capture moment       // sample 0 of the user's voice
	playing bool         // what is buffered is heard
	floor   *interrupted // the interruption whose Listening is still to come, or is now
	meter   figures.Meter
	seq     uint64 // of the last event
	blind   bool   // since a gap, no state was seen
}

func read(j *journal.Journal) *record {
	r := &reader{record: record{heard: map[uint64]int{}, words: map[wordsKey]string{}}}
	begun := false
	for _, l := range j.Lines {
		if !begun {
			begun, r.start, r.end = true, l.Time(), l.Time()
		}
		if l.Seq > 0 {
			r.gapBefore(l)
		}
		r.end = max(r.end, l.Time())
		if l.Snapshot != nil { // of the state after an event that is elsewhere, or is lost
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

// trimEnds moves the ends of each utterance to where the voice is, but for an onset
// that was found on this machine, to the sample. A service reports an onset with its padding, and an end with the silence that it waited
// for; the one would make an interruption look slow, the other a reply fast.
func (r *record) trimEnds() {
	const below, floor = 30, -50       // dB under the utterance's peak, and dBFS: no voice
	const step = 50 * time.Millisecond // that a level stands for, up to its time
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
		// What is closer than a level and its jitter is not told apart.
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
	if l.Phase != "" { // else the outcome is missing
		r.applyEffects(l.Effects)
		r.phase(l.Phase)
	}
	r.playNext()
}

// gapBefore marks the events that are missing before a line, if any are.
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

// phase follows the state of the conversation.
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

// reason says who asked for a suspension, where the cause does not.
func (r *reader) reason() string {
	s, ok := r.event.(csm.Suspend)
	if !ok {
		return ""
	}
	//exhaustive:enforce
	names := map[csm.SuspendReason]string{
		csm.SuspendUser: "user", csm.SuspendRenewal: "renewal", csm.SuspendConnection: "connection",
		csm.SuspendDevice: "device", csm.SuspendDiagnostics: "diagnostics", csm.SuspendHeartbeat: "heartbeat",
	}
	return " (" + names[s.Reason] + ")"
}

func (r *reader) mark(kind, label, detail string) {
	r.marks = append(r.marks, mark{kind: kind, at: r.now, label: label, detail: detail})
}

// captured is when a sample of the user's voice was captured: never later than
// its event, which is taken where the beginning of the capture is not known.
func (r *reader) captured(pos int64) moment {
	if !r.capture.known {
		return moment{}
	}
	return at(min(r.capture.at+audio.Duration(pos), r.now))
}

// onset is when a voice began: as late before the event as the event says, else by
// its position.
func (r *reader) onset(e csm.SpeechStarted) moment {
	if e.Late > 0 {
		return at(r.now - e.Late)
	}
	return r.captured(e.Pos).or(at(r.now))
}

// voice takes facts about the user's voice.
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
			u.end, u.ended = r.captured(e.Pos), at(r.now)
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

// assistant takes facts about the answer.
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

// speech takes facts about the assistant's voice.
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

// heardWhole ends a segment that was heard to its end. One whose beginning was
// not seen began when the one before it ended.
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

// playNext has the next buffered segment begin when nothing else is heard.
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

// silenced ends what was to be heard of all generations before gen.
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

// flushed learns how much was heard of what a flush silenced.
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

// notice says that the user was told of something.
func (r *reader) notice(kind string, code csm.Code, turn uint64) {
	detail := "code " + string(code)
	if turn != 0 {
		detail += fmt.Sprintf(", turn %d", turn)
	}
	r.mark(kind, humanise(string(code)), detail)
}
