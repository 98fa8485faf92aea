package workspace

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestNamesThatShow(t *testing.T) {
	for name, want := range map[string]bool{
		"main.go": true, "my file.txt": true, "größe.md": true, "設定.ts": true, "日本語 名.md": true, "": true,
		"a\tb": false, "a\nb": false, "a\x00b": false, "a\x1b[31mb": false, "a\u007fb": false, "a\u00a0b": false, "a\u2003b": false, "a\u3000b": false,
		"a\u200bb": false, "a\u200db": false, "a\u202eb": false, "a\u2066b": false, "a\ufeffb": false, "a\u00adb": false, "a\u2800b": false,
		"a\u3164b": false, "a\uffa0b": false, "a\u115fb": false, "a\ufe0fb": false, "a\U000e0041b": false, "a\ue000b": false, "a\u2028b": false, "a\xffb": false,
	} {
		if got := Shows(name); got != want {
			t.Errorf("%q shows: %v, want %v", name, got, want)
		}
		if shown := Shown(name); !Shows(shown) || want && shown != name {
			t.Errorf("%q is shown as %q", name, shown)
		}
	}
}

// What is shown has only characters with a glyph, and spaces.
func TestShownNamesShow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shown := Shown(rapid.String().Draw(t, "name"))
		if !Shows(shown) {
			t.Fatalf("%q does not show", shown)
		}
		if at := strings.IndexFunc(shown, func(r rune) bool {
			return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp)
		}); at >= 0 {
			t.Fatalf("%q has a hidden character at %d", shown, at)
		}
	})
}
