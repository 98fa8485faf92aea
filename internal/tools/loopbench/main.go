// Command loopbench measures the daemon from outside, as its users meet it, and
// prints a table: how long a process takes to answer initialize, and over a
// conversation from a recording, how fast the turns were and what they cost.
//
//	loopbench -daemon bin/agentvoice-daemon -recording out/bench.wav -out out/bench
//
// Latencies come from the conversation's own journal; processor time and memory
// are the operating system's account of the finished process.
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
	recording := flag.String("recording", "", "WAV file with the user's side; none measures the start only")
	out := flag.String("out", "out/bench", "folder for the conversation's files")
	starts := flag.Int("starts", 20, "how many processes to start")
	flag.Parse()
	if err := run(*daemon, *recording, *out, *starts); err != nil {
		fmt.Fprintln(os.Stderr, "loopbench:", err)
		os.Exit(1)
	}
}

func run(daemon, recording, out string, starts int) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var took []time.Duration
	for range starts {
		d, err := start(daemon)
		if err != nil {
			return fmt.Errorf("start to initialize: %w", err)
		}
		took = append(took, d)
	}
	fmt.Printf("%-46s %8s %8s %4s\n", "", "p50", "p95", "n")
	row("start to initialize answered", timeline.Stat{N: len(took), P50: timeline.Percentile(took, 50), P95: timeline.Percentile(took, 95)})
	if recording == "" {
		return nil
	}
	return converse(daemon, recording, out)
}

// start measures one process, from its start to the answer of initialize.
func start(daemon string) (took time.Duration, err error) {
	cmd := exec.Command(daemon, "serve", "--stdio", "--audio-in", "null", "--audio-out", "null")
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + protocol.Version + `"}}`
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() {
		err = errors.Join(err, in.Close())
		_, _ = io.Copy(io.Discard, out) // what it still says, until it ends
		var status *exec.ExitError
		if e := cmd.Wait(); !errors.As(e, &status) {
			err = errors.Join(err, e)
		}
	}()
	if _, err := fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		return 0, err
	}
	if err := readMessage(bufio.NewReader(out)); err != nil {
		return 0, err
	}
	return time.Since(begin), nil
}

// readMessage reads the answer of initialize.
func readMessage(r *bufio.Reader) error {
	length := 0
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if v, ok := strings.CutPrefix(strings.ToLower(line), "content-length:"); ok {
			if length, err = strconv.Atoi(strings.TrimSpace(v)); err != nil {
				return err
			}
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return err
	}
	if !strings.Contains(string(body), `"result"`) {
		return fmt.Errorf("initialize was answered with %s", body)
	}
	return nil
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
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	j, err := journal.Read(f)
	if err != nil {
		return err
	}
	row("Idle to Listening", startToListening(j))
	turns := timeline.Latencies(j)
	for _, s := range append(timeline.Stages, timeline.InterruptionStages...) {
		row(s.Meaning, timeline.Summarise(turns, s.Of))
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	fmt.Printf("%-46s %7.1f %% of a core over %v, %d turns\n", "processor, local engines included", 100*cpu.Seconds()/wall.Seconds(), wall.Round(time.Second), len(turns))
	if peak, ok := peakMemory(cmd.ProcessState); ok {
		fmt.Printf("%-46s %7.1f MB\n", "peak memory, same", float64(peak)/1e6)
	}
	return nil
}

// startToListening is the time from the user's start to the first Listening.
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
