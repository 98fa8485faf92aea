package tonemodel

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
)

// Types of tensors (onnx.proto, TensorProto.DataType).
const (
	float32s = 1
	int32s   = 6
	int64s   = 7
)

// graph is an ONNX graph under construction. Its parts are encoded as they are added.
type graph struct {
	nodes, inputs, outputs, constants []byte
	metadata                          map[string]string
}

// The wire format of protobuf: a varint or a length-delimited field.

func tag(b []byte, field, wire int) []byte { return binary.AppendUvarint(b, uint64(field<<3|wire)) }

func number(b []byte, field int, v int64) []byte {
	return binary.AppendUvarint(tag(b, field, 0), uint64(v))
}

func message(b []byte, field int, m []byte) []byte {
	return append(binary.AppendUvarint(tag(b, field, 2), uint64(len(m))), m...)
}

func text(b []byte, field int, s string) []byte { return message(b, field, []byte(s)) }

// value is a ValueInfoProto. A dimension is a size, or the name of a dynamic dimension.
func value(name string, kind int, dims []any) []byte {
	var shape []byte
	for _, d := range dims {
		switch d := d.(type) {
		case int:
			shape = message(shape, 1, number(nil, 1, int64(d)))
		case string:
			shape = message(shape, 1, text(nil, 2, d))
		}
	}
	tensor := message(number(nil, 1, int64(kind)), 2, shape)
	return message(text(nil, 1, name), 2, message(nil, 1, tensor))
}

func (g *graph) input(name string, kind int, dims ...any) {
	g.inputs = message(g.inputs, 11, value(name, kind, dims))
}

func (g *graph) output(name string, kind int, dims ...any) {
	g.outputs = message(g.outputs, 12, value(name, kind, dims))
}

func (g *graph) constant(name string, kind int, raw []byte, dims []int64) {
	var t []byte
	for _, d := range dims {
		t = number(t, 1, d)
	}
	t = message(text(number(t, 2, int64(kind)), 8, name), 9, raw)
	g.constants = message(g.constants, 5, t)
}

func (g *graph) floats(name string, values []float32, dims ...int64) {
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	g.constant(name, float32s, raw, dims)
}

func (g *graph) ints(name string, values ...int64) {
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	g.constant(name, int64s, raw, []int64{int64(len(values))})
}

// attributes holds the attributes of a node: an int, or a list of ints.
type attributes map[string]any

func (g *graph) node(op string, inputs, outputs []string, attrs attributes) {
	var n []byte
	for _, name := range inputs {
		n = text(n, 1, name)
	}
	for _, name := range outputs {
		n = text(n, 2, name)
	}
	n = text(n, 4, op)
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		a := text(nil, 1, name)
		switch v := attrs[name].(type) {
		case int:
			a = number(number(a, 3, int64(v)), 20, 2)
		case []int:
			for _, each := range v {
				a = number(a, 8, int64(each))
			}
			a = number(a, 20, 7)
		}
		n = message(n, 5, a)
	}
	g.nodes = message(g.nodes, 1, n)
}

// bytes returns the file: a ModelProto with opset 17.
func (g *graph) bytes() []byte {
	body := text(slices.Clone(g.nodes), 2, "tones")
	body = slices.Concat(body, g.constants, g.inputs, g.outputs)
	m := text(number(nil, 1, 8), 2, "agentvoice")
	m = message(m, 7, body)
	m = message(m, 8, number(text(nil, 1, ""), 2, 17))
	for _, key := range slices.Sorted(maps.Keys(g.metadata)) {
		m = message(m, 14, text(text(nil, 1, key), 2, g.metadata[key]))
	}
	return m
}
