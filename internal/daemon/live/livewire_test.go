//go:build cgo

package live

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// overLive is a conversation with the Live side of the embedded server.
func overLive(t *testing.T, answer string) (tk *talk, server *localrealtime.Server, paths func() []string) {
	t.Helper()
	server, paths, url := serviceThatEnds(t)
	mouth := &mouth{}
	agent := &answers{send: says(answer)}
	cfg := devicesOf(mouth, nil)
	cfg.Credentials = func(context.Context, protocol.Provider) (realtime.Credential, error) {
		return realtime.Credential{Value: "sk-the-users-key", Kind: realtime.APIKey}, nil
	}
	tk = talkTo(t, agent, agent, func(s *protocol.Settings) { s.Provider, s.Endpoint = protocol.ProviderLive, url }, cfg)
	tk.mouth = mouth
	tk.begin()
	return tk, server, paths
}

// A conversation over a Live session: each utterance is one request, the answer is
// spoken, and a voice interrupts it. The assistant is told what was heard.
//
// On a machine that is so busy that the recogniser is seconds behind, words are handed on before the
// service delegates them (undelegated in audio/realtime), and their rest is a request of its own.
//
//test:realtime
func TestALiveConversation(t *testing.T) {
	const answer = "Here is the answer."
	tk, _, paths := overLive(t, answer)
	tk.mouth.say(t, sentence)
	tk.answered()
	tk.want(protocol.StateListening)
	heard := tk.lastUserWords()
	if wrong, words := wer.Compute(sentenceIs, heard); wrong*100 > words*60 {
		t.Errorf("heard %q, want something like %q", heard, sentenceIs)
	}
	story := strings.Repeat("This answer is long enough to be interrupted. ", 12)
	tk.agent.become(says(story))
	tk.mouth.say(t, sentence)
	tk.answered()
	tk.agent.become(says("All right."))
	tk.mouth.say(t, second)
	tk.until(protocol.StateInterrupted)
	tk.until(protocol.StateWaitingForCopilot) // its first sound alone is too short to interrupt
	tk.until(protocol.StateSpeaking)
	tk.until(protocol.StateListening)
	tk.mu.Lock()
	defer tk.mu.Unlock()
	sent := tk.agent.requests()
	if len(sent) != 3 {
		t.Fatalf("%d requests for three turns", len(sent))
	}
	last := sent[2].Messages
	if len(last) != 5 || last[1].Content != answer {
		t.Fatalf("history %+v, want two questions with their answers, and a question", last)
	}
	if cut := last[3].Content; cut == "" || !strings.HasPrefix(story, cut) || len(cut) > 300 {
		t.Errorf("remembered %q, want what was heard of the second answer", cut)
	}
	if got := paths(); len(got) == 0 || slices.ContainsFunc(got, func(p string) bool { return !strings.HasPrefix(p, "POST /v1/live/sessions") }) {
		t.Errorf("requests %v, want those of the Live API", got)
	}
	if !slices.ContainsFunc(tk.notes, func(n protocol.NotificationParams) bool {
		return n.Code == protocol.CodeServiceLimited && strings.Contains(n.Message, "cannot be stopped")
	}) {
		t.Errorf("the user was told %+v, want what a Live session cannot do", tk.notes)
	}
}

// A Live session ends while the answer is awaited and while it is spoken: the answer
// arrives over the next session, and nothing is requested twice.
//
//test:long
func TestALiveSessionThatEnds(t *testing.T) {
	tk, server, _ := overLive(t, "")
	asked, answer := make(chan struct{}), make(chan struct{})
	tk.agent.become(func(_ context.Context, _ copilot.Request, emit func(string)) error {
		close(asked)
		<-answer
		emit("This is the first sentence of it. And this is the second sentence of it.")
		return nil
	})
	tk.mouth.say(t, sentence)
	tk.after("the request", asked)
	server.HangUpAll()
	close(answer) // late: its delegation ended with the session
	tk.until(protocol.StateSpeaking)
	server.HangUpAll()
	tk.endOf("turn-1", protocol.OutcomeAnswered)
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if len(tk.agent.requests()) != 1 {
		t.Errorf("%d requests for one turn", len(tk.agent.requests()))
	}
}
