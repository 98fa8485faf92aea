package sherpa

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"sync"
)

// childConfig is the configuration of the child process.
type childConfig struct {
	libraries Libraries
	models    []string // folders: one or two recognisers, one voice, or one end-of-turn model
	threads   int      // number of compute threads
}

// queuedFrames is the number of frames queued while the child computes: 8 s at 32 ms of
// audio per frame. Beyond that, the parent's writes block.
const queuedFrames = 256

// parseArgs parses the output of EngineConfig.args.
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

// Serve runs the child process with the arguments of EngineConfig.Command. It loads the
// models, reports that they are ready, and serves the frames of in until it ends. A
// damaged model terminates the process.
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
			return nil // the parent has exited or closed the input
		}
		if err != nil {
			return err
		}
		if f.kind == frameCancel {
			c.mu.Lock()
			c.cancelled[f.stream] = true // out of order, because a sentence may be in progress
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
	cancelled map[uint32]bool // until the worker has also seen the frame
}

func (c *server) send(r reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.encode.Encode(r) // a parent that does not read has exited, so the input ends too
}

func (c *server) isCancelled(stream uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancelled[stream]
}

// forget ends a cancelled stream.
func (c *server) forget(stream uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.cancelled, stream)
}

// errModel reports a model that the library rejects without terminating the process;
// the library printed the reason on stderr.
func errModel(m Model) error { return fmt.Errorf("sherpa-onnx refuses the model %s", m.Name) }
