package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// task is a room whose assistant works on a request.
type task struct {
	*room
	shown []string // texts in writing
}

func newTask(t *testing.T, l protocol.Locale) *task {
	t.Helper()
	k := &task{}
	k.room = newRoom(t, locale(t, l), false, "", false, func(c *Config) {
		c.Notify = func(_ string, params any) {
			if n, ok := params.(protocol.NotificationParams); ok {
				k.shown = append(k.shown, n.Message)
			}
		}
	})
	k.begins()
	return k
}

func (k *task) begins() {
	k.types("fix the parser")
	k.works(0)
	k.mu.Lock()
	k.traces = nil
	k.mu.Unlock()
}

// works lets time pass in which the agent reports signs of life.
func (k *task) works(d time.Duration) {
	for end := k.clock.Now() + d; ; {
		k.d.Post(csm.CopilotDelta{Request: k.request})
		k.d.Drain()
		step := min(5*time.Second, end-k.clock.Now())
		if step <= 0 {
			return
		}
		k.clock.Advance(step, k.d.Drain)
	}
}

func (k *task) ends() {
	k.port.Answer(k.request, 0, "All is fixed.", true)
	k.d.Post(csm.CopilotDone{Request: k.request})
	k.d.Drain()
}

// plays lets the assistant finish what it says.
func (k *task) plays() {
	k.t.Helper()
	line, open := speech.LineOf(k.d.State().Speech)
	if !open {
		k.t.Fatal("nothing is said")
	}
	seq := line.Segments[len(line.Segments)-1].Seq
	k.d.Post(csm.SpeechPlayed{Gen: line.Gen, Seq: seq})
	k.d.Post(csm.SpeechDrained{Gen: line.Gen, Seq: seq})
	k.d.Drain()
}

func (k *task) does(kind copilot.ActivityKind, id string, files ...string) {
	k.d.narrator.doing(copilot.Activity{ID: id, Kind: kind, Files: files})
}

func (k *task) said(want ...string) {
	k.t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Equal(k.traces, want) {
		k.t.Errorf("said %q, want %q", k.traces, want)
	}
	k.traces = nil
}

// The first narration comes after ten silent seconds, and the next one half a minute
// later. Each has only what is new.
func TestNarrationIsSparse(t *testing.T) {
	k := newTask(t, protocol.English)
	k.does(copilot.Reading, "1", "a.go", "b.go")
	k.does(copilot.Reading, "2", "b.go", "c.go")
	k.works(9 * time.Second)
	k.said()
	k.works(2 * time.Second)
	k.said("Reading 3 files.")
	k.does(copilot.Reading, "2", "b.go", "c.go") // it has ended
	k.does(copilot.Running, "3")
	k.does(copilot.Reading, "4", "d.go")
	k.works(28 * time.Second)
	k.said()
	k.works(5 * time.Second)
	k.said("Reading one file. Running a command.")
	k.works(2 * time.Minute)
	k.said()
	if want := []string{"Reading 3 files.", "Reading one file. Running a command."}; !slices.Equal(k.shown, want) {
		t.Errorf("shown %q, want %q", k.shown, want)
	}
}

func TestNarrationsInEachLanguage(t *testing.T) {
	for l, want := range map[protocol.Locale]string{
		protocol.English:  "Reading files. Searching. Looking something up. Editing one file. Running 2 commands. Tests run, 40 of 120. 3 of 7 steps are done.",
		protocol.German:   "Ich lese Dateien. Ich suche. Ich schlage etwas nach. Ich bearbeite eine Datei. Ich führe 2 Befehle aus. 40 von 120 Tests sind gelaufen. 3 von 7 Schritten sind erledigt.",
		protocol.Japanese: "ファイルを読んでいます。検索しています。調べています。ファイルを 1 件編集しています。コマンドを 2 件実行しています。テストは 120 件中 40 件が完了しました。7 ステップ中 3 ステップが完了しました。",
	} {
		k := newTask(t, l)
		for i, kind := range []copilot.ActivityKind{copilot.Reading, copilot.Searching, copilot.Fetching, copilot.Running} {
			k.does(kind, fmt.Sprint(i))
		}
		k.does(copilot.Editing, "e", "a.go")
		k.d.narrator.doing(copilot.Activity{ID: "t", Kind: copilot.Running, Done: 20, All: 120})
		k.d.narrator.doing(copilot.Activity{ID: "t", Kind: copilot.Running, Done: 40, All: 120})
		k.d.narrator.doing(copilot.Activity{Kind: copilot.Planning, Done: 3, All: 7})
		k.works(11 * time.Second)
		k.said(want)
	}
}

