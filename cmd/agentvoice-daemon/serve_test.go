package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

// programs are what this binary is under other names.
var programs = map[string]func(){"agentvoice-daemon": main, "agentvoice-stuck": stuck, "scripted-agent": scriptedAgent}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "engine" { // the speech process of a test's daemon
		main()
		return
	}
	testscript.Main(unrecorded{m}, programs)
}

// unrecorded runs tests whose conversations are neither in the user's record nor visible
// to the user's other programs.
type unrecorded struct{ m *testing.M }

func (u unrecorded) Run() int {
	dir, err := os.MkdirTemp("", "record")
	if err == nil {
		defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
		err = errors.Join(os.Setenv(assets.RecordEnv, dir), os.Setenv(assets.WatchEnv, filepath.Join(dir, "watch")), slowMachine(dir))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return u.m.Run()
}

// slowMachine makes the tests' daemons speak with Flite, because Kokoro was too slow for this
// machine: beside other tests it is. Scripts decide for themselves.
func slowMachine(cache string) error {
	silero, err := assets.Silero()
	if err != nil {
		return err
	}
	voice, err := assets.Voice()
	if err != nil {
		return nil //nolint:nilerr // Flite speaks anyhow
	}
	speed, err := json.Marshal(voiceSpeed{filepath.Base(voice), runtime.NumCPU(), time.Minute.Milliseconds()})
	if err != nil {
		return err
	}
	folder := filepath.Join(cache, "agentvoice")
	return errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, "voice-speed.json"), speed, 0o600),
		os.Setenv("XDG_CACHE_HOME", cache), os.Setenv(assets.Env, filepath.Dir(silero)))
}

// stuck is a command that ignores the stop signal.
func stuck() {
	ctx, stop := stopOnSignal()
	defer stop()
	fmt.Println("runs")
	<-ctx.Done()
	fmt.Println("ends")
	time.Sleep(patience)
}

// The binary as users run it. frame converts JSON lines to serve's input; unframe
// converts its output to lines and fails on anything but the protocol. tone creates a
// recording of half a second. models creates tone language models and a voice in a
// folder. mirror serves such a model and the engine for download. say speaks the tone
// language.
//
//test:long
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			path, err := assets.ONNXRuntime()
			env.Setenv("ASSETS", filepath.Dir(path)) // for scripts that need the installed assets
			env.Setenv(assets.RecordEnv, filepath.Join(env.WorkDir, "record"))
			env.Setenv(assets.WatchEnv, os.Getenv(assets.WatchEnv))                          // a short path, as sockets require
			for _, name := range []string{"AGENTVOICE_MUTANT", "AGENTVOICE_MUTANT_AROUND"} { // the fault of a proof
				env.Setenv(name, os.Getenv(name))
			}
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"frame":   func(ts *testscript.TestScript, neg bool, args []string) { convert(ts, neg, args, frame) },
			"unframe": func(ts *testscript.TestScript, neg bool, args []string) { convert(ts, neg, args, unframe) },
			"tone":    tone,
			"models":  toneModels,
			"mirror":  mirror,
			"say":     say,
		},
	})
}

// toneModels is the script command models.
func toneModels(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: models FOLDER")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(tonemodel.StreamingCTC(filepath.Join(dir, "streaming")))
	ts.Check(tonemodel.TDT(filepath.Join(dir, "tdt")))
	ts.Check(tonemodel.Voice(filepath.Join(dir, "voice")))
}

// say is the script command that writes a recording in the tone language.
func say(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: say TEXT FILE")
	}
	ts.Check(wavio.WriteMono(ts.MkAbs(args[1]), hearing.SampleRate, tonemodel.Say(args[0])))
}

func convert(ts *testscript.TestScript, neg bool, args []string, how func(string) (string, error)) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: frame|unframe FROM TO")
	}
	out, err := how(ts.ReadFile(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(out), 0o600))
}

func tone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tone TO")
	}
	pcm := make([]int16, audio.SampleRate/2)
	for i := range pcm {
		pcm[i] = int16(3000 * math.Sin(float64(i)/20))
	}
	ts.Check(wavio.WriteMono(ts.MkAbs(args[0]), audio.SampleRate, pcm))
}

func frame(lines string) (string, error) {
	var out strings.Builder
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintf(&out, "Content-Length: %d\r\n\r\n%s", len(line), line)
		}
	}
	return out.String(), nil
}

func unframe(stream string) (string, error) {
	var out bytes.Buffer
	in := bufio.NewReader(strings.NewReader(stream))
	for {
		if _, err := in.Peek(1); err == io.EOF {
			return out.String(), nil
		}
		var length int
		if _, err := fmt.Fscanf(in, "Content-Length: %d\r\n\r\n", &length); err != nil {
			return "", fmt.Errorf("standard output holds something else than the protocol: %w", err)
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(in, body); err != nil {
			return "", err
		}
		if err := json.Compact(&out, body); err != nil {
			return "", err
		}
		out.WriteByte('\n')
	}
}
