package spoken_test

import (
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// Text whose spoken form differs from its written form, in each language.
func TestWrittenWords(t *testing.T) {
	for _, c := range []struct{ locale, source, want string }{
		{"en", "It uses 1 MB, then 12.5 MB.", "It uses 1 megabyte, then 12.5 megabytes."},
		{"en", "It takes 60s or 5 ms (up to 35%).", "It takes 60 seconds or 5 milliseconds (up to 35 percent)."},
		{"en", "parseConfigV2 is in main.go:42.", "parse config V2 is in main dot go line 42."},
		{"en", "Set max_size ≥ 3, see #12.", "Set max size at least 3, see number 12."},
		{"en", "Use v1.2.3 & GitHub on macOS.", "Use version 1.2.3 and GitHub on mac OS."},
		{"en", "The ms field, 5 of them, and s.", "The ms field, 5 of them, and s."},
		{"en", "If a && b or x != y.", "If a and b or x is not y."},
		{"en", "Read src/app/main.ts and and/or not.", "Read src slash app slash main dot ts and and/or not."},
		{"de", "Es sind 1 GB, 35 % und ≥ 3.", "Es sind 1 Gigabyte, 35 Prozent und mindestens 3."},
		{"ja", "サイズは 12 MB で、v1.2.3 です。", "サイズは 12 メガバイト で、バージョン 1.2.3 です。"},
	} {
		if got := strings.Join(texts(chunk(spoken.Options{Locale: c.locale}, c.source)), " "); got != c.want {
			t.Errorf("%s: %q is said\n%q, want\n%q", c.locale, c.source, got, c.want)
		}
	}
}

// A diff is summarised by its changes, in each language.
func TestDiffsByWhatChanged(t *testing.T) {
	const diff = "```diff\n--- a/src/main.go\n+++ b/src/main.go\n@@ -1 +1,2 @@\n-old\n+new\n+more\n same\n```\n"
	for locale, want := range map[string]string{
		"en": "A diff of main dot go, 2 lines added and 1 removed, in the panel.",
		"de": "Ein Diff von main Punkt go, 2 Zeilen hinzugefügt und 1 entfernt, im Fenster.",
		"ja": "main ドット goの差分です。2行追加、1行削除。パネルに表示しています。",
	} {
		if got := texts(chunk(spoken.Options{Locale: locale}, diff)); len(got) != 1 || got[0] != want {
			t.Errorf("%s: said %q, want %q", locale, got, want)
		}
	}
	if got := texts(chunk(spoken.Options{}, "```diff\n+one\n```\n")); got[0] != "A diff, 1 line added and 0 removed, in the panel." {
		t.Errorf("said %q", got)
	}
	if got := texts(chunk(spoken.Options{Locale: "ja-JP"}, "```go\na\nb\n```\n")); got[0] != "Goのブロックが2行あります。パネルに表示しています。" {
		t.Errorf("said %q", got)
	}
}
