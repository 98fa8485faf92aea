package vocab

import (
	"slices"
	"strings"
	"testing"
)

func TestListsAreRead(t *testing.T) {
	terms, replacements := ParseList("kubectl, parseConfigV2\ncube cuttle = kubectl, = x, y =")
	if !slices.Equal(terms, []Term{{"kubectl", Own}, {"parseConfigV2", Own}}) || !slices.Equal(replacements, []Replacement{{"cube cuttle", "kubectl"}}) {
		t.Errorf("the setting: %v %v", terms, replacements)
	}
	terms, replacements = ParseFile("# Words\n\nWhat we say, and how it is written.\n\n- `pgvector`\r\n* jay son -> JSON\n  + ohm nibus → omnibus\n")
	if !slices.Equal(terms, []Term{{"pgvector", Own}}) || !slices.Equal(replacements, []Replacement{{"jay son", "JSON"}, {"ohm nibus", "omnibus"}}) {
		t.Errorf("the file: %v %v", terms, replacements)
	}
	terms, _ = ParseFile(strings.Repeat("- word\n", 100_000))
	if len(terms) != maxList {
		t.Errorf("%d entries of a file without end, want %d", len(terms), maxList)
	}
}
