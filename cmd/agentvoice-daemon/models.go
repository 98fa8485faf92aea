package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/audio/engine/sherpa"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/models"
)

// envManifest names the environment variable for the value of --manifest.
const envManifest = "AGENTVOICE_MANIFEST"

// modelFlags are shared by the models commands.
type modelFlags struct {
	manifest string
	asJSON   bool
}

func (f *modelFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.manifest, "manifest", os.Getenv(envManifest), "file that lists installable models, instead of the built-in list (env "+envManifest+")")
	fs.BoolVar(&f.asJSON, "json", false, "print JSON")
}

// store opens the folder of models.
func (f *modelFlags) store(mirrors []string, report func(models.Event)) (*models.Store, error) {
	o := models.Options{Mirrors: mirrors, Report: report}
	var err error
	if o.Dir, err = assets.Models(); err != nil {
		return nil, err
	}
	if o.Assets, err = assets.Folder(); err != nil {
		return nil, err
	}
	if f.manifest != "" {
		text, err := readNamed(f.manifest)
		if err != nil {
			return nil, misuse{fmt.Errorf("--manifest: cannot read the file: %w; check its path", errors.Unwrap(err))}
		}
		if o.Manifest, err = models.ParseManifest(text); err != nil {
			return nil, err
		}
		if len(o.Manifest.Engine.Packages) == 0 { // a manifest with models only
			m, err := models.DefaultManifest()
			if err != nil {
				return nil, err
			}
			o.Manifest.Engine = m.Engine
		}
	}
	return models.Open(o)
}

func newModels() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "models",
		Short: "Install, check and remove speech models",
		Long: `Install, check and remove speech models, which replace PocketSphinx and Flite
(docs/models.md). Nothing is downloaded unless you ask for it. Downloads use the proxy
in HTTPS_PROXY.`,
	}
	cmd.AddCommand(newModelsList(), newModelsInstall(), newModelsRemove(), newModelsImport(), newModelsVerify(), newModelsVoices(), newModelsMeasure())
	return cmd
}

// catalogue is the output of models list.
type catalogue struct {
	Machine struct {
		models.Machine
		Class models.Class `json:"class"`
	} `json:"machine"`
	Language string      `json:"language"`
	Hearing  string      `json:"hearing"` // what recognises now
	Voice    string      `json:"voice"`   // what speaks now
	Engine   listedModel `json:"engine"`
	// Models lists the installed models in the order in which they are used, then those that
	// can be installed.
	Models []listedModel `json:"models"`
}

// listedModel is one entry of models list.
type listedModel struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Use         engine.Use      `json:"use,omitempty"`
	Bytes       int64           `json:"bytes,omitempty"` // download size
	Languages   []string        `json:"languages,omitempty"`
	Licence     *models.Licence `json:"licence,omitempty"`
	Machine     models.Class    `json:"machine,omitempty"`
	Figures     []models.Figure `json:"figures,omitempty"`
	Installed   bool            `json:"installed"`
	InUse       bool            `json:"inUse"`
	Recommended bool            `json:"recommended"`
	ByEngine    bool            `json:"byEngine"`   // the engine computes it
	MustAccept  bool            `json:"mustAccept"` // the licence is not permissive

	included bool // it came with this program
}

