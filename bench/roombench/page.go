package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/bench/roomsim"
)

// table is a table of the report, for the terminal and the page.
type table struct {
	title string
	note  string
	head  []string
	rows  [][]string
}

// Fields for the template.
func (t table) Title() string    { return t.title }
func (t table) Note() string     { return t.note }
func (t table) Head() []string   { return t.head }
func (t table) Rows() [][]string { return t.rows }

var voiceHead = []string{"profile", "voices", "n", "silent ms p50/p95/p99", "from the loud part", "held", "decided", "Listening", "unnoticed", "missed", "lost ms", "coughs etc.", "went on", "sounds again ms"}

func (g group) row() []string {
	return []string{
		g.Profile, g.Name, fmt.Sprint(g.BargeIns), g.Silent.String(), g.Strong.String(), g.Held.String(), g.Decided.String(), g.Listening.String(),
		fmt.Sprint(g.Deaf), share(g.Missed, g.BargeIns), g.Lost.String(), fmt.Sprint(g.Others), share(g.WentOn, g.Others), g.Resumed.String(),
	}
}

// holds returns the number of holds on false suspicions per minute.
func (g group) holds() string { return fmt.Sprintf("%.1f", float64(g.Holds)/max(g.Minutes, 0.01)) }

func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(of))
}

func (r *report) tables() []table {
	goals := table{title: "Goals", note: "Default profile, undisguised human voices and laptop devices, unless stated otherwise.", head: []string{"goal", "wanted", "measured", ""}}
	for _, g := range r.Goals {
		goals.rows = append(goals.rows, []string{g.What, g.Want, g.Figure, g.Met})
	}
	voices := table{title: "Interruptions by profile and voices", note: "Rooms without noise, echo -6 and -12 dB, the delays of a laptop. Times in milliseconds: p50 / p95 / p99.", head: voiceHead}
	for _, g := range r.Groups {
		voices.rows = append(voices.rows, g.row())
	}
	places := table{title: "Interruptions by room", note: "Human voices, read and acted. False pauses and holds occurred while the person was silent; a hold lasts 0.15 to 0.3 s.", head: append([]string{}, voiceHead...)}
	places.head[1] = "room"
	places.head = append(places.head, "false pauses", "holds a minute")
	for _, g := range r.Places {
		places.rows = append(places.rows, append(g.row(), fmt.Sprint(g.Pauses), g.holds()))
	}
	troubles := table{title: "Failed conversations", head: []string{"profile", "room", "what"}}
	for _, c := range slices.Concat(r.Cells, r.Jumps) {
		for _, e := range c.Result.Errors {
			troubles.rows = append(troubles.rows, []string{c.Cell.Profile, c.Cell.Name, e})
		}
	}
	out := []table{goals, r.measured(), voices, places, r.aloneTable()}
	if r.Openings != nil {
		out = append(out, r.openingsTable())
	}
	if r.First != nil {
		out = append(out, r.firstTable())
	}
	if r.Commands != nil {
		out = append(out, r.commandsTable())
	}
	if r.Jumps != nil {
		out = append(out, r.jumpsTable())
	}
	if r.NonInterruptions != nil {
		out = append(out, r.nonInterruptionsTable())
	}
	if r.Live != nil {
		out = append(out, r.liveTable())
	}
	if len(troubles.rows) > 0 {
		out = append(out, troubles)
	}
	clips := table{title: "Recordings", note: "Human recordings, unless marked synthetic. They stay on the machine that downloaded them.", head: []string{"package", "licence", "by", "what", "clips"}}
	for _, c := range r.Clips {
		clips.rows = append(clips.rows, []string{c.Package, c.Licence, c.Holder, c.What, fmt.Sprint(c.Used)})
	}
	return slices.DeleteFunc(append(out, clips), func(t table) bool { return len(t.rows) == 0 })
}

