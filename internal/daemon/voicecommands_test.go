package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// room is a conversation that records the effects of voice commands.
type room struct {
	*codeWorld
	t     *testing.T
	d     *Daemon
	clock *dispatch.Virtual
	next  uint64

	oneVoice bool // the voice cannot be switched

	mu     sync.Mutex
	traces []string
	traced chan struct{}
}

func (r *room) trace(format string, args ...any) {
	r.mu.Lock()
	r.traces = append(r.traces, fmt.Sprintf(format, args...))
	r.mu.Unlock()
	r.traced <- struct{}{}
}

func (r *room) SetRate(rate float64) { r.trace("rate %.2f", rate) }
func (r *room) SwitchVoice(by int) (name, spoken string) {
	if r.oneVoice {
		return "", ""
	}
	r.trace("voice %+d", by)
	return "bf_emma", "Emma"
}
func (r *room) SetVolume(volume float64) { r.trace("volume %.2f", volume) }
func (r *room) Mute(muted bool) {
	if r.d != nil {
		r.trace("muted %v", muted)
	}
}
func (r *room) Say(text string) { r.trace("%s", text) }
func (r *room) Execute(e csm.Effect) {
	if e, ok := e.(csm.Speak); ok && e.Segment.Ref != 0 {
		r.trace("reads %s", r.port.Words(e.Segment))
	}
	if e, ok := e.(csm.SendCopilot); ok {
		r.trace("asks %s", r.d.content.words(e.Utterance, e.More))
	}
	if e, ok := e.(csm.SearchTools); ok {
		r.port.Post(csm.ToolSearchDone{Request: e.Request, Tools: 1})
	}
	r.codeWorld.Execute(e)
}

// newRoom returns a room whose assistant said text. If speaking is set, it is still
// saying the beginning.
func newRoom(t *testing.T, set protocol.Settings, editor bool, text string, speaking bool, more ...func(*Config)) *room {
	t.Helper()
	r := &room{t: t, clock: &dispatch.Virtual{}, next: 90, traced: make(chan struct{}, 1000)}
	cfg := Config{
		Clock: r.clock, Started: time.Unix(0, 0), Settings: set, Verify: true, Log: zerolog.Nop(), Notify: func(string, any) {},
		World: func(p Port) World {
			r.codeWorld = &codeWorld{promptWorld: promptWorld{port: p, clock: r.clock}}
			return r
		},
	}
	if editor {
		cfg.Editor = func(_ context.Context, p protocol.EditorCommandParams) (protocol.EditorCommandResult, error) {
			r.trace("editor %s %d %v", p.Command, p.Number, p.Names)
			if p.Number > 300 {
				return protocol.EditorCommandResult{Problem: "The file has 300 lines."}, nil
			}
			return protocol.EditorCommandResult{}, nil
		}
	}
	for _, change := range more {
		change(&cfg)
	}
	r.d = New(cfg)
	t.Cleanup(func() { _ = r.d.Close() })
	r.d.Post(csm.UserStart{})
	r.d.Drain()
	r.d.SetWorkspace(protocol.WorkspaceWordsParams{Names: []protocol.WorkspaceWord{
		{Text: "parser.go", Kind: protocol.WordFile}, {Text: "README.md", Kind: protocol.WordFile}, {Text: "parse.ts", Kind: protocol.WordFile}, {Text: "parse.go", Kind: protocol.WordFile},
	}})
	if text != "" {
		r.types("explain it")
		r.port.Answer(r.request, 0, text, true)
		r.d.Post(r.d.content.ended(csm.CopilotDone{Request: r.request}))
		r.d.Drain()
		if !speaking {
			for range 20 {
				line, open := speech.LineOf(r.d.State().Speech)
				if !open {
					break
				}
				seq := line.Segments[min(line.Played, len(line.Segments)-1)].Seq
				r.d.Post(csm.SpeechPlayed{Gen: line.Gen, Seq: seq})
				if line.Played+1 >= len(line.Segments) {
					r.d.Post(csm.SpeechDrained{Gen: line.Gen, Seq: seq})
				}
				r.d.Drain()
			}
			r.clock.Advance(time.Second, r.d.Drain)
		}
	}
	r.mu.Lock()
	r.traces = nil
	r.mu.Unlock()
	return r
}

