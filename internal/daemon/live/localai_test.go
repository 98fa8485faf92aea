//go:build cgo

package live

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// pipeline is a LocalAI server whose pipeline streams, scripted after its public documentation and
// source. It has no opus backend, so calls come over a WebSocket, and it takes what is loud for speech.
type pipeline struct {
	*httptest.Server
	t       *testing.T
	broken  atomic.Bool // a model of it does not load
	refuses atomic.Bool // it does not accept the speaker
	dials   atomic.Int64

	mu      sync.Mutex
	session []map[string]any // the session.update of the client
}

const (
	pipelineRate = 24000
	saidWords    = "run the unit tests"
)

func newPipeline(t *testing.T) *pipeline {
	t.Helper()
	p := &pipeline{t: t}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		p.Close()
	})
	return p
}

func (p *pipeline) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/realtime" {
		http.Error(w, `{"error":"opus backend not available"}`, http.StatusInternalServerError)
		return
	}
	p.dials.Add(1)
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(-1)
	s := &pipelineSession{p: p, conn: conn}
	if p.broken.Load() {
		s.send(`{"type":"error","error":{"type":"invalid_request_error","code":"model_load_error","message":"Failed to load pipeline models: tts: out of memory"}}`)
		return
	}
	s.send(`{"type":"session.created","event_id":"event_TODO","session":{"type":"realtime","id":"sess_1"}}`)
	for {
		_, data, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		var e struct {
			Type, Audio string
			Session     map[string]any
			Response    struct {
				Metadata map[string]string
				Input    []struct{ Content []struct{ Text string } }
			}
		}
		if err := json.Unmarshal(data, &e); err != nil {
			p.t.Errorf("%v in %s", err, data)
			return
		}
		switch e.Type {
		case "session.update":
			p.mu.Lock()
			p.session = append(p.session, e.Session)
			p.mu.Unlock()
			s.send(`{"type":"session.updated","event_id":"event_TODO","session":{"type":"transcription","id":"sess_1"}}`)
		case "input_audio_buffer.append":
			pcm, _ := base64.StdEncoding.DecodeString(e.Audio)
			s.hear(pcm)
		case "response.create":
			s.answer(e.Response.Input[0].Content[0].Text, e.Response.Metadata)
		}
	}
}

// pipelineSession is one session. Only its goroutine uses it.
type pipelineSession struct {
	p     *pipeline
	conn  *websocket.Conn
	turn  int
	total int // samples so far
	loud  int // samples of the turn that were loud
	quiet int // samples since
	words int // of the captions so far
	resp  int
}

func (s *pipelineSession) send(format string, args ...any) {
	_ = s.conn.Write(context.Background(), websocket.MessageText, fmt.Appendf(nil, format, args...)) // the client may be gone
}

// hear takes 0.2 s of loud audio for the beginning of a turn, and 0.5 s of quiet for its end. The
// words come while it lasts.
func (s *pipelineSession) hear(pcm []byte) {
	n, loud := len(pcm)/2, false
	for i := 0; i+1 < len(pcm); i += 2 {
		v := int16(binary.LittleEndian.Uint16(pcm[i:]))
		loud = loud || v > 1000 || v < -1000
	}
	s.total += n
	ms, item := s.total*1000/pipelineRate, fmt.Sprintf("item_%d", s.turn)
	if !loud {
		if s.quiet += n; s.quiet < pipelineRate/2 || s.loud == 0 {
			return
		}
		ends := s.words > 0
		s.loud, s.words = 0, 0
		if !ends {
			return // too short for speech
		}
		s.send(`{"type":"input_audio_buffer.speech_stopped","event_id":"event_TODO","audio_end_ms":%d,"item_id":""}`, ms)
		s.send(`{"type":"input_audio_buffer.committed","event_id":"event_TODO","previous_item_id":"TODO","item_id":%q}`, item)
		s.send(`{"type":"conversation.item.input_audio_transcription.completed","event_id":"event_TODO","item_id":%q,"content_index":0,"transcript":"Run the unit tests."}`, item)
		if s.p.refuses.Load() {
			s.send(`{"type":"error","event_id":"event_TODO","error":{"type":"invalid_request_error","code":"speaker_not_authorized","message":"speaker not authorized: unknown","event_id":"event_TODO"}}`)
		}
		return
	}
	s.quiet = 0
	if s.loud += n; s.loud < pipelineRate/5 {
		return
	}
	if s.loud-n < pipelineRate/5 {
		s.turn++
		item = fmt.Sprintf("item_%d", s.turn)
		s.send(`{"type":"input_audio_buffer.speech_started","event_id":"event_TODO","audio_start_ms":%d,"item_id":""}`, ms)
	}
	if said := strings.Fields(saidWords); s.words < len(said) && s.loud > (s.words+1)*pipelineRate/5 {
		s.send(`{"type":"conversation.item.input_audio_transcription.delta","event_id":"event_TODO","item_id":%q,"content_index":0,"delta":%q}`, item, said[s.words]+" ")
		s.words++
	}
}

