package timeline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// view draws a record.
type view struct{ *record }

// sec returns a time's position on the axis.
func (v view) sec(d time.Duration) float64 {
	return round(max(d-v.start, 0).Seconds(), 3)
}

// span returns an item from one time to another. An item that started before the
// picture is clipped.
func (v view) span(from, to time.Duration, class string, parts []part, detail ...string) item {
	from = max(from, v.start)
	to = max(to, from)
	facts := clock(from-v.start) + " to " + clock(to-v.start) + " (" + short(to-from) + ")"
	if from == to {
		facts = "at " + clock(from-v.start)
	}
	lines := []string{detail[0], facts}
	for _, d := range detail[1:] {
		if d != "" {
			lines = append(lines, d)
		}
	}
	t := v.sec(from)
	return item{T: t, D: round(v.sec(to)-t, 3), Class: class, Parts: parts, Detail: strings.Join(lines, "\n")}
}

// text returns a text from one time to another, which belongs to an item.
func (v view) text(from, to time.Duration, class string, parts []part) item {
	t := v.sec(from)
	return item{T: t, D: round(max(v.sec(to)-t, 0), 3), Class: class, Parts: parts}
}

func (v view) states() []item {
	var list []item
	for _, s := range v.record.states {
		name := stateName(s.phase)
		cause, code := "", ""
		if s.cause != "" {
			cause = "cause: " + s.cause
		}
		if s.code != "" {
			code = "code: " + string(s.code)
		}
		list = append(list, v.span(s.from, s.to, "s-"+s.phase, label(name), name, cause, turnFact(s.turn), code))
	}
	return append(list, v.gapItems()...)
}

// stateLegend returns the legend of the states that occur.
func (v view) stateLegend() (list []legend) {
	for p := range csm.NumPhases {
		if slices.ContainsFunc(v.record.states, func(s stateSpan) bool { return s.phase == p.String() }) {
			list = append(list, legend{"s-" + p.String(), stateName(p.String())})
		}
	}
	return list
}

func (v view) gapItems() (list []item) {
	for _, g := range v.gaps {
		list = append(list, v.span(g.from, g.to, "gap", label("gap"), "Gap in the journal", count(g.events, "event", "events")+" lost"))
	}
	return list
}

func turnFact(turn uint64) string {
	if turn == 0 {
		return ""
	}
	return fmt.Sprintf("turn %d", turn)
}

func (v view) bands(turns []Turn) (list []item) {
	for _, t := range turns {
		from := t.Opened
		if u := v.utterance(t.Utterance); u != nil && u.onset.known {
			from = min(from, u.onset.at)
		}
		if n := len(list); n > 0 { // the next turn may start before the last one is over
			last := &list[n-1]
			last.D = min(last.D, max(v.sec(from)-last.T, 0))
		}
		list = append(list, v.text(from, t.Closed, outcomeName(t.End), label(fmt.Sprintf("Turn %d", t.ID))))
	}
	return list
}

// lost returns the spans that are missing from the journal.
func (v view) lost() (list []item) {
	for _, g := range v.gaps {
		list = append(list, v.text(g.from, g.to, "lost", nil))
	}
	return list
}

func (v view) cuts() (list []item) {
	for _, i := range v.interruptions {
		if i.decision == cutOff {
			list = append(list, v.text(i.onset(), v.until(i.at, moment{i.Listening.At, i.Listening.Known}), "", nil))
		}
	}
	return list
}

func (v view) utterances() []item {
	var list []item
	for n, u := range v.record.utterances {
		end := v.until(u.onset.at, u.end.or(u.ended))
		next := v.record.end
		if n+1 < len(v.record.utterances) {
			next = v.record.utterances[n+1].onset.at
		}
		class, what := "utterance", "You spoke"
		if u.typed {
			class, what, end = "utterance typed", "You typed", u.onset.at
		}
		words, facts := v.utteranceText(u)
		list = append(list,
			v.span(u.onset.at, end, class, nil, what, words[0].Text, facts),
			v.text(u.onset.at, max(next, end), "quote", words))
	}
	return list
}

func (v view) utteranceText(u *utterance) (words []part, facts string) {
	text := v.said(u.id)
	switch {
	case u.lost != "":
		text, facts = "not understood", "code: "+string(u.lost)
	case text != "":
		text = "“" + text + "”"
	case u.words > 0:
		text = count(u.words, "word", "words")
	case u.final.known:
		text = "no words"
	default:
		text = "…"
	}
	switch u.class {
	case csm.Backchannel:
		facts = "backchannel: not sent"
	case csm.Stop:
		facts = "stop word: not sent"
	case csm.Pause:
		facts = "paused the voice: not sent"
	case csm.Continue:
		facts = "resumed the voice"
	case csm.Empty:
		facts = "empty: not sent"
	}
	if facts == "" && u.why != csm.EndedElsewhere && u.why < csm.NumEndReasons {
		facts = "the pause after it was judged by: " + u.why.String()
	}
	return label(text), facts
}

