package pulse

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// The devices that a server starts with.
const (
	SpeakerName    = "speaker"
	MicrophoneName = "microphone"
	// EchoName is a second microphone that hears only the speaker: a cable from
	// output to input.
	EchoName = "echo"
)

// script is the server's startup script. It creates the socket last, so that
// everything else exists when the server answers.
const script = `load-module module-null-sink sink_name=room rate=48000 format=s16le channels=4 channel_map=aux0,aux1,aux2,aux3
load-module module-remap-sink sink_name=speaker master=room format=s16le channels=1 channel_map=mono master_channel_map=aux0 remix=no sink_properties=device.description=Loudspeaker
load-module module-remap-sink sink_name=voice master=room format=s16le channels=3 channel_map=aux0,aux1,aux2 master_channel_map=aux1,aux2,aux3 remix=no
load-module module-remap-source source_name=microphone master=room.monitor channels=1 channel_map=mono master_channel_map=aux1 remix=no source_properties=device.description=Microphone
load-module module-remap-source source_name=echo master=room.monitor channels=1 channel_map=mono master_channel_map=aux0 remix=no source_properties=device.description=Echo
set-default-sink speaker
set-default-source microphone
load-module module-native-protocol-unix auth-anonymous=1 socket=%s
`

// alsa is the content of the file that ALSA_CONFIG_PATH names. PULSE_SERVER selects
// the server.
const alsa = "pcm.!default { type pulse }\nctl.!default { type pulse }\n"

// Available returns nil, or an error that says why no server can run here.
func Available() error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("a private PulseAudio needs Linux, this is %s", runtime.GOOS)
	}
	for _, program := range []string{"pulseaudio", "pactl", "pacat"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is not installed; run scripts/setup.sh --tests", program)
		}
	}
	return nil
}

// Options configures a server. The zero value is suitable for tests.
type Options struct {
	// Cushion is the requested buffer of the microphone at the server, so that a busy
	// machine causes no gaps; a third to a half of it is actually used. It is most of
	// the delay from the speaker through the room to the microphone. 0 means 120 ms,
	// which is enough at three times the machine's capacity; an idle machine needs 40
	// ms.
	Cushion time.Duration
}

// Server is a running, killed or stopped PulseAudio. Tape and Connect are safe for
// concurrent use; the other methods are not.
type Server struct {
	dir     string
	options Options
	tape    *Tape
	room    roomHolder
	leftOut atomic.Int64

	server  *process // nil while none runs
	helpers []*process
	pump    sync.WaitGroup
}

// Start runs a server with its files in dir, whose path must be short (a socket's
// path has less than 108 bytes). It returns when the devices exist and the tape runs.
// The caller must call Close.
func Start(ctx context.Context, dir string, o Options) (*Server, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	if o.Cushion == 0 {
		o.Cushion = 120 * time.Millisecond
	}
	s := &Server{dir: dir, options: o, tape: newTape()}
	for name, content := range map[string]string{
		"script": fmt.Sprintf(script, s.Socket()), "asound.conf": alsa, "client.conf": "autospawn = no\n",
		"cookie": strings.Repeat("\x00", 256),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return nil, err
		}
	}
	if err := s.Restart(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Socket returns the path of the server's socket, which does not change on a restart.
func (s *Server) Socket() string { return filepath.Join(s.dir, "s") }

// Env returns the environment that makes a process use this server, through ALSA or
// directly: pairs NAME=value for exec.Cmd.
func (s *Server) Env() []string {
	return []string{
		"PULSE_SERVER=unix:" + s.Socket(),
		"PULSE_COOKIE=" + filepath.Join(s.dir, "cookie"),
		"PULSE_CLIENTCONFIG=" + filepath.Join(s.dir, "client.conf"),
		"PULSE_RUNTIME_PATH=" + s.dir,
		"ALSA_CONFIG_PATH=" + filepath.Join(s.dir, "asound.conf"),
	}
}

// command returns a PulseAudio program that uses this server.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), s.Env()...)
	cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR="+s.dir, "HOME="+s.dir, "LC_ALL=C")
	return cmd
}

