package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/live"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// finding is the result of one check.
type finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // the state, or the problem and its fix
	// Fix is the part of Detail that says how to fix the problem, "" if there is none.
	Fix string `json:"fix,omitempty"`
	// Figures are measured values; the key names the unit.
	Figures map[string]float64 `json:"figures,omitempty"`
	// Needed says that a conversation requires it; a failure makes the command fail.
	Needed bool `json:"needed"`
}

// fault is a problem and its fix, in one sentence.
type fault struct{ what, fix string }

func (f fault) Error() string { return f.what + "; " + f.fix }

// fixOf returns the part of an error that says what to do. Errors of this project put it after
// a semicolon, unless they have a field for it.
func fixOf(err error) string {
	var f fault
	var device *audio.DeviceError
	switch {
	case errors.As(err, &f):
		return f.fix
	case errors.As(err, &device):
		return device.Remedy
	}
	_, fix, _ := strings.Cut(err.Error(), "; ")
	return fix
}

// check runs one check.
func check(name string, needed bool, run func() (string, error)) finding {
	detail, err := run()
	return found(name, needed, detail, nil, err)
}

// found returns the finding of a completed check.
func found(name string, needed bool, detail string, figures map[string]float64, err error) finding {
	f := finding{Check: name, OK: err == nil, Detail: detail, Figures: figures, Needed: needed}
	if err != nil {
		f.Detail, f.Fix = err.Error(), fixOf(err)
	}
	return f
}

// doctorFlags are the flags of doctor: those of talk that it examines, and its own.
type doctorFlags struct {
	sharedFlags
	assistantFlags
	asJSON, aloud, paths bool
}

func newDoctor() *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check devices, engines and services, and say how to fix problems",
		Long: `Check devices, engines and services, and say how to fix problems. The command listens to
the microphone for two seconds: speak, and it reports whether the level is too high.
Nothing is recorded. Of the last recorded conversation, which --journal can name, it says by what
the ends of your turns were judged.

Services, assistant and journal are checked as talk would use them with the same flags, through the
same proxy. Nothing is sent to a service but requests that cost nothing: for its address and, with
your key, for the models of --agent openai and the ends of OpenAI's models.

With --sound it plays chirps and soft noise for up to 15 seconds, and measures the
delay from speaker to microphone and whether the echo is cancelled.

With --paths it only says where the program found its models, its libraries, ALSA's configuration
and the licences, and what is missing.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.agentSet = cmd.Flags().Changed("agent"); !f.agentSet {
				f.agent = "" // list those that are installed
			}
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fs := cmd.Flags()
	f.sharedFlags.register(fs)
	f.assistantFlags.register(fs)
	fs.BoolVar(&f.asJSON, "json", false, "print a JSON array")
	fs.BoolVar(&f.paths, "paths", false, "only say which files of the program were found where")
	fs.BoolVar(&f.aloud, "sound", false, "play chirps and soft noise, to measure the echo")
	return cmd
}

func (f *doctorFlags) run(ctx context.Context, out, notices io.Writer) error {
	settings, err := f.parse(protocol.DefaultSettings())
	if err != nil {
		return err
	}
	if err := f.follow(settings, f.sharedFlags.endpoint); err != nil {
		return err
	}
	if _, err := f.logger(); err != nil {
		return err
	}
	if err := f.checkLimits(); err != nil {
		return err
	}
	if f.asJSON {
		notices = io.Discard
	}
	var all []finding
	if f.paths {
		all = examinePaths()
	} else {
		all = f.examine(ctx, settings, func(text string) { fmt.Fprintln(notices, text) })
	}
	if f.asJSON {
		err = json.NewEncoder(out).Encode(all)
	} else {
		show(out, all)
	}
	return errors.Join(err, failures(all))
}

// show prints one line for each finding.
func show(w io.Writer, all []finding) {
	width := 20
	for _, f := range all {
		width = max(width, len(f.Check))
	}
	for _, f := range all {
		mark := "ok  "
		if !f.OK {
			mark = "FAIL"
			if !f.Needed {
				mark = "warn"
			}
		}
		fmt.Fprintf(w, "%s  %-*s %s\n", mark, width, f.Check, f.Detail)
	}
}

func failures(all []finding) error {
	n := 0
	for _, f := range all {
		if !f.OK && f.Needed {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%s failed; see the fix beside each", plural(n, "check"))
}

// localSpeaker returns the speaker that the settings name for the voice of this machine, if that
// speaks.
func localSpeaker(set protocol.Settings) string {
	if set.Speaks() != protocol.ProviderLocal {
		return ""
	}
	return set.Voice.Name
}

// examine runs the checks. Those of the local engines are required only if the settings use
// them. It calls say before it records or plays anything.
func (f *doctorFlags) examine(ctx context.Context, set protocol.Settings, say func(string)) []finding {
	local := set.SessionWith() == protocol.ProviderLocal
	language := spokenLanguage(protocol.BaseLanguage(set.Transcription.Language))
	holder := microphoneHolder(ctx)
	all := []finding{check("codec", true, codec)}
	all = append(all, examineSound(ctx, soundCheck{
		in: chosen(f.audioIn, set.Audio.InputDevice), out: chosen(f.audioOut, set.Audio.OutputDevice),
		aloud: f.aloud, busy: !holder.OK, say: say,
	})...)
	detail, needed, err := detector()
	all = append(all, holder,
		check("echo cancellation", false, canceller),
		found("voice detection", local && needed, detail, nil, err))
	all = append(all, findSpeech(modelNames(set.Models), language).examine(local, live.ChoiceOf(set, language), localSpeaker(set))...)
	all = append(all, examineEnds(f.journal)...)
	all = append(all, examineJournal(set, &f.sharedFlags)...)
	all = append(all,
		check("wake phrase", false, wakePhrase),
		check("cues", false, func() (string, error) { return cues(set.Cues), nil }))
	t := transportsOf(set)
	defer t.close()
	all = append(all, f.examineServices(ctx, set, t, time.Now())...)
	return append(all, check("editor", false, pairing))
}