// TestAnswersAreExpected: while an answer is spoken and while a question is open, and not while
// the assistant works.
func TestAnswersAreExpected(t *testing.T) {
	k := newTask(t, protocol.English)
	if k.d.expected() != nil {
		t.Error("answers are expected while the assistant works")
	}
	k.port.Answer(k.request, 0, "I look at the parser first. ", false)
	k.d.Drain()
	line, _ := speech.LineOf(k.d.State().Speech)
	k.d.Post(csm.SpeechBuffered{Gen: line.Gen, Seq: line.Segments[0].Seq})
	k.d.Drain()
	if k.d.expected() == nil {
		t.Errorf("no answers are expected in %T", k.d.State().Conv)
	}
	k.plays()
	k.d.Post(k.port.ToolCall(k.request, 0, copilot.ToolCall{Name: "think", Input: []byte("{}")}))
	k.d.Post(csm.CopilotDone{Request: k.request})
	k.d.Drain()
	if k.d.expected() == nil {
		t.Errorf("no answers are expected in %T", k.d.State().Copilot)
	}
}

// A narration waits while the user speaks, while the assistant speaks, while the user is
// asked and while the conversation or the voice is paused.
func TestNarrationDoesNotDisturb(t *testing.T) {
	for name, c := range map[string]struct{ begin, end func(k *task) }{
		"the user speaks": {
			func(k *task) { k.d.Post(csm.SpeechStarted{Epoch: 1, Utterance: 80, Pos: 480000}) },
			func(k *task) {
				k.d.Post(csm.SpeechStopped{Epoch: 1, Utterance: 80, Pos: 960000})
				k.d.Post(csm.Final{Epoch: 1, Utterance: 80, Class: csm.Empty})
			},
		},
		"the answer is spoken": {
			func(k *task) { k.port.Answer(k.request, 0, "I look at the parser first. ", false) },
			(*task).plays,
		},
		"the conversation is paused": {
			func(k *task) { k.d.Post(csm.Suspend{Reason: csm.SuspendUser}) },
			func(k *task) { k.d.Post(csm.Resume{Reason: csm.SuspendUser}) },
		},
		"the voice is paused": {
			func(k *task) { k.d.Post(csm.UserPlayback{Pause: true}) },
			func(k *task) { k.d.Post(csm.UserPlayback{}) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTask(t, protocol.English)
			c.begin(k)
			k.d.Drain()
			k.does(copilot.Reading, "1", "a.go")
			k.clock.Advance(12*time.Second, k.d.Drain) // nothing is stepped meanwhile
			k.said()
			c.end(k)
			k.d.Drain()
			k.works(12 * time.Second)
			k.said("Reading one file.")
		})
	}
	t.Run("the user is asked", func(t *testing.T) {
		k := newTask(t, protocol.English)
		k.asks("", copilot.ToolCall{ID: "c1", Name: "editor_open"})
		k.does(copilot.Reading, "1", "a.go")
		k.clock.Advance(25*time.Second, k.d.Drain)
		k.stillAsked()
		k.said()
	})
}

// A request that was stopped is not narrated any more.
func TestNarrationEndsWithItsRequest(t *testing.T) {
	k := newTask(t, protocol.English)
	k.does(copilot.Reading, "1", "a.go")
	k.d.Post(csm.UserInterrupt{})
	k.d.Drain()
	k.clock.Advance(20*time.Second, k.d.Drain)
	k.said()
}

// The end of a long task is shown at once and said when the answer was heard. The end of
// a short one is not.
func TestEndOfALongTaskIsSaid(t *testing.T) {
	k := newTask(t, protocol.English)
	k.works(50 * time.Second)
	k.ends()
	k.plays()
	k.said()
	k.begins()
	k.works(3 * time.Minute)
	k.ends()
	k.said()
	const want = "The task is done. It took 3 minutes."
	if last := k.shown[len(k.shown)-1]; last != want {
		t.Errorf("shown %q, want %q", last, want)
	}
	k.plays()
	k.said(want)
	k.works(time.Minute) // what comes late
	k.said()
}

// A task that ends while the conversation is paused is shown at once, and said after the
// pause.
func TestEndOfALongTaskIsSaidAfterAPause(t *testing.T) {
	k := newTask(t, protocol.German)
	k.works(time.Minute)
	k.d.Post(csm.Suspend{Reason: csm.SuspendUser})
	k.works(20 * time.Second)
	k.ends()
	k.clock.Advance(time.Minute, k.d.Drain)
	k.said()
	const want = "Die Aufgabe ist erledigt. Sie hat eine Minute gedauert."
	if !slices.Contains(k.shown, want) {
		t.Errorf("shown %q, want %q", k.shown, want)
	}
	k.d.Post(csm.Resume{Reason: csm.SuspendUser})
	k.d.Drain()
	k.said()
	k.plays()
	k.said(want)
}

