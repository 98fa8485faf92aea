package explore

import (
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"reflect"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

// key identifies a composite state: half of the SHA-256 of its canonical form. With ten
// million states the probability of a collision is below 1e-24.
type key [16]byte

// coder writes canonical forms. Each worker has its own; it is not safe for
// concurrent use.
type coder struct {
	buf    []byte
	known  [world.NumFamilies][]uint64
	now    time.Duration
	limits *world.Limits
	base   *csm.Config
	last   *csm.Config // last configuration equal to base; most states share it
	state  *csm.State  // the state being written,
	items  int         // and its history length

	programs map[reflect.Type]program
}

// program writes one value of a type.
type program func(*coder, reflect.Value)

func newCoder(l *world.Limits) *coder {
	return &coder{limits: l, base: &l.Config, programs: map[reflect.Type]program{}}
}

// key returns the identity of a composite state.
func (c *coder) key(s *csm.State, w *world.Env) key {
	c.begin(s, w)
	c.value(reflect.ValueOf(s).Elem())
	c.env(w)
	sum := sha256.Sum256(c.buf)
	return key(sum[:16])
}

// core returns the canonical form of the core alone. It is valid until the next call.
func (c *coder) core(s *csm.State, w *world.Env) []byte {
	c.begin(s, w)
	c.value(reflect.ValueOf(s).Elem())
	return c.buf
}

func (c *coder) begin(s *csm.State, w *world.Env) {
	c.buf, c.now, c.state = c.buf[:0], w.Now, s
	for f := range c.known {
		c.known[f] = c.known[f][:0]
	}
	// The last allocated ids come first: whether an id is the live one matters.
	c.id(world.Turns, s.IDs.Turn)
	c.id(world.Requests, s.IDs.Request)
	c.id(world.Epochs, uint64(s.IDs.Epoch))
	c.id(world.Instances, uint64(s.Instance))
	c.id(world.Generations, uint64(s.Speech.Generation()))
	c.buf = c.buf[:0]
}

func (c *coder) byte(b byte) { c.buf = append(c.buf, b) }
func (c *coder) bool(b bool) {
	if b {
		c.byte(1)
	} else {
		c.byte(0)
	}
}
func (c *coder) uint(n uint64) { // most values are small
	for ; n >= 0x80; n >>= 7 {
		c.byte(byte(n) | 0x80)
	}
	c.byte(byte(n))
}

// env writes the part of the environment that the future depends on.
func (c *coder) env(w *world.Env) {
	c.byte(w.Posts.N)
	for _, k := range w.Posts.All() {
		c.byte(byte(k))
	}
	c.byte(w.Owed.N)
	for _, it := range w.Owed.All() {
		c.byte(it.Rule)
		c.byte(it.Stage)
		c.byte(it.Count)
		c.bool(it.Cancelled)
		id, gen := it.Families()
		c.id(id, it.ID)
		if gen != world.NoFamily {
			c.id(gen, uint64(it.Gen))
		} else {
			c.uint(uint64(it.Gen))
		}
	}
	for _, p := range w.Parts {
		c.byte(byte(p))
	}
	c.byte(byte(w.Lost))
	c.bool(w.Playing)
	c.bool(w.Paused)
	c.bool(w.Hearing)
	c.id(world.Epochs, uint64(w.Epoch))
	c.id(world.Epochs, uint64(w.Successor))
	c.id(world.Utterances, w.Open)
	c.bool(w.Silent)
	c.id(world.Calls, w.Asking)
	c.byte(w.Said)
	c.byte(w.Pending.N)
	for _, u := range w.Pending.All() {
		c.id(world.Utterances, u)
	}
}

// id writes the number of an id within its family, 0 for none.
func (c *coder) id(f world.Family, id uint64) {
	if f == world.Generations { // which start at 0
		id++
	}
	if id == 0 {
		c.byte(0)
		return
	}
	for i, k := range c.known[f] {
		if k == id {
			c.byte(byte(i + 1))
			return
		}
	}
	c.known[f] = append(c.known[f], id)
	c.byte(byte(len(c.known[f])))
}

// config writes the number of the configuration among those seen so far.
func (c *coder) config(v *csm.Config) {
	if v == nil {
		c.byte(1)
		return
	}
	if v == c.last || *v == *c.base {
		c.last = v
		c.byte(0)
		return
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%+v", *v) // rare; the number must not depend on the worker
	c.uint(h.Sum64())
}

// faults writes what the breaker's decisions depend on: the number of consecutive faults,
// and the age of those counted with the next one, in units of the environment's
// QuietStep. If the first fault is fatal, it writes nothing.
func (c *coder) faults() {
	f := &c.state.Faults
	switch {
	case c.base.FaultRetries == 0:
		return
	case f.Recent[0] == 0 || c.now-f.Recent[0] > c.base.BreakerWindow:
		c.byte(0) // the next fault restarts the count
		return
	}
	c.uint(uint64(min(f.InRow, c.base.FaultRetries+1)) + 1)
	for _, at := range f.Recent[:c.base.BreakerFaults-1] {
		if at == 0 || c.now-at > c.base.BreakerWindow {
			c.byte(0)
			continue
		}
		c.byte(byte((c.now-at)/world.QuietStep) + 1)
	}
}

func (c *coder) value(v reflect.Value) {
	t := v.Type()
	p, ok := c.programs[t]
	if !ok {
		p = compile(t)
		c.programs[t] = p
	}
	p(c, v)
}

// compile builds the program of a type; types are not recursive except through sums. It
// panics on a struct field without a role, since ignoring a field would merge states that
// differ.
func compile(t reflect.Type) program {
	switch t.Kind() {
	case reflect.Struct:
		return compileStruct(t)
	case reflect.Interface:
		return func(c *coder, v reflect.Value) {
			if v.IsNil() {
				c.byte(0)
				return
			}
			c.value(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		fixed, each := t.Kind() == reflect.Array, compile(t.Elem())
		return func(c *coder, v reflect.Value) {
			n := v.Len()
			if !fixed {
				c.uint(uint64(n))
			}
			for i := range n {
				each(c, v.Index(i))
			}
		}
	default:
		return scalar(t)
	}
}

func compileStruct(t reflect.Type) program {
	type field struct {
		index int
		write program
	}
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name := t.String() + "." + f.Name
		r, ok := roles[name]
		switch {
		case !ok && composite(f.Type):
			fields = append(fields, field{i, compile(f.Type)})
		case !ok:
			panic(fmt.Sprintf("explore: field %s (%v) has no role; add it to roles.go", name, f.Type))
		case r.kind != drop:
			fields = append(fields, field{i, r.program(name, f.Type)})
		}
	}
	h := fnv.New32a()
	h.Write([]byte(t.String()))
	tag := h.Sum32()
	return func(c *coder, v reflect.Value) {
		c.byte(byte(tag))
		c.byte(byte(tag >> 8))
		for i := range fields {
			fields[i].write(c, v.Field(fields[i].index))
		}
	}
}

// composite says whether a field without its own role is written by the roles of its
// fields.
func composite(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Interface:
		return true
	case reflect.Slice, reflect.Array:
		return composite(t.Elem())
	default:
		return false
	}
}

// scalar writes a value unchanged.
func scalar(t reflect.Type) program {
	switch t.Kind() {
	case reflect.Bool:
		return func(c *coder, v reflect.Value) { c.bool(v.Bool()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(c *coder, v reflect.Value) { c.uint(uint64(v.Int())) }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(c *coder, v reflect.Value) { c.uint(v.Uint()) }
	case reflect.String:
		return func(c *coder, v reflect.Value) {
			c.uint(uint64(v.Len()))
			c.buf = append(c.buf, v.String()...)
		}
	default:
		panic(fmt.Sprintf("explore: type %v in a state has no canonical form", t))
	}
}
