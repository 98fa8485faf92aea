package mutants

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func (r result) String() string {
	fate := "SURVIVED"
	switch {
	case r.Caught && r.Test != "":
		fate = fmt.Sprintf("%s %s", r.Detector, r.Test)
	case r.Caught:
		fate = r.Detector
	case r.Excuse != "":
		fate = "equivalent"
	}
	what := strings.Join(r.Breaks, ", ")
	if r.Class != "seeded" {
		what = r.entry()
	}
	return fmt.Sprintf("%s | %s | %s | %.1f s", r.Name, what, fate, r.Seconds)
}

// report writes the complete table to files, and prints the survivors and a summary
// line per kind of mutants.
func report(detectors []detector, results []result, o options, took time.Duration, out io.Writer) error {
	slices.SortStableFunc(results, func(a, b result) int { return cmp.Compare(a.sort(), b.sort()) })
	var table strings.Builder
	fmt.Fprintf(&table, "seed %d\nmutant | breaks, or where and what | caught by | seconds\n", o.seed)
	bad, survived := false, 0
	for _, r := range results {
		fmt.Fprintln(&table, r)
		if !r.Caught && r.Excuse == "" {
			if r.sort() == "automatic" {
				survived++
			} else {
				bad = true
			}
			fmt.Fprintln(out, "SURVIVED", strings.TrimSuffix(r.String(), fmt.Sprintf(" | SURVIVED | %.1f s", r.Seconds)))
		}
		if r.Caught && r.Excuse != "" {
			bad = true
			fmt.Fprintf(out, "CAUGHT, so it is not equivalent; remove it from the list: %s: %s %s\n", r.entry(), r.Test, r.How)
		}
	}
	text, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.out, "report.json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.out, "report.txt"), []byte(table.String()), 0o644); err != nil {
		return err
	}
	for _, sort := range []string{"of the list", "automatic"} {
		summary(detectors, results, sort, out)
	}
	fmt.Fprintf(out, "mutants: %.0f s, seed %d; %s says which test caught which\n", took.Seconds(), o.seed, filepath.Join(o.out, "report.txt"))
	if bad || survived > 0 {
		return errSurvivors
	}
	return nil
}

func (r result) sort() string {
	if r.Class == "seeded" {
		return "of the list"
	}
	return "automatic"
}

// summary returns a line about one kind of mutants.
func summary(detectors []detector, results []result, sort string, out io.Writer) {
	total, caught, equivalent := 0, 0, 0
	by := map[string]int{}
	for _, r := range results {
		switch {
		case r.sort() != sort:
			continue
		case r.Caught:
			caught++
			by[r.Detector]++
		case r.Excuse != "":
			equivalent++
			continue
		}
		total++
	}
	if total+equivalent == 0 {
		return
	}
	var parts []string
	for _, d := range detectors {
		if by[d.Name] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", d.Name, by[d.Name]))
		}
	}
	fmt.Fprintf(out, "mutants %s: %d/%d caught", sort, caught, total)
	if len(parts) > 0 {
		fmt.Fprintf(out, " (%s)", strings.Join(parts, ", "))
	}
	if equivalent > 0 {
		fmt.Fprintf(out, ", %d equivalent", equivalent)
	}
	fmt.Fprintln(out)
}
