//go:build cgo && !race

package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/turns/sound"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/live"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// mishap is what happens to a model once the server has passed on a number of samples.
type mishap struct {
	mu    sync.Mutex
	after int
	run   func() // what happens; nil before it is set, and afterwards
}

func (f *mishap) set(after int, run func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.after, f.run = after, run
}

// pass counts samples, and lets it happen.
func (f *mishap) pass(samples int) {
	f.mu.Lock()
	run := f.run
	if f.after -= samples; run == nil || f.after > 0 {
		f.mu.Unlock()
		return
	}
	f.run = nil
	f.mu.Unlock()
	run()
}

func (f *mishap) happened() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.run == nil
}

// The engines that production makes, with a mishap in the middle of what they are given or say.
type (
	faultyEars struct {
		hearing.Recognizer
		*mishap
	}
	faultyVoice struct {
		voice.Synthesizer
		*mishap
	}
	faultyTurnEnd struct {
		sound.Listener
		*mishap
	}
)

func (e faultyEars) Write(pcm []int16) error {
	e.pass(len(pcm))
	return e.Recognizer.Write(pcm)
}
func (e faultyEars) Settle() (hearing.Result, error) { return e.Recognizer.(hearing.Settler).Settle() }
func (e faultyEars) Resume() error                   { return e.Recognizer.(hearing.Settler).Resume() }

func (v faultyVoice) Speak(ctx context.Context, name, text string, emit func([]int16, int) error) error {
	return v.Synthesizer.Speak(ctx, name, text, func(pcm []int16, rate int) error {
		v.pass(len(pcm))
		return emit(pcm, rate)
	})
}

func (l faultyTurnEnd) Complete(done <-chan struct{}, pcm []int16) (float64, error) {
	l.pass(len(pcm))
	return l.Listener.Complete(done, pcm)
}

// speechServer is the embedded server with the engines of this machine, and a client.
type speechServer struct {
	*localrealtime.Server
	t                  *testing.T
	cfg                localrealtime.Config
	ears, mouth, turns mishap
	silero             faultySilero
	freed              chan struct{}
	url                string

	mu       sync.Mutex
	reported map[string][]error
}

