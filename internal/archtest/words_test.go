package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// answerSections are the sections of a grammar whose phrases answer, stop or hold something.
var answerSections = []string{"yes", "no", "stop", "pause", "(agreement)", "(backchannel)"}

// ownWords are the files outside of copilot/spoken that may declare answers, with the reason.
var ownWords = map[string]string{
	"copilot/acp/question.go":    "it maps an answer to the boolean choice of an agent's form; nothing of ours is allowed by it",
	"copilot/acp/permission.go":  "parts of the ids of an agent's options, which nobody says",
	"copilot/openai/openai.go":   "the reasons for which an answer of a service ends",
	"copilot/table.go":           "the names of the region's inputs",
	"csm/csmtest/verbs_facts.go": "what the words of a scenario mean where the scenario does not say it",
	"csm/event.go":               "the names of the classes",
	"csm/explore/report.go":      "cells of a report",
	"csm/meaning.go":             "the names of the meanings",
}

// maxAnswers is how many answers a declaration may have before it is a list of them.
const maxAnswers = 1

// TestAnswersAreDeclaredOnce: which words are a yes, a no, a stop or a pause is decided by the
// grammar and copilot/spoken. A second list would make the same words mean two things.
func TestAnswersAreDeclaredOnce(t *testing.T) {
	answers := answersOfGrammar(t)
	found := map[string]bool{}
	for _, f := range tree(t) {
		if f.isTest || !f.written || !strings.HasPrefix(f.path, "internal/daemon/") && !strings.HasPrefix(f.path, "copilot/") && !strings.HasPrefix(f.path, "csm/") ||
			strings.HasPrefix(f.path, "copilot/spoken/") {
			continue
		}
		for at, words := range answerLists(f, answers) {
			found[f.path] = true
			if ownWords[f.path] == "" {
				t.Errorf("%s: a list of answers (%s); ask the grammar of copilot/spoken instead, so that a word means one thing", at, strings.Join(words, ", "))
			}
		}
	}
	for path := range ownWords {
		if !found[path] {
			t.Errorf("%s declares no answers; remove it from the list", path)
		}
	}
}

// TestAListOfAnswersIsFound: the walk must find a list in each of its forms.
func TestAListOfAnswersIsFound(t *testing.T) {
	answers := answersOfGrammar(t)
	for _, declared := range []string{
		`var list = []string{"Yes.", "Yeah."}`,
		`var list = map[string]bool{"nein": true, "nee": true}`,
		"var list = set(`stop wait please`)",
		`func f(s string) bool { return s == "okay" || s == "sure" }`,
		`func f(s string) bool { switch s { case "はい", "ええ": return true }; return false }`,
	} {
		f := parsedText(t, "package p\n"+declared)
		if len(answerLists(f, answers)) != 1 {
			t.Errorf("not found: %s", declared)
		}
	}
	for _, declared := range []string{
		`var list = []string{"yes", "maybe"}`,
		`var text = "I stop when you say so, or wait for your answer to the question."`,
	} {
		if got := answerLists(parsedText(t, "package p\n"+declared), answers); len(got) != 0 {
			t.Errorf("%s: found %v", declared, got)
		}
	}
}

// parsedText parses a file.
func parsedText(t *testing.T, text string) source {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "list.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	return source{path: "list.go", ast: file, fset: fset}
}

// answersOfGrammar returns the phrases of the answer sections in all languages.
func answersOfGrammar(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(moduleRoot(t), "copilot", "spoken", "commands", "*.md"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d grammars: %v", len(files), err)
	}
	answers := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		section := ""
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if name, ok := strings.CutPrefix(line, "## "); ok {
				section = name
			} else if phrases, ok := strings.CutPrefix(line, "- "); ok && slices.Contains(answerSections, section) {
				for phrase := range strings.SplitSeq(phrases, "|") {
					answers[plainWords(phrase)] = true
				}
			}
		}
	}
	if len(answers) < 100 {
		t.Fatalf("only %d answers; the grammar was not read", len(answers))
	}
	return answers
}

// plainWords returns words in lower case without punctuation.
func plainWords(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.Is(unicode.M, r) }), " ")
}

// answerLists returns the declarations of a file that have several answers, by place.
func answerLists(f source, answers map[string]bool) map[string][]string {
	out := map[string][]string{}
	for _, d := range f.ast.Decls {
		var parts []ast.Node
		switch d := d.(type) {
		case *ast.GenDecl:
			if d.Tok != token.IMPORT {
				for _, s := range d.Specs {
					parts = append(parts, s)
				}
			}
		case *ast.FuncDecl:
			parts = append(parts, d)
		}
		for _, part := range parts {
			if found := answersIn(part, answers); len(found) > maxAnswers {
				out[f.at(part.Pos())] = found
			}
		}
	}
	return out
}

// answersIn returns the answers among the literals of a declaration, each once. A raw literal
// is a list of words.
func answersIn(part ast.Node, answers map[string]bool) (found []string) {
	add := func(word string) {
		if word = plainWords(word); answers[word] && !slices.Contains(found, word) {
			found = append(found, word)
		}
	}
	ast.Inspect(part, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			return true
		}
		add(text)
		if strings.HasPrefix(lit.Value, "`") && !strings.ContainsAny(text, ".:,") {
			for _, word := range strings.Fields(text) {
				add(word)
			}
		}
		return true
	})
	return found
}
