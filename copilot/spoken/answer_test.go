package spoken_test

import (
	"strings"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// atom is an indivisible range of a generated answer: no segment may begin or end in it.
type atom struct {
	kind       string
	start, end int // bytes
}

// written is a generated answer with all its atoms.
type written struct {
	text  string
	atoms []atom
	// longest is the number of runes of the longest indivisible piece.
	longest int
	// plain means that there are only paragraphs, so that only sentences delay the
	// speech.
	plain  bool
	locale string
}

// author generates answers like assistants write them: sentences in three languages in
// all kinds of blocks, full of text that a careless cut would split.
type author struct {
	t *rapid.T
	strings.Builder
	w    written
	lang string // of the sentence
	// quote is the prefix of each line of a quoted block.
	quote string
	run   int // runes since the last possible cut
}

// The atoms by kind, and by language if the context matters. None ends with a full stop
// of its own, except abbreviations.
var (
	numbers       = []string{"1,234.56", "3.14", "1.000,5", "v1.2.3", "10:30", "1.26.0-rc.1", "0.5", "-2.5e-3", "12.05.2026", "99.9", "1 000 000", "1\u202f000", "192.168.0.1:8080", "2026-11-24", "2026-11-24T10:15:00Z", "16ms", "2m30s", "$7.50", "3-5", ">=1.2", "^1.2.3", "0x7ffee4c0", "1732812345678", "0.30000000000000004"}
	wideNums      = []string{"１，２３４", "１０：３０", "３．１４", "1，000"}
	paths         = []string{"./a/b.go", `C:\x\y.ts`, "src/main.go", "../..", "~/.config/app.toml", "/usr/local/bin", "a.b.c", ".gitignore", "Node.js", "internal/x_test.go:42", `\\host\share\f.txt`, "foo...bar", "*.go", "pkg.Func()", "/home/ada/work/app/internal/x.go:142:7", `C:\Users\ada\app\main.cs(12,5)`, "--no-verify", "std::vector", "std::size()", "MAX_SIZE", "72a3277cd7abc1234567890abcdef12345678901", "550e8400-e29b-41d4-a716-446655440000", "6u6JbqKdaQy89ENzLSju"}
	links         = []string{"https://example.com/a.b?c=d!e,f;g:h", "http://localhost:8080/x?y=1#z", "www.example.org/a,b", "https://example.com/日本語", "<https://go.dev/doc?x=1>", "[the text. All of it](https://example.org/a.b)", "[a, b](x.md \"The title. It is long\")", "![A. B](p.png)"}
	codes         = []string{"`code.with.dots`", "`a. B c? D`", "`x, y; z`", "`` a ` b. C ``", "`[a](b`", "`これ。それ、あれ`", "`go test ./... && echo \"Done. Next\"`", "`\\`", "```a. B```", "`git revert 9d8e7f6`", "`curl https://a.bc/d -H \"x: y\"`"}
	abbreviations = map[string][]string{
		"en": {"e.g.", "i.e.", "Dr. Smith", "U.S.", "a.k.a.", "Prof. J. R. Miller", "No. 5", "Fig. 12", "approx. 5", "a.m.", "Mrs. Jones", "cf. Knuth", "vs. Tabs"},
		"de": {"z.B.", "z. B.", "u.a.", "u. a.", "d.h.", "i. d. R.", "Dr. Meier", "Nr. 5", "3. Mai", "bzw. Er", "ca. 5", "Abb. 7", "o.g."},
		"ja": {"U.S.", "e.g."},
	}
	wordsOfLanguage = map[string][]string{
		"en": {"the", "parser", "Config", "returns", "don't", "well-known", "an", "(empty)", "value", "“quoted”", "Go", "naïve", "cafe\u0301", "🎉", "👩‍💻", "✅", "**very**", "*so*", "_too_", "~~old~~", "A → B", "5 km", "20°C", "snake_case", "&amp;", "\\*", "שלום", "مرحبا", "می\u200cخواهم", "हिन्दी"},
		"de": {"die", "Größe", "Datei", "gibt", "zurück", "„leer“", "und", "Übung", "(auch)", "**sehr**", "🎉", "wäre", "Straße"},
		"ja": {"この", "関数は", "値を", "返します", "テスト", "「空」の", "ファイル", "です", "から", "🎉", "**とても**", "、", "、そして", "が\u3099"},
	}
	ends = map[string][]string{
		"en": {".", ".", ".", "!", "?", "...", "…", "?!", ".)", ".\"", ":", " (see below)."},
		"de": {".", ".", "!", "?", "…", ".“", ":"},
		"ja": {"。", "。", "！", "？", "。」", "！？", "。\ufe0f"},
	}
)

func (a *author) pick(from []string) string { return rapid.SampledFrom(from).Draw(a.t, "text") }

func (a *author) chance(percent int) bool {
	return rapid.IntRange(1, 100).Draw(a.t, "chance") <= percent
}

// unit writes an indivisible piece, and records it if it is an atom.
func (a *author) unit(kind, text string) {
	if kind != "" {
		a.w.atoms = append(a.w.atoms, atom{kind, a.Len(), a.Len() + len(text)})
	}
	a.run += utf8.RuneCountInString(text)
	a.w.longest = max(a.w.longest, a.run)
	a.WriteString(text)
}

// gap writes text after which a long sentence may be cut, or nothing.
func (a *author) gap(text string) {
	if text != "" {
		a.run = 0
	}
	a.WriteString(text)
}

func (a *author) atom() {
	switch rapid.IntRange(0, 5).Draw(a.t, "kind") {
	case 0:
		a.unit("number", a.pick(numbers))
	case 1:
		if a.lang == "ja" {
			a.unit("number", a.pick(wideNums))
			return
		}
		a.unit("abbreviation", a.pick(abbreviations[a.lang]))
	case 2:
		a.unit("abbreviation", a.pick(abbreviations[a.lang]))
	case 3:
		path := a.pick(paths)
		if a.lang == "ja" { // a tilde within text could mean strikethrough
			path = strings.TrimPrefix(path, "~")
		}
		a.unit("path", path)
	case 4:
		a.unit("link", a.pick(links))
	default:
		a.unit("code", a.pick(codes))
	}
}

// sentence writes words and atoms, and a sentence end.
func (a *author) sentence() {
	blank, wrap := " ", "\n"+a.quote
	if a.lang == "ja" {
		blank, wrap = "", ""
	}
	word := a.pick(wordsOfLanguage[a.lang])
	for i := range rapid.IntRange(1, 9).Draw(a.t, "words") {
		a.unit("", word)
		switch word = a.pick(wordsOfLanguage[a.lang]); {
		case a.lang == "ja" && i%3 == 2:
			a.gap("、")
		case a.chance(15) && a.lang != "ja":
			a.gap(a.pick([]string{", ", "; ", " — ", ": "}))
		case a.chance(10):
			a.gap(wrap)
		default:
			a.gap(blank)
		}
		if a.chance(40) {
			if a.lang == "ja" && a.chance(50) {
				blank = " "
			}
			a.atom()
			a.gap(blank)
		}
	}
	a.unit("", word+a.pick(ends[a.lang]))
	a.run = 0
	if a.lang != "ja" || a.chance(20) {
		a.gap(" ")
	}
}

func (a *author) sentences() {
	for range rapid.IntRange(1, 4).Draw(a.t, "sentences") {
		a.sentence()
	}
}

// fence writes a code block, which is one atom.
func (a *author) fence(indent string, closed bool) {
	mark := a.pick([]string{"```", "~~~", "````", "~~~~~"})
	start := a.Len()
	a.WriteString(indent + mark + a.pick([]string{"", "go", " ts title=\"a. b\"", "diff", "日本"}) + "\n")
	for range rapid.IntRange(1, 6).Draw(a.t, "lines") {
		line := a.pick([]string{"x := 1. Y", "", "# not a heading. At all", "- no item", "Hello. World! Bye. ", "| a | b |", "``", "~~", "これ。それ。", "    deep", "1. a", "a, b; c. D", "> no quote"})
		a.WriteString(indent + line + "\n")
	}
	if closed {
		a.WriteString(indent + mark)
	}
	a.w.atoms = append(a.w.atoms, atom{"fenced code", start, a.Len()})
	if closed {
		a.WriteString("\n")
	}
}

// block writes a block and the separator after it.
func (a *author) block() {
	a.quote = ""
	switch rapid.IntRange(0, 9).Draw(a.t, "block") {
	case 0, 1, 2:
		a.sentences()
		a.WriteString("\n")
	case 3:
		a.WriteString(a.pick([]string{"# ", "## ", "###### "}))
		a.sentence()
		a.WriteString("\n")
	case 4:
		for range rapid.IntRange(1, 3).Draw(a.t, "items") {
			a.WriteString(a.pick([]string{"- ", "* ", "1. ", "23) ", "- [x] ", "  - "}))
			a.sentences()
			a.WriteString("\n")
		}
	case 5:
		a.quote = "> "
		a.WriteString(a.quote)
		a.sentences()
		a.WriteString("\n")
		if a.chance(40) {
			a.fence(a.quote, true)
		}
	case 6:
		start := a.Len()
		a.WriteString("| Name | Size. Of it |\n|---|---|\n| `a. b` | 3.14 |\n| x. Y | z |")
		a.w.atoms = append(a.w.atoms, atom{"table", start, a.Len()})
		a.WriteString("\n")
	case 7:
		a.WriteString("\nIn code:\n\n")
		start := a.Len()
		a.WriteString("    a := 1. B\n\n    // Hello. World\n    c")
		a.w.atoms = append(a.w.atoms, atom{"indented code", start, a.Len()})
		a.WriteString("\n\nAfter it.\n")
	case 8:
		a.WriteString("\n---\n")
	default:
		a.fence(a.pick([]string{"", "", "  ", "   "}), true)
	}
	a.WriteString("\n")
}

// anyAnswer generates a whole answer, of plain paragraphs if plain.
func anyAnswer(plain bool) *rapid.Generator[written] {
	return rapid.Custom(func(t *rapid.T) written {
		a := &author{t: t}
		a.w.plain = plain
		a.w.locale = rapid.SampledFrom([]string{"en", "de", "ja"}).Draw(t, "locale")
		for range rapid.IntRange(1, 4).Draw(t, "blocks") {
			a.lang = rapid.SampledFrom([]string{a.w.locale, a.w.locale, "ja"}).Draw(t, "language")
			if plain {
				a.sentences()
				a.WriteString("\n\n")
				continue
			}
			a.block()
		}
		if !plain && a.chance(20) {
			a.fence("", false)
		}
		a.w.text = a.String()
		return a.w
	})
}

// sizes generates options for which atoms stay whole: below about 40 runes a sentence is
// cut anywhere.
func sizes(locale string) *rapid.Generator[spoken.Options] {
	return rapid.Custom(func(t *rapid.T) spoken.Options {
		return spoken.Options{
			MinChars:      rapid.IntRange(0, 30).Draw(t, "min"),
			MaxChars:      rapid.SampledFrom([]int{0, 60, 90, 140, 400}).Draw(t, "max"),
			FirstMinChars: rapid.IntRange(0, 60).Draw(t, "first"),
			Locale:        locale,
		}
	})
}
