package realtime

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// localAI is a LocalAI server, scripted after its public documentation and source: it does not name
// the item of a turn that begins or ends, its times are those of its clock, and it streams if its
// pipeline is configured to.
type localAI struct {
	*fakeService
	c *Client
	r *recorder
}

// onLocalAI dials a scripted LocalAI over a transport.
func onLocalAI(t *testing.T, over func(Config) Config) localAI {
	t.Helper()
	f := newFakeService(t)
	cfg := over(f.config(LocalAI))
	cfg.TurnDetection.Type = ServiceDetection
	f.sockets = cfg.Networks != nil
	c, r := connect(t, f, cfg)
	return localAI{f, c, r}
}

// LocalAI really sends these ids: "event_TODO" and "TODO".
func (s localAI) begins(ms int) {
	s.emit(fmt.Sprintf(`{"type":"input_audio_buffer.speech_started","event_id":"event_TODO","audio_start_ms":%d,"item_id":""}`, ms))
}

func (s localAI) stops(ms int) {
	s.emit(fmt.Sprintf(`{"type":"input_audio_buffer.speech_stopped","event_id":"event_TODO","audio_end_ms":%d,"item_id":""}`, ms))
}

func (s localAI) commits(item string) {
	s.emit(fmt.Sprintf(`{"type":"input_audio_buffer.committed","event_id":"event_TODO","previous_item_id":"TODO","item_id":%q}`, item))
}

func (s localAI) caption(item, text string) {
	s.emit(fmt.Sprintf(`{"type":"conversation.item.input_audio_transcription.delta","event_id":"event_TODO","item_id":%q,"content_index":0,"delta":%q}`, item, text))
}

func (s localAI) transcribes(item, text string) {
	s.emit(fmt.Sprintf(`{"type":"conversation.item.input_audio_transcription.completed","event_id":"event_TODO","item_id":%q,"content_index":0,"transcript":%q}`, item, text))
}

func (s localAI) discards(item string) {
	s.emit(fmt.Sprintf(`{"type":"conversation.item.input_audio_transcription.failed","event_id":"event_TODO","item_id":%q,"content_index":0,
		"error":{"type":"transcription_discarded","message":"turn discarded before commit"}}`, item))
}

// fails sends an error, none of which names what it is about.
func (s localAI) fails(code string) { s.emit(errorEvent(code, "event_TODO")) }

// errorEvent is an error event of LocalAI.
func errorEvent(code, event string) string {
	return fmt.Sprintf(`{"type":"error","event_id":%q,"error":{"type":"invalid_request_error","code":%q,"message":"backend error: %s","event_id":%[1]q}}`, event, code, canary)
}

// extensions sends events of LocalAI that no other service has.
func (s localAI) extensions() {
	for _, e := range []string{
		`{"type":"conversation.item.speaker","item_id":"item_a","speaker":{"name":"Jeremy","id":"spk_1","labels":{"role":"owner"},"confidence":92.0,"distance":0.1,"matched":true}}`,
		`{"type":"conversation.item.input_audio_transcription.segment","item_id":"item_a","content_index":0,"id":"seg_0","speaker":"A","start":0,"end":1.5,"text":"Run"}`,
		`{"type":"conversation.item.sound_detection","item_id":"item_s","tags":[]}`,
		`{"type":"localai.classifier.result","scores":[],"option":"","threshold":0.85}`,
		`{"type":"conversation.item.added","item":{"id":"item_a","type":"message","role":"user"}}`,
	} {
		s.emit(e)
	}
}

