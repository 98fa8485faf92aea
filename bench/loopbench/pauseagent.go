package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// pauseAnswer is what the scripted agent answers to each request.
const pauseAnswer = "It is done."

// notByUser begins the message of a request for a summary of the conversation.
const notByUser = "[Not by the user]"

// request is a request that reached the agent.
type request struct {
	at    time.Duration // since the microphone opened
	users []string      // the messages of the user, oldest first
}

// last returns the message that the request is about.
func (r request) last() string {
	if len(r.users) == 0 {
		return ""
	}
	return r.users[len(r.users)-1]
}

// chatAgent is a scripted chat-completions service on loopback. It records the requests of the user.
type chatAgent struct {
	firstWords time.Duration // time to the first words of an answer
	server     *http.Server
	url        string
	served     chan struct{}

	mu       sync.Mutex
	requests []request
	arrived  []time.Time // of each request
	failure  error
}

func newChatAgent(firstWords time.Duration) (*chatAgent, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &chatAgent{firstWords: firstWords, url: "http://" + listener.Addr().String() + "/v1", served: make(chan struct{})}
	a.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: a}
	go func() { defer close(a.served); _ = a.server.Serve(listener) }() // the error only reports the close
	return a, nil
}

// ServeHTTP implements [http.Handler].
func (a *chatAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	var body struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		a.mu.Lock()
		a.failure = errors.Join(a.failure, fmt.Errorf("read a request to the agent: %w", err))
		a.mu.Unlock()
		http.Error(w, "invalid request", http.StatusBadRequest)
		return
	}
	var req request
	for _, m := range body.Messages {
		if m.Role == "user" {
			words, _, _ := strings.Cut(m.Content, "\n\n") // without notes
			req.users = append(req.users, words)
		}
	}
	if !strings.HasPrefix(req.last(), notByUser) {
		a.mu.Lock()
		a.requests, a.arrived = append(a.requests, req), append(a.arrived, arrived)
		a.mu.Unlock()
	}
	if a.firstWords > 0 {
		select {
		case <-time.After(a.firstWords):
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", pauseAnswer)
}

// close ends the service and returns its requests, by the time since the microphone opened.
func (a *chatAgent) close(opened time.Time) ([]request, error) {
	err := a.server.Close()
	<-a.served
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.requests {
		a.requests[i].at = a.arrived[i].Sub(opened)
	}
	return a.requests, errors.Join(err, a.failure)
}
