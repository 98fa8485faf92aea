package timeline

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/internal/figures"
)

// moment is a time that may be unknown.
type moment struct {
	at    time.Duration
	known bool
}

func at(d time.Duration) moment { return moment{d, true} }

// or returns m, or n if m is unknown.
func (m moment) or(n moment) moment {
	if m.known {
		return m
	}
	return n
}

// until returns the time from m to n.
func (m moment) until(n moment) Latency {
	if !m.known || !n.known {
		return Latency{}
	}
	return Latency{n.at - m.at, true}
}

// first sets m unless it is known.
func (m *moment) first(d time.Duration) {
	if !m.known {
		*m = at(d)
	}
}

// record is the content of a conversation.
type record struct {
	start, end time.Duration
	unknown    int // lines that this build does not know

	states        []stateSpan
	utterances    []*utterance
	segments      []*segment
	pauses        []pause
	requests      []*request
	exchanges     []*exchange
	interruptions []*interrupted
	marks         []mark
	levels        []level
	gaps          []gap

	heard  map[uint64]int // characters, by request
	words  map[wordsKey]string
	joined map[uint64]int // utterances whose words are those of so many, with the ones before
}

type wordsKey struct {
	kind string
	id   uint64
}

// stateSpan is a span of one phase.
type stateSpan struct {
	phase    string
	from, to time.Duration
	cause    string
	turn     uint64
	code     csm.Code
}

// utterance is what the user said or typed; if typed, onset and final are its time.
type utterance struct {
	id         uint64
	onset, end moment // when its first and last sample were captured
	exact      bool   // the onset is from the local detector
	ended      moment // vad.end
	final      moment // stt.final
	words      int
	class      csm.Class
	lost       csm.Code
	why        csm.EndReason // why it ended
	typed      bool
}

// outcome is the outcome of a segment.
type outcome uint8

const (
	pending outcome = iota
	played
	cut     // interrupted while audible
	dropped // before it was audible
	failed
)

// segment is one piece of speech.
type segment struct {
	speech.Segment
	gen          uint32
	turn         uint64
	spoke        time.Duration // time of Speak
	buffered     moment
	from, to     moment // audible
	outcome      outcome
	code         csm.Code
	samples, all int64 // samples heard when it was flushed, out of all; all is 0 if unknown
}

type pause struct {
	from time.Duration
	to   moment
}

// request is a request to the assistant.
type request struct {
	csm.SendCopilot
	sent         time.Duration
	delta        moment // first response
	firstSegment moment
	cancel, done moment
	code         csm.Code
	attempts     int
	chars        int
}

// exchange is a turn as published.
type exchange struct {
	csm.Turn
	end       csm.TurnEnd
	closed    moment
	utterance uint64 // utterance that was open when the turn was opened
}

// decision is the outcome of an answer that was paused, or flushed at once.
type decision uint8

const (
	undecided decision = iota
	cutOff             // the turn ended as interrupted
	retracted          // the answer resumed
	moot               // the answer ended before the decision
)

// interrupted is an answer that was paused or flushed, provisionally or for good.
type interrupted struct {
	*figures.Interruption
	turn      uint64
	utterance *utterance // nil for a command
	resumed   moment     // when the voice resumed after a retracted interruption
	at        time.Duration
	decision  decision
}

func (i interrupted) onset() time.Duration {
	switch {
	case i.resumed.known:
		return i.resumed.at
	case i.utterance != nil && i.utterance.onset.known:
		return i.utterance.onset.at
	default:
		return i.at
	}
}

// latencies returns the latencies of an interruption, including a retracted one.
func (i interrupted) latencies() Interruption {
	out := Interruption{Onset: i.onset()}
	of := func(f figures.Figure) (l Latency) {
		l.Duration, l.Known = i.Of(f, out.Onset)
		return l
	}
	out.Decided, out.Silent, out.Listening, out.Resumed = of(figures.Decided), of(figures.Silent), of(figures.Listening), of(figures.Resumed)
	if i.utterance != nil {
		out.Utterance = i.utterance.id
	}
	return out
}

