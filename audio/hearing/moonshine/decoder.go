//go:build cgo

package moonshine

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/agentvoice/agentvoice-daemon/audio/engine/onnx"
)

// The dimensions of Moonshine tiny.
const (
	layers  = 6
	heads   = 8
	headDim = 36
	hidden  = 288
	caches  = 2 * layers // a key and a value for each layer
)

// decoder is the merged decoder: one branch of it begins a transcript, and one continues
// it with cached keys and values.
type decoder struct {
	*onnx.Session
	self, encoded       [caches]string // inputs, by cache
	selfOut, encodedOut [caches]string // outputs, by cache

	// Memory of the run in progress, kept for the next one.
	in, out batch
	logits  []float32
}

func newDecoder(s *onnx.Session) (*decoder, error) {
	d := &decoder{Session: s}
	inputs := []string{"encoder_attention_mask", "input_ids", "encoder_hidden_states", "use_cache_branch"}
	outputs := []string{"logits"}
	for i := range caches {
		kind := [2]string{"key", "value"}[i%2]
		d.self[i] = fmt.Sprintf("past_key_values.%d.decoder.%s", i/2, kind)
		d.encoded[i] = fmt.Sprintf("past_key_values.%d.encoder.%s", i/2, kind)
		d.selfOut[i] = fmt.Sprintf("present.%d.decoder.%s", i/2, kind)
		d.encodedOut[i] = fmt.Sprintf("present.%d.encoder.%s", i/2, kind)
		inputs = append(inputs, d.self[i], d.encoded[i])
		outputs = append(outputs, d.selfOut[i], d.encodedOut[i])
	}
	for _, n := range slices.Concat(inputs, outputs) {
		if !slices.Contains(s.Inputs, n) && !slices.Contains(s.Outputs, n) {
			return nil, fmt.Errorf("%s has no tensor %s; install Moonshine tiny again", decoderFile, n)
		}
	}
	if len(s.Inputs) != len(inputs) || len(s.Outputs) != len(outputs) {
		return nil, fmt.Errorf("%s has other tensors than Moonshine tiny; install it again", decoderFile)
	}
	return d, nil
}

func (d *decoder) close() error { return d.Session.Close() }

// batch is the cached keys and values of some hypotheses of the same length: for each
// cache [rows, heads, length, headDim].
type batch struct {
	rows, length int
	caches       [caches][]float32
}

func (b *batch) shape() ort.Shape {
	return ort.NewShape(int64(b.rows), heads, int64(b.length), headDim)
}

// resize makes room for a batch of this size. The content is undefined.
func (b *batch) resize(rows, length int) {
	b.rows, b.length = rows, length
	n := rows * heads * length * headDim
	for i := range b.caches {
		b.caches[i] = slices.Grow(b.caches[i][:0], n)[:n]
	}
}

// gather makes the batch of rows of another one.
func (b *batch) gather(from *batch, rows []int) {
	b.resize(len(rows), from.length)
	n := heads * from.length * headDim
	for i := range b.caches {
		for to, row := range rows {
			copy(b.caches[i][to*n:(to+1)*n], from.caches[i][row*n:(row+1)*n])
		}
	}
}

// begin runs the decoder on the encoder's output, [1, frames, hidden].
func (d *decoder) begin(encoded *ort.Tensor[float32]) (*Sound, error) {
	frames := encoded.GetShape()[1]
	var t tensors
	defer t.destroy()
	inputs := make([]ort.Value, len(d.Inputs))
	empty := of(&t, ort.NewShape(1, heads, 0, headDim), []float32{})
	for i, name := range d.Inputs {
		switch name {
		case "encoder_attention_mask":
			// One for all samples: the model takes every 384th as the mask of a frame.
			inputs[i] = of(&t, ort.NewShape(1, 1), ones(1))
		case "input_ids":
			inputs[i] = of(&t, ort.NewShape(1, 1), []int64{tokenBegin})
		case "encoder_hidden_states":
			inputs[i] = encoded
		case "use_cache_branch":
			inputs[i] = of(&t, ort.NewShape(1), []bool{false})
		default:
			inputs[i] = empty
		}
	}
	if t.err != nil {
		return nil, fmt.Errorf("moonshine: cannot decode: %w", t.err)
	}
	outputs := make([]ort.Value, len(d.Outputs))
	err := d.Run(inputs, outputs)
	t.add(outputs...)
	if err != nil {
		return nil, fmt.Errorf("moonshine: cannot decode: %w", err)
	}
	s := &Sound{frames: frames, encoded: make([][]float32, caches), first: batch{rows: 1, length: 1}}
	for i, name := range d.Outputs {
		data := outputs[i].(*ort.Tensor[float32]).GetData()
		if name == "logits" {
			s.logits = data
		} else if c := slices.Index(d.selfOut[:], name); c >= 0 {
			s.first.caches[c] = data
		} else {
			s.encoded[slices.Index(d.encodedOut[:], name)] = data
		}
	}
	return s, nil
}

