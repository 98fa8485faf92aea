package timeline

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

// page is the data of the template. Positions and lengths are seconds from the start
// of the picture.
type page struct {
	CSS        template.CSS
	JS         template.JS
	ScriptHash string

	Started  string
	Speed    float64 // 0 for real time
	Build    string
	Content  journal.Content
	Warnings []string
	Tiles    []tile

	Length float64
	Zoom   float64 // pixels per second, before the script fits the page
	Ticks  []tick
	Bands  []item // turns, and gaps
	Cuts   []item // interruptions, across all lanes
	Lanes  []lane
	States []legend
	Legend []legend

	Stages  []Stage // the head of the table
	Silence []Stage
	Turns   []row
	Sums    []row
	Log     []entry
}

// tile is one number of the summary.
type tile struct {
	Name, Value, Note string
	Class             string
}

type tick struct {
	T     float64
	Label string
}

// lane is one row of the picture.
type lane struct {
	Name, Hint, Class string
	Items             []item
	Levels            []area
}

// item is one element of a lane. The first line of Detail is its name; the following
// lines are facts. An item without Detail is a text that belongs to another.
type item struct {
	T, D   float64
	Class  string
	Parts  []part
	Detail string
}

// part is a piece of text; if Cut, it was not heard.
type part struct {
	Text string
	Cut  bool
}

func label(s string) []part { return []part{{Text: s}} }

// area is the outline of a level, in milliseconds and dB above levelFloor.
type area struct {
	T, D float64
	W    int64
	Path string
}

type legend struct{ Class, Name string }

// row is a row of the table of turns.
type row struct {
	ID            string
	Said          []part
	Outcome       string
	Class         string
	Cells         []string
	Answer        []part
	Interruptions []string
}

// entry is a row of the table that has the content of the picture as text.
type entry struct {
	T                float64
	Time, Lane, What string
	Detail           string
}

func newPage(j *journal.Journal, o Options) page {
	r := read(j)
	turns := r.turns()
	v := view{r}
	p := page{
		CSS: template.CSS(pageCSS), JS: template.JS(pageJS), ScriptHash: scriptHash(),
		Build: j.Header.Build, Content: j.Header.Content,
		Length: max(v.sec(r.end), 1), Stages: Stages, Silence: InterruptionStages,
	}
	if s := j.Header.Started; !s.IsZero() {
		p.Started = s.Format("2 January 2006, 15:04:05 MST")
	}
	if j.Header.Speed != 1 {
		p.Speed = j.Header.Speed
	}
	p.Tiles = tiles(r, turns, o)
	p.Warnings = warnings(r, j)
	p.Zoom = min(max(round(1300/p.Length, 1), 20), 200)
	p.Ticks = ticks(p.Length, p.Zoom)
	p.Bands, p.Cuts = append(v.bands(turns), v.lost()...), v.cuts()
	p.Lanes = []lane{
		{Name: "State", Class: "states", Items: v.states()},
		{Name: "You", Class: "you", Hint: "−60 to 0 dBFS", Items: v.utterances(), Levels: v.areas(func(l level) float64 { return l.User })},
		{Name: "Assistant", Class: "assistant", Hint: "−60 to 0 dBFS", Items: v.segments(), Levels: v.areas(func(l level) float64 { return l.Assistant })},
		{Name: "Requests", Class: "requests", Items: v.requests()},
		{Name: "Reply time", Class: "reply", Items: v.replies(turns)},
		{Name: "Events", Class: "events", Items: v.events()},
	}
	p.States, p.Legend = v.stateLegend(), replyLegend
	for _, t := range turns {
		p.Turns = append(p.Turns, v.row(t))
	}
	p.Sums = sums(turns)
	p.Log = log(p.Lanes)
	return p
}

func warnings(r *record, j *journal.Journal) (list []string) {
	if len(j.Lines) == 0 {
		list = append(list, "The journal has only a header: nothing has happened yet.")
	}
	if j.Stops != nil {
		list = append(list, "The record ends early: "+j.Stops.String()+".")
	}
	for _, g := range r.gaps {
		list = append(list, fmt.Sprintf("%s of the journal were lost at %s; their content is unknown.", count(g.events, "event", "events"), clock(g.from-r.start)))
	}
	if r.unknown > 0 {
		list = append(list, fmt.Sprintf("%s of the journal are not known to this build and were left out.", count(r.unknown, "line", "lines")))
	}
	return list
}

