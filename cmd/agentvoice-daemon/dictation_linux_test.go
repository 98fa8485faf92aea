//go:build cgo && !race

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

// spokenFor is five minutes in make full.
var spokenFor = flag.Duration("spoken", 45*time.Second, "length of the speech that is dictated to talk")

// listener is a chat service that records what users say, and takes as long as a hosted model.
type listener struct {
	mu   sync.Mutex
	said [][]string // the user's messages of each request
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var said []string
	for _, m := range req.Messages {
		if m.Role == "user" {
			said = append(said, m.Content)
		}
	}
	l.mu.Lock()
	l.said = append(l.said, said)
	l.mu.Unlock()
	select {
	case <-time.After(1500 * time.Millisecond):
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprint(w, `data: {"choices":[{"delta":{"content":"All right."},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// misheard is the recogniser's goal: per cent of the words.
const misheard = 4

// TestSpeechIsWhole: minutes of speech with short pauses, into the microphone of talk, reach the
// assistant whole and once, in each mode in which the user speaks freely. No word may be missing; of
// the words, as many may be misheard as of any (the recogniser's goal, docs/design/measurements.md):
// the five sentences repeat, so one that is misheard at some pauses ("change", as "chains") counts often.
func TestSpeechIsWhole(t *testing.T) {
	modelsOf(t)
	s := startSpeechServer(t)
	c := s.connect(false)
	pcm, said, wrongAlone := sentencesFor(t, c, *spokenFor)
	sendIt, err := speechdata.Resample(c.answer("Send it."), 24000, 16000)
	if err != nil {
		t.Fatal(err)
	}
	c.close()
	var all sync.WaitGroup
	for _, mode := range []string{"automatic", "patient", "phrase"} {
		sound := slices.Concat(make([]int16, 16000), pcm)
		if mode == "phrase" {
			sound = slices.Concat(sound, make([]int16, 16000), sendIt)
		}
		sound = append(sound, make([]int16, 16*16000)...)
		all.Go(func() {
			heard, requests, peak := dictateTo(t, sound, "--set", "agentvoice.turnDetection.mode="+mode)
			whole := strings.ReplaceAll(strings.Join(heard, " "), "main.go", "main dot go") // as it was said
			wrong, words := wer.Compute(strings.Join(said, " "), whole)
			missing := words - len(strings.Fields(whole))
			t.Logf("%s: %d of %d words wrong, %d in the sentences alone, %d missing; %d messages in %d requests; %d MB", mode, wrong, words, wrongAlone, missing, len(heard), requests, peak>>10)
			if missing != 0 || wrong > wrongAlone+words*misheard/100 || len(heard) != 1 {
				t.Errorf("%s: heard %q", mode, heard)
			}
		})
	}
	all.Wait()
}

// dictateTo plays a sound at 16 kHz into the microphone of talk. It returns the user's messages at
// the end, the number of requests, and the most memory that the daemon has taken, in KB.
func dictateTo(t *testing.T, sound []int16, args ...string) (said []string, requests, peak int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "speech.wav")
	if err := wavio.WriteMono(file, 16000, sound); err != nil {
		t.Error(err)
		return nil, 0, 0
	}
	l := &listener{}
	web := httptest.NewServer(l)
	defer web.Close()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{
		"talk", "--audio-in", "wav:" + file, "--audio-out", "null",
		"--agent", "openai", "--agent-endpoint", web.URL + "/v1",
	}, args...)...)
	memory := peakOf(t, cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("talk: %v\n%s", err, out)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.said) > 0 {
		said = l.said[len(l.said)-1]
	}
	for i, words := range said {
		said[i], _, _ = strings.Cut(words, "\n\n[") // a remark that they were dictated
	}
	return said, len(l.said), int(memory())
}
