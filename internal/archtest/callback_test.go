//go:build cgo && !race

package archtest

import (
	"go/token"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// callbacks lists the functions that an audio device's thread runs. It has a few
// milliseconds, and waiting is audible as a gap.
var callbacks = []string{
	"audio/portaudio.avCallback",
	"(*internal/daemon/live.playback).render",
}

// callbackPackages contain the callbacks and everything that they call.
var callbackPackages = []string{
	"audio", "audio/cue", "audio/dsp", "audio/front", "audio/portaudio", "audio/wavio", "internal/daemon/live",
}

// dynamicCalls lists what callbacks call through function values and interfaces.
var dynamicCalls = map[string][]string{
	"(*audio/portaudio.converter).play":       {"(*internal/daemon/live.playback).render"},
	"(*audio/cue.Mixer).Render":               {"(*audio.Player).Render"},
	"(*internal/daemon/live.playback).render": {"(*audio/wavio.Recorder).Assistant"}, // as the Tap
}

// harmless lists packages and functions that a callback may call. time.Now reads the
// clock and neither waits nor allocates.
var harmless = []string{"math", "sync/atomic", "unsafe", "time.Now"}

// TestDeviceCallbacksOnlyCompute: code on an audio device's thread takes no lock,
// does not block, posts no event, starts no goroutine and does not allocate. Waking a
// goroutine by a non-blocking send is allowed.
func TestDeviceCallbacksOnlyCompute(t *testing.T) {
	functions := callbackFunctions(t)
	w := callbackWalk{functions: functions, seen: map[string]bool{}, dynamic: map[string]bool{}}
	for _, name := range callbacks {
		w.visit(name, "the device")
	}
	for _, b := range w.breaches {
		t.Error(b)
	}
	for name := range dynamicCalls {
		if !w.dynamic[name] {
			t.Errorf("%s makes no dynamic call in a callback; correct the list", name)
		}
	}
	if len(w.seen) < 30 {
		t.Errorf("callbacks reach only %d functions; the walk is broken", len(w.seen))
	}
}

// TestCallbackBreachesAreFound: the walk must find known breaches.
func TestCallbackBreachesAreFound(t *testing.T) {
	functions := callbackFunctions(t)
	for name, want := range map[string]string{
		"(*internal/daemon/live.devices).nap":   "sync.Mutex).Lock",
		"(*internal/daemon/live.playback).tell": "blocks in a select",
		"(*internal/daemon/live.playback).run":  "makes a closure",
		"(*audio.Player).dispatch":              "time.NewTimer",
		"(*internal/daemon/live.World).Execute": "a dynamic call",
	} {
		w := callbackWalk{functions: functions, seen: map[string]bool{}, dynamic: map[string]bool{}}
		w.visit(name, "the test")
		if all := strings.Join(w.breaches, "\n"); !strings.Contains(all, want) {
			t.Errorf("%s: no %q in\n%s", name, want, all)
		}
	}
}

// callbackFunctions returns the functions and methods of callbackPackages, by name.
func callbackFunctions(t *testing.T) map[string]*ssa.Function {
	t.Helper()
	cfg := &packages.Config{Mode: packages.LoadSyntax, Dir: moduleRoot(t), BuildFlags: []string{"-tags=nolibopusfile"}} //nolint:staticcheck // dependencies need no syntax
	var patterns []string
	for _, p := range callbackPackages {
		patterns = append(patterns, "./"+p)
	}
	loaded, err := packages.Load(cfg, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			t.Fatalf("%s: %v", p.PkgPath, e)
		}
	}
	program, built := ssautil.Packages(loaded, 0)
	program.Build()
	functions := map[string]*ssa.Function{}
	for f := range ssautil.AllFunctions(program) {
		if f.Pkg != nil && slices.Contains(built, f.Pkg) {
			functions[short(f)] = f
		}
	}
	return functions
}

// short returns the name of a function without the module path.
func short(f *ssa.Function) string { return strings.ReplaceAll(f.String(), module+"/", "") }

// callbackWalk collects breaches.
type callbackWalk struct {
	functions map[string]*ssa.Function
	seen      map[string]bool
	dynamic   map[string]bool // functions that made a call of dynamicCalls
	breaches  []string
}

func (w *callbackWalk) breach(f *ssa.Function, what string) {
	w.breaches = append(w.breaches, short(f)+" "+what+", which delays the audio; do it on a goroutine woken by a non-blocking send")
}

func (w *callbackWalk) visit(name, from string) {
	if w.seen[name] {
		return
	}
	w.seen[name] = true
	f := w.functions[name]
	if f == nil || f.Blocks == nil {
		w.breaches = append(w.breaches, from+" calls "+name+", which is not in callbackPackages")
		return
	}
	for _, block := range f.Blocks {
		for _, i := range block.Instrs {
			w.instruction(f, i)
		}
	}
}

func (w *callbackWalk) instruction(f *ssa.Function, i ssa.Instruction) {
	switch i := i.(type) {
	case *ssa.Go:
		w.breach(f, "starts a goroutine")
	case *ssa.Send:
		w.breach(f, "blocks in a send")
	case *ssa.Select:
		if i.Blocking {
			w.breach(f, "blocks in a select")
		}
	case *ssa.UnOp:
		if i.Op == token.ARROW {
			w.breach(f, "blocks in a receive")
		}
	case *ssa.MakeChan, *ssa.MakeMap, *ssa.MakeSlice:
		w.breach(f, "allocates")
	case *ssa.MakeClosure:
		w.breach(f, "makes a closure")
	case *ssa.MakeInterface:
		if _, constant := i.X.(*ssa.Const); !constant {
			w.breach(f, "makes an interface")
		}
	case ssa.CallInstruction:
		w.call(f, i.Common())
	}
}

func (w *callbackWalk) call(f *ssa.Function, c *ssa.CallCommon) {
	if _, builtin := c.Value.(*ssa.Builtin); builtin {
		return
	}
	callee := c.StaticCallee()
	switch {
	case callee == nil:
		targets, known := dynamicCalls[short(f)]
		if !known {
			w.breach(f, "makes a dynamic call, "+c.String())
		}
		w.dynamic[short(f)] = true
		for _, name := range targets {
			w.visit(name, short(f))
		}
	case strings.HasPrefix(packageOf(callee), module):
		w.visit(short(callee), short(f))
	case !slices.Contains(harmless, packageOf(callee)) && !slices.Contains(harmless, callee.String()):
		w.breach(f, "calls "+callee.String())
	}
}

// packageOf returns the path of a function's package, including generic functions.
func packageOf(f *ssa.Function) string {
	if o := f.Origin(); o != nil {
		f = o
	}
	if f.Pkg != nil {
		return f.Pkg.Pkg.Path()
	}
	if o := f.Object(); o != nil && o.Pkg() != nil {
		return o.Pkg().Path()
	}
	return ""
}
