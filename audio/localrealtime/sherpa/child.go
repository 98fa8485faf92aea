package sherpa

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"sync"
)

// childConfig is what the child process is started with.
type childConfig struct {
	libraries Libraries
	models    []string // folders: of one or two recognisers, of one voice, or of one end-of-turn model
	threads   int      // that the models compute with
}

// queuedFrames is how many frames wait while the child computes. At 32 ms of audio
// each that is 8 s; then the parent's writes wait.
const queuedFrames = 256

// parseArgs reads what EngineConfig.args wrote.
func parseArgs(args []string) (childConfig, error) {
	var cfg childConfig
	fs := flag.NewFlagSet("engine", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&cfg.libraries.Runtime, "runtime", "", "")
	fs.StringVar(&cfg.libraries.Sherpa, "library", "", "")
	fs.IntVar(&cfg.threads, "threads", 1, "")
	fs.Func("model", "", func(dir string) error { cfg.models = append(cfg.models, dir); return nil })
	if err := fs.Parse(args); err != nil {
		return cfg, err
	}
	if len(cfg.models) == 0 || fs.NArg() > 0 {
		return cfg, errors.New("the speech engine is started by the daemon, with its libraries and models; use `agentvoice-daemon talk`")
	}
	return cfg, nil
}

// Serve is the child process, with the arguments of EngineConfig.Command: it loads the
// models, says so, and serves the frames of in until it ends. A damaged model ends the
// process.
func Serve(args []string, in io.Reader, out io.Writer) error {
	cfg, err := parseArgs(args)
	if err != nil {
		return err
	}
	models := make([]Model, len(cfg.models))
	for i, dir := range cfg.models {
		if models[i], err = ReadModel(dir); err != nil {
			return err
		}
	}
	c := &server{encode: json.NewEncoder(out), cancelled: map[uint32]bool{}}
	var (
		work func(frame)
		info ready
	)
	turns := len(models) == 1 && models[0].Use() == TurnEnd
	if !turns {
		if c.library, err = loadLibrary(cfg.libraries); err != nil {
			return err
		}
	}
	switch {
	case turns:
		work, err = c.loadTurn(cfg.libraries.Runtime, models[0], cfg.threads)
	case len(models) == 1 && models[0].Use() == Speech:
		work, info, err = c.loadVoice(models[0], cfg.threads)
	default:
		work, err = c.loadHearing(models, cfg.threads)
	}
	if err != nil {
		return err
	}
	c.send(reply{Ready: &info})
	frames := make(chan frame, queuedFrames)
	defer close(frames)
	go func() {
		for f := range frames {
			work(f)
		}
	}()
	for {
		f, err := readFrame(in)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil // the parent has ended, or wants no more
		}
		if err != nil {
			return err
		}
		if f.kind == frameCancel {
			c.mu.Lock()
			c.cancelled[f.stream] = true // before its turn: a sentence may be under way
			c.mu.Unlock()
		}
		frames <- f
	}
}

// server is the state of the child.
type server struct {
	*library

	mu        sync.Mutex
	encode    *json.Encoder
	cancelled map[uint32]bool // until the worker has seen the frame, too
}

func (c *server) send(r reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.encode.Encode(r) // a parent that does not read has ended, and so does the input
}

func (c *server) isCancelled(stream uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancelled[stream]
}

// forget is the end of a stream that was cancelled.
func (c *server) forget(stream uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.cancelled, stream)
}

// errModel is the failure of a model that the library refuses without ending the
// process; it has said why on stderr.
func errModel(m Model) error { return fmt.Errorf("sherpa-onnx refuses the model %s", m.Name) }
