package hosted

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/memhttp"
)

// canary is the user's key: it must not appear in an error or a log.
const canary = "sk-canary-0123456789"

const testPatience = time.Minute

// stall is the stall timeout of the tests, in virtual time.
const stall = 5 * time.Second

// virtually runs a subtest in a synctest bubble.
func virtually(t *testing.T, name string, test func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// listener records its calls.
type listener struct {
	mu    sync.Mutex
	heard map[audio.SegmentID]int64
	calls chan string
}

func newListener() *listener {
	return &listener{heard: map[audio.SegmentID]int64{}, calls: make(chan string, 64)}
}

func (l *listener) SpeechAudio(seg audio.SegmentID, pcm []int16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.heard[seg] == 0 {
		l.calls <- "audio " + seg.String()
	}
	l.heard[seg] += int64(len(pcm))
}
func (l *listener) SpeechEnded(seg audio.SegmentID) { l.calls <- "ended " + seg.String() }
func (l *listener) SpeechFailed(seg audio.SegmentID, code string) {
	l.calls <- "failed " + seg.String() + " " + code
}

func (l *listener) samples(seg audio.SegmentID) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heard[seg]
}

func (l *listener) want(t *testing.T, calls ...string) {
	t.Helper()
	for _, want := range calls {
		select {
		case got := <-l.calls:
			if got != want {
				t.Fatalf("the listener was told %q, want %q", got, want)
			}
		case <-time.After(testPatience):
			t.Fatalf("the listener was not told %q", want)
		}
	}
}

func (l *listener) none(t *testing.T) {
	t.Helper()
	select {
	case got := <-l.calls:
		t.Fatalf("the listener was told %q", got)
	default:
	}
}

func id(gen, seq uint32) audio.SegmentID { return audio.SegmentID{Gen: gen, Seq: seq} }

func segment(gen, seq uint32) realtime.Segment {
	return realtime.Segment{ID: id(gen, seq), Turn: 1, Text: "All tests pass."}
}

// tone is 100 ms of audio at the rate of the format pcm.
func tone() []byte {
	pcm := make([]int16, pcmRate/10)
	for i := range pcm {
		pcm[i] = int16(1000 * (i%48 - 24))
	}
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, pcm)
	return b.Bytes()
}

// voiceOf returns a voice of a service, and its log. It must be called in a synctest bubble,
// so that the stall timeout takes no real time.
func voiceOf(t *testing.T, handler http.HandlerFunc) (*Queue, *listener, *bytes.Buffer) {
	t.Helper()
	service := memhttp.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client is gone
		handler(w, r)
	}))
	row, _ := provider.Of(provider.OpenAI)
	var log bytes.Buffer
	speak, err := NewSpeaker(Config{
		Provider: row, BaseURL: memhttp.URL, Model: "tts-1", HTTPClient: service, Stall: stall,
		Credentials: func(context.Context) (realtime.Credential, error) { return realtime.Credential{Value: canary}, nil },
		Log:         zerolog.New(&log),
	}, provider.Voice{Voice: "alloy"}, "")
	if err != nil {
		t.Fatal(err)
	}
	l := newListener()
	q := NewQueue(speak, l, QueueConfig{Slowest: 0.25, Fastest: 4})
	t.Cleanup(func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
		if strings.Contains(log.String(), canary) || strings.Contains(log.String(), "tests pass") {
			t.Errorf("the log holds the key or the text: %s", log.String())
		}
	})
	return q, l, &log
}

// misbehaviour is a fault of a service and its expected outcome.
type misbehaviour struct {
	answers []http.HandlerFunc // one per request; the last one for all further requests
	calls   []string
	tries   int
}