// mark is an event at one point in time.
type mark struct {
	kind   string // a CSS class: fault, notice, suspended or bug
	at     time.Duration
	label  string
	detail string
}

type level struct {
	at time.Duration
	journal.Level
}

type gap struct {
	from, to time.Duration
	events   int
}

// horizon returns where the record ends for something that started at from: at the
// next gap, or at the end of the record.
func (r *record) horizon(from time.Duration) time.Duration {
	for _, g := range r.gaps {
		if g.from >= from {
			return g.from
		}
	}
	return r.end
}

// until returns m if known, otherwise the horizon of from.
func (r *record) until(from time.Duration, m moment) time.Duration {
	if m.known {
		return max(m.at, from)
	}
	return r.horizon(from)
}

func (r *record) utterance(id uint64) *utterance {
	for i := len(r.utterances) - 1; i >= 0; i-- {
		if r.utterances[i].id == id {
			return r.utterances[i]
		}
	}
	return nil
}

func (r *record) request(id uint64) *request {
	for i := len(r.requests) - 1; i >= 0; i-- {
		if r.requests[i].Request == id {
			return r.requests[i]
		}
	}
	return nil
}

// exchange returns the latest turn with an id.
func (r *record) exchange(id uint64) *exchange {
	for i := len(r.exchanges) - 1; i >= 0; i-- {
		if r.exchanges[i].ID == id {
			return r.exchanges[i]
		}
	}
	return nil
}

// said returns the text of an utterance, or "" if it is not in the journal.
func (r *record) said(id uint64) string {
	if s, ok := r.words[wordsKey{"joined", id}]; ok {
		return s
	}
	if s, ok := r.words[wordsKey{"utterance", id}]; ok {
		return s
	}
	return r.words[wordsKey{"text", id}]
}

// text returns the heard and the unheard part of a segment's text; both are empty if
// the words are not in the journal. The words of an answer are stored under its
// request, those of a notice under its segment.
func (r *record) text(s *segment) (heard, rest string) {
	var all []rune
	switch {
	case s.Request != 0:
		all = []rune(r.words[wordsKey{"answer", s.Request}])
		start := min(max(s.Start, 0), len(all))
		all = all[start:max(min(s.End, len(all)), start)]
	case s.Ref != 0:
		all = []rune(r.words[wordsKey{"text", s.Ref}])
	default:
		all = []rune(r.words[wordsKey{"notice", uint64(s.Seq)}])
	}
	n := len(all)
	switch {
	case s.outcome == dropped || s.outcome == failed && !s.from.known:
		n = 0
	case s.outcome != played:
		n = min(r.heardChars(s), n)
	}
	return marks.ReplaceAllString(string(all[:n]), ""), marks.ReplaceAllString(string(all[n:]), "")
}

// marks are the marks of code, which are not spoken.
var marks = regexp.MustCompile("```\\w*|`")

// chars returns the length of a segment in characters.
func (s *segment) chars() int { return max(s.End-s.Start, 0) }

// heardChars returns how much of an interrupted segment was heard: as reported by the
// core, or by the flush if the core did not need to know.
func (r *record) heardChars(s *segment) int {
	n := 0
	if s.Request != 0 && s.outcome == cut {
		n = r.heard[s.Request] - s.Start
	}
	if s.all > 0 {
		n = max(n, int(int64(s.chars())*s.samples/s.all))
	}
	return min(max(n, 0), s.chars())
}

// unheard returns the remaining duration of an interrupted segment.
func (s *segment) unheard() time.Duration {
	if s.outcome != cut || s.all <= s.samples {
		return 0
	}
	return audio.Duration(s.all - s.samples)
}

