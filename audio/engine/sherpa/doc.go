// Package sherpa computes models with sherpa-onnx, in the child process of package engine:
// sherpa-onnx aborts the process on some damaged model files, and exits on a model without
// metadata.
//
// Recognition uses two passes if both models are installed: the streaming model produces
// the partial results, and the other produces the final from the whole utterance. A
// streaming model alone does both; the other model alone produces only finals.
//
// # Invariants
//
// Only a library of exactly Version is used, because structure layouts change between
// releases. Spoken and recognised text never reaches a log, an error or a disk.
package sherpa

import (
	"sync"
	"syscall"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
)

// Load is an engine.Loader.
func Load(models []engine.Model, o engine.Options, to *engine.Link) (engine.Worker, error) {
	l, err := libraryOf(o)
	if err != nil {
		return nil, err
	}
	if models[0].Use() == engine.Speech {
		return loadVoice(l, models[0], o.Threads, to)
	}
	return loadHearing(l, models, o.Threads, to)
}

// loaded is the process's library.
var loaded struct {
	sync.Mutex
	library *library
}

func libraryOf(o engine.Options) (*library, error) {
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.library == nil {
		l, err := loadLibrary(o.Runtime, o.Library)
		if err != nil {
			return nil, err
		}
		loaded.library = l
	}
	return loaded.library, nil
}

// refused ends the process for a model that the library does not take, as the library does
// for other faults of a model. It printed the reason on stderr, which the parent reads to its
// end.
func refused() { syscall.Exit(1) }
