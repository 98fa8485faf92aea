package timeline

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

var update = flag.Bool("update", false, "write the golden files")

func render(t testing.TB, j *journal.Journal, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Render(j, &b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, j := range map[string]*journal.Journal{
		"conversation": threeTurns(t, journal.Full),
		"redacted":     threeTurns(t, journal.Redacted),
		"trouble":      trouble(t),
		"doubt":        interruptedInDoubt(t),
	} {
		path := filepath.Join("testdata", name+".html")
		got := render(t, j, Options{Verdict: "identical"})
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs; run go test -update, check the page, and commit it if it is right", path)
		}
	}
}

// trouble is a conversation with many failures.
func trouble(t testing.TB) *journal.Journal {
	j := hold(t, journal.Full, 60*time.Second, []string{
		"This answer is spoken from its beginning to its end. |It has two sentences. ",
		"This one is suspended in the middle of its only sentence, and goes on later. ",
	}, func(f *fakeWorld) {
		f.post(0, csm.UserStart{})
		f.capture = 120 * ms
		f.says(1, 1*time.Second, 3*time.Second, "say something")
		f.post(11*time.Second, csm.UserText{Utterance: 90, Words: 4})
		f.post(14*time.Second, csm.Suspend{Reason: csm.SuspendUser})
		f.post(17*time.Second, csm.UserInterrupt{})
		f.post(18*time.Second, csm.Resume{Reason: csm.SuspendUser})
		f.says(2, 20*time.Second, 23*time.Second, "and what if the assistant is not there at all")
		f.says(3, 30*time.Second, 31*time.Second, "")
		f.post(36*time.Second, csm.AudioFailed{Instance: 1, Code: csm.CodeDeviceUnavailable})
		for at := 44 * time.Second; at <= 49*time.Second; at += time.Second {
			f.post(at, csm.SpeechCursor{Gen: 99}) // stale
		}
		f.post(58*time.Second, csm.UserStop{})
	})
	for i, l := range j.Lines { // three seconds were lost
		if l.Time() >= 45*time.Second {
			end := i
			for j.Lines[end].Time() < 48*time.Second {
				end++
			}
			j.Lines = append(j.Lines[:i:i], j.Lines[end:]...)
			break
		}
	}
	return j
}

