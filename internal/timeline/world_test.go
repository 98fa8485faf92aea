package timeline

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

// The times of fakeWorld.
const (
	onsetDelay    = 96 * time.Millisecond // onset -> vad.start
	hangover      = 480 * time.Millisecond
	recognition   = 130 * time.Millisecond
	firstToken    = 340 * time.Millisecond // copilot.request -> first delta
	tokenPause    = 90 * time.Millisecond  // between segments
	synthesisTime = 160 * time.Millisecond
	flushTime     = 22 * time.Millisecond
	pauseTime     = 14 * time.Millisecond
)

// fakeWorld answers a loop's effects on a virtual clock, with the delays above, and
// speaks 15 characters per second.
type fakeWorld struct {
	clock   *dispatch.Virtual
	loop    *dispatch.Loop
	w       *journal.Writer
	t       testing.TB
	answers []string // to the next requests, sentences parted by "|"
	capture time.Duration

	speaker   world.Speaker
	lag       time.Duration // until the output is silent
	began     time.Duration // start of the assistant's voice
	voices    [2][]window   // when user and assistant were audible
	cancelled map[uint64]bool
}

type window struct{ from, to time.Duration }

func (f *fakeWorld) post(after time.Duration, e csm.Event) {
	f.clock.AfterFunc(after, func() { f.loop.Post(e) })
}

// took is the world's response time to an effect.
var took = map[string]time.Duration{
	"ActivateSession": 40 * time.Millisecond, "OpenAudio": 90 * time.Millisecond, "StartCapture": 30 * time.Millisecond,
	"OpenConnection": 210 * time.Millisecond, "CloseConnection": 12 * time.Millisecond, "CloseAudio": 20 * time.Millisecond,
	"DeactivateSession": 5 * time.Millisecond, "CancelCopilot": 15 * time.Millisecond,
}

func (f *fakeWorld) execute(s dispatch.Step) {
	for _, fx := range s.Effects {
		if after, ok := took[csm.NameOf(fx)]; ok {
			f.post(after, world.Reaction(fx))
		}
		f.lag = pauseTime
		f.speaker.Take(fx)
		switch e := fx.(type) {
		case csm.StartCapture:
			f.capture = f.clock.Now() + took["StartCapture"]
		case csm.SendCopilot:
			f.answer(e.Request)
		case csm.CancelCopilot:
			f.cancelled[e.Request] = true
		case csm.Speak:
			f.clock.AfterFunc(synthesisTime, func() { f.speaker.Buffer(e) })
		case csm.Flush:
			f.lag = flushTime
			flushed, _ := f.speaker.Flush(e)
			f.post(flushTime, flushed)
		case csm.Report:
			f.t.Errorf("core reported: %s", e.What)
		}
		f.lag = 0
	}
}

func (f *fakeWorld) answer(request uint64) {
	f.post(3*time.Millisecond, csm.CopilotSent{Request: request, Attempt: 1})
	if len(f.answers) == 0 {
		f.post(3*time.Millisecond+firstToken, csm.CopilotDone{Request: request, Code: csm.CodeCopilotUnavailable})
		return
	}
	text := strings.ReplaceAll(f.answers[0], "|", "")
	pieces := strings.Split(f.answers[0], "|")
	f.answers = f.answers[1:]
	when, start := 3*time.Millisecond+firstToken+time.Duration(request%3)*57*time.Millisecond, 0
	for _, p := range pieces {
		end := start + utf8.RuneCountInString(p)
		delta, seg := csm.CopilotDelta{Request: request, Chars: start + 4}, csm.CopilotSegment{Request: request, Start: start, End: end}
		f.clock.AfterFunc(when, func() { f.unlessCancelled(request, delta) })
		when += tokenPause
		f.clock.AfterFunc(when, func() { f.unlessCancelled(request, seg) })
		start = end
	}
	f.clock.AfterFunc(when, func() { f.unlessCancelled(request, csm.CopilotDone{Request: request}) })
	f.clock.AfterFunc(when, func() {
		f.w.Words(f.clock.Now(), journal.Words{Kind: "answer", ID: request, Text: text})
	})
}

func (f *fakeWorld) unlessCancelled(request uint64, e csm.Event) {
	if !f.cancelled[request] {
		f.loop.Post(e)
	}
}

// spoken returns how long a segment is audible.
func spoken(e csm.Speak) time.Duration {
	return time.Duration(max(e.Segment.End-e.Segment.Start, 20)) * time.Second / 15
}

// sounds records whether the output is audible from now on.
func (f *fakeWorld) sounds(does bool) {
	if does {
		f.began = f.clock.Now()
	} else {
		f.voices[1] = append(f.voices[1], window{f.began, f.clock.Now()})
	}
	f.after(func() {
		now := f.clock.Now()
		f.w.Sound(now, journal.Sound{Silent: !does, Since: now.Microseconds(), Pos: audio.Samples(now)})
	})
}

// after runs f for the output, with a delay for stopping.
func (f *fakeWorld) after(do func()) {
	if f.lag == 0 {
		do()
		return
	}
	f.clock.AfterFunc(f.lag, do)
}