// Restart stops the server, if one runs, and starts one at the same socket with the
// initial devices. The tape continues where it ended, without the time in between.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Kill(); err != nil {
		return err
	}
	cmd := s.command("pulseaudio", "--daemonize=no", "--exit-idle-time=-1", "--disallow-exit", "-n",
		"-F", filepath.Join(s.dir, "script"), "--disable-shm=yes", "--realtime=no", "--high-priority=no",
		"--use-pid-file=no", "--log-level=info", "--log-target=stderr")
	cmd.Env = append(cmd.Env, "PULSE_SERVER=") // this process is the server
	said, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if s.server, err = start(cmd); err != nil {
		return err
	}
	ready := make(chan string, 1) // "" when ready, else the last output
	s.pump.Go(func() {
		last := "nothing"
		lines := bufio.NewScanner(said)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "Daemon startup complete") {
				select {
				case ready <- "":
				default:
				}
			}
			last = lines.Text()
		}
		select {
		case ready <- last:
		default:
		}
	})
	select {
	case complaint := <-ready:
		if complaint != "" {
			return fmt.Errorf("pulseaudio exited; its last output: %s", complaint)
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.record(ctx)
}

// Kill kills the server, like a crash. It returns when the process has exited.
func (s *Server) Kill() error {
	for _, p := range append(s.helpers, s.server) {
		p.kill()
	}
	s.helpers, s.server = nil, nil
	s.pump.Wait()
	if err := os.Remove(s.Socket()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Freeze suspends the server, like a hang; its connections stay open. Thaw resumes it.
func (s *Server) Freeze() error { return s.server.signal(freezeSignal) }

// Thaw undoes Freeze.
func (s *Server) Thaw() error { return s.server.signal(thawSignal) }

// Close stops the server and everything that was started with it. It is safe to call
// twice. The files remain.
func (s *Server) Close() error { return s.Kill() }

// Pactl runs pactl and returns its output.
func (s *Server) Pactl(ctx context.Context, args ...string) (string, error) {
	cmd := s.command("pactl", args...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	p, err := start(cmd)
	if err != nil {
		return "", err
	}
	select {
	case <-p.done:
		if p.err != nil {
			return "", fmt.Errorf("pactl %s: %w: %s", strings.Join(args, " "), p.err, strings.TrimSpace(complaint.String()))
		}
		return strings.TrimSpace(out.String()), nil
	case <-ctx.Done():
		p.kill()
		return "", ctx.Err()
	}
}

// AddSink adds a speaker with a clock of its own, whose output is not recorded.
// unplug removes it.
func (s *Server) AddSink(ctx context.Context, name string) (unplug func(context.Context) error, err error) {
	return s.load(ctx, "module-null-sink", "sink_name="+name, "rate=48000", "channels=2", "sink_properties=device.description="+name)
}

// AddSource adds a microphone with the same input as the first one.
func (s *Server) AddSource(ctx context.Context, name string) (unplug func(context.Context) error, err error) {
	return s.load(ctx, "module-remap-source", "source_name="+name, "master=room.monitor", "channels=1", "channel_map=mono",
		"master_channel_map=aux1", "remix=no", "source_properties=device.description="+name)
}

func (s *Server) load(ctx context.Context, module ...string) (unload func(context.Context) error, err error) {
	index, err := s.Pactl(ctx, append([]string{"load-module"}, module...)...)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		_, err := s.Pactl(ctx, "unload-module", index)
		return err
	}, nil
}

// SetDefault makes a sink or a source the default of its kind.
func (s *Server) SetDefault(ctx context.Context, kind Kind, name string) error {
	_, err := s.Pactl(ctx, "set-default-"+string(kind), name)
	return err
}

// Remove removes the first speaker or microphone, or another device by name, until
// the next Restart.
func (s *Server) Remove(ctx context.Context, kind Kind, name string) error {
	modules, err := s.Pactl(ctx, "list", "short", "modules")
	if err != nil {
		return err
	}
	for line := range strings.Lines(modules) {
		if strings.Contains(line, string(kind)+"_name="+name+" ") {
			_, err := s.Pactl(ctx, "unload-module", strings.Fields(line)[0])
			return err
		}
	}
	return fmt.Errorf("no %s %s", kind, name)
}

// Kind is a kind of device, in PulseAudio's terms.
type Kind string

// The kinds of devices.
const (
	Sink   Kind = "sink"
	Source Kind = "source"
)

// process is a child that is killed when we exit.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has exited
	err  error         // exit error, valid after done
}

// start runs cmd. The kernel kills the child when the thread that started it ends, so
// one thread is reserved per child.
func start(cmd *exec.Cmd) (*process, error) {
	dieWithUs(cmd)
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) kill() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Kill() // it may have exited
	<-p.done
}

func (p *process) signal(sig syscall.Signal) error {
	if p == nil {
		return errors.New("no server is running")
	}
	return p.cmd.Process.Signal(sig)
}
