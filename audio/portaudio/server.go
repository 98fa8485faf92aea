package portaudio

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// errNoServer means that this machine runs no sound server. It is not an error where
// devices are used directly.
var errNoServer = errors.New("no sound server")

// errNoAnswer means that the server is running but does not answer.
var errNoAnswer = errors.New("sound server does not answer")

// Timeouts for the server's answers. The first allows for socket activation to start
// the server; later ones only distinguish a working server from a hanging one. They
// count only while this process runs on time (audio.Timeout).
const (
	firstAnswer = 2 * time.Second
	laterAnswer = 250 * time.Millisecond
)

// answerTime returns the time for a later answer.
func answerTime() time.Duration {
	if overloaded() {
		return firstAnswer
	}
	return laterAnswer
}

// soundServer is a connection to PulseAudio, or to PipeWire, which speaks the same
// protocol. It lists the devices and shows whether the server is alive; it carries no
// audio. The protocol is version 12 of PulseAudio's native-common.h and tagstruct.h,
// the last one with fixed-size device records; all servers since 2008 support it.
// pactl is not an alternative: it may not be installed, and would start a process per
// query.
type soundServer struct {
	conn    net.Conn
	gone    chan struct{} // closed when the connection has ended
	changed chan struct{} // the devices may have changed; capacity 1

	mu      sync.Mutex
	tag     uint32
	waiting map[uint32]chan *tagReader
}

const protocolVersion = 12

// Commands of native-common.h.
const (
	cmdError          = 0
	cmdReply          = 2
	cmdAuth           = 8
	cmdSetClientName  = 9
	cmdGetServerInfo  = 20
	cmdGetSinkList    = 22
	cmdGetSourceList  = 24
	cmdSubscribe      = 35
	cmdSubscribeEvent = 66
)

// subscribeDevices is the event mask for sinks, sources and the server's defaults.
const subscribeDevices = 0x01 | 0x02 | 0x80

// maxPacket limits the size of a packet from the server. A list of a hundred devices
// has 50 kB.
const maxPacket = 4 << 20

