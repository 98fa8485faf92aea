package engine_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/audio/engine/sherpa"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

// BenchmarkProcess recognises an utterance of the tone language with the same model in
// a child process, as the daemon does, and in this process. It measures the cost of the
// pipe, including the time from the last sample to the final text, and the memory of a
// separate process.
func BenchmarkProcess(b *testing.B) {
	m := model(b, tonemodel.StreamingCTC)
	const text = "open the settings file"
	pcm := tonemodel.Say(text)
	const piece = 512 // as the embedded server sends it

	b.Run("child", func(b *testing.B) {
		e := newEngine(b, m)
		r := recognizers(b, hearing.Engine(e))
		hear(b, r, text) // loads the model
		pid := e.Child().Pid
		before := processorTime(b, pid) + processorTime(b, os.Getpid())
		var finish time.Duration
		for b.Loop() {
			if err := r.Start(); err != nil {
				b.Fatal(err)
			}
			for at := 0; at < len(pcm); at += piece {
				if err := r.Write(pcm[at:min(at+piece, len(pcm))]); err != nil {
					b.Fatal(err)
				}
			}
			time.Sleep(30 * time.Millisecond) // the child is ahead of a microphone
			began := time.Now()
			if result, err := r.Finish(); err != nil || result.Text != text {
				b.Fatalf("%q, %v", result.Text, err)
			}
			finish += time.Since(began)
		}
		report(b, processorTime(b, pid)+processorTime(b, os.Getpid())-before, finish)
		b.ReportMetric(float64(memoryOf(b, pid))/1e6, "MB-child")
	})

	b.Run("inProcess", func(b *testing.B) {
		memory := memoryOf(b, os.Getpid())
		var replies bytes.Buffer
		w, err := sherpa.Load([]engine.Model{m}, options(b, engine.Sherpa), engine.NewLink(&replies))
		if err != nil {
			b.Fatal(err)
		}
		before := processorTime(b, os.Getpid())
		var finish time.Duration
		for b.Loop() {
			w.Work(engine.Frame{Kind: engine.Start, Stream: 1})
			for at := 0; at < len(pcm); at += piece {
				w.Work(engine.Frame{Kind: engine.Audio, Stream: 1, Payload: engine.Bytes(pcm[at:min(at+piece, len(pcm))])})
			}
			replies.Reset()
			began := time.Now()
			w.Work(engine.Frame{Kind: engine.Finish, Stream: 1})
			finish += time.Since(began)
			if !strings.Contains(replies.String(), text) {
				b.Fatalf("%q", replies.String())
			}
		}
		report(b, processorTime(b, os.Getpid())-before, finish)
		b.ReportMetric(float64(memoryOf(b, os.Getpid())-memory)/1e6, "MB-more")
	})
}

func report(b *testing.B, cpu, finish time.Duration) {
	b.ReportMetric(float64(cpu.Microseconds())/1000/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(finish.Microseconds())/1000/float64(b.N), "finish-ms/op")
}

// processorTime returns the CPU time of a process's threads so far.
func processorTime(b *testing.B, pid int) (sum time.Duration) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		b.Fatal(err)
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			continue // it has exited
		}
		ns, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(ns)
	}
	return sum
}

// memoryOf returns the resident size of a process in bytes.
func memoryOf(b *testing.B, pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		b.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
