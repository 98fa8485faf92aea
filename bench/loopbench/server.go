package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
)

// loads are the numbers of conversations at one time that a server is measured with.
var loads = []int{1, 5, 20}

// reply is what a client of the measured server has it speak after each question.
const reply = "All tests of the parser pass."

// serveMany measures what realtime-server costs, and how fast it answers, with several
// conversations at one time. Each client plays the recording in real time over WebRTC, and
// has the server speak a reply to each utterance that it heard.
func serveMany(daemon, recording, out string, watch time.Duration) error {
	pcm, err := wavio.ReadAll(recording)
	if err != nil {
		return err
	}
	fmt.Printf("realtime-server, clients over WebRTC, p50 / p95 in ms\n%-24s %14s %14s %9s %9s %14s\n",
		"conversations", "connect", "first audio", "replies", "core", "memory")
	for _, n := range loads {
		if err := serveLoad(daemon, out, pcm, n, watch); errors.Is(err, errNotAccounted) {
			fmt.Println("what a server costs is not measured on this system")
			return nil
		} else if err != nil {
			return fmt.Errorf("%d conversations: %w", n, err)
		}
	}
	return nil
}

// serveLoad prints the row of n conversations, on a server of their own.
func serveLoad(daemon, out string, pcm []int16, n int, watch time.Duration) (err error) {
	s, err := startServer(daemon, out, n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	clients := make([]*caller, n)
	defer func() {
		for _, c := range clients {
			if c != nil {
				err = errors.Join(err, c.client.Close())
			}
		}
	}()
	var connects, firsts []time.Duration
	for i := range clients {
		begin := time.Now()
		if clients[i], err = s.call(); err != nil {
			return err
		}
		connects = append(connects, time.Since(begin))
	}
	before, err := used(s.cmd.Process.Pid)
	if err != nil {
		return err
	}
	began := time.Now()
	var playing sync.WaitGroup
	for i, c := range clients {
		// Spread over the recording: people do not speak in chorus.
		playing.Go(func() { c.play(pcm, i*len(pcm)/n, watch) })
	}
	playing.Wait()
	after, err := used(s.cmd.Process.Pid)
	took := time.Since(began)
	if err != nil {
		return err
	}
	for _, c := range clients {
		replies, failure := c.result()
		if failure != nil {
			return failure
		}
		firsts = append(firsts, replies...)
	}
	fmt.Printf("%-24d %14s %14s %9d %7.1f %% %11.1f MB\n", n, percentiles(connects), percentiles(firsts), len(firsts),
		100*(after.cpu-before.cpu).Seconds()/took.Seconds(), float64(after.memory)/1e6)
	return nil
}

func percentiles(ds []time.Duration) string {
	s := stat(slices.Clone(ds))
	return fmt.Sprintf("%d / %d", s.P50.Milliseconds(), s.P95.Milliseconds())
}

// server is a realtime-server in a process of its own.
type server struct {
	cmd *exec.Cmd
	url string
	key string
}

func startServer(daemon, out string, sessions int) (*server, error) {
	keyFile := filepath.Join(out, "server-key")
	cmd := exec.Command(daemon, "realtime-server", "--agent", "none", "--addr", "127.0.0.1:0",
		"--api-key-file", keyFile, "--max-sessions", strconv.Itoa(sessions))
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{cmd: cmd}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if url, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			s.url = strings.TrimSuffix(url, "/v1")
			break
		}
	}
	key, err := os.ReadFile(keyFile)
	if s.url == "" || err != nil {
		return nil, errors.Join(errors.New("realtime-server did not start"), err, s.stop())
	}
	s.key = strings.TrimSpace(string(key))
	return s, nil
}

func (s *server) stop() error {
	err := s.cmd.Process.Signal(os.Interrupt)
	if wait := s.cmd.Wait(); wait != nil {
		err = errors.Join(err, fmt.Errorf("realtime-server: %w", wait))
	}
	return err
}

// caller is one client of the server. It is the handler of its call.
type caller struct {
	client *realtime.Client

	mu      sync.Mutex
	seq     uint32
	asked   time.Time // when the running reply was asked for; zero once it is heard
	first   []time.Duration
	failure error
}

func (s *server) call() (*caller, error) {
	c := &caller{}
	client, err := realtime.Dial(context.Background(), realtime.Config{
		Dialect: realtime.Local, BaseURL: s.url, Model: "local", Loopback: true, Log: zerolog.Nop(),
		Credentials: func(context.Context) (realtime.Credential, error) {
			return realtime.Credential{Value: s.key, Kind: realtime.APIKey}, nil
		},
	}, c)
	c.client = client
	return c, err
}

// play sends the recording in real time, from a sample on and again from its beginning.
func (c *caller) play(pcm []int16, from int, length time.Duration) {
	frames := time.NewTicker(audio.FrameTime)
	defer frames.Stop()
	var frame audio.Frame
	for end := time.Now().Add(length); time.Now().Before(end); <-frames.C {
		for i := range frame {
			frame[i] = pcm[(from+i)%len(pcm)]
		}
		from += len(frame)
		c.client.WriteFrame(&frame)
	}
}

// result is how soon each reply was heard, or why a call failed.
func (c *caller) result() ([]time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.first, c.failure
}

// FinalTranscript implements [realtime.Handler].
func (c *caller) FinalTranscript(string, realtime.Transcript) {
	c.mu.Lock()
	c.seq++
	seq := c.seq
	c.asked = time.Now()
	c.mu.Unlock()
	c.client.Speak(realtime.Segment{ID: audio.SegmentID{Gen: seq, Seq: 1}, Turn: uint64(seq), Text: reply})
}

// SpeechAudio implements [realtime.Handler].
func (c *caller) SpeechAudio(id audio.SegmentID, _ []int16) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id.Gen == c.seq && !c.asked.IsZero() {
		c.first = append(c.first, time.Since(c.asked))
		c.asked = time.Time{}
	}
}

// SpeechFailed implements [realtime.Handler].
func (c *caller) SpeechFailed(_ audio.SegmentID, code string) {
	c.fail(fmt.Errorf("the server cannot speak: %s", code))
}

// TranscriptFailed implements [realtime.Handler].
func (c *caller) TranscriptFailed(_, code string) {
	c.fail(fmt.Errorf("the server cannot recognise speech: %s", code))
}

// Lost implements [realtime.Handler].
func (c *caller) Lost(code string, err error) {
	c.fail(fmt.Errorf("a call was lost (%s): %w", code, err))
}

func (c *caller) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failure = errors.Join(c.failure, err)
}

// The rest of [realtime.Handler] is not measured.
func (*caller) SpeechStarted(string, int64)         {}
func (*caller) SpeechStopped(string, int64)         {}
func (*caller) PartialTranscript(string, string)    {}
func (*caller) InputEmpty(uint64)                   {}
func (*caller) InputCommitted(uint64, string)       {}
func (*caller) SpeechEnded(audio.SegmentID)         {}
func (*caller) SpeechMismatch(audio.SegmentID, int) {}
