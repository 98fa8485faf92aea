package spoken

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"
)

// checkPlain compares the fast path with the library, and reports whether the fast path
// applied.
func checkPlain(t interface{ Fatalf(string, ...any) }, src string) bool {
	text, ok := english.plainInline([]byte(src))
	if !ok {
		return false
	}
	var b strings.Builder
	english.parse(&b, []byte(src))
	if got, want := english.clean(text), english.clean(b.String()); got != want {
		t.Fatalf("of %q is made\n%q, the library makes\n%q", src, got, want)
	}
	return true
}

// The fast path produces the library's result or leaves the text to the library.
func TestPropertyPlainInlineIsAsTheLibraryHasIt(t *testing.T) {
	parts := []string{"word", "Word", " ", " ", " ", ", ", ". ", "(", ")", "**", "**", "*", "`", "``", "`a.b`", "`` x ` y ``", "` `", "[a](b)", "[a b](https://c.d/e_f)", "[a]", "[", "]", "(x)",
		"_", "snake_case", "!", "![i](j)", "&", "& ", "&amp;", "<", "<br>", "~", "~~", "\\", "\\*", "\\[", "\\`", "~5", "< ", "<3", "<=", "*so* ", "**so** ", "\n", "日本", "é", ":", "1.", "https://a.b/c"}
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		// A paragraph starts with a word, because blocks were already split.
		src := "A" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, "parts"), "")
		if strings.Contains(src, "\n") && strings.Contains(strings.ReplaceAll(src, "\n", " \n "), " \n  \n ") {
			return // two paragraphs
		}
		if checkPlain(t, strings.TrimRight(src, " \n")) {
			taken++
		}
	})
	if taken == 0 {
		t.Error("every text is left to the library")
	}
}

// The fast path handles a good part of the lines of the (unusual) test answers.
func TestPlainInlineOfAnswers(t *testing.T) {
	files, err := filepath.Glob("testdata/answers/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no answers", err)
	}
	plain, marked := 0, 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(txtar.Parse(data).Files[0].Data)) {
			if line = strings.TrimLeft(strings.TrimSpace(line), "#>-*0123456789. \t"); line == "" || !hasMarkup([]byte(line)) || strings.HasPrefix(line, "`") {
				continue
			}
			marked++
			if checkPlain(t, line) {
				plain++
			}
		}
	}
	t.Logf("%d of %d lines with markup", plain, marked)
	if plain < marked/3 {
		t.Errorf("only %d of %d lines with markup take the fast way", plain, marked)
	}
}
