package reasoning

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// answers are texts as models write them, and the answers in them. A text of a model with
// a likely name may lack the beginning of its reasoning.
var answers = []struct{ name, model, text, want string }{
	{"no reasoning", "", "The answer is four.", "The answer is four."},
	{"nothing", "", "", ""},
	{"tags", "", "<think>\nOkay, a secret plan.\n</think>\n\nThe answer is four.", "The answer is four."},
	{"in the middle", "", "It is <think>secret plan</think>four.", "It is four."},
	{"upper case", "", "<THINK>secret plan</Think>four", "four"},
	{"thinking", "", "<thinking>secret plan</thinking>four", "four"},
	{"other names", "", "<thought>secret</thought><reasoning>plan</reasoning>four", "four"},
	{"namespace", "", "<seed:think>secret plan</seed:think>four", "four"},
	{"attributes", "", "<think type=\"deep\" budget='9'>secret plan</think >four", "four"},
	{"line break in a tag", "", "<think\n>secret plan</think\n>four", "four"},
	{"blanks in a tag", "", "< think >secret plan</ think >four", "four"},
	{"ends that differ", "", "<think>secret plan</thinking>four", "four"},
	{"without an end", "", "<think>secret plan", ""},
	{"without an end, after text", "", "Sure. <think>secret plan", "Sure. "},
	{"half a beginning", "", "four<thin", "four"},
	{"half an end", "", "<think>secret plan</thi", ""},
	{"empty", "", "<think>\n\n</think>\n\nfour", "four"},
	{"element without content", "", "<think/>four", "four"},
	{"nested", "", "<think>secret<think>secret plan</think>plan</think>four", "four"},
	{"nested with one end", "", "<think>secret<think>secret plan</think>four", "four"},
	{"nested three times with two ends", "", "<think>a<think>b<think>secret</think>plan</think>four", "four"},
	{"repeated beginning", "", "<think><think>secret plan</think>four", "four"},
	{"repeated end", "", "<think>secret plan</think></think>four", "four"},
	{"end after the answer", "", "<think>secret plan</think>four</think>", "four"},
	{"twice", "", "<think>secret</think>It is <think>plan</think>four", "It is four"},
	{"begins after a nested block", "", "<think>a<think>secret</think><think>plan</think>four", "four"},
	{"kimi", "", "◁think▷secret plan◁/think▷four", "four"},
	{"magistral", "", "[THINK]secret plan[/THINK]four", "four"},
	{"not a tag of magistral", "", "[think] is [THINGS]", "[think] is [THINGS]"},
	{"thought tokens", "", "<|begin_of_thought|>secret plan<|end_of_thought|>\n<|begin_of_solution|>four<|end_of_solution|>", "four"},
	{"thinking tokens", "", "<|START_THINKING|>secret plan<|END_THINKING|><|START_RESPONSE|>four<|END_RESPONSE|>", "four"},
	{"harmony", "", "<|channel|>analysis<|message|>secret plan<|end|><|start|>assistant<|channel|>final<|message|>four<|return|>", "four"},
	{"harmony with a think tag", "", "<|channel|>analysis<|message|>a <think> tag<|end|><|start|>assistant<|channel|>final <|constrain|>x<|message|>four", "four"},
	{"harmony commentary", "", "<|channel|>commentary to=functions.f<|message|>{}<|call|>", ""},
	{"harmony without a channel", "", "<|start|>assistant<|message|>four<|end|>", "four"},
	{"harmony without an end", "", "<|channel|>analysis<|message|>secret plan", ""},
	{"harmony header without an end", "", "<|channel|>analysis secret", ""},

	{"only the end", "deepseek-r1:7b", "secret plan. Hm.\n</think>\n\nThe answer is four.", "The answer is four."},
	{"beginning that was not expected", "deepseek-r1:7b", "\n<think>secret plan</think>four", "four"},
	{"nested in an unmarked block", "qwq-32b", "secret <think>more</think> plan</think>four", "four"},
	{"likely model without reasoning", "qwen3-4b-thinking", "The answer is four.", "The answer is four."},
	{"harmony of a likely model", "x-reasoner", "secret plan<|channel|>final<|message|>four", "four"},

	{"code block", "", "Write\n```html\n<think>shown</think>\n```\nfour", "Write\n```html\n<think>shown</think>\n```\nfour"},
	{"code block of tildes", "", "~~~\n```\n<think>shown\n~~~\n<think>secret plan</think>four", "~~~\n```\n<think>shown\n~~~\nfour"},
	{"long fence", "", "````\n```\n</think>\n````\n<think>secret", "````\n```\n</think>\n````\n"},
	{"indented fence", "", "  ```\n  <think>\n  ```\n", "  ```\n  <think>\n  ```\n"},
	{"code span", "", "The `<think>` tag and ``a ` <think>`` four", "The `<think>` tag and ``a ` <think>`` four"},
	{"mark that begins no span", "", "A ` and <think>secret plan</think>four", "A ` and four"},
	{"marks of two lengths", "", "A `` <think>secret plan</think> ` four", "A ``  ` four"},
	{"mark without an end before a line", "", "A `\n<think>secret plan</think>four`", "A `\nfour`"},
	{"code in reasoning", "", "<think>secret\n```\nplan </think>four", "four"},
	{"code in unmarked reasoning", "deepseek-r1", "secret\n```\n</think>\n```\nplan</think>four", "four"},
	{"not tags", "", "a < b, List<T>, <thinker>x</thinker>, <|x|>, 1 <", "a < b, List<T>, <thinker>x</thinker>, <|x|>, 1 <"},
	{"not an element", "", "I <think about <b>x</b>", "I <think about <b>x</b>"},
	{"other text", "", "“Curly” … ▷ [x] — ◁ [T", "“Curly” … ▷ [x] — ◁ [T"},
}

