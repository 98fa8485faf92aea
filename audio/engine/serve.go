package engine

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"sync"
	"time"
)

// queuedFrames is the number of frames queued while a worker computes: 8 s at 32 ms of
// audio per frame. Beyond that, the parent's writes block.
const queuedFrames = 256

// Options are the libraries and the compute threads of a child.
type Options struct {
	// Runtime is the path of the ONNX Runtime library.
	Runtime string
	// Library is the path of the library that computes models of kinds that are not
	// computed by ONNX Runtime alone; "" if there are none.
	Library string
	// Threads is the number of compute threads of each model. Zero means one.
	Threads int
}

// Worker computes one or two models in the child.
type Worker interface {
	// Work answers a frame. Frames come in the order in which they were sent, on one
	// goroutine.
	Work(f Frame)
	// Close frees the models.
	Close() error
}

// Measured is implemented by a Worker that measures, after it is loaded, how soon it answers.
type Measured interface {
	// Measure returns how soon the first audio of a few words is there.
	Measure() time.Duration
}

// Loader loads the models of a worker, which sends its replies to the link.
type Loader func(models []Model, o Options, to *Link) (Worker, error)

// childConfig is what the parent passes to the child: its libraries, and the folders of the
// models of each worker.
type childConfig struct {
	Options
	workers [][]string
}

// parseArgs parses the output of Process.args.
func parseArgs(args []string) (childConfig, error) {
	var cfg childConfig
	fs := flag.NewFlagSet("engine", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&cfg.Runtime, "runtime", "", "")
	fs.StringVar(&cfg.Library, "library", "", "")
	fs.IntVar(&cfg.Threads, "threads", 1, "")
	fs.BoolFunc("worker", "", func(string) error { cfg.workers = append(cfg.workers, nil); return nil })
	fs.Func("model", "", func(dir string) error {
		if len(cfg.workers) == 0 {
			return errors.New("a model without a worker")
		}
		w := &cfg.workers[len(cfg.workers)-1]
		*w = append(*w, dir)
		return nil
	})
	if err := fs.Parse(args); err != nil {
		return cfg, err
	}
	if len(cfg.workers) == 0 || fs.NArg() > 0 {
		return cfg, errors.New("the speech engine is started by the daemon, with its libraries and models; use `agentvoice-daemon talk`")
	}
	return cfg, nil
}

// Serve runs the child process with the arguments of Config.Command, and serves the frames
// of in until it ends. load chooses the loader of a model's kind. A damaged model may
// terminate the process.
func Serve(args []string, in io.Reader, out io.Writer, load func(Model) Loader) error {
	cfg, err := parseArgs(args)
	if err != nil {
		return err
	}
	yield()
	to := NewLink(out)
	queues := make([]chan Frame, len(cfg.workers))
	for i, dirs := range cfg.workers {
		queues[i] = make(chan Frame, queuedFrames)
		defer close(queues[i])
		w := &slot{index: i, dirs: dirs, options: cfg.Options, load: load, to: to}
		go w.run(queues[i])
	}
	for {
		f, err := readFrame(in)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil // the parent has exited or closed the input
		case err != nil:
			return err
		case int(f.worker) >= len(queues):
			return fmt.Errorf("there is no worker %d", f.worker)
		}
		if f.Kind == Cancel {
			to.cancel(f.Stream) // out of order, because the worker may be busy with it
		}
		queues[f.worker] <- f
	}
}

// slot is the place of a worker in the child.
type slot struct {
	index   int
	dirs    []string
	options Options
	load    func(Model) Loader
	to      *Link
	worker  Worker // nil unless loaded
}

func (s *slot) run(frames <-chan Frame) {
	for f := range frames {
		switch {
		case f.Kind == Load:
			if err := s.open(); err != nil {
				s.to.Send(Reply{Worker: s.index, Failed: err.Error()})
			} else {
				s.to.Send(Reply{Worker: s.index, Ready: true})
				if m, ok := s.worker.(Measured); ok {
					s.to.Send(Reply{Worker: s.index, Ready: true, TookMS: m.Measure().Milliseconds()})
				}
			}
		case f.Kind == Unload:
			s.close()
		case f.Kind == Cancel && s.worker == nil:
			s.to.Forget(f.Stream)
		case s.worker == nil:
			s.to.Send(Reply{Stream: f.Stream, Error: "the model is not loaded"})
		default:
			s.worker.Work(f)
			if f.Kind == Cancel {
				s.to.Forget(f.Stream)
			}
		}
	}
}

func (s *slot) open() error {
	if s.worker != nil {
		return nil
	}
	models := make([]Model, len(s.dirs))
	for i, dir := range s.dirs {
		var err error
		if models[i], err = ReadModel(dir); err != nil {
			return err
		}
	}
	worker, err := s.load(models[0])(models, s.options, s.to)
	if err != nil {
		return err
	}
	s.worker = worker
	return nil
}

func (s *slot) close() {
	if s.worker != nil {
		_ = s.worker.Close() // the process could do nothing about it
		s.worker = nil
	}
}

// Link carries the replies of workers to the parent. It is safe for concurrent use.
type Link struct {
	mu      sync.Mutex
	encode  *json.Encoder
	streams map[uint32]live
}

// NewLink returns a link that writes to a pipe to the parent.
func NewLink(out io.Writer) *Link {
	return &Link{encode: json.NewEncoder(out), streams: map[uint32]live{}}
}

// live is a stream that the parent can cancel.
type live struct {
	ctx    context.Context
	cancel context.CancelFunc
}

// Send sends a reply. The last one ends the stream.
func (l *Link) Send(r Reply) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.encode.Encode(r) // a parent that does not read has exited, so the input ends too
}

// Context returns a context that is done once the parent has cancelled the stream.
func (l *Link) Context(stream uint32) context.Context { return l.stream(stream).ctx }

func (l *Link) cancel(stream uint32) { l.stream(stream).cancel() }

func (l *Link) stream(number uint32) live {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, known := l.streams[number]
	if !known {
		s.ctx, s.cancel = context.WithCancel(context.Background())
		l.streams[number] = s
	}
	return s
}

// Forget ends a stream that a worker has asked the context of, or that was cancelled.
func (l *Link) Forget(stream uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, known := l.streams[stream]; known {
		s.cancel()
		delete(l.streams, stream)
	}
}
