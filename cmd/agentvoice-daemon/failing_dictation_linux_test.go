//go:build cgo && !race

package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

// dictation is ten minutes in make full.
var dictation = flag.Duration("dictation", 90*time.Second, "length of the turn that is dictated")

// TestLongDictation: one long turn is whole, although the recogniser is killed in it, and the
// memory of its process does not grow with it.
func TestLongDictation(t *testing.T) {
	modelsOf(t)
	s := startSpeechServer(t)
	c := s.connect(false)
	pcm, said, wrongAlone := sentencesFor(t, c, *dictation)
	s.ears.set(len(pcm)/5, func() { killEngines(t) })
	heard := c.dictate(pcm)
	peak := peakMemory(t, engineOf(os.Getpid(), "--worker"))
	wrong, words := wer.Compute(strings.Join(said, " "), heard)
	missing := words - len(strings.Fields(heard))
	t.Logf("%d of %d words wrong, %d in the sentences alone, %d missing; %d reports; %d MB", wrong, words, wrongAlone, missing, len(s.reports("hearing")), peak>>10)
	// A piece has more than 20 words.
	if wrong > wrongAlone+words/100 || missing > 20 || missing < -20 {
		t.Errorf("heard %q", heard)
	}
	if peak > 400<<10 {
		t.Errorf("the process has taken %d MB", peak>>10)
	}
}

// sentencesFor returns sentences of developers with short pauses, at 16 kHz, until they take some time,
// their words, and how many of them are misheard where each sentence stands alone.
func sentencesFor(t *testing.T, c *speechClient, length time.Duration) (pcm []int16, said []string, wrongAlone int) {
	t.Helper()
	alone := map[string]int{}
	for i := 0; len(pcm) < int(length.Seconds()*16000); i++ {
		name := []string{"archive", "async", "main", "undo", "unsure"}[i%5]
		sound, words := spokenSentence(t, name)
		if i < 5 {
			alone[name], _ = wer.Compute(words, c.dictate(sound))
		}
		pcm, said, wrongAlone = append(append(pcm, sound...), make([]int16, 6400)...), append(said, words), wrongAlone+alone[name]
	}
	return pcm, said, wrongAlone
}

// peakMemory returns the most memory that a process has taken, in KB.
func peakMemory(t *testing.T, pid int) (kb int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatal(err)
	}
	return kb
}
