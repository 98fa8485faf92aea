package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/agentvoice/agentvoice-daemon/bench/roomsim"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

// report is the content of room.json.
type report struct {
	Seed    uint64   `json:"seed"`
	Quick   bool     `json:"quick"`
	System  string   `json:"system"`
	Go      string   `json:"go"`
	Cores   int      `json:"cores"`
	Missing int      `json:"missingRecordings"`
	Memory  float64  `json:"memoryMB"`   // of one media path
	CPU     float64  `json:"cpuPercent"` // of a core, for the media path
	Soft    *spread  `json:"softwareMs"` // from an onset's event to the call of the player, in real time
	Goals   []goal   `json:"goals"`
	Groups  []group  `json:"groups"`
	Alone   []group  `json:"farEnd"`
	Places  []group  `json:"places"`
	Clips   []source `json:"recordings"`

	Live   *roomsim.LiveResult `json:"realTime,omitempty"`
	Beside *roomsim.Result     `json:"realTimeCasesOffline,omitempty"`
	NoLive string              `json:"noRealTime,omitempty"`
	Cells  []cell              `json:"cells"`
	// Openings are first interruptions in the assistant's first seconds.
	Openings []cell `json:"openings"`
	// First are the assistant's first seconds, without a person.
	First []cell `json:"first"`
	// Commands are first interruptions by a single word.
	Commands []cell `json:"commands"`
	// Jumps are conversations in which the echo's delay jumps, without a person.
	Jumps []cell `json:"jumps"`
	// NonInterruptions are conversations with coughs and backchannels, with words from the
	// embedded recognizer.
	NonInterruptions []cell `json:"nonInterruptions"`
}

// cell is a conversation of the matrix and its result.
type cell struct {
	Cell   cellInfo       `json:"cell"`
	Result roomsim.Result `json:"result"`
}

type cellInfo struct {
	Name    string        `json:"name"`
	Profile string        `json:"profile"`
	Seed    uint64        `json:"seed"`
	Place   roomsim.Place `json:"place"`
	Alone   bool          `json:"alone,omitempty"`
	Jump    time.Duration `json:"jump,omitempty"`
}

func describe(c roomsim.Cell) cellInfo {
	return cellInfo{Name: c.Name, Profile: c.Profile, Seed: c.Seed, Place: c.Place, Alone: c.Alone > 0, Jump: c.Jump}
}

// laptop reports whether the devices are those of the goal.
func (c cellInfo) laptop() bool { return c.Place.Render+c.Place.Capture <= 60*time.Millisecond }

// clear reports whether the cell is a laptop without clipping, in a room without
// noise, with a nearby person.
func (c cellInfo) clear() bool {
	return c.laptop() && c.Place.Noise == "" && c.Place.Clip == 0 && c.Place.Quieter == 0
}

