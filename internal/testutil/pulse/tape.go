package pulse

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The tape's format: 16-bit samples at SampleRate, in steps of FrameSamples.
const (
	SampleRate   = 48000
	FrameSamples = SampleRate / 100
)

// Channel is one of the three channels of the tape.
type Channel int

// The channels.
const (
	Speaker    Channel = iota // output of the speaker
	Microphone                // input of the microphone
	Label                     // labels written by the room
	channels

	stamps   = channels // timestamp channel of the server's sink: when a sample was spoken; not on the tape
	recorded = channels + 1
)

// Frame is 10 ms of one channel.
type Frame [FrameSamples]int16

// Room returns the microphone's next input, and a label for it, given the speaker's
// output. It is called every 10 ms on a goroutine of the server, and must take much
// less than that.
type Room func(speaker, microphone, label *Frame)

type roomHolder struct{ atomic.Pointer[Room] }

// Connect sets the room from the next 10 ms on. Before the first Connect, and with
// nil, the microphone is silent.
func (s *Server) Connect(room Room) {
	if room == nil {
		s.room.Store(nil)
		return
	}
	s.room.Store(&room)
}

// Say connects a room that speaks pcm once, into both the microphone and its label,
// without any other sound. The channel is closed when all of it was passed to the
// server.
func (s *Server) Say(pcm []int16) (said <-chan struct{}) {
	done := make(chan struct{})
	rest := slices.Clone(pcm)
	var once sync.Once
	s.Connect(func(_, microphone, label *Frame) {
		clear(microphone[copy(microphone[:], rest):])
		*label = *microphone
		if rest = rest[min(len(rest), FrameSamples):]; len(rest) == 0 {
			once.Do(func() { close(done) })
		}
	})
	return done
}

// LeftOut returns how much of the room's audio was dropped because the server
// underran and would have been late from then on.
func (s *Server) LeftOut() time.Duration {
	return time.Duration(s.leftOut.Load()) * 10 * time.Millisecond
}

// Tape is the recording of the room since Start.
type Tape struct {
	mu    sync.Mutex
	grown chan struct{} // closed and replaced when the tape grows
	from  int64         // position of the first sample kept
	end   int64         // position after the last sample
	base  int64         // position of the first sample in pages
	pages []*page
}

// page is one second. A tape in one piece would be copied each time it grows, which
// after some minutes blocks the whole process for a tenth of a second.
type page [channels][pageSamples]int16

const pageSamples = SampleRate // whole frames

func newTape() *Tape { return &Tape{grown: make(chan struct{})} }

// Tape returns the recording, which continues to grow.
func (s *Server) Tape() *Tape { return s.tape }

// Len returns the length of the recording, in samples since Start.
func (t *Tape) Len() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.end
}

