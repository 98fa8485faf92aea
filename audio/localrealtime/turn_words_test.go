//go:build cgo

package localrealtime

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/turns"
	"github.com/agentvoice/agentvoice-daemon/audio/turns/sound"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// TestWordsCountUpToThePause checks that the words of a recogniser with a backlog do
// not count for a pause that it has not reached.
func TestWordsCountUpToThePause(t *testing.T) {
	c := &call{srv: &Server{}}
	c.turns.open = &utterance{item: "item", words: &transcriptState{start: 1000, words: "stop", heard: 5000}}
	for pos, want := range map[int64]string{5000: "stop", 6000: "stop", 6001: ""} {
		if got := c.wordsUpTo(pos); got.Words != want || got.Behind != (want == "") {
			t.Errorf("a pause at %d has the words %q (behind: %v), want %q", pos, got.Words, got.Behind, want)
		}
	}
	for name, u := range map[string]*utterance{"no utterance": nil, "an utterance that is not recognised live": {item: "item"}} {
		c.turns.open = u
		if got := c.wordsUpTo(0); got != (turns.Evidence{}) {
			t.Errorf("%s: the evidence is %+v, want no words to wait for", name, got)
		}
	}
}

// TestTheEchoOfAnAnswerIsNoTalker: echo that is louder than the user does not make the user a voice in
// the background, while the answer may be heard and after it.
func TestTheEchoOfAnAnswerIsNoTalker(t *testing.T) {
	c := &call{srv: &Server{}}
	c.turns.endpoint = vad.NewEndpointer(vad.EndpointerConfig{Silence: 300 * time.Millisecond})
	windows := func(n int, amplitude int16, speech float32) (began bool) {
		pcm := make([]int16, vad.WindowSamples)
		for i := range pcm {
			pcm[i] = amplitude
		}
		for range n {
			c.turns.pos += vad.WindowSamples
			edge, ok := c.pushVoice(window{pcm: pcm, speech: speech})
			began = began || ok && edge.Kind == vad.SpeechStart
		}
		return began
	}
	user := func() bool { began := windows(50, 300, 0.9); windows(20, 0, 0); return began }
	user()
	c.turns.answering = true
	windows(50, 3000, 0.9)
	windows(20, 0, 0)
	if !user() {
		t.Error("the user cannot interrupt the answer")
	}
	windows(300, 3000, 0.9)
	c.turns.answering, c.turns.answered = false, c.turns.pos
	windows(20, 3000, 0.9) // the echo of its end
	windows(20, 0, 0)
	if !user() {
		t.Error("the user is not heard after the answer")
	}

	// Nor is an answer a pause of somebody who talks all the time.
	windows(10, 30, 0.9)
	user()
	c.turns.answering = true
	windows(300, 30, 0.9)
	c.turns.answering, c.turns.answered = false, c.turns.pos
	windows(20, 0, 0)
	windows(20, 0, 0)
	if windows(50, 30, 0.9) {
		t.Error("the talker begins a turn after the answer")
	}
}

// TestProfilesOfEndOfTurn checks that the profiles differ, and that silence alone
// ignores the words.
func TestProfilesOfEndOfTurn(t *testing.T) {
	delay := func(td turnDetection, words string) time.Duration {
		return td.delays().Judge(turns.Evidence{Words: words}).Delay
	}
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
	if td := defaultTurnDetection("server_vad"); td.delays() != turns.Silence(500*time.Millisecond) {
		t.Errorf("server_vad ends a turn by %v", td.delays())
	}
}

// hears is a recogniser that always returns the same words.
type hears struct {
	hearing.Recognizer
	words string
}

func (h hears) Partial() string { return h.words }

// recognising makes the recogniser return the words whatever it gets.
func recognising(words string) func(*Config) {
	return func(c *Config) {
		engine := c.Recognizer
		c.Recognizer = func() (hearing.Recognizer, error) {
			r, err := engine()
			return hears{r, words}, err
		}
	}
}

// semantic is a session whose words decide the end of a turn.
const semantic = `{"type":"realtime","audio":{"input":{"transcription":{},"turn_detection":{"type":"semantic_vad","create_response":false,"interrupt_response":false}}}}`

// TestAPauseIsJudgedByTheWords checks that the silence that ends a turn depends on the
// words before it.
func TestAPauseIsJudgedByTheWords(t *testing.T) {
	for words, wait := range map[string]int64{"show me the last commit": 250, "the last commit": 700, "show me the": 1500} {
		t.Run(words, func(t *testing.T) {
			h := start(t, recognising(words))
			p := h.call(t, semantic)
			p.say(slices.Concat(quiet(600), tone(800, listenRate), quiet(2000)), time.Millisecond)
			for _, e := range p.until("conversation.item.input_audio_transcription.completed") {
				if e.Type == "input_audio_buffer.speech_stopped" {
					// The next partial result after the end of the voice is at most 128
					// ms of audio away.
					near(t, "audio_end_ms", e.AudioEndMs, 1400+wait+64, 128)
				}
			}
		})
	}
}