func (r *report) measured() table {
	t := table{title: "The media path", head: []string{"what", "figure"}}
	t.rows = [][]string{
		{"processor time, of a core at real time", fmt.Sprintf("%.2f %%", r.CPU)},
		{"memory of one", fmt.Sprintf("%.0f MB", r.Memory)},
		{"an onset's event until the player is told, in real time, ms p50/p99/most", "-"},
		{"recordings missing", fmt.Sprint(r.Missing)},
		{"real time", "see below"},
	}
	if s := r.Soft; s != nil {
		t.rows[2][1] = fmt.Sprintf("%.3f / %.3f / %.3f", s.P50, s.P99, s.Max)
	}
	if r.Live == nil {
		t.rows[4][1] = "not measured: " + r.NoLive
	}
	return t
}

func (r *report) aloneTable() table {
	t := table{title: "The assistant alone", note: "The person is silent, so each pause is false. In the first " + roomsim.Settled.String() + " the echo canceller is still adapting.",
		head: []string{"profile", "room", "minutes", "false pauses", "of these at the start", "a minute", "false interruptions", "holds a minute"}}
	for _, g := range r.Alone {
		t.rows = append(t.rows, []string{g.Profile, g.Name, fmt.Sprintf("%.1f", g.Minutes), fmt.Sprint(g.Pauses), fmt.Sprint(g.Early), fmt.Sprintf("%.2f", float64(g.Pauses)/max(g.Minutes, 0.01)), fmt.Sprint(g.Interruptions), g.holds()})
	}
	return t
}

// openingsTable shows interruptions while the canceller is still adapting.
func (r *report) openingsTable() table {
	t := table{title: "Interruptions in the assistant's first seconds", note: "The first interruption of a conversation, in all rooms, after the given duration of the assistant's speech. The same person asked the question, 0.5 to 1 s after the microphone opened, except for \"answer at 0.3 s\", where it was typed at once. New loudspeakers were not used before; for known ones the echo's delay is recalled. With headphones there is no echo.", head: voiceHead}
	for _, o := range roomsim.Opened {
		var results []roomsim.Result
		for _, c := range r.Openings {
			if strings.HasSuffix(c.Cell.Name, o.String()) {
				results = append(results, c.Result)
			}
		}
		t.rows = append(t.rows, gather("default", o.String(), results, people).row())
	}
	return t
}

// firstTable shows false pauses in the assistant's first seconds.
func (r *report) firstTable() table {
	t := table{title: "The assistant alone in the first " + roomsim.Settled.String(), note: "New devices, after a spoken question: each pause is false.",
		head: []string{"place", "conversations", "false pauses", "false interruptions", "holds"}}
	for _, b := range roomsim.Beginnings {
		var results []roomsim.Result
		for _, c := range r.First {
			if strings.HasSuffix(c.Cell.Name, ", "+b.Name) {
				results = append(results, c.Result)
			}
		}
		g := gather("default", b.Name, results, people)
		t.rows = append(t.rows, []string{b.Name, fmt.Sprint(len(results)), fmt.Sprint(g.Pauses), fmt.Sprint(g.Interruptions), fmt.Sprint(g.Holds)})
	}
	return t
}

// jumpsTable shows the effect of a jump of the echo's delay: by its size over all
// rooms, and by room.
func (r *report) jumpsTable() table {
	t := table{title: "The echo's delay jumps", note: "During a conversation without a person; the assistant continues for 20 s. Seconds until the delay is found for good: p50 / p95 / max.",
		head: []string{"jump, or room", "conversations", "self-interruptions", "most in one", "found after s", "not found", "half duplex entered", "for s", "echo taken out at the end dB, least"}}
	row := func(name string, of func(cellInfo) bool) {
		if j := r.jumps(of); j.cells > 0 {
			found := "-"
			if s := j.found; s != nil {
				found = fmt.Sprintf("%.2f / %.2f / %.2f", s.P50, s.P95, s.Max)
			}
			t.rows = append(t.rows, []string{
				name, fmt.Sprint(j.cells), fmt.Sprint(j.self), fmt.Sprint(j.most), found, fmt.Sprint(j.lost),
				fmt.Sprint(j.half), fmt.Sprintf("%.1f", j.halfFor.Seconds()), fmt.Sprintf("%.0f", j.erle),
			})
		}
	}
	var rooms []string
	for _, by := range roomsim.Jumped {
		row(fmt.Sprintf("%+d ms", by.Milliseconds()), func(c cellInfo) bool { return c.Jump == by })
	}
	for _, c := range r.Jumps {
		if !slices.Contains(rooms, c.Cell.Place.Room) {
			rooms = append(rooms, c.Cell.Place.Room)
		}
	}
	for _, room := range rooms {
		row(room+", by 80 to 200 ms", func(c cellInfo) bool { return c.Place.Room == room && c.Jump != 0 })
	}
	return t
}