func tiles(r *record, turns []Turn, o Options) []tile {
	reply := Summarise(turns, func(t Turn) Latency { return t.FirstAudio })
	silent := Summarise(turns, InterruptionStages[1].Of)
	list := []tile{
		{Name: "Duration", Value: minutes(r.end - r.start)},
		{Name: "Turns", Value: fmt.Sprint(len(turns)), Note: outcomes(turns)},
		{Name: "Reply", Value: "–", Note: "from end of speech to first audio"},
		{Name: "Interruptions", Value: fmt.Sprint(r.count(cutOff))},
	}
	if reply.N > 0 {
		list[2].Value, list[2].Note = short(reply.P50), "after end of speech (median)"
		if reply.Enough() {
			list[2].Note = fmt.Sprintf("after end of speech (median; p95 %s)", short(reply.P95))
		}
	}
	if silent.N > 0 {
		list[3].Note = fmt.Sprintf("silent %s after onset (median)", short(silent.P50))
	}
	if n := r.count(retracted); n > 0 {
		list[3].Note = strings.TrimPrefix(fmt.Sprintf("%s; %d more retracted", list[3].Note, n), "; ")
	}
	if o.Verdict != "" {
		t := tile{Name: "Replay", Value: o.Verdict, Note: "states and effects compared", Class: "good"}
		if o.Differs {
			t.Class = "bad"
		}
		list = append(list, t)
	}
	return list
}

// outcomes counts the outcomes of turns, in a fixed order.
func outcomes(turns []Turn) string {
	var text string
	for _, end := range []csm.TurnEnd{csm.Answered, csm.TurnCutOff, csm.TurnFailed, csm.TurnDropped, ""} {
		n := 0
		for _, t := range turns {
			if t.End == end {
				n++
			}
		}
		if n > 0 {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("%d %s", n, outcomeName(end))
		}
	}
	return text
}

func outcomeName(e csm.TurnEnd) string {
	if e == "" {
		return "open"
	}
	return string(e)
}

// ticks returns marks of the time axis that are at least 70 pixels apart.
func ticks(length, zoom float64) (list []tick) {
	steps := []float64{1, 2, 5, 10, 30, 60, 300, 600, 3600}
	step := steps[len(steps)-1]
	for _, s := range steps {
		if s*zoom >= 70 {
			step = s
			break
		}
	}
	step = max(step, math.Ceil(length/1000)) // a corrupt time may be far off
	for t := 0.0; t <= length; t += step {
		list = append(list, tick{t, minutes(time.Duration(t * float64(time.Second)))})
	}
	return list
}

func (v view) row(t Turn) row {
	out := row{ID: fmt.Sprint(t.ID), Said: label(t.Said), Outcome: outcomeName(t.End), Class: outcomeName(t.End)}
	switch {
	case t.Said != "" || t.Utterance == 0 && t.Words == 0:
	case t.Words > 0:
		out.Said = label(count(t.Words, "word", "words"))
	default:
		out.Said = label("no words")
	}
	if t.Code != "" {
		out.Outcome += ": " + humanise(string(t.Code))
	}
	switch {
	case t.Heard != "" || t.Unheard != "":
		out.Answer = []part{{Text: t.Heard}, {Text: t.Unheard, Cut: true}}
	case t.HeardChars > 0:
		out.Answer = label(count(t.HeardChars, "character", "characters") + " heard")
	}
	if n := len(t.Retracted); n > 0 {
		out.Outcome += "; paused " + count(n, "time", "times")
	}
	for _, s := range Stages {
		out.Cells = append(out.Cells, s.Of(t).String())
	}
	for _, s := range InterruptionStages {
		out.Interruptions = append(out.Interruptions, s.Of(t).String())
	}
	return out
}

// sums returns the summary rows of the table of turns: the medians and, where one
// latency has enough values, the 95th percentiles.
func sums(turns []Turn) []row {
	rows := []row{{ID: "median"}, {ID: "p95"}}
	enough := false
	add := func(s Stage, cells func(*row) *[]string) {
		stat := Summarise(turns, s.Of)
		enough = enough || stat.Enough()
		for i, l := range []Latency{{stat.P50, stat.N > 0}, {stat.P95, stat.Enough()}} {
			c := cells(&rows[i])
			*c = append(*c, l.String())
		}
	}
	for _, s := range Stages {
		add(s, func(r *row) *[]string { return &r.Cells })
	}
	for _, s := range InterruptionStages {
		add(s, func(r *row) *[]string { return &r.Interruptions })
	}
	if !enough {
		rows = rows[:1]
	}
	return rows
}

// log returns the content of the lanes as text, in chronological order.
func log(lanes []lane) (list []entry) {
	for _, l := range lanes {
		for _, i := range l.Items {
			if i.Detail == "" {
				continue
			}
			what, rest := firstLine(i.Detail)
			list = append(list, entry{T: i.T, Time: clock(time.Duration(i.T * float64(time.Second))), Lane: l.Name, What: what, Detail: rest})
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int {
		switch {
		case a.T < b.T:
			return -1
		case a.T > b.T:
			return 1
		}
		return 0
	})
	return list
}
