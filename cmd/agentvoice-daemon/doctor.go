package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/stt"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/tts"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
	"github.com/agentvoice/agentvoice-daemon/audio/portaudio"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// finding is what one check of doctor found.
type finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // what is there, or what is wrong and how it is mended
	// Needed says that the local provider does not work without it.
	Needed bool `json:"needed"`
}

func newDoctor() *cobra.Command {
	var shared sharedFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what works here, and say how to mend what does not",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := shared.parse(protocol.DefaultSettings())
			if err != nil {
				return err
			}
			found := examine(cmd.Context(), settings, shared)
			if asJSON {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(found)
			} else {
				for _, f := range found {
					mark := "ok  "
					if !f.OK {
						mark = "FAIL"
						if !f.Needed {
							mark = "warn"
						}
					}
					fmt.Fprintf(cmd.OutOrStdout(), "%s  %-20s %s\n", mark, f.Check, f.Detail)
				}
			}
			return errors.Join(err, failures(found))
		},
	}
	shared.register(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func failures(found []finding) error {
	n := 0
	for _, f := range found {
		if !f.OK && f.Needed {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%d checks failed; each says its fix", n)
}

// examine runs the checks. Those of the local engines count only where they are
// what hears and speaks.
func examine(ctx context.Context, set protocol.Settings, f sharedFlags) []finding {
	local := set.Provider == protocol.ProviderLocal
	check := func(name string, needed bool, run func() (string, error)) finding {
		detail, err := run()
		if err != nil {
			return finding{Check: name, Detail: err.Error(), Needed: needed}
		}
		return finding{Check: name, OK: true, Detail: detail, Needed: needed}
	}
	found := []finding{
		check("codec", true, func() (string, error) {
			_, err := opus.NewEncoder(opus.Config{})
			return "Opus", err
		}),
		check("microphone", false, func() (string, error) { return openSource(ctx, f.audioIn) }),
		check("loudspeaker", false, func() (string, error) { return openSink(ctx, f.audioOut) }),
		check("voice detection", local, detector),
		check("recognition", local, recognizer),
		check("synthesis", local, synthesizer),
	}
	if !local {
		found = append(found,
			check("credentials", true, func() (string, error) {
				_, err := credentials(f.keyFile)(ctx, set.Provider)
				return "a key for " + string(set.Provider), err
			}),
			check("provider", true, func() (string, error) { return reach(ctx, set) }))
	}
	return append(found, check("editor", false, pairing))
}

func openSource(ctx context.Context, arg string) (string, error) {
	src, err := source(arg, 1)
	if err != nil {
		return "", err
	}
	defer src.Close() //nolint:errcheck // it was only tried
	return deviceName(arg), src.Open(ctx)
}

func openSink(ctx context.Context, arg string) (string, error) {
	if arg == "null" {
		return arg, nil
	}
	out, err := portaudio.Devices()
	if err != nil {
		return "", err
	}
	for _, d := range out {
		if d.Outputs > 0 {
			s := portaudio.NewSink(arg)
			defer s.Close() //nolint:errcheck // it was only tried
			return deviceName(arg), s.Open(ctx)
		}
	}
	return "", &audio.DeviceError{
		Code: "deviceUnavailable", Device: arg, Err: errors.New("there is no loudspeaker"),
		Remedy: "plug one in, start the sound server, or use --audio-out wav:FILE or null",
	}
}

func deviceName(arg string) string {
	if arg == "default" {
		return "the system's default"
	}
	return arg
}

func detector() (string, error) {
	model, err := assets.Silero()
	if err != nil {
		return "", err
	}
	runtime, err := assets.ONNXRuntime()
	if err != nil {
		return "", err
	}
	d, err := vad.NewSilero(model, runtime)
	if err != nil {
		return "", err
	}
	return "Silero", d.Close()
}

func recognizer() (string, error) {
	r, err := stt.PocketSphinx(stt.PocketSphinxConfig{})()
	if err != nil {
		return "", err
	}
	return "PocketSphinx, English", r.Close()
}

func synthesizer() (string, error) {
	s, err := tts.Flite()()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Flite, %d voices", len(s.Voices())), s.Close()
}

// reach opens a TCP connection to the provider; it sends nothing.
func reach(ctx context.Context, set protocol.Settings) (string, error) {
	base := set.Endpoint
	if base == "" && set.Provider == protocol.ProviderOpenAI {
		base = "https://api.openai.com"
	}
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return "", fmt.Errorf("there is no endpoint for %s; give --endpoint", set.Provider)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80"}[u.Scheme]
	}
	if port == "" {
		port = "443"
	}
	d := net.Dialer{Timeout: 5 * time.Second}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return "", fmt.Errorf("%s cannot be reached; check the network, a proxy and --endpoint: %w", u.Hostname(), err)
	}
	return u.Hostname(), conn.Close()
}

// pairing says how an editor finds this daemon.
func pairing() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("the path of this program is not known: %w", err)
	}
	return fmt.Sprintf("start %s serve --stdio (protocol %s)", path, protocol.Version), nil
}
