package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/internal/models"
)

// installFlags are the flags of models install.
type installFlags struct {
	modelFlags
	mirrors  []string
	language string
	accept   bool
}

func newModelsInstall() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install [NAME...]",
		Short: "Download models and the engine they need",
		Long: `Download models and the engine they need. Their licences are shown, and you are asked to
accept those that are not permissive. Without a name, install the models that are recommended
for this machine and your language. The engine is called "engine".

Run the command again to resume an interrupted download. Every file is checked against
the manifest's checksum before use, and an installed model is kept until its
replacement is complete.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			out := newInstallView(cmd.OutOrStdout(), f.asJSON)
			return out.finish(f.run(cmd.Context(), args, cmd.InOrStdin(), out))
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringArrayVar(&f.mirrors, "mirror", nil, "base URL of a mirror with the same paths, tried first (repeatable)")
	cmd.Flags().StringVar(&f.language, "language", "", "install the recommended models for this language (default: the environment's language)")
	cmd.Flags().BoolVar(&f.accept, "accept-licence", false, "accept the licences without asking")
	cmd.Flags().BoolVarP(&f.accept, "yes", "y", false, "same as --accept-licence")
	return cmd
}

func (f *installFlags) run(ctx context.Context, names []string, in io.Reader, out *installView) error {
	if err := checkLanguage(f.language); err != nil {
		return err
	}
	s, err := f.store(f.mirrors, out.report)
	if err != nil {
		return err
	}
	list, err := listModels(s, nil, spokenLanguage(f.language))
	if err != nil {
		return err
	}
	wanted, err := wantedModels(list, names)
	if err != nil {
		return err
	}
	if len(wanted) == 0 {
		out.say("The recommended models come with agentvoice; there is nothing to install. `agentvoice-daemon models list` shows others.")
	}
	if unheard := list.unheard(); len(names) == 0 && unheard != "" {
		out.say(unheard)
	}
	if err := f.agree(ctx, wanted, in, out); err != nil {
		return err
	}
	for _, m := range wanted {
		if m.Name == models.EngineName {
			err = s.InstallEngine(ctx)
		} else {
			err = s.Install(ctx, m.Name)
		}
		if err != nil {
			return err
		}
	}
	for _, m := range wanted {
		if m.Name != models.EngineName {
			if err := tryModel(s, m.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// wantedModels returns the named models, or else the recommended ones, preceded by the
// engine if one of them needs it and it is not installed.
func wantedModels(list catalogue, names []string) ([]listedModel, error) {
	var wanted []listedModel
	for _, m := range list.Models {
		if slices.Contains(names, m.Name) || len(names) == 0 && m.Recommended && !m.included {
			wanted = append(wanted, m)
		}
	}
	for _, name := range names {
		if name != models.EngineName && !slices.ContainsFunc(wanted, func(m listedModel) bool { return m.Name == name }) {
			return nil, misuse{fmt.Errorf("unknown model %q; see `agentvoice-daemon models list`", name)}
		}
	}
	if len(names) == 0 && len(wanted) == 0 {
		if slices.ContainsFunc(list.Models, func(m listedModel) bool { return m.included && m.Recommended }) {
			return nil, nil
		}
		return nil, fmt.Errorf("no model is recommended for %s on a machine with %d cores and %s of memory; choose one from `agentvoice-daemon models list`",
			list.Language, list.Machine.Cores, models.FormatSize(int64(list.Machine.Memory)))
	}
	needed := slices.ContainsFunc(wanted, func(m listedModel) bool { return m.ByEngine && !m.Installed })
	if needed && !list.Engine.Installed || slices.Contains(names, models.EngineName) {
		wanted = slices.Insert(wanted, 0, list.Engine)
	}
	return wanted, nil
}

// agree shows the licences of the downloads and, if one is not permissive, asks for consent,
// unless a flag gave it.
func (f *installFlags) agree(ctx context.Context, wanted []listedModel, in io.Reader, out *installView) error {
	var size int64
	var names []string
	for _, m := range wanted {
		if m.Installed || m.Licence == nil {
			continue
		}
		size += m.Bytes
		if m.MustAccept {
			names = append(names, m.Name)
		}
		out.licence(m)
	}
	if f.accept || len(names) == 0 {
		return nil
	}
	file, ok := in.(*os.File)
	if f.asJSON || !ok || !term.IsTerminal(int(file.Fd())) {
		return misuse{fmt.Errorf("the licences of %s are not accepted; read them and pass --accept-licence", strings.Join(names, " and "))}
	}
	yes, err := askYes(ctx, in, out.out, fmt.Sprintf("Accept the licences and download %s?", models.FormatSize(size)))
	if err == nil && !yes {
		err = errors.New("licences not accepted; nothing was downloaded")
	}
	return err
}

// tryModel loads a newly installed or imported model once.
func tryModel(s *models.Store, name string) error {
	m, err := engine.ReadModel(s.Folder(name))
	if err != nil {
		return err
	}
	if m.Computer() == engine.Sherpa {
		if err := s.EngineInstalled(); err != nil {
			return fmt.Errorf("%s is installed but cannot be used yet: %w", name, err)
		}
	}
	if err := loadModel(m); err != nil {
		return fmt.Errorf("%s is installed but does not work: %w", name, err)
	}
	return nil
}

func newModelsImport() *cobra.Command {
	var f modelFlags
	var o models.ImportOptions
	cmd := &cobra.Command{
		Use:   "import FOLDER|ARCHIVE",
		Short: "Install a model or the engine from local files",
		Long: `Install a model or the engine from a local folder or archive (.tar.bz2, .tar.gz, .tgz,
.tar, .zip, .whl), for example one downloaded on another machine. For a model that is not in the
manifest, add a model.json (docs/models.md) or pass --kind, unless its files identify
its architecture.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkLanguage(o.Languages...); err != nil {
				return err
			}
			out := newInstallView(cmd.OutOrStdout(), f.asJSON)
			s, err := f.store(nil, out.report)
			if err != nil {
				return out.finish(err)
			}
			name, err := s.Import(cmd.Context(), args[0], o)
			if err == nil && name != models.EngineName {
				err = tryModel(s, name)
			}
			return out.finish(err)
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVar(&o.Name, "name", "", "folder name of the model (default: that of the source)")
	cmd.Flags().StringVar(&o.Kind, "kind", "", "model architecture: "+strings.Join(engine.Kinds(), ", "))
	cmd.Flags().StringArrayVar(&o.Languages, "language", nil, "language that the model supports (repeatable)")
	return cmd
}

