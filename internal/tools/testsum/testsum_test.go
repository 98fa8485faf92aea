package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// events returns events in the format of the go command: action, test and output.
func events(t *testing.T, rows ...[3]string) string {
	t.Helper()
	var b strings.Builder
	for _, row := range rows {
		line, err := json.Marshal(event{Action: row[0], Package: "p", Test: row[1], Output: row[2]})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}

func TestGo(t *testing.T) {
	tests := []struct {
		name, in string
		want     counts
		ok       bool
		shows    []string
		hides    []string
	}{
		{
			"all pass", events(t, [3]string{"run", "A"}, [3]string{"output", "A", "quiet\n"}, [3]string{"pass", "A"}, [3]string{"run", "B"}, [3]string{"skip", "B"}, [3]string{"pass"}),
			counts{1, 0, 1}, true, nil, []string{"quiet", "FAIL"},
		},
		{
			"a subtest fails", events(t, [3]string{"run", "A"}, [3]string{"run", "A/x"}, [3]string{"run", "A/y"}, [3]string{"output", "A/x", "why\n"},
				[3]string{"fail", "A/x"}, [3]string{"pass", "A/y"}, [3]string{"fail", "A"}, [3]string{"fail"}),
			counts{1, 1, 0}, false, []string{"FAIL p A/x", "  why"}, nil,
		},
		{
			"a test fails outside of its subtests", events(t, [3]string{"run", "A"}, [3]string{"run", "A/x"}, [3]string{"pass", "A/x"}, [3]string{"output", "A", "late\n"}, [3]string{"fail", "A"}, [3]string{"fail"}),
			counts{1, 1, 0}, false, []string{"FAIL p A", "  late"}, nil,
		},
		{
			"the process dies", events(t, [3]string{"run", "A"}, [3]string{"output", "A", "panic: no\n"}, [3]string{"output", "", "exit status 2\n"}, [3]string{"fail"}),
			counts{0, 1, 0}, false, []string{"panic: no", "exit status 2"}, nil,
		},
		{
			"it does not build", "go: odd\n" + events(t, [3]string{"build-output", "", "x.go:1: bad\n"}, [3]string{"build-fail"}, [3]string{"fail"}),
			counts{0, 1, 0}, false, []string{"go: odd", "x.go:1: bad", "FAIL p"}, nil,
		},
		{
			"packages take long", `{"Action":"pass","Package":"p","Test":"A","Elapsed":30}
{"Action":"pass","Package":"p","Elapsed":31.4}
{"Action":"pass","Package":"q","Elapsed":40}
{"Action":"pass","Package":"r","Elapsed":1}
`, counts{1, 0, 0}, true, []string{"slowest: q 40 s, p 31 s\n"}, []string{"r 1"},
		},
		{"nothing runs", events(t, [3]string{"pass"}), counts{0, 1, 0}, false, []string{"no test ran"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, tt.in, false, tt.want, tt.ok, tt.shows, tt.hides) })
	}
}

func TestNode(t *testing.T) {
	const green = "TAP version 13\nok 1 - connects\n# tests 3\n# pass 2\n# fail 0\n# cancelled 0\n# skipped 1\n# todo 0\n"
	t.Run("green", func(t *testing.T) { check(t, green, true, counts{2, 0, 1}, true, nil, []string{"connects"}) })
	red := strings.NewReplacer("ok 1", "not ok 1", "fail 0", "fail 1", "#", "ℹ").Replace(green)
	t.Run("red", func(t *testing.T) { check(t, red, true, counts{2, 1, 1}, false, []string{"not ok 1 - connects"}, nil) })
	t.Run("no summary", func(t *testing.T) {
		check(t, "npm error\n", true, counts{0, 1, 0}, false, []string{"npm error", "no test ran"}, nil)
	})
}

func check(t *testing.T, in string, node bool, want counts, ok bool, shows, hides []string) {
	t.Helper()
	var out strings.Builder
	file := filepath.Join(t.TempDir(), "sub", "counts")
	got, err := run(strings.NewReader(in), &out, "suite", file, node)
	if err != nil || got != ok {
		t.Errorf("got %v, %v, want %v", got, err, ok)
	}
	for _, s := range append(shows, "suite: "+want.String()) {
		if !strings.Contains(out.String(), s) {
			t.Errorf("no %q in:\n%s", s, out.String())
		}
	}
	for _, s := range hides {
		if strings.Contains(out.String(), s) {
			t.Errorf("unexpected %q in:\n%s", s, out.String())
		}
	}
	line, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if wantLine := strings.NewReplacer(" passed,", "", " failed,", "", " skipped", "").Replace(want.String()) + "\n"; string(line) != wantLine {
		t.Errorf("counts %q, want %q", line, wantLine)
	}
}