// Wait blocks until the tape has at least n samples.
func (t *Tape) Wait(ctx context.Context, n int64) error {
	for {
		t.mu.Lock()
		enough, grown := t.end >= n, t.grown
		t.mu.Unlock()
		if enough {
			return nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Copy fills dst with a channel's recording from a position, and returns the number
// of samples; 0 if they were dropped.
func (t *Tape) Copy(c Channel, from int64, dst []int16) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.copy(c, from, dst)
}

func (t *Tape) copy(c Channel, from int64, dst []int16) (n int) {
	if from < t.from || from > t.end {
		return 0
	}
	dst = dst[:min(int64(len(dst)), t.end-from)]
	for n < len(dst) {
		at := from - t.base + int64(n)
		n += copy(dst[n:], t.pages[at/pageSamples][c][at%pageSamples:])
	}
	return n
}

// Find returns the first position at or after from where the channel contains pcm
// exactly, or -1. The channel must contain no other sound.
func (t *Tape) Find(c Channel, from int64, pcm []int16) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	from = max(from, t.from)
	track := make([]int16, max(0, t.end-from))
	t.copy(c, from, track)
	for i := 0; i+len(pcm) <= len(track); i++ {
		if slices.Equal(track[i:i+len(pcm)], pcm) {
			return from + int64(i)
		}
	}
	return -1
}

// Drop discards the recording before a position. A minute takes 17 MB.
func (t *Tape) Drop(before int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.from = min(max(before, t.from), t.end)
	n := (t.from - t.base) / pageSamples
	t.pages = slices.Delete(t.pages, 0, int(n))
	t.base += n * pageSamples
}

func (t *Tape) add(frames *[channels]Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.end - t.base
	if at/pageSamples == int64(len(t.pages)) {
		t.pages = append(t.pages, new(page))
	}
	for c := range frames {
		copy(t.pages[at/pageSamples][c][at%pageSamples:], frames[c][:])
	}
	t.end += FrameSamples
	close(t.grown)
	t.grown = make(chan struct{})
}

// record starts the programs that record the room and play into the microphone, and
// returns when both run.
func (s *Server) record(ctx context.Context) error {
	format := []string{"--raw", "--format=s16le", "--rate=48000", "--process-time-msec=5"}
	cushion := fmt.Sprintf("--latency-msec=%d", s.options.Cushion.Milliseconds())
	recorder := s.command("parec", append(format, "--latency-msec=10", "--device=room.monitor", "--channels=4", "--channel-map=aux0,aux1,aux2,aux3")...)
	speaker := s.command("pacat", append(format, cushion, "--playback", "--device=voice", "--channels=3", "--channel-map=aux0,aux1,aux2")...)
	heard, err := recorder.StdoutPipe()
	if err != nil {
		return err
	}
	spoken, err := speaker.StdinPipe()
	if err != nil {
		return err
	}
	for _, cmd := range []*exec.Cmd{recorder, speaker} {
		p, err := start(cmd)
		if err != nil {
			return err
		}
		s.helpers = append(s.helpers, p)
	}
	ready := make(chan struct{})
	s.pump.Go(func() { s.carry(heard, spoken, ready) })
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// carry runs the room in steps of 10 ms until the recording ends. It first writes a
// mark into the label until the mark appears on the tape; then both directions work,
// and the room may use them.
func (s *Server) carry(heard io.Reader, spoken io.Writer, ready chan<- struct{}) {
	var (
		frames     [recorded]Frame
		mic, label Frame
		delay      delay
		in         [2 * FrameSamples * int(recorded)]byte
		out        [2 * FrameSamples * int(recorded-1)]byte
	)
	const marking, marked, running = 0, 1, 2
	for state := marking; ; {
		if _, err := io.ReadFull(heard, in[:]); err != nil {
			return // the server was killed
		}
		for i := range FrameSamples {
			for c := range frames {
				frames[c][i] = int16(binary.LittleEndian.Uint16(in[2*(i*int(recorded)+c):]))
			}
		}
		clear(mic[:])
		clear(label[:])
		switch room := s.room.Load(); {
		case state == marking && frames[Label] == Frame{}:
			label[0] = 1
		case state == marking:
			state = marked
		case state == marked && frames[Label] == Frame{}:
			state = running
			close(ready)
		case state == running && room != nil:
			(*room)(&frames[Speaker], &mic, &label)
		}
		if state == running {
			s.tape.add((*[channels]Frame)(frames[:]))
		}
		late := delay.heard(&frames[stamps])
		if late && state == running && label == (Frame{}) {
			delay.leaveOut()
			s.leftOut.Add(1)
			continue
		}
		for i := range FrameSamples {
			binary.LittleEndian.PutUint16(out[6*i:], uint16(mic[i]))
			binary.LittleEndian.PutUint16(out[6*i+2:], uint16(label[i]))
			binary.LittleEndian.PutUint16(out[6*i+4:], delay.stamp(i))
		}
		if _, err := spoken.Write(out[:]); err != nil {
			return // the server was killed
		}
	}
}