// answer reads a text aloud: its words one by one, then the audio in pieces, 100 ms for each word.
func (s *pipelineSession) answer(text string, meta map[string]string) {
	s.resp++
	echoed, _ := json.Marshal(meta)
	s.send(`{"type":"response.created","response":{"id":"resp_%d","object":"realtime.response","status":"in_progress","metadata":%s}}`, s.resp, echoed)
	for _, word := range strings.SplitAfter(text, " ") {
		s.send(`{"type":"response.output_audio_transcript.delta","response_id":"resp_%d","item_id":"item_x","output_index":0,"content_index":0,"delta":%q}`, s.resp, word)
	}
	tone := make([]byte, 2*pipelineRate/10)
	for i := 0; i < len(tone); i += 2 {
		binary.LittleEndian.PutUint16(tone[i:], uint16(4000*(i/2%2)))
	}
	for range strings.Fields(text) {
		s.send(`{"type":"response.output_audio.delta","response_id":"resp_%d","item_id":"item_x","output_index":0,"content_index":0,"delta":%q}`, s.resp, base64.StdEncoding.EncodeToString(tone))
	}
	s.send(`{"type":"response.output_audio_transcript.done","response_id":"resp_%d","item_id":"item_x","transcript":%q}`, s.resp, text)
	s.send(`{"type":"response.done","response":{"id":"resp_%d","object":"realtime.response","status":"completed","metadata":%s}}`, s.resp, echoed)
}

// overPipeline is a conversation with a LocalAI pipeline that hears and speaks.
func overPipeline(t *testing.T, p *pipeline) *talk {
	t.Helper()
	mouth := &mouth{}
	agent := &answers{send: says("Here is the answer.")}
	tk := talkTo(t, agent, agent, func(s *protocol.Settings) {
		s.Provider, s.Endpoint, s.Model, s.Voice.Wire = protocol.ProviderLocalAI, p.URL, "gpt-realtime", protocol.WireRealtime
		s.TurnDetection.Mode = protocol.TurnAutomatic
	}, devicesOf(mouth, nil))
	tk.mouth = mouth
	return tk
}