func misbehaviours() map[string]misbehaviour {
	pcm := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "audio/pcm")
		_, _ = w.Write(tone())
	}
	status := func(code int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			// Repeat the key, as some proxies do.
			_, _ = fmt.Fprintf(w, `{"error":{"code":"bad_%s","message":"%s"}}`, canary, canary)
		}
	}
	return map[string]misbehaviour{
		"drops mid-stream": {[]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
			pcm(w)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}}, []string{"audio 1.1", "failed 1.1 connectionLost"}, 1},
		"drops before the audio": {[]http.HandlerFunc{
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			func(w http.ResponseWriter, _ *http.Request) { pcm(w) },
		}, []string{"audio 1.1", "ended 1.1"}, 2},
		"another type": {[]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "audio/mpeg")
			_, _ = w.Write(tone())
		}}, []string{"failed 1.1 protocolError"}, 1},
		"a page": {[]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte("<html>sign in</html>"))
		}}, []string{"failed 1.1 protocolError"}, 1},
		"a broken WAV": {[]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "audio/wav")
			_, _ = w.Write([]byte("RIFF0000WAVEfmt "))
		}}, []string{"failed 1.1 protocolError"}, 1},
		"silence":                 {[]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {}}, []string{"failed 1.1 speechNoAudio"}, 1},
		"busy, for a moment":      {[]http.HandlerFunc{status(429, "Retry-After-Ms", "10"), func(w http.ResponseWriter, _ *http.Request) { pcm(w) }}, []string{"audio 1.1", "ended 1.1"}, 2},
		"busy, for long":          {[]http.HandlerFunc{status(429, "Retry-After", "60")}, []string{"failed 1.1 rateLimited"}, 1},
		"the key is refused":      {[]http.HandlerFunc{status(401)}, []string{"failed 1.1 authentication"}, 1},
		"no such endpoint":        {[]http.HandlerFunc{status(404)}, []string{"failed 1.1 callRejected"}, 1},
		"a redirect":              {[]http.HandlerFunc{status(307, "Location", "https://other.example/")}, []string{"failed 1.1 protocolError"}, 1},
		"out of order, then well": {[]http.HandlerFunc{status(500), status(503), func(w http.ResponseWriter, _ *http.Request) { pcm(w) }}, []string{"audio 1.1", "ended 1.1"}, 3},
		"out of order":            {[]http.HandlerFunc{status(502)}, []string{"failed 1.1 connectionFailed"}, 3},
		"never answers":           {[]http.HandlerFunc{func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}, []string{"failed 1.1 speechTimeout"}, 3},
		"never ends": {[]http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			pcm(w)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}}, []string{"audio 1.1", "failed 1.1 speechTimeout"}, 1},
		"an error that never ends": {[]http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(403)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}}, []string{"failed 1.1 accessDenied"}, 1},
	}
}

// A service that misbehaves costs at most a segment: each ends exactly once, with a
// code that describes the failure, and is requested again only while none of it was
// played.
func TestServicesThatMisbehave(t *testing.T) {
	for name, c := range misbehaviours() {
		virtually(t, name, func(t *testing.T) {
			var mu sync.Mutex
			tries := 0
			q, l, _ := voiceOf(t, func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				tries++
				answer := c.answers[min(tries, len(c.answers))-1]
				mu.Unlock()
				if r.Header.Get("Authorization") != "Bearer "+canary {
					t.Errorf("the key is %q", r.Header.Get("Authorization"))
				}
				answer(w, r)
			})
			q.Speak(segment(1, 1))
			l.want(t, c.calls...)
			mu.Lock()
			defer mu.Unlock()
			if tries != c.tries {
				t.Errorf("%d requests, want %d", tries, c.tries)
			}
			l.none(t)
		})
	}
}

// A service that sends endless audio neither occupies the voice forever nor exhausts
// memory: audio that runs ahead of real time waits.
func TestAudioWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan struct{})
		q, l, _ := voiceOf(t, func(w http.ResponseWriter, r *http.Request) {
			defer close(gone)
			w.Header().Set("Content-Type", "audio/pcm")
			for {
				if _, err := w.Write(tone()); err != nil || r.Context().Err() != nil {
					return
				}
			}
		})
		q.Speak(segment(1, 1))
		l.want(t, "audio 1.1", "failed 1.1 protocolError")
		if n := l.samples(id(1, 1)); n > longest(segment(1, 1)) {
			t.Errorf("%d samples were heard", n)
		}
		select {
		case <-gone:
		case <-time.After(testPatience):
			t.Error("the service goes on sending")
		}
	})
}

// An interruption closes the request immediately; nothing more of the generation is
// played, and the next one is spoken.
func TestCancelIsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan time.Time, 1)
		q, l, _ := voiceOf(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "audio/pcm")
			_, _ = w.Write(tone())
			_ = http.NewResponseController(w).Flush()
			if l := len(gone); l == 0 {
				select {
				case <-r.Context().Done():
					gone <- time.Now()
				case <-time.After(100 * time.Millisecond):
					// the second request ends by itself
				}
			}
		})
		q.Speak(segment(1, 1))
		q.Speak(segment(1, 2))
		l.want(t, "audio 1.1")
		cancelled := time.Now()
		q.CancelSpeech(1)
		heard := l.samples(id(1, 1))
		q.Speak(segment(1, 3)) // too late
		q.Speak(segment(2, 1))
		l.want(t, "audio 2.1", "ended 2.1")
		select {
		case at := <-gone:
			t.Logf("the request was closed after %v", at.Sub(cancelled))
		case <-time.After(testPatience):
			t.Error("the request was not closed")
		}
		if l.samples(id(1, 1)) != heard {
			t.Error("audio came after the interruption")
		}
		l.none(t)
	})
}

