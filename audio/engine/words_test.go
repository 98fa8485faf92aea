package engine_test

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

// unclear returns audio that sounds like one text, and slightly less like another of
// the same length.
func unclear(likely, other string) []int16 {
	pcm, second := tonemodel.Say(likely), tonemodel.Say(other)
	for i := range pcm {
		pcm[i] = int16(0.6*float64(pcm[i]) + 0.4*float64(second[i]))
	}
	return pcm
}

// TestHotWordsDecide checks that of two words that sound alike, a transducer recognises
// the one that the user is likely to say, and returns to its earlier result when the
// hot words are removed.
func TestHotWordsDecide(t *testing.T) {
	r := recognizers(t, hearing.Engine(newEngine(t, model(t, tonemodel.StreamingTransducer))))
	pcm := unclear("run pest now", "run gest now")
	for _, c := range []struct {
		words []string
		want  string
	}{
		{nil, "run pest now"},
		{[]string{"gest"}, "run gest now"},
		{[]string{"parse config", "gest", "kube ctl"}, "run gest now"},
		{[]string{"größe", "gest"}, "run gest now"}, // the model lacks tokens for some
		{[]string{"pest"}, "run pest now"},
		{nil, "run pest now"},
	} {
		r.(hearing.WordTaker).SetWords(c.words)
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		if err := r.Write(pcm); err != nil {
			t.Fatal(err)
		}
		if result, err := r.Finish(); err != nil || result.Text != c.want {
			t.Errorf("with %q: heard %q, %v; want %q", c.words, result.Text, err, c.want)
		}
	}
}