// TestAPauseAfterUnfinishedWords: it must be as long as in the middle of a sentence, whatever the words
// look like.
func TestAPauseAfterUnfinishedWords(t *testing.T) {
	for words, wait := range map[string]int64{"yes": 1500, "no": 250} {
		t.Run(words, func(t *testing.T) {
			h := start(t, recognising(words), func(c *Config) {
				c.Unfinished = func(words string) bool { return words == "yes" }
			})
			p := h.call(t, semantic)
			p.say(slices.Concat(quiet(600), tone(800, listenRate), quiet(2000)), time.Millisecond)
			for _, e := range p.until("conversation.item.input_audio_transcription.completed") {
				if e.Type == "input_audio_buffer.speech_stopped" {
					near(t, "audio_end_ms", e.AudioEndMs, 1400+wait+64, 128)
				}
			}
		})
	}
}

// TestAPauseWaitsForTheWordsOfReceivedAudio checks that a recogniser with a backlog does
// not cut off an unfinished sentence: the turn does not end before the recogniser reaches
// the pause, unless the pause is long enough for any words.
func TestAPauseWaitsForTheWordsOfReceivedAudio(t *testing.T) {
	for words, end := range map[string]int64{
		"show me the":             1400 + 1500, // of silence
		"show me the last commit": 2600,        // when the recogniser catches up
	} {
		t.Run(words, func(t *testing.T) {
			h := start(t, recognising(words))
			h.engines.slow = make(chan struct{})
			catchUp := sync.OnceFunc(func() { close(h.engines.slow) })
			t.Cleanup(catchUp)
			p := h.call(t, semantic)
			p.ahead = true
			p.say(slices.Concat(quiet(600), tone(800, listenRate), quiet(1200)), time.Millisecond)
			p.awaitServer(vad.WindowSamples) // which it then waits to fill
			before := p.settled()
			if kinds := types(before); slices.Contains(kinds, "input_audio_buffer.speech_stopped") {
				t.Fatalf("the turn ended before the recogniser reached the pause: %v", kinds)
			}
			p.ahead = false
			catchUp()
			p.awaitServer(maxAhead)
			p.say(quiet(800), time.Millisecond)
			all := p.until("conversation.item.input_audio_transcription.completed")
			i := slices.Index(types(all), "input_audio_buffer.speech_stopped")
			near(t, "audio_end_ms", all[i].AudioEndMs, end+64, 128)
		})
	}
}

// joins is a recogniser that recognises utterances also together with those before.
type joins struct {
	hears
	pauses *[]int // before each utterance that was joined
	joined *bool
	forgot *int
}

func (j joins) Join(pause int) bool {
	*j.pauses, *j.joined = append(*j.pauses, pause), true
	return true
}

func (j joins) Forget() { *j.forgot++ }

func (j joins) Finish() (hearing.Result, error) {
	r, err := j.hears.Finish()
	r.Text = j.words
	if *j.joined {
		r.Joined = "all of it"
	}
	*j.joined = false
	return r, err
}

// TestUtterancesAreRecognisedAsOne: an utterance that may continue those before is recognised also
// together with them, if that is wanted. What comes much later, or elsewhere in the conversation, is not.
func TestUtterancesAreRecognisedAsOne(t *testing.T) {
	var goesOn atomic.Bool
	var pauses []int
	forgot := 0
	h := start(t, func(c *Config) {
		engine := c.Recognizer
		c.Recognizer = func() (hearing.Recognizer, error) {
			r, err := engine()
			return joins{hears{r, "show me the last commit"}, &pauses, new(bool), &forgot}, err
		}
		c.GoesOn = goesOn.Load
	})
	p := h.call(t, strings.Replace(semantic, `{`, `{"include":["`+includeJoined+`"],`, 1))
	var items []string
	say := func(before int) *joined {
		t.Helper()
		p.say(slices.Concat(quiet(before), tone(800, listenRate), quiet(500)), time.Millisecond)
		all := p.until("conversation.item.input_audio_transcription.completed")
		items = append(items, all[len(all)-1].ItemID)
		return all[len(all)-1].Joined
	}
	if say(600) != nil {
		t.Error("the first utterance is joined to nothing")
	}
	goesOn.Store(true)
	for n := 1; n <= 2; n++ {
		if j := say(1000); j == nil || j.Transcript != "all of it" || !slices.Equal(j.Items, items[:n]) {
			t.Errorf("utterance %d is joined to %+v, want %v", n+1, j, items[:n])
		}
	}
	if say(4000) != nil {
		t.Error("an utterance is joined to one that ended 4 s before")
	}
	goesOn.Store(false)
	if say(1000) != nil || len(pauses) != 2 {
		t.Error("an utterance is joined that does not go on")
	}
	for _, pause := range pauses { // between the end of the turn and what precedes the onset
		near(t, "the pause in ms", int64(pause)*1000/listenRate, 1000+500-250-64-300, 200)
	}

}

