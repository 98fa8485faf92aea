package main

import (
	"fmt"
	"time"

	"github.com/agentvoice/agentvoice-daemon/bench/roomsim"
)

// goal is a goal with its measured value.
type goal struct {
	What   string `json:"what"`
	Want   string `json:"want"`
	Figure string `json:"figure"`
	Met    string `json:"met"` // met, missed, or not measured
}

func verdict(what, want, figure string, measured, met bool) goal {
	g := goal{What: what, Want: want, Figure: figure, Met: "missed"}
	switch {
	case !measured:
		g.Met, g.Figure = "not measured", "-"
	case met:
		g.Met = "met"
	}
	return g
}

// goals returns the goals of the default profile, for undisguised voices.
func (r *report) goals() []goal {
	loud := gather("default", "", r.pickCells(func(c cellInfo) bool {
		return c.Profile == "default" && !c.Alone && c.clear() && c.Place.EchoGain == -6
	}), people)
	every := gather("default", "", r.pickCells(func(c cellInfo) bool { return c.Profile == "default" && !c.Alone && c.clear() }), people)
	s, l := loud.Silent, loud.Listening
	out := []goal{
		verdict("onset to silence, echo -6 dB, p95", "at most 150 ms", fmt.Sprintf("%.0f ms of %d", p95(s), loud.BargeIns), s != nil, p95(s) <= 150),
		verdict("the same, p50", "about 100 ms", fmt.Sprintf("%.0f ms", p50(s)), s != nil, p50(s) <= 100),
		verdict("onset to Listening, p95", "at most 400 ms", fmt.Sprintf("%.0f ms", p95(l)), l != nil, p95(l) <= 400),
	}
	out = append(out, r.aloneGoals()...)
	out = append(out, r.jumpGoals()...)
	part := func(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }
	mem := gather("", "", r.pickCells(func(c cellInfo) bool { return c.Profile == "default" && !c.Alone }), everybody)
	soft := r.Soft
	out = append(out,
		verdict("interruptions missed", "at most 5 %", fmt.Sprintf("%.1f %%: %d of %d", part(every.Missed, every.BargeIns), every.Missed, every.BargeIns), every.BargeIns > 0, part(every.Missed, every.BargeIns) <= 5),
		verdict("coughs and backchannels after which the answer goes on, all rooms", "at least 95 %", fmt.Sprintf("%.1f %%: %d of %d", part(mem.WentOn, mem.Others), mem.WentOn, mem.Others), mem.Others > 0, part(mem.WentOn, mem.Others) >= 95),
		verdict("what is lost at the beginning, p95", "less than a pre-roll of 300 ms", fmt.Sprintf("%.0f ms", p95(every.Lost)), every.Lost != nil, p95(every.Lost) <= 300),
		verdict("media path", "less than 5 % of a core", fmt.Sprintf("%.1f %%", r.CPU), r.CPU > 0, r.CPU < 5),
		verdict("an onset's event until the player is told, in real time, p99", "less than 5 ms", fmt.Sprintf("%.2f ms", p99(soft)), soft != nil, p99(soft) < 5),
	)
	return out
}

// aloneGoals returns the goals for an assistant alone in the room.
func (r *report) aloneGoals() []goal {
	worst := func(noisy bool) (rate, settled float64, pauses, early, minutes int, measured bool) {
		for _, c := range r.Cells {
			if c.Cell.Profile != "default" || !c.Cell.Alone || (c.Cell.Place.Noise != "") != noisy {
				continue
			}
			measured = true
			scale := 10 / max(c.Result.Sounding.Minutes(), 0.1)
			rate = max(rate, scale*float64(c.Result.Interruptions))
			settled = max(settled, scale*float64(c.Result.Pauses-c.Result.Early))
			pauses, early = pauses+c.Result.Pauses, early+c.Result.Early
			minutes += int(c.Result.Sounding.Minutes() + 0.5)
		}
		return rate, settled, pauses, early, minutes, measured
	}
	var out []goal
	for _, noisy := range []bool{false, true} {
		what, want, most := "false interruptions in 10 minutes, no noise, worst room", "none", 0.0
		if noisy {
			what, want, most = "the same with noise at 10 dB", "at most 1", 1
		}
		rate, settled, pauses, early, minutes, measured := worst(noisy)
		out = append(out,
			verdict(what, want, fmt.Sprintf("%.1f (%d false pauses in %d minutes)", rate, pauses, minutes), measured, rate <= most),
			verdict(what+", after its first "+roomsim.Settled.String(), want, fmt.Sprintf("%.1f pauses (%d)", settled, pauses-early), measured, settled <= most))
	}
	return out
}

// jumpGoals returns the goals for an echo whose delay jumps.
func (r *report) jumpGoals() []goal {
	least := r.jumps(func(c cellInfo) bool { return c.Jump.Abs() == 80*time.Millisecond })
	every := r.jumps(func(c cellInfo) bool { return c.Jump != 0 })
	return []goal{
		verdict("self-interruptions after the echo's delay jumped by 80 ms", "none", fmt.Sprintf("%d in %d conversations", least.self, least.cells), least.cells > 0, least.self == 0),
		verdict("the same by 80 to 200 ms, most in one conversation", "at most 1", fmt.Sprintf("%d (%d in %d)", every.most, every.self, every.cells), every.cells > 0, every.most <= 1),
		verdict("until the new delay is found, p95", "at most 2 s", fmt.Sprintf("%.2f s, p50 %.2f s; %d of %d not found", p95(every.found), p50(every.found), every.lost, every.cells), every.cells > 0, every.lost == 0 && p95(every.found) <= 2),
	}
}

func p50(s *spread) float64 {
	if s == nil {
		return 0
	}
	return s.P50
}

func p95(s *spread) float64 {
	if s == nil {
		return 0
	}
	return s.P95
}

func p99(s *spread) float64 {
	if s == nil {
		return 0
	}
	return s.P99
}
