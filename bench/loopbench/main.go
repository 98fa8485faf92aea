// Command loopbench measures the daemon as a black box and prints a table: how long a
// process takes to answer initialize and until its first conversation listens, its
// idle cost, the latency and cost of turns in a conversation from a recording,
// the response time with each engine and with speculation, and the cost of a server with
// several clients.
//
//	loopbench -daemon bin/agentvoice-daemon -recording out/bench.wav -out out/bench \
//		-questions out/questions.wav -tones out/tones.wav -models out/models
//
// With recorded sentences, it instead inserts a pause in each, and counts those that reach the
// agent as one request.
//
//	loopbench -daemon bin/agentvoice-daemon -recordings sentences -out out/bench
//
// Latencies come from the conversation's own journal; CPU time and memory come from
// the operating system's accounting of the finished process.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/timeline"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func main() {
	daemon := flag.String("daemon", "bin/agentvoice-daemon", "the binary to measure")
	recording := flag.String("recording", "", "WAV file with the user's side; empty measures only the start")
	out := flag.String("out", "out/bench", "folder for the conversation's files")
	starts := flag.Int("starts", 20, "how many processes to start")
	watch := flag.Duration("watch", 5*time.Second, "how long to measure each idle state; 0 skips them")
	load := flag.Duration("load", 20*time.Second, "how long to run each number of conversations on one server")
	var q questions
	flag.StringVar(&q.spoken, "questions", "", "WAV file with questions in English; empty skips the comparison of engines")
	flag.StringVar(&q.tones, "tones", "", "WAV file with questions in the tone language")
	flag.StringVar(&q.models, "models", "", "folder with the models that understand and speak it")
	var p pauseOptions
	flag.StringVar(&p.recordings, "recordings", "", "folder of recorded sentences, each with its words in a text file; measures only pauses inside of them")
	flag.IntVar(&p.sentences, "sentences", 0, "how many of them to use; 0 uses all")
	flag.IntVar(&p.parallel, "parallel", 3, "how many conversations with the fast voice to hold at a time, beside one with the default voice")
	flag.StringVar(&p.only, "only", "", "measure only the rows of pauses that match this regular expression, such as \"at once: pause of 0.8 s\"")
	flag.Parse()
	if p.recordings != "" {
		exitOn(pauses(*daemon, *out, p))
		return
	}
	err := run(*daemon, *recording, *out, *starts, *watch)
	if err == nil && q.spoken != "" {
		err = errors.Join(compare(*daemon, q, *out),
			speculate(*daemon, map[string]string{"questions": q.spoken, "conversation": *recording}, *out),
			serveMany(*daemon, q.spoken, *out, *load))
	}
	exitOn(err)
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "loopbench:", err)
		os.Exit(1)
	}
}

func run(daemon, recording, out string, starts int, watch time.Duration) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var answered, listening []time.Duration
	for range starts {
		a, l, err := start(daemon)
		if err != nil {
			return fmt.Errorf("start a daemon: %w", err)
		}
		answered, listening = append(answered, a), append(listening, l)
	}
	fmt.Printf("%-46s %8s %8s %4s\n", "", "p50", "p95", "n")
	row("start to initialize answered", stat(answered))
	row("first Idle to Listening, from initialize on", stat(listening))
	if watch > 0 {
		if err := standby(daemon, watch); err != nil {
			return fmt.Errorf("standby: %w", err)
		}
	}
	if recording == "" {
		return nil
	}
	return converse(daemon, recording, out)
}

func stat(ds []time.Duration) timeline.Stat {
	return timeline.Stat{N: len(ds), P50: timeline.Percentile(ds, 50), P95: timeline.Percentile(ds, 95)}
}

// start measures one process: from its start to the answer to initialize, and from
// the request for a conversation, sent immediately after, until it listens.
func start(daemon string) (answered, listening time.Duration, err error) {
	begin := time.Now()
	s, err := serve(daemon)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	answered = time.Since(begin)
	begin = time.Now()
	err = s.reach(protocol.MethodStart, protocol.StateListening)
	return answered, time.Since(begin), err
}

// served is a daemon connected over its standard streams.
type served struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      io.Reader
	messages *bufio.Reader
}

// serve starts a daemon without devices, and initializes it.
func serve(daemon string, args ...string) (*served, error) {
	return serveOn(devices{in: "null", out: "null"}, daemon, args...)
}