// With semantic_vad the words arrive while the user speaks, under the item that the commit reuses;
// with server_vad they arrive after it. The final words replace them, and those of a discarded turn
// are retracted.
func TestLocalAIPipelineStreams(t *testing.T) {
	bothWays(t, func(t *testing.T, over func(Config) Config) {
		s := onLocalAI(t, over)
		s.begins(100)
		s.caption("item_a", "run")
		s.caption("item_a", " the test")
		s.extensions()
		s.stops(900)
		s.commits("item_a")
		s.begins(1500) // before the words of the one before it
		s.transcribes("item_a", "Run the tests.")
		s.r.want(t, "started turn_1 4800", `partial turn_1 "run"`, `partial turn_1 "run the test"`, "stopped turn_1 43200",
			"started turn_2 72000", `final turn_1 "Run the tests."`)
		s.stops(2000)
		s.commits("item_b")
		s.caption("item_b", "all")
		s.caption("item_b", " of them")
		s.transcribes("item_b", "All of them.")
		s.r.want(t, "stopped turn_2 96000", `partial turn_2 "all"`, `partial turn_2 "all of them"`, `final turn_2 "All of them."`)
		s.begins(3000)
		s.caption("item_c", "hm")
		s.discards("item_c")
		s.r.want(t, "started turn_3 144000", `partial turn_3 "hm"`, `final turn_3 ""`)
		s.begins(4000)
		s.begins(5000) // the one before was dropped without a word
		s.stops(5500)
		s.commits("item_d")
		s.transcribes("item_d", "Go on.")
		s.r.want(t, "started turn_4 192000", "started turn_4 240000", "stopped turn_4 264000", `final turn_4 "Go on."`)
		if n := s.c.Stats(); n.Malformed+n.ServiceErrors+n.Unsolicited != 0 {
			t.Errorf("%+v", n)
		}
	})
}

// Without turn detection, the item of a commit is not the one that is transcribed.
func TestLocalAITranscribesACommit(t *testing.T) {
	s := onLocalAI(t, overSocket)
	s.commits("item_a")
	s.transcribes("item_b", "Run the tests.")
	s.fails("transcription_failed")
	s.r.want(t, `final item_b "Run the tests."`, "nottranscribed turn_1 transcription_failed")
}

// A speaker whom the server refuses is no fault of the session, and neither is a turn that was not
// transcribed: it is the oldest without a transcript.
func TestLocalAIRefusesASpeaker(t *testing.T) {
	bothWays(t, func(t *testing.T, over func(Config) Config) {
		s := onLocalAI(t, over)
		s.begins(100)
		s.stops(900)
		s.commits("item_a")
		s.transcribes("item_a", "Delete the tests.")
		s.begins(1500)
		s.fails("speaker_not_authorized")
		s.stops(1900)
		s.commits("item_b")
		s.begins(2500)
		s.fails("transcription_failed")
		s.r.want(t, "started turn_1 4800", "stopped turn_1 43200", `final turn_1 "Delete the tests."`, "started turn_2 72000", "refused turn_1",
			"stopped turn_2 91200", "started turn_3 120000", "nottranscribed turn_2 transcription_failed")
		if n := s.c.Stats().ServiceErrors; n != 1 {
			t.Errorf("%d service errors, want that of the transcription", n)
		}
	})
}

// An answer whose words and audio arrive in pieces is played whole, and ends once, when it was
// delivered.
func TestLocalAIAnswersInPieces(t *testing.T) {
	bothWays(t, func(t *testing.T, over func(Config) Config) {
		s := onLocalAI(t, over)
		s.c.Speak(seg(1, 1))
		s.expect("response.create")
		s.emit(created("r1", seg(1, 1)))
		for _, word := range []string{"All", " tests", " pass", "."} {
			s.emit(fmt.Sprintf(`{"type":"response.output_audio_transcript.delta","response_id":"r1","item_id":"item_x","output_index":0,"content_index":0,"delta":%q}`, word))
		}
		const pieces, packets = 3, 5
		raw, err := base64.StdEncoding.DecodeString(deltaOf("r1", pieces*packets*packetSamples*time.Second/audio.SampleRate).delta)
		if err != nil {
			t.Fatal(err)
		}
		size := len(raw)/pieces + 1 // a sample may be in two pieces
		for i := range pieces {
			if s.sockets {
				piece := base64.StdEncoding.EncodeToString(raw[i*size : min((i+1)*size, len(raw))])
				s.emit(fmt.Sprintf(`{"type":"response.output_audio.delta","response_id":"r1","item_id":"item_x","output_index":0,"content_index":0,"delta":%q}`, piece))
			} else {
				s.sound(packets, i == 0)
			}
			if i == 0 {
				s.r.want(t, "audio 1.1")
			}
			echo(s.fakeService, s.r) // the next piece is not ready yet
		}
		for _, kind := range []string{"output_audio_transcript.done", "output_audio.done", "content_part.done", "output_item.done"} {
			s.emit(fmt.Sprintf(`{"type":"response.%s","response_id":"r1","item_id":"item_x","transcript":"All tests pass."}`, kind))
		}
		s.r.none(t)
		s.emit(done("r1", "completed"))
		s.r.want(t, "ended 1.1")
		if got, want := s.r.samples(1, 1), pieces*packets*packetSamples; got != want {
			t.Errorf("%d samples were delivered, want %d", got, want)
		}
		if n := s.c.Stats(); n.Mismatches+n.Malformed != 0 {
			t.Errorf("%+v", n)
		}
		s.c.Speak(seg(1, 2))
		s.expect("response.create")
		s.emit(created("r2", seg(1, 2)))
		s.fails("tts_error") // and no response.done
		s.r.want(t, "failed 1.2 tts_error")
		s.r.none(t)
	})
}