// spread holds quantiles.
type spread struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`

	all []float64
}

func spreadOf(values []float64) *spread {
	if len(values) == 0 {
		return nil
	}
	v := slices.Sorted(slices.Values(values))
	// Nearest rank.
	at := func(q float64) float64 { return v[max(0, int(math.Ceil(q*float64(len(v))))-1)] }
	return &spread{N: len(v), P50: at(0.5), P95: at(0.95), P99: at(0.99), Max: v[len(v)-1], all: v}
}

func (s *spread) String() string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f / %.0f / %.0f", s.P50, s.P95, s.P99)
}

// group sums the results of several conversations.
type group struct {
	Profile string `json:"profile"`
	Name    string `json:"name"`

	BargeIns  int     `json:"bargeIns"`
	Deaf      int     `json:"unnoticed"`
	Missed    int     `json:"missed"`
	Others    int     `json:"coughsAndBackchannels"`
	WentOn    int     `json:"wentOn"` // of the others
	Silent    *spread `json:"silentMs"`
	Strong    *spread `json:"silentFromStrongMs"`
	Held      *spread `json:"heldMs"` // from the onset to the hold on suspicion
	Decided   *spread `json:"decidedMs"`
	Listening *spread `json:"listeningMs"`
	Resumed   *spread `json:"resumedMs"`
	Lost      *spread `json:"lostMs"`

	Minutes       float64 `json:"minutes"` // of the assistant's speech
	Pauses        int     `json:"falsePauses"`
	Early         int     `json:"falsePausesAtTheStart"`
	Interruptions int     `json:"falseInterruptions"`
	Holds         int     `json:"falseHolds"`
}

// gather sums the outcomes that keep accepts.
func gather(profile, name string, results []roomsim.Result, keep func(roomsim.Outcome) bool) group {
	g := group{Profile: profile, Name: name}
	var silent, strong, held, decided, listening, resumed, lost []float64
	add := func(to *[]float64, v float64) {
		if v >= 0 {
			*to = append(*to, v)
		}
	}
	for _, r := range results {
		g.Minutes += r.Sounding.Minutes()
		g.Pauses, g.Early, g.Interruptions = g.Pauses+r.Pauses, g.Early+r.Early, g.Interruptions+r.Interruptions
		g.Holds += r.Holds
		for _, o := range r.Outcomes {
			if !keep(o) {
				continue
			}
			if o.Kind != roomsim.BargeIn {
				g.Others++
				if o.WentOn {
					g.WentOn++
					add(&resumed, o.Resumed)
				}
				continue
			}
			g.BargeIns++
			if !o.Interrupted() {
				g.Deaf++
			}
			if o.Missed() {
				g.Missed++
			}
			add(&silent, o.Silent)
			add(&held, o.Held)
			add(&decided, o.Decided)
			add(&listening, o.Listening)
			if o.Interrupted() {
				strong = append(strong, o.Strong)
				if o.Lost > -1e6 {
					lost = append(lost, o.Lost)
				}
			}
		}
	}
	g.Silent, g.Strong, g.Held, g.Decided = spreadOf(silent), spreadOf(strong), spreadOf(held), spreadOf(decided)
	g.Listening, g.Resumed, g.Lost = spreadOf(listening), spreadOf(resumed), spreadOf(lost)
	return g
}

// everybody accepts all voices.
func everybody(roomsim.Outcome) bool { return true }

// of returns a filter for a group of voices.
func of(name string) func(roomsim.Outcome) bool {
	return func(o roomsim.Outcome) bool { return o.Group == name }
}

// people accepts human voices that are not disguised.
func people(o roomsim.Outcome) bool { return o.Group == roomsim.Read || o.Group == roomsim.Acted }

// pickCells returns the results of the cells that keep accepts.
func (r *report) pickCells(keep func(cellInfo) bool) []roomsim.Result {
	var out []roomsim.Result
	for _, c := range r.Cells {
		if keep(c.Cell) {
			out = append(out, c.Result)
		}
	}
	return out
}

// jumps sums conversations in which the echo's delay jumped.
type jumps struct {
	cells, self, most int     // self-interruptions, and the maximum per conversation
	found             *spread // seconds from a jump to its detection
	lost              int     // jumps that were not found
	half              int     // conversations with half duplex
	halfFor           time.Duration
	erle              float64 // minimum at the end
}

// jumps sums the cells that keep accepts.
func (r *report) jumps(keep func(cellInfo) bool) jumps {
	j := jumps{erle: math.Inf(1)}
	var found []float64
	for _, c := range r.Jumps {
		if !keep(c.Cell) {
			continue
		}
		res := c.Result
		j.cells++
		j.self += res.SelfInterruptions()
		j.most = max(j.most, res.SelfInterruptions())
		j.erle = min(j.erle, res.DSP.ERLE)
		late, ok := res.FoundAfter()
		switch {
		case c.Cell.Jump == 0:
		case ok:
			found = append(found, late.Seconds())
		default:
			j.lost++
		}
		if res.HalfDuplex > 0 {
			j.half++
			j.halfFor += res.HalfDuplex
		}
	}
	j.found = spreadOf(found)
	return j
}

// source is the source of recordings.
type source struct {
	Package string `json:"package"`
	Licence string `json:"licence"`
	Holder  string `json:"holder"`
	What    string `json:"what"`
	Used    int    `json:"used"`
}

// sum computes the tables.
func (r *report) sum(cases []roomsim.Case) {
	var used, audio time.Duration
	for _, c := range r.Cells {
		used, audio = used+c.Result.CPU, audio+c.Result.Audio
	}
	if audio > 0 {
		r.CPU = 100 * used.Seconds() / audio.Seconds()
	}
	if r.Live != nil { // the matrix uses the whole machine
		var software []float64
		for _, d := range r.Live.Software {
			software = append(software, float64(d)/1e6)
		}
		r.Soft = spreadOf(software)
	}
	voices := []string{roomsim.Read, roomsim.Acted, roomsim.Cartoon, roomsim.Synthetic}
	for _, p := range append(slices.Clone(roomsim.Profiles), "off") {
		cells := r.pickCells(func(c cellInfo) bool { return c.Profile == p && !c.Alone && (c.clear() || p == "off") })
		if len(cells) == 0 {
			continue
		}
		for _, v := range voices {
			r.Groups = append(r.Groups, gather(p, v, cells, of(v)))
		}
	}
	for _, c := range r.Cells {
		g := gather(c.Cell.Profile, c.Cell.Name, []roomsim.Result{c.Result}, people)
		if c.Cell.Alone {
			r.Alone = append(r.Alone, g)
		} else {
			r.Places = append(r.Places, g)
		}
	}
	counts := map[string]int{}
	for _, rec := range speechdata.All() {
		if slices.ContainsFunc(cases, func(c roomsim.Case) bool { return c.ID == rec.ID }) {
			counts[rec.Package]++
		}
	}
	for _, p := range speechdata.Packages() {
		if counts[p.Name] > 0 {
			r.Clips = append(r.Clips, source{Package: p.Name, Licence: p.Licence, Holder: p.Holder, What: p.Holds, Used: counts[p.Name]})
		}
	}
	r.Goals = r.goals()
}

// print prints the tables to a terminal.
func (r *report) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { fmt.Fprintln(t, strings.Join(cells, "\t")) }
	for _, table := range r.tables() {
		row("\n" + table.title)
		row(table.head...)
		for _, cells := range table.rows {
			row(cells...)
		}
	}
	_ = t.Flush() // to a terminal
}
