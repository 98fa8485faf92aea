package live

import (
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/turns"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
)

// fakeHearing is a fake service that records the commits it receives. It was sent audio up to a
// position.
type fakeHearing struct {
	Hearing
	sent    int64
	commits []commit
}

type commit struct {
	utterance uint64
	end       int64
	found     bool
}

func (f *fakeHearing) CommitInput(utterance uint64, end int64, found bool) {
	f.commits = append(f.commits, commit{utterance, end, found})
}
func (f *fakeHearing) ClearInput()     {}
func (f *fakeHearing) Position() int64 { return f.sent }

// judgedHearer is a hearer that ends utterances, its service, and what the core gets.
type judgedHearer struct {
	*hearer
	service *fakeHearing
	events  []csm.Event
}

func newJudged(t *testing.T, delays turns.Delays, unfinished func(string) bool) *judgedHearer {
	t.Helper()
	j := &judgedHearer{service: &fakeHearing{sent: 1e6}}
	port := daemon.Port{
		Post: func(e csm.Event) { j.events = append(j.events, e) }, NewUtterance: ids(),
		Heard: func(epoch uint32, u uint64, _ daemon.Transcript) csm.Final {
			return csm.Final{Epoch: epoch, Utterance: u}
		},
		HeardPartly:  func(uint32, uint64, string) csm.Partial { return csm.Partial{} },
		HeardSettled: func(uint32, uint64, daemon.Transcript) csm.Event { return nil },
	}
	w := &World{cfg: Config{Speed: 1}, port: port, cues: newCues(nil, func() {})}
	w.grace = newGrace(w)
	t.Cleanup(w.cues.shut)
	j.hearer = &hearer{w: w, call: &call{client: j.service, link: &link{}}, ear: &ear{}, judge: &judge{delays: delays, next: func() turns.Delays { return delays }, unfinished: unfinished, settles: true}}
	j.call.link.live.Store(j.call)
	j.match = newMatcher(port, 1, true, func(int64, int64) bool { return false })
	return j
}

// says is a sentence from 1 to 3 s, which the service has heard.
func (j *judgedHearer) says() {
	j.voice(vad.Mark{Kind: vad.Onset, Pos: 48000}, 0)
	j.SpeechStarted("A", 48000)
	j.voice(vad.Mark{Kind: vad.Paused, Pos: 144000}, 0)
}