// Without its opus backend, LocalAI refuses calls, and takes a WebSocket. The network does not count as
// one that blocks media.
func TestLocalAIWithoutOpus(t *testing.T) {
	f := newFakeService(t)
	f.sockets = true
	f.http = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if !strings.HasSuffix(r.URL.Path, "/calls") {
			return false
		}
		http.Error(w, `{"error":"opus backend not available"}`, http.StatusInternalServerError)
		return true
	}
	cfg := f.config(LocalAI)
	cfg.Networks = &Networks{name: func() string { return "home" }}
	c, _ := connect(t, f, cfg)
	if s := c.Stats(); s.Path != PathWebSocket || s.Fallback || len(cfg.Networks.blocked) != 0 {
		t.Errorf("the call goes over %q, fallback %v, blocked %v", s.Path, s.Fallback, cfg.Networks.blocked)
	}
}

// A pipeline that cannot start says so instead of session.created, and closes the connection. That is
// final, and the reason says what to do; nothing of the server's text is in it.
func TestLocalAIPipelineDoesNotStart(t *testing.T) {
	for code, want := range map[string]struct{ code, remedy string }{
		"model_load_error":  {CodePipelineFailed, "see the log of the server"},
		"invalid_pipeline":  {CodePipelineFailed, "see the log of the server"},
		"voice_gate_error":  {CodePipelineFailed, "see the log of the server"},
		"invalid_model":     {CodeModelUnavailable, "check the name of the model"},
		"something_unknown": {CodeProtocolError, "(something_unknown)"},
	} {
		t.Run(code, func(t *testing.T) {
			bothWays(t, func(t *testing.T, over func(Config) Config) {
				f := newFakeService(t)
				f.mute = true
				cfg := over(f.config(LocalAI))
				f.sockets = cfg.Networks != nil
				go func() {
					if f.sockets {
						conn := <-f.socket
						_ = conn.Write(t.Context(), 1, []byte(errorEvent(code, "")))
						_ = conn.CloseNow()
						return
					}
					f.emit(errorEvent(code, ""))
					for f.dc.BufferedAmount() > 0 && t.Context().Err() == nil { // closing does not wait for what was sent
						time.Sleep(time.Millisecond)
					}
					_ = f.dc.GracefulClose()
					_ = f.pc.Close()
				}()
				_, err := Dial(t.Context(), cfg, newRecorder())
				var e *Error
				if !errors.As(err, &e) || e.Code != want.code || e.Retryable || !strings.Contains(e.Message, want.remedy) {
					t.Fatalf("got %v, %+v", err, e)
				}
				if strings.Contains(e.Message, "\n") || !ofNetwork(e) && len(f.seen()) != 1 {
					t.Errorf("%d requests; %q", len(f.seen()), e.Message)
				}
				noSecret(t, err.Error())
			})
		})
	}
}

// A long answer that is generated before its first sound has not stalled: its words are a sign of life.
func TestWordsAreASignOfLife(t *testing.T) {
	s := newStage(false)
	s.do("speak 1.1")
	s.do("created r1 1.1")
	for range 5 {
		s.now = s.now.Add(stallTimeout - time.Second)
		s.alive("r1", s.now)
		s.settle(s.now)
	}
	if actions := s.take(); len(actions) != 0 {
		t.Errorf("%+v", actions)
	}
	s.now = s.now.Add(stallTimeout)
	if s.settle(s.now); len(s.take()) == 0 {
		t.Error("it waits forever")
	}
}
