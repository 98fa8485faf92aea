package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/timeline"
)

// firstWord is the scripted chat service's time to its first word.
const firstWord = 400 * time.Millisecond

// speculate measures what agentvoice.speculation saves and costs, in concurrent
// conversations with a scripted chat service.
func speculate(daemon string, recordings map[string]string, out string) error {
	type result struct {
		name     string
		turns    []timeline.Turn
		requests int64
		err      error
	}
	var results []chan result
	for _, name := range []string{"questions", "conversation"} {
		for _, setting := range []string{"false", "true"} {
			r := make(chan result, 1)
			results = append(results, r)
			go func() {
				turns, requests, err := ask(daemon, recordings[name], setting, filepath.Join(out, "early-"+name+"-"+setting+".jsonl"))
				r <- result{name + map[string]string{"false": "", "true": ", agentvoice.speculation"}[setting], turns, requests, err}
			}()
		}
	}
	fmt.Printf("end of speech to the first words of a chat service that takes %v\n%-32s %8s %8s %8s %9s %12s\n",
		firstWord, "", "p50 ms", "p95 ms", "answers", "requests", "thrown away")
	var errs []error
	for _, c := range results {
		r := <-c
		errs = append(errs, r.err)
		sent := int64(0)
		for _, t := range r.turns {
			if t.Request != 0 {
				sent++
			}
		}
		s := timeline.Summarise(r.turns, untilFirstWords)
		fmt.Printf("%-32s %8d %8d %8d %9d %12d\n", r.name, s.P50.Milliseconds(), s.P95.Milliseconds(), s.N, r.requests, r.requests-sent)
	}
	return errors.Join(errs...)
}

// untilFirstWords is the time from the end of speech to the first words of the answer.
func untilFirstWords(t timeline.Turn) timeline.Latency {
	return timeline.Latency{
		Duration: t.Endpointing.Duration + t.Recognition.Duration + t.FirstSign.Duration,
		Known:    t.Endpointing.Known && t.Recognition.Known && t.FirstSign.Known,
	}
}

// ask plays a recording to a daemon with a chat service of its own, and returns the turns
// and the number of requests at the service.
func ask(daemon, recording, setting, journal string) (turns []timeline.Turn, requests int64, err error) {
	var count atomic.Int64
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, 0, err
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // so that the server notices the end of the connection
		select {
		case <-time.After(firstWord):
		case <-r.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"This is the whole answer."},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }() // the error only reports the close
	e := engines{name: "a chat service", recording: recording, args: []string{
		"--agent", "openai", "--agent-endpoint", "http://" + listener.Addr().String() + "/v1", "--set", "agentvoice.speculation=" + setting,
	}}
	turns, err = e.converse(daemon, journal)
	err = errors.Join(err, server.Close())
	<-served
	return turns, count.Load(), err
}
