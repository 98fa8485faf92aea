package sherpa

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// child is one run of the child process.
type child struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	words *lastWords
	ready chan struct{} // closed when the models are loaded
	dead  chan struct{} // closed when the process has exited
	err   error         // exit reason; read after dead
	// served is set once the child has answered a request.
	served atomic.Bool
	// counted belongs to the Engine.
	counted bool

	writing sync.Mutex // serialises frames

	mu      sync.Mutex
	killed  error // reason why we killed it
	last    uint32
	streams map[uint32]*stream
}

func startChild(cfg EngineConfig, name string) (*child, error) {
	c := &child{
		cmd: cfg.Command(cfg.args()...), words: &lastWords{},
		ready: make(chan struct{}), dead: make(chan struct{}), streams: map[uint32]*stream{},
	}
	fail := func(err error) (*child, error) {
		return nil, fmt.Errorf("cannot start the speech engine: %w; install the program again", err)
	}
	if c.cmd.Env == nil {
		c.cmd.Env = os.Environ()
	}
	// After an abort, a Go traceback would push the library's last output out of the
	// buffer.
	c.cmd.Env = append(c.cmd.Env, "GOTRACEBACK=none")
	c.cmd.Stderr, c.cmd.WaitDelay = c.words, stopTimeout
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return fail(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return fail(err)
	}
	if err := c.cmd.Start(); err != nil {
		return fail(err)
	}
	loading := time.AfterFunc(loadTimeout, func() { c.kill(errTimeout("loaded its model")) })
	go func() {
		c.read(out, loading)
		loading.Stop()
		status := c.cmd.Wait()
		c.err = c.epitaph(cfg, name, status)
		close(c.dead)
	}()
	return c, nil
}

// read dispatches the child's lines until it exits.
func (c *child) read(out io.Reader, loading *time.Timer) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 2*maxFrame)
	for lines.Scan() {
		r, err := readReply(lines.Bytes())
		if err != nil {
			continue
		}
		if r.Ready != nil {
			if loading.Stop() {
				close(c.ready)
			}
			continue
		}
		c.mu.Lock()
		s := c.streams[r.Stream]
		if r.last() {
			delete(c.streams, r.Stream)
			c.served.Store(true)
		}
		c.mu.Unlock()
		if s != nil {
			s.push(r)
		}
	}
	if lines.Err() != nil {
		c.kill(errors.New("the speech engine wrote a line that is too long"))
	}
}

// epitaph returns why the child exited. Output printed after loading may contain spoken
// text, so only the exit status is used then.
func (c *child) epitaph(cfg EngineConfig, name string, status error) error {
	c.mu.Lock()
	killed := c.killed
	c.mu.Unlock()
	if killed != nil {
		return killed
	}
	select {
	case <-c.ready:
		return fmt.Errorf("the speech engine of %s has ended (%v); it starts again with the next sentence", name, status)
	default:
	}
	words := shorten(c.words.said())
	for _, m := range cfg.Models {
		words = strings.ReplaceAll(words, m.dir+string(os.PathSeparator), "")
	}
	if words == "" {
		words = fmt.Sprint(status)
	}
	if strings.Contains(words, "; ") { // our own error, which includes a fix
		return fmt.Errorf("cannot load %s: %s", name, words)
	}
	return fmt.Errorf("cannot load %s: %s; install the model again", name, words)
}

func (c *child) isDead() bool {
	select {
	case <-c.dead:
		return true
	default:
		return false
	}
}

// kill kills the child; why becomes its error.
func (c *child) kill(why error) {
	c.mu.Lock()
	if c.killed == nil {
		c.killed = why
	}
	c.mu.Unlock()
	_ = c.cmd.Process.Kill() // it may already have exited
}

// stop asks the child to exit and waits until it has.
func (c *child) stop() {
	c.mu.Lock()
	if c.killed == nil {
		c.killed = errStopped
	}
	c.mu.Unlock()
	_ = c.stdin.Close()
	timer := time.AfterFunc(stopTimeout, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	<-c.dead
}

// open opens a stream.
func (c *child) open() *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	s := &stream{child: c, id: c.last, more: make(chan struct{}, 1)}
	c.streams[s.id] = s
	return s
}