func (r *room) types(text string) {
	r.t.Helper()
	if err := r.d.SendText(text, func(csm.Reply, protocol.Snapshot) {}); err != nil {
		r.t.Fatal(err)
	}
	r.d.Drain()
}

func (r *room) hears(text string) {
	r.next++
	hears(r.d, r.clock, r.next, text)
	r.clock.Advance(time.Second, r.d.Drain)
}

// left checks the effects of the commands, after waiting for the editor.
func (r *room) left(want ...string) {
	r.t.Helper()
	late := time.After(patience)
	for {
		r.mu.Lock()
		got := slices.Clone(r.traces)
		r.mu.Unlock()
		if len(got) >= len(want) {
			if !slices.Equal(got, want) {
				r.t.Errorf("left %q, want %q", got, want)
			}
			return
		}
		select {
		case <-r.traced:
		case <-late:
			r.t.Fatalf("left %q, want %q", got, want)
		}
	}
}

const codeAnswer = "The parser is in `internal/parser.go:42`. It reads tokens first.\n\n```go\ndefer f.Close()\n```\n\nThen it builds a tree."

// Commands that leave the floor to the assistant act at once, spoken or typed, and the
// answer continues.
func TestQuietCommands(t *testing.T) {
	set := protocol.DefaultSettings()
	set.Wake.Enabled = true
	for _, c := range []struct{ says, want string }{
		{"Slower, please.", "rate 0.80"}, {"schneller", "rate 1.25"}, {"もっと速く", "rate 1.25"}, {"normal speed", "rate 1.00"}, {"speed 1.5", "rate 1.50"},
		{"Tempo 2", "rate 2.00"}, {"speed seven", "I can speak at a speed from 0.5 to 3."}, {"louder", "volume 1.41"}, {"leiser", "volume 0.71"},
		{"mute the microphone", "muted true"}, {"ミュート", "muted true"}, {"undo that", "editor undo 0 []"}, {"mach das rückgängig", "editor undo 0 []"},
		{"open the settings", "editor openSettings 0 []"}, {"choose microphone", "editor chooseMicrophone 0 []"}, {"scroll down", "editor scrollDown 0 []"},
		{"nach oben", "editor scrollUp 0 []"}, {"next problem", "editor nextProblem 0 []"}, {"前の問題", "editor previousProblem 0 []"},
		{"go to line forty two", "editor goToLine 42 []"}, {"geh zu Zeile zwölf", "editor goToLine 12 []"}, {"run the tests", "editor runTests 0 []"},
		{"テストを実行して", "editor runTests 0 []"}, {"open that file", "editor openFile 0 [internal/parser.go:42]"}, {"open parser dot go", "editor openFile 0 [parser.go]"},
		{"öffne die Datei parser.go", "editor openFile 0 [parser.go]"}, {"open readme", "editor openFile 0 [README.md]"},
	} {
		for _, typed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s typed %v", c.says, typed), func(t *testing.T) {
				r := newRoom(t, set, true, codeAnswer, true)
				if typed {
					r.types(c.says)
				} else {
					r.hears(c.says)
				}
				r.left(c.want)
				if phase := r.d.State().Phase(); phase != csm.PhaseSpeaking {
					t.Errorf("the answer does not go on: %v", phase)
				}
			})
		}
	}
}

