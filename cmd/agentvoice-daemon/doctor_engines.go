package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/wake"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func codec() (string, error) {
	_, err := opus.NewEncoder(opus.Config{})
	return "Opus", err
}

// canceller checks the echo cancellation.
func canceller() (string, error) {
	p, err := dsp.New(dsp.Default())
	if err != nil {
		return "", err
	}
	p.Close()
	return dsp.Canceller, nil
}

// detector checks the voice detector. A conversation goes on with that of WebRTC, so only
// without both it is an error that needs fixing.
func detector() (detail string, needed bool, err error) {
	d, err := silero()
	if err == nil {
		return "Silero", true, d.Close()
	}
	other, none := vad.NewWebRTC()
	if none != nil {
		return "", true, errors.Join(err, none)
	}
	what, fix, _ := strings.Cut(err.Error(), "; ")
	return "", false, errors.Join(fault{"WebRTC's detector detects voices instead of Silero, and takes more noises for speech: " + what, cmp.Or(fix, "install the program again")}, other.Close())
}

// wakePhrase checks the wake phrase detector.
func wakePhrase() (string, error) {
	s, err := spotter(wake.DefaultPhrase, false, nil)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("PocketSphinx can listen for %q", wake.DefaultPhrase), s.Close()
}

// cues describes the settings of the audio cues.
func cues(set protocol.CueSettings) string {
	if !set.Enabled || set.Volume == 0 {
		return "off; turn them on with agentvoice.cues.enabled and agentvoice.cues.volume"
	}
	return fmt.Sprintf("on, at volume %g", set.Volume)
}

// pairing says how an editor finds this daemon.
func pairing() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fault{fmt.Sprintf("cannot find the path of this program (%v)", err), "start it by its full path"}
	}
	return fmt.Sprintf("start %s serve --stdio (protocol %s)", path, protocol.Version), nil
}
