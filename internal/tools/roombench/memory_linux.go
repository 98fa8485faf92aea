package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/internal/roomsim"
)

// memory is how much larger this process becomes by a media path, in megabytes.
func (b *bench) memory() (float64, error) {
	runtime.GC()
	before, err := resident()
	if err != nil {
		return 0, err
	}
	player := audio.NewManualPlayer(audio.PlayerConfig{}, func(audio.PlayerEvent) {})
	defer func() { _ = player.Close() }()
	m, err := roomsim.NewMedia(player, roomsim.MediaConfig{DSP: dsp.Default(), Tracker: vad.ProfileConfig(vad.ProfileDefault)})
	if err != nil {
		return 0, err
	}
	defer func() { _ = m.Close() }()
	var f audio.Frame
	for pos := range int64(300) {
		m.Render(&f)
		if _, err := m.Capture(pos*audio.FrameSamples, &f); err != nil {
			return 0, err
		}
	}
	after, err := resident()
	return after - before, err
}

// resident is the size of this process in memory, in megabytes.
func resident() (float64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	return float64(pages*int64(os.Getpagesize())) / 1e6, err
}