func (v view) segments() []item {
	var list []item
	for n, s := range v.record.segments {
		if !s.from.known {
			continue
		}
		to := v.until(s.from.at, s.to)
		class, what := "segment", "Assistant spoke"
		if s.Notice != "" {
			class, what = "segment notice", "Notice was spoken"
		}
		list = append(list, v.span(s.from.at, to, class, nil, what, plain(v.segmentText(s)), v.heardFact(s), turnFact(s.turn)))
		if rest := s.unheard(); rest > 0 {
			end := to + rest
			if next := slices.IndexFunc(v.record.segments[n+1:], func(s *segment) bool { return s.from.known }); next >= 0 {
				end = min(end, v.record.segments[n+1+next].from.at)
			}
			list = append(list, v.span(to, end, "ghost", nil, "Cut off", short(rest)+" of this segment were not heard"))
		}
	}
	for _, p := range v.pauses {
		list = append(list, v.span(p.from, v.until(p.from, p.to), "paused", nil, "Playback paused"))
	}
	return append(list, v.answers()...)
}

// answers returns the texts of segments, grouped by turn.
func (v view) answers() (list []item) {
	for n := 0; n < len(v.record.segments); {
		turn, group := v.record.segments[n].turn, []*segment(nil)
		var begin moment
		for ; n < len(v.record.segments) && v.record.segments[n].turn == turn; n++ {
			s := v.record.segments[n]
			begin = begin.or(s.from)
			if !v.spokenAgain(n) && !v.record.superseded(s) {
				group = append(group, s)
			}
		}
		if !begin.known {
			continue
		}
		if last := len(list) - 1; last >= 0 {
			list[last].D = round(max(v.sec(begin.at)-list[last].T, 0), 3)
		}
		list = append(list, v.text(begin.at, v.record.end, "quote", v.answer(group)))
	}
	return list
}

// answer returns the text of some segments, or its length in a redacted journal.
func (v view) answer(group []*segment) (parts []part) {
	chars, heard := 0, 0
	for _, s := range group {
		text, rest := v.record.text(s)
		if text+rest != "" || s.Notice != "" {
			parts = append(parts, v.segmentText(s)...)
			continue
		}
		chars += s.chars()
		if s.outcome == played {
			heard += s.chars()
		} else {
			heard += v.heardChars(s)
		}
	}
	switch {
	case chars == 0:
	case heard < chars:
		parts = append(parts, part{Text: fmt.Sprintf("%d of %d characters heard", heard, chars)})
	default:
		parts = append(parts, part{Text: count(chars, "character", "characters") + " heard"})
	}
	return parts
}

// spokenAgain reports whether segment n was synthesized again later.
func (v view) spokenAgain(n int) bool {
	for _, s := range v.record.segments[n+1:] {
		if s.Seq == v.record.segments[n].Seq {
			return true
		}
	}
	return false
}

// segmentText returns a segment's text, with the unheard part separate.
func (v view) segmentText(s *segment) []part {
	heard, rest := v.record.text(s)
	lost := s.outcome == cut || s.outcome == dropped
	switch {
	case heard+rest != "":
		return []part{{Text: heard}, {Text: rest + " ", Cut: lost}}
	case s.Notice != "":
		return []part{{Text: "(" + humanise(s.Notice) + ") ", Cut: lost}}
	default:
		return []part{{Text: count(s.chars(), "character", "characters") + " ", Cut: s.outcome == dropped}}
	}
}

func plain(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return strings.TrimSpace(b.String())
}

func (v view) heardFact(s *segment) string {
	synthesis := "synthesis and transport " + at(s.spoke).until(s.buffered).String()
	switch s.outcome {
	case played:
		return "heard to its end; " + synthesis
	case cut:
		if s.Request != 0 {
			return fmt.Sprintf("interrupted: %d of %s heard; %s", v.heardChars(s), count(s.chars(), "character", "characters"), synthesis)
		}
		return "interrupted; " + synthesis
	case failed:
		return "failed: " + string(s.code)
	}
	return synthesis
}

func (v view) requests() []item {
	var list []item
	for _, q := range v.record.requests {
		end, class, ending := v.until(q.sent, q.done), "request", "answered"
		switch {
		case !q.done.known:
			ending = "end not in the journal"
		case q.cancel.known:
			class, ending = "request cancelled", "cancelled at "+clock(q.cancel.at-v.start)
		case q.code != "":
			class, ending = "request failed", "failed: "+string(q.code)
		}
		attempts := ""
		if q.attempts > 1 {
			attempts = count(q.attempts, "attempt", "attempts")
		}
		if q.chars > 0 {
			ending += ", " + count(q.chars, "character", "characters")
		}
		name, sign := fmt.Sprintf("Request %d", q.Request), "no response"
		if q.delta.known {
			sign = "first response after " + at(q.sent).until(q.delta).String()
		}
		list = append(list, v.span(q.sent, end, class, label(name), name, turnFact(q.Turn), sign, attempts, ending))
		if q.delta.known {
			list = append(list, v.span(q.delta.at, q.delta.at, "delta", nil, "First response", fmt.Sprintf("of request %d", q.Request)))
		}
		if q.cancel.known {
			list = append(list, v.span(q.cancel.at, q.cancel.at, "cancel", nil, "Cancelled", fmt.Sprintf("request %d", q.Request)))
		}
	}
	return list
}