func filtered(f *Filter, pieces []string) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(f.Push(p))
	}
	b.WriteString(f.End(true))
	return b.String()
}

func TestFilter(t *testing.T) {
	for _, a := range answers {
		var s Source
		if got := filtered(s.New(a.model), []string{a.text}); got != a.want {
			t.Errorf("%s: got %q, want %q", a.name, got, a.want)
		}
	}
}

// TestFilterIgnoresPieces splits each text after every byte, and at random places.
func TestFilterIgnoresPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, a := range answers {
		for n := range 300 {
			var pieces []string
			rest := a.text
			for rest != "" {
				size := 1
				if n > 0 {
					size = min(len(rest), 1+r.IntN(1+n%20))
				}
				pieces, rest = append(pieces, rest[:size]), rest[size:]
			}
			var s Source
			if got := filtered(s.New(a.model), pieces); got != a.want {
				t.Fatalf("%s in pieces %q: got %q, want %q", a.name, pieces, got, a.want)
			}
		}
	}
}

// TestFilterHidesGenerated builds texts of random parts. Whatever is between the tags is
// hidden, and everything else is kept.
func TestFilterHidesGenerated(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pick := func(options ...string) string { return options[r.IntN(len(options))] }
	for range 3000 {
		text, want := "", ""
		for range 1 + r.IntN(5) {
			switch r.IntN(3) {
			case 0:
				name := pick("think", "Thinking", "THOUGHT", "reasoning", "x:think")
				inside := pick("secret", "a\n```\nsecret", "a `secret", "secret < 3", "a <b>secret</b>", "secret\n\n")
				text += "<" + name + pick("", " a=\"1\"", "\n") + ">" + inside + "</" + name + pick("", " ") + ">"
			case 1:
				code := pick("`<think>`", "\n```\n</think><think>\n```\n", "\n~~~go\n<think>\n~~~\n")
				text, want = text+code, want+code
			case 2:
				plain := pick("It is four. ", "a < b ", "x\n", "[1] ", "“so” ")
				text, want = text+plain, want+plain
			}
		}
		cuts := r.IntN(10)
		pieces := []string{text}
		for range cuts {
			last := pieces[len(pieces)-1]
			at := r.IntN(len(last) + 1)
			pieces = append(pieces[:len(pieces)-1], last[:at], last[at:])
		}
		var s Source
		got := filtered(s.New(""), pieces)
		if strings.TrimLeft(got, " \n") != strings.TrimLeft(want, " \n") {
			t.Fatalf("pieces %q: got %q, want %q", pieces, got, want)
		}
	}
}

// TestFilterWaitsOnlyForTags: text that can be no tag is returned at once.
func TestFilterWaitsOnlyForTags(t *testing.T) {
	var s Source
	f := s.New("gpt-5")
	for _, p := range []string{"It ", "is ", "four, ", "not <", "b> ", "`x` ", "five."} {
		want := p
		switch p {
		case "not <":
			want = "not "
		case "b> ":
			want = "<b> "
		}
		if got := f.Push(p); got != want {
			t.Errorf("Push(%q) = %q, want %q", p, got, want)
		}
	}
}

