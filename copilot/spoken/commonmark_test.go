package spoken

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"
)

// said is a block as spoken, in pieces of any size.
type said struct {
	class Class
	text  string
}

// parsed returns the blocks that the Markdown library finds in a whole answer, in spoken
// form. It is the reference for the chunker's incremental blocks.
func parsed(src []byte) []said {
	var out []said
	lang := languageOf("en")
	say := func(class Class, text string) {
		if text != "" {
			out = append(out, said{class, text})
		}
	}
	lines := func(n ast.Node) []byte {
		var b []byte
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			b = append(b, line.Value(src)...)
		}
		return b
	}
	doc := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(src))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() != ast.TypeBlock {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			say(ClassHeading, closed(lang.inline(lines(n))))
		case *ast.Paragraph, *ast.TextBlock:
			class, s := ClassProse, lang.inline(lines(n))
			if beginsItem(n) {
				class, s = ClassList, closed(s)
			}
			say(class, s)
		case *ast.FencedCodeBlock:
			if code := lines(n); len(strings.TrimSpace(string(code))) > 0 {
				say(ClassCode, lang.block(languageName(string(n.Language(src))), countLines(code)))
			}
		case *ast.CodeBlock:
			say(ClassCode, lang.block("", countLines(lines(n))))
		case *extast.Table:
			var rows [][]string
			for row := n.FirstChild(); row != nil; row = row.NextSibling() {
				var cells []string
				for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
					cells = append(cells, lang.inline(lines(cell)))
				}
				rows = append(rows, cells)
			}
			say(ClassNotice, joinRows(rows[1:], rows[0]))
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return out
}

// beginsItem reports whether a block is on the line of its item's marker.
func beginsItem(n ast.Node) bool {
	for parent := n.Parent(); parent != nil && parent.FirstChild() == n; n, parent = parent, parent.Parent() {
		if parent.Kind() == ast.KindListItem {
			return true
		}
	}
	return false
}

// document generates nested blocks: quotes, items and their contents.
type document struct {
	t     *rapid.T
	lines []string
}

func (d *document) pick(from ...string) string { return rapid.SampledFrom(from).Draw(d.t, "pick") }

// blocks writes some blocks. Lines start with marks, except that the first line starts
// with first.
func (d *document) blocks(first, marks string, depth int) {
	for i := range rapid.IntRange(1, 4).Draw(d.t, "blocks") {
		if i > 0 {
			if d.pick("blank", "none") == "blank" {
				d.lines = append(d.lines, strings.TrimRight(marks, " "))
			}
			first = marks
		}
		kind := rapid.IntRange(0, 8).Draw(d.t, "kind")
		if depth == 0 && kind > 6 {
			kind = 0
		}
		switch kind {
		case 0, 1:
			d.text(first, marks)
		case 2:
			d.lines = append(d.lines, first+d.pick("# Heading", "### Another one ##", "#not a heading", "## `code`"))
		case 3:
			fence := d.pick("```", "~~~~")
			d.lines = append(d.lines, first+fence+d.pick("", "go"))
			for range rapid.IntRange(1, 3).Draw(d.t, "code") {
				d.lines = append(d.lines, marks+d.pick("x := 1", "    deep", "- no item", "# none", "> none", "| a | b |"))
			}
			d.lines = append(d.lines, marks+fence)
		case 4:
			d.lines = append(d.lines, first+"| Name | Size |", marks+"|------|:----:|", marks+"| a | "+d.pick("1", "`b`", "**c**")+" |", strings.TrimRight(marks, " "))
		case 5:
			d.lines = append(d.lines, first+d.pick("***", "* * *", "___"))
		case 6:
			d.text(first, marks)
			d.lines = append(d.lines, strings.TrimRight(marks, " "), marks+"    code := 1", marks+"      more", strings.TrimRight(marks, " "))
		case 7:
			d.blocks(first+"> ", marks+"> ", depth-1)
			d.lines = append(d.lines, strings.TrimRight(marks, " "))
		default:
			item := d.pick("- ", "* ", "1. ", "10) ", "-   ", "+\t")
			blank := strings.Repeat(" ", len(item))
			if item == "10) " && i > 0 { // it cannot start a list within a paragraph
				d.lines = append(d.lines, strings.TrimRight(marks, " "))
			}
			if item == "+\t" && first == "" { // up to the next multiple of four
				blank = "    "
			} else if item == "+\t" {
				item = "+ " // the library counts a tab's columns from the quote
			}
			for range rapid.IntRange(1, 3).Draw(d.t, "items") {
				d.blocks(first+item, marks+blank, depth-1)
				first = marks
			}
		}
	}
}

// text writes a paragraph; some lines may lack the marks.
func (d *document) text(first, marks string) {
	d.lines = append(d.lines, first+d.pick("The first line", "It was in", "`code` and **bold**", "a | b"))
	for range rapid.IntRange(0, 2).Draw(d.t, "more lines") {
		if line := d.pick("goes on here", "#hash", "and `more` of it", "-no item", "2024. That was it"); d.pick("marks", "marks", "lazy") == "marks" {
			d.lines = append(d.lines, marks+line)
		} else if line[0] != '2' { // it would start a list, which is allowed at any depth
			d.lines = append(d.lines, line)
		}
	}
}

// number matches the spoken prefix of an item.
var number = regexp.MustCompile(`^\d+\. `)

// The incremental, line-by-line classification finds the same blocks as the Markdown
// library does in the whole answer.
func TestPropertyBlocksAreThoseOfCommonMark(t *testing.T) {
	const whole = 1 << 20
	rapid.Check(t, func(t *rapid.T) {
		d := &document{t: t}
		d.blocks("", "", 3)
		src := strings.Join(d.lines, "\n") + "\n"
		c := New(Options{MinChars: whole, MaxChars: whole, FirstMinChars: whole})
		var got []said
		for _, s := range append(c.Push(src), c.Flush()...) {
			if s.Text != "" {
				got = append(got, said{s.Class, number.ReplaceAllString(s.Text, "")})
			}
		}
		if want := parsed([]byte(src)); !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %q\nwant %q\nsource:\n%s", got, want, src)
		}
	})
}