func startSpeechServer(t *testing.T) *speechServer {
	t.Helper()
	s := &speechServer{t: t, reported: map[string][]error{}, freed: make(chan struct{}, 100)}
	report := func(what string) func(error) {
		return func(err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.reported[what] = append(s.reported[what], err)
		}
	}
	cfg, err := localEngines(zerolog.Nop(), live.SpeechChoice{Engine: protocol.VoiceNatural}, speechReports{
		report("hearing"), report("voice"), report("turn end"), report("detector"), func(language, _ string) { t.Errorf("language %q is unknown", language) }, func(time.Duration) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Detector = s.silero.detectors(report("detector"))
	ears, mouth, turnEnd := cfg.Recognizer, cfg.Synthesizer, cfg.Listener
	cfg.Recognizer = func() (hearing.Recognizer, error) {
		r, err := ears()
		if _, ok := r.(hearing.Settler); err != nil || !ok {
			return r, err
		}
		return faultyEars{r, &s.ears}, nil
	}
	cfg.Synthesizer = func() (voice.Synthesizer, error) {
		v, err := mouth()
		return faultyVoice{v, &s.mouth}, err
	}
	if turnEnd != nil {
		cfg.Listener = func() sound.Listener { return faultyTurnEnd{turnEnd(), &s.turns} }
	}
	cfg.APIKey, cfg.Log, cfg.KeepEngines = "test-key", zerolog.Nop(), 1
	cfg.EnginesFreed = func() { s.freed <- struct{}{} }
	if s.Server, err = localrealtime.New(cfg); err != nil {
		t.Fatal(err)
	}
	s.cfg = cfg
	web := httptest.NewServer(s.Handler())
	s.url = web.URL + "/v1/realtime?model=x"
	t.Cleanup(func() {
		web.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if pid := engineOf(os.Getpid(), "--worker"); pid != 0 {
			t.Errorf("process %d of the engines is left", pid)
		}
	})
	return s
}

// reports returns what was reported about a use since the last call.
func (s *speechServer) reports(of string) []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer delete(s.reported, of)
	return s.reported[of]
}

// speechClient is a session whose turns the client ends, unless detects.
type speechClient struct {
	t    *testing.T
	conn *websocket.Conn
}

func (s *speechServer) connect(detects bool) *speechClient {
	s.t.Helper()
	conn, _, err := websocket.Dial(s.t.Context(), s.url, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer test-key"}}})
	if err != nil {
		s.t.Fatal(err)
	}
	conn.SetReadLimit(1 << 20)
	s.t.Cleanup(func() { _ = conn.CloseNow() })
	c := &speechClient{s.t, conn}
	detection := "null"
	if detects {
		detection = `{"type":"semantic_vad","create_response":false,"interrupt_response":false}`
	}
	c.send(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"transcription":{"model":"x"},"turn_detection":` + detection + `}}}}`)
	c.until("session.updated")
	return c
}

func (c *speechClient) close() { _ = c.conn.Close(websocket.StatusNormalClosure, "") }

func (c *speechClient) send(event string) {
	c.t.Helper()
	if err := c.conn.Write(c.t.Context(), websocket.MessageText, []byte(event)); err != nil {
		c.t.Error(err)
	}
}

// until reads events up to one of a type. It returns that event's transcript, and the audio.
func (c *speechClient) until(kind string) (transcript string, pcm []int16) {
	c.t.Helper()
	for {
		_, data, err := c.conn.Read(c.t.Context())
		if err != nil {
			c.t.Fatal(err)
		}
		var e struct {
			Type, Delta, Transcript string
			Response                struct{ Status string }
		}
		if err := json.Unmarshal(data, &e); err != nil {
			c.t.Fatal(err)
		}
		switch {
		case e.Type == "error" || strings.HasSuffix(e.Type, ".failed") || e.Response.Status == "failed":
			c.t.Fatalf("%s", data)
		case e.Type == "response.output_audio.delta":
			b, err := base64.StdEncoding.DecodeString(e.Delta)
			if err != nil {
				c.t.Fatal(err)
			}
			pcm = append(pcm, engine.Samples(b)...)
		}
		if e.Type == kind {
			return e.Transcript, pcm
		}
	}
}

// say sends speech at 16 kHz, as fast as the server takes it.
func (c *speechClient) say(pcm []int16) {
	c.t.Helper()
	pcm, err := speechdata.Resample(pcm, 16000, 24000)
	if err != nil {
		c.t.Error(err)
	}
	for len(pcm) > 0 {
		n := min(len(pcm), 4800)
		c.send(fmt.Sprintf(`{"type":"input_audio_buffer.append","audio":%q}`, base64.StdEncoding.EncodeToString(engine.Bytes(pcm[:n]))))
		pcm = pcm[n:]
	}
}

// dictate sends speech as one turn and returns its transcript. It reads meanwhile, because the
// server hangs up a client that does not.
func (c *speechClient) dictate(pcm []int16) string {
	c.t.Helper()
	var sending sync.WaitGroup
	defer sending.Wait()
	sending.Go(func() {
		c.say(pcm)
		c.send(`{"type":"input_audio_buffer.commit"}`)
	})
	transcript, _ := c.until("conversation.item.input_audio_transcription.completed")
	return transcript
}

// answer has a text spoken and returns the audio at 24 kHz.
func (c *speechClient) answer(text string) []int16 {
	c.t.Helper()
	c.send(fmt.Sprintf(`{"type":"response.create","response":{"conversation":"none","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}]}}`, text))
	_, pcm := c.until("response.done")
	return pcm
}

// linked makes a folder of links to the files of a model, of which a test may replace any.
func linked(t *testing.T, models, from string) {
	t.Helper()
	to := filepath.Join(models, filepath.Base(from))
	files, err := os.ReadDir(from)
	if err := errors.Join(err, os.MkdirAll(to, 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.Symlink(filepath.Join(from, f.Name()), filepath.Join(to, f.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// modelsOf makes a folder with the models that users have. Smart Turn is not in a package of the
// setup, so a model with its input and output stands in, computed by the same process.
func modelsOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	ears, err := assets.Recogniser()
	mouth, missing := assets.Voice()
	if err := errors.Join(err, missing, tonemodel.TurnEnd(filepath.Join(dir, "tone-turn-end"))); err != nil {
		t.Fatal(err)
	}
	linked(t, dir, ears)
	linked(t, dir, mouth)
	t.Setenv(assets.ModelsEnv, dir)
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // for how fast the voice is
	return dir
}

func killEngines(t *testing.T) {
	t.Helper()
	p, err := os.FindProcess(engineOf(os.Getpid(), "--worker"))
	if err := errors.Join(err, p.Kill()); err != nil {
		t.Error(err)
	}
}

// spokenSentence returns a recording of package moonshine, at 16 kHz, and its words.
func spokenSentence(t *testing.T, name string) (pcm []int16, words string) {
	t.Helper()
	path := filepath.Join("..", "..", "audio", "hearing", "moonshine", "testdata", name)
	pcm, err := wavio.ReadAll(path + ".wav")
	text, missing := os.ReadFile(path + ".txt")
	if err := errors.Join(err, missing); err != nil {
		t.Fatal(err)
	}
	if pcm, err = speechdata.Resample(pcm, 48000, 16000); err != nil {
		t.Fatal(err)
	}
	return pcm, strings.TrimSpace(string(text))
}

// failingModel is a model of which the server's process is given a copy, and the file to damage.
type failingModel struct{ name, use, folder, file string }

var failingModels = []failingModel{
	{"Moonshine", "hearing", "moonshine-tiny-en", "encoder_model.ort"},
	{"Kokoro", "voice", "kokoro-82m-int8", "model.onnx"},
	{"Smart Turn", "turn end", "tone-turn-end", "model.onnx"},
}

// TestModelsFail: what happens to a model in the middle of a sentence or of an answer loses no
// word, what is replaced is reported, and the model works again as soon as it can be loaded.
func TestModelsFail(t *testing.T) {
	f := failing{answer: "All tests pass now. The branch is ready to merge. Nothing is left to do."}
	f.sentence, f.words = spokenSentence(t, "archive")
	f.fallback = withoutModels(t, f.sentence, f.words)
	f.dir = modelsOf(t)
	f.speechServer = startSpeechServer(t)
	f.client = f.connect(false)
	f.undisturbed = f.client.dictate(f.sentence)
	if wrong, _ := wer.Compute(f.words, f.undisturbed); wrong > 1 {
		t.Fatalf("undisturbed, %q is %q", f.words, f.undisturbed)
	}
	for _, m := range failingModels {
		path := filepath.Join(f.dir, m.folder, m.file)
		for _, row := range []failure{
			{"killed", func() { killEngines(t) }, false},
			{"damaged", func() { lose(t, path, []byte("not a model")) }, true},
			{"missing", func() { lose(t, path, nil) }, true},
			{"unloaded", func() { f.connect(false).close() }, false}, // by another session that ends
		} {
			t.Run(m.name+" "+row.name, func(t *testing.T) {
				f.fails(t, m.use, row)
				if row.lost {
					if err := os.Rename(path+".good", path); err != nil {
						t.Error(err)
					}
				}
				for tries := 0; !f.works(t, m.use); tries++ { // the backoff may not be over
					if tries == 10 {
						t.Fatal("the model does not come back")
					}
				}
			})
		}
	}
	// After the last conversation the models are freed, and loaded for the next one.
	f.HangUpAll()
	for engineOf(os.Getpid(), "--worker") != 0 {
		<-f.freed
	}
	if got := f.connect(false).dictate(f.sentence); got != f.undisturbed {
		t.Errorf("after the models were freed, %q is heard", got)
	}
}

// failing is a server whose models fail, and what is said to it.
type failing struct {
	*speechServer
	client        *speechClient
	dir           string // of the models
	sentence      []int16
	words, answer string
	undisturbed   string // what Moonshine hears of the sentence
	fallback      int    // words of it that PocketSphinx mishears
}

// failure is what happens to a model.
type failure struct {
	name string
	run  func()
	lost bool // the model cannot be loaded until it is restored
}

// lose replaces the file of a model, or removes it, and makes the engines load it again.
func lose(t *testing.T, path string, content []byte) {
	t.Helper()
	replaceFile(t, path, content)
	killEngines(t)
}

// replaceFile replaces a file, or removes it, and keeps the good one.
func replaceFile(t *testing.T, path string, content []byte) {
	t.Helper()
	err := os.Rename(path, path+".good")
	if content != nil {
		err = errors.Join(err, os.WriteFile(path, content, 0o600))
	}
	if err != nil {
		t.Error(err)
	}
}

// fails lets a failure happen to the model with a use, and checks what is heard and reported.
func (f *failing) fails(t *testing.T, use string, row failure) {
	t.Helper()
	f.losses(t)
	var heard string
	switch use {
	case "hearing":
		f.ears.set(len(f.sentence)/2, row.run)
		heard = f.client.dictate(f.sentence)
		if wrong, _ := wer.Compute(f.words, heard); !row.lost && heard != f.undisturbed || row.lost && wrong > f.fallback+2 {
			t.Errorf("heard %q, undisturbed %q, the fallback alone mishears %d", heard, f.undisturbed, f.fallback)
		}
	case "voice":
		f.mouth.set(2*24000, row.run) // in the second sentence
		c := f.connect(false)         // a voice that was late is not used again in its session
		pcm, err := speechdata.Resample(c.answer(f.answer), 24000, 16000)
		c.close()
		if err != nil {
			t.Fatal(err)
		}
		heard = f.client.dictate(pcm)
		if wrong, n := wer.Compute(f.answer, heard); wrong > n/5 {
			t.Errorf("%q is heard as %q", f.answer, heard)
		}
	default:
		if use == "detector" {
			f.silero.set(len(f.sentence)/2, row.run)
		} else {
			f.turns.set(1, row.run)
		}
		c := f.connect(true)
		c.say(slices.Concat(f.sentence, make([]int16, 3*16000)))
		heard, _ = c.until("conversation.item.input_audio_transcription.completed")
		c.close()
		if wrong, _ := wer.Compute(f.words, heard); wrong > 1 {
			t.Errorf("heard %q, undisturbed %q", heard, f.undisturbed)
		}
	}
	if !f.ears.happened() || !f.mouth.happened() || !f.turns.happened() || !f.silero.happened() {
		t.Fatal("nothing happened to the model")
	}
	told := f.losses(t)
	switch n, late := told[use], told["late"] > 0; { // a model that was not in use any more was not lost
	case row.lost && n == 0 && !(use == "voice" && late),
		row.name == "unloaded" && n > 0,
		row.name == "fails" && n != 1,
		row.name == "killed" && (n > 1 || use == "hearing" && n == 0):
		t.Errorf("reported: %v", told)
	}
	t.Logf("%q; reported %v", heard, told)
}

// losses returns how many losses of each use were reported since the last call. A voice that is
// late, because the machine is busy, is not lost: it is counted as late.
func (f *failing) losses(t *testing.T) map[string]int {
	t.Helper()
	of := map[string]int{}
	for _, use := range []string{"hearing", "voice", "turn end", "detector"} {
		for _, err := range f.reports(use) {
			if strings.Contains(err.Error(), "slower than it speaks") {
				of["late"]++
			} else {
				of[use]++
			}
			if strings.Contains(err.Error(), f.dir) {
				t.Errorf("the report names a folder: %v", err)
			}
		}
	}
	return of
}

// works reports whether a sentence is recognised as if nothing had happened, and the model with
// a use works without a report.
func (f *failing) works(t *testing.T, use string) bool {
	t.Helper()
	heard := f.client.dictate(f.sentence)
	f.losses(t)
	switch use {
	case "voice":
		c := f.connect(false)
		c.answer("All done.")
		c.close()
	case "detector":
		f.silero.set(1, func() {}) // that the server uses it
		c := f.connect(true)
		c.say(slices.Concat(f.sentence, make([]int16, 3*16000)))
		heard, _ = c.until("conversation.item.input_audio_transcription.completed")
		c.close()
		if !f.silero.happened() {
			return false
		}
	case "turn end":
		l := f.cfg.Listener()
		_, failed := l.Complete(nil, f.sentence)
		if err := errors.Join(failed, l.Close()); err != nil {
			return false
		}
	}
	return heard == f.undisturbed && f.losses(t)[use] == 0
}

// withoutModels returns how many words of a sentence PocketSphinx mishears where no model is
// installed, and checks that Flite speaks.
func withoutModels(t *testing.T, sentence []int16, words string) (wrong int) {
	t.Helper()
	t.Run("no models", func(t *testing.T) {
		silero, err := assets.Silero()
		runtime, missing := assets.ONNXRuntime()
		if err := errors.Join(err, missing); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for _, file := range []string{silero, runtime} {
			if err := os.Symlink(file, filepath.Join(dir, filepath.Base(file))); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv(assets.Env, dir)
		t.Setenv(assets.ModelsEnv, t.TempDir())
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		s := startSpeechServer(t)
		c := s.connect(false)
		heard := c.dictate(sentence)
		var n int
		if wrong, n = wer.Compute(words, heard); 2*wrong > n {
			t.Errorf("%q is heard as %q", words, heard)
		}
		if len(c.answer("All tests pass.")) < 12000 || len(s.reported) > 0 {
			t.Errorf("nothing is spoken, or reported: %v", s.reported)
		}
	})
	return wrong
}