var replyLegend = []legend{
	{"endpointing", "endpointing"}, {"recognition", "recognition"}, {"sign", "first response"},
	{"first", "first segment"}, {"synthesis", "synthesis and transport"},
}

// replies returns the parts of each reply's latency, in sequence.
func (v view) replies(turns []Turn) []item {
	var list []item
	for n, x := range v.exchanges {
		t, q, s := turns[n], v.request(x.Request), v.firstSegment(x)
		said := append([]uint64{t.Utterance}, x.More...)
		u := v.utterance(said[len(said)-1]) // the request with it is answered
		if !t.FirstAudio.Known || q == nil || u == nil {
			continue
		}
		steps := []moment{u.ended, u.final, q.delta, q.firstSegment, s.from}
		from := u.end
		for i, to := range steps {
			if !to.known || to.at < from.at {
				continue
			}
			list = append(list, v.span(from.at, to.at, replyLegend[i].Class, nil, capital(replyLegend[i].Name), fmt.Sprintf("turn %d", t.ID)))
			from = to
		}
		list = append(list, v.text(from.at, from.at, "total", label(short(t.FirstAudio.Duration))))
	}
	return list
}

func (v view) events() []item {
	list := []item{}
	for _, i := range v.interruptions {
		list = append(list, v.interruption(i))
	}
	for _, m := range v.marks {
		list = append(list, v.span(m.at, m.at, "mark "+m.kind, label(m.label), capital(m.label), m.detail))
	}
	for _, g := range v.gaps {
		list = append(list, v.span(g.from, g.from, "mark gap-mark", label("gap"), "Gap in the journal", count(g.events, "event", "events")+" lost"))
	}
	return list
}

// interruption returns the mark of an interruption, or of a suspected one.
func (v view) interruption(i *interrupted) item {
	who := "the user's command"
	if i.utterance != nil {
		who = "the user's voice"
	}
	class, name, what := "mark interruption", "interrupted", "Interrupted by "+who
	l := i.latencies()
	facts := []string{"onset to decided " + l.Decided.String(), "to silent " + l.Silent.String(), "to Listening " + l.Listening.String()}
	if i.decision != cutOff {
		class, name, what = "mark suspicion", "paused", "Paused by "+who
		switch i.decision {
		case retracted:
			name = "retracted"
			facts = append(facts, "retracted, resumed after "+l.Resumed.String())
		case moot:
			facts = append(facts, "the answer ended before the decision")
		default:
			facts = append(facts, "outcome not in the journal")
		}
	}
	return v.span(l.Onset, l.Onset, class, label(name), append([]string{what, turnFact(i.turn)}, facts...)...)
}

// levelFloor is the lowest level that is drawn, in dBFS.
const levelFloor = -60

// areaTime limits the length of a drawing: browsers draw many small ones faster than
// a wide one. levelGap is the longest gap between two levels that is bridged.
const (
	areaTime = 20 * time.Second
	levelGap = time.Second
)

// areas outlines a level over time.
func (v view) areas(of func(level) float64) (list []area) {
	for from := 0; from < len(v.levels); {
		to := from + 1
		for to < len(v.levels) && v.levels[to].at-v.levels[to-1].at <= levelGap && v.levels[to].at >= v.levels[to-1].at &&
			v.levels[to].at-v.levels[from].at <= areaTime {
			to++
		}
		if a, ok := v.area(v.levels[from:to], of); ok {
			list = append(list, a)
		}
		// Neighbours share a point, to avoid seams.
		if to < len(v.levels) && to-from > 1 && v.levels[to].at-v.levels[to-1].at <= levelGap {
			to--
		}
		from = to
	}
	return list
}

func (v view) area(levels []level, of func(level) float64) (area, bool) {
	begin := levels[0].at
	width := (levels[len(levels)-1].at - begin).Milliseconds()
	if width <= 0 {
		return area{}, false
	}
	const height = -levelFloor
	path := append(make([]byte, 0, 9*len(levels)), "M0 "+strconv.Itoa(height)...)
	for _, l := range levels {
		db := min(max(of(l), levelFloor), 0)
		path = append(path, 'L')
		path = strconv.AppendInt(path, (l.at - begin).Milliseconds(), 10)
		path = append(path, ' ')
		path = strconv.AppendInt(path, int64(-db), 10)
	}
	path = append(path, fmt.Sprintf("L%d %dZ", width, height)...)
	t := v.sec(begin)
	return area{T: t, D: round(v.sec(levels[len(levels)-1].at)-t, 3), W: width, Path: string(path)}, true
}
