package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFolderIsTrustedOnce: a coding agent works in a folder after the user's answer or --trust, which
// is remembered; nothing else makes it work there.
func TestFolderIsTrustedOnce(t *testing.T) {
	root := t.TempDir()
	file, here, other := filepath.Join(root, "data", "trusted.json"), filepath.Join(root, "here"), filepath.Join(root, "other")
	for _, dir := range []string{here, other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct {
		dir, agent, typed string
		asks, flag        bool
		asked, works      bool
	}{
		{here, "offline", "", false, false, false, true},
		{here, "openai", "", false, false, false, true},
		{here, "acp:x", "", false, false, false, false}, // no terminal, no flag
		{here, "acp:x", "", true, false, true, false},   // the input ends
		{here, "acp:x", "no\n", true, false, true, false},
		{here, "acp:x", "yesterday\n", true, false, true, false},
		{here, "acp:x", "Y\n", true, false, true, true},
		{here, "acp:x", "", false, false, false, true}, // remembered
		{here, "gemini", "", false, false, false, true},
		{other, "acp:x", "", false, false, false, false}, // for that folder only
		{other, "acp:x", "", false, true, false, true},
		{other, "acp:x", "", true, false, false, true},
	} {
		t.Chdir(c.dir)
		var f talkFlags
		f.agent, f.trusted = c.agent, c.flag
		var out bytes.Buffer
		err := f.trust(t.Context(), file, strings.NewReader(c.typed), c.asks, &out)
		if (err == nil) != c.works || (out.Len() > 0) != c.asked {
			t.Errorf("%d: it works %v (%v), and the user was told %q", i, err == nil, err, &out)
		}
	}
	if info, err := os.Stat(file); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the answers is %v, %v", info, err)
	}
}

// TestKeysAnswer: typed lines allow or refuse, and nothing else does.
func TestKeysAnswer(t *testing.T) {
	var got []bool
	readKeys(strings.NewReader("\nmaybe\ny\nYES \nn\nno\nyes, but\n"), func(allowed bool) { got = append(got, allowed) })
	if len(got) != 4 || !got[0] || !got[1] || got[2] || got[3] {
		t.Errorf("the answers are %v", got)
	}
}