// says makes the user speak from one time to another.
func (f *fakeWorld) says(id uint64, from, to time.Duration, text string) {
	f.voices[0] = append(f.voices[0], window{from, to})
	pos := func(d time.Duration) int64 { return audio.Samples(d - f.capture) }
	late := func(d time.Duration, e func() csm.Event) {
		f.clock.AfterFunc(d-f.clock.Now(), func() { f.loop.Post(e()) })
	}
	epoch := func() uint32 { return f.loop.State().IDs.Epoch }
	words := len(strings.Fields(text))
	class := csm.Content
	if words == 0 {
		class = csm.Empty
	}
	late(from+onsetDelay, func() csm.Event {
		return csm.SpeechStarted{Epoch: epoch(), Utterance: id, Pos: pos(from)}
	})
	hangover := hangover + time.Duration(id%3)*32*time.Millisecond
	late(to+hangover, func() csm.Event { return csm.SpeechStopped{Epoch: epoch(), Utterance: id, Pos: pos(to)} })
	late(to+hangover+recognition, func() csm.Event {
		f.w.Words(f.clock.Now(), journal.Words{Kind: "utterance", ID: id, Text: text})
		return csm.Final{Epoch: epoch(), Utterance: id, Words: words, Class: class}
	})
}

// coughs makes the user produce a sound that is too short to count as speech.
func (f *fakeWorld) coughs(id uint64, from, to time.Duration) {
	f.voices[0] = append(f.voices[0], window{from, to})
	late := func(d time.Duration, e csm.Event) { f.post(d+onsetDelay-f.clock.Now(), e) }
	epoch := uint32(1)
	late(from, csm.SpeechStarted{Epoch: epoch, Utterance: id, Pos: audio.Samples(from - f.capture)})
	late(to, csm.SpeechStopped{Epoch: epoch, Utterance: id, Pos: audio.Samples(to - f.capture)})
	late(to+recognition, csm.Final{Epoch: epoch, Utterance: id, Class: csm.Empty})
}

var started = time.Date(2025, 11, 21, 9, 30, 0, 0, time.UTC)

// hold runs a conversation of a given length in virtual time and returns its journal.
func hold(t testing.TB, content journal.Content, length time.Duration, answers []string, script func(*fakeWorld)) *journal.Journal {
	t.Helper()
	var file bytes.Buffer
	w, err := journal.NewWriter(&file, journal.Header{Build: "v0.1.0-test", Content: content, Started: started, Speed: 1})
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeWorld{clock: &dispatch.Virtual{}, w: w, t: t, answers: answers, cancelled: map[uint64]bool{}}
	f.loop = dispatch.New(dispatch.Config{
		Clock: f.clock, Execute: f.execute, Verify: true, Journal: w,
	})
	f.speaker = world.Speaker{
		Clock: f.clock, Post: func(e csm.Event) { f.after(func() { f.loop.Post(e) }) }, Length: spoken, Sounds: f.sounds, All: true,
	}
	script(f)
	f.clock.Advance(length, f.loop.Drain)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	addLevels(j, f.voices, length)
	return j
}

// addLevels records the levels of both voices 20 times per second: noise, plus
// syllables while a voice was audible.
func addLevels(j *journal.Journal, voices [2][]window, length time.Duration) {
	noise := uint32(1)
	level := func(spans []window, at time.Duration, floor float64) float64 {
		noise = noise*1664525 + 1013904223
		jitter := float64(noise>>16) / 65536
		for _, w := range spans {
			if at >= w.from && at < w.to {
				s := at.Seconds()
				syllable := math.Abs(math.Sin(s*11.3)) * (0.6 + 0.4*math.Sin(s*2.1+1))
				return math.Round((-42+27*syllable+6*jitter)*10) / 10
			}
		}
		return math.Round((floor+4*jitter)*10) / 10
	}
	for at := time.Duration(0); at < length; at += 50 * time.Millisecond {
		data, _ := json.Marshal(journal.Level{User: level(voices[0], at, -56), Assistant: level(voices[1], at, -96)})
		j.Lines = append(j.Lines, journal.Line{Note: journal.NoteLevel, At: at.Microseconds(), Data: data})
	}
	slices.SortStableFunc(j.Lines, func(a, b journal.Line) int { return int(a.At - b.At) })
}

const ms = time.Millisecond

// threeTurns returns a conversation whose second answer is interrupted.
func threeTurns(t testing.TB, content journal.Content) *journal.Journal {
	return hold(t, content, 44*time.Second, []string{
		"A mutex protects the queue, so only one goroutine can change it at a time. |The worker blocks until there is something to do. ",
		"There are three places that open the file. |The first is the configuration loader, which never closes it when parsing fails. |The second is the log writer, and the third a test helper. ",
		"In the loader, defer the close right after the error check. |Then run the tests again. ",
	}, func(f *fakeWorld) {
		f.post(200*ms, csm.UserStart{Call: 1})
		f.clock.AfterFunc(ms, func() {
			f.capture = 200*ms + 90*ms + 30*ms
			f.says(1, 1400*ms, 4100*ms, "how does the worker wait for the next job")
			f.says(2, 15200*ms, 18000*ms, "where do we leak file descriptors")
			f.says(3, 25600*ms, 28300*ms, "okay just show me how to fix the first one")
		})
		f.post(43*time.Second, csm.UserStop{Call: 2})
	})
}
