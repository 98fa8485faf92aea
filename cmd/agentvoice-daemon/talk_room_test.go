//go:build cgo && linux && room

package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/pulse"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

// openRoom is a room whose microphone picks up the speaker at -12 dB and anyone speaking.
type openRoom struct {
	mu   sync.Mutex
	says []int16
}

func (r *openRoom) hear(speaker, microphone, label *pulse.Frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*label = pulse.Frame{}
	r.says = r.says[copy(label[:], r.says):]
	for i := range microphone {
		microphone[i] = int16(max(min(int32(speaker[i])/4+int32(label[i]), 32767), -32768))
	}
}

func (r *openRoom) say(pcm []int16) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.says = append(r.says, pcm...)
}

// sentence returns a sentence of a LibriVox reader from Debian's pocketsphinx-testdata.
func sentence(t *testing.T, number string) []int16 {
	t.Helper()
	pcm, err := wavio.ReadAll(filepath.Join("/usr/share/pocketsphinx/test/data/librivox", "sense_and_sensibility_01_austen_64kb-"+number+".wav"))
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

// cough returns a human cough.
func cough(t *testing.T) []int16 {
	t.Helper()
	recording, err := speechdata.Find("cough/hillbilly")
	if err != nil {
		t.Fatal(err)
	}
	clip, err := recording.Load()
	if err != nil {
		t.Fatal(err)
	}
	return clip.PCM
}

// terminal is the command talk as run by a user.
type terminal struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string
}

// newTerminal starts talk, which ends with the test at the latest.
func newTerminal(ctx context.Context, t *testing.T, args ...string) *terminal {
	t.Helper()
	c := &terminal{t: t, cmd: exec.CommandContext(ctx, "agentvoice-daemon", append([]string{"talk"}, args...)...), lines: make(chan string, 1000)}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.cmd.Stderr = c.cmd.Stdout
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			c.lines <- s.Text()
		}
	}()
	return c
}

// shows waits for lines with these words in order, with any lines in between.
func (c *terminal) shows(ctx context.Context, want ...string) {
	c.t.Helper()
	for _, w := range want {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		for found := false; !found; {
			select {
			case line, ok := <-c.lines:
				if !ok {
					c.t.Fatalf("talk ended and did not show %q", w)
				}
				c.t.Log(line)
				found = strings.Contains(line, w)
			case <-ctx.Done():
				c.t.Fatalf("talk does not show %q", w)
			}
		}
	}
}

// end ends talk as a user does.
func (c *terminal) end(ctx context.Context) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		c.t.Fatal(err)
	}
	c.shows(ctx, "Ready")
	for line := range c.lines {
		c.t.Log(line)
	}
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("talk ended with %v", err)
	}
}

// passes waits for a duration of the room's time.
func passes(ctx context.Context, t *testing.T, s *pulse.Server, d time.Duration) {
	t.Helper()
	if err := s.Tape().Wait(ctx, s.Tape().Len()+audio.Samples(d)); err != nil {
		t.Fatal(err)
	}
}

// TestTalkOnVirtualDevices holds a conversation with open speakers as a user does: ask,
// interrupt the answer, cough, unplug the microphone, kill the sound server, and
// continue.
func TestTalkOnVirtualDevices(t *testing.T) {
	server := pulse.ForTest(t)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	room := &openRoom{}
	server.Connect(room.hear)
	unplug, err := server.AddSource(ctx, "headset")
	if err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(t.TempDir(), "journal.jsonl")
	c := newTerminal(ctx, t, "--audio-in", "pulse:headset", "--audio-out", "default", "--journal", journal, "--journal-content", "full")
	c.shows(ctx, "Listening")
	question, objection := sentence(t, "0880"), sentence(t, "0930")

	room.say(question)
	c.shows(ctx, "Speaking", "tts.complete")
	room.say(question)
	c.shows(ctx, "Speaking")
	passes(ctx, t, server, 2*time.Second)
	room.say(objection)
	c.shows(ctx, "user.interrupt", "Listening", "Speaking")
	passes(ctx, t, server, 2*time.Second)
	room.say(cough(t))
	c.shows(ctx, "user.interrupt", "Speaking", "tts.complete")

	room.say(question)
	c.shows(ctx, "Speaking")
	if err := unplug(ctx); err != nil {
		t.Fatal(err)
	}
	c.shows(ctx, "tts.complete")

	room.say(question)
	c.shows(ctx, "Speaking")
	passes(ctx, t, server, 2*time.Second)
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	c.shows(ctx, "device.lost")
	if err := server.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := server.AddSource(ctx, "headset"); err != nil { // reconnect it
		t.Fatal(err)
	}
	c.shows(ctx, "Speaking", "tts.complete")
	c.end(ctx)

	run := func(args ...string) string {
		out, err := exec.CommandContext(ctx, "agentvoice-daemon", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
		return string(out)
	}
	if said := run("replay", journal); !strings.Contains(said, "identical") {
		t.Errorf("replay says %q", said)
	}
	page := filepath.Join(t.TempDir(), "timeline.html")
	t.Log(run("timeline", journal, "-o", page))
	f, err := os.Open(page)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"retracted", "device.lost", "user.interrupt"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the timeline does not show %q", want)
		}
	}
}
