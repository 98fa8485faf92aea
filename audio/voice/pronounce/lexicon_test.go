package pronounce

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestListsHaveOnlyKnownSymbols checks every pronunciation of every list, and that the compact
// form keeps each of them.
func TestListsHaveOnlyKnownSymbols(t *testing.T) {
	symbols := vocabulary(t)
	for _, v := range []Variant{American, British} {
		d := dictionary(t, v)
		for i, name := range v.Files() {
			data, err := os.ReadFile(filepath.Join(modelDir(t), name))
			if err != nil {
				t.Fatal(err)
			}
			var want map[string]any
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			n := 0
			d.lists[i].each(func(word string, e entry) {
				n++
				base, ok := want[word].(string)
				if !ok {
					variants := want[word].(map[string]any)
					base = variants["DEFAULT"].(string)
					for part, p := range variants {
						if p, ok := p.(string); ok && e.as(part) != p {
							t.Errorf("%s: %q as %s is %q, want %q", name, word, part, e.as(part), p)
						}
						if c := foreign(symbols, e.as(part)); c != 0 {
							t.Errorf("%s: %q has the unknown symbol %q", name, word, c)
						}
					}
				}
				if e.base != base {
					t.Errorf("%s: %q is %q, want %q", name, word, e.base, base)
				}
				if found, ok := d.lists[i].find(word); !ok || found != e {
					t.Errorf("%s: %q is not found", name, word)
				}
				if c := foreign(symbols, e.base); c != 0 {
					t.Errorf("%s: %q has the unknown symbol %q", name, word, c)
				}
			})
			if n != len(want) {
				t.Errorf("%s: %d words of %d", name, n, len(want))
			}
		}
	}
}

// TestDevelopersWords checks the embedded list: every word has a pronunciation of known
// symbols in both variants, and every respelling consists of words that are listed.
func TestDevelopersWords(t *testing.T) {
	symbols := vocabulary(t)
	own := parseDevelopersWords()
	if len(own) < 150 {
		t.Errorf("only %d words", len(own))
	}
	for _, v := range []Variant{American, British} {
		d := dictionary(t, v)
		for word, spoken := range own {
			p, ok := d.developers(word)
			if !ok || p == "" || strings.Contains(p, "  ") || strings.TrimSpace(p) != p {
				t.Errorf("%q is %q", word, p)
			}
			if c := foreign(symbols, p); c != 0 {
				t.Errorf("%q has the unknown symbol %q: %s", word, c, p)
			}
			respelling, ok := strings.CutPrefix(spoken, "= ")
			if !ok {
				continue
			}
			for w := range strings.FieldsSeq(respelling) {
				if _, ok := d.lookUp(w); !ok && !(len(w) == 1 && isUpper(w[0])) {
					if _, ok := d.inflected(w); !ok {
						t.Errorf("%q is respelled with the unlisted %q", word, w)
					}
				}
			}
		}
	}
}

func TestMalformedListsAreErrors(t *testing.T) {
	for _, data := range []string{"", "[]", `{"a"`, `{"a": 5}`, `{"a": "b"`, `{"a": "b" "c": "d"}`, `{"a": {"DEFAULT": 1}}`, `{"a": "\u0041"}`} {
		if _, err := New(American, []byte(data)); !errors.Is(err, errList) {
			t.Errorf("%s: %v", data, err)
		}
	}
	d, err := New(American, []byte(`{"cat": "kˈæt", "read": {"DEFAULT": "ɹˈid", "VBD": "ɹˈɛd", "NOUN": null}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Phonemes("cat"); got != "kˈæt" {
		t.Error(got)
	}
}

func TestLoadNamesFilesWithoutFolders(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(dir, American)
	if err == nil || !strings.Contains(err.Error(), "us_gold.json") || strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
	for _, name := range American.Files() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err = Load(dir, American); err == nil || !strings.Contains(err.Error(), "us_gold.json") || strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
}

func BenchmarkLoad(b *testing.B) {
	dir := modelDir(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(dir, American); err != nil {
			b.Fatal(err)
		}
	}
}
