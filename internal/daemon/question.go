package daemon

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// maxSpoken limits a name within a question, in characters.
const maxSpoken = 40

// action is the effect of a tool, in words that people use.
type action struct {
	names []string // words in tool names that indicate it
	// say is the word that a yes must name, by locale.
	say map[protocol.Locale]string
	// stems are prefixes of the words that name it. In a script without spaces they may
	// occur anywhere in a word.
	stems []string
}

func says(en, de, ja string) map[protocol.Locale]string {
	return map[protocol.Locale]string{protocol.English: en, protocol.German: de, protocol.Japanese: ja}
}

// actions are searched in this order for each word of a tool's name. The first one also
// applies to tools whose names match none.
var actions = []action{
	{strings.Fields("run execute exec shell terminal command task test tests build launch start call"),
		says("run", "ausführen", "実行"), strings.Fields("run execut ausführ ausfuehr führ fuehr 実行")},
	{strings.Fields("delete remove erase drop clear clean purge unlink reset"),
		says("delete", "löschen", "削除"), strings.Fields("delet remov eras lösch loesch entfern 削除")},
	{strings.Fields("edit replace apply patch modify update change rename move refactor insert format"),
		says("change", "ändern", "変更"), strings.Fields("chang edit replac änder aender bearbeit ersetz 変更 編集")},
	{strings.Fields("write save put create add new make generate"),
		says("write", "schreiben", "書き込み"), strings.Fields("writ creat sav schreib erstell anleg 書き込 書込 作成")},
	{strings.Fields("send post publish push upload commit merge submit deploy reply comment"),
		says("send", "senden", "送信"), strings.Fields("send push publish send sende schick veröffentlich 送信 公開")},
	{strings.Fields("install"),
		says("install", "installieren", "インストール"), strings.Fields("install インストール")},
	{strings.Fields("stop kill terminate cancel close"),
		says("end", "beenden", "終了"), strings.Fields("end beend schließ 終了")},
	{strings.Fields("read open get list find search fetch show view grep look"),
		says("read", "lesen", "読み取り"), strings.Fields("read open lesen lies öffne 読")},
}

// deleteAction is the index of the action of a command that deletes, whatever its tool
// is called.
const deleteAction = 1

// actionOf returns the action of a tool, from the first word of its name that matches.
func actionOf(tool string) action {
	for _, word := range nameWords(tool) {
		for _, a := range actions {
			if slices.Contains(a.names, word) {
				return a
			}
		}
	}
	return actions[0]
}

// named reports whether a spoken word names the action.
func (a action) named(word string) bool {
	return slices.ContainsFunc(a.stems, func(stem string) bool {
		return strings.HasPrefix(word, stem) || unspaced(stem) && strings.Contains(word, stem)
	})
}

// nameWords splits a tool's name into words: runTests, run_tests and run-tests become
// run, tests. The vendor's name is left out.
func nameWords(name string) []string {
	var b strings.Builder
	var last rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte(' ')
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
		last = r
	}
	words := strings.Fields(b.String())
	for len(words) > 1 && slices.Contains([]string{"copilot", "vscode", "github", "mcp", "editor"}, words[0]) {
		words = words[1:]
	}
	return words
}

// questionWords are the parts of a question, in order.
type questionWords struct {
	with, alone string // the tool, with and without its objects
	run, runs   string // the programs of a command, listed or counted
	overwrite   string // the files that a command replaces
	write       string // those that it creates or appends to
	remove      string // those that it deletes
	long        string // the command is too long to be spoken
	screen      string // what a call is about is too long to be spoken
	here        string // all files of the folder
	inFolder    string // a file of a folder outside of the workspace
	inHome      string // a file of the user's own folder
	unknown     string // the effect of a command is not fully known
	panel       string // the panel shows more of the call than is spoken
	terminal    string // the terminal does
	shown       string // the editor shows the change, which can be read aloud
	answer      string // how to answer; first, so that the user may answer as soon as the call was named
	named       string // how to answer if it may be irreversible
	click       string // a spoken yes is not enough
	never       string // and there is nothing to click on
	key         string // but a key to press
	muted       string // a spoken answer is not heard
	and, comma  string
	more        string // end of a list that was cut
	asks        string // a question from the assistant
	choices     string // the choices that it offers
}