// Audio is delivered at most lead ahead of real time, and an interruption ends the
// wait.
func TestAudioWaitsForItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListener()
		q := NewQueue(func(_ context.Context, _ realtime.Segment, emit func([]int16, int) error) error {
			piece := make([]int16, audio.SampleRate/10)
			for range 400 { // 40 s
				if err := emit(piece, audio.SampleRate); err != nil {
					return err
				}
			}
			return nil
		}, l, QueueConfig{})
		defer func() { _ = q.Close() }()
		q.Speak(segment(1, 1))
		synctest.Wait()
		if got := audio.Duration(l.samples(id(1, 1))); got != lead {
			t.Errorf("%v of audio was handed over at once, want %v", got, lead)
		}
		time.Sleep(5500 * time.Millisecond)
		synctest.Wait()
		if got, want := audio.Duration(l.samples(id(1, 1))), lead+5500*time.Millisecond; got != want {
			t.Errorf("%v of audio was handed over within 5.5 s, want %v", got, want)
		}
		q.CancelSpeech(1)
		q.Speak(segment(2, 1))
		synctest.Wait()
		if got := audio.Duration(l.samples(id(2, 1))); got != lead {
			t.Errorf("%v of the next answer was handed over at once, want %v", got, lead)
		}
		q.CancelSpeech(2)
	})
}

// Positions follow the audio itself: as many samples as the service sent, at our rate,
// regardless of how they were split, both in PCM and in WAV of unknown size.
func TestPositionsAreThoseOfTheAudio(t *testing.T) {
	wav := append([]byte("RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"),
		0xc0, 0x5d, 0, 0, 0x80, 0xbb, 0, 0, 2, 0, 16, 0, 'd', 'a', 't', 'a', 0xff, 0xff, 0xff, 0xff)
	for name, c := range map[string]struct {
		media string
		head  []byte
		want  int64
	}{
		"PCM":                      {"audio/pcm", nil, audio.SampleRate / 10},
		"PCM of no type":           {"", nil, audio.SampleRate / 10},
		"PCM at another rate":      {"audio/pcm;rate=48000", nil, audio.SampleRate / 20},
		"WAV":                      {"audio/wav", wav, audio.SampleRate / 10},
		"WAV that is called bytes": {"application/octet-stream", wav, audio.SampleRate / 10},
	} {
		virtually(t, name, func(t *testing.T) {
			q, l, _ := voiceOf(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.media)
				body := append(bytes.Clone(c.head), tone()...)
				for _, n := range []int{1, 2, 6, 44, 997} { // odd sizes
					_, _ = w.Write(body[:n])
					_ = http.NewResponseController(w).Flush()
					body = body[n:]
				}
				_, _ = w.Write(body)
			})
			q.Speak(segment(1, 1))
			l.want(t, "audio 1.1", "ended 1.1")
			if got := l.samples(id(1, 1)); got != c.want {
				t.Errorf("%d samples, want %d", got, c.want)
			}
		})
	}
}

// Without a key, or with a base URL that would expose it, nothing is sent.
func TestKeysStayWhereTheyAre(t *testing.T) {
	row, _ := provider.Of(provider.OpenAI)
	for _, base := range []string{"http://voices.example", "https://u:" + canary + "@voices.example", "voices.example"} {
		if _, err := NewSpeaker(Config{Provider: row, BaseURL: base}, provider.Voice{}, ""); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", base, err)
		}
	}
	for name, credential := range map[string]func(context.Context) (realtime.Credential, error){
		"none": func(context.Context) (realtime.Credential, error) { return realtime.Credential{}, nil },
		"one that cannot be found": func(context.Context) (realtime.Credential, error) {
			return realtime.Credential{}, errors.New("no keyring")
		},
	} {
		speak, err := NewSpeaker(Config{Provider: row, BaseURL: "http://127.0.0.1:1", Credentials: credential}, provider.Voice{}, "")
		if err != nil {
			t.Fatal(err)
		}
		var e *realtime.Error
		if err := speak(t.Context(), segment(1, 1), nil); !errors.As(err, &e) || e.Code != realtime.CodeCredentialsMissing {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The error for an unreachable service does not contain its URL.
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	_ = ln.Close()
	speak, err := NewSpeaker(Config{Provider: row, BaseURL: "http://" + addr + "/" + canary, Credentials: func(context.Context) (realtime.Credential, error) {
		return realtime.Credential{Value: canary}, nil
	}}, provider.Voice{}, "")
	if err != nil {
		t.Fatal(err)
	}
	var e *realtime.Error
	if err := speak(t.Context(), segment(1, 1), nil); !errors.As(err, &e) || e.Code != realtime.CodeConnectionFailed || strings.Contains(err.Error(), canary) {
		t.Errorf("%v", err)
	}
}

// A segment that is next comes before those that were not requested yet.
func TestNextSegmentComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []uint32
		begin := make(chan struct{})
		q := NewQueue(func(_ context.Context, s realtime.Segment, emit func([]int16, int) error) error {
			<-begin
			order = append(order, s.ID.Seq)
			return emit(make([]int16, audio.FrameSamples), audio.SampleRate)
		}, newListener(), QueueConfig{})
		defer func() { _ = q.Close() }()
		q.Speak(segment(1, 1))
		synctest.Wait()
		q.Speak(segment(1, 2))
		next := segment(1, 9)
		next.Next = true
		q.Speak(next)
		close(begin)
		synctest.Wait()
		if want := []uint32{1, 9, 2}; !slices.Equal(order, want) {
			t.Errorf("spoken in the order %v, want %v", order, want)
		}
	})
}