// A conversation with a LocalAI pipeline that streams: the words are shown while the user speaks and
// replaced by the final ones, the answer is spoken whole, and nothing is sent twice. The pipeline
// decides how turns are detected.
func TestALocalAIPipelineThatStreams(t *testing.T) {
	p := newPipeline(t)
	tk := overPipeline(t, p)
	var mu sync.Mutex
	var heard []string
	posted := func(e csm.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch e := e.(type) {
		case csm.Partial:
			heard = append(heard, fmt.Sprint(e.Utterance, " so far ", e.Words))
		case csm.Final, csm.RecognitionLost, csm.SpeechStarted, csm.SpeechStopped:
			heard = append(heard, told(e))
		}
	}
	tk.posted.Store(&posted)
	tk.begin()
	for range 2 {
		tk.mouth.say(t, sentence)
		tk.answered()
		tk.want(protocol.StateListening)
	}
	tk.mu.Lock()
	defer tk.mu.Unlock()
	mu.Lock()
	defer mu.Unlock()
	// Of the words so far, a busy machine may show fewer, but never fewer words than before.
	all := regexp.MustCompile(`^(\d) starts \d+((?: \d so far \d)+) \d ends \d+ \d words 4 (\d) starts \d+((?: \d so far \d)+) \d ends \d+ \d words 4$`)
	m := all.FindStringSubmatch(strings.Join(heard, " "))
	if m == nil || m[1] != "1" || m[3] != "2" {
		t.Fatalf("the core is told %q", heard)
	}
	for i, utterance := range []string{"1", "2"} {
		count := 0
		for _, so := range regexp.MustCompile(`(\d) so far (\d)`).FindAllStringSubmatch(m[2*i+2], -1) {
			n, err := strconv.Atoi(so[2])
			if err != nil || so[1] != utterance || n <= count {
				t.Errorf("the core is told %q", heard)
			}
			count = n
		}
		if count != 4 {
			t.Errorf("utterance %s ends with %d words so far: %q", utterance, count, heard)
		}
	}
	if len(tk.words) == 0 || len(tk.agent.requests()) != 2 || tk.agent.requests()[1].Messages[len(tk.agent.requests()[1].Messages)-1].Content != "Run the unit tests." {
		t.Errorf("%d requests for two utterances, with %+v", len(tk.agent.requests()), tk.agent.requests())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	audio, _ := p.session[0]["audio"].(map[string]any)
	input, _ := audio["input"].(map[string]any)
	if _, told := input["turn_detection"]; told || p.session[0]["type"] != "transcription" || p.dials.Load() != 1 {
		t.Errorf("%d calls, with %v; want one, and the pipeline's turn detection", p.dials.Load(), p.session)
	}
	if !slices.ContainsFunc(tk.notes, func(n protocol.NotificationParams) bool {
		return n.Code == protocol.CodeServiceLimited && strings.Contains(n.Message, "only if the server's pipeline streams")
	}) || len(tk.errors) > 0 {
		t.Errorf("the user was told %+v and %+v", tk.notes, tk.errors)
	}
}

// What a speaker says whom the pipeline refuses is not carried out, and the user is told so in one
// sentence. The session goes on.
func TestARefusedSpeaker(t *testing.T) {
	p := newPipeline(t)
	tk := overPipeline(t, p)
	tk.agent.become(func(ctx context.Context, _ copilot.Request, _ func(string)) error {
		<-ctx.Done() // it would answer
		return ctx.Err()
	})
	tk.begin()
	p.refuses.Store(true)
	tk.mouth.say(t, sentence)
	tk.eventually("the user is told", func() bool { return len(tk.messages(protocol.CodeSpeakerRefused)) == 1 })
	if end := tk.ended(); end.Outcome != protocol.OutcomeDropped {
		t.Errorf("the turn ended with %v", end.Outcome)
	}
	p.refuses.Store(false)
	tk.agent.become(says("All right."))
	tk.mouth.say(t, sentence)
	tk.until(protocol.StateSpeaking)
	if p.dials.Load() != 1 || len(tk.errors) > 0 {
		t.Errorf("%d calls; the user was told %+v", p.dials.Load(), tk.errors)
	}
}

// A pipeline that does not load ends the conversation at once, with one sentence and a remedy.
func TestAPipelineThatDoesNotLoad(t *testing.T) {
	p := newPipeline(t)
	p.broken.Store(true)
	tk := overPipeline(t, p)
	tk.clock.hold()
	tk.d.Post(csm.UserStart{})
	tk.want(protocol.StatePreparing, protocol.StateFaulted, protocol.StateTerminating, protocol.StateIdle)
	tk.told("error", func() bool { return len(tk.errors) > 0 })
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if len(tk.errors) != 1 || tk.errors[0].Code != protocol.CodePipelineFailed || tk.errors[0].Retryable || tk.errors[0].Remediation == "" {
		t.Errorf("the user is told %+v", tk.errors)
	}
	if all := fmt.Sprintf("%+v", tk.errors); strings.Contains(all, "out of memory") || p.dials.Load() != 1 {
		t.Errorf("%d calls; the server's text is in %s", p.dials.Load(), all)
	}
}
