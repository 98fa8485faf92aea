package daemon

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/internal/protect"
	"github.com/agentvoice/agentvoice-daemon/internal/shellcmd"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

const (
	// maxQuestionWords is what a voice speaks in about 15 s.
	maxQuestionWords = 44
	fixedWords       = 24 // of a question about a command that may be irreversible
	clickWords       = 18 // of one that needs a click
	unclearWords     = 7  // of the sentence that not everything is known
	panelWords       = 6  // of the sentence that the panel shows the whole call
)

// changes are the files that commands write, as paths.
type changes struct{ overwrites, writes, removes []string }

func (f *changes) add(c shellcmd.Reading) {
	join := func(to *[]string, files []string) {
		for _, file := range files {
			if !slices.Contains(*to, file) {
				*to = append(*to, file)
			}
		}
	}
	join(&f.overwrites, c.Overwrites)
	join(&f.writes, c.Writes)
	join(&f.removes, c.Removes)
}

// all returns the paths of all files.
func (f changes) all() []string { return slices.Concat(f.overwrites, f.writes, f.removes) }

// names returns the spoken names of all files.
func (f changes) names(words questionWords) []string { return words.files(f.all(), f.all(), quoted) }

// spokenWords estimates the words of the question about commands. A sign that is spoken
// counts as half a word.
func (p proposal) spokenWords() int {
	words, said := fixedWords, 0
	if p.click {
		words = clickWords
	}
	if p.unclear {
		words += unclearWords
	}
	words += wordsOf(strings.Join(p.objects[:min(len(p.objects), maxNamed)], " "))
	if len(p.objects) > maxNamed {
		words += 3
	}
	files := strings.Join(p.changes.names(questions[protocol.English]), " ")
	words, said = words+wordsOf(files), said+strings.Count(files, "/")
	words += wordsOf(strings.Join(p.named, " ")) + min(len(p.changes.writes), 1)
	for _, list := range [][]string{p.named, p.changes.overwrites, p.changes.writes, p.changes.removes} {
		words += 3 * min(len(list), 1) // It would run
		if len(list) > 1 {
			words++ // and
		}
	}
	for _, text := range p.verbatim {
		words += 3*(1-min(len(p.named), 1)) + wordsOf(text)
		said += strings.Count(text, "") - 1 - len([]rune(strings.Map(func(r rune) rune {
			if signs[r] != nil {
				return -1
			}
			return r
		}, text)))
	}
	return words + said/2
}

// wordsOf counts the words of a text. A long one takes as long as several.
func wordsOf(text string) int {
	const charsOfWord = 8
	return max(len(strings.Fields(text)), utf8.RuneCountInString(text)/charsOfWord)
}

// does returns the sentences about what commands would do.
func (w questionWords) does(p proposal, quote func(string) string) (q string) {
	if p.long {
		return w.long
	}
	programs := slices.Clone(p.named)
	for _, text := range p.verbatim {
		programs = append(programs, quote(text))
	}
	if n := len(programs); n > fewPrograms {
		q += fmt.Sprintf(w.runs, n, w.list(programs))
	} else if n > 0 {
		q += fmt.Sprintf(w.run, w.list(programs))
	}
	for _, part := range []struct {
		say   string
		files []string
	}{{w.overwrite, p.changes.overwrites}, {w.write, p.changes.writes}, {w.remove, p.changes.removes}} {
		if len(part.files) > 0 {
			q += fmt.Sprintf(part.say, w.list(w.files(part.files, p.changes.all(), quote)))
		}
	}
	if p.unclear {
		q += w.unknown
	}
	return q
}

// homeFolder matches the user's own folder as shells write it.
var homeFolder = []string{"~", "$HOME"}