// send writes a frame. A child that does not accept it in time is killed.
func (c *child) send(f frame) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	stalled := time.AfterFunc(replyTimeout, func() { c.kill(errTimeout("taken audio")) })
	defer stalled.Stop()
	if err := writeFrame(c.stdin, f); err != nil {
		<-c.dead // its input is closed: it has exited, or stop waits for it
		return c.err
	}
	return nil
}

// stream is one utterance or sentence in the child.
type stream struct {
	child *child
	id    uint32
	more  chan struct{} // signals a new reply; capacity 1

	mu      sync.Mutex
	partial string
	replies []reply
}

func (s *stream) push(r reply) {
	s.mu.Lock()
	if r.Partial != nil {
		s.partial = *r.Partial
	} else {
		s.replies = append(s.replies, r)
	}
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

func (s *stream) pop() (reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.replies) == 0 {
		return reply{}, false
	}
	r := s.replies[0]
	s.replies = s.replies[1:]
	return r, true
}

func (s *stream) send(kind frameKind, payload []byte) error {
	return s.child.send(frame{kind, s.id, payload})
}

// next waits for a reply. A nil done never fires. A child that does not reply in time
// is killed.
func (s *stream) next(done <-chan struct{}, limit time.Duration) (reply, error) {
	late := time.AfterFunc(limit, func() { s.child.kill(errTimeout("answered")) })
	defer late.Stop()
	for {
		if r, ok := s.pop(); ok {
			if r.Error != "" {
				return r, errors.New("speech engine: " + r.Error)
			}
			return r, nil
		}
		select {
		case <-s.more:
		case <-done:
			return reply{}, errCancelled
		case <-s.child.dead:
			if r, ok := s.pop(); ok { // a reply sent before it exited
				return r, nil
			}
			return reply{}, s.child.err
		}
	}
}

// errCancelled ends the wait of a caller that no longer wants the reply.
var errCancelled = errors.New("cancelled")

// cancel drops the stream in the child. It does not wait for a busy child.
func (s *stream) cancel() {
	s.child.mu.Lock()
	_, open := s.child.streams[s.id]
	delete(s.child.streams, s.id)
	s.child.mu.Unlock()
	if open && !s.child.isDead() {
		_ = s.send(frameCancel, nil) // a child that exited has dropped it
	}
}

// maxReason bounds the reason of a failure, in characters: an exception may quote the model.
const maxReason = 300

func shorten(text string) string {
	if r := []rune(text); len(r) > maxReason {
		return string(r[:maxReason]) + "…"
	}
	return text
}

// lastWords keeps the tail of the child's stderr.
type lastWords struct {
	mu   sync.Mutex
	text []byte
}

const maxWords = 16 << 10

// Write implements io.Writer.
func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	if n := len(w.text) - maxWords; n > 0 {
		w.text = append(w.text[:0], w.text[n:]...)
	}
	return len(p), nil
}

// sourceLine matches the beginning of a sherpa-onnx log line.
var sourceLine = regexp.MustCompile(`^\S+\.(cc|h):\S+?:\d+ `)

// said returns the most informative line: an exception's text, else the last line of
// the library's log, else the last line before a crash report.
func (w *lastWords) said() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := ""
	for line := range strings.Lines(string(w.text)) {
		line = strings.TrimSpace(line)
		if what, ok := strings.CutPrefix(line, "what():"); ok {
			return strings.TrimSpace(what)
		}
		if strings.HasPrefix(line, "SIG") || strings.HasPrefix(line, "fatal error") {
			break
		}
		if line = strings.TrimSpace(sourceLine.ReplaceAllString(line, "")); line != "" {
			last = strings.TrimPrefix(line, "agentvoice-daemon: ")
		}
	}
	return last
}