// sounds is a Listener with a fixed answer.
type sounds struct {
	complete float64
	err      error
	closed   chan struct{}
}

func (s sounds) Complete(done <-chan struct{}, pcm []int16) (float64, error) {
	if n := len(pcm); n == 0 || n > soundKept {
		return 0, errors.New("wrong length of audio")
	}
	if s.complete < 0 { // a slow Listener
		<-done
	}
	return s.complete, s.err
}

func (s sounds) Close() error {
	close(s.closed)
	return nil
}

// TestAPauseIsJudgedByItsSound checks that a Listener shifts the words' verdict, and
// that a slow or failing one has no effect.
func TestAPauseIsJudgedByItsSound(t *testing.T) {
	for name, tc := range map[string]struct {
		words string
		sounds
		wait int64
	}{
		"complete":     {"the last commit", sounds{complete: 0.9}, 250},
		"unfinished":   {"the last commit", sounds{complete: 0.1}, 1500},
		"contradicted": {"show me the", sounds{complete: 0.9}, 700},
		"fails":        {"the last commit", sounds{complete: 0.9, err: errors.New("it died")}, 700},
		"slow":         {"the last commit", sounds{complete: -1}, 700},
	} {
		t.Run(name, func(t *testing.T) {
			tc.closed = make(chan struct{})
			h := start(t, recognising(tc.words), func(c *Config) { c.Listener = func() sound.Listener { return tc.sounds } })
			p := h.call(t, semantic)
			p.ahead = tc.complete < 0 // the Listener does not answer
			p.say(slices.Concat(quiet(600), tone(800, listenRate), quiet(2000)), time.Millisecond)
			for _, e := range p.until("conversation.item.input_audio_transcription.completed") {
				if e.Type == "input_audio_buffer.speech_stopped" {
					near(t, "audio_end_ms", e.AudioEndMs, 1400+tc.wait+64, 128)
				}
			}
		})
	}
}

// stops is a recogniser that hears a full stop at each pause, with this probability.
type stops struct {
	hears
	stop float64
}

func (s stops) Settle() (hearing.Result, error) {
	return hearing.Result{Text: s.words + ".", Stop: &s.stop}, nil
}

func (s stops) Resume() error { return nil }

// TestAPauseIsJudgedByTheFullStop checks that the recogniser's probability of a full stop reaches the
// judgement, and that the log says what decided.
func TestAPauseIsJudgedByTheFullStop(t *testing.T) {
	for name, tc := range map[string]struct {
		words   string
		stop    float64
		wait    int64
		because string
	}{
		"full stop": {"the last commit", 0.95, 250, "full stop"},
		"uncertain": {"the last commit", 0.5, 700, "words"},
		"none":      {"show me the last commit", 0.1, 700, "full stop"},
		"open":      {"show me the", 0.95, 1500, "words"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			synctest.Test(t, func(t *testing.T) {
				v := newVirtualCall(t, func(c *Config) {
					c.Log = zerolog.New(&log)
					engine := c.Recognizer
					c.Recognizer = func() (hearing.Recognizer, error) {
						r, err := engine()
						return stops{hears{r, tc.words}, tc.stop}, err
					}
				})
				v.call.post(func() { v.call.onClientEvent([]byte(`{"type":"session.update","session":` + semantic + `}`)) })
				if err := v.call.loadDetector(); err != nil {
					t.Fatal(err)
				}
				for pcm := range slices.Chunk(slices.Concat(quiet(640), tone(800, listenRate), quiet(2000)), vad.WindowSamples) {
					if len(pcm) == vad.WindowSamples {
						v.call.hear(pcm)
					}
					time.Sleep(vad.WindowTime)
					synctest.Wait()
				}
				for len(v.events) > 0 {
					if e := <-v.events; e.Type == "input_audio_buffer.speech_stopped" {
						near(t, "audio_end_ms", e.AudioEndMs, 1440+tc.wait+32, 64)
					}
				}
			})
			if want := `"because":"` + tc.because + `"`; !strings.Contains(log.String(), want) {
				t.Errorf("the log has no %s: %s", want, log.String())
			}
		})
	}
}