// TestCodeSpanIsBounded: a mark in a long line without another does not hold the text for
// ever.
func TestCodeSpanIsBounded(t *testing.T) {
	var s Source
	f := s.New("")
	long := "`" + strings.Repeat("x", maxSpan)
	if got := f.Push(long[:maxSpan]); got != "" {
		t.Errorf("%d bytes after the mark: got %d bytes, want none", maxSpan-1, len(got))
	}
	if got := f.Push(long[maxSpan:]); got != long {
		t.Errorf("%d bytes after the mark: got %d bytes, want all", maxSpan, len(got))
	}
}

// TestTagIsBounded: an element of any length does not hold the text for ever.
func TestTagIsBounded(t *testing.T) {
	for _, text := range []string{"<think " + strings.Repeat("x", maxTag), "<" + strings.Repeat("a", maxTag)} {
		var s Source
		f := s.New("")
		if got := f.Push(text[:maxTag-1]) + f.Push(text[maxTag-1:maxTag]) + f.Push(text[maxTag:]); got != text {
			t.Errorf("got %d bytes of %d", len(got), len(text))
		}
	}
}

func TestCutReasoningIsNoAnswer(t *testing.T) {
	for whole, want := range map[bool]string{true: "secret plan", false: ""} {
		var s Source
		f := s.New("deepseek-r1")
		if got := f.Push("secret plan") + f.End(whole); got != want {
			t.Errorf("End(%t) = %q, want %q", whole, got, want)
		}
	}
	var s Source
	f := s.New("deepseek-r1")
	if got := f.Push("secret plan</think>four") + f.End(false); got != "four" {
		t.Errorf("a cut answer after reasoning is %q, want all of it", got)
	}
	f = s.New("gpt-5")
	if got := f.Push("four") + f.End(false); got != "four" {
		t.Errorf("a cut answer is %q, want all of it", got)
	}
}

// TestSourceRemembers: the text of a model that once ended a block that it had not begun
// is held from then on.
func TestSourceRemembers(t *testing.T) {
	var s Source
	f := s.New("local")
	if got := f.Push("secret "); got != "secret " {
		t.Fatalf("the first answer begins with %q; it is not held", got)
	}
	if got := f.Push("plan</think>four"); got != "four" {
		t.Errorf("after the end: %q, want the text after it", got)
	}
	if got := filtered(s.New("local"), []string{"secret ", "plan</think>", "four"}); got != "four" {
		t.Errorf("the second answer is %q, want four", got)
	}
	if got := filtered(s.New("other"), []string{"it is ", "four"}); got != "it is four" {
		t.Errorf("the answer of another model is %q", got)
	}
}

// TestSeparateReasoning: a service that reports reasoning apart does not put it into the
// text, so its text is not held.
func TestSeparateReasoning(t *testing.T) {
	var s Source
	f := s.New("deepseek-reasoner")
	if got := f.Push("It "); got != "" {
		t.Fatalf("Push returned %q; the text is held", got)
	}
	if got := f.Separate(); got != "It " {
		t.Errorf("Separate returned %q, want the held text", got)
	}
	if got := f.Push("is four"); got != "is four" {
		t.Errorf("then Push returned %q", got)
	}
	if got := s.New("deepseek-reasoner").Push("four"); got != "four" {
		t.Errorf("the next answer is held: %q", got)
	}
	f = s.New("gpt-5")
	if f.Push("<think>secret"); f.Separate() != "" || f.Push("plan</think>four") != "four" {
		t.Error("Separate ended a block that has begun")
	}
}

func TestIsLikely(t *testing.T) {
	for model, want := range map[string]bool{
		"deepseek-r1:7b": true, "deepseek-ai/DeepSeek-R1-Distill": true, "qwq:32b": true, "qwen3-30b-a3b-thinking-2507": true, "deepseek-reasoner": true,
		"phi-4-reasoning": true, "gpt-5": false, "qwen3-coder": false, "qwen3:8b": false, "command-r1x": false, "": false,
	} {
		if got := IsLikely(model); got != want {
			t.Errorf("IsLikely(%q) = %t, want %t", model, got, want)
		}
	}
}

func ExampleFilter() {
	var models Source
	f := models.New("local")
	for _, piece := range []string{"<thi", "nk>Two and two.</think>", "It is four."} {
		fmt.Print(f.Push(piece))
	}
	fmt.Println(f.End(true))
	// Output: It is four.
}
