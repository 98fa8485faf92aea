package speculation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/openai"
	"github.com/agentvoice/agentvoice-daemon/copilot/speculation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func request(words string) copilot.Request {
	return copilot.Request{Messages: []copilot.Message{{Role: copilot.RoleUser, Content: words}}}
}

// service is an adapter whose answers the test defines.
type service struct {
	send func(ctx context.Context, words string, emit func(string)) error
	open atomic.Int32
	most atomic.Int32
	sent atomic.Int32
}

func (*service) Name() string                        { return "service" }
func (*service) MaySpeculate(r copilot.Request) bool { return len(r.Tools) == 0 }
func (s *service) Send(ctx context.Context, r copilot.Request, emit func(string)) error {
	s.sent.Add(1)
	s.most.Store(max(s.most.Load(), s.open.Add(1)))
	defer s.open.Add(-1)
	return s.send(ctx, r.Messages[0].Content, emit)
}

// slow answers after a second, and takes half a second to end when it is cancelled.
func slow(ctx context.Context, words string, emit func(string)) error {
	select {
	case <-time.After(time.Second):
		emit(words + "!")
		return nil
	case <-ctx.Done():
		time.Sleep(time.Second / 2)
		emit("late")
		return ctx.Err()
	}
}

func send(t *testing.T, s *speculation.Speculator, adapter copilot.Adapter, r copilot.Request) (text string, err error) {
	t.Helper()
	err = s.Send(t.Context(), s.Claim(adapter, r), adapter, r, func(piece string) { text += piece })
	return text, err
}

// The next request waits until a thrown away one has ended, whether it is an attempt or
// not, and words that arrive late are dropped.
func TestRequestsDoNotOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := &service{send: slow}, speculation.New()
		defer s.Close()
		s.Start(a, request("one"))
		synctest.Wait()
		s.Start(a, request("two"))
		s.Start(a, request("two"))
		time.Sleep(600 * time.Millisecond)
		synctest.Wait()
		if a.sent.Load() != 2 {
			t.Errorf("%d requests", a.sent.Load())
		}
		begin := time.Now()
		if text, err := send(t, s, a, request("three")); text != "three!" || err != nil || time.Since(begin) != 1500*time.Millisecond {
			t.Errorf("%q, %v after %v", text, err, time.Since(begin))
		}
		if a.most.Load() != 1 || a.sent.Load() != 3 {
			t.Errorf("%d of %d requests were open at once", a.most.Load(), a.sent.Load())
		}
	})
}

// While a request is open, nothing is started, and a request ends an attempt that was
// started after the claim.
func TestNoAttemptBesideARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := &service{send: slow}, speculation.New()
		defer s.Close()
		claimed := s.Claim(a, request("one"))
		s.Start(a, request("early"))
		synctest.Wait()
		go func() {
			time.Sleep(700 * time.Millisecond)
			s.Start(a, request("beside"))
		}()
		begin := time.Now()
		if err := s.Send(t.Context(), claimed, a, request("one"), func(string) {}); err != nil || time.Since(begin) != 1500*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		synctest.Wait()
		if a.most.Load() != 1 || a.sent.Load() != 2 {
			t.Errorf("%d of %d requests were open at once", a.most.Load(), a.sent.Load())
		}
	})
}

// After a failure nothing is started until a request succeeds.
func TestNoAttemptAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := &service{}, speculation.New()
		defer s.Close()
		broken := errors.New("broken")
		a.send = func(context.Context, string, func(string)) error { return broken }
		s.Start(a, request("one"))
		synctest.Wait()
		s.Start(a, request("two"))
		if _, err := send(t, s, a, request("two")); !errors.Is(err, broken) || a.sent.Load() != 2 {
			t.Errorf("%v after %d requests", err, a.sent.Load())
		}
		a.send = slow
		if _, err := send(t, s, a, request("two")); err != nil {
			t.Error(err)
		}
		s.Start(a, request("three"))
		synctest.Wait()
		if a.sent.Load() != 4 {
			t.Errorf("%d requests", a.sent.Load())
		}
	})
}

// An answer that breaks off after it was claimed is not repeated, but a request without an
// answer is. An answer that a cancelled claimer no longer wants ends.
func TestClaimedAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := &service{}, speculation.New()
		defer s.Close()
		broken := errors.New("broken")
		a.send = func(_ context.Context, words string, emit func(string)) error {
			emit("half")
			time.Sleep(time.Second)
			return broken
		}
		s.Start(a, request("one"))
		synctest.Wait()
		if text, err := send(t, s, a, request("one")); text != "half" || !errors.Is(err, broken) || a.sent.Load() != 1 {
			t.Errorf("%q, %v after %d requests", text, err, a.sent.Load())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		a, s := &service{}, speculation.New()
		defer s.Close()
		a.send = func(_ context.Context, _ string, emit func(string)) error {
			time.Sleep(time.Second)
			if a.sent.Load() == 1 {
				return errors.New("broken")
			}
			emit("whole")
			return nil
		}
		s.Start(a, request("one"))
		if text, err := send(t, s, a, request("one")); text != "whole" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		a, s := &service{send: slow}, speculation.New()
		defer s.Close()
		s.Start(a, request("one"))
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		err := s.Send(ctx, s.Claim(a, request("one")), a, request("one"), func(text string) { t.Errorf("%q", text) })
		if !errors.Is(err, context.DeadlineExceeded) || a.sent.Load() != 1 || a.open.Load() != 0 {
			t.Errorf("%v after %d requests, %d open", err, a.sent.Load(), a.open.Load())
		}
	})
}

