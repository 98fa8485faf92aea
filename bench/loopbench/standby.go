package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	random "math/rand/v2"
	"net/http"
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/audioapi"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/pulse"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// keepModels is how long the measured daemon keeps speech models loaded after a conversation.
const keepModels = time.Second

// settles is how long a state lasts before it is measured, so that the uplink's gate
// has closed and the devices of a suspended conversation are stopped.
const settles = 4 * time.Second

// usage is the resource usage of a process so far.
type usage struct {
	cpu     time.Duration
	wakeups int64 // voluntary context switches of all threads
	memory  int64 // resident, in bytes
}

// standby measures a daemon in its idle states: with local engines, first with devices
// that cost nothing and then with those of a sound server, and with a service in another
// process, whose cost does not count because it represents a hosted service.
func standby(daemon string, watch time.Duration) error {
	null := devices{in: "null", out: "null"}
	local, err := watchStates(null, daemon, watch)
	if errors.Is(err, errNotAccounted) {
		fmt.Println("idle cost: not measured on this system")
		return nil
	}
	if err != nil {
		return err
	}
	url, stop, err := hosted()
	if err != nil {
		return err
	}
	online, err := watchStates(null, daemon, watch, "--provider", string(protocol.ProviderOpenAI), "--endpoint", url)
	if err := errors.Join(err, stop()); err != nil {
		return err
	}
	fmt.Printf("%-28s %29s   %29s   %29s\n", "", "local engines, null devices", "the same with PulseAudio", "hosted (a server on loopback)")
	sounding, err := watchWithServer(daemon, watch)
	if err != nil {
		return err
	}
	for i, l := range local {
		fmt.Printf("%-28s %s   %29s   %s\n", l.state, l, sounding[i], online[i])
	}
	return nil
}

// watchWithServer is watchStates with the devices of a sound server, whose own cost does
// not count. Without a server the columns say so.
func watchWithServer(daemon string, watch time.Duration) (columns [4]string, err error) {
	if why := pulse.Available(); why != nil {
		for i := range columns {
			columns[i] = "no PulseAudio"
		}
		return columns, nil
	}
	dir, err := os.MkdirTemp("", "pulse")
	if err != nil {
		return columns, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	server, err := pulse.Start(context.Background(), dir, pulse.Options{})
	if err != nil {
		return columns, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	server.Connect(quietRoom)
	all, err := watchStates(devices{in: "default", out: "default", env: server.Env()}, daemon, watch)
	for i, c := range all {
		columns[i] = c.String()
	}
	return columns, err
}

// quietRoom is the noise of a quiet room, at -75 dBFS. The daemon would say that a microphone without any
// sound is broken, and speech is no silence.
func quietRoom(_, microphone, _ *pulse.Frame) {
	for i := range microphone {
		microphone[i] = int16(random.IntN(21) - 10)
	}
}

// costs is the cost of a state.
type costs struct {
	state   string
	cpu     float64 // of a core, in %
	wakeups float64 // per second
	memory  int64
}

func (c costs) String() string {
	return fmt.Sprintf("%5.2f %% %6.0f/s %9.1f MB", c.cpu, c.wakeups, float64(c.memory)/1e6)
}

// watchStates runs a daemon through the states and measures each.
func watchStates(on devices, daemon string, watch time.Duration, args ...string) (all []costs, err error) {
	s, err := serveOn(on, daemon, append(args, "--keep-models", keepModels.String())...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	measure := func(state string) error {
		time.Sleep(settles)
		before, err := used(s.cmd.Process.Pid)
		if err != nil {
			return err
		}
		began := time.Now()
		time.Sleep(watch)
		after, err := used(s.cmd.Process.Pid)
		took := time.Since(began).Seconds()
		all = append(all, costs{
			state: state, cpu: 100 * (after.cpu - before.cpu).Seconds() / took,
			wakeups: float64(after.wakeups-before.wakeups) / took, memory: after.memory,
		})
		return err
	}
	for _, next := range []struct {
		name   string
		method string // "" stays in the state
		state  protocol.State
	}{
		{"idle, before a conversation", "", protocol.StateIdle},
		{"listening to silence", protocol.MethodStart, protocol.StateListening},
		{"suspended", protocol.MethodSuspend, protocol.StateSuspended},
		{"idle, models freed", protocol.MethodEnd, protocol.StateIdle},
	} {
		if next.method != "" {
			if err := s.reach(next.method, next.state); err != nil {
				return nil, err
			}
		}
		if err := s.ignore(func() error { return measure(next.name) }); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// ignore drains the daemon's output while do runs, so that the daemon is not blocked.
func (s *served) ignore(do func() error) error {
	const last = `{"jsonrpc":"2.0","id":4,"method":"` + protocol.MethodState + `","params":{}}`
	done := make(chan error, 1)
	go func() {
		done <- do()
		_ = s.send(last) // wakes the reader, which detects the daemon's exit
	}()
	for {
		if _, err := readMessage(s.messages); err != nil {
			return err
		}
		select {
		case err := <-done:
			return err
		default:
		}
	}
}

// hosted serves the realtime protocol and speech over HTTP in this process, and
// stores its key where the daemon looks for the key of a hosted service.
func hosted() (url string, stop func() error, err error) {
	model, err := assets.Silero()
	if err != nil {
		return "", nil, err
	}
	runtime, err := assets.ONNXRuntime()
	if err != nil {
		return "", nil, err
	}
	key := "sk-" + rand.Text()
	sessions, err := localrealtime.New(localrealtime.Config{
		Recognizer: hearing.PocketSphinx(assets.PocketSphinx), Synthesizer: voice.Flite(),
		Detector: func() (vad.Detector, error) { return vad.NewSilero(model, runtime) },
		APIKey:   key, Log: zerolog.New(io.Discard),
	})
	if err != nil {
		return "", nil, err
	}
	ln, err := sessions.Listen("127.0.0.1:0")
	if err != nil {
		return "", nil, errors.Join(err, sessions.Close())
	}
	if err := os.Setenv("OPENAI_API_KEY", key); err != nil {
		return "", nil, errors.Join(err, ln.Close(), sessions.Close())
	}
	requests := &audioapi.Server{Synthesizer: voice.Flite(), Key: key}
	mux := http.NewServeMux()
	mux.Handle("/", sessions.Handler())
	mux.Handle("/v1/audio/", requests.Handler())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	return "http://" + ln.Addr().String(), func() error {
		err := server.Close()
		<-served // Close waits for it
		return errors.Join(err, sessions.Close())
	}, nil
}
