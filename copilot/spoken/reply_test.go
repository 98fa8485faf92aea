package spoken_test

import (
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// tests is a question whether tests may be run.
var tests = spoken.Action{
	Named: func(w string) bool {
		return strings.HasPrefix(w, "run") || strings.Contains(w, "実行") || strings.HasPrefix(w, "ausführ")
	},
	Objects: map[string]bool{"tests": true, "parser": true},
}

func TestReply(t *testing.T) {
	for text, want := range map[string]spoken.Reply{
		"yes, run them":             {Kind: spoken.ReplyYes, Names: "run"},
		"yes, run the parser tests": {Kind: spoken.ReplyYes, Names: "run"},
		"run it, yes":               {Kind: spoken.ReplyYes, Names: "run"},
		"はい、実行":                     {Kind: spoken.ReplyYes, Names: "実行"},
		"ja, ausführen":             {Kind: spoken.ReplyYes, Names: "ausführen"},
		"no, run it":                {Kind: spoken.ReplyNo, Names: "run"},
		"run the tests":             {Kind: spoken.ReplyAssent, Names: "run"},
		"okay, run them":            {Kind: spoken.ReplyAssent, Names: "run"},
		"Run the tests.":            {Kind: spoken.ReplyAssent, Names: "run"},
		"run the tests?":            {},
		"don't run the tests":       {Kind: spoken.ReplyNo, Names: "run"},
		"run the linter":            {},
		"the tests":                 {},
		"yes, but":                  {Kind: spoken.ReplyUnclear},
		"Yes but um.":               {Kind: spoken.ReplyUnclear},
		"sure, but":                 {Kind: spoken.ReplyUnclear},
		"go ahead, but":             {Kind: spoken.ReplyUnclear},
		"yes and":                   {Kind: spoken.ReplyUnclear},
		"yeah but like":             {Kind: spoken.ReplyUnclear},
		"okay, but":                 {Kind: spoken.ReplyUnclear},
		"continue, but":             {Kind: spoken.ReplyUnclear},
		"run the tests and":         {Kind: spoken.ReplyUnclear},
		"sure, but what does that command do exactly": {Kind: spoken.ReplyUnclear},
		"yes, but run the linter first":               {Kind: spoken.ReplyUnclear},
		"yes, if the branch is clean":                 {Kind: spoken.ReplyUnclear},
		"no yes no":                                   {Kind: spoken.ReplyUnclear},
		"ja, aber erst die Tests":                     {Kind: spoken.ReplyUnclear},
		"nein, doch nicht":                            {Kind: spoken.ReplyNo},
		"ja, aber":                                    {Kind: spoken.ReplyUnclear},
		"はい、でも":                                       {Kind: spoken.ReplyUnclear},
		"はいでも":                                        {Kind: spoken.ReplyUnclear},
		"no, use the other one":                       {},
		"no, an":                                      {Kind: spoken.ReplyNo, Partly: true},
		"yes, well":                                   {Kind: spoken.ReplyYes, Partly: true},
		"okay, wait, don't run that":                  {},
		"what is that":                                {},
		"the parser has a bug, yes":                   {},
	} {
		if got := spoken.Default.Reply(text, tests); got != want {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
}

func TestNegated(t *testing.T) {
	for text, want := range map[string]bool{"don't": true, "do not": true, "please do not": true, "nicht": true, "do": false, "": false, "the knot": false} {
		if got := spoken.Negated(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