func TestTrouble(t *testing.T) {
	page := render(t, trouble(t), Options{})
	for _, want := range []string{
		"mark suspended", "why: session.renewal (user)", "s-Suspended", "s-Faulted", "mark fault", "Device unavailable",
		"Assistant unavailable", "utterance typed", "no words", "class=\"i gap\"", "were lost at 0:4",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestGap removes the middle of an answer: nothing is drawn across the gap, and both
// sides remain.
func TestGap(t *testing.T) {
	whole := threeTurns(t, journal.Full)
	j := &journal.Journal{Header: whole.Header}
	for _, l := range whole.Lines {
		if l.Time() <= 20*time.Second || l.Time() >= 29*time.Second {
			j.Lines = append(j.Lines, l)
		}
	}
	r := read(j)
	if len(r.gaps) != 1 {
		t.Fatalf("%d gaps", len(r.gaps))
	}
	g := r.gaps[0]
	if g.from > 20*time.Second || g.to < 29*time.Second {
		t.Errorf("the gap is from %v to %v", g.from, g.to)
	}
	for _, s := range r.states {
		if s.from < g.to && s.to > g.from {
			t.Errorf("%s from %v to %v is drawn across the gap", s.phase, s.from, s.to)
		}
	}
	turns := r.turns()
	if turns[0].FirstAudio != Latencies(whole)[0].FirstAudio {
		t.Error("the turn before the gap changed")
	}
	if turns[1].End != "" || turns[1].Closed != g.from {
		t.Errorf("the turn in the gap ended %q at %v", turns[1].End, turns[1].Closed)
	}
	if !strings.Contains(render(t, j, Options{}), "lost at 0:") {
		t.Error("the page does not mention the gap")
	}
}

func TestEmptyJournal(t *testing.T) {
	for name, j := range map[string]*journal.Journal{
		"header only": {Header: journal.Header{Journal: journal.Version}},
		"level only":  {Lines: []journal.Line{{Note: journal.NoteLevel, At: 5, Data: []byte(`{"user":-50,"assistant":-90}`)}}},
	} {
		if turns := Latencies(j); len(turns) != 0 {
			t.Errorf("%s: %d turns", name, len(turns))
		}
		if page := render(t, j, Options{}); !strings.Contains(page, "No turns.") {
			t.Errorf("%s: the page does not say so", name)
		}
	}
}

// TestUnknownLines draws the known part of another build's journal.
func TestUnknownLines(t *testing.T) {
	j := threeTurns(t, journal.Full)
	j.Lines = append([]journal.Line{
		{Seq: 1, At: 1, Event: "mind.read", Phase: "Idle", Data: []byte(`{}`)},
		{Seq: 2, At: 2, Event: "vad.start", Phase: "Idle", Data: []byte(`{"from":"the future"}`), Effects: []byte(`"none"`)},
		{Note: "level", At: 3, Data: []byte(`[]`)},
		{Note: "smell", At: 4, Data: []byte(`{}`)},
	}, j.Lines...)
	page := render(t, j, Options{})
	if !strings.Contains(page, "5 lines of the journal are not known") {
		t.Error("the page does not count the omitted lines")
	}
	if n := len(Latencies(j)); n != 3 {
		t.Errorf("%d turns, want 3", n)
	}
}

func TestRedactedHasNoWords(t *testing.T) {
	page := render(t, threeTurns(t, journal.Redacted), Options{})
	for _, word := range []string{"mutex", "worker", "descriptors", "loader"} {
		if strings.Contains(page, word) {
			t.Errorf("the page of a redacted journal contains %q", word)
		}
	}
	for _, want := range []string{"9 words", "94 of 183 characters heard", "redacted journal"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestSentenceWithAPause shows the answer to the whole sentence, and not the one to its first part, and
// measures from the end of the whole.
func TestSentenceWithAPause(t *testing.T) {
	j := hold(t, journal.Full, 12*time.Second, []string{"That needs a model. ", "It is in fields.go. "}, func(f *fakeWorld) {
		f.post(0, csm.UserStart{})
		f.capture = 120 * ms
		f.says(1, time.Second, 1800*ms, "where is")
		f.says(2, 2900*ms, 4*time.Second, "the function splitFields")
	})
	if turns := Latencies(j); len(turns) != 1 || !strings.HasPrefix(turns[0].Heard, "It is in") {
		t.Fatalf("the turns are %+v", turns)
	} else if turn := turns[0]; turn.Said != "where is the function splitFields" || turn.Words != 5 || !turn.FirstAudio.Known || turn.FirstAudio.Duration > 3*time.Second {
		t.Errorf("the turn is %+v", turn)
	}
	r := read(j)
	if bars := (view{r}).replies(r.turns()); len(bars) == 0 || bars[0].T < 3.5 {
		t.Errorf("the time of the reply begins before the end of the whole: %+v", bars)
	}
	if page := render(t, j, Options{}); strings.Contains(page, "That needs") || !strings.Contains(page, "It is in") {
		t.Error("the answer to the first part is shown")
	}
}

// TestHostileWords uses markup in all texts.
func TestHostileWords(t *testing.T) {
	const bad = `</script><script>alert(1)</script><img src=x onerror=alert(2)> "' }</style>`
	j := hold(t, journal.Full, 12*time.Second, []string{bad}, func(f *fakeWorld) {
		f.post(0, csm.UserStart{})
		f.capture = 120 * ms
		f.says(1, time.Second, 2*time.Second, bad)
	})
	j.Header.Build = bad
	page := render(t, j, Options{Verdict: bad})
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("%d scripts on the page", n)
	}
	if n := strings.Count(page, "</style"); n != 1 {
		t.Errorf("%d ends of styles on the page", n)
	}
	if strings.Contains(page, "<img") {
		t.Error("an image came from a transcript")
	}
	if !strings.Contains(page, "&lt;/script&gt;") {
		t.Error("the words are not shown")
	}
}

// TestSelfContained looks for anything that would make a browser load other resources.
func TestSelfContained(t *testing.T) {
	page := render(t, threeTurns(t, journal.Full), Options{})
	if m := regexp.MustCompile(`(?i)https?:|\bsrc=|\bhref=|url\(|@import|<link`).FindString(page); m != "" {
		t.Errorf("the page refers to another place: %q", m)
	}
	if !strings.Contains(html.UnescapeString(page), "script-src '"+scriptHash()+"';") {
		t.Error("the page's policy does not allow its script")
	}
}

// FuzzDamaged draws journals with arbitrary field values.
func FuzzDamaged(f *testing.F) {
	for _, line := range []string{
		`{"seq":1,"at":-5,"event":"vad.end","data":{"utterance":9,"pos":-9223372036854775808}}` + "\n" + `{"phase":"Idle","effects":[{"Flush":{"gen":4294967295}}],"digest":""}`,
		`{"at":9223372036854775807,"event":"tts.flushed","data":{"gen":1,"played":-1,"of":1}}` + "\n" + `{"effects":[{"PublishTurn":{"end":"interrupted"}}],"digest":""}`,
		`{"at":1,"event":"x"}` + "\n" + `{"phase":"Idle","effects":[{"Speak":{"segment":{"seq":1,"request":7,"start":-3,"end":-9}},"StartPlayback":{}}],"digest":""}` + "\n" +
			`{"at":2,"event":"tts.bufferReady","data":{"seq":1}}` + "\n" + `{"note":"words","at":3,"data":{"kind":"answer","id":7,"text":"ab"}}` + "\n" +
			`{"at":4,"event":"tts.flushed","data":{"seq":1,"played":9223372036854775807,"of":3}}` + "\n" + `{"phase":"Idle","effects":[{"Flush":{"gen":1}}],"digest":""}`,
		`{"note":"level","at":7,"data":{"user":1e300,"assistant":-1e300}}` + "\n" + `{"note":"level","at":1,"data":{}}`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		j, err := journal.Read(strings.NewReader(`{"journal":3,"content":"full"}` + "\n" + lines))
		if err != nil {
			t.Skip()
		}
		if page := render(t, j, Options{}); !strings.HasSuffix(page, "</html>\n") {
			t.Error("the page is incomplete")
		}
	})
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteError(t *testing.T) {
	err := Render(threeTurns(t, journal.Full), fullDisk{}, Options{})
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v", err)
	}
}

// tenMinutes returns a long conversation: a turn every ten seconds.
func tenMinutes(t testing.TB) *journal.Journal {
	var answers []string
	for n := range 60 {
		answers = append(answers, fmt.Sprintf("This is answer number %d. |It has a second sentence. |And a third one. ", n))
	}
	return hold(t, journal.Full, 10*time.Minute, answers, func(f *fakeWorld) {
		f.post(0, csm.UserStart{})
		f.capture = 120 * ms
		for n := range 60 {
			from := time.Duration(n)*10*time.Second + 500*ms
			f.says(uint64(n+1), from, from+2*time.Second, "please answer my question")
		}
	})
}

func TestLongConversation(t *testing.T) {
	j := tenMinutes(t)
	if n := len(Latencies(j)); n != 60 {
		t.Fatalf("%d turns, want 60", n)
	}
	if size := len(render(t, j, Options{})); size > 3<<20 {
		t.Errorf("the page of ten minutes has %d bytes", size)
	}
}

func BenchmarkRenderTenMinutes(b *testing.B) {
	j := tenMinutes(b)
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		if err := Render(j, &out, Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(out.Len()), "page-bytes")
}