// "Run the tests" goes to the assistant where the editor knows no tests, whole and once, and waits for
// an answer that is being spoken.
func TestRunTheTestsWithoutAnyInTheEditor(t *testing.T) {
	none := func(cfg *Config) {
		cfg.Editor = func(context.Context, protocol.EditorCommandParams) (protocol.EditorCommandResult, error) {
			return protocol.EditorCommandResult{ToAssistant: true}, nil
		}
	}
	for _, c := range []struct {
		speaking, typed bool
		want            []string
	}{{false, false, []string{"asks run the tests"}}, {false, true, []string{"asks run the tests"}}, {true, false, nil}} {
		r := newRoom(t, protocol.DefaultSettings(), true, codeAnswer, c.speaking, none)
		if c.typed {
			r.types("run the tests")
		} else {
			r.hears("run the tests")
		}
		for range 100 {
			if st := r.d.State(); len(st.Queue) > 0 || st.Current.ID != 0 && !c.speaking {
				break
			}
			time.Sleep(5 * time.Millisecond) // the editor answers on a goroutine of its own
			r.d.Drain()
		}
		r.left(c.want...)
		if st := r.d.State(); c.speaking && (st.Phase() != csm.PhaseSpeaking || len(st.Queue) != 1) {
			t.Errorf("over an answer: %v, %d queued", st.Phase(), len(st.Queue))
		}
	}
}

// "Another voice" switches the speaker while the assistant listens and while it speaks. The new
// one says its name, and the choice is kept here and by the editor.
func TestAnotherVoice(t *testing.T) {
	for _, c := range []struct{ says, want string }{
		{"Use another voice.", "voice +1"}, {"another voice, please", "voice +1"}, {"Change your voice.", "voice +1"}, {"next voice", "voice +1"},
		{"Go back to the voice before.", "voice -1"}, {"the previous voice", "voice -1"}, {"andere Stimme", "voice +1"}, {"Zurück zur vorigen Stimme.", "voice -1"},
		{"別の声にして", "voice +1"}, {"前の声に戻して", "voice -1"},
	} {
		for _, speaking := range []bool{false, true} {
			for _, editor := range []bool{false, true} {
				r := newRoom(t, protocol.DefaultSettings(), editor, codeAnswer, speaking)
				want := []string{c.want, "I am Emma now. Say 'another voice' for the next one."}
				if editor {
					want = append(want, "editor keepVoice 0 [bf_emma]")
				}
				before := r.d.State().Phase()
				r.hears(c.says)
				r.left(want...)
				if now := r.d.State().Phase(); now != before || r.d.settings().Voice.Name != "bf_emma" {
					t.Errorf("%q: %v after %v, and the voice in the settings is %q", c.says, now, before, r.d.settings().Voice.Name)
				}
			}
		}
	}
	r := newRoom(t, protocol.DefaultSettings(), true, codeAnswer, false)
	r.types("use another voice model in the code")
	r.left("asks use another voice model in the code")
}

// A voice that cannot be switched says so, and the settings stay.
func TestNoOtherVoice(t *testing.T) {
	for locale, want := range map[string]string{
		"en": "The voice cannot be changed here; choose one in the settings, under Voice Name.",
		"de": "Die Stimme lässt sich hier nicht wechseln; wählen Sie eine in den Einstellungen, unter Voice Name.",
		"ja": "ここでは声を変えられません。設定の Voice Name で選んでください。",
	} {
		set := protocol.DefaultSettings()
		set.Locale = locale
		r := newRoom(t, set, true, codeAnswer, false)
		r.oneVoice = true
		r.hears("another voice")
		r.left(want)
		if name := r.d.settings().Voice.Name; name != "" {
			t.Errorf("the voice in the settings is %q", name)
		}
	}
}

// What a new voice says to say for the next one is a command.
func TestTheNewVoiceNamesACommand(t *testing.T) {
	quoted := regexp.MustCompile("['„「](.+)['“」]")
	for locale, words := range voiceWords {
		if m := quoted.FindStringSubmatch(words.newVoice); m == nil || spoken.Classify(m[1]).Command != spoken.CommandNextVoice {
			t.Errorf("%s: %q", locale, words.newVoice)
		}
	}
}

