package spoken_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// Failures found by the properties and the fuzzer, one example each. The names describe
// the bugs.
func TestRegressions(t *testing.T) {
	short := spoken.Options{MaxChars: 40, FirstMinChars: 1000}
	words := strings.Repeat("word ", 7) // 35 characters
	tests := []struct {
		name, in string
		o        spoken.Options
		want     []string
	}{
		{"a sentence of a quote that begins a line spoke its mark", "> The first one is here.\n> The second one is there.\n", spoken.Options{},
			[]string{"The first one is here.", "The second one is there."}},
		{"a quote mark parted an abbreviation from its number", "> We looked at exhibit No.\n> 5 for a while.\n", spoken.Options{}, []string{"We looked at exhibit No. 5 for a while."}},
		{"the number of an item was lost where the cut came right after it", "1. このhttps://example.com/a.b?c=d!e,f;g:hこのhttps://example.com/a.b?c=d!e,f;g:h この。\n",
			spoken.Options{MaxChars: 60}, []string{"1. このexample dot comこの", "example dot com この。"}},
		{"the box of a task was read out where the cut came right after it", "- [x] このhttps://example.com/a.b?c=d!e,f;g:hこのhttps://example.com/a.b?c=d!e,f;g:h この。\n",
			spoken.Options{MaxChars: 60, FirstMinChars: 1}, []string{"Done: このexample dot comこの", "example dot com この。"}},
		{"each piece of a long heading had a full stop", "# " + words + words + "end\n", short, []string{words + "word", "word word word word word word end."}},
		{"a hash before the cut of a heading was lost", "# " + words + "# word word\n", short, []string{words + "#", "word word."}},
		{"an item that ended with a bracket got a second full stop", "- It is so (as was said.)\n- それは「これです。」\n", spoken.Options{}, []string{"It is so (as was said.)", "それは「これです。」"}},
		{"a heading that ended with a combining mark had no full stop", "# To the cafe\u0301\n", spoken.Options{}, []string{"To the cafe\u0301."}},
		{"Japanese behind a URL was not spoken", "詳しくはhttps://example.com/aを見てください。", spoken.Options{}, []string{"詳しくはexample dot comを見てください。"}},
		{"a code span was cut since its sentence was long", words + "`a. B c, d. E f, g. H i, j. K` end.", short, []string{strings.TrimSpace(words), "a dot B c d dot E f g dot H i j dot K end."}},
		{"a code span before an unclosed one was cut", "Use `a. B c` and then a ` mark. And so on.", spoken.Options{}, []string{"Use a dot B c and then a mark.", "And so on."}},
		{"a sentence behind two tabs was lost", "The first one is here.\t\tThe second &gt; the first.", spoken.Options{}, []string{"The first one is here.", "The second greater than the first."}},
		{"a cell that was aligned to the right was lost", "| Left | Right |\n|---|---:|\n| a |    &lt; b |\n", spoken.Options{}, []string{"Left: a, Right: less than b."}},
		{"an unclosed backtick joined the rest of its paragraph", "A ` mark was here. The second one is there. The third one too.\n\nNext.", spoken.Options{},
			[]string{"A mark was here.", "The second one is there.", "The third one too.", "Next."}},
		{"an unclosed backtick took the code of the next paragraph for text", "A ` mark was here.\n\nUse `aa. Bb cc. Dd` now.", spoken.Options{},
			[]string{"A mark was here.", "Use aa dot Bb cc dot Dd now."}},
		{"an interval joined the rest of its paragraph", "It is in [0, 1) and so. The second one is there. The third one too.", spoken.Options{},
			[]string{"It is in [0, 1) and so.", "The second one is there.", "The third one too."}},
		{"the title of a link was cut", `Read [it](x.md "The title. It is long") first. Then ask me.`, spoken.Options{}, []string{"Read it first.", "Then ask me."}},
		{"code between a label and a bracket was read for ever", "Here is [a]`b`(c and so on. The second one is there.", spoken.Options{}, []string{"Here is [a]b(c and so on.", "The second one is there."}},
		{"code in a label was read for ever", "Here is [a ` bird. The second one is there.", spoken.Options{}, []string{"Here is [a bird.", "The second one is there."}},
		{"an escaped backtick opened a code span", "An escaped \\` mark is here. The second one is there, as is `it`.", spoken.Options{},
			[]string{"An escaped mark is here.", "The second one is there, as is it."}},
		{"a blank that forbids a break ended a sentence", "See it on p.\u00a0Twelve of M.\u00a0Dupont's usu.\u00a0Long book.", spoken.Options{}, []string{"See it on p. Twelve of M. Dupont's usu. Long book."}},
		{"a blank that forbids a break was a place to cut", words + "1\u202f000\u202f000 files.", short, []string{strings.TrimSpace(words), "1 000 000 files."}},
		{"a long sentence was cut behind a title", "word word word word word word word Dr. Smith.", short, []string{"word word word word word word word", "Dr. Smith."}},
		{"a long sentence was cut in a number", words + "1 000 000 files.", short, []string{strings.TrimSpace(words), "1 000 000 files."}},
		{"a wide comma parted a number", strings.Repeat("あ", 30) + "１，２３４です" + strings.Repeat("い", 12) + "。", short, []string{strings.Repeat("あ", 30), "１，２３４です" + strings.Repeat("い", 12) + "。"}},
		{"a selector parted from its mark", "これはとても長い文章です。\ufe0fそして次の文章です。", spoken.Options{}, []string{"これはとても長い文章です。", "そして次の文章です。"}},
		{"a lone star was spoken by chance", words + "\\* second third", short, []string{words + "times", "second third"}},
		{"a joiner of Persian was lost", "می\u200cخواهم", spoken.Options{}, []string{"می\u200cخواهم"}},
		{"code in a quote swallowed the rest", "> ```go\n> x\n\nThe text goes on.", spoken.Options{}, []string{"A Go block of 1 line, in the panel.", "The text goes on."}},
		{"indented code fell apart at a blank line", "Text\n\n    a := 1\n\n    b := 2\n\nmore", spoken.Options{}, []string{"Text", "A code block of 3 lines, in the panel.", "more"}},
		{"the second paragraph of an item was lost", "1.  Build it.\n\n    Then run it.\n\n2.  Done.\n", spoken.Options{}, []string{"1. Build it.", "Then run it.", "2. Done."}},
		{"the paragraph after the code of an item was lost", "10. Run it:\n\n    ```sh\n    make\n    ```\n\n    It takes a minute.\n", spoken.Options{},
			[]string{"10. Run it:", "A shell block of 1 line, in the panel.", "It takes a minute."}},
		{"code that began an item swallowed the rest", "- ```go\n  x := 1\n  ```\n- The second one.\n", spoken.Options{}, []string{"A Go block of 1 line, in the panel.", "The second one."}},
		{"the number of an item that began with code was lost", "1. ```go\n   x := 1\n   ```\n2. Done.\n", spoken.Options{}, []string{"1. A Go block of 1 line, in the panel.", "2. Done."}},
		{"the mark of an item in an item was read", "- - Both of it.\n", spoken.Options{}, []string{"Both of it."}},
		{"the mark of a heading in an item was read", "- # Title\n", spoken.Options{}, []string{"Title."}},
		{"an empty item was read with the one before", "1. One.\n2.\n3. Three.\n", spoken.Options{}, []string{"1. One.", "3. Three."}},
		{"bars without end were read", strings.Repeat("| a | b |\n", 100), spoken.Options{}, []string{"A table of 100 rows, in the panel."}},
		{"endless names of columns were read", "| " + strings.Repeat("a", 300) + " | b |\n|---|---|\n| " + strings.Repeat("c ", 200) + "| d |\n", spoken.Options{}, []string{"A table of 1 row, in the panel."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range chunk(tt.o, tt.in) {
				if s.Text != "" {
					got = append(got, s.Text)
				}
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			checkTiles(t, tt.in, chunkBytes(tt.o, tt.in))
		})
	}
}

// emitted returns how many runes of text a chunker needs before the first segment, or 0
// if only Flush returns it.
func emitted(o spoken.Options, text string) int {
	c, n := spoken.New(o), 0
	for _, r := range text {
		n++
		if len(c.Push(string(r))) > 0 {
			return n
		}
	}
	return 0
}

// The wait for the first words, in characters: to the end of the sentence, to a clause
// from FirstMinChars on, or else to MaxChars. An apparent code span or link extends the
// wait by its own limit only.
func TestFirstWordsWait(t *testing.T) {
	long := strings.Repeat("word ", 400)
	for _, tt := range []struct {
		name, text string
		most       int
	}{
		{"a sentence", "This is the first one. " + long, 23},
		{"a clause", "If you look at the way in which this was written, " + long, 50},
		{"a Japanese clause", "このモジュールの書き方をよく見てみるとすぐに分かるように、" + strings.Repeat("それから", 100), 30},
		{"no clause", long, 280 + 1},
		{"an unclosed backtick", "A ` mark " + long, 3 + 2*280 + 2},
		{"an unclosed bracket", "A [ mark " + long, 3 + 280 + 2},
		{"a line that begins with code", "```x. Y``` is the first one. " + long, 29},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := emitted(spoken.Options{}, tt.text); got == 0 || got > tt.most {
				t.Errorf("the first segment comes with character %d, want at most %d", got, tt.most)
			}
		})
	}
}