// dialServer connects to the user's sound server. It fails with errNoServer or
// errNoAnswer. Close ends the connection.
func dialServer(ctx context.Context, answer time.Duration) (*soundServer, error) {
	if runtime.GOOS != "linux" {
		return nil, errNoServer
	}
	ctx, cancel := audio.WithTimeout(ctx, answer)
	defer cancel()
	conn, err := dialAny(ctx)
	if err != nil {
		return nil, err
	}
	s := &soundServer{
		conn: conn, gone: make(chan struct{}), changed: make(chan struct{}, 1),
		waiting: map[uint32]chan *tagReader{},
	}
	go s.read()
	auth := new(tagWriter).u32(protocolVersion).bytes(cookie())
	if _, err = s.request(ctx, cmdAuth, auth); err == nil {
		_, err = s.request(ctx, cmdSetClientName, new(tagWriter).text("agentvoice-daemon"))
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func dialAny(ctx context.Context) (net.Conn, error) {
	all := errNoServer
	var d net.Dialer
	for _, a := range serverAddresses(os.Getenv, os.Getuid()) {
		conn, err := d.DialContext(ctx, a[0], a[1])
		if err == nil {
			return conn, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w at %s", errNoAnswer, a[1])
		}
		all = fmt.Errorf("%w: %w", errNoServer, err)
	}
	return nil, all
}

// serverAddresses returns the networks and addresses to try, as PulseAudio's clients
// do, except that it does not read client.conf.
func serverAddresses(getenv func(string) string, uid int) [][2]string {
	var found [][2]string
	for _, word := range strings.Fields(getenv("PULSE_SERVER")) {
		if _, rest, ok := strings.Cut(word, "}"); ok && strings.HasPrefix(word, "{") {
			word = rest // skip the machine id
		}
		network, address, ok := strings.Cut(word, ":")
		switch {
		case strings.HasPrefix(word, "/"):
			found = append(found, [2]string{"unix", word})
		case ok && network == "unix":
			found = append(found, [2]string{"unix", address})
		case ok && (network == "tcp" || network == "tcp4" || network == "tcp6"):
			if _, _, err := net.SplitHostPort(address); err != nil {
				address = net.JoinHostPort(strings.Trim(address, "[]"), "4713")
			}
			found = append(found, [2]string{network, address})
		default:
			found = append(found, [2]string{"tcp", net.JoinHostPort(word, "4713")})
		}
	}
	if len(found) > 0 {
		return found
	}
	if dir := getenv("PULSE_RUNTIME_PATH"); dir != "" {
		return [][2]string{{"unix", filepath.Join(dir, "native")}}
	}
	dir := getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = filepath.Join("/run/user", strconv.Itoa(uid))
	}
	return [][2]string{{"unix", filepath.Join(dir, "pulse", "native")}}
}

// cookie returns the authentication cookie, for servers that cannot get the peer's
// credentials from the socket.
func cookie() []byte {
	paths := []string{os.Getenv("PULSE_COOKIE")}
	if dir, err := os.UserConfigDir(); err == nil {
		paths = append(paths, filepath.Join(dir, "pulse", "cookie"))
	}
	for _, p := range paths {
		if b, err := os.ReadFile(p); err == nil && len(b) == 256 {
			return b
		}
	}
	return make([]byte, 256)
}

// Close ends the connection.
func (s *soundServer) Close() {
	if s != nil {
		_ = s.conn.Close()
		<-s.gone
	}
}

// subscribe enables notifications on changed.
func (s *soundServer) subscribe(ctx context.Context) error {
	_, err := s.request(ctx, cmdSubscribe, new(tagWriter).u32(subscribeDevices))
	return err
}

// devices lists the microphones and speakers, without the monitor sources of speakers.
func (s *soundServer) devices(ctx context.Context) ([]Device, error) {
	r, err := s.request(ctx, cmdGetServerInfo, new(tagWriter))
	if err != nil {
		return nil, err
	}
	api := r.text() // "pulseaudio", or "PulseAudio (on PipeWire 1.0.5)"
	for range 3 {   // its version, user and host
		r.text()
	}
	r.sampleSpec()
	sink, source := r.text(), r.text()
	if r.err != nil {
		return nil, r.err
	}
	if !strings.Contains(api, "PipeWire") {
		api = "PulseAudio"
	}
	var devices []Device
	for _, list := range []struct {
		command   uint32
		dir       direction
		byDefault string
	}{{cmdGetSourceList, capture, source}, {cmdGetSinkList, playback, sink}} {
		r, err := s.request(ctx, list.command, new(tagWriter))
		if err != nil {
			return nil, err
		}
		for len(r.rest) > 0 {
			d, monitor := r.device(list.dir)
			if r.err != nil {
				return nil, r.err
			}
			d.HostAPI = api
			if list.dir == capture {
				d.DefaultInput = d.server == list.byDefault
			} else {
				d.DefaultOutput = d.server == list.byDefault
			}
			if !monitor || d.DefaultInput {
				devices = append(devices, d)
			}
		}
	}
	return devices, nil
}

// request sends a command and waits for its answer. It returns errNoAnswer if ctx ends
// first, and errNoServer if the connection does.
func (s *soundServer) request(ctx context.Context, command uint32, args *tagWriter) (*tagReader, error) {
	answer := make(chan *tagReader, 1)
	s.mu.Lock()
	s.tag++
	tag := s.tag
	s.waiting[tag] = answer
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.waiting, tag)
		s.mu.Unlock()
	}()
	body := append(new(tagWriter).u32(command).u32(tag).b, args.b...)
	packet := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	packet = binary.BigEndian.AppendUint32(packet, 1<<32-1) // no stream channel
	packet = append(packet, make([]byte, 12)...)            // offset and flags
	_ = s.conn.SetWriteDeadline(time.Time{})
	defer context.AfterFunc(ctx, func() { _ = s.conn.SetWriteDeadline(time.Now()) })()
	if _, err := s.conn.Write(append(packet, body...)); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, errNoAnswer
		}
		return nil, fmt.Errorf("%w: %w", errNoServer, err)
	}
	select {
	case r := <-answer:
		return r, r.err
	case <-s.gone:
		return nil, fmt.Errorf("%w: connection closed", errNoServer)
	case <-ctx.Done():
		return nil, errNoAnswer
	}
}

// read processes the server's packets until the connection ends.
func (s *soundServer) read() {
	defer close(s.gone)
	defer s.conn.Close()
	for {
		var head [20]byte
		if _, err := io.ReadFull(s.conn, head[:]); err != nil {
			return
		}
		n := binary.BigEndian.Uint32(head[:])
		if n > maxPacket {
			return
		}
		r := &tagReader{rest: make([]byte, n)}
		if _, err := io.ReadFull(s.conn, r.rest); err != nil {
			return
		}
		command, tag := r.u32(), r.u32()
		switch command {
		case cmdError:
			r.err = fmt.Errorf("sound server returned error %d", r.u32())
		case cmdSubscribeEvent:
			select {
			case s.changed <- struct{}{}:
			default:
			}
			continue
		case cmdReply:
		default:
			continue
		}
		s.mu.Lock()
		answer := s.waiting[tag]
		s.mu.Unlock()
		if answer != nil {
			select {
			case answer <- r:
			default: // duplicate answer
			}
		}
	}
}