// The editor gets commands in the order in which they were said, each after the answer to
// the one before.
func TestTheEditorGetsCommandsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		r := newRoom(t, protocol.DefaultSettings(), true, codeAnswer, true, func(cfg *Config) {
			trace := cfg.Editor
			cfg.Editor = func(ctx context.Context, p protocol.EditorCommandParams) (protocol.EditorCommandResult, error) {
				if p.Command == protocol.EditorScrollDown {
					<-free
				}
				return trace(ctx, p)
			}
		})
		r.hears("scroll down")
		r.hears("next problem")
		r.types("scroll up")
		synctest.Wait()
		r.left()
		close(free)
		r.left("editor scrollDown 0 []", "editor nextProblem 0 []", "editor scrollUp 0 []")
	})
}

// Commands that stop the assistant run as soon as it is silent.
func TestCommandsThatStopTheAnswer(t *testing.T) {
	const whole = "The parser is in internal slash parser dot go line 42. It reads tokens first. A Go block of 1 line, in the panel. Then it builds a tree."
	for _, c := range []struct{ says, want string }{
		{"repeat that", "reads " + whole}, {"from the start", "reads " + whole}, {"von vorne", "reads " + whole}, {"最初から", "reads " + whole},
		{"repeat the last sentence", "reads The parser is in internal slash parser dot go line 42."},
		{"den letzten Satz noch einmal", "reads The parser is in internal slash parser dot go line 42."},
		{"read the code", "reads defer f dot Close."}, {"コードを読んで", "reads defer f dot Close."},
		{"what did you do", "reads I have not used any tools in this conversation."},
	} {
		for _, typed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s typed %v", c.says, typed), func(t *testing.T) {
				r := newRoom(t, protocol.DefaultSettings(), true, codeAnswer, true)
				if typed {
					r.types(c.says)
					r.clock.Advance(time.Second, r.d.Drain)
				} else {
					r.hears(c.says)
				}
				r.left(c.want)
			})
		}
	}
	for _, says := range []string{"stop", "skip", "scratch that", "überspringen", "never mind", "スキップ"} {
		for _, typed := range []bool{false, true} {
			r := newRoom(t, protocol.DefaultSettings(), false, codeAnswer, true)
			if typed {
				r.types(says)
				r.clock.Advance(time.Second, r.d.Drain)
			} else {
				r.hears(says)
			}
			if phase := r.d.State().Phase(); phase != csm.PhaseListening || len(r.traces) > 0 {
				t.Errorf("%q typed %v: %v after %q", says, typed, phase, r.traces)
			}
		}
	}
}

// After a complete answer, the last sentence is the final one.
func TestRepeatsTheSentenceThatWasHeardLast(t *testing.T) {
	r := newRoom(t, protocol.DefaultSettings(), false, codeAnswer, false)
	r.hears("repeat the last sentence")
	r.left("reads Then it builds a tree.")
}

// A command that does not apply is dictation and goes to the assistant.
func TestCommandsWithoutAnObjectAreDictation(t *testing.T) {
	for _, c := range []struct {
		says, answer string
		editor       bool
	}{
		{"run the tests", codeAnswer, false}, {"undo that", codeAnswer, false}, {"fix it", codeAnswer, true}, {"open the door", codeAnswer, true},
		{"open parse", codeAnswer, true}, // ambiguous: two files match
		{"open that file", "There is none.", true}, {"read the code", "There is none.", true}, {"repeat the last sentence", "", true},
		{"go to line zero", codeAnswer, true}, {"go to line 4.5", codeAnswer, true}, {"summarise", "", true}, {"try again", codeAnswer, true},
		{"rename this and run the tests", codeAnswer, true}, {"say stop", codeAnswer, true},
	} {
		for _, typed := range []bool{false, true} {
			r := newRoom(t, protocol.DefaultSettings(), c.editor, c.answer, false)
			if typed {
				r.types(c.says)
			} else {
				r.hears(c.says)
			}
			r.left("asks " + c.says)
		}
	}
}