// An attempt is claimed only by exactly the same request.
func TestClaimComparesRequests(t *testing.T) {
	history := copilot.Message{Role: copilot.RoleAssistant, Content: "earlier"}
	for name, change := range map[string]func(*copilot.Request){
		"words":        func(r *copilot.Request) { r.Messages = request("two").Messages },
		"history":      func(r *copilot.Request) { r.Messages = append([]copilot.Message{history}, r.Messages...) },
		"round":        func(r *copilot.Request) { r.Round = 1 },
		"model":        func(r *copilot.Request) { r.Model = "other" },
		"instructions": func(r *copilot.Request) { r.Instructions = "other" },
		"tools":        func(r *copilot.Request) { r.Tools = []copilot.Tool{{Name: "runTests"}} },
		"tool choice":  func(r *copilot.Request) { r.ToolChoice = "auto" },
		"length":       func(r *copilot.Request) { r.MaxTokens = 1 },
		"calls":        func(r *copilot.Request) { r.Wants = func(copilot.ToolCall) {} },
	} {
		synctest.Test(t, func(t *testing.T) {
			a, s := &service{send: slow}, speculation.New()
			defer s.Close()
			s.Start(a, request("one"))
			r := request("one")
			change(&r)
			if s.Claim(a, r) != nil {
				t.Errorf("claimed with other %s", name)
			}
			r.Tools = []copilot.Tool{{Name: "runTests"}}
			s.Start(a, r)
			if s.Claim(a, r) != nil {
				t.Error("started although tools are on offer")
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		a, s := &service{send: slow}, speculation.New()
		defer s.Close()
		s.Start(a, request("one"))
		if s.Claim(&service{send: slow}, request("one")) != nil {
			t.Error("claimed for another adapter")
		}
		s.Start(a, request("one"))
		r := request("one")
		r.ID, r.TurnID, r.Attempt = "req-1", "turn-1", 1
		if text, err := send(t, s, a, r); text != "one!" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	})
}

// watched is a transport that counts the requests that the client has open.
type watched struct {
	http.RoundTripper
	open, most atomic.Int32
}

type watchedBody struct {
	io.ReadCloser
	closed func()
}

func (b watchedBody) Close() error {
	defer b.closed()
	return b.ReadCloser.Close()
}

func (w *watched) RoundTrip(r *http.Request) (*http.Response, error) {
	w.most.Store(max(w.most.Load(), w.open.Add(1)))
	res, err := w.RoundTripper.RoundTrip(r)
	if err != nil {
		w.open.Add(-1)
		return nil, err
	}
	res.Body = watchedBody{res.Body, func() { w.open.Add(-1) }}
	return res, nil
}

// Over HTTP, a thrown away request is closed before the next one is sent, and the service
// sees it end, whether it has begun to answer or not.
func TestServiceSeesTheFirstRequestEnd(t *testing.T) {
	for _, begins := range []bool{false, true} {
		first, arrived, ended := true, make(chan struct{}), make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var body struct{ Messages []struct{ Content string } }
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "text/event-stream")
			if first {
				first = false
				if begins {
					_, _ = fmt.Fprint(w, `data: {"choices":[{"delta":{"content":"hidden"}}]}`+"\n\n")
					_ = http.NewResponseController(w).Flush()
				}
				close(arrived)
				<-r.Context().Done()
				close(ended)
				return
			}
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Error("the first request is still open")
			}
			words := body.Messages[len(body.Messages)-1].Content
			_, _ = fmt.Fprintf(w, `data: {"choices":[{"delta":{"content":%q},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n", words+"!")
		}))
		transport := &watched{RoundTripper: http.DefaultTransport.(*http.Transport).Clone()}
		a, err := openai.New(openai.Options{BaseURL: server.URL, Model: "m", Transport: transport})
		if err != nil {
			t.Fatal(err)
		}
		s := speculation.New()
		s.Start(a, request("one"))
		<-arrived
		s.Start(a, request("two"))
		if text, err := send(t, s, a, request("two")); text != "two!" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		if transport.most.Load() != 1 {
			t.Errorf("%d requests were open at once", transport.most.Load())
		}
		s.Close()
		transport.RoundTripper.(*http.Transport).CloseIdleConnections()
		server.Close()
	}
}

// Requests that offer tools are not made early.
func TestOpenAIWithTools(t *testing.T) {
	a, err := openai.New(openai.Options{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	r := request("one")
	if !a.MaySpeculate(r) {
		t.Error("a request without tools is not allowed")
	}
	r.Tools = []copilot.Tool{{Name: "runTests"}}
	if !a.MaySpeculate(r) {
		t.Error("tools that the service is not told about count")
	}
	r.ToolChoice = "auto"
	if a.MaySpeculate(r) {
		t.Error("a request with tools is allowed")
	}
	r = request("one")
	r.Wants = func(copilot.ToolCall) {}
	if a.MaySpeculate(r) {
		t.Error("a request whose answer may call tools is allowed")
	}
}