// How long a pause must last follows what the service has recognised of the voice before it, and
// nothing older.
func TestThePauseIsJudgedByItsWords(t *testing.T) {
	words := func(j *judgedHearer, end int64, text string, stop *float64) {
		j.SettledTranscript("A", realtime.Settled{Transcript: realtime.Transcript{Text: text}, End: end, Stop: stop})
	}
	sure, no := 0.95, 0.1
	for _, c := range []struct {
		name           string
		then           func(j *judgedHearer)
		silence, faint time.Duration
		why            csm.EndReason
	}{
		{"words awaited", func(*judgedHearer) {}, 1500, 700, csm.EndedUnknown},
		{"none", func(j *judgedHearer) { words(j, 152000, "", nil) }, 700, 700, csm.EndedByWords},
		{"a question", func(j *judgedHearer) { words(j, 152000, "What is the time?", nil) }, 250, 700, csm.EndedByWords},
		{"a sentence that goes on", func(j *judgedHearer) { words(j, 152000, "Rename the", nil) }, 1500, 1500, csm.EndedByWords},
		{"a full stop", func(j *judgedHearer) { words(j, 152000, "The tests fail.", &sure) }, 250, 700, csm.EndedByStop},
		{"no full stop", func(j *judgedHearer) { words(j, 152000, "What is the time.", &no) }, 700, 700, csm.EndedByStop},
		{"it sounds complete", func(j *judgedHearer) {
			words(j, 152000, "The tests fail", nil)
			j.SettledTranscript("A", realtime.Settled{Transcript: realtime.Transcript{Text: "The tests fail"}, End: 152000, Complete: &sure})
		}, 250, 700, csm.EndedBySound},
		{"words of a question alone", func(j *judgedHearer) { words(j, 152000, "because", nil) }, 1500, 1500, csm.EndedUnfinished},
		{"words of an earlier pause", func(j *judgedHearer) { words(j, 120000, "What is the time?", nil) }, 1500, 700, csm.EndedUnknown},
		{"the voice goes on", func(j *judgedHearer) {
			words(j, 152000, "What is the time?", nil)
			j.voice(vad.Mark{Kind: vad.Resumed, Pos: 160000}, 0)
			j.voice(vad.Mark{Kind: vad.Paused, Pos: 190000}, 0)
		}, 1500, 700, csm.EndedUnknown},
		{"and has more words", func(j *judgedHearer) {
			words(j, 152000, "What is the time?", nil)
			j.voice(vad.Mark{Kind: vad.Resumed, Pos: 160000}, 0)
			j.PartialTranscript("A", "What is the time in the")
			j.voice(vad.Mark{Kind: vad.Paused, Pos: 190000}, 0)
		}, 1500, 1500, csm.EndedUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, _ := turns.Eager("auto")
			j := newJudged(t, d, func(words string) bool { return words == "because" })
			j.says()
			c.then(j)
			silence, faint, known := j.ear.pause.get()
			if silence != c.silence*time.Millisecond || faint != c.faint*time.Millisecond || !known {
				t.Errorf("a pause of %v, or %v beside a faint voice", silence, faint)
			}
			to := j.match.open().to
			j.voice(vad.Mark{Kind: vad.Ended, Pos: to + audio.Samples(silence)}, 0)
			if want := (csm.SpeechStopped{Epoch: 1, Utterance: 1, Pos: to, Why: c.why}); j.events[len(j.events)-1] != want {
				t.Errorf("the core gets %+v, want %+v", j.events[len(j.events)-1], want)
			}
			if want := []commit{{1, to + audio.Samples(heardAfter), true}}; !slices.Equal(j.service.commits, want) {
				t.Errorf("commits %v, want %v", j.service.commits, want)
			}
			j.FinalTranscript("A", realtime.Transcript{Text: "one"})
			if want := (csm.Final{Epoch: 1, Utterance: 1}); j.events[len(j.events)-1] != want {
				t.Errorf("the core gets %+v, want %+v", j.events[len(j.events)-1], want)
			}
			if silence, faint, _ := j.ear.pause.get(); silence != d.Unclear || faint != d.Unclear {
				t.Errorf("the next pause: %v, %v", silence, faint)
			}
		})
	}
}

// An end by a faint voice has its own judgement.
func TestAFaintVoiceEndsTheTurn(t *testing.T) {
	d, _ := turns.Eager("auto")
	j := newJudged(t, d, nil)
	j.says()
	j.SettledTranscript("A", realtime.Settled{Transcript: realtime.Transcript{Text: "What is the time?"}, End: 152000})
	j.voice(vad.Mark{Kind: vad.Ended, Pos: 180000, Faint: true}, 0)
	if want := (csm.SpeechStopped{Epoch: 1, Utterance: 1, Pos: 144000, Why: csm.EndedFaint}); j.events[len(j.events)-1] != want {
		t.Errorf("the core gets %+v, want %+v", j.events[len(j.events)-1], want)
	}
}

// The service does not end an utterance that the judge ends, but one that only it hears.
func TestTheJudgeHoldsItsUtterances(t *testing.T) {
	d, _ := turns.Eager("auto")
	j := newJudged(t, d, nil)
	var held []string
	j.match.hold = func(item string) { held = append(held, item) }
	j.SpeechStarted("echo", 0)
	j.SpeechStopped("echo", 20000)
	j.says()
	j.voice(vad.Mark{Kind: vad.Ended, Pos: 200000}, 0)
	j.FinalTranscript("A", realtime.Transcript{Text: "one"})
	j.SpeechStarted("B", 300000)
	j.voice(vad.Mark{Kind: vad.Onset, Pos: 301000}, 0)
	if want := []string{"A", "B"}; !slices.Equal(held, want) {
		t.Errorf("%q are held, want %q", held, want)
	}
}

