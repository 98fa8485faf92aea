package explore

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Options configure an exploration. The zero value explores every world completely with
// one worker.
type Options struct {
	Worlds        []World
	Workers       int
	MaxStates     int // per world, 0 for no limit
	MaxViolations int // per world, after which it stops; 0 means 1
	// Expired, if set, says that time is up. Now, if set, is the time since any fixed
	// point, for the durations in the report.
	Expired func() bool
	Now     func() time.Duration
	// Progress, if set, is called after each level.
	Progress func(world string, states, edges, frontier int)
	// Found, if set, is called immediately with each violation.
	Found func(*Violation)

	step stepFunc
}

func (o *Options) expired() bool { return o.Expired != nil && o.Expired() }

func (o *Options) now() time.Duration {
	if o.Now == nil {
		return 0
	}
	return o.Now()
}

func (o *Options) progress(world string, states, edges, frontier int) {
	if o.Progress != nil {
		o.Progress(world, states, edges, frontier)
	}
}

func (o *Options) violation(v *Violation) {
	if o.Found != nil {
		o.Found(v)
	}
}

// Violation is a failed check, with the shortest list of events that leads to it.
type Violation struct {
	World string         `json:"world"`
	Check string         `json:"check"`
	What  string         `json:"what"`
	Steps []csm.Envelope `json:"-"`

	class string
	extra []csm.Event // further events that demonstrate it
}

func (v *Violation) Error() string {
	return fmt.Sprintf("world %s, check %s: %s, after %d events", v.World, v.Check, v.What, len(v.Steps))
}

// The regions whose states are counted.
const (
	convRegion = iota
	connRegion
	turnRegion
	speechRegion
	copilotRegion
	sessionRegion
	numRegions
)

var regionNames = [numRegions]string{"conversation", "connection", "turn", "speech", "copilot", "session"}

// see records the regions' states.
func (w *worker) see(n *node) {
	s := &n.State
	conv := s.Conv.Phase().String()
	if s.Phase() == csm.PhaseSuspended {
		conv += ", held"
	}
	for i, name := range [numRegions]string{conv, s.Conn.String(), s.Turn.String(), s.Speech.String(), s.Copilot.String(), s.Session.String()} {
		if !w.regions[i][name] {
			w.regions[i][name] = true
		}
	}
}

// WorldReport is the result of one world.
type WorldReport struct {
	World
	States     int                 `json:"states"`
	Edges      int                 `json:"edges"`
	Stale      int                 `json:"stale"` // stale events delivered in addition to the edges
	Depth      int                 `json:"depth"` // length of the longest shortest path
	Closed     bool                `json:"closed"`
	Stopped    string              `json:"stopped,omitempty"` // the reason, if not closed
	Regions    map[string][]string `json:"regions"`
	Seconds    float64             `json:"seconds"`
	HeapBytes  uint64              `json:"heapBytes"`
	Violations []*Violation        `json:"violations,omitempty"`

	fired, met []bool
	guards     [][2]bool
}

func (r *WorldReport) cover(w *worker) {
	if r.fired == nil {
		r.fired, r.guards, r.met = make([]bool, len(w.fired)), make([][2]bool, len(w.guards)), make([]bool, len(w.met))
		r.Regions = map[string][]string{}
	}
	for i, f := range w.fired {
		r.fired[i] = r.fired[i] || f
		for held := range w.guards[i] {
			r.guards[i][held] = r.guards[i][held] || w.guards[i][held]
		}
	}
	for i, met := range w.met {
		r.met[i] = r.met[i] || met
	}
	for i, names := range w.regions {
		all := append(r.Regions[regionNames[i]], slices.Collect(maps.Keys(names))...)
		slices.Sort(all)
		r.Regions[regionNames[i]] = slices.Compact(all)
	}
}

// Report is the result of an exploration.
type Report struct {
	Worlds   []WorldReport `json:"worlds"`
	States   int           `json:"states"`
	Edges    int           `json:"edges"`
	Stale    int           `json:"stale"`
	Seconds  float64       `json:"seconds"`
	HeapPeak uint64        `json:"heapPeakBytes"`
	Checks   []string      `json:"checks"`
	Coverage Coverage      `json:"coverage"`
	// Met and Missed are the situations that some world met and that none met.
	Met    []string `json:"met"`
	Missed []string `json:"missed,omitempty"`
}

// Coverage is the covered part of the transition table: rows, both results of each guard,
// and the rows that lead to Faulted.
type Coverage struct {
	Rows         int      `json:"rows"`
	RowsFired    int      `json:"rowsFired"`
	Branches     int      `json:"branches"`
	BranchesSeen int      `json:"branchesSeen"`
	Faults       int      `json:"faults"`
	FaultsFired  int      `json:"faultsFired"`
	Uncovered    []string `json:"uncovered,omitempty"`
}

