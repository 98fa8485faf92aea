//go:build cgo && !race

package engine_test

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

// TestFiveHundredKills kills the recogniser with kill -9 at a random moment of each of
// 500 utterances, between two pieces of audio or while the final is computed. No
// utterance is lost, no word is repeated, and no file is left behind. A process that is
// killed after its reply may die during the next utterance, together with its
// successor. The fallback, here an engine that is not killed, then recognises that
// utterance.
func TestFiveHundredKills(t *testing.T) {
	const text, kills, piece = "do it again", 500, 1600
	pcm := tonemodel.Say(text)
	streaming, whole := model(t, tonemodel.StreamingCTC), model(t, tonemodel.TDT)
	e, other := newEngine(t, streaming, whole), hearing.Engine(newEngine(t, streaming, whole))
	files := t.TempDir()
	t.Setenv("TMPDIR", files) // of the children
	reported, twice := 0, 0
	fallback := func() (hearing.Recognizer, error) { twice++; return other() }
	r := recognizers(t, hearing.WithFallback(hearing.Engine(e), fallback, func(error) { reported++ }))
	random := rand.New(rand.NewPCG(15, 500))
	lost, wrong, answered := 0, 0, 0
	for range kills {
		at := random.IntN(len(pcm) + 4*piece) // the last four pieces represent the final
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(pcm); n += piece {
			if at >= n && at < n+piece {
				kill(t, e)
			}
			if err := r.Write(pcm[n:min(n+piece, len(pcm))]); err != nil {
				t.Fatal(err)
			}
		}
		var killed chan struct{}
		if at >= len(pcm) {
			delay := time.Duration(random.IntN(5_000)) * time.Microsecond
			process := e.Child()
			killed = make(chan struct{})
			time.AfterFunc(delay, func() {
				_ = process.Kill() // it may have exited
				close(killed)
			})
		}
		before := reported
		result, err := r.Finish()
		switch {
		case err != nil || result.Text == "":
			lost++
		case result.Text != text:
			wrong++
		}
		if killed != nil {
			<-killed
			if reported == before {
				answered++ // it had replied before it was killed
			}
		}
	}
	t.Logf("%d kills: %d lost, %d not as they were said, %d failures covered, %d after the answer, %d utterances heard by the fallback", kills, lost, wrong, reported, answered, twice)
	if lost+wrong > 0 || reported < kills*3/4 || twice > kills/10 {
		t.Errorf("%d utterances lost, %d not as they were said, %d failures covered, %d by the fallback", lost, wrong, reported, twice)
	}
	if left, err := os.ReadDir(files); err != nil || len(left) > 0 {
		t.Errorf("files %v are left, %v", left, err)
	}
}
