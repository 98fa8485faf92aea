// Command wires runs one recorded conversation over each wire and compares the results:
// the embedded server, a realtime service, the Live API, requests for transcription and
// speech, and a chat endpoint as the assistant. The services are this project's own,
// running on local engines.
//
//	wires -daemon bin/agentvoice-daemon -recording out/recording.wav -reference out/recording.txt -out out/wires
//
// A wire fails if anything was asked or said twice, a request did not end exactly once,
// the journal does not replay, or the conversation differs from the wire's golden file in
// testdata. The command prints a table. -update rewrites the golden files.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/timeline"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

// limit is the timeout of a conversation: the recording takes less than a minute.
const limit = 4 * time.Minute

// wire is a way to run the conversation.
type wire struct {
	name    string
	service string // required service, or ""
	args    []string
	// hears and speaks give the row and wire in the capability table.
	hears, speaks [2]string
	also          string // differences that the table does not list
}

// wires lists the wires. URL stands for the address of the service.
var wires = []wire{
	{name: "embedded", hears: [2]string{provider.Local, "realtime"}, speaks: [2]string{provider.Local, "realtime"}},
	{name: "realtime", service: "realtime", hears: [2]string{provider.OpenAI, "realtime"}, speaks: [2]string{provider.OpenAI, "realtime"},
		args: []string{"--provider", "openai", "--endpoint", "URL", "--set", "agentvoice.voice.wire=realtime"}},
	{name: "live", service: "realtime", hears: [2]string{provider.Live, "realtime"}, speaks: [2]string{provider.Live, "realtime"},
		args: []string{"--provider", "live", "--endpoint", "URL"}, also: "the service owns the turns"},
	{name: "requests", service: "audio", hears: [2]string{provider.Compatible, "transcriptions"}, speaks: [2]string{provider.Compatible, "speech"},
		args: []string{"--provider", "compatible", "--endpoint", "URL"}},
	{name: "chat", service: "chat", hears: [2]string{provider.Local, "realtime"}, speaks: [2]string{provider.Local, "realtime"},
		args: []string{"--agent", "openai", "--agent-endpoint", "URL", "--agent-model", "scripted"}, also: "a chat endpoint answers"},
}

type options struct {
	daemon, recording, reference, out, golden string
	only                                      string
	update                                    bool
}

func main() {
	var o options
	flag.StringVar(&o.daemon, "daemon", "bin/agentvoice-daemon", "the binary that holds the conversations")
	flag.StringVar(&o.recording, "recording", "out/recording.wav", "WAV `file` with the user's side")
	flag.StringVar(&o.reference, "reference", "out/recording.txt", "`file` with what is said in it")
	flag.StringVar(&o.out, "out", "out/wires", "`folder` for the journals")
	flag.StringVar(&o.golden, "golden", "internal/tools/wires/testdata", "`folder` with the golden conversations")
	flag.StringVar(&o.only, "wire", "", "hold the conversation over this wire only")
	flag.BoolVar(&o.update, "update", false, "write the golden conversations")
	flag.Parse()
	if err := run(context.Background(), o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "wires:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out io.Writer) error {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	reference, err := os.ReadFile(o.reference)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-9s %5s %11s %7s %8s %11s %6s  %s\n", "wire", "turns", "interrupted", "silent", "decided", "first audio", "WER", "what differs from the embedded server")
	var failed []error
	for _, w := range wires {
		if o.only != "" && o.only != w.name {
			continue
		}
		j, err := w.hold(ctx, o)
		if err == nil {
			err = errors.Join(w.row(j, string(reference), out), w.judge(j, o))
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", w.name, err))
		}
	}
	return errors.Join(failed...)
}

// hold runs the conversation and reads its journal.
func (w wire) hold(ctx context.Context, o options) (j *journal.Journal, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	url, key, stop, err := serve(ctx, w.service, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	path := filepath.Join(o.out, w.name+".jsonl")
	args := []string{"talk", "--audio-in", "wav:" + o.recording, "--audio-out", "null", "--journal", path, "--journal-content", "full"}
	for _, a := range w.args {
		args = append(args, strings.ReplaceAll(a, "URL", url))
	}
	if key != "" {
		args = append(args, "--api-key-file", key)
	}
	talk := exec.CommandContext(ctx, o.daemon, args...)
	said, err := talk.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, said)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // opened read-only
	return journal.Read(file)
}

// mostWrong is the upper limit of a conversation's word error rate, in percent; make run
// uses the same limit.
const mostWrong = 40

// row prints the result of the conversation.
func (w wire) row(j *journal.Journal, reference string, out io.Writer) error {
	turns := timeline.Latencies(j)
	var heard []string
	interrupted := 0
	for _, t := range turns {
		heard = append(heard, t.Said)
		if t.Interruption != nil {
			interrupted++
		}
	}
	ms := func(of func(timeline.Turn) timeline.Latency) string {
		s := timeline.Summarise(turns, of)
		if s.N == 0 {
			return "-"
		}
		return fmt.Sprintf("%d ms", s.P50.Milliseconds())
	}
	stage := map[string]string{}
	for _, s := range timeline.InterruptionStages {
		stage[strings.ToLower(s.Name)] = ms(s.Of)
	}
	wrong, words := wer.Compute(reference, strings.Join(heard, " "))
	rate := 100 * float64(wrong) / float64(max(words, 1))
	fmt.Fprintf(out, "%-9s %5d %11d %7s %8s %11s %5.1f%%  %s\n", w.name, len(turns), interrupted, stage["silent"], stage["decided"],
		ms(func(t timeline.Turn) timeline.Latency { return t.FirstAudio }), rate, strings.Join(w.differs(), "; "))
	if rate >= mostWrong {
		return fmt.Errorf("the word error rate is %.1f %%, and should be below %d %%", rate, mostWrong)
	}
	return nil
}

// differs returns the capabilities of the wire that differ from the embedded server's.
func (w wire) differs() (what []string) {
	row, _ := provider.Of(w.hears[0])
	hearing, _ := row.Hears(provider.Wire(w.hears[1]))
	row, _ = provider.Of(w.speaks[0])
	voice, _ := row.Speaks(provider.Wire(w.speaks[1]))
	for _, c := range []struct {
		lacks bool
		what  string
	}{
		{hearing.Partials != provider.Supported, "words after the end of speech"},
		{!hearing.Logprobs, "no probabilities"},
		{!voice.Verbatim, "may paraphrase"},
		{!voice.HeardPositions, "heard positions are rough"},
		{!voice.Cancel, "cannot be stopped"},
		{w.also != "", w.also},
	} {
		if c.lacks {
			what = append(what, c.what)
		}
	}
	if len(what) == 0 {
		what = []string{"nothing"}
	}
	return what
}

// judge checks the conversation.
func (w wire) judge(j *journal.Journal, o options) error {
	res, err := journal.Replay(j)
	switch {
	case err != nil:
		return err
	case res.Difference != nil:
		return fmt.Errorf("the journal does not replay: %s", res.Difference)
	case res.Stops != nil:
		return fmt.Errorf("%s", res.Stops)
	}
	c, err := read(j)
	if err != nil {
		return err
	}
	if err := c.once(); err != nil {
		return err
	}
	file, got := filepath.Join(o.golden, w.name+".txt"), c.String()
	if o.update {
		return os.WriteFile(file, []byte(got), 0o644)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if got != string(want) {
		return fmt.Errorf("the conversation is\n%swant\n%s", got, want)
	}
	return nil
}
