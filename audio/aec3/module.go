package aec3

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

//go:embed aec3.wasm
var code []byte

// module is the compiled code.
type module struct {
	runtime wazero.Runtime
	aec3    wazero.CompiledModule
	host    wazero.CompiledModule // what aec3 imports
}

// compiled is kept for the life of the process: compiling takes longer than a start of a
// conversation should, and the code is small beside an instance.
var compiled = sync.OnceValues(func() (*module, error) { return compile(code, wazero.NewRuntimeConfigCompiler()) })

// compile turns a panic into an error: wazero panics where it has no compiler for the
// processor, or is denied executable memory.
func compile(wasm []byte, config wazero.RuntimeConfig) (m *module, err error) {
	defer func() {
		if p := recover(); p != nil {
			m, err = nil, fmt.Errorf("cannot compile the echo canceller: %v; allow this program to make memory executable, or use headphones", p)
		}
	}()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, config)
	m = &module{runtime: r}
	small := bytes.Replace(wasm, []byte(stockMemory), []byte(smallMemory), 1)
	if m.aec3, err = r.CompileModule(ctx, small); err == nil {
		m.host, err = r.CompileModule(ctx, hostModule(m.aec3))
	}
	if err != nil {
		_ = r.Close(ctx)
		return nil, fmt.Errorf("cannot compile the echo canceller: %w; install the program again", err)
	}
	return m, nil
}

// instance is the module with a memory.
type instance struct {
	host, aec3 api.Module
	memory     api.Memory
}

func (m *module) instantiate() (*instance, error) {
	ctx := context.Background()
	anonymous := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	host, err := m.runtime.InstantiateModule(ctx, m.host, anonymous)
	if err != nil {
		return nil, err
	}
	in := &instance{host: host, memory: host.ExportedMemory(importedMemory)}
	resolve := experimental.WithImportResolver(ctx, func(string) api.Module { return host })
	if in.aec3, err = m.runtime.InstantiateModule(resolve, m.aec3, anonymous); err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

func (in *instance) close() {
	ctx := context.Background()
	if in.aec3 != nil {
		_ = in.aec3.Close(ctx)
	}
	_ = in.host.Close(ctx)
}

// errMissing means that the file is not the one that this package was written for.
var errMissing = errors.New("its module is another version; install the program again")

// The module imports 256 pages of memory, 16 MB, and uses half a megabyte. It gets 16: both
// numbers are LEB128 of two bytes.
const (
	stockMemory = "\x01a\x01a\x02\x01\x80\x02\x80\x02"
	smallMemory = "\x01a\x01a\x02\x01\x90\x00\x90\x00"
)

// importedMemory is the name by which the module imports its memory.
const importedMemory = "a"

// hostModule returns a module with all that m imports: a memory, and functions that trap.
// It is WebAssembly because a module of Go functions cannot export a memory.
func hostModule(m wazero.CompiledModule) []byte {
	functions := m.ImportedFunctions()
	n := uint32(len(functions))
	types, declared, exports, bodies := vector(n), vector(n), vector(n+1), vector(n)
	for i, f := range functions {
		_, name, _ := f.Import()
		types = append(types, 0x60) // a function type
		types = append(append(types, vector(uint32(len(f.ParamTypes())))...), f.ParamTypes()...)
		types = append(append(types, vector(uint32(len(f.ResultTypes())))...), f.ResultTypes()...)
		declared = append(declared, vector(uint32(i))...)
		exports = append(appendName(exports, name), 0x00) // a function
		exports = append(exports, vector(uint32(i))...)
		bodies = append(bodies, 3, 0, 0x00, 0x0b) // no locals; unreachable; end
	}
	exports = append(appendName(exports, importedMemory), 0x02, 0) // the memory
	most := uint32(0)
	for _, d := range m.ImportedMemories() {
		most, _ = d.Max()
	}
	memory := append(append([]byte{1, 1}, vector(most)...), vector(most)...) // one, with a maximum
	wasm := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range []struct {
		id   byte
		body []byte
	}{{1, types}, {3, declared}, {5, memory}, {7, exports}, {10, bodies}} {
		wasm = append(append(append(wasm, s.id), vector(uint32(len(s.body)))...), s.body...)
	}
	return wasm
}

func appendName(b []byte, name string) []byte {
	return append(append(b, vector(uint32(len(name)))...), name...)
}

// vector returns a number in LEB128, as it precedes the elements of a vector.
func vector(n uint32) (b []byte) {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}
