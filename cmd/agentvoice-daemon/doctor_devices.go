package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/portaudio"
	"github.com/agentvoice/agentvoice-daemon/internal/lease"
)

// soundCheck is what is to be examined of the devices.
type soundCheck struct {
	in, out string // as --audio-in and --audio-out name them
	aloud   bool   // something may be played
	busy    bool   // another program holds a conversation, which must not hear that
	say     func(string)
}

func isDevice(arg string) bool { return arg != "null" && !strings.HasPrefix(arg, "wav:") }

// examineSound checks the devices from the bottom up: the sound server, each
// device, what the microphone hears, and what it hears of the speaker. What
// cannot be tried is left out, since the finding before it says why. It ends
// within seconds also where a sound server hangs: each call below is bounded.
func examineSound(ctx context.Context, c soundCheck) (all []finding) {
	down := "" // how the sound server is mended
	if isDevice(c.in) || isDevice(c.out) {
		server := check("sound server", false, func() (string, error) { return soundServer(ctx) })
		all, down = append(all, server), server.Fix
	}
	source, f := openMicrophone(ctx, c.in, down)
	if all = append(all, f); source != nil {
		defer source.Close() //nolint:errcheck // it was only tried
	}
	hears := false
	if source != nil {
		if isDevice(c.in) {
			c.say(fmt.Sprintf("Listening for %v. Speak as you will in a conversation.", listenTime))
		}
		h, err := listen(ctx, source, int(listenTime/audio.FrameTime))
		all = append(all, h.finding(err))
		hears = err == nil && !h.zeros()
	}
	sink, f := openSpeaker(ctx, c.out, down)
	if all = append(all, f); sink != nil {
		defer sink.Close() //nolint:errcheck // it was only tried
	}
	switch {
	case !hears || sink == nil || !isDevice(c.in):
	case !c.aloud:
		all = append(all, found("echo", false, "not measured; --sound does, with chirps and soft noise", nil, nil))
	case c.busy:
		all = append(all, found("echo", false, "", nil, fault{"not measured, since another program's conversation would hear it", "end that conversation first"}))
	default:
		c.say(fmt.Sprintf("Playing chirps, then soft noise, for %v at most. Please be quiet.", echoTime))
		all = append(all, examineEcho(ctx, source, sink))
	}
	return all
}

// notTried is the error of a device below which there is no sound server: to open
// it would fail likewise, and take longer.
func notTried(down string) error {
	return fault{"not tried, since the sound server does not work", down}
}

// openMicrophone opens what arg names. It returns nil where there is nothing to
// listen to.
func openMicrophone(ctx context.Context, arg, down string) (audio.Source, finding) {
	switch {
	case arg == "null":
		return nil, found("microphone", false, "null, which hears nothing", nil, nil)
	case isDevice(arg) && down != "":
		return nil, found("microphone", true, "", nil, notTried(down))
	}
	src, err := source(arg, math.Inf(1)) // nobody waits for a recording
	if err == nil {
		err = src.Open(ctx)
	}
	if err != nil {
		return nil, found("microphone", true, "", nil, err)
	}
	detail, figures := deviceDetail(arg, src)
	return src, found("microphone", true, detail, figures, nil)
}

// openSpeaker opens what arg names. It returns nil where nothing would be
// heard: to open a recording would make its file.
func openSpeaker(ctx context.Context, arg, down string) (audio.Sink, finding) {
	switch {
	case !isDevice(arg):
		return nil, found("speaker", false, arg+", which nobody hears", nil, nil)
	case down != "":
		return nil, found("speaker", true, "", nil, notTried(down))
	}
	dst := portaudio.NewSink(arg)
	if err := dst.Open(ctx); err != nil {
		return nil, found("speaker", true, "", nil, err)
	}
	detail, figures := deviceDetail(arg, dst)
	return dst, found("speaker", true, detail, figures, nil)
}

