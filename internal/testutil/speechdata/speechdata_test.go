package speechdata

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
)

func TestTable(t *testing.T) {
	packages := map[string]bool{}
	for _, p := range Packages() {
		if p.Version == "" || p.Licence == "" || p.Holder == "" || p.Holds == "" {
			t.Errorf("%s: a field is empty: %+v", p.Name, p)
		}
		packages[p.Name] = false
	}
	kinds := map[Kind]bool{Utterance: true, Backchannel: true, Cough: true, Laugh: true, Passage: true, Noise: true, Music: true}
	styles := map[Style]bool{Read: true, Acted: true, Cartoon: true}
	ids, sums := map[string]bool{}, map[string]string{}
	hash := regexp.MustCompile(`^[0-9a-f]{64}$`)
	for _, r := range All() {
		if _, ok := packages[r.Package]; !ok {
			t.Errorf("%s: package %s is not in packages.tsv", r.ID, r.Package)
		}
		packages[r.Package] = true
		switch {
		case ids[r.ID]:
			t.Errorf("%s is listed twice", r.ID)
		case !hash.MatchString(r.SHA256):
			t.Errorf("%s: checksum %q", r.ID, r.SHA256)
		case sums[r.SHA256] != "":
			t.Errorf("%s is the same recording as %s", r.ID, sums[r.SHA256])
		case !kinds[r.Kind]:
			t.Errorf("%s: kind %q", r.ID, r.Kind)
		case (r.Kind == Noise || r.Kind == Music) != (r.Voice == ""), (r.Kind == Noise || r.Kind == Music) != !styles[r.Style]:
			t.Errorf("%s: voice %q and style %q", r.ID, r.Voice, r.Style)
		case (r.Kind == Utterance || r.Kind == Passage) && r.Language == "":
			t.Errorf("%s: no language", r.ID)
		case filepath.IsAbs(r.Path) || strings.Contains(r.Path, ".."):
			t.Errorf("%s: path %s", r.ID, r.Path)
		}
		ids[r.ID], sums[r.SHA256] = true, r.ID
	}
	for name, used := range packages {
		if !used {
			t.Errorf("package %s has no recordings", name)
		}
	}
}

// The amounts that the benches rely on.
func TestEnoughRecordings(t *testing.T) {
	voices, short := map[string]bool{}, 0
	for _, r := range All(Utterance) {
		if r.Style != Cartoon {
			voices[r.Voice] = true
		}
		if r.Words != "" && !strings.Contains(r.Words, " ") {
			short++
		}
	}
	calls := len(All(Backchannel, Cough, Laugh))
	if len(All(Utterance)) < 60 || len(voices) < 10 || short < 20 || calls < 20 {
		t.Errorf("%d utterances of %d voices, %d of one word; %d coughs and backchannels", len(All(Utterance)), len(voices), short, calls)
	}
}

// The recordings that scripts/setup.sh installs.
func TestLoad(t *testing.T) {
	loaded := 0
	for _, r := range All() {
		if r.Package != "pocketsphinx-testdata" {
			continue
		}
		c, err := r.Load()
		if err != nil {
			t.Errorf("%v; install pocketsphinx-testdata with `make deps`", err)
			continue
		}
		loaded++
		length := int64(len(c.PCM))
		if c.Onset < 0 || c.Strong < c.Onset || c.End <= c.Strong || c.End > length || c.End-c.Onset < length/4 {
			t.Errorf("%s: %+v in %d samples", r.ID, c.Label, length)
		}
		if c.Words == "" || !r.Present() {
			t.Errorf("%s: no words, or not present", r.ID)
		}
	}
	if loaded != 11 {
		t.Errorf("loaded %d recordings of pocketsphinx-testdata", loaded)
	}
}

func TestMissingRecordings(t *testing.T) {
	t.Setenv(Env, t.TempDir())
	r, err := Find("en/goodbye")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Load(); !errors.Is(err, ErrMissing) || r.Present() {
		t.Errorf("loaded from an empty folder: %v", err)
	}
	if _, err := Find("nobody"); err == nil {
		t.Error("found a recording that is not in the table")
	}
	if _, err := LoadAll(Cough); !errors.Is(err, ErrMissing) {
		t.Errorf("loaded all from an empty folder: %v", err)
	}
}

// Figures measured with a different file would not be reproducible.
func TestChecksumMismatch(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(Env, dir)
	r, err := Find("en/front-center")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, r.Package, r.Path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := wavio.WriteMono(path, audio.SampleRate, tone(48000, 0, 48000, 8000)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Load(); err == nil || errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("accepted another file: %v", err)
	}
}

// tone returns silence with a 400 Hz tone from one sample to another.
func tone(length, from, to int, amplitude float64) []int16 {
	pcm := make([]int16, length)
	for i := from; i < to; i++ {
		pcm[i] = int16(amplitude * math.Sin(2*math.Pi*400*float64(i)/audio.SampleRate))
	}
	return pcm
}

func mix(parts ...[]int16) []int16 {
	out := make([]int16, len(parts[0]))
	for _, p := range parts {
		for i, v := range p {
			out[i] += v
		}
	}
	return out
}

func TestLabels(t *testing.T) {
	const ms = audio.SampleRate / 1000
	const n = 2000 * ms
	hum := make([]int16, n)
	for i := range hum {
		hum[i] = int16(1000 * math.Sin(2*math.Pi*30*float64(i)/audio.SampleRate))
	}
	voice := tone(n, 500*ms, 1200*ms, 8000)
	for _, tt := range []struct {
		name               string
		pcm                []int16
		onset, strong, end int // ms
		weak               bool
	}{
		{"a tone in silence", voice, 500, 500, 1200, false},
		{"hum does not count", mix(voice, hum), 500, 500, 1200, false},
		{"noise 30 dB below does not count", mix(voice, tone(n, 0, n, 250)), 500, 500, 1200, false},
		{"a click does not count", mix(voice, tone(n, 200*ms, 210*ms, 8000)), 500, 500, 1200, false},
		{"a weak onset", mix(voice, tone(n, 400*ms, 500*ms, 1000)), 400, 500, 1200, true},
		{"a pause inside", mix(voice, tone(n, 1500*ms, 1800*ms, 8000)), 500, 500, 1800, false},
		{"from the first sample to the last", tone(n, 0, n, 8000), 0, 0, 2000, false},
		{"a stroke", tone(n, 300*ms, 410*ms, 8000), 300, 300, 410, false},
	} {
		l, ok := LabelOf(tt.pcm)
		near := func(got int64, want, within int) bool {
			return got >= int64(want-within)*ms && got <= int64(want+within)*ms
		}
		// The filter against hum rings for some milliseconds after a sound.
		if !ok || !near(l.Onset, tt.onset, 1) || !near(l.Strong, tt.strong, 1) || !near(l.End, tt.end, 5) || l.WeakOnset != tt.weak {
			t.Errorf("%s: onset %d, strong %d, end %d ms, weak %v; want %d, %d, %d, %v", tt.name,
				l.Onset/ms, l.Strong/ms, l.End/ms, l.WeakOnset, tt.onset, tt.strong, tt.end, tt.weak)
		}
		if math.Abs(l.Level-(-15.3)) > 0.5 { // RMS of 8000 out of 32768
			t.Errorf("%s: level %.1f dBFS", tt.name, l.Level)
		}
	}
	for _, pcm := range [][]int16{nil, make([]int16, 10), make([]int16, n)} {
		if l, ok := LabelOf(pcm); ok {
			t.Errorf("labelled silence: %+v", l)
		}
	}
}
