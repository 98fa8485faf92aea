//go:build cgo && room

package localrealtime

import (
	"fmt"
	"slices"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

// TestBackgroundFigures prints what both sides make of each sentence with sounds in the background,
// from 1.5 s before it to 5 s after it: turns that end more than a second late or not at all, turns
// that begin after it, and how much later than in silence it ends. The sounds are the talkers of
// the package's tests, and those of scripts/speech.sh that are on this machine.
//
//	go test -tags nolibopusfile,room -run BackgroundFigures -v ./audio/localrealtime
func TestBackgroundFigures(t *testing.T) {
	sounds := map[string]func(*speechdata.Clip) []int16{"talkers": func(c *speechdata.Clip) []int16 { return talker(t, c) }}
	for name, kind := range map[string]speechdata.Kind{"passages": speechdata.Passage, "music": speechdata.Music, "keys": speechdata.Noise} {
		var pcm []int16
		for _, r := range speechdata.All(kind) {
			if c, err := r.Load(); err == nil && (kind != speechdata.Passage || r.Language == "en") {
				pcm = append(pcm, c.PCM...)
			}
		}
		if len(pcm) > 0 {
			sounds[name] = func(*speechdata.Clip) []int16 { return pcm }
		}
	}
	e := newEars(t)
	silences := map[string]heardScene{}
	fmt.Printf("| sound, dB below | words | swallowed | invented | later, p50 / p90 | client: swallowed | invented | later |\n")
	for name, sound := range sounds {
		for _, below := range []float64{20, 30, 40} {
			for _, words := range []string{"show me the last commit", "the last commit"} {
				var sides [2]backgroundFigures
				for _, c := range recordedSentences(t) {
					s := silentScene(c, nil)
					silence, known := silences[c.ID+words]
					if !known {
						silence = e.hear(t, s, words)
						silences[c.ID+words] = silence
					}
					heard := e.hear(t, s.with(sound(c), below), words)
					sides[0].add(silence.server, heard.server, s)
					sides[1].add(silence.client, heard.client, s)
				}
				fmt.Printf("| %s, %v | %s | %v | %v |\n", name, below, words, &sides[0], &sides[1])
			}
		}
	}
}

// backgroundFigures are those of one side.
type backgroundFigures struct {
	swallowed, invented int
	later               []int64
}

func (f *backgroundFigures) add(silence, heard []sceneTurn, s scene) {
	want, _ := of(silence, s)
	got, invented := of(heard, s)
	f.invented += invented
	if got.to < 0 || got.to > want.to+1000 {
		f.swallowed++
		return
	}
	f.later = append(f.later, got.to-want.to)
}

func (f *backgroundFigures) String() string {
	slices.Sort(f.later)
	return fmt.Sprintf("%d | %d | %d / %d ms", f.swallowed, f.invented, f.later[len(f.later)/2], f.later[len(f.later)*9/10])
}
