//go:build !cgo

package portaudio

import (
	"context"
	"errors"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

func missing(id string) error {
	return unavailable(id, errors.New("this build has no sound devices"),
		"build with cgo and PortAudio (Debian: portaudio19-dev), or use wav:FILE and null")
}

// Devices returns an error.
func Devices() ([]Device, error) { return nil, missing(Default) }

// Watch returns an error.
func Watch(context.Context, func([]Device)) error { return missing(Default) }

// Source is a microphone that cannot be opened.
type Source struct{ id string }

// NewSource returns a microphone whose Open fails.
func NewSource(id string) *Source { return &Source{id: id} }

// Open returns an error.
func (s *Source) Open(context.Context) error { return missing(s.id) }

// Run returns an error.
func (s *Source) Run(context.Context, func(int64, *audio.Frame)) error { return missing(s.id) }

// Close does nothing.
func (s *Source) Close() error { return nil }

// Select does nothing.
func (s *Source) Select(string) {}

// Muted is false.
func (s *Source) Muted() bool { return false }

// Timing is zero.
func (s *Source) Timing() audio.Timing { return audio.Timing{} }

// Latency is 0.
func (s *Source) Latency() time.Duration { return 0 }

// Sink is a speaker that cannot be opened.
type Sink struct{ id string }

// NewSink returns a speaker whose Open fails.
func NewSink(id string) *Sink { return &Sink{id: id} }

// Open returns an error.
func (s *Sink) Open(context.Context) error { return missing(s.id) }

// Run returns an error.
func (s *Sink) Run(context.Context, func(*audio.Frame)) error { return missing(s.id) }

// Latency is 0.
func (s *Sink) Latency() time.Duration { return 0 }

// Close does nothing.
func (s *Sink) Close() error { return nil }

// Select does nothing.
func (s *Sink) Select(string) {}

// Timing is zero.
func (s *Sink) Timing() audio.Timing { return audio.Timing{} }

var (
	_ audio.Microphone = (*Source)(nil)
	_ audio.Sink       = (*Sink)(nil)
	_ audio.Selector   = (*Source)(nil)
	_ audio.Selector   = (*Sink)(nil)
	_ audio.Timed      = (*Source)(nil)
	_ audio.Timed      = (*Sink)(nil)
)
