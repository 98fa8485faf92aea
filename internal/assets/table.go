package assets

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// row is a file or folder to find.
type row struct {
	what string // what it is
	path string // in a folder of assets; "" if this system needs none
	name string // its name, if path does not end in it
	// holds are files that a folder must hold.
	holds []string
	// override names an environment variable with a path. If exclusive, nothing else counts.
	override  string
	exclusive bool
	// system are paths besides those in the system's folders of assets. If systemFirst, they
	// come before all but the overrides.
	system      func() []string
	systemFirst bool
	without     string // what its absence means
	fix         string
}

// The rows of table.
const (
	silero = iota
	onnxRuntime
	recogniser
	voice
	sherpa
	sherpaRuntime
	pocketSphinx
	alsa
	licences
)

// SphinxEnv names the environment variable for the folder of PocketSphinx's models.
const SphinxEnv = "AGENTVOICE_POCKETSPHINX_MODELS"

// buildSphinx is the output of `pkg-config --variable=modeldir pocketsphinx` on the build
// machine; the Makefile sets it with -ldflags -X.
var buildSphinx string

// whole is the fix for parts of the package.
const whole = "or unpack the whole package of the program"

var table = [...]row{
	silero: {
		what: "voice detector model", path: "silero_vad_v6.onnx",
		without: "WebRTC's detector finds voices, and takes more noises for speech",
		fix:     "install it with `make deps`, " + whole + ", or take it from the npm package @ricky0123/vad-web and put it in the folder that " + Env + " names",
	},
	onnxRuntime: {
		what: "ONNX Runtime library", path: runtimeName,
		without: "the voice detector, the recogniser and the voice cannot run, and simpler ones replace them",
		fix:     "install it with `make deps`, " + whole + ", or take it from the PyPI package onnxruntime and put it in the folder that " + Env + " names",
	},
	recogniser: {
		what: "recogniser", path: "moonshine-tiny-en", holds: []string{"model.json"},
		without: "PocketSphinx recognises instead, with more wrong words",
		fix:     "install it with `agentvoice-daemon models install moonshine-tiny-en`",
	},
	voice: {
		what: "voice", path: "kokoro-82m-int8", holds: []string{"model.json"},
		without: "Flite speaks instead",
		fix:     "install it with `agentvoice-daemon models install kokoro-82m-int8`",
	},
	sherpa: {
		what: "speech engine library", path: sherpaName,
		without: "models of your own for sherpa-onnx cannot run",
		fix:     "install it with `agentvoice-daemon models install engine`",
	},
	sherpaRuntime: {
		what: "speech engine's runtime library", path: sherpaRuntimeName,
		without: "models of your own for sherpa-onnx cannot run",
		fix:     "install it with `agentvoice-daemon models install engine`",
	},
	pocketSphinx: {
		what: "PocketSphinx model", path: "pocketsphinx", name: "en-us",
		holds:    []string{"en-us/en-us/mdef", "en-us/en-us.lm.bin", "en-us/cmudict-en-us.dict"},
		override: SphinxEnv,
		system:   func() []string { return []string{buildSphinx, systemSphinx} },
		without:  "the wake phrase and the recogniser of last resort cannot run",
		fix:      "install the package pocketsphinx-en-us (`make deps`), " + whole + ", or name the folder that holds en-us in " + SphinxEnv,
	},
	// ALSA's library is the system's where there is one, so its configuration comes first too.
	alsa: {
		what: "ALSA configuration", path: alsaPath,
		override: alsaEnv, exclusive: true,
		system: systemALSA, systemFirst: true,
		without: "microphones and speakers cannot be used",
		fix:     "install libasound2-data, " + whole + ", or name a file that exists in " + alsaEnv,
	},
	licences: {
		what: "licences", path: filepath.Join("..", "licenses"), holds: []string{"go.txt"},
		without: "the texts of the licences of other people's work are not at hand",
		fix:     "see THIRD_PARTY.md of the sources, " + whole,
	},
}