// A failed or stopped task is not announced as done, and a new request takes the place of
// the announcement.
func TestEndOfATaskThatFailedIsNotSaid(t *testing.T) {
	for name, end := range map[string]func(k *task){
		"failed":  func(k *task) { k.d.Post(csm.CopilotDone{Request: k.request, Code: csm.CodeCopilotFailed}) },
		"stopped": func(k *task) { k.d.Post(csm.UserInterrupt{}) },
		"new request": func(k *task) {
			k.ends()
			k.types("and the lexer")
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTask(t, protocol.English)
			k.works(2 * time.Minute)
			end(k)
			k.d.Drain()
			for range 3 {
				if _, open := speech.LineOf(k.d.State().Speech); open {
					k.plays()
				}
				k.clock.Advance(time.Second, k.d.Drain)
			}
			k.mu.Lock()
			defer k.mu.Unlock()
			if said := strings.Join(k.traces, "|"); strings.Contains(said, "The task is done") && name != "new request" {
				t.Errorf("said %q", said)
			}
		})
	}
}

// The time in which the user is asked is not the task's.
func TestWaitingForAnAnswerIsNoWork(t *testing.T) {
	k := newTask(t, protocol.English)
	call := k.d.content.newCall(k.request, copilot.ToolCall{ID: "1", Name: "run_tests", Input: []byte(`{}`)})
	k.d.Post(csm.CopilotToolCall{Request: k.request, ToolCall: call})
	k.d.Post(csm.CopilotDone{Request: k.request})
	k.d.Drain()
	for range 4 { // asked, asked again, rejected
		if _, open := speech.LineOf(k.d.State().Speech); open {
			k.plays()
		}
		k.clock.Advance(31*time.Second, k.d.Drain)
		k.d.Post(csm.CopilotDelta{Request: k.request, Round: 1})
		k.d.Drain()
		if len(k.shown) > 0 {
			break
		}
	}
	k.port.Answer(k.request, 1, "I did not run them.", true)
	k.d.Post(csm.CopilotDone{Request: k.request, Round: 1})
	k.d.Drain()
	if live, _ := copilot.LiveOf(k.d.State().Copilot); live.Request != 0 {
		t.Fatal("the task is not over")
	}
	if slices.ContainsFunc(k.shown, func(s string) bool { return strings.Contains(s, "The task is done") }) {
		t.Errorf("shown %q", k.shown)
	}
}

// The calls of the editor's tools are narrated, too.
func TestToolsOfTheEditorAreNarrated(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"editor_read_file", `{"path":"a.go"}`, "Reading one file."},
		{"editor_rename_symbol", `{"path":"a.go","symbol":"x"}`, "Editing files."},
		{"editor_run_tests", `{}`, "Running a command."},
		{"editor_open", `{"path":"a.go"}`, ""},
		{"other", `{"path":"a.go"}`, ""},
	} {
		got := narrations[protocol.English].of([]copilot.Activity{editorActivity(copilot.ToolCall{ID: "1", Name: c.name, Input: []byte(c.input)})})
		if got != c.want {
			t.Errorf("%s %s: %q, want %q", c.name, c.input, got, c.want)
		}
	}
}

// The activities that an adapter reports reach the narrator.
func TestActivitiesOfAnAgentAreNarrated(t *testing.T) {
	agent := &choosy{}
	r := newAgentRoom(t, locale(t, protocol.English), agent)
	begun := make(chan struct{})
	agent.answer = func(ctx context.Context, q copilot.Request, emit func(string)) error {
		emit("")
		q.Doing(copilot.Activity{ID: "1", Kind: copilot.Searching})
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	}
	r.types("fix the parser")
	<-begun
	r.clock.Advance(narrateAfter, r.d.Drain)
	r.left("Searching.")
}

// long gives a task an answer of many sentences, and returns a function that plays the
// nth one for 7 s. The last sentence is short if ending is set.
func (k *task) long(sentences int, ending string) (play func(n int)) {
	k.t.Helper()
	k.port.Answer(k.request, 0, strings.Repeat("This is one of many sentences in a long answer. ", sentences)+ending, true)
	k.d.Post(csm.CopilotDone{Request: k.request})
	k.d.Drain()
	line, _ := speech.LineOf(k.d.State().Speech)
	return func(n int) {
		k.clock.Advance(7*time.Second, k.d.Drain)
		k.d.Post(csm.SpeechPlayed{Gen: line.Gen, Seq: line.Segments[n].Seq})
		k.d.Drain()
	}
}