// deviceDetail names a device that is open, with the delay that it reports.
func deviceDetail(arg string, device any) (string, map[string]float64) {
	name := arg
	if arg == portaudio.Default {
		name = "the system's default"
	}
	timed, ok := device.(audio.Timed)
	if !ok {
		return name, nil
	}
	reported := timed.Timing().Reported
	return fmt.Sprintf("%s; it reports a delay of %s", name, inMs(reported)), map[string]float64{"reportedMs": ms(reported)}
}

func ms(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond/10)) / float64(time.Millisecond)
}

func inMs(d time.Duration) string { return fmt.Sprintf("%.0f ms", ms(d)) }

// startServer is how PipeWire or PulseAudio is started.
const startServer = "start it: systemctl --user restart pipewire pipewire-pulse, or pulseaudio --start"

// soundServer tells a server that works from one that hangs, one that is dead and
// none at all. A device that fails says only that it does, and through ALSA a dead
// server looks like a machine without devices.
func soundServer(ctx context.Context) (string, error) {
	devices, err := portaudio.Devices()
	if err != nil {
		return "", err
	}
	ins, outs, api := 0, 0, ""
	for _, d := range devices {
		if strings.HasPrefix(d.ID, "pulse:") {
			api = d.HostAPI
			ins, outs = ins+min(d.Inputs, 1), outs+min(d.Outputs, 1)
		}
	}
	if api != "" {
		return fmt.Sprintf("%s, with %s and %s", api, count(ins, "microphone"), count(outs, "speaker")), nil
	}
	if runtime.GOOS != "linux" {
		return "none is needed here", nil
	}
	network, address, why := serverAddress(os.Getenv, os.Getuid())
	if why == "" {
		return "there is none; the devices are used through ALSA", nil
	}
	d := net.Dialer{Timeout: time.Second}
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return "", fault{fmt.Sprintf("no sound server runs, and there should be one (%s): %v", why, errors.Unwrap(err)), startServer}
	}
	_ = conn.Close()
	return "it runs, and has no devices", nil
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// serverAddress is where a sound server of this user listens, and by what we know
// that there should be one; "" when nothing says so.
func serverAddress(getenv func(string) string, uid int) (network, address, why string) {
	if word, _, _ := strings.Cut(getenv("PULSE_SERVER"), " "); word != "" {
		if _, rest, ok := strings.Cut(word, "}"); ok && strings.HasPrefix(word, "{") {
			word = rest // the machine that it is for
		}
		if path := strings.TrimPrefix(word, "unix:"); strings.HasPrefix(path, "/") {
			return "unix", path, "PULSE_SERVER names it"
		}
		host := strings.TrimPrefix(word, "tcp:")
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), "4713")
		}
		return "tcp", host, "PULSE_SERVER names it"
	}
	dir := getenv("PULSE_RUNTIME_PATH")
	if dir == "" {
		dir = getenv("XDG_RUNTIME_DIR")
		if dir == "" {
			dir = filepath.Join("/run/user", strconv.Itoa(uid))
		}
		dir = filepath.Join(dir, "pulse")
	}
	if _, err := os.Stat(dir); err != nil {
		return "", "", "" // no server has ever run for this user
	}
	return "unix", filepath.Join(dir, "native"), "its folder is there"
}

// microphoneHolder says whether a conversation of another program has the
// microphone. The lease is given back at once: what is checked here is no
// conversation, and must not keep one from beginning.
func microphoneHolder(ctx context.Context) finding {
	const name = "microphone's holder"
	l, err := lease.Acquire(ctx, lease.Holder{Name: "agentvoice-daemon doctor"})
	l.Release()
	var held *lease.HeldError
	switch {
	case err == nil:
		return found(name, false, "nobody; a conversation can begin", nil, nil)
	case errors.As(err, &held):
		return found(name, false, "", nil, err)
	default:
		return found(name, false, "", nil, fault{err.Error(), lease.Remedy(runtime.GOOS)})
	}
}
