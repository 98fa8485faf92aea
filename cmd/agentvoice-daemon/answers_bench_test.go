//go:build cgo

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

// noAnswers are said like short answers, and are none: they go on, take back, ask, or only sound
// alike.
var noAnswers = []string{
	"Yes, but later.", "Yes, and push it.", "Yes and no.", "Sure, but run the tests first.", "No wait, yes.", "Not yet.", "Yesterday.",
	"Guess what.", "Yes men.", "Shore.", "Sherlock.", "You bet it isn't.", "Dough.", "Know how.", "Note that.", "Nobody.", "Now.",
	"Knows it.", "Stomping.", "Shop.", "Stop sign.", "Top ten.", "Don't know.", "Weight loss.", "Weighted.", "Wades in.", "Hold the line up.",
	"Hang it on a nail.", "Paws.", "Positive.", "Okra.", "Okay, but not now.", "Okay, wait.", "Ok button.", "Hockey.", "All writers.",
	"All right, then undo it.", "Sounds weird.", "Sounds good but wrong.", "That's fiction.", "That's the file.", "Go away.", "Go ahead of me.",
	"Do it over.", "Do it wrong.", "Allow list.", "Allowance.", "Deny list.", "The knife.", "I'm not sure.", "Insure it.", "Maybe.",
	"Is it safe?", "Which one?", "What for?", "Hmm, no idea.", "Mmm, not really.", "A ham.", "Enough tests?", "Cancel culture.", "Quiet mode.",
}

// BenchmarkAnswerCurve says the expected answers and what is none of them in eight voices, cut as a
// client's microphone has them, and counts for each pair of thresholds the answers that are taken,
// and what is taken for another answer or wrongly for one:
//
//	go test -tags nolibopusfile -run - -bench AnswerCurve -benchtime 1x ./cmd/agentvoice-daemon
func BenchmarkAnswerCurve(b *testing.B) {
	local := findSpeech(nil, "en")
	if local.err != nil || local.hearing == nil || local.voice == nil {
		b.Fatalf("the default recogniser and voice are needed; run make build: %v", local.err)
	}
	ear, err := hearing.Engine(local.hearing)()
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = ear.Close() }()
	ear.(hearing.AnswerTaker).SetExpected(spoken.Answers)
	mouth, err := onlyVoice(local.voice)()
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = mouth.Close() }()
	voices := mouth.Voices()[:8]
	for b.Loop() {
		var heard []heardSound
		phrase := 0
		say := func(group int, text string, times int) {
			for k := range times {
				clip := sayClip(b, mouth, voices[(phrase+k*len(voices)/times)%len(voices)], text)
				r, _, err := hear(b.Context(), ear, clip, false)
				if err != nil {
					b.Fatal(err)
				}
				if r.Answer != nil {
					heard = append(heard, heardSound{group, text, r})
				}
			}
			phrase++
		}
		for g, group := range spoken.Answers {
			for _, text := range group {
				say(g, text, 4)
			}
		}
		for _, text := range noAnswers {
			say(-1, text, 2)
		}
		printCurve(heard)
	}
}

// sayClip returns text in a voice, with a faint noise around it, as a client's microphone has it.
func sayClip(b *testing.B, mouth voice.Synthesizer, name, text string) []int16 {
	noise := rand.New(rand.NewPCG(1, 1)) // #nosec G404 -- a sound
	floor := func(d time.Duration) []int16 {
		pcm := make([]int16, audio.Samples(d))
		for i := range pcm {
			pcm[i] = int16(8 * noise.NormFloat64())
		}
		return pcm
	}
	pcm := floor(400 * time.Millisecond)
	err := mouth.Speak(b.Context(), name, text, func(piece []int16, rate int) error {
		piece, err := speechdata.Resample(piece, rate, audio.SampleRate)
		pcm = append(pcm, piece...)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	clip, err := voiced(append(pcm, floor(600*time.Millisecond)...))
	if err != nil {
		b.Fatal(err)
	}
	return clip
}

// heardSound is a sound and what was heard of it. Group is that of what was said in
// spoken.Answers, or -1.
type heardSound struct {
	group  int
	said   string
	result hearing.Result
}

func groupOf(phrase string) int {
	return slices.IndexFunc(spoken.Answers, func(g []string) bool { return slices.Contains(g, phrase) })
}

func printCurve(heard []heardSound) {
	behinds := []float64{2, 3, 4, 5, 6, 7, 8}
	yes, okay := groupOf("Yes."), groupOf("Okay.")
	for _, allows := range [][]int{{yes}, {okay}, {0, 1, 2, 3, 4, 5}} {
		said := 0
		for _, h := range heard {
			if slices.Contains(allows, h.group) {
				said++
			}
		}
		fmt.Printf("\nof %d sounds that say one of %q, %d others: taken, others taken for it\nlead", said, firstOf(allows), len(heard)-said)
		for _, behind := range behinds {
			fmt.Printf("%14s", fmt.Sprintf("behind <= %g", behind))
		}
		fmt.Println()
		for lead := 2.0; lead <= 8; lead++ {
			fmt.Printf("%4g", lead)
			for _, behind := range behinds {
				right, wrong := 0, 0
				for _, h := range heard {
					a := h.result.Answer
					switch got := groupOf(a.Phrase); {
					case a.Lead < lead || a.Behind > behind || !slices.Contains(allows, got):
					case got == h.group:
						right++
					default:
						wrong++
					}
				}
				fmt.Printf("%14s", fmt.Sprintf("%d, %d", right, wrong))
			}
			fmt.Println()
		}
	}
	fmt.Println("\nwrong with a lead of at least 2 and at most 8 behind:")
	for _, h := range heard {
		if a := h.result.Answer; a.Lead >= 2 && a.Behind <= 8 && groupOf(a.Phrase) != h.group {
			fmt.Printf("  %-28q as %-16q lead %4.1f, behind %4.1f, written %q\n", h.said, a.Phrase, a.Lead, a.Behind, h.result.Text)
		}
	}
}

func firstOf(groups []int) (names []string) {
	for _, g := range groups {
		names = append(names, spoken.Answers[g][0])
	}
	return names
}
