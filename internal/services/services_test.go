package services

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	for _, m := range models {
		if m.Instead != "" {
			other, ok := Of(m.Instead)
			if !ok || !other.Ends.IsZero() {
				t.Errorf("%s is replaced by %s, which is not in the table or ends too", m.Name, m.Instead)
			}
		}
		if m.Ends.IsZero() != (m.Instead == "") {
			t.Errorf("%s ends %v, and %q takes its place", m.Name, m.Ends, m.Instead)
		}
		if p := m.Price; p == nil || *p == (Price{}) {
			t.Errorf("%s has no price; leave out the row, or a budget cannot count it", m.Name)
		}
		if !strings.HasPrefix(m.Source, "https://") {
			t.Errorf("%s is from %q", m.Name, m.Source)
		}
	}
}

func TestNamesAreExact(t *testing.T) {
	for name, want := range map[string]string{
		"gpt-realtime": "gpt-realtime", "gpt-realtime-2": "gpt-realtime-2", "gpt-realtime-2025-08-28": "gpt-realtime",
		"gpt-realtime-2-2026-11-20": "gpt-realtime-2", "gpt-realtime-3": "", "gpt-4o-large": "", "GPT-4o": "", "": "",
		"gpt-4o-mini-2024-07-18": "gpt-4o-mini", "gpt-4o-2024-07": "", "gpt-4o-2024-05-13": "gpt-4o-2024-05-13",
	} {
		if m, ok := Of(name); m.Name != want || ok != (want != "") {
			t.Errorf("%q is %q, %v; want %q", name, m.Name, ok, want)
		}
	}
}

func TestEnd(t *testing.T) {
	m, _ := Of("gpt-4o-mini-tts")
	for day, want := range map[string]bool{"2027-01-06": false, "2027-01-07": true, "2026-01-07": false} {
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		if m.EndsBefore(at) != want {
			t.Errorf("on %s: %v", day, !want)
		}
	}
	if m, _ := Of("gpt-live-1"); m.EndsBefore(time.Now().AddDate(100, 0, 0)) {
		t.Error("a model without an announced end ends")
	}
}

func TestBadTables(t *testing.T) {
	for table, want := range map[string]string{
		`[{"model": "a", "serves": ["chat"], "source": "s", "looked": "2026-13-01"}]`:                                                                           "month out of range",
		`[{"model": "a", "serves": ["chat"], "source": "s"}]`:                                                                                                   "looked",
		`[{"model": "a", "serves": ["chat"], "costs": 1, "source": "s", "looked": "2026-11-01"}]`:                                                               "unknown field",
		`[{"model": "a", "serves": ["chat"], "source": "s", "looked": "2026-11-01"},{"model": "a", "serves": ["chat"], "source": "s", "looked": "2026-11-01"}]`: "a twice",
	} {
		if _, err := read([]byte(table)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nis read with %v, not %q", table, err, want)
		}
	}
}

// TestUnits: each price of the table has what one of its uses is paid by.
func TestUnits(t *testing.T) {
	for name, m := range models {
		if m.Price == nil {
			continue
		}
		text, err := json.Marshal(m.Price)
		if err != nil {
			t.Fatal(err)
		}
		given := map[string]float64{}
		if err := json.Unmarshal(text, &given); err != nil {
			t.Fatal(err)
		}
		if lack := m.Serves[0].Lacks(given); lack != "" {
			t.Errorf("%s lacks %s", name, lack)
		}
	}
	for _, c := range []struct {
		use   Use
		given map[string]float64
		want  string
	}{
		{Session, nil, "audioIn and audioOut, or sessionMinute"},
		{Session, map[string]float64{"audioIn": 4}, "audioOut"},
		{Session, map[string]float64{"textIn": 4, "textOut": 16}, "audioIn and audioOut, or sessionMinute"},
		{Session, map[string]float64{"sessionMinute": 0, "minute": 1}, "audioIn and audioOut, or sessionMinute"},
		{Session, map[string]float64{"sessionMinute": 1}, ""},
		{Chat, map[string]float64{"minute": 1}, "textIn and textOut"},
		{Chat, map[string]float64{"textIn": 0, "textOut": 1}, ""},
		{Chat, map[string]float64{"textIn": 4}, "textOut"},
		{Speech, map[string]float64{"textIn": 4}, "characters, or minute"},
		{Transcription, map[string]float64{"audioIn": 4}, "textOut"},
		{Transcription, map[string]float64{"textIn": 4, "textOut": 1}, ""},
		{Transcription, map[string]float64{"characters": 4}, "minute, or audioIn and textOut, or textIn and textOut"},
		{"", map[string]float64{"characters": 4}, ""},
	} {
		if lack := c.use.Lacks(c.given); lack != c.want {
			t.Errorf("%s with %v lacks %q, want %q", c.use, c.given, lack, c.want)
		}
	}
}