var questions = map[protocol.Locale]questionWords{
	protocol.English: {
		with: "May I use the tool %[1]s on %[2]s?", alone: "May I use the tool %[1]s?",
		run: " It would run %s.", runs: " It would run %d programs: %s.", overwrite: " It would overwrite %s.",
		write: " It would write to %s.", remove: " It would delete %s.", long: " It is a long command: look at the screen.",
		screen: " It is about too much to say: look at the screen.",
		here:   "everything in this folder", inFolder: "%[1]s in the folder %[2]s", inHome: "%s in your home folder",
		unknown: " I can’t tell everything it would do.", panel: " The panel shows the whole call.", terminal: " The terminal shows the whole call.",
		shown:  " The editor shows the change; to hear the first one, say read it.",
		answer: "Yes or no: ",
		named:  " It may not be possible to undo it. To allow it, say “yes, %s”; if not, say no.",
		click:  " To allow it, click Allow once in the panel; if not, say no.",
		never:  " It cannot be allowed without a keyboard; please say no.",
		key:    " To allow it, press Y and Enter; if not, say no.",
		muted:  " You are muted, so I can’t hear your answer: unmute, or answer on the screen.",
		and:    " and ", comma: ", ", more: "%d more", asks: "The assistant asks: %s", choices: " The choices are %s.",
	},
	protocol.German: {
		with: "Darf ich das Werkzeug %[1]s für %[2]s benutzen?", alone: "Darf ich das Werkzeug %[1]s benutzen?",
		run: " Es würde %s ausführen.", runs: " Es würde %d Programme ausführen: %s.", overwrite: " Es würde %s überschreiben.",
		write: " Es würde in %s schreiben.", remove: " Es würde %s löschen.", long: " Es ist ein langer Befehl: Sehen Sie auf den Bildschirm.",
		screen: " Es geht um zu viel, um es vorzulesen: Sehen Sie auf den Bildschirm.",
		here:   "alles in diesem Ordner", inFolder: "%[1]s im Ordner %[2]s", inHome: "%s in Ihrem persönlichen Ordner",
		unknown: " Ich kann nicht erkennen, was es alles täte.", panel: " Die Ansicht zeigt den ganzen Aufruf.", terminal: " Das Terminal zeigt den ganzen Aufruf.",
		shown:  " Der Editor zeigt die Änderung; um die erste zu hören, sagen Sie: lies es vor.",
		answer: "Ja oder nein: ",
		named:  " Das lässt sich vielleicht nicht rückgängig machen. Sagen Sie „ja, %s“, wenn ich darf, sonst nein.",
		click:  " Wenn ich darf, klicken Sie in der Ansicht auf „Einmal erlauben“, sonst sagen Sie nein.",
		never:  " Ohne Tastatur lässt sich das nicht erlauben; bitte sagen Sie nein.",
		key:    " Wenn ich darf, drücken Sie Y und die Eingabetaste, sonst sagen Sie nein.",
		muted:  " Sie sind stummgeschaltet, ich höre Ihre Antwort nicht: Heben Sie das auf, oder antworten Sie am Bildschirm.",
		and:    " und ", comma: ", ", more: "%d weitere", asks: "Der Assistent fragt: %s", choices: " Zur Wahl stehen %s.",
	},
	protocol.Japanese: {
		with: "ツール %[1]s を %[2]s に使ってもよろしいですか。", alone: "ツール %[1]s を使ってもよろしいですか。",
		run: "%s を実行します。", runs: "%d 個のプログラムを実行します: %s。", overwrite: "%s を上書きします。",
		write: "%s に書き込みます。", remove: "%s を削除します。", long: "長いコマンドです。画面を見てください。",
		screen: "内容が長すぎて読み上げられません。画面を見てください。",
		here:   "このフォルダーのすべて", inFolder: "フォルダー %[2]s の %[1]s", inHome: "ホームフォルダーの %s",
		unknown: "何をするのかすべては判断できません。", panel: "呼び出しの全体はパネルに表示されています。", terminal: "呼び出しの全体はターミナルに表示されています。",
		shown:  "変更はエディターに表示されています。読んで、と言うと最初の変更を読み上げます。",
		answer: "「はい」か「いいえ」でお答えください。",
		named:  "元に戻せないかもしれません。許可する場合は「はい、%s」、しない場合は「いいえ」と言ってください。",
		click:  "許可する場合はパネルの「今回のみ許可」をクリックし、しない場合は「いいえ」と言ってください。",
		never:  "キーボードがないと許可できません。「いいえ」と言ってください。",
		key:    "許可する場合は Y キーと Enter キーを押し、しない場合は「いいえ」と言ってください。",
		muted:  "ミュート中のため、お返事が聞こえません。ミュートを解除するか、画面で答えてください。",
		and:    "、", comma: "、", more: "ほか %d 件", asks: "アシスタントからの質問です。%s", choices: "選択肢は %s です。",
	},
}

// list joins names as a spoken list.
func (w questionWords) list(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], w.comma) + w.and + names[last]
}

// few lists at most maxNamed names, followed by the number of the others.
func (w questionWords) few(names []string) string {
	if rest := len(names) - maxNamed; rest > 0 {
		names = append(slices.Clone(names[:maxNamed]), fmt.Sprintf(w.more, rest))
	}
	return w.list(names)
}

const (
	maxNamed    = 6 // files or hosts named aloud
	fewPrograms = 3 // above this, programs are counted
)