// Origin says where a file was found: one of the places below, or the environment variable that
// names it.
type Origin string

// The places, in the order in which they are searched.
const (
	Beside Origin = "beside the program"
	Data   Origin = "data folder"
	Cache  Origin = "cache folder"
	System Origin = "system"
)

// Place is where a file is.
type Place struct {
	What string
	Path string // "" if it is missing
	From Origin
	// Without is what its absence means, and Fix what brings it. Unreadable names a file
	// that is there, but that this user may not read.
	Without, Fix, Unreadable string

	name string
}

// Places says for each file of table that this system needs where it is.
func Places() []Place {
	var all []Place
	for i, r := range table {
		if r.path != "" {
			all = append(all, look(i))
		}
	}
	return all
}

func find(i int) (string, error) {
	p := look(i)
	switch {
	case p.Path != "":
		return p.Path, nil
	case p.Unreadable != "":
		return "", errors.New("the " + p.What + " " + p.name + " is not readable by this user; change its permissions, or " + p.Fix)
	}
	return "", errors.New("the " + p.What + " " + p.name + " is missing; " + p.Fix)
}

// look finds row i of table.
func look(i int) Place {
	r := table[i]
	p := Place{What: r.what, Without: r.without, Fix: r.fix, name: cmp.Or(r.name, filepath.Base(r.path))}
	for _, c := range r.candidates() {
		err := r.readable(c.path)
		if err == nil {
			p.Path, p.From, p.Unreadable = c.path, c.from, ""
			return p
		}
		if _, missing := os.Stat(c.path); missing == nil && errors.Is(err, fs.ErrPermission) {
			p.Unreadable = cmp.Or(p.Unreadable, c.path)
		}
	}
	return p
}

type candidate struct {
	from Origin
	path string
}

// candidates are the paths to try, the first choice first. A folder that the system cannot
// name is left out.
func (r row) candidates() []candidate {
	var list, system []candidate
	if r.override != "" {
		value := os.Getenv(r.override)
		paths := []string{value}
		if r.exclusive { // ALSA's library reads a list
			paths = strings.FieldsFunc(value, func(c rune) bool { return c == ':' || c == ' ' })
		}
		for _, path := range paths {
			if path != "" {
				list = append(list, candidate{Origin(r.override), path})
			}
		}
		if r.exclusive && len(list) > 0 {
			return list
		}
	}
	if r.system != nil {
		for _, path := range r.system() {
			if path != "" {
				system = append(system, candidate{System, path})
			}
		}
	}
	if r.systemFirst {
		list, system = append(list, system...), nil
	}
	for _, f := range folders() {
		list = append(list, candidate{f.from, filepath.Join(f.path, r.path)})
	}
	return append(list, system...)
}

// folders are the folders of assets, the first choice first.
func folders() []candidate {
	var list []candidate
	if dir := os.Getenv(Env); dir != "" {
		list = append(list, candidate{Env, dir})
	}
	if exe, err := os.Executable(); err == nil {
		// The folder is beside the program, not beside a link to it.
		if target, err := filepath.EvalSymlinks(exe); err == nil {
			exe = target
		}
		list = append(list, candidate{Beside, filepath.Join(filepath.Dir(exe), "assets")})
	}
	if dir, err := dataDir(); err == nil {
		list = append(list, candidate{Data, filepath.Join(dir, "agentvoice", "assets")})
	}
	if dir, err := cacheFolder(); err == nil {
		list = append(list, candidate{Cache, dir})
	}
	for _, dir := range systemFolders() {
		list = append(list, candidate{System, dir})
	}
	return list
}

// readable returns nil if this user can read the file, or the files that a folder must hold.
func (r row) readable(path string) error {
	if len(r.holds) == 0 {
		return readable(path)
	}
	for _, name := range r.holds {
		if err := readable(filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

func readable(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
}
