//go:build cgo

package localrealtime

import (
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/endturn"
)

// TestWordsCountUpToThePause: words of a recogniser that is behind say nothing of a
// pause that it has not heard yet.
func TestWordsCountUpToThePause(t *testing.T) {
	c := &call{transcripts: map[string]*transcriptState{"item": {start: 1000, words: "stop", heard: 5000}}}
	c.turns.open = &utterance{item: "item", transcribed: true}
	for pos, want := range map[int64]string{5000: "stop", 6000: "stop", 6001: ""} {
		if got := c.wordsUpTo(pos); got != want {
			t.Errorf("a pause at %d has the words %q, want %q", pos, got, want)
		}
	}
	c.turns.open = nil
	if got := c.wordsUpTo(0); got != "" {
		t.Errorf("without an utterance the words are %q", got)
	}
}

// TestProfilesOfEndOfTurn: the profiles differ, and silence alone knows no words.
func TestProfilesOfEndOfTurn(t *testing.T) {
	delay := func(td turnDetection, words string) time.Duration { return td.judge().Delay(words) }
	before := time.Duration(0)
	for _, eagerness := range []string{"high", "medium", "low"} {
		td := defaultTurnDetection("semantic_vad")
		td.Eagerness = &eagerness
		complete, unclear, open := delay(td, "stop"), delay(td, ""), delay(td, "open the")
		if !(before < complete && complete < unclear && unclear < open) {
			t.Errorf("%s waits %v, %v and %v", eagerness, complete, unclear, open)
		}
		before = complete
	}
	if td := defaultTurnDetection("server_vad"); td.judge() != endturn.Judge(endturn.Silence(500*time.Millisecond)) {
		t.Errorf("server_vad ends a turn by %v", td.judge())
	}
}