// The request for a summary is unambiguous to the assistant.
func TestSummariseAsksForTheLastAnswer(t *testing.T) {
	for _, typed := range []bool{false, true} {
		r := newRoom(t, protocol.DefaultSettings(), false, codeAnswer, false)
		if typed {
			r.types("summarise that")
		} else {
			r.hears("Fasse das zusammen.")
		}
		r.left("asks Sum up your last answer in one or two short sentences, to be read aloud.")
	}
}

// The user hears why the editor could not execute a command.
func TestTheEditorsProblemIsSaid(t *testing.T) {
	r := newRoom(t, protocol.DefaultSettings(), true, codeAnswer, false)
	r.hears("go to line four thousand")
	r.left("editor goToLine 4000 []", "The file has 300 lines.")
}

// The first remedy of a problem runs while the problem is shown.
func TestFixItNeedsAProblem(t *testing.T) {
	r := newRoom(t, protocol.DefaultSettings(), true, codeAnswer, false)
	r.d.Post(csm.CopilotDone{}) // stale, so not a problem
	r.d.voice.problem.Store(true)
	r.hears("fix it")
	r.left("editor fixIt 0 []")
}

func TestSleepAndEnd(t *testing.T) {
	for _, says := range []string{"end the conversation", "Gespräch beenden", "会話を終了", "go to sleep"} {
		for _, typed := range []bool{false, true} {
			set := protocol.DefaultSettings()
			set.Wake.Enabled = true
			r := newRoom(t, set, false, codeAnswer, false)
			if typed {
				r.types(says)
			} else {
				r.hears(says)
			}
			if phase := r.d.State().Phase(); phase == csm.PhaseListening || phase == csm.PhaseAnalysing {
				t.Errorf("%q typed %v: %v", says, typed, phase)
			}
		}
	}
	r := newRoom(t, protocol.DefaultSettings(), false, codeAnswer, false)
	r.hears("go to sleep")
	r.left("The wake phrase is off, so nothing would wake me. You can turn it on in the settings.")
	if phase := r.d.State().Phase(); phase != csm.PhaseListening {
		t.Errorf("it sleeps for good: %v", phase)
	}
}

// Code is omitted from the next answer on, and code that is being said is skipped.
func TestSkipTheCode(t *testing.T) {
	set := protocol.DefaultSettings()
	set.Speech.ReadCode = protocol.ReadCodeFull
	r := newRoom(t, set, false, "```go\ndefer f.Close()\n```\n\nThen it builds a tree.", true)
	r.hears("skip the code")
	r.left("reads Then it builds a tree.")
	r.d.Post(csm.UserInterrupt{})
	r.clock.Advance(time.Second, r.d.Drain)
	r.said = nil
	r.types("and now")
	r.port.Answer(r.request, 0, codeAnswer, true)
	r.d.Post(csm.CopilotDone{Request: r.request})
	r.d.Drain()
	if said := strings.Join(r.said, "|"); strings.Contains(said, "defer") || strings.Contains(said, "block") || !strings.Contains(said, "tree") {
		t.Errorf("said %q", said)
	}
}

// Help lists every available command, in each language.
func TestHelpListsEveryCommand(t *testing.T) {
	for _, locale := range protocol.Locales {
		set := protocol.DefaultSettings()
		set.Locale = string(locale)
		set.TurnDetection.Mode = protocol.TurnPhrase
		with := newRoom(t, set, true, "", false, func(c *Config) { c.Adapter = &choosy{} }, withChoice).d.help()
		without := newRoom(t, set, false, "", false).d.help()
		for _, e := range spoken.Entries(string(locale)) {
			phrase := example(e)
			if has := strings.Contains(with, phrase); has == (e.Command == spoken.CommandUnmute) && !strings.Contains(phrase, "ミュート") {
				t.Errorf("%s: %s is listed %v: %s", locale, e.Command, has, with)
			}
			if _, editor := editorCommands[e.Command]; editor && strings.Contains(without, phrase+",") {
				t.Errorf("%s: %s is listed without an editor", locale, e.Command)
			}
			if e.Command.Agent() && strings.Contains(without, phrase) {
				t.Errorf("%s: %s is listed without an agent", locale, e.Command)
			}
		}
	}
}

