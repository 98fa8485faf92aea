package vocab

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func known() *Vocabulary {
	var terms []Term
	for _, name := range strings.Fields("parseConfigV2 main.go errorMessage nextStep HTTPServer user_id startPlayback pause_playback.ts kubectl feature/login x509Cert cert") {
		terms = append(terms, Term{Text: name, Kind: Symbol})
	}
	return New(append(terms, Term{"pgvector", Own}), []Replacement{{"cube cuttle", "kubectl"}, {"pee gee vector", "pgvector"}, {"no go", "Nogo"}})
}

func TestNamesAreWritten(t *testing.T) {
	v := known()
	for heard, want := range map[string]string{
		"Open parse config v two in main dot go, please.": "Open parseConfigV2 in main.go, please.",
		"open parse config V2":                            "open parseConfigV2",
		"why does pars config vee to fail":                "why does parseConfigV2 fail",
		"is parseConfigV2 tested":                         "is parseConfigV2 tested",
		"restart the h t t p server":                      "restart the HTTPServer",
		"rename user i d":                                 "rename user_id",
		"what calls start play back":                      "what calls startPlayback",
		"explain x five zero nine cert":                   "explain x509Cert",
		"run cube cuttle now":                             "run kubectl now",
		"Cube cuttle.":                                    "kubectl.",
		"the function next step":                          "the function nextStep",
		"the error message function":                      "the errorMessage function",
	} {
		if got, _ := v.Correct(heard); got != want {
			t.Errorf("%q became %q, want %q", heard, got, want)
		}
	}
}

func TestOrdinaryWordsStay(t *testing.T) {
	v := known()
	for _, heard := range []string{
		"", "   ", "what is the next step", "can you make the error message easier to read",
		"pause the playback", "we need a server for that", "the user is not here", "I like the main idea",
		"stop", "yes", "no", "no go ahead then please", "次のステップは何ですか",
	} {
		got, changes := v.Correct(heard)
		if heard == "no go ahead then please" { // the user's own replacement always applies
			if got != "Nogo ahead then please" {
				t.Errorf("a replacement of the user's gave %q", got)
			}
			continue
		}
		if got != heard || len(changes) > 0 {
			t.Errorf("%q became %q", heard, got)
		}
	}
	var none *Vocabulary
	if got, changes := none.Correct("parse config v two"); got != "parse config v two" || changes != nil {
		t.Errorf("without a vocabulary: %q %v", got, changes)
	}
}

func TestWordsOfNames(t *testing.T) {
	for name, want := range map[string]string{
		"parseConfigV2": "parse config v 2", "HTTPServer": "http server", "main.go": "main . go", "user_id": "user id",
		"feature/login-form": "feature login form", "x509Cert": "x 509 cert", ".gitignore": "gitignore", "utf8": "utf 8", "": "", "___": "",
	} {
		if got := strings.Join(words(name), " "); got != want {
			t.Errorf("%s has the parts %q, want %q", name, got, want)
		}
	}
}

// TestChangesSayWhatChanged, for any text: text outside of the changes stays as it is.
func TestChangesSayWhatChanged(t *testing.T) {
	v := known()
	pieces := []string{"parse", "config", "v", "two", "main", "dot", "go", "cube", "cuttle", "the", "function", "user", "i", "d", "é", "、", "K8s", "can't", "\t", "x"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String()), 0, 12).Draw(t, "words"), " ")
		got, changes := v.Correct(text)
		rest := text
		var rebuilt strings.Builder
		for _, c := range changes {
			before, after, found := strings.Cut(rest, c.Heard)
			if !found {
				t.Fatalf("%q: %q is not in it", text, c.Heard)
			}
			rebuilt.WriteString(before + c.Written)
			rest = after
		}
		if want := rebuilt.String() + rest; got != want && len(changes) < 2 {
			t.Fatalf("%q became %q, and the changes say %q", text, got, want)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatalf("%q became %q, which is no UTF-8", text, got)
		}
	})
}

func TestSoundsAreKnown(t *testing.T) {
	for _, pair := range [][2]string{{"two", "to"}, {"right", "write"}, {"config", "konfig"}, {"v", "vee"}, {"2", "two"}, {"night", "knight"}} {
		if a, b := sound(pair[0]), sound(pair[1]); a != b {
			t.Errorf("%s sounds %q, %s %q", pair[0], a, pair[1], b)
		}
	}
	for _, pair := range [][2]string{{"parse", "server"}, {"open", "close"}} {
		if a, b := sound(pair[0]), sound(pair[1]); distance(a, b, 10, nil) < 1 {
			t.Errorf("%s and %s sound alike: %q %q", pair[0], pair[1], a, b)
		}
	}
}

// The bounded alignment cost equals the unbounded one, or exceeds the bound.
func TestDistanceIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.StringOfN(rapid.SampledFrom([]rune(soundLetters)), 0, 12, -1)
		a, b, limit := of.Draw(t, "a"), of.Draw(t, "b"), rapid.Float64Range(0, 5).Draw(t, "limit")
		whole := distance(a, b, 1e6, nil)
		if cut := distance(a, b, limit, nil); cut != whole && (cut <= limit-0.01 || whole <= limit-0.01) {
			t.Fatalf("%q %q: %v, bounded by %v it is %v", a, b, whole, limit, cut)
		}
		if back := distance(b, a, 1e6, nil); fmt.Sprintf("%.2f", back) != fmt.Sprintf("%.2f", whole) {
			t.Fatalf("%q %q: %v and %v", a, b, whole, back)
		}
	})
}

func TestOfEqualNamesTheFirstCounts(t *testing.T) {
	v := New([]Term{{"parseConfig", Open}, {"ParseConfig", Symbol}, {"parse_config", File}}, nil)
	if got, changes := v.Correct("call parse config"); got != "call parseConfig" || !slices.Equal(changes, []Change{{"parse config", "parseConfig"}}) {
		t.Errorf("%q %v", got, changes)
	}
	if len(v.Terms()) != 3 {
		t.Errorf("terms %v", v.Terms())
	}
}

// TestUndoneChangesAreNotMade: the words stay in any case and punctuation, and other
// changes to the name are still made.
func TestUndoneChangesAreNotMade(t *testing.T) {
	v := known().Without([]Change{{"parse config v two", "parseConfigV2"}, {"cube cuttle", "kubectl"}, {"eighty eighty", "8080"}})
	for heard, want := range map[string]string{
		"does the function Parse config, v two fail": "does the function Parse config, v two fail",
		"run cube cuttle":                  "run cube cuttle",
		"port eighty-eighty":               "port eighty-eighty",
		"port eighty eighty one":           "port 8081",
		"why does pars config vee to fail": "why does parseConfigV2 fail",
		"open main dot go":                 "open main.go",
	} {
		if got, _ := v.Correct(heard); got != want {
			t.Errorf("%q became %q, want %q", heard, got, want)
		}
	}
	if got, _ := known().Correct("run cube cuttle"); got != "run kubectl" {
		t.Errorf("the vocabulary itself makes %q of it", got)
	}
	var off *Vocabulary
	if off.Without([]Change{{"a", "b"}}) != nil {
		t.Error("without corrections there is a vocabulary")
	}
}
