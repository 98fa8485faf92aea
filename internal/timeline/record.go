package timeline

import (
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/internal/figures"
)

// moment is a time that may not be known.
type moment struct {
	at    time.Duration
	known bool
}

func at(d time.Duration) moment { return moment{d, true} }

// or is m, or n where m is not known.
func (m moment) or(n moment) moment {
	if m.known {
		return m
	}
	return n
}

// until is the time from m to n.
func (m moment) until(n moment) Latency {
	if !m.known || !n.known {
		return Latency{}
	}
	return Latency{n.at - m.at, true}
}

// first keeps the first time that something happened.
func (m *moment) first(d time.Duration) {
	if !m.known {
		*m = at(d)
	}
}

// record is what happened in a conversation.
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

	heard map[uint64]int // characters, by request
	words map[wordsKey]string
}

type wordsKey struct {
	kind string
	id   uint64
}

// stateSpan is a stretch in one phase.
type stateSpan struct {
	phase    string
	from, to time.Duration
	cause    string
	turn     uint64
	code     csm.Code
}

// utterance is what the user said, or typed: then onset and final are when.
type utterance struct {
	id         uint64
	onset, end moment // where its first and last sample were captured
	exact      bool   // a detector on this machine found the onset
	ended      moment // vad.end
	final      moment // stt.final
	words      int
	class      csm.Class
	lost       csm.Code
	typed      bool
}

// outcome is what became of a segment.
type outcome uint8

const (
	pending outcome = iota
	played
	cut     // off while it was heard
	dropped // before it was heard
	failed
)

// segment is one piece of speech.
type segment struct {
	speech.Segment
	gen          uint32
	turn         uint64
	spoke        time.Duration // Speak
	buffered     moment
	from, to     moment // audible
	outcome      outcome
	code         csm.Code
	samples, all int64 // of it that were heard when it was flushed; all is 0 where unknown
}

type pause struct {
	from time.Duration
	to   moment
}

// request is what was asked of the assistant.
type request struct {
	csm.SendCopilot
	sent         time.Duration
	delta        moment // first sign of life
	firstSegment moment
	cancel, done moment
	code         csm.Code
	attempts     int
	chars        int
}

// exchange is a turn as it was published.
type exchange struct {
	csm.Turn
	end       csm.TurnEnd
	closed    moment
	utterance uint64 // that was open when the turn was opened
}

// decision is what became of an answer that was paused, or flushed at once.
type decision uint8

const (
	undecided decision = iota
	cutOff             // the turn ended as interrupted
	takenBack          // the answer went on
	moot               // it was over before anything was decided
)

// interrupted is an answer that was paused or flushed, on a suspicion or for good.
type interrupted struct {
	*figures.Interruption
	turn      uint64
	utterance *utterance // nil for a command
	resumed   moment     // where its voice went on after a pause that had the answer go on
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

// latencies are those of an interruption, and of one that was taken back.
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

// mark is one thing that happened at one time.
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

// horizon is where what began at from is lost sight of: the next gap, or the end
// of the record.
func (r *record) horizon(from time.Duration) time.Duration {
	for _, g := range r.gaps {
		if g.from >= from {
			return g.from
		}
	}
	return r.end
}

// until is m, or where what began at from is lost sight of.
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

// exchange is the latest with that id.
func (r *record) exchange(id uint64) *exchange {
	for i := len(r.exchanges) - 1; i >= 0; i-- {
		if r.exchanges[i].ID == id {
			return r.exchanges[i]
		}
	}
	return nil
}

// said is the text of an utterance, empty where it is not in the journal.
func (r *record) said(id uint64) string {
	if s, ok := r.words[wordsKey{"utterance", id}]; ok {
		return s
	}
	return r.words[wordsKey{"text", id}]
}

// text is what a segment says, in its part that was heard and the rest; both are
// empty where the words are not in the journal. An answer's words are under its
// request, a notice's under its segment.
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
	return string(all[:n]), string(all[n:])
}

// chars is the length of a segment in characters.
func (s *segment) chars() int { return max(s.End-s.Start, 0) }

// heardChars is how much of a segment that was not heard to its end was heard:
// what the core says, or the flush where the core did not need to know.
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

// unheard is how much longer a cut segment would have gone on.
func (s *segment) unheard() time.Duration {
	if s.outcome != cut || s.all <= s.samples {
		return 0
	}
	return audio.Duration(s.all - s.samples)
}

// turns measures the exchanges.
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
	if u := r.utterance(t.Utterance); u != nil {
		t.Words, t.Said, t.Typed = u.words, r.said(u.id), u.typed
		if !seen[u.id] {
			speechEnd, final = u.end, u.final
			t.Endpointing = u.end.until(u.ended)
			t.Recognition = u.ended.until(u.final)
		}
	}
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
		case i.decision == takenBack:
			t.Retracted = append(t.Retracted, i.latencies())
		}
	}
	return t
}

// spokenIn lists the segments of a turn's answer. Of one that was spoken again it
// has the last time.
func (r *record) spokenIn(turn uint64) []*segment {
	var list []*segment
	for _, s := range r.segments {
		if s.turn != turn || s.Notice != "" {
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

// join puts two pieces of a text together, with a space where neither has one.
func join(a, b string) string {
	if a == "" || b == "" || strings.HasSuffix(a, " ") || strings.HasPrefix(b, " ") {
		return a + b
	}
	return a + " " + b
}

// firstSegment is the first piece of a turn's answer, or of a text that was read
// aloud in it.
func (r *record) firstSegment(x *exchange) *segment {
	for _, s := range r.segments {
		if s.turn == x.ID && s.Notice == "" {
			return s
		}
	}
	return nil
}
