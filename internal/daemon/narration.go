package daemon

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

const (
	// narrateAfter is how long nothing was said before the first narration of a request, or
	// after a part of the answer.
	narrateAfter = 10 * time.Second
	// narrateEvery is the shortest time between two narrations.
	narrateEvery = 30 * time.Second
	// narrateRetry is how long a narration waits that would disturb.
	narrateRetry = 2 * time.Second
	// longTask is the duration from which the end of a request is announced.
	longTask = time.Minute
	// moreAtLeast is how long the rest of an answer must take, estimated from the part that
	// was spoken, for the answer to pause before it.
	moreAtLeast = 5 * time.Second
)

// narrator says what the assistant does while it is silent, that a long task has ended,
// and that a long answer has more. Except for the latter, which pauses the answer, it is
// quiet while the user or the assistant speaks, while the user is asked, and while the
// conversation or the voice is paused.
type narrator struct {
	d *Daemon

	mu      sync.Mutex
	request uint64                      // live, or 0
	began   time.Duration               // of the request, plus the time in which the user was asked
	asking  bool                        // the user is asked since stepped
	last    time.Duration               // when the last narration was said
	spoke   time.Duration               // when the assistant last spoke, or the request began
	done    []copilot.Activity          // not yet narrated
	told    map[string]copilot.Activity // narrated, by ID
	sounded time.Duration               // of the answer, since it began or was continued
	chars   int                         // spoken in that time
	sounds  bool                        // the answer is audible since stepped
	stepped time.Duration               // time of the last step
	stop    func()                      // stops the pending narration; nil without one
	took    time.Duration               // of a long task whose end was not yet announced, or 0
}

// step follows the request and what is said.
func (n *narrator) step(s dispatch.Step) {
	now := n.d.cfg.Clock.Now()
	for _, f := range s.Effects {
		if run, ok := f.(csm.PublishTool); ok && run.Status == csm.ToolRunning {
			if call, known := n.d.content.call(run.ToolCall); known {
				n.doing(n.d.activityOf(call.ToolCall))
			}
		}
	}
	live, _ := copilot.LiveOf(s.State.Copilot)
	n.mu.Lock()
	if n.asking {
		n.began += now - n.stepped
	}
	_, n.asking = s.State.Copilot.(copilot.WaitingForApproval)
	if hasSpeech(s.State) {
		n.spoke = now
	}
	if live.Request != n.request {
		end, ended := s.Envelope.Event.(csm.CopilotDone)
		n.took = 0
		if length := now - n.began; ended && end.Request == n.request && end.Code == "" && !end.Cancelled && length >= longTask {
			n.took = length
			defer n.d.show(n.ended())
		}
		n.request, n.began, n.spoke, n.last = live.Request, now, now, now-narrateEvery
		n.told = map[string]copilot.Activity{}
		n.forget()
	}
	if s.State.Phase() == csm.PhaseIdle {
		n.took = 0
	}
	var said string
	if n.took > 0 && s.State.Current.ID == 0 && n.d.silent(s.State) {
		said, n.took = n.ended(), 0
	}
	more := n.pauses(s, now)
	n.mu.Unlock()
	if more {
		n.d.loop.Post(csm.UserPlayback{Pause: true})
		n.d.say(narrations[n.d.locale()].more)
	}
	if said != "" {
		n.d.sayAloud(said)
	}
}

// pauses reports whether the answer must pause after the segment that was just played:
// it was audible for as long as the user wants to listen, the rest is worth a pause, and the
// user can say "continue". The caller holds mu.
func (n *narrator) pauses(s dispatch.Step, now time.Duration) bool {
	if n.sounds {
		n.sounded += now - n.stepped
	}
	line, open := speech.LineOf(s.State.Speech)
	n.sounds, n.stepped = speech.Audible(s.State.Speech), now
	_, played := s.Envelope.Event.(csm.SpeechPlayed)
	if !open || s.State.VoicePaused || s.State.Asking() { // a question follows the answer
		n.sounded, n.chars = 0, 0
		return false
	}
	if !played || line.Played == 0 {
		return false
	}
	n.chars += n.length(line.Segments[line.Played-1])
	set := n.d.settings()
	if limit := set.Speech.MoreAfter; limit == 0 || n.sounded < limit || set.Voice.Silent || n.d.muted() {
		return false
	}
	rest := 0
	for _, seg := range line.Segments[line.Played:] {
		rest += n.length(seg)
	}
	return rest > 0 && n.sounded*time.Duration(rest) >= moreAtLeast*time.Duration(n.chars)
}

// length returns the number of spoken characters if a segment is part of an answer, and
// 0 otherwise.
func (n *narrator) length(seg speech.Segment) int {
	if seg.Request == 0 {
		return 0
	}
	return utf8.RuneCountInString(n.d.content.spoken(seg.Request, seg.Start))
}