// A long answer pauses once at the end of a sentence after 20 s, says so, and "continue"
// speaks the next 20 s.
func TestLongAnswersSayThatThereIsMore(t *testing.T) {
	for l, c := range map[protocol.Locale]struct{ more, says string }{
		protocol.English:  {"There is more. Say continue.", "continue"},
		protocol.German:   {"Es geht noch weiter. Sagen Sie „weiter“.", "weiter"},
		protocol.Japanese: {"まだ続きがあります。「続けて」と言ってください。", "続けて"},
	} {
		k := newTask(t, l)
		play := k.long(7, "")
		play(0)
		play(1)
		k.said()
		play(2)
		k.said(c.more)
		if st := k.d.State(); !st.VoicePaused || !slices.Equal(k.shown, []string{c.more}) {
			t.Errorf("%v: the answer continues, %v; shown %q", l, st.Phase(), k.shown)
		}
		k.clock.Advance(5*time.Minute, k.d.Drain)
		k.said()
		k.hears(c.says)
		if st := k.d.State(); st.VoicePaused || st.Phase() != csm.PhaseSpeaking {
			t.Errorf("%v: the answer does not continue: %v", l, st.Phase())
		}
		play(3)
		play(4)
		k.said()
		play(5)
		k.said(c.more)
	}
}

// An answer does not pause if little is left of it, or if nobody could hear that there is
// more or say "continue".
func TestAnswersThatDoNotPause(t *testing.T) {
	set := func(change func(*protocol.Settings)) func(*task) {
		return func(k *task) {
			s := k.d.Settings()
			change(&s)
			k.d.Configure(s)
		}
	}
	for name, c := range map[string]struct {
		before    func(*task)
		sentences int
		ending    string
		pauses    bool
	}{
		"it has more":             {nil, 5, "", true},
		"it ends":                 {nil, 3, "", false},
		"a few words are left":    {nil, 3, "So it goes.", false},
		"the microphone is muted": {func(k *task) { k.d.Mute(protocol.MuteParams{Muted: true}) }, 5, "", false},
		"the voice is silent":     {set(func(s *protocol.Settings) { s.Voice.Silent = true }), 5, "", false},
		"the user wants all":      {set(func(s *protocol.Settings) { s.Speech.MoreAfter = 0 }), 5, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTask(t, protocol.English)
			if c.before != nil {
				c.before(k)
			}
			play := k.long(c.sentences, c.ending)
			for n := range 3 {
				play(n)
			}
			if paused := k.d.State().VoicePaused; paused != c.pauses {
				t.Errorf("paused %v, want %v", paused, c.pauses)
			}
		})
	}
}

// An answer with a question behind it does not pause: a pause would end it, and the question would be
// asked out of place.
func TestAnAnswerWithAQuestionDoesNotPause(t *testing.T) {
	no := false
	k := newTask(t, protocol.English)
	k.d.OfferTools([]copilot.Tool{{Name: "rename_symbol", Destructive: &no}})
	k.port.Answer(k.request, 0, strings.Repeat("This is one of many sentences in a long answer. ", 6), false)
	k.d.Post(k.port.ToolCall(k.request, 0, copilot.ToolCall{ID: "c1", Name: "rename_symbol", Input: json.RawMessage(`{"to":"b"}`), Destructive: &no}))
	k.d.Post(csm.CopilotDone{Request: k.request})
	k.d.Drain()
	line, _ := speech.LineOf(k.d.State().Speech)
	for n := range 4 {
		k.clock.Advance(7*time.Second, k.d.Drain)
		k.d.Post(csm.SpeechPlayed{Gen: line.Gen, Seq: line.Segments[n].Seq})
		k.d.Drain()
	}
	k.said()
	if st := k.d.State(); !st.Asking() || st.VoicePaused || !speech.Audible(st.Speech) {
		t.Errorf("asking %v, paused %v in %v", st.Asking(), st.VoicePaused, st.Phase())
	}
}

// A question that is asked instead of "continue" takes the place of the rest.
func TestQuestionInsteadOfMore(t *testing.T) {
	k := newTask(t, protocol.English)
	play := k.long(6, "")
	for n := range 3 {
		play(n)
	}
	k.said("There is more. Say continue.")
	k.hears("and the lexer")
	k.said("asks and the lexer")
	if st := k.d.State(); st.VoicePaused || hasSpeech(st) {
		t.Errorf("the answer is still to be continued: %v", st.Phase())
	}
}

// A text that is read again is not an answer: it does not pause.
func TestTextsDoNotPause(t *testing.T) {
	r := newRoom(t, locale(t, protocol.English), false, codeAnswer, false)
	r.hears("from the start")
	line, open := speech.LineOf(r.d.State().Speech)
	if !open {
		t.Fatal("nothing is read")
	}
	r.clock.Advance(25*time.Second, r.d.Drain)
	r.d.Post(csm.SpeechPlayed{Gen: line.Gen, Seq: line.Segments[0].Seq})
	r.d.Drain()
	if r.d.State().VoicePaused {
		t.Error("the text pauses")
	}
}