// Closed says whether every world was fully explored without a violation.
func (r *Report) Closed() bool {
	return !slices.ContainsFunc(r.Worlds, func(w WorldReport) bool { return !w.Closed })
}

// Violations returns those of all worlds.
func (r *Report) Violations() (out []*Violation) {
	for _, w := range r.Worlds {
		out = append(out, w.Violations...)
	}
	return out
}

// Run explores all worlds.
func Run(o Options) *Report {
	if o.Worlds == nil {
		o.Worlds = Worlds()
	}
	r := &Report{}
	for _, c := range slices.Concat(checks, otherChecks) {
		r.Checks = append(r.Checks, c.name+": "+c.about)
	}
	begin := o.now()
	for i := range o.Worlds {
		from := o.now()
		s := newSearch(&o.Worlds[i], o)
		s.run()
		w := s.report
		w.Seconds = (o.now() - from).Seconds()
		r.Worlds = append(r.Worlds, w)
		r.States += w.States
		r.Edges += w.Edges
		r.Stale += w.Stale
		r.HeapPeak = max(r.HeapPeak, w.HeapBytes)
	}
	r.Seconds = (o.now() - begin).Seconds()
	r.Coverage = coverage(r.Worlds)
	for i, sit := range Situations {
		if slices.ContainsFunc(r.Worlds, func(w WorldReport) bool { return w.met[i] }) {
			r.Met = append(r.Met, sit.Name)
		} else {
			r.Missed = append(r.Missed, sit.Name)
		}
	}
	return r
}

func coverage(worlds []WorldReport) (c Coverage) {
	some := func(of func(*WorldReport) bool) bool {
		return slices.ContainsFunc(worlds, func(w WorldReport) bool { return of(&w) })
	}
	for i, row := range csm.Table() {
		name := fmt.Sprintf("row %d: %v on %v", i, row.From, row.On)
		c.Rows++
		fired := some(func(w *WorldReport) bool { return w.fired[i] })
		if fired {
			c.RowsFired++
		} else {
			c.Uncovered = append(c.Uncovered, strings.TrimSuffix(name+" ["+row.Guard.Name+"]", " []"))
		}
		if row.To == csm.PhaseFaulted && !row.Internal() {
			c.Faults++
			if fired {
				c.FaultsFired++
			}
		}
		if row.Guard.Name == "" {
			continue
		}
		for held, answer := range [2]string{"no", "yes"} {
			c.Branches++
			if some(func(w *WorldReport) bool { return w.guards[i][held] }) {
				c.BranchesSeen++
			} else {
				c.Uncovered = append(c.Uncovered, fmt.Sprintf("%s [%s]: %s", name, row.Guard.Name, answer))
			}
		}
	}
	return c
}

func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s %10s %11s %11s %6s %8s %9s\n", "world", "states", "edges", "stale", "depth", "seconds", "closed")
	for _, w := range r.Worlds {
		end := "yes"
		if !w.Closed {
			end = "no: " + cmp.Or(w.Stopped, "violations")
		}
		fmt.Fprintf(&b, "%-14s %10d %11d %11d %6d %8.1f %9s\n", w.Name, w.States, w.Edges, w.Stale, w.Depth, w.Seconds, end)
	}
	fmt.Fprintf(&b, "%-14s %10d %11d %11d %6s %8.1f   heap %d MiB\n", "all", r.States, r.Edges, r.Stale, "", r.Seconds, r.HeapPeak>>20)
	fmt.Fprintf(&b, "\n%-14s", "bounds")
	for _, name := range boundNames {
		fmt.Fprintf(&b, " %9s", name)
	}
	for _, w := range r.Worlds {
		fmt.Fprintf(&b, "\n%-14s", w.Name)
		for _, n := range w.bounds() {
			fmt.Fprintf(&b, " %9d", n)
		}
		fmt.Fprintf(&b, "  %s", strings.Join(w.Groups.Names(), " "))
	}
	c := r.Coverage
	fmt.Fprintf(&b, "\n\n%d checks of steps, stale and repeated events, and the whole graph\n", len(r.Checks))
	fmt.Fprintf(&b, "rows %d/%d, guard branches %d/%d, rows into Faulted %d/%d\n", c.RowsFired, c.Rows, c.BranchesSeen, c.Branches, c.FaultsFired, c.Faults)
	fmt.Fprintf(&b, "situations %d/%d\n", len(r.Met), len(Situations))
	for _, name := range r.Missed {
		fmt.Fprintf(&b, "  not met: %s\n", name)
	}
	for _, v := range r.Violations() {
		fmt.Fprintln(&b, v.Error())
	}
	return b.String()
}

var digits = regexp.MustCompile(`[0-9]+`)

// summary formats a state in one line.
func summary(s *csm.State) string {
	return fmt.Sprintf("%v/%v/%v/%v/%v/%v turn %d queue %v", s.Phase(), s.Conn, s.Turn, s.Speech, s.Copilot, s.Session, s.Current.ID, s.Queue)
}
