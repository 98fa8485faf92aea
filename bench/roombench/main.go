// Command roombench measures barge-in: how soon the assistant falls silent when a
// person speaks over it, and how often it reacts to other sounds.
//
//	roombench [-out out] [-seed 1] [-quick] [-live 60] [-match TEXT] [-only PART]
//
// The matrix of bench/roomsim runs on a virtual clock on all cores. Before that,
// on Linux with PulseAudio, a sample of it runs in real time with real devices.
// OUT/room.json has all figures, OUT/room.html the tables and plots. A missed goal is
// printed, but is not an error.
//
// scripts/speech.sh downloads the recordings. Without them, the figures are for the
// synthetic voice and for the few installed recordings, and say so.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/bench/roomsim"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/pulse"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

type options struct {
	out   string
	seed  uint64
	quick bool
	live  int
	match string
	only  string
}

func main() {
	var o options
	flag.StringVar(&o.out, "out", "out", "folder for room.json and room.html")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of all random choices")
	flag.BoolVar(&o.quick, "quick", false, "a few minutes instead of an hour")
	flag.IntVar(&o.live, "live", -1, "number of interruptions in real time; 0 for none (default 60, quick 8)")
	flag.StringVar(&o.match, "match", "", "only cells with this in their profile and name")
	flag.StringVar(&o.only, "only", "", "only this part: live, matrix, openings, commands, first, jumps or nonInterruptions")
	flag.Parse()
	if o.live < 0 {
		o.live = 60
		if o.quick {
			o.live = 8
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "roombench:", err)
		os.Exit(1)
	}
}

// wants reports whether a part of the bench is selected.
func (o options) wants(part string) bool { return o.only == "" || o.only == part }

// bench is the state that all parts share.
type bench struct {
	options
	says   roomsim.Assistant
	cases  []roomsim.Case
	noises roomsim.Noises
	// commands are synthetic one-word commands.
	commands []roomsim.Case
}