// A service without turn detection names the item of each commit. Items are matched by that, in whatever
// order their words arrive, and one that is dropped or refused takes no other's words.
func TestItemsOfCommits(t *testing.T) {
	d, _ := turns.Eager("auto")
	j := newJudged(t, d, nil)
	j.judge.settles, j.match.commits = false, true
	say := func(from int64) uint64 {
		j.voice(vad.Mark{Kind: vad.Onset, Pos: from}, 0)
		id := j.match.open().id
		j.voice(vad.Mark{Kind: vad.Paused, Pos: from + 48000}, 0)
		j.voice(vad.Mark{Kind: vad.Ended, Pos: from + 81600}, 0)
		return id
	}
	j.voice(vad.Mark{Kind: vad.Onset, Pos: 0}, 0)
	j.clear()
	refused := say(100_000)
	j.InputEmpty(refused)
	first := say(200_000)
	second := say(300_000)
	j.InputCommitted(first, "A")
	j.InputCommitted(second, "B")
	j.voice(vad.Mark{Kind: vad.Onset, Pos: 400_000}, 0)
	third := j.match.open().id
	j.PartialTranscript("C", "What")
	j.events = nil
	j.FinalTranscript("B", realtime.Transcript{Text: "yes"})
	j.FinalTranscript("A", realtime.Transcript{Text: "rename it"})
	j.FinalTranscript("unknown", realtime.Transcript{Text: "thank you for watching"})
	if want := []csm.Event{csm.Final{Epoch: 1, Utterance: second}, csm.Final{Epoch: 1, Utterance: first}}; !slices.Equal(j.events, want) {
		t.Errorf("the core gets %+v, want %+v", j.events, want)
	}
	if u := j.match.open(); u == nil || u.id != third || u.partial != "What" {
		t.Errorf("the open utterance is %+v", u)
	}
	if j.match.heardTo != 381_600 {
		t.Errorf("heard to %d", j.match.heardTo)
	}
}

// A commit names the audio that it is of: it overtakes audio that is late. It never names audio that
// was not sent.
func TestACommitNamesItsAudio(t *testing.T) {
	d, _ := turns.Eager("auto")
	for _, c := range []struct {
		name string
		then func(j *judgedHearer)
		want []commit
	}{
		{"the core ends it", func(j *judgedHearer) { j.says(); j.hearer.commit() }, []commit{{1, 1e6 - 960, false}}},
		{"a key ends it", func(j *judgedHearer) { j.press(48000); j.hearer.commit() }, []commit{{1, 1e6 - 960, false}}},
		{"the service did not hear it", func(j *judgedHearer) {
			j.voice(vad.Mark{Kind: vad.Onset, Pos: 48000}, 0)
			j.voice(vad.Mark{Kind: vad.Paused, Pos: 96000}, 0)
			j.voice(vad.Mark{Kind: vad.Ended, Pos: 130000}, 0)
			j.InputEmpty(1)
		}, []commit{{1, 96000 + 9600, true}}},
		{"less was sent", func(j *judgedHearer) {
			j.service.sent = 145000
			j.says()
			j.voice(vad.Mark{Kind: vad.Ended, Pos: 180000}, 0)
		}, []commit{{1, 145000 - 960, true}}},
		{"it has ended already", func(j *judgedHearer) {
			j.says()
			j.voice(vad.Mark{Kind: vad.Ended, Pos: 180000}, 0)
			j.hearer.commit()
		}, []commit{{1, 144000 + 9600, true}}},
		{"what was said is dropped", func(j *judgedHearer) {
			j.says()
			j.clear()
			j.hearer.commit()
			j.FinalTranscript("A", realtime.Transcript{Text: "one"}) // the service had just ended it
			if len(j.match.spoken) > 0 || len(j.match.late) > 0 {
				t.Error("its words are awaited, or taken for another's")
			}
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJudged(t, d, nil)
			c.then(j)
			if !slices.Equal(j.service.commits, c.want) {
				t.Errorf("commits %v, want %v", j.service.commits, c.want)
			}
		})
	}
}

// The core knows each reason of the judge, by the same name.
func TestReasonsOfTheJudge(t *testing.T) {
	if len(reasons) != int(csm.NumEndReasons)-1 {
		t.Errorf("%d reasons, the core has %d", len(reasons), csm.NumEndReasons)
	}
	for r, known := range reasons {
		if r.String() != known.String() {
			t.Errorf("%v is %v", r, known)
		}
	}
}

// ids returns a source of utterance ids.
func ids() func() uint64 {
	var last uint64
	return func() uint64 { last++; return last }
}