// run continues transcripts of a sound. There is one at a time.
type run struct {
	decoder *decoder
	sound   *Sound
	binding *ort.IoBinding
	fixed   tensors // inputs of all steps
	last    *batch
}

// resume returns a run whose batch is the beginning of a transcript.
func (d *decoder) resume(s *Sound) (*run, error) {
	r := &run{decoder: d, sound: s, last: &s.first}
	var err error
	if r.binding, err = d.CreateIoBinding(); err != nil {
		return nil, fmt.Errorf("moonshine: cannot decode: %w", err)
	}
	r.bindInput(&r.fixed, "use_cache_branch", of(&r.fixed, ort.NewShape(1), []bool{true}))
	// This branch has the encoder's output in the caches and does not read it again.
	r.bindInput(&r.fixed, "encoder_attention_mask", of(&r.fixed, ort.NewShape(1, 1), ones(1)))
	r.bindInput(&r.fixed, "encoder_hidden_states", of(&r.fixed, ort.NewShape(1, 1, hidden), make([]float32, hidden)))
	for i, name := range d.encoded {
		r.bindInput(&r.fixed, name, of(&r.fixed, ort.NewShape(1, heads, s.frames, headDim), s.encoded[i]))
	}
	if r.fixed.err != nil {
		r.close()
		return nil, fmt.Errorf("moonshine: cannot decode: %w", r.fixed.err)
	}
	return r, nil
}

func (r *run) close() {
	_ = r.binding.Destroy() // cannot fail
	r.fixed.destroy()
}

func (r *run) bindInput(t *tensors, name string, v ort.Value) {
	if t.err == nil {
		t.err = r.binding.BindInput(name, v)
	}
}

func (r *run) bindOutput(t *tensors, name string, v ort.Value) {
	if t.err == nil {
		t.err = r.binding.BindOutput(name, v)
	}
}

func (r *run) step(parents []int, tokens []int32) ([][]float32, error) {
	d, rows := r.decoder, len(tokens)
	d.in.gather(r.last, parents)
	d.out.resize(rows, d.in.length+1)
	d.logits = slices.Grow(d.logits[:0], rows*numTokens)[:rows*numTokens]
	ids := make([]int64, rows)
	for i, t := range tokens {
		ids[i] = int64(t)
	}
	var t tensors
	defer t.destroy()
	n := int64(rows)
	r.bindInput(&t, "input_ids", of(&t, ort.NewShape(n, 1), ids))
	r.bindOutput(&t, "logits", of(&t, ort.NewShape(n, 1, numTokens), d.logits))
	for i := range caches {
		r.bindInput(&t, d.self[i], of(&t, d.in.shape(), d.in.caches[i]))
		r.bindOutput(&t, d.selfOut[i], of(&t, d.out.shape(), d.out.caches[i]))
	}
	if t.err == nil {
		t.err = d.RunWithBinding(r.binding)
	}
	runtime.KeepAlive(r)
	if t.err != nil {
		return nil, fmt.Errorf("moonshine: cannot decode: %w", t.err)
	}
	r.last = &d.out
	logits := make([][]float32, rows)
	for i := range logits {
		logits[i] = d.logits[i*numTokens : (i+1)*numTokens]
	}
	return logits, nil
}

func ones(n int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// tensors are tensors to destroy together, and the first error of making one.
type tensors struct {
	list []ort.Value
	err  error
}

// of makes a tensor that shares its data's memory.
func of[T ort.TensorData](t *tensors, shape ort.Shape, data []T) *ort.Tensor[T] {
	v, err := ort.NewTensor(shape, data)
	if err != nil {
		t.err = errors.Join(t.err, err)
		return nil
	}
	t.add(v)
	return v
}

func (t *tensors) add(values ...ort.Value) {
	for _, v := range values {
		if v != nil {
			t.list = append(t.list, v)
		}
	}
}

func (t *tensors) destroy() {
	for _, v := range t.list {
		_ = v.Destroy() // cannot fail
	}
	t.list = nil
}