// doing records an activity of the live request, and narrates it when it is time.
func (n *narrator) doing(a copilot.Activity) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if was, told := n.told[a.ID]; n.request == 0 || a.Kind == "" || told && len(a.Files) <= len(was.Files) && a.Done == was.Done {
		return
	}
	if i := slices.IndexFunc(n.done, func(old copilot.Activity) bool { return old.ID == a.ID && old.Kind == a.Kind }); i >= 0 {
		n.done[i] = a
	} else {
		n.done = append(n.done, a)
	}
	if n.stop == nil {
		n.wait(n.due())
	}
}

// resumed drops what was to be said about the awaited rest of an answer. If it stops again,
// that is said again.
func (n *narrator) resumed() {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.told, restID)
	n.done = slices.DeleteFunc(n.done, func(a copilot.Activity) bool { return a.ID == restID })
	if len(n.done) == 0 {
		n.forget()
	}
}

// due returns how long the next narration has to wait.
func (n *narrator) due() time.Duration {
	return max(n.spoke+narrateAfter, n.last+narrateEvery) - n.d.cfg.Clock.Now()
}

func (n *narrator) wait(d time.Duration) { n.stop = n.d.cfg.Clock.AfterFunc(d, n.narrate) }

// forget drops what was not said. The caller holds mu.
func (n *narrator) forget() {
	if n.done = nil; n.stop != nil {
		n.stop()
		n.stop = nil
	}
}

// narrate says what the assistant has been doing since the last time, unless it would
// disturb: then it waits.
func (n *narrator) narrate() {
	st := n.d.loop.State()
	live, _ := copilot.LiveOf(st.Copilot)
	n.mu.Lock()
	said := ""
	switch late := n.due(); {
	case n.stop == nil || live.Request != n.request || live.Cancelled: // over
	case late > 0:
		n.wait(late)
	case !n.d.silent(st):
		n.wait(narrateRetry)
	default:
		said = narrations[n.d.locale()].of(n.done)
		n.last = n.d.cfg.Clock.Now()
		for _, a := range n.done {
			n.told[a.ID] = a
		}
		n.forget()
	}
	n.mu.Unlock()
	if said != "" {
		n.d.say(said)
	}
}

func (n *narrator) ended() string {
	w := narrations[n.d.locale()]
	return w.ended + counted(w.minutes, int(n.took.Round(time.Minute)/time.Minute))
}

// close drops everything that was not said.
func (n *narrator) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.request = 0
	n.forget()
}

// silent reports whether something can be said without disturbing: nobody speaks, no
// question is open, neither the conversation nor the voice is paused, and there is a
// speaker.
func (d *Daemon) silent(st csm.State) bool {
	_, asked := st.Copilot.(copilot.WaitingForApproval)
	_, listens := st.Turn.(turn.Idle)
	return st.Phase().Active() && !st.Voiceless() && listens && !hasSpeech(st) && !asked && !st.VoicePaused && len(st.Drafts) == 0
}

// hasSpeech reports whether something is being said or about to be.
func hasSpeech(st csm.State) bool {
	line, open := speech.LineOf(st.Speech)
	return open && line.Played < len(line.Segments)
}

// editorActivities are the kinds of the editor's tools.
var editorActivities = map[string]copilot.ActivityKind{
	"editor_read_file": copilot.Reading, "editor_search": copilot.Searching, "editor_list_files": copilot.Searching,
	"editor_apply_edit": copilot.Editing, "editor_rename_symbol": copilot.Editing,
	"editor_run_tests": copilot.Running, "editor_run_task": copilot.Running, "editor_run_command": copilot.Running,
}

// activityOf returns what a call does. Its kind is "" for the tools of an agent, which
// reports its activities itself.
func (d *Daemon) activityOf(call copilot.ToolCall) copilot.Activity {
	a, agent := editorActivity(call), false
	if d.assistant != nil {
		_, agent = d.assistant.uses().(copilot.Worker)
	}
	if a.Kind == "" && !agent {
		a.Kind = copilot.Calling
	}
	return a
}

// editorActivity returns what a call of an editor's tool does; its kind is "" for other
// tools.
func editorActivity(call copilot.ToolCall) copilot.Activity {
	a := copilot.Activity{ID: call.ID, Kind: editorActivities[call.Name]}
	var in struct{ Path, Symbol string }
	if json.Unmarshal(call.Input, &in) == nil && in.Path != "" && in.Symbol == "" { // a symbol is renamed in many files
		a.Files = []string{in.Path}
	}
	return a
}

// narration holds the sentences of a language. An activity has forms for an unknown
// number, for one, and for more.
type narration struct {
	activities   map[copilot.ActivityKind][3]string
	tests, steps string
	ended        string
	more         string
	minutes      [3]string
	between      string // between two sentences
}