// commandsTable shows interruptions by one word.
func (r *report) commandsTable() table {
	t := table{title: "One-word commands", note: "The first interruption of a conversation is one word. Human words are in any language; few recordings contain only a command, so \"stop\", \"no\" and \"wait\" are synthetic, except for one human \"no\".", head: voiceHead}
	for _, o := range roomsim.Commanded {
		var results []roomsim.Result
		for _, c := range r.Commands {
			if strings.HasSuffix(c.Cell.Name, o.String()) {
				results = append(results, c.Result)
			}
		}
		t.rows = append(t.rows, gather("default", o.String()+", human", results, people).row(), gather("default", o.String()+", synthetic", results, of(roomsim.Synthetic)).row())
	}
	return t
}

// nonInterruptionsTable shows the results for coughs and backchannels with a real recognizer
// instead of the oracle.
func (r *report) nonInterruptionsTable() table {
	t := table{title: "Coughs and backchannels with the embedded recognizer", note: "Default profile. The recognizer knows only English and returns words for most sounds; the core ignores uncertain ones.",
		head: []string{"what", "n", "paused for", "Listening", "went on"}}
	sorts := []struct {
		name string
		is   func(roomsim.Outcome) bool
	}{
		{"coughs", func(o roomsim.Outcome) bool { return strings.HasPrefix(o.ID, "cough/") }},
		{"laughter", func(o roomsim.Outcome) bool { return strings.HasPrefix(o.ID, "laugh/") }},
		{"backchannels, English and sounds", func(o roomsim.Outcome) bool { return o.Kind == roomsim.Backchannel && (o.Lang == "" || o.Lang == "en") }},
		{"backchannels, other languages", func(o roomsim.Outcome) bool { return o.Kind == roomsim.Backchannel && o.Lang != "" && o.Lang != "en" }},
	}
	for _, s := range sorts {
		n, paused, listening, on := 0, 0, 0, 0
		for _, c := range r.NonInterruptions {
			for _, o := range c.Result.Outcomes {
				if !s.is(o) {
					continue
				}
				n++
				for figure, is := range map[*int]bool{&paused: o.Interrupted(), &listening: o.Listening >= 0, &on: o.WentOn} {
					if is {
						*figure++
					}
				}
			}
		}
		t.rows = append(t.rows, []string{s.name, fmt.Sprint(n), share(paused, n), share(listening, n), share(on, n)})
	}
	return t
}

