package daemon

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// maxSpoken bounds a name that is part of a question, in characters.
const maxSpoken = 40

// action is what a tool does, as people say it.
type action struct {
	names []string // words in names of tools that mean it
	// say is the word that a yes has to name, by locale.
	say map[protocol.Locale]string
	// stems begin the words that name it; those of a script without spaces may
	// stand anywhere in a word.
	stems []string
}

func says(en, de, ja string) map[protocol.Locale]string {
	return map[protocol.Locale]string{protocol.English: en, protocol.German: de, protocol.Japanese: ja}
}

// actions are searched in this order for each word of a tool's name. The first is
// also what a tool does whose name says nothing.
var actions = []action{
	{strings.Fields("run execute exec shell terminal command task test tests build launch start call"),
		says("run", "ausführen", "実行"), strings.Fields("run execut ausführ ausfuehr 実行")},
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

// actionOf is what a tool does, by the first word of its name that tells.
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

// named says whether a spoken word names the action.
func (a action) named(word string) bool {
	return slices.ContainsFunc(a.stems, func(stem string) bool {
		return strings.HasPrefix(word, stem) || unspaced(stem) && strings.Contains(word, stem)
	})
}

// nameWords are the words of a tool's name: runTests, run_tests and run-tests are
// run, tests. Who made it is left out.
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
	for len(words) > 1 && slices.Contains([]string{"copilot", "vscode", "github", "mcp"}, words[0]) {
		words = words[1:]
	}
	return words
}

// questionWords are the parts of a question: tool and object, the tool alone,
// what to answer, and what to answer where it cannot be undone.
type questionWords struct{ with, alone, answer, named string }

var questions = map[protocol.Locale]questionWords{
	protocol.English: {"May I use the tool %[1]s on %[2]s?", "May I use the tool %[1]s?", " Please say yes or no.",
		" It may not be possible to undo it. To allow it, say “yes, %s”; if not, say no."},
	protocol.German: {"Darf ich das Werkzeug %[1]s für %[2]s benutzen?", "Darf ich das Werkzeug %[1]s benutzen?", " Bitte sagen Sie ja oder nein.",
		" Das lässt sich vielleicht nicht rückgängig machen. Sagen Sie „ja, %s“, wenn ich darf, sonst nein."},
	protocol.Japanese: {"ツール %[1]s を %[2]s に使ってもよろしいですか。", "ツール %[1]s を使ってもよろしいですか。", "「はい」か「いいえ」でお答えください。",
		"元に戻せないかもしれません。許可する場合は「はい、%s」、しない場合は「いいえ」と言ってください。"},
}

// question asks the user whether a call may be carried out. It names the tool and
// what it acts on, and nothing else of the input.
func (d *Daemon) question(id uint64) string {
	call, known := d.content.call(id)
	if !known {
		return ""
	}
	words := questions[d.locale()]
	tool := clipSpoken(strings.Join(nameWords(call.Name), " "))
	q := fmt.Sprintf(words.alone, tool)
	if object := objectOf(call.Input); object != "" {
		q = fmt.Sprintf(words.with, tool, object)
	}
	if d.content.destructive(call.ToolCall) {
		return q + fmt.Sprintf(words.named, actionOf(call.Name).say[d.locale()])
	}
	return q + words.answer
}

// The fields of an input that say what a tool acts on, in the order in which they
// are looked for.
var (
	pathFields    = []string{"filePath", "file_path", "path", "file", "fileName", "filename", "uri", "dirPath", "directory", "folder"}
	commandFields = []string{"command", "commandLine", "cmd", "script", "task"}
	siteFields    = []string{"url", "urls", "host"}
)

// objectOf is what a call acts on: the name of a file, the first word of a
// command, a host; "" where the input does not say.
func objectOf(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return ""
	}
	find := func(names []string, short func(string) string) string {
		for _, name := range names {
			if object := clipSpoken(short(firstString(fields[name]))); object != "" {
				return object
			}
		}
		return ""
	}
	if object := find(commandFields, firstOfCommand); object != "" {
		return object
	}
	if object := find(pathFields, baseName); object != "" {
		return object
	}
	return find(siteFields, func(s string) string {
		if u, err := url.Parse(s); err == nil && u.Hostname() != "" {
			return u.Hostname()
		}
		return s
	})
}

// firstString is a string, or the first one of a list.
func firstString(raw json.RawMessage) (s string) {
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return ""
}

func baseName(path string) string {
	path = strings.TrimRight(strings.ReplaceAll(path, `\`, "/"), "/")
	return path[strings.LastIndex(path, "/")+1:]
}

// firstOfCommand is the program that a command runs. Who it runs as is part of
// that.
func firstOfCommand(command string) string {
	words := strings.Fields(command)
	switch {
	case len(words) == 0:
		return ""
	case len(words) > 1 && words[0] == "sudo":
		return "sudo " + baseName(words[1])
	}
	return baseName(words[0])
}

// clipSpoken bounds a name, and leaves out of it what could not be part of one.
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

// besides are words that may stand beside a yes or no and what it names.
var besides = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`it that this the a file files please now do go ahead and you may can tool use command for me on
		es das die den der dem bitte datei jetzt mal tu mach du kannst darfst sie können dürfen und werkzeug mit für auf
		を して ください お願いします してください それ ファイル`) {
		m[w] = true
	}
	return m
}()

// answerTo is what an utterance that is no plain yes or no is to the question
// about a call: a yes or no that says more, but nothing else than what was asked
// about, or content.
func answerTo(call copilot.ToolCall, text string) (class csm.Class, named bool) {
	words := wordsOfAnswer(text)
	class, rest := leadOf(words)
	if class == csm.Content {
		return class, false
	}
	about := actionOf(call.Name)
	object := map[string]bool{}
	for _, w := range nameWords(call.Name) {
		object[w] = true
	}
	for _, t := range tokens(objectOf(call.Input)) {
		object[t.text] = true
	}
	for _, w := range rest {
		switch {
		case about.named(w):
			named = true
		case !besides[w] && !object[w]:
			return csm.Content, false
		}
	}
	return class, named && class == csm.Yes
}

// wordsOfAnswer are the words of an utterance; a yes or no that a script without
// spaces joins with what follows is parted from it.
func wordsOfAnswer(text string) (out []string) {
	for _, t := range tokens(text) {
		for _, lead := range []string{"はい", "ええ", "いいえ"} {
			if rest, joined := strings.CutPrefix(t.text, lead); joined && rest != "" {
				out = append(out, lead)
				t.text = rest
			}
		}
		out = append(out, t.text)
	}
	return out
}

// leadOf is the yes or no that an utterance begins or ends with, and the rest of
// it; Content where there is neither.
func leadOf(words []string) (class csm.Class, rest []string) {
	kind := func(part []string) csm.Class {
		switch spoken.Classify(strings.Join(part, " ")).Command {
		case spoken.CommandYes:
			return csm.Yes
		case spoken.CommandNo:
			return csm.No
		}
		return csm.Content
	}
	for n := len(words) - 1; n > 0; n-- {
		if class := kind(words[:n]); class != csm.Content {
			return class, words[n:]
		}
	}
	for n := len(words) - 1; n > 0; n-- {
		if class := kind(words[len(words)-n:]); class != csm.Content {
			return class, words[:len(words)-n]
		}
	}
	return csm.Content, nil
}
