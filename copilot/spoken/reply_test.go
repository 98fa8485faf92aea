package spoken_test

import (
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// tests is a question whether tests may be run.
var tests = spoken.Action{
	Named: func(w string) bool {
		return strings.HasPrefix(w, "run") || strings.Contains(w, "実行") || strings.HasPrefix(w, "ausführ") || strings.HasPrefix(w, "führ")
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
		"no yes no":                                   {Kind: spoken.ReplyNo},
		"ja, aber erst die Tests":                     {Kind: spoken.ReplyUnclear},
		"nein, doch nicht":                            {Kind: spoken.ReplyNo},
		"ja, aber":                                    {Kind: spoken.ReplyUnclear},
		"はい、でも":                                       {Kind: spoken.ReplyUnclear},
		"はいでも":                                        {Kind: spoken.ReplyUnclear},
		"no, use the other one":                       {},
		"yes, run the":                                {Kind: spoken.ReplyUnclear},
		"yes, and the":                                {Kind: spoken.ReplyUnclear},
		"yes, use the":                                {Kind: spoken.ReplyUnclear},
		"Yes, run the tests with.":                    {Kind: spoken.ReplyYes, Names: "run", Partly: true},
		"yes, run the tests on, um":                   {Kind: spoken.ReplyUnclear},
		"yes, run the tests for my":                   {Kind: spoken.ReplyUnclear},
		"yes, run the tests in":                       {Kind: spoken.ReplyYes, Names: "run", Partly: true},
		"yes, could you":                              {Kind: spoken.ReplyUnclear},
		"yes, go ahead and use a":                     {Kind: spoken.ReplyUnclear},
		"run the":                                     {Kind: spoken.ReplyUnclear},
		"run the tests in":                            {Kind: spoken.ReplyUnclear},
		"okay, the":                                   {Kind: spoken.ReplyUnclear},
		"no, run the":                                 {Kind: spoken.ReplyNo, Names: "run"},
		"ja, und die":                                 {Kind: spoken.ReplyUnclear},
		"ja, führe die":                               {Kind: spoken.ReplyUnclear},
		"ja, ausführen mit dem":                       {Kind: spoken.ReplyUnclear},
		"ja, nutze es aus":                            {Kind: spoken.ReplyUnclear},
		"ja, führe es aus":                            {Kind: spoken.ReplyYes, Names: "führe"},
		"ja, das kannst du":                           {Kind: spoken.ReplyYes},
		"ja, kannst du":                               {Kind: spoken.ReplyUnclear},
		"はい、テストを実行して":                                 {Kind: spoken.ReplyYes, Names: "テストを実行して"},
		"はい、実行を":                                      {Kind: spoken.ReplyUnclear},
		"はい、実行する前に":                                   {Kind: spoken.ReplyUnclear},
		"はい、実行しないで":                                   {Kind: spoken.ReplyUnclear},
		"はい、実行はしなくていい":                                {Kind: spoken.ReplyUnclear},
		"テストを実行しないで":                                  {Kind: spoken.ReplyNo, Names: "テストを実行"},
		"テストを実行すると":                                   {Kind: spoken.ReplyUnclear},
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