// A typed yes approves what a spoken one would, but nothing that must be named.
func TestTypedAnswersToAQuestion(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		says        string
		destructive *bool
		want        csm.ToolStatus
		again       bool
	}{
		{"yes", &no, csm.ToolRunning, false}, {"no", &no, csm.ToolRejected, false}, {"nein", &yes, csm.ToolRejected, false},
		{"okay", &no, csm.ToolRunning, false}, {"permission granted", &no, csm.ToolRunning, false},
		{"okay", &yes, csm.ToolPending, true}, {"yes, but", &no, csm.ToolPending, false}, {"yes, delete it in", &no, csm.ToolPending, false}, {"wait", &no, csm.ToolPending, false}, {"hold on", &yes, csm.ToolPending, false},
		{"yes", &yes, csm.ToolPending, true}, {"repeat that", &yes, csm.ToolPending, true}, {"von vorne", &yes, csm.ToolPending, true}, {"yes, delete", &yes, csm.ToolRunning, false},
	} {
		r := newRoom(t, protocol.DefaultSettings(), false, "", false)
		r.d.OfferTools([]copilot.Tool{{Name: "delete_file", Destructive: c.destructive}})
		r.d.Drain()
		var status csm.ToolStatus
		r.types("remove it")
		r.d.Post(r.port.ToolCall(r.request, 0, copilot.ToolCall{ID: "c1", Name: "delete_file", Input: json.RawMessage(`{"file":"a.txt"}`), Destructive: c.destructive}))
		r.d.Post(csm.CopilotDone{Request: r.request})
		r.d.Drain()
		r.mu.Lock()
		r.traces = nil
		r.mu.Unlock()
		r.types(c.says)
		switch st := r.d.State().Copilot.(type) {
		case copilot.WaitingForApproval:
			status = csm.ToolPending
		case copilot.CallingTool:
			status = csm.ToolRunning
		default:
			status = csm.ToolRejected
			_ = st
		}
		if status != c.want || c.again != (len(r.traces) > 0 && strings.Contains(r.traces[0], "yes, delete")) {
			t.Errorf("%q, destructive %v: %v after %q, want %v", c.says, *c.destructive, status, r.traces, c.want)
		}
	}
}

// The user's phrases are read when a conversation begins, and phrases without effect
// are reported.
func TestTheUsersOwnPhrases(t *testing.T) {
	file := filepath.Join(t.TempDir(), "voice-commands.md")
	if err := os.WriteFile(file, []byte("## slower\n- easy tiger\n- yes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	warned := make(chan string, 8)
	r := &room{t: t, clock: &dispatch.Virtual{}, next: 90, traced: make(chan struct{}, 1000)}
	r.d = New(Config{
		Clock: r.clock, Started: time.Unix(0, 0), Settings: protocol.DefaultSettings(), Verify: true, Log: zerolog.Nop(), CommandFiles: []string{file, file + ".none"},
		Notify: func(_ string, params any) {
			if n, ok := params.(protocol.NotificationParams); ok {
				warned <- n.Message
			}
		},
		World: func(p Port) World {
			r.codeWorld = &codeWorld{promptWorld: promptWorld{port: p, clock: r.clock}}
			return r
		},
	})
	t.Cleanup(func() { _ = r.d.Close() })
	r.d.Post(csm.UserStart{})
	r.d.Drain()
	select {
	case got := <-warned:
		if got != "Some of your voice commands have no effect: slower: “yes” means yes already" {
			t.Errorf("reported %q", got)
		}
	case <-time.After(patience):
		t.Fatal("a conflict is not reported")
	}
	r.hears("easy, tiger!")
	r.left("rate 0.80")
}
