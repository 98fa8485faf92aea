package journal_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

// crashEnv names the file that a child process records to until it is killed.
const crashEnv = "AGENTVOICE_TEST_CRASH"

// recordForEver records as fast as possible and regularly prints the last event that was
// written to the operating system.
func recordForEver(path string) {
	w, err := journal.New(header, journal.Files(path, journal.Limits{Bytes: small, Files: 3}))
	if err != nil {
		panic(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	k := newTalk(w, r.IntN)
	for {
		for range 1 + r.IntN(5) {
			k.next()
			w.Level(k.clock.Now(), journal.Level{User: -20})
		}
		flush(w)
		fmt.Println(k.steps)
	}
}

// At each moment, also between two files, the files replay without a loss and hold
// everything that was written before.
func TestEveryMomentLeavesAReadableJournal(t *testing.T) {
	dir := t.TempDir()
	moments, before := 0, 0
	var bad []string
	w := chatter(t, 200, journal.Watched(filepath.Join(dir, "talk"), 2, func() {
		if moments++; moments == 1 || len(bad) > 0 {
			return // the first file has no header at first
		}
		list, err := journal.ReadFiles(dir)
		if err != nil || len(list) != 1 {
			bad = append(bad, fmt.Sprintf("moment %d: %d journals, %v", moments, len(list), err))
			return
		}
		res, err := journal.Replay(list[0])
		through := int(res.After) + res.Events
		if err != nil || res.Difference != nil || res.Lost > 0 || through < before {
			bad = append(bad, fmt.Sprintf("moment %d, %d events before: %+v, %v", moments, before, res, err))
		}
		before = through
	}))
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	for _, what := range bad {
		t.Error(what)
	}
	if parts := names(t, dir); len(parts) != 2 || parts[0] == "talk.jsonl" {
		t.Errorf("the files are %v at the end, without a removal", parts)
	}
}

// A process that is killed while recording leaves files that can be read and replayed,
// without losing written events.
func TestKilledProcessLeavesReadableJournal(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rotated := 0
	for round := range 10 {
		dir := t.TempDir()
		child := exec.Command(exe, "-test.run=^$")
		child.Env = append(os.Environ(), crashEnv+"="+filepath.Join(dir, "talk.jsonl"))
		child.Stderr = os.Stderr
		said, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		var told, last int
		for told < 40+round*130 {
			if _, err := fmt.Fscan(said, &told); err != nil {
				t.Fatal(err)
			}
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for n, _ := fmt.Fscan(said, &last); n == 1; n, _ = fmt.Fscan(said, &last) {
			told = last // it got further before it was killed
		}
		if err := child.Wait(); err == nil {
			t.Fatal("the child ended by itself")
		}
		list, err := journal.ReadFiles(dir)
		if err != nil || len(list) != 1 || list[0].Stops == nil {
			t.Fatalf("round %d: %d journals, %v", round, len(list), err)
		}
		res, err := journal.Replay(list[0])
		if err != nil || res.Difference != nil || res.Lost > 0 || int(res.After)+res.Events < told {
			t.Fatalf("round %d: of %d events: %+v, %v", round, told, res, err)
		}
		rotated += list[0].Header.Part
	}
	if rotated == 0 {
		t.Error("no child lived long enough for its first file to leave")
	}
}
