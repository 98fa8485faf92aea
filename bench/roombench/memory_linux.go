package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/bench/roomsim"
)

// memory returns by how much one media path increases this process's memory, in megabytes.
func (b *bench) memory() (float64, error) {
	runtime.GC()
	before, err := resident()
	if err != nil {
		return 0, err
	}
	player := audio.NewManualPlayer(audio.PlayerConfig{}, func(audio.PlayerEvent) {})
	defer func() { _ = player.Close() }()
	path, err := roomsim.NewFront(dsp.Default(), vad.ProfileConfig(vad.ProfileDefault), player.Hold)
	if err != nil {
		return 0, err
	}
	defer func() { _ = path.Close() }()
	path.Attach(nil, wavio.Null{})
	var f audio.Frame
	for pos := range int64(300) {
		player.Render(&f)
		path.Rendered(&f)
		if _, err := path.Captured(pos*audio.FrameSamples, &f); err != nil {
			return 0, err
		}
	}
	after, err := resident()
	return after - before, err
}

// resident returns the resident size of this process, in megabytes.
func resident() (float64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	return float64(pages*int64(os.Getpagesize())) / 1e6, err
}