var narrations = map[protocol.Locale]narration{
	protocol.English: {
		activities: map[copilot.ActivityKind][3]string{
			copilot.Reading:   {"Reading files.", "Reading one file.", "Reading %d files."},
			copilot.Searching: {"Searching."},
			copilot.Fetching:  {"Looking something up."},
			copilot.Editing:   {"Editing files.", "Editing one file.", "Editing %d files."},
			copilot.Running:   {"Running commands.", "Running a command.", "Running %d commands."},
			copilot.Calling:   {"Using a tool.", "Using a tool.", "Using %d tools."},
			copilot.Awaiting:  {"The answer has stopped. I am waiting for the rest."},
		},
		tests: "Tests run, %d of %d.", steps: "%d of %d steps are done.",
		more: "There is more. Say continue.", ended: "The task is done. ", minutes: [3]string{"", "It took one minute.", "It took %d minutes."}, between: " ",
	},
	protocol.German: {
		activities: map[copilot.ActivityKind][3]string{
			copilot.Reading:   {"Ich lese Dateien.", "Ich lese eine Datei.", "Ich lese %d Dateien."},
			copilot.Searching: {"Ich suche."},
			copilot.Fetching:  {"Ich schlage etwas nach."},
			copilot.Editing:   {"Ich bearbeite Dateien.", "Ich bearbeite eine Datei.", "Ich bearbeite %d Dateien."},
			copilot.Running:   {"Ich führe Befehle aus.", "Ich führe einen Befehl aus.", "Ich führe %d Befehle aus."},
			copilot.Calling:   {"Ich benutze ein Werkzeug.", "Ich benutze ein Werkzeug.", "Ich benutze %d Werkzeuge."},
			copilot.Awaiting:  {"Die Antwort stockt. Ich warte auf den Rest."},
		},
		tests: "%d von %d Tests sind gelaufen.", steps: "%d von %d Schritten sind erledigt.",
		more: "Es geht noch weiter. Sagen Sie „weiter“.", ended: "Die Aufgabe ist erledigt. ", minutes: [3]string{"", "Sie hat eine Minute gedauert.", "Sie hat %d Minuten gedauert."}, between: " ",
	},
	protocol.Japanese: {
		activities: map[copilot.ActivityKind][3]string{
			copilot.Reading:   {"ファイルを読んでいます。", "ファイルを 1 件読んでいます。", "ファイルを %d 件読んでいます。"},
			copilot.Searching: {"検索しています。"},
			copilot.Fetching:  {"調べています。"},
			copilot.Editing:   {"ファイルを編集しています。", "ファイルを 1 件編集しています。", "ファイルを %d 件編集しています。"},
			copilot.Running:   {"コマンドを実行しています。", "コマンドを 1 件実行しています。", "コマンドを %d 件実行しています。"},
			copilot.Calling:   {"ツールを使っています。", "ツールを使っています。", "ツールを %d 件使っています。"},
			copilot.Awaiting:  {"回答が止まっています。続きを待っています。"},
		},
		tests: "テストは %[2]d 件中 %[1]d 件が完了しました。", steps: "%[2]d ステップ中 %[1]d ステップが完了しました。",
		more: "まだ続きがあります。「続けて」と言ってください。", ended: "作業が完了しました。", minutes: [3]string{"", "1 分かかりました。", "%d 分かかりました。"},
	},
}

// of puts activities into sentences: the files and commands of each kind, then the latest
// count of tests and of steps.
func (w narration) of(done []copilot.Activity) (said string) {
	add := func(sentence string) {
		if said != "" && sentence != "" {
			said += w.between
		}
		said += sentence
	}
	tests, steps := "", ""
	for _, kind := range []copilot.ActivityKind{copilot.Reading, copilot.Searching, copilot.Fetching, copilot.Editing, copilot.Running, copilot.Calling, copilot.Awaiting} {
		calls, files := 0, map[string]bool{}
		for _, a := range done {
			if a.Kind == kind {
				calls++
				for _, f := range a.Files {
					files[f] = true
				}
				if a.All > 0 {
					tests = fmt.Sprintf(w.tests, a.Done, a.All)
				}
			}
		}
		forms := w.activities[kind]
		switch {
		case calls == 0:
		case kind == copilot.Running || kind == copilot.Calling:
			add(counted(forms, calls))
		case len(files) > 0:
			add(counted(forms, len(files)))
		default:
			add(forms[0])
		}
	}
	for _, a := range done {
		if a.Kind == copilot.Planning && a.All > 0 {
			steps = fmt.Sprintf(w.steps, a.Done, a.All)
		}
	}
	add(tests)
	add(steps)
	return said
}

// counted chooses the form for a number. The first form is for all numbers if there is no
// other.
func counted(forms [3]string, number int) string {
	switch {
	case forms[2] == "":
		return forms[0]
	case number == 1:
		return forms[1]
	}
	return fmt.Sprintf(forms[2], number)
}