// Text without blanks is cut between words as far as they can be detected, and never in a
// path; text that is not language is cut all the same.
func TestTextWithoutBlanks(t *testing.T) {
	o := spoken.Options{MaxChars: 60}
	japanese := strings.Repeat("この関数は値を返しますのでテストで確認して", 20)
	chinese := strings.Repeat("这个函数返回一个值所以我们需要测试", 20)
	for _, text := range []string{japanese, chinese, "これを" + strings.Repeat("`a.b`にテスト", 40)} {
		for _, s := range chunk(o, text) {
			if n := utf8.RuneCountInString(text[s.Start:s.End]); n > 61 {
				t.Errorf("a segment of %d characters: %q", n, s.Text)
			}
		}
	}
	path := "./資料/関数の値を返すファイル/テスト/" + strings.Repeat("確認", 20) + ".md"
	text := "この関数は値を返すので" + path + "を見てください。"
	for _, s := range chunk(o, text) {
		if from := strings.Index(text, path); s.End > from && s.End < from+len(path) {
			t.Errorf("the path is cut: %q", text[s.Start:s.End])
		}
	}
	for _, text := range []string{strings.Repeat("x", 20_000), strings.Repeat("e\u0301", 20_000), strings.Repeat("🎉", 20_000) + "x", strings.Repeat("1 ", 20_000)} {
		for _, s := range chunk(spoken.Options{}, text) {
			if n := utf8.RuneCountInString(s.Text); n > 4097 {
				t.Errorf("a segment of %d characters that begins with %q", n, s.Text[:20])
			}
		}
	}
}

