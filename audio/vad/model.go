//go:build cgo

package vad

import (
	"sync"

	"github.com/agentvoice/agentvoice-daemon/audio/engine/onnx"
)

// model is a loaded model. It is stateless between windows: each detector keeps its state
// in its own tensors, so any number of them can share it concurrently.
type model struct {
	*onnx.Session
	path, runtime string
	users         int
}

// models are the loaded models.
var models struct {
	sync.Mutex
	list  map[string]*model // by path
	loads int               // models loaded so far
}

// acquireModel returns the model at modelPath and loads it if no detector uses it yet.
func acquireModel(modelPath, runtimePath string) (*model, error) {
	models.Lock()
	defer models.Unlock()
	if m := models.list[modelPath]; m != nil && runtimePath == m.runtime {
		m.users++
		return m, nil
	}
	// A window takes 0.1 ms, so more threads would only add context switches.
	session, err := onnx.Open(modelPath, runtimePath, 1)
	if err != nil {
		return nil, err
	}
	m := &model{Session: session, path: modelPath, runtime: runtimePath, users: 1}
	if models.list == nil {
		models.list = map[string]*model{}
	}
	models.list[modelPath] = m
	models.loads++
	return m, nil
}

// releaseModel frees a model after its last user.
func releaseModel(m *model) error {
	models.Lock()
	defer models.Unlock()
	if m.users--; m.users > 0 {
		return nil
	}
	delete(models.list, m.path)
	return m.Close()
}
