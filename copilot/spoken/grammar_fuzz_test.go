package spoken

import "testing"

// FuzzGrammar reads a user's file of phrases: it adds phrases, and takes none of the answers away.
func FuzzGrammar(f *testing.F) {
	for _, s := range []string{"## slower\n- easy\n- yes\n", "## yes\n- no\n", "## openFile\n- {name} | open {name} {name}\n", "- x\n## \n- \n", "## (filler)\n- yes | no\n", "## (backchannel)\n- no\n"} {
		f.Add(s, "yes")
	}
	f.Fuzz(func(t *testing.T, text, said string) {
		g := NewGrammar(text)
		for _, answer := range []string{"yes", "no", "stop"} {
			if got, want := g.Classify(answer), Classify(answer); got != want {
				t.Fatalf("%q is %+v, was %+v", answer, got, want)
			}
		}
		_ = g.Classify(said)
		_ = g.Begins(said)
		_ = g.Problems()
	})
}
