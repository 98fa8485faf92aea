package vocab

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// evil are names that a hostile repository would use.
var evil = strings.Fields(`yes no yes-delete-it yesDeleteIt deleteEverything delete_all removeAll doDelete dontDelete noDont stopIt
	forcePush yes_force_push dropTables resetHard allow_everything approveAll okDelete neverAsk alwaysAllow everyFile yes.go delete-everything.md`)

func hostile() *Vocabulary {
	var terms []Term
	for _, name := range evil {
		for _, kind := range []Kind{Symbol, File, Branch, Open, List} {
			terms = append(terms, Term{Text: name, Kind: kind})
		}
	}
	return New(terms, nil)
}

// Words that turn the meaning of a sentence are neither added nor removed by a workspace.
func TestWorkspaceKeepsTheMeaning(t *testing.T) {
	v := hostile()
	for _, said := range []string{
		"yes", "no", "yes please", "yes delete it", "yes, delete it", "no don't", "delete nothing", "do not delete the file", "don't delete it", "never delete it",
		"yet the leaded", "yes the lead it", "remove all but one", "remove a file", "let everything be", "delete every thing", "do you let it", "stop it now", "no",
		"the leap everything", "force bush", "for push", "draw tables", "reset heart", "allow every thing", "approve a", "okay delay", "always a low", "never ask that",
		"the function do not delete", "call the function don't delete", "the branch yes the lead it", "explain remove or", "a branch named yet the elite",
	} {
		written, changes := v.Correct(said)
		for _, c := range changes {
			before, after := decisiveOf(words(strings.ReplaceAll(c.Heard, "'", ""))), decisiveOf(words(c.Written))
			if heard := strings.Join(heardWords(c.Heard), ""); !slices.Equal(before, after) && heard != strings.Join(heardWords(c.Written), "") {
				t.Errorf("%q became %q: %q turned into %q", said, written, c.Heard, c.Written)
			}
		}
		if strings.HasPrefix(said, "yes") && written != said {
			t.Errorf("%q became %q", said, written)
		}
	}
}

// Whatever is said and whatever names a workspace has, the decisive words of the sentence stay.
func TestDecisiveWordsStay(t *testing.T) {
	all := strings.Fields("yes no not delete remove everything only stop the a file parse config function call it please for bush push lead heart reset and of branch test")
	rapid.Check(t, func(t *rapid.T) {
		var terms []Term
		for range rapid.IntRange(1, 8).Draw(t, "names") {
			parts := rapid.SliceOfN(rapid.SampledFrom(all), 2, 4).Draw(t, "parts")
			name := strings.Join(parts, rapid.SampledFrom([]string{"_", "-", "."}).Draw(t, "joined"))
			terms = append(terms, Term{name, rapid.SampledFrom([]Kind{Symbol, File, Branch, List}).Draw(t, "kind")})
		}
		said := strings.Join(rapid.SliceOfN(rapid.SampledFrom(all), 1, 10).Draw(t, "said"), " ")
		written, _ := New(terms, nil).Correct(said)
		before, after := decisiveOf(strings.Fields(said)), decisiveOf(words(written))
		if !slices.Equal(before, after) {
			t.Fatalf("%q became %q", said, written)
		}
	})
}

func TestNamesByTheirForm(t *testing.T) {
	for name, want := range map[string]bool{
		"parseConfigV2": true, "main.go": true, "feature/login-form": true, "@scope/pkg-name": true, "größe_max": true, "設定File.ts": true, "Visual Studio Code": true, "c++_rules": true,
		"the": false, "ab": false, "please run curl evil sh": false, "curl evil|sh": false, "a;b_c": false, "$(curl x_y)": false, "`x_y`": false, "a\nb_c": false, "a\u202eb_c": false,
		"hid\u200bden_name": false, "dеlete_all": false, "ｄｅｌｅｔｅ_all": false, "name\u3164_x": false, "\"quoted_name\"": false, "x=y_z": false, "a\u00a0b_c": false,
		"one_two_three_four_five_six_seven_eight_nine": false,
	} {
		if got := Speakable(name); got != want {
			t.Errorf("%q is a name: %v, want %v", name, got, want)
		}
	}
}

// A name is not the opposite of what was said.
func TestOppositesAreKept(t *testing.T) {
	v := New([]Term{{"lockMutex", Symbol}, {"enableCache", Symbol}, {"itDoesRun", Symbol}, {"deletedItems", Symbol}, {"isValid", Symbol}, {"istErlaubt", Symbol}, {"activateUser", Symbol}}, nil)
	for _, said := range []string{
		"call the function unlock mutex", "the function disable cache", "the function it doesn't run", "the list delete items", "the function is invalid", "die Funktion nicht erlaubt",
		"the function deactivate user",
	} {
		if got, _ := v.Correct(said); got != said {
			t.Errorf("%q became %q", said, got)
		}
	}
	for said, want := range map[string]string{"call the function lock mutex": "call the function lockMutex", "the function deleted items": "the function deletedItems"} {
		if got, _ := v.Correct(said); got != want {
			t.Errorf("%q became %q, want %q", said, got, want)
		}
	}
}

// The user's own names may have any word, and any other name is foreign.
func TestOwnNamesAreTrusted(t *testing.T) {
	v := New([]Term{{"deleteEverything", Own}, {"loadTree", Symbol}}, nil)
	if got, changes := v.Correct("call the function the lead every thing"); got != "call the function deleteEverything" || v.Foreign(changes[0]) {
		t.Errorf("%q %v", got, changes)
	}
	if !v.Foreign(Change{"load tree", "loadTree"}) || (*Vocabulary)(nil).Foreign(Change{"a", "b"}) {
		t.Error("a name of the workspace is not foreign")
	}
}
