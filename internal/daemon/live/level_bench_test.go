package live

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/turns"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

// BenchmarkDistant prints the curves behind distantBelow and leastOverNoise, over the recordings of
// scripts/speech.sh: of people's own utterances, the share that would count as distant, after one,
// three and nine others of theirs; and of other people's utterances, brought to the level of the
// first person and then 12, 18 and 24 dB down, the share that would not. Then the share of all
// utterances in noise that would count as distant as the first of a conversation.
//
//	go test -tags nolibopusfile -run - -bench Distant -benchtime 1x ./internal/daemon/live
func BenchmarkDistant(b *testing.B) {
	for b.Loop() {
		clips, err := speechdata.LoadAll(speechdata.Utterance, speechdata.Backchannel)
		if err != nil {
			b.Fatal(err)
		}
		people := loudnesses(clips)
		for _, n := range []int{1, 3, 9} {
			printCurve(people, n)
		}
		printNoise(clips)
	}
}

// printNoise prints the shares for voices in white noise.
func printNoise(clips []*speechdata.Clip) {
	random := rand.New(rand.NewPCG(1, 2))
	limits, ratios := []float64{6, 9, 12, 15}, []float64{20, 15, 12, 10, 8, 5}
	fmt.Printf("first utterance\n| dB above the noise | %v: least %v |\n", ratios, limits)
	for _, ratio := range ratios {
		distant := make([]int, len(limits))
		for _, c := range clips {
			voice, _ := turns.LevelOfVoice(framesOf(c.PCM))
			rms := 32768 * math.Pow(10, (voice-ratio)/20)
			noise := make([]int16, noiseFrames*audio.FrameSamples)
			for i := range noise {
				noise[i] = int16(max(-32768, min(32767, rms*random.NormFloat64())))
			}
			mixed := slices.Clone(c.PCM[c.Onset:c.End])
			for i := range mixed {
				mixed[i] = int16(max(-32768, min(32767, float64(mixed[i])+rms*random.NormFloat64())))
			}
			level, _ := turns.LevelOfVoice(framesOf(mixed))
			for i, limit := range limits {
				if level < quantile(framesOf(noise), 1, 4)+limit {
					distant[i]++
				}
			}
		}
		fmt.Printf("| %.0f |", ratio)
		for _, n := range distant {
			fmt.Printf(" %.1f %% |", 100*float64(n)/float64(len(clips)))
		}
		fmt.Println()
	}
}

// framesOf returns the levels of the whole frames.
func framesOf(pcm []int16) (frames []float64) {
	for ; len(pcm) >= audio.FrameSamples; pcm = pcm[audio.FrameSamples:] {
		frames = append(frames, audio.LevelOf(pcm[:audio.FrameSamples]).RMS)
	}
	return frames
}

// person is the levels of the utterances of one voice.
type person struct{ levels []float64 }

func loudnesses(clips []*speechdata.Clip) (people []person) {
	at := map[string]int{}
	for _, c := range clips {
		i, known := at[c.Voice]
		if !known {
			i = len(people)
			at[c.Voice], people = i, append(people, person{})
		}
		if level, ok := turns.LevelOfVoice(framesOf(c.PCM)); ok {
			people[i].levels = append(people[i].levels, level)
		}
	}
	return people
}

// printCurve prints the shares for a history of n utterances.
func printCurve(people []person, n int) {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	var own, other []float64 // dB above the median of the history
	for i, p := range people {
		if len(p.levels) < 4 {
			continue
		}
		for range 2000 {
			order := random.Perm(len(p.levels))
			history := make([]float64, 0, n)
			for _, j := range order[1:min(n+1, len(order))] {
				history = append(history, p.levels[j])
			}
			own = append(own, p.levels[order[0]]-quantile(history, 1, 2))
			q := people[random.IntN(len(people))]
			for len(q.levels) < 4 || &q.levels[0] == &people[i].levels[0] {
				q = people[random.IntN(len(people))]
			}
			other = append(other, q.levels[random.IntN(len(q.levels))]-quantile(q.levels, 1, 2)+quantile(p.levels, 1, 2)-quantile(history, 1, 2))
		}
	}
	below := func(levels []float64, down, limit float64) float64 {
		count := 0
		for _, l := range levels {
			if l-down < -limit {
				count++
			}
		}
		return 100 * float64(count) / float64(len(levels))
	}
	fmt.Printf("after %d utterances\n| dB below | own | others, 12 dB down | 18 dB | 24 dB |\n", n)
	for limit := 6.0; limit <= 20; limit += 2 {
		fmt.Printf("| %.0f | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", limit, below(own, 0, limit), 100-below(other, 12, limit), 100-below(other, 18, limit), 100-below(other, 24, limit))
	}
}