// A Japanese word of several ideographs stays whole, even without a better place to cut.
func TestIdeographsOfOneWordStay(t *testing.T) {
	text := strings.Repeat("関数値の返却テスト確認", 20)
	for _, s := range chunk(spoken.Options{MaxChars: 60}, text) {
		for _, word := range []string{"関数値", "返却", "確認"} {
			for at := 0; at < len(text); at += len("関数値の返却テスト確認") {
				from := at + strings.Index("関数値の返却テスト確認", word)
				if s.End > from && s.End < from+len(word) {
					t.Fatalf("%s is cut after %q", word, s.Text)
				}
			}
		}
	}
}

// Code gets more time to close than a label: up to 2*MaxChars runes it is never divided.
func TestALongCodeSpanStays(t *testing.T) {
	code := "`" + strings.Repeat("A b. ", 18) + "x`" // 93 characters
	text := "Use " + code + " here. And so on."
	from := strings.Index(text, code)
	for _, s := range chunk(spoken.Options{MaxChars: 60}, text) {
		if s.End > from && s.End < from+len(code) {
			t.Errorf("the code is cut after %q", text[s.Start:s.End])
		}
	}
}

// Brackets that were given up together do not delay speech a second time.
func TestBracketsAreGivenUpOnce(t *testing.T) {
	text := "The first [ is in here. The second [ is in there. The third one is too. " + strings.Repeat("word ", 50)
	c := spoken.New(spoken.Options{})
	want := []string{"The first [ is in here.", "The second [ is in there.", "The third one is too."}
	if got := texts(c.Push(text)); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A code span that was given up because of its length still ends at its backtick: the
// text after it is not code.
func TestALongCodeSpanEnds(t *testing.T) {
	text := "Use `" + strings.Repeat("abc, ", 200) + "` here. The second one is there. The third one, `it`, too.\n"
	got := texts(chunk(spoken.Options{}, text))
	if n := len(got); n < 4 || !reflect.DeepEqual(got[n-2:], []string{"The second one is there.", "The third one, it, too."}) {
		t.Errorf("got %q", got)
	}
	c := spoken.New(spoken.Options{})
	got = texts(c.Push(strings.TrimSuffix(text, " The third one, `it`, too.\n") + " "))
	if n := len(got); got[n-1] != "The second one is there." {
		t.Errorf("what follows the code is held back; the last that came is %q", got[n-1])
	}
}