// devices are those of a daemon, and what its environment has for them.
type devices struct {
	in, out string
	env     []string
}

func serveOn(d devices, daemon string, args ...string) (*served, error) {
	args = append([]string{"serve", "--stdio", "--audio-in", d.in, "--audio-out", d.out}, args...)
	s := &served{cmd: exec.Command(daemon, args...)}
	s.cmd.Env = append(os.Environ(), d.env...)
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if s.out, err = s.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.messages = bufio.NewReader(s.out)
	err = s.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + protocol.Version + `"}}`)
	if err == nil {
		err = await(s.messages, `"id":1,"result"`)
	}
	if err == nil {
		err = s.send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	}
	if err != nil {
		return nil, errors.Join(err, s.end())
	}
	return s, nil
}

func (s *served) send(body string) error {
	_, err := fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

// reach calls a method and waits for a state.
func (s *served) reach(method string, state protocol.State) error {
	if err := s.send(`{"jsonrpc":"2.0","id":2,"method":"` + method + `","params":{}}`); err != nil {
		return err
	}
	return await(s.messages, `"state":"`+string(state)+`"`)
}

// end closes the daemon's input, and waits for its end.
func (s *served) end() error {
	err := s.in.Close()
	_, _ = io.Copy(io.Discard, s.out) // drain the output until it exits
	var status *exec.ExitError
	if e := s.cmd.Wait(); !errors.As(e, &status) {
		err = errors.Join(err, e)
	}
	return err
}

// await reads messages until one contains a text.
func await(r *bufio.Reader, text string) error {
	for {
		body, err := readMessage(r)
		switch {
		case err != nil:
			return err
		case strings.Contains(body, text):
			return nil
		case strings.Contains(body, `"error":`), strings.Contains(body, `"state":"`+string(protocol.StateFaulted)+`"`):
			return fmt.Errorf("the daemon answered %s", body)
		}
	}
}

// readMessage reads the next message.
func readMessage(r *bufio.Reader) (string, error) {
	length := 0
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return "", err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if v, ok := strings.CutPrefix(strings.ToLower(line), "content-length:"); ok {
			if length, err = strconv.Atoi(strings.TrimSpace(v)); err != nil {
				return "", err
			}
		}
	}
	body := make([]byte, length)
	_, err := io.ReadFull(r, body)
	return string(body), err
}

// converse plays a recording to the daemon in real time.
func converse(daemon, recording, out string) error {
	file := filepath.Join(out, "journal.jsonl")
	cmd := exec.Command(daemon, "talk", "--audio-in", "wav:"+recording, "--audio-out", "null",
		"--journal", file, "--verify=false")
	cmd.Stderr = os.Stderr
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("talk: %w", err)
	}
	wall := time.Since(begin)
	j, err := readJournal(file)
	if err != nil {
		return err
	}
	row("Idle to Listening", startToListening(j))
	turns := timeline.Latencies(j)
	for _, s := range timeline.Stages {
		row(s.Meaning, timeline.Summarise(turns, s.Of))
	}
	for _, s := range timeline.InterruptionStages {
		row(strings.ToLower(s.Name)+": "+s.Meaning, timeline.Summarise(turns, s.Of))
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	fmt.Printf("%-46s %7.1f %% of a core over %v, %d turns\n", "processor, local engines included", 100*cpu.Seconds()/wall.Seconds(), wall.Round(time.Second), len(turns))
	if peak, ok := peakMemory(cmd.ProcessState); ok {
		fmt.Printf("%-46s %7.1f MB\n", "peak memory, same", float64(peak)/1e6)
	}
	return nil
}

// startToListening returns the time from the user's start to the first Listening.
func startToListening(j *journal.Journal) timeline.Stat {
	var begin time.Duration
	for _, l := range j.Lines {
		switch {
		case l.Event == "user.start":
			begin = l.Time()
		case l.Event != "" && l.Phase == "Listening":
			d := l.Time() - begin
			return timeline.Stat{N: 1, P50: d, P95: d}
		}
	}
	return timeline.Stat{}
}

func row(name string, s timeline.Stat) {
	if s.N == 0 {
		fmt.Printf("%-46s %8s %8s %4d\n", name, "-", "-", 0)
		return
	}
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
	fmt.Printf("%-46s %8s %8s %4d\n", name, ms(s.P50), ms(s.P95), s.N)
}