// installView shows the progress of an installation: JSON lines for programs, a progress
// line on a terminal, otherwise one line per step.
type installView struct {
	screen
	encode *json.Encoder // nil for text output
	drawn  bool          // a progress line is shown
	// from and the bytes at that time start the rate estimate of the current model; shown
	// is when the progress line was last drawn.
	name  string
	from  time.Time
	begun int64
	shown time.Time
}

func newInstallView(out io.Writer, asJSON bool) *installView {
	v := &installView{screen: newScreen(out, false)}
	if asJSON {
		v.encode = json.NewEncoder(out)
	}
	return v
}

// licence shows a licence before the user accepts it.
func (v *installView) licence(m listedModel) {
	if v.encode != nil {
		_ = v.encode.Encode(map[string]any{"event": "licence", "name": m.Name, "licence": m.Licence, "total": m.Bytes})
		return
	}
	fmt.Fprintf(v.out, "%s (%s): %s, %s\n", m.Name, models.FormatSize(m.Bytes), m.Licence.Name, m.Licence.URL)
}

// report shows an event.
func (v *installView) report(e models.Event) {
	switch {
	case v.encode != nil:
		_ = v.encode.Encode(e) // the reader is gone
	case e.Event == models.Installed:
		v.line(e.Name + " installed")
	case e.Event == models.Note:
		v.line(e.Name + ": " + e.Message)
	case e.Event == models.Progress:
		v.progress(e)
	}
}

// say prints a sentence for people.
func (v *installView) say(text string) {
	if v.encode == nil {
		v.line(text)
	}
}

// line prints a permanent line in place of the progress line.
func (v *installView) line(text string) {
	fmt.Fprintln(v.out, v.erase()+text)
	v.drawn = false
}

func (v *installView) progress(e models.Event) {
	if v.name != e.Name {
		v.name, v.from, v.begun = e.Name, time.Now(), e.Done
		if !v.live {
			v.line(fmt.Sprintf("%s: %s remaining", e.Name, models.FormatSize(e.Total-e.Done)))
		}
	}
	if !v.live || time.Since(v.shown) < 100*time.Millisecond && e.Done < e.Total {
		return
	}
	v.shown = time.Now()
	const bar = 24
	full := 0
	if e.Total > 0 {
		full = int(bar * e.Done / e.Total)
	}
	text := fmt.Sprintf("%s [%s%s] %s of %s", e.Name, strings.Repeat("#", full), strings.Repeat(".", bar-full), models.FormatSize(e.Done), models.FormatSize(e.Total))
	if took := time.Since(v.from); took > time.Second && e.Done > v.begun {
		rate := float64(e.Done-v.begun) / took.Seconds()
		left := time.Duration(float64(e.Total-e.Done) / rate * float64(time.Second))
		text += fmt.Sprintf(", %s/s, %v left", models.FormatSize(int64(rate)), left.Round(time.Second))
	}
	text, _ = split(text, v.room())
	v.draw(text)
	v.drawn = true
}

// finish ends the view and reports err, the outcome of the installation.
func (v *installView) finish(err error) error {
	if v.drawn {
		fmt.Fprintln(v.out)
	}
	if err != nil && v.encode != nil {
		_ = v.encode.Encode(models.Event{Event: "failed", Message: strings.ReplaceAll(err.Error(), "\n", ", ")})
	}
	return err
}