// cleanPath returns a path with slashes, without parts that cancel each other out.
func cleanPath(file string) string { return path.Clean(strings.ReplaceAll(file, `\`, "/")) }

// files returns the spoken form of paths: the name of an ordinary file below the workspace, and
// other files, and those of which another one in all has the same name, with their folder.
func (w questionWords) files(paths, all []string, quote func(string) string) (names []string) {
	for _, file := range paths {
		clean := cleanPath(file)
		folder, name := path.Split(clean)
		folder, name = strings.TrimSuffix(folder, "/"), clipSpoken(name)
		ambiguous := folder != "" && slices.ContainsFunc(all, func(other string) bool {
			other = cleanPath(other)
			return other != clean && path.Base(other) == path.Base(clean)
		})
		switch {
		case file == "." || file == "./":
			name = w.here
		case name == "" || name == "..":
			name = quote(clipPath(file))
		case slices.Contains(homeFolder, folder):
			name = fmt.Sprintf(w.inHome, name)
		case folder == "" && !path.IsAbs(file):
		case shellcmd.NamesFolder(file), protect.Acting(file):
			if folder == "" {
				folder = "/"
			}
			name = fmt.Sprintf(w.inFolder, name, quote(clipPath(folder)))
		case ambiguous:
			name = quote(clean)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// maxSpokenPath limits a path within a question, in characters.
const maxSpokenPath = 60

// clipPath shortens a path and removes characters that cannot be part of one.
func clipPath(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" ._-+@/~:", r) {
			return r
		}
		return -1
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	if utf8.RuneCountInString(name) > maxSpokenPath {
		name = string([]rune(name)[:maxSpokenPath])
	}
	return name
}

// quoted puts a text that is repeated as it stands between quotation marks.
func quoted(text string) string { return "“" + text + "”" }

// signs are the names of the signs of commands, which a voice would drop.
var signs = map[rune]map[protocol.Locale]string{
	'-': says("dash", "Strich", "ハイフン"), '.': says("dot", "Punkt", "ドット"), '/': says("slash", "Schrägstrich", "スラッシュ"),
	'~': says("tilde", "Tilde", "チルダ"), '=': says("equals", "gleich", "イコール"), ':': says("colon", "Doppelpunkt", "コロン"),
	'@': says("at", "at", "アット"), '_': says("underscore", "Unterstrich", "アンダースコア"), '+': says("plus", "plus", "プラス"),
	',': says("comma", "Komma", "コンマ"), '|': says("pipe", "Pipe", "パイプ"), '&': says("and sign", "Und-Zeichen", "アンド記号"),
	'>': says("greater than", "größer als", "大なり"), '<': says("less than", "kleiner als", "小なり"), ';': says("semicolon", "Semikolon", "セミコロン"),
	'\'': says("quote", "Hochkomma", "引用符"), '"': says("quote", "Anführungszeichen", "引用符"), '*': says("star", "Stern", "アスタリスク"),
	'?': says("question mark", "Fragezeichen", "疑問符"), '%': says("percent", "Prozent", "パーセント"), '#': says("hash", "Raute", "シャープ"),
	'!': says("exclamation mark", "Ausrufezeichen", "感嘆符"), '^': says("caret", "Zirkumflex", "キャレット"), '\\': says("backslash", "Rückstrich", "バックスラッシュ"),
	'(': says("parenthesis", "Klammer auf", "括弧"), ')': says("close parenthesis", "Klammer zu", "閉じ括弧"), '[': says("bracket", "eckige Klammer auf", "角括弧"),
	']': says("close bracket", "eckige Klammer zu", "閉じ角括弧"), '{': says("brace", "geschweifte Klammer auf", "波括弧"), '}': says("close brace", "geschweifte Klammer zu", "閉じ波括弧"),
	'$': says("dollar", "Dollar", "ドル"),
}

// saySigns returns a text with its signs in words.
func saySigns(text string, locale protocol.Locale) string {
	var b strings.Builder
	for _, r := range text {
		if name := signs[r][locale]; name != "" {
			b.WriteString(" " + name + " ")
		} else {
			b.WriteRune(r)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// askAgain shows and speaks the question about a call.
func (d *Daemon) askAgain(id uint64) {
	d.show(d.question(id))
	d.sayAloud(d.questionAloud(id))
}