func newModelsList() *cobra.Command {
	var f modelFlags
	var language, prefer string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List installable and installed models",
		Long: `List the installed models in the order in which they are used, then those that can be
installed. The first model for each use that knows your language is used, unless the setting
agentvoice.models names another.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkLanguage(language); err != nil {
				return err
			}
			s, err := f.store(nil, nil)
			if err != nil {
				return err
			}
			c, err := listModels(s, modelNames(prefer), spokenLanguage(language))
			if err != nil {
				return err
			}
			if f.asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(c)
			}
			return c.print(cmd.OutOrStdout())
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVar(&language, "language", "", "language that you speak (default: the environment's language)")
	cmd.Flags().StringVar(&prefer, "models", "", "models to prefer, as in the setting agentvoice.models")
	return cmd
}

// spokenLanguage is the language to recommend models for.
func spokenLanguage(flag string) string {
	if flag != "" {
		return flag
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if language, _, _ := strings.Cut(os.Getenv(name), "_"); len(language) == 2 || len(language) == 3 {
			return strings.ToLower(language)
		}
	}
	return "en"
}

func listModels(s *models.Store, prefer []string, language string) (catalogue, error) {
	var c catalogue
	c.Language, c.Machine.Machine = language, models.ThisMachine()
	c.Machine.Class = c.Machine.Machine.Class()
	installed, err := s.List()
	if err != nil {
		return c, err
	}
	release := s.Manifest.Engine
	c.Engine = listedModel{
		Name: models.EngineName, Title: "sherpa-onnx " + release.Version, Licence: &release.Licence,
		Installed: s.EngineInstalled() == nil, MustAccept: !release.Licence.Permissive(),
	}
	if p, err := release.Package(); err == nil {
		c.Engine.Bytes = p.Size
	}
	speech := findSpeech(prefer, language)
	c.Hearing, c.Voice = speech.inUse()
	for _, m := range speech.models {
		c.Models = append(c.Models, listedModel{Name: m.Name, Title: m.Name, Use: m.Use(), Languages: m.Languages, Installed: true, InUse: speech.uses(m), included: filepath.Dir(m.Dir()) != s.Dir})
	}
	at := func(name string) int {
		return slices.IndexFunc(c.Models, func(m listedModel) bool { return m.Name == name })
	}
	for _, name := range installed { // also those that are damaged
		if m, err := engine.ReadModel(s.Folder(name)); err != nil || at(m.Name) < 0 {
			c.Models = append(c.Models, listedModel{Name: name, Installed: true})
		}
	}
	recommended := s.Manifest.Recommend(language, c.Machine.Class)
	for _, e := range s.Manifest.Models {
		i := at(e.Name)
		if i < 0 {
			i = len(c.Models)
			c.Models = append(c.Models, listedModel{Name: e.Name})
		}
		m := &c.Models[i]
		m.Title, m.Use, m.Bytes, m.Languages, m.Licence, m.Machine, m.Figures = e.Title, e.Use(), e.Size(), e.Languages, &e.Licence, e.Machine, e.Figures
		m.Recommended = slices.ContainsFunc(recommended, func(r models.Entry) bool { return r.Name == e.Name })
		m.ByEngine, m.MustAccept = e.ByEngine(), !e.Licence.Permissive()
	}
	return c, nil
}

// print writes the list as text.
func (c catalogue) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tFOR\tDOWNLOAD\tLANGUAGES\tMACHINE\tLICENCE\tSTATE")
	for _, m := range slices.Concat([]listedModel{c.Engine}, c.Models) {
		size, licence := "-", "-"
		if m.Bytes > 0 {
			size = models.FormatSize(m.Bytes)
		}
		if m.Licence != nil {
			licence = m.Licence.Name
		}
		languages := strings.Join(m.Languages, " ")
		if n := len(m.Languages); n > 3 {
			languages = fmt.Sprintf("%d", n)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.Name, orDash(string(m.Use)), size, orDash(languages), orDash(string(m.Machine)), licence, m.state())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, m := range c.Models {
		for _, p := range m.Figures {
			from := "published"
			if p.Measured {
				from = "measured"
			}
			fmt.Fprintf(out, "%s: %s %s (%s: %s)\n", m.Name, p.What, p.Value, from, p.Source)
		}
	}
	fmt.Fprintf(out, "In use: %s recognises, %s speaks.\n", c.Hearing, c.Voice)
	fmt.Fprintf(out, "Machine class %s: %d cores, %s of memory.\n", c.Machine.Class, c.Machine.Cores, models.FormatSize(int64(c.Machine.Memory)))
	if !slices.ContainsFunc(c.Models, func(m listedModel) bool { return m.Recommended }) {
		fmt.Fprintf(out, "No model is recommended for %s on this machine; you can install any by name.\n", c.Language)
	}
	if unheard := c.unheard(); unheard != "" {
		fmt.Fprintln(out, unheard)
	}
	return nil
}

// recogniser is a model of the manifest that recognises.
type recogniser struct{ models.Entry }

// recogniserOf returns the model that recognises a language.
func recogniserOf(language string) (r recogniser, known bool) {
	m, err := models.DefaultManifest()
	if err != nil {
		return recogniser{}, false
	}
	e, known := m.Recogniser(language)
	return recogniser{e}, known
}

// advice says how to install the model, and what it needs.
func (r recogniser) advice() string {
	advice := fmt.Sprintf("run `agentvoice-daemon models install %s`", r.Name)
	if needs := r.Machine.Needs(); needs != "" {
		advice += " (meant for " + needs + ")"
	}
	return advice
}

// unheard says what to do if no installed or recommended model recognises the language, else "".
func (c catalogue) unheard() string {
	heard := slices.ContainsFunc(c.Models, func(m listedModel) bool {
		known := engine.Model{Languages: m.Languages}.Knows(c.Language)
		return (m.Use == engine.Finals || m.Use == engine.Partials) && known && (m.Installed || m.Recommended)
	})
	if heard {
		return ""
	}
	fix := "choose a service with agentvoice.provider"
	if r, known := recogniserOf(c.Language); known {
		fix = fmt.Sprintf("%s, or %s", r.advice(), fix)
	}
	return fmt.Sprintf("No installed or recommended model recognises your language (%s); %s.", c.Language, fix)
}

func (m listedModel) state() string {
	switch {
	case m.InUse:
		return "in use"
	case m.Installed:
		return "installed"
	case m.Recommended:
		return "recommended"
	}
	return ""
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func newModelsRemove() *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME...",
		Short: "Remove installed models, or partial downloads",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := (&modelFlags{}).store(nil, nil)
			if err != nil {
				return err
			}
			for _, name := range args {
				if err := s.Remove(name); err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), name, "removed")
			}
			return nil
		},
	}
}

func newModelsVerify() *cobra.Command {
	var f modelFlags
	cmd := &cobra.Command{
		Use:   "verify [NAME...]",
		Short: "Verify the checksums of installed models and load each one",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.store(nil, nil)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				if args, err = s.List(); err != nil {
					return err
				}
			}
			all := verifyModels(cmd.Context(), s, args)
			if f.asJSON {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(all)
			} else {
				show(cmd.OutOrStdout(), all)
			}
			return errors.Join(err, failures(all))
		},
	}
	f.register(cmd.Flags())
	return cmd
}

// verifyModels checks models, and the engine if it is named or computes one of them.
func verifyModels(ctx context.Context, s *models.Store, names []string) []finding {
	var all []finding
	byEngine := func(name string) bool {
		m, err := engine.ReadModel(s.Folder(name))
		return name == models.EngineName || err == nil && m.Computer() == engine.Sherpa
	}
	if slices.ContainsFunc(names, byEngine) {
		all = append(all, check(models.EngineName, true, func() (string, error) {
			return "sherpa-onnx " + sherpa.Version, s.EngineInstalled()
		}))
	}
	for _, name := range names {
		if name == models.EngineName {
			continue
		}
		err := s.Verify(ctx, name, loadModel)
		// A model without checksums may still work, so it is not a failure.
		all = append(all, found(name, !errors.Is(err, models.ErrNoChecksums), "checksums match, and the model loads", nil, err))
	}
	return all
}

// loadModel loads a model in a child process, as a conversation does.
func loadModel(m engine.Model) error {
	var p speechProcesses
	e, err := p.engine([]engine.Model{m})
	if err != nil {
		return err
	}
	if measures(e) { // where it is installed
		_, err := measure(e, true)
		return err
	}
	return e.Check()
}