// question returns the question whether a call may be executed. It names the tool, its
// objects, every program that it would run and every file that it would write, and says
// if there is more.
func (d *Daemon) question(id uint64) string { return d.phraseQuestion(id, quoted) }

// questionAloud returns the question as a voice speaks it, with the signs of commands in
// words.
func (d *Daemon) questionAloud(id uint64) string {
	locale := d.locale()
	return d.phraseQuestion(id, func(text string) string { return saySigns(text, locale) })
}

// phraseQuestion builds the question about a call. quote returns the form of commands and paths.
func (d *Daemon) phraseQuestion(id uint64, quote func(string) string) string {
	call, known := d.content.call(id)
	switch {
	case !known:
		return ""
	case d.muted():
		return d.phraseHeard(call, quote) + questions[d.locale()].muted
	}
	return d.phraseHeard(call, quote)
}

// phraseHeard builds the question to a user whose answer is heard.
func (d *Daemon) phraseHeard(call toolCall, quote func(string) string) string {
	words, p := questions[d.locale()], proposalOf(call.ToolCall)
	if d.cfg.Terminal {
		words.panel, words.click = words.terminal, words.never
		if d.cfg.Keys {
			words.click = words.key
		}
	}
	if call.Question != "" {
		return d.passedOn(call.ToolCall)
	}
	again := ""
	if call.Again {
		again = placeWords[d.locale()].again
	}
	tool := clipSpoken(strings.Join(nameWords(call.Name), " "))
	q := fmt.Sprintf(words.alone, tool)
	own, shown := d.editorQuestion(call.ToolCall)
	switch {
	case p.long && len(p.commands) == 0:
		q += words.screen
		shown = false
	case own != "":
		q = own
	case len(p.objects) > 0 && !p.long:
		q = fmt.Sprintf(words.with, tool, words.few(p.objects))
	}
	destructive := d.content.destructive(call.ToolCall)
	if len(p.commands) > 0 || !p.long {
		q += words.does(p, quote)
	}
	if !p.long {
		q += p.where(d.locale(), quote) + spokenProtected(p.protected, d.locale())
	}
	switch {
	case shown:
		q += words.shown
	case p.more && (own == "" || len(p.commands) > 0) && (!destructive && !p.click || !p.long && p.allWords(call.ToolCall)+panelWords <= maxQuestionWords):
		q += words.panel
	}
	q += d.asksAgain(call.ToolCall)
	switch {
	case p.click, destructive && d.unreported.Load(): // no name would be certain
		return again + q + words.click
	case destructive:
		return again + q + fmt.Sprintf(words.named, p.action.say[d.locale()])
	}
	return again + words.answer + q
}

// passedOn returns a question from the assistant to the user, with the choices that it
// offers.
func (d *Daemon) passedOn(call copilot.ToolCall) string {
	words := questions[d.locale()]
	asks := fmt.Sprintf(words.asks, d.readAloud(clipText(call.Question, maxReason)))
	if len(call.Choices) == 0 {
		return asks
	}
	return asks + fmt.Sprintf(words.choices, d.listed(call.Choices))
}

// clipSpoken shortens a name and removes characters that cannot be part of one.
func clipSpoken(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || strings.ContainsRune(" ._-+@", r) {
			return r
		}
		return -1
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	if utf8.RuneCountInString(name) > maxSpoken {
		name = string([]rune(name)[:maxSpoken])
	}
	return name
}

// answerTo classifies an utterance that is not a plain yes or no. It is a yes or no
// with more words, all about the question; the action itself as an order; an answer that goes
// on or was not fully understood; or content. A call that must be approved by a click is never
// named, nor is one by a word that is improbable or of unknown probability.
func answerTo(g *spoken.Grammar, call copilot.ToolCall, text string, t Transcript) csm.Final {
	p := proposalOf(call)
	about := spoken.Action{Named: p.action.named, Objects: map[string]bool{}}
	for _, w := range nameWords(call.Name) {
		about.Objects[w] = true
	}
	for _, name := range slices.Concat(p.objects, p.programs, p.changes.names(questions[protocol.English]), p.verbatim) {
		for _, t := range tokens(name) {
			about.Objects[t.text] = true
		}
	}
	r := g.Reply(text, about)
	f := csm.Final{Doubted: r.Partly}
	switch r.Kind {
	case spoken.ReplyYes:
		f.Class = csm.Yes
		if r.Names != "" {
			f.Named = !p.click && t.surely(r.Names)
			f.Doubted = f.Doubted || t.reported() && !t.surely(r.Names)
		}
	case spoken.ReplyNo:
		f.Class = csm.No
	case spoken.ReplyAssent:
		f.Class = csm.Assent
	case spoken.ReplyUnclear:
		f.Class = csm.Unclear
	case spoken.NoReply:
	}
	f.Named = f.Named && !f.Doubted
	return f
}