func (r *report) liveTable() table {
	live := gather("default", "real devices, in real time", []roomsim.Result{r.Live.Result}, everybody)
	beside := gather("default", "the same on the virtual clock", []roomsim.Result{*r.Beside}, everybody)
	x := r.Live
	t := table{title: "In real time", head: append(append([]string{}, voiceHead...), "false pauses", "holds a minute"), note: fmt.Sprintf(
		"A private PulseAudio and PortAudio devices. The devices report %v out and in; xruns: %d out, %d in; frames lost: %d; far-end frames too late: %d; devices lost: %d; labels lost: %d; left out before the microphone, where the server ran dry: %v.",
		x.Reported.Round(time.Millisecond), x.Sink.Xruns, x.Source.Xruns, x.Source.Lost, x.Underruns, x.Losses, x.Unlabelled, x.LeftOut)}
	t.rows = [][]string{append(live.row(), fmt.Sprint(live.Pauses), live.holds()), append(beside.row(), fmt.Sprint(beside.Pauses), beside.holds())}
	return t
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// plot is a picture with its title.
type plot struct {
	Title string
	SVG   template.HTML
}

// page is room.html.
func (r *report) page() ([]byte, error) {
	var out bytes.Buffer
	err := pageTemplate.Execute(&out, map[string]any{
		"Seed": r.Seed, "System": r.System, "Cores": r.Cores, "Tables": r.tables(),
		"Plots": []plot{{"Onset to silence at the loudspeaker: the part of all interruptions that is silent by then", r.curves()}, {"False pauses a minute while the assistant speaks alone", r.bars()}},
	})
	return out.Bytes(), err
}

var colours = map[string]string{"default": "#2563eb", "assertive": "#c2410c", "cautious": "#15803d"}

// curves plots the latency distributions by profile. Undetected interruptions keep a
// curve below its top.
func (r *report) curves() template.HTML {
	const width, height, most = 640.0, 240.0, 800.0
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="-44 -10 %.0f %.0f" role="img">`, width+130, height+44)
	for i := 0; i <= 4; i++ {
		y := height * float64(i) / 4
		fmt.Fprintf(&b, `<path d="M0 %.1fH%.0f" class="grid"/><text x="-6" y="%.1f" text-anchor="end">%d %%</text>`, y, width, y+4, 100-25*i)
	}
	for x := 0.0; x <= most; x += 100 {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.0f" text-anchor="middle">%.0f</text>`, width*x/most, height+18, x)
	}
	fmt.Fprintf(&b, `<path d="M%.1f 0V%.0f" class="goal"/><text x="%.1f" y="%.0f" text-anchor="middle">ms</text>`, width*150/most, height, width/2, height+33)
	for i, p := range roomsim.Profiles {
		g := gather(p, "", r.pickCells(func(c cellInfo) bool { return c.Profile == p && !c.Alone && c.clear() }), people)
		if g.Silent == nil {
			continue
		}
		path := fmt.Sprintf("M0 %.1f", height)
		for k, v := range g.Silent.all {
			x := width * min(v, most) / most
			path += fmt.Sprintf("H%.1fV%.1f", x, height*(1-float64(k+1)/float64(g.BargeIns)))
		}
		fmt.Fprintf(&b, `<path d="%sH%.0f" fill="none" stroke="%s" stroke-width="2"/><text x="%.0f" y="%d" fill="%s">%s</text>`, path, width, colours[p], width+8, 16+18*i, colours[p], p)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) //nolint:gosec // numbers and names of ours
}

// bars plots the false pauses of the default profile by room; the darker part is from
// the start.
func (r *report) bars() template.HTML {
	const width, row = 420.0, 22.0
	var rows []group
	most := 0.1
	for _, g := range r.Alone {
		if g.Profile == "default" && g.Minutes > 0 {
			rows = append(rows, g)
			most = max(most, float64(g.Pauses)/g.Minutes)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %.0f %.0f" role="img">`, width+380, row*float64(len(rows))+6)
	for i, g := range rows {
		y := row * float64(i)
		rate, early := float64(g.Pauses)/g.Minutes, float64(g.Early)/g.Minutes
		fmt.Fprintf(&b, `<text x="310" y="%.1f" text-anchor="end">%s</text>`, y+15, template.HTMLEscapeString(strings.TrimSuffix(g.Name, ", assistant alone")))
		fmt.Fprintf(&b, `<rect x="318" y="%.1f" width="%.1f" height="14" fill="#93c5fd"/><rect x="318" y="%.1f" width="%.1f" height="14" fill="#1d4ed8"/>`, y+4, width*rate/most, y+4, width*early/most)
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f">%.2f</text>`, 324+width*rate/most, y+15, rate)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) //nolint:gosec // numbers and names of ours
}
