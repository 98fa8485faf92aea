package engine

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
	"time"
)

// child is one run of the child process.
type child struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	words *lastWords
	dead  chan struct{} // closed when the process has exited
	err   error         // exit reason; read after dead

	writing sync.Mutex // serialises frames

	mu      sync.Mutex
	killed  error // reason why we killed it
	last    uint32
	streams map[uint32]*Stream
	loads   map[int]*loading // by worker
	ready   bool             // a worker has loaded its models
	answers map[int]bool     // workers that have answered a request
}

func startChild(p *Process) (*child, error) {
	c := &child{
		cmd: p.cfg.Command(p.args()...), words: &lastWords{}, dead: make(chan struct{}),
		streams: map[uint32]*Stream{}, loads: map[int]*loading{}, answers: map[int]bool{},
	}
	fail := func(err error) (*child, error) {
		return nil, fmt.Errorf("cannot start the speech engine: %w; install the program again", err)
	}
	if c.cmd.Env == nil {
		c.cmd.Env = os.Environ()
	}
	// After an abort, a Go traceback would push the library's last output out of the
	// buffer. The C library of Linux keeps what a runtime has freed unless it is told to
	// return it: 60 MB of Moonshine.
	c.cmd.Env = append(c.cmd.Env, "GOTRACEBACK=none", "MALLOC_TRIM_THRESHOLD_=131072")
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
	go func() {
		c.read(out, p.engines)
		status := c.cmd.Wait()
		c.err = c.epitaph(p.engines, status)
		close(c.dead)
	}()
	return c, nil
}

// await announces an attempt to load the models of a worker.
func (c *child) await(worker int, l *loading) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loads[worker] = l
}

// read dispatches the child's lines until it exits.
func (c *child) read(out io.Reader, engines []*Engine) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 2*MaxPayload)
	for lines.Scan() {
		r, err := readReply(lines.Bytes())
		switch {
		case err != nil:
		case r.Ready || r.Failed != "":
			c.loaded(r, engines)
		default:
			c.deliver(r)
		}
	}
	if lines.Err() != nil {
		c.kill(errors.New("the speech engine wrote a line that is too long"))
	}
}

// loaded ends the attempt to load the models of a worker.
func (c *child) loaded(r Reply, engines []*Engine) {
	c.mu.Lock()
	l := c.loads[r.Worker]
	c.ready = c.ready || r.Ready
	c.mu.Unlock()
	switch {
	case l == nil || r.Worker >= len(engines):
	case r.Ready:
		l.finish(nil)
		if r.TookMS > 0 {
			engines[r.Worker].measured(time.Duration(r.TookMS) * time.Millisecond)
		}
	default:
		l.finish(loadError(engines[r.Worker:r.Worker+1], r.Failed))
	}
}

// deliver passes a reply to its stream.
func (c *child) deliver(r Reply) {
	c.mu.Lock()
	s := c.streams[r.Stream]
	if r.last() {
		delete(c.streams, r.Stream)
		if s != nil {
			c.answers[s.worker] = true
		}
	}
	c.mu.Unlock()
	if s != nil {
		s.push(r)
	}
}

// served reports whether a worker has answered a request.
func (c *child) served(worker int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers[worker]
}

// epitaph returns why the child exited. Output printed after models were loaded may contain
// spoken text, so only the exit status is used then.
func (c *child) epitaph(engines []*Engine, status error) error {
	c.mu.Lock()
	killed, ready := c.killed, c.ready
	var tried []*Engine // that were being loaded
	for _, e := range engines {
		if l := c.loads[e.worker]; l != nil && (!ready || !l.isDone()) {
			tried = append(tried, e)
		}
	}
	c.mu.Unlock()
	switch {
	case killed != nil:
		return killed
	case ready || len(tried) == 0:
		return fmt.Errorf("the speech engine has ended (%v); it starts again with the next sentence", status)
	}
	words := c.words.said()
	if words == "" {
		words = fmt.Sprint(status)
	}
	return loadError(tried, words)
}

// loadError returns why models cannot be loaded, without the folders of the user.
func loadError(engines []*Engine, words string) error {
	words = shorten(words)
	names := make([]string, len(engines))
	for i, e := range engines {
		names[i] = e.Name()
		for _, m := range e.models {
			words = strings.ReplaceAll(words, m.dir+string(os.PathSeparator), "")
		}
	}
	name := strings.Join(names, " and ")
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

// open opens a stream to a worker.
func (c *child) open(worker int) *Stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	s := &Stream{child: c, id: c.last, worker: worker, more: make(chan struct{}, 1)}
	c.streams[s.id] = s
	return s
}

// send writes a frame. A child that does not accept it in time is killed.
func (c *child) send(f Frame) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	defer c.deadline(ReplyTimeout, "taken audio").stop()
	if err := writeFrame(c.stdin, f); err != nil {
		<-c.dead // its input is closed: it has exited, or stop waits for it
		return c.err
	}
	return nil
}

// Stream is one utterance, text or judgement in the child.
type Stream struct {
	child  *child
	id     uint32
	worker int
	more   chan struct{} // signals a new reply; capacity 1

	mu      sync.Mutex
	partial string
	replies []Reply
}

func (s *Stream) push(r Reply) {
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

func (s *Stream) pop() (Reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.replies) == 0 {
		return Reply{}, false
	}
	r := s.replies[0]
	s.replies = s.replies[1:]
	return r, true
}

// Partial returns the last partial result.
func (s *Stream) Partial() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.partial
}

// Send sends a frame. It blocks if the child is seconds behind.
func (s *Stream) Send(kind FrameKind, payload []byte) error {
	return s.child.send(Frame{Kind: kind, Stream: s.id, Payload: payload, worker: byte(s.worker)})
}

// Next waits for a reply. A nil done never fires; a done one is ErrCancelled. A child that
// does not reply in time is killed; see deadline for what counts as time.
func (s *Stream) Next(done <-chan struct{}, limit time.Duration) (Reply, error) {
	defer s.child.deadline(limit, "answered").stop()
	for dead := false; ; {
		if r, ok := s.pop(); ok {
			if r.Error != "" {
				return r, errors.New("speech engine: " + r.Error)
			}
			return r, nil
		}
		if dead {
			return Reply{}, s.child.err
		}
		select {
		case <-s.more:
		case <-done:
			return Reply{}, ErrCancelled
		case <-s.child.dead:
			dead = true // it may have replied before it exited
		}
	}
}

// ErrCancelled ends the wait of a caller that no longer wants the reply.
var ErrCancelled = errors.New("cancelled")

// Cancel drops the stream in the child. It does not wait for a busy child.
func (s *Stream) Cancel() {
	s.child.mu.Lock()
	_, open := s.child.streams[s.id]
	delete(s.child.streams, s.id)
	s.child.mu.Unlock()
	if open && !s.child.isDead() {
		_ = s.Send(Cancel, nil) // a child that exited has dropped it
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
var sourceLine = regexp.MustCompile(`^\S+\.(cc|h):\S+?:\d+ (Failed to create \w+: )?`)

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
