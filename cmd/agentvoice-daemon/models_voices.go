package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/live"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// sample is what a voice says to be chosen. It has what an assistant says: a name of the
// code, a number and a question.
const sample = "One test fails: parseConfig, in line 42. Shall I open it?"

// listedVoice is one entry of models voices.
type listedVoice struct {
	Name    string `json:"name"`
	About   string `json:"about,omitempty"`
	Default bool   `json:"default"`
}

func newModelsVoices() *cobra.Command {
	var asJSON bool
	var out, prefer, engine string
	cmd := &cobra.Command{
		Use:   "voices [NAME...]",
		Short: "List the voices of this machine, or hear some",
		Long: `List the voices of this machine, for the setting agentvoice.voice.name, or let those that
you name speak a sentence. --voice-engine auto lists those that the setting agentvoice.voice.engine
selects with that value.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			l := findSpeech(modelNames(prefer), "")
			if !slices.Contains([]string{protocol.VoiceAuto, protocol.VoiceNatural, protocol.VoiceFast}, engine) {
				return misuse{fmt.Errorf("unknown --voice-engine %q; use auto, natural or fast", engine)}
			}
			s, err := l.synthesizers(live.SpeechChoice{Engine: engine}, speechReports{
				voice: func(err error) { fmt.Fprintln(cmd.ErrOrStderr(), err) },
				slow: func(took time.Duration) {
					fmt.Fprintf(cmd.ErrOrStderr(), "%s takes %d ms to its first words here, so Flite speaks; --voice-engine natural lists its voices\n", l.voice.Name(), took.Milliseconds())
				},
			})()
			if err != nil {
				return err
			}
			defer func() { _ = s.Close() }() // nothing to flush
			if len(names) > 0 {
				if l.voice == nil || engine == protocol.VoiceFast || engine == protocol.VoiceAuto && l.slow {
					return hearVoices(cmd, s, s, names, out)
				}
				natural, err := onlyVoice(l.voice)()
				if err != nil {
					return err
				}
				defer func() { _ = natural.Close() }() // nothing to flush
				return hearVoices(cmd, natural, s, names, out)
			}
			list := listVoices(s, l.slow)
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(list)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "VOICE\tABOUT")
			for _, v := range list {
				about := v.About
				if v.Default {
					about = strings.TrimPrefix(about+", default", ", ")
				}
				fmt.Fprintf(w, "%s\t%s\n", v.Name, about)
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&prefer, "models", "", "models to prefer, as in the setting agentvoice.models")
	cmd.Flags().StringVar(&engine, "voice-engine", protocol.VoiceNatural, "auto, natural or fast, as in the setting agentvoice.voice.engine")
	cmd.Flags().StringVar(&out, "audio-out", "default", "speaker: default, a device's name or id, wav:FILE, or null")
	return cmd
}

// listVoices returns the voices, of which Flite's first one is the default on a slow machine.
func listVoices(s voice.Synthesizer, slow bool) (list []listedVoice) {
	for i, name := range s.Voices() {
		list = append(list, listedVoice{Name: name, About: about(name), Default: i == 0 && !slow || slow && name == voice.DefaultVoice})
	}
	return list
}

// about describes a speaker by its name: Kokoro's say the variety of English and the sex.
func about(name string) string {
	if voice.IsFlite(name) {
		return "Flite: fast, sounds like a machine"
	}
	kind, _, found := strings.Cut(name, "_")
	if !found || len(kind) != 2 {
		return ""
	}
	variety := map[byte]string{'a': "American", 'b': "British"}[kind[0]]
	sex := map[byte]string{'f': "female", 'm': "male"}[kind[1]]
	if variety == "" || sex == "" {
		return ""
	}
	return variety + ", " + sex
}

// hearVoices lets voices speak the sample one after another. Those that natural lacks are of other.
// natural has no fallback, so that a model that is still loading does not speak with another voice.
func hearVoices(cmd *cobra.Command, natural, other voice.Synthesizer, names []string, out string) error {
	if err := tryOutput("--audio-out", out); err != nil {
		return err
	}
	var said []int16
	for _, name := range names {
		fmt.Fprintln(cmd.OutOrStdout(), name)
		s := other
		if slices.Contains(natural.Voices(), name) {
			s = natural
		}
		pcm, err := speech(cmd.Context(), s, name, sample)
		if errors.Is(err, voice.ErrUnknownVoice) {
			return misuse{err}
		}
		if err != nil {
			return err
		}
		said = append(append(said, pcm...), make([]int16, audio.Samples(500*time.Millisecond))...)
	}
	speaker, err := sink(out, 1)
	if err != nil {
		return err
	}
	return play(cmd.Context(), speaker, said)
}

// speech returns what a voice says, at audio.SampleRate.
func speech(ctx context.Context, s voice.Synthesizer, name, text string) (pcm []int16, err error) {
	var r *audio.Resampler
	rate := 0
	err = s.Speak(ctx, name, text, func(piece []int16, hz int) error {
		if hz != rate {
			if r != nil {
				pcm = r.Flush(pcm)
			}
			var err error
			if r, err = audio.NewResampler(hz, audio.SampleRate); err != nil {
				return err
			}
			rate = hz
		}
		pcm = r.Process(pcm, piece)
		return nil
	})
	if r != nil {
		pcm = r.Flush(pcm)
	}
	return pcm, err
}

// play plays samples until the end.
func play(ctx context.Context, speaker audio.Sink, pcm []int16) (err error) {
	if err := speaker.Open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, speaker.Close()) }()
	running, stop := context.WithCancel(ctx)
	defer stop()
	left := pcm
	err = speaker.Run(running, func(f *audio.Frame) {
		n := copy(f[:], left)
		clear(f[n:])
		if left = left[n:]; len(left) == 0 {
			stop()
		}
	})
	if ctx.Err() != nil || !errors.Is(err, context.Canceled) {
		return err
	}
	select { // until the device has played it
	case <-time.After(speaker.Latency()):
	case <-ctx.Done():
	}
	return ctx.Err()
}