// turns measures the turns.
func (r *record) turns() []Turn {
	turns := make([]Turn, 0, len(r.exchanges))
	seen := map[uint64]bool{} // utterances of earlier turns
	for _, x := range r.exchanges {
		t := r.turn(x, seen)
		seen[t.Utterance] = true
		turns = append(turns, t)
	}
	return turns
}

func (r *record) turn(x *exchange, seen map[uint64]bool) Turn {
	t := Turn{
		ID: x.ID, Utterance: x.Utterance, Request: x.Request, Opened: x.Opened, Closed: r.until(x.Opened, x.closed),
		End: x.end, Code: x.Failed, HeardChars: r.heard[x.Request],
	}
	if t.Utterance == 0 {
		t.Utterance = x.utterance
	}
	req := r.request(x.Request)
	if req == nil {
		req = &request{}
	}
	var speechEnd, final moment
	ids := append([]uint64{t.Utterance}, x.More...)
	for _, id := range ids { // the last one counts: the request with it is answered
		u := r.utterance(id)
		if u == nil {
			continue
		}
		t.Words, t.Typed = t.Words+u.words, u.typed
		if !seen[t.Utterance] {
			speechEnd, final = u.end, u.final
			t.Endpointing = u.end.until(u.ended)
			t.Recognition = u.ended.until(u.final)
		}
	}
	t.Said = r.message(ids)
	if req.Request != 0 {
		t.FirstSign = final.or(at(req.sent)).until(req.delta)
		t.FirstSegment = req.delta.until(req.firstSegment)
	}
	if s := r.firstSegment(x); s != nil {
		t.Synthesis = at(s.spoke).until(s.buffered)
		t.FirstAudio = speechEnd.until(s.from)
	}
	for _, s := range r.spokenIn(x.ID) {
		heard, rest := r.text(s)
		t.Heard, t.Unheard = join(t.Heard, heard), join(t.Unheard, rest)
	}
	for _, i := range r.interruptions {
		switch {
		case i.turn != x.ID:
		case i.decision == cutOff:
			cut := i.latencies()
			t.Interruption = &cut
		case i.decision == retracted:
			t.Retracted = append(t.Retracted, i.latencies())
		}
	}
	return t
}

// message returns the words of a turn's utterances, as they were sent; "" if they are not in the journal.
func (r *record) message(ids []uint64) (said string) {
	for n := len(ids); n > 0; {
		n--
		text := r.said(ids[n])
		said = join(text, said)
		n -= min(max(r.joined[ids[n]]-1, 0), n) // the text is also that of the utterances before
	}
	return said
}

// spokenIn lists the segments of a turn's answer. For a segment that was spoken again
// it has the last time.
func (r *record) spokenIn(turn uint64) []*segment {
	var list []*segment
	for _, s := range r.segments {
		if s.turn != turn || s.Notice != "" || r.superseded(s) {
			continue
		}
		again := slices.IndexFunc(list, func(o *segment) bool { return o.Seq == s.Seq })
		if again >= 0 {
			list[again] = s
			continue
		}
		list = append(list, s)
	}
	return list
}

// superseded reports whether a segment answers the first part of a sentence with a pause: its
// turn asked again with the whole sentence before the segment was audible.
func (r *record) superseded(s *segment) bool {
	x := r.exchange(s.turn)
	return x != nil && s.Request != 0 && s.Request != x.Request && s.outcome == dropped
}

// join concatenates two pieces of a text, with a space between them if neither has one.
func join(a, b string) string {
	if a == "" || b == "" || strings.HasSuffix(a, " ") || strings.HasPrefix(b, " ") {
		return a + b
	}
	return a + " " + b
}

// firstSegment returns the first piece of a turn's answer, or of a text that was read
// aloud in the turn.
func (r *record) firstSegment(x *exchange) *segment {
	for _, s := range r.segments {
		if s.turn == x.ID && s.Notice == "" && !r.superseded(s) {
			return s
		}
	}
	return nil
}