func run(ctx context.Context, o options) error {
	b := bench{options: o}
	var err error
	if b.says, err = roomsim.NewAssistant(ctx); err != nil {
		return err
	}
	human, missing, err := roomsim.HumanCases()
	if err != nil {
		return err
	}
	synthetic, err := roomsim.SyntheticCases(ctx)
	if err != nil {
		return err
	}
	if b.commands, err = roomsim.SyntheticCommands(ctx); err != nil {
		return err
	}
	b.cases = append(human, synthetic...)
	b.noises = roomsim.NewNoises(o.seed, b.says, human)
	fmt.Printf("%d recordings of people, %d synthetic; %d recordings are missing (run scripts/speech.sh)\n", len(human), len(synthetic), missing)

	size := roomsim.Full()
	if o.quick {
		size = roomsim.Quick()
	}
	matching := func(cells []roomsim.Cell) []roomsim.Cell {
		return slices.DeleteFunc(cells, func(c roomsim.Cell) bool { return !strings.Contains(c.Profile+" "+c.Name, o.match) })
	}
	r := report{Seed: o.seed, Quick: o.quick, Missing: missing, Cores: runtime.NumCPU(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	memory, err := b.memory()
	if err != nil {
		return err
	}
	r.Memory = memory
	if !o.wants("live") {
		b.live = 0
	}
	if err := b.realTime(ctx, &r); err != nil { // first, while nothing else runs
		return err
	}
	for _, p := range []struct {
		name  string
		to    *[]cell
		cells func() []roomsim.Cell
		run   func(context.Context, []roomsim.Cell) ([]cell, error)
	}{
		{"matrix", &r.Cells, func() []roomsim.Cell { return roomsim.Matrix(size, o.seed, b.cases) }, b.matrix},
		{"openings", &r.Openings, func() []roomsim.Cell { return roomsim.Openings(size, o.seed, b.cases) }, b.matrix},
		{"commands", &r.Commands, func() []roomsim.Cell { return roomsim.Commands(size, o.seed, b.cases, b.commands) }, b.matrix},
		{"first", &r.First, func() []roomsim.Cell { return roomsim.First(size, o.seed, b.cases) }, b.matrix},
		{"jumps", &r.Jumps, func() []roomsim.Cell { return roomsim.Jumps(size, o.seed) }, b.matrix},
		{"nonInterruptions", &r.NonInterruptions, func() []roomsim.Cell { return roomsim.NonInterruptions(size, o.seed, b.cases) }, b.nonInterruptions},
	} {
		if !o.wants(p.name) {
			continue
		}
		if *p.to, err = p.run(ctx, matching(p.cells())); err != nil {
			return err
		}
	}
	r.sum(b.cases)
	return b.write(&r)
}

// matrix runs cells in parallel on all cores.
func (b *bench) matrix(ctx context.Context, cells []roomsim.Cell) ([]cell, error) {
	out := make([]cell, len(cells))
	errs := make([]error, len(cells))
	work := make(chan int)
	var all sync.WaitGroup
	var mu sync.Mutex
	begin, done := time.Now(), 0
	for range runtime.NumCPU() {
		all.Go(func() {
			for i := range work {
				res, err := roomsim.Run(cells[i], b.says, b.noises)
				out[i], errs[i] = cell{Cell: describe(cells[i]), Result: res}, err
				mu.Lock()
				done++
				fmt.Fprintf(os.Stderr, "\r%d of %d conversations after %v ", done, len(cells), time.Since(begin).Round(time.Second))
				mu.Unlock()
			}
		})
	}
	for i := range cells {
		if ctx.Err() != nil {
			break
		}
		work <- i
	}
	close(work)
	all.Wait()
	fmt.Fprintln(os.Stderr)
	return out, errors.Join(append(errs, ctx.Err())...)
}

// nonInterruptions runs cells with the embedded recognizer.
func (b *bench) nonInterruptions(ctx context.Context, cells []roomsim.Cell) (out []cell, err error) {
	for i := range cells {
		engine, failed := hearing.PocketSphinx(assets.PocketSphinx)()
		if failed != nil {
			return nil, failed
		}
		defer func() { err = errors.Join(err, engine.Close()) }()
		cells[i].Words = func(pcm []int16) (csm.Final, error) { return words(engine, pcm) }
	}
	return b.matrix(ctx, cells)
}

// words returns a recognizer's result for audio at audio.SampleRate.
func words(engine hearing.Recognizer, pcm []int16) (csm.Final, error) {
	low, err := speechdata.Resample(pcm, audio.SampleRate, hearing.SampleRate)
	if err != nil {
		return csm.Final{}, err
	}
	if err := errors.Join(engine.Start(), engine.Write(low)); err != nil {
		return csm.Final{}, err
	}
	heard, err := engine.Finish()
	class, doubted := daemon.Transcript{Text: heard.Text, Probs: heard.Probs}.Means()
	return csm.Final{Words: len(strings.Fields(heard.Text)), Class: class, Doubted: doubted}, err
}

// realTime runs a sample with real devices, and the same one on the virtual clock.
func (b *bench) realTime(ctx context.Context, r *report) error {
	if b.live == 0 {
		r.NoLive = "not selected"
		return nil
	}
	if err := pulse.Available(); err != nil {
		r.NoLive = err.Error()
		return nil
	}
	random := rand.New(rand.NewPCG(b.seed, 0x11fe))
	c := roomsim.Cell{Name: "study, echo -6 dB", Profile: "default", Seed: b.seed}
	c.Room, c.EchoGain = "study", -6
	for _, i := range random.Perm(len(b.cases)) {
		if k := b.cases[i]; k.Kind == roomsim.BargeIn && k.Group != roomsim.Cartoon && len(c.Cases) < b.live {
			c.Cases = append(c.Cases, k)
		}
	}
	fmt.Fprintf(os.Stderr, "%d interruptions in real time\n", len(c.Cases))
	dir, err := os.MkdirTemp("", "room")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // leftovers are in the system's temporary folder
	ctx, cancel := context.WithTimeout(ctx, time.Minute+time.Duration(len(c.Cases))*20*time.Second)
	defer cancel()
	live, err := roomsim.Live(ctx, c, b.says, b.noises, dir)
	if err != nil {
		return fmt.Errorf("in real time: %w", err)
	}
	r.Live = &live
	// The output latency is what a sound server needs here.
	c.Render, c.Capture = 25*time.Millisecond, 10*time.Millisecond
	beside, err := roomsim.Run(c, b.says, b.noises)
	r.Beside = &beside
	return err
}

func (b *bench) write(r *report) error {
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.out, "room.json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	page, err := r.page()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.out, "room.html"), page, 0o644); err != nil {
		return err
	}
	r.print(os.Stdout)
	fmt.Printf("\n%s has every figure, %s the tables and plots\n", filepath.Join(b.out, "room.json"), filepath.Join(b.out, "room.html"))
	return nil
}
