//go:build cgo

package onnx

import (
	"path/filepath"
	"strings"
	"testing"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

func files(t *testing.T) (model, runtime string) {
	t.Helper()
	model, err := assets.Silero()
	if err != nil {
		t.Fatal(err)
	}
	if runtime, err = assets.ONNXRuntime(); err != nil {
		t.Fatal(err)
	}
	return model, runtime
}

// TestSessionsShareTheRuntime: the runtime lives as long as its last session, and a closed
// one can be closed again.
func TestSessionsShareTheRuntime(t *testing.T) {
	model, runtime := files(t)
	first, err := Open(model, runtime, 1)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Open(model, runtime, 1)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var inputs []ort.Value
	for _, shape := range []ort.Shape{{1, 576}, {2, 1, 128}} {
		v, err := ort.NewEmptyTensor[float32](shape)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, v)
	}
	rate, err := ort.NewTensor(ort.NewShape(1), []int64{16000})
	if err != nil {
		t.Fatal(err)
	}
	inputs, outputs := append(inputs, rate), make([]ort.Value, len(second.Outputs))
	if got := strings.Join(second.Inputs, " "); got != "input state sr" {
		t.Fatalf("the model's inputs are %s", got)
	}
	if err := second.Run(inputs, outputs); err != nil {
		t.Fatal(err)
	}
	if p := outputs[0].(*ort.Tensor[float32]).GetData()[0]; !(p >= 0 && p < 0.5) {
		t.Errorf("silence is speech with a probability of %v", p)
	}
	if _, err := Open(model, runtime+".other", 1); err == nil || !strings.Contains(err.Error(), "another one is in use") {
		t.Errorf("a second runtime: %v", err)
	}
	for _, v := range append(inputs, outputs...) {
		if err := v.Destroy(); err != nil { // before the runtime is gone
			t.Error(err)
		}
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if ort.IsInitialized() {
		t.Error("the runtime outlives its last session")
	}
}

// TestOpenNamesFilesWithoutFolders checks the errors of files that are missing or not what
// they should be.
func TestOpenNamesFilesWithoutFolders(t *testing.T) {
	model, runtime := files(t)
	dir := filepath.Dir(model)
	for _, tt := range []struct{ model, runtime, want string }{
		{filepath.Join(dir, "none.onnx"), runtime, "cannot read the model none.onnx"},
		{runtime, runtime, "cannot load the model " + filepath.Base(runtime)},
		{model, filepath.Join(dir, "none.so"), "cannot load ONNX Runtime from none.so"},
		{model, model, "cannot load ONNX Runtime from " + filepath.Base(model)},
	} {
		_, err := Open(tt.model, tt.runtime, 1)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), dir) {
			t.Errorf("Open(%s, %s) = %v", filepath.Base(tt.model), filepath.Base(tt.runtime), err)
		}
		if ort.IsInitialized() {
			t.Error("the runtime stays loaded after a failure")
		}
	}
}
