package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// display is a terminal: it keeps what its rows show. A character has one cell, or two if wide says so.
type display struct {
	columns  int
	rows     [][]rune // 0 is the second cell of the character before it
	row, col int
	noWrap   bool
}

const wide = "日本語話中今何時👍👩💻🎉"

func (d *display) Write(b []byte) (int, error) {
	sequence := regexp.MustCompile(`^\x1b\[([?0-9]*)([A-Za-z])`)
	for text := string(b); text != ""; {
		if m := sequence.FindString(text); m != "" {
			switch m {
			case "\x1b[J":
				d.put(d.row, d.col, 0)
				d.rows = d.rows[:d.row+1]
				d.rows[d.row] = d.rows[d.row][:d.col]
			case noWrap, wrapAgain:
				d.noWrap = m == noWrap
			default:
				return 0, fmt.Errorf("unknown sequence %q", m)
			}
			text = text[len(m):]
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		d.print(r)
	}
	return len(b), nil
}

func (d *display) print(r rune) {
	cells := 1
	switch {
	case r == '\r':
		d.col = 0
		return
	case r == '\n':
		d.row, d.col = d.row+1, 0
		return
	case strings.ContainsRune(wide, r):
		cells = 2
	}
	if d.col+cells > d.columns {
		if d.noWrap {
			d.col = d.columns - cells
		} else {
			d.row, d.col = d.row+1, 0
		}
	}
	d.put(d.row, d.col, r)
	if cells == 2 {
		d.put(d.row, d.col+1, 0)
	}
	d.col += cells
}

// put sets a cell, and makes the row and the cells before it.
func (d *display) put(row, col int, r rune) {
	for len(d.rows) <= row {
		d.rows = append(d.rows, nil)
	}
	for len(d.rows[row]) <= col {
		d.rows[row] = append(d.rows[row], ' ')
	}
	if r != 0 || col > 0 {
		d.rows[row][col] = r
	}
}

// resize wraps the rows again, as most terminals do. The cursor stays on its character.
func (d *display) resize(columns int) {
	var rows [][]rune
	at := 0
	for i, row := range d.rows {
		if i == d.row {
			at = len(rows)
		}
		for len(row) > columns {
			rows, row = append(rows, row[:columns]), row[columns:]
		}
		rows = append(rows, row)
	}
	d.columns, d.rows, d.row = columns, rows, at
}

func (d *display) text() (rows []string) {
	for _, row := range d.rows {
		rows = append(rows, strings.TrimRight(strings.ReplaceAll(string(row), "\x00", ""), " "))
	}
	return rows
}

// shown returns a view on a display of that width.
func shown(d *display) *talkView {
	return &talkView{
		screen: screen{out: d, live: true, columns: func() int { return d.columns }},
		idle:   make(chan struct{}), stamp: func(time.Time) string { return strings.Repeat(" ", margin-2) },
	}
}

// Partial words, levels and lines leave nothing behind: the terminal has the lines that were
// printed, and one status line that is not wider than the terminal.
func TestPartialWordsLeaveNoLines(t *testing.T) {
	for name, said := range map[string]string{
		"short":    "hello there",
		"long":     strings.Repeat("a few words that go on ", 12),
		"one word": strings.Repeat("x", 300),
		"Japanese": strings.Repeat("今何時日本語話中", 20),
		"emoji":    strings.Repeat("well 👩\u200d💻 done 👍🎉 ", 15),
		"control":  "\x1b[2J\r\n\x07" + strings.Repeat("evil\x1b[10A ", 20),
	} {
		for _, columns := range []int{25, 40, 80, 120, 200} {
			d := &display{columns: columns}
			v := shown(d)
			v.notify("", protocol.StateParams{State: protocol.StateListening, Label: "● Listening"})
			for i := range said {
				v.notify("", protocol.TranscriptParams{Role: protocol.RoleUser, Text: said[:i]})
				v.notify("", protocol.LevelParams{Input: 0.5, Output: 0.1})
			}
			rows := d.text()
			if len(rows) != 2 || !strings.HasSuffix(rows[0], "● Listening") || !strings.HasPrefix(rows[1], "● Listening") || d.row != 1 || d.col != 0 {
				t.Fatalf("%s at %d columns: cursor at %d, %d in\n%s", name, columns, d.row, d.col, strings.Join(rows, "\n"))
			}
			if len(d.rows[1]) >= columns {
				t.Errorf("%s at %d columns: the status line has %d cells", name, columns, len(d.rows[1]))
			}
			if end := []rune(said)[len([]rune(said))-3]; name == "Japanese" && !strings.ContainsRune(rows[1], end) {
				t.Errorf("%s at %d columns: the last words are not shown: %s", name, columns, rows[1])
			}
			v.notify("", protocol.TranscriptParams{Role: protocol.RoleUser, Text: said, Final: true})
			rows = d.text()
			for i, row := range rows[1 : len(rows)-1] {
				if (i == 0) != strings.Contains(row, "you: ") || columns >= 40 && strings.TrimSpace(row) == "" {
					t.Errorf("%s at %d columns: line %d of the words is %q", name, columns, i, row)
				}
			}
			if status := rows[len(rows)-1]; !strings.HasPrefix(status, "● Listening") {
				t.Errorf("%s at %d columns: the status line is %q", name, columns, status)
			}
		}
	}
}

// A resize during a conversation leaves no part of the status line behind.
func TestResizesLeaveNoLines(t *testing.T) {
	d := &display{columns: 120}
	v := shown(d)
	v.notify("", protocol.StateParams{State: protocol.StateListening, Label: "● Listening"})
	v.notify("", protocol.TranscriptParams{Role: protocol.RoleUser, Text: strings.Repeat("今何時 ", 30)})
	for _, columns := range []int{80, 40, 60, 25, 120} {
		d.resize(columns)
		v.status()
		if rows := d.text(); len(rows) != 2 || !strings.HasPrefix(rows[1], "● Listening") || len(d.rows[1]) >= columns {
			t.Errorf("at %d columns:\n%s", columns, strings.Join(rows, "\n"))
		}
	}
}

// Text has at most as many cells as it is said to have.
func TestCells(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "日本": 4, "ｱ": 1, "Ａ": 2, "👍": 2, "❤": 1, "❤\uFE0F": 2, "🇩🇪": 2, "한": 2, "●▮": 2,
	} {
		if got := cells(text); got != want {
			t.Errorf("%q has %d cells, want %d", text, got, want)
		}
	}
	for _, c := range []struct {
		text string
		most int
		want string
	}{{"hello", 5, "hello"}, {"hello", 4, "…llo"}, {"日本語", 6, "日本語"}, {"日本語", 5, "…本語"}, {"日本語", 4, "…語"}, {"日本語", 1, ""}} {
		if got := tail(c.text, c.most); got != c.want {
			t.Errorf("the last %d cells of %s are %q, want %q", c.most, c.text, got, c.want)
		}
	}
	if rows := wrap(strings.Repeat("日", 25), 20); !slices.Equal(rows, []string{strings.Repeat("日", 10), "    " + strings.Repeat("日", 8), "    " + strings.Repeat("日", 7)}) {
		t.Errorf("rows %q", rows)
	}
	if got := visible("👩\u200d💻\u200d💻 a\u200db"); got != "👩💻💻 a\uFFFDb" {
		t.Errorf("visible: %q", got)
	}
}

// What is not a terminal gets whole lines without control characters, and no partial words.
func TestPipedOutputHasLinesOnly(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	v := newTalkView(newScreen(write, false), time.Time{}, nil, true, false)
	said := strings.Repeat("a few words that go on ", 12)
	for _, p := range []any{
		protocol.StateParams{State: protocol.StateListening, Label: "● Listening"},
		protocol.LevelParams{Input: 1},
		protocol.TranscriptParams{Role: protocol.RoleUser, Text: "partial"},
		protocol.TranscriptParams{Role: protocol.RoleUser, Text: said, Final: true},
	} {
		v.notify("", p)
	}
	write.Close()
	text := make([]byte, 4096)
	n, _ := read.Read(text)
	out := string(text[:n])
	if strings.ContainsFunc(out, func(r rune) bool { return r < ' ' && r != '\n' }) || strings.Contains(out, "partial") || !strings.Contains(out, "you: "+said+"\n") {
		t.Errorf("piped output: %q", out)
	}
}
