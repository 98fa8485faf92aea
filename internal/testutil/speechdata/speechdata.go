// Package speechdata lists and loads human recordings from Debian packages, for tests
// and benches of detection and recognition.
//
// # Model
//
// recordings.tsv has a row per recording: its package, its path there, the file's
// checksum, its language, its voice, its style, its kind and, if known, its words.
// packages.tsv has the licence and the speakers of each package. scripts/speech.sh
// downloads the files to the user's cache folder; none of them is in the tree, and
// nothing is redistributed: they are for measurements on the machine that fetched
// them. A file that a system package has installed is used from there
// (scripts/setup.sh installs pocketsphinx-testdata), so a few recordings are always
// available.
//
// Everything in the table is a human voice, except for the kinds Noise and Music. Voices are
// named as in the packages; one actor may have several.
//
// # Labels
//
// A clip has the samples at which the voice starts and ends. The labels are computed
// from the clean file's energy (see LabelOf), not by ear. WeakOnset means that the
// voice starts softly, like an f or an h: such an onset is inaudible in noise or over
// a telephone, and Strong is where the loud part starts. Where a game has added
// reverb (fillets-ng-data, see packages.tsv), the end is in the reverb and not
// reliable; the onset is.
//
// # The caller's loop
//
//	for _, r := range speechdata.All(speechdata.Utterance) {
//		clip, err := r.Load() // 48 kHz; Resample for other rates
//		...
//	}
package speechdata

import (
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
)

// Env is the environment variable for a custom folder, also used by scripts/speech.sh.
const Env = "AGENTVOICE_SPEECH"

// ErrMissing means that a recording is not on this machine.
var ErrMissing = errors.New("the recording is not on this machine; run scripts/speech.sh")

// Kind is the kind of a recording.
type Kind string

// The kinds. An Utterance is something to interrupt with, from one word to a
// sentence; a Passage is read speech of about a quarter of a minute or more; Noise is
// a single keystroke; Music has no voice in it.
const (
	Utterance   Kind = "utterance"
	Backchannel Kind = "backchannel"
	Cough       Kind = "cough"
	Laugh       Kind = "laugh"
	Passage     Kind = "passage"
	Noise       Kind = "noise"
	Music       Kind = "music"
)

// Style is the style of speech.
type Style string

// The styles. Cartoon voices are human but disguised, and the game raised the pitch
// of some: report their figures separately.
const (
	Read    Style = "read"
	Acted   Style = "acted"
	Cartoon Style = "cartoon"
)

// Recording is a row of the table.
type Recording struct {
	ID       string // unique, such as nl/keys/rand-7-1
	Package  string // Debian package
	Path     string // in the package, without a leading slash
	SHA256   string // of the file at Path, in hexadecimal
	Language string // ISO 639-1; empty without words
	Voice    string // empty for noise and music
	Style    Style  // empty for noise and music
	Kind     Kind
	// Words is what is said; empty if unknown. Known is the source: "transcript" and
	// "script" come with the recording, "name" is the file name, from which the
	// speaker may have deviated.
	Words, Known string
}

// Package is a Debian package with recordings.
type Package struct {
	Name, Version string // Version is the version of the pinned checksums
	Licence       string
	Holder        string
	Holds         string
}

var (
	//go:embed recordings.tsv
	recordingsTable string
	//go:embed packages.tsv
	packagesTable string
)

// table returns the fields of each row; a lone dash means an empty field.
func table(tsv string) [][]string {
	var rows [][]string
	for line := range strings.Lines(tsv) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "\t")
		for i, f := range fields {
			if f == "-" {
				fields[i] = ""
			}
		}
		rows = append(rows, fields)
	}
	return rows
}

// All lists the recordings of the given kinds, or of all kinds if none is given, in
// table order.
func All(kinds ...Kind) []Recording {
	var list []Recording
	for _, f := range table(recordingsTable) {
		r := Recording{
			ID: f[0], Package: f[1], Path: f[2], SHA256: f[3], Language: f[4], Voice: f[5],
			Style: Style(f[6]), Kind: Kind(f[7]), Known: f[8], Words: f[9],
		}
		if len(kinds) == 0 || slices.Contains(kinds, r.Kind) {
			list = append(list, r)
		}
	}
	return list
}

// Find returns the recording with an id.
func Find(id string) (Recording, error) {
	for _, r := range All() {
		if r.ID == id {
			return r, nil
		}
	}
	return Recording{}, fmt.Errorf("no recording %q in internal/testutil/speechdata/recordings.tsv", id)
}

// Packages lists the packages of the recordings.
func Packages() []Package {
	var list []Package
	for _, f := range table(packagesTable) {
		list = append(list, Package{Name: f[0], Version: f[1], Licence: f[2], Holder: f[3], Holds: f[4]})
	}
	return list
}

// path returns the file to read and the file with the pinned checksum: they differ if
// scripts/speech.sh has decoded one to the other.
func (r Recording) path() (read, pinned string, err error) {
	roots := []string{"/"}
	if dir, err := os.UserCacheDir(); err == nil {
		roots = slices.Insert(roots, 0, filepath.Join(dir, "agentvoice", "speech", r.Package))
	}
	if dir := os.Getenv(Env); dir != "" { // exclusive if set
		roots = []string{filepath.Join(dir, r.Package)}
	}
	for _, root := range roots {
		pinned = filepath.Join(root, filepath.FromSlash(r.Path))
		read = pinned
		switch filepath.Ext(pinned) {
		case ".ogg", ".g722":
			read += ".decoded.wav"
		}
		if info, err := os.Stat(read); err == nil && info.Mode().IsRegular() {
			return read, pinned, nil
		}
	}
	return "", "", fmt.Errorf("%s: %w", r.ID, ErrMissing)
}

// Present reports whether the recording is on this machine.
func (r Recording) Present() bool {
	_, _, err := r.path()
	return err == nil
}

// Clip is a recording with its labels. Positions are samples of PCM.
type Clip struct {
	Recording
	PCM []int16 // mono, audio.SampleRate
	Label
}

// Load reads and labels the recording. It fails with ErrMissing if the recording is
// not on this machine, and with another error if its file does not match the pinned
// checksum.
func (r Recording) Load() (*Clip, error) {
	read, pinned, err := r.path()
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(pinned)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.ID, err)
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != r.SHA256 {
		return nil, fmt.Errorf("%s: the file does not match its pinned checksum; run scripts/speech.sh again", r.ID)
	}
	var pcm []int16
	if filepath.Ext(read) == ".raw" {
		pcm, err = fromRaw(b)
	} else {
		pcm, err = wavio.ReadAll(read)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.ID, err)
	}
	label, ok := LabelOf(pcm)
	if !ok {
		return nil, fmt.Errorf("%s: the file contains no sound to label", r.ID)
	}
	return &Clip{Recording: r, PCM: pcm, Label: label}, nil
}

// LoadAll loads the recordings of the given kinds, or all of them.
func LoadAll(kinds ...Kind) ([]*Clip, error) {
	var clips []*Clip
	for _, r := range All(kinds...) {
		c, err := r.Load()
		if err != nil {
			return nil, err
		}
		clips = append(clips, c)
	}
	return clips, nil
}

// fromRaw converts samples without a header: 16 kHz, 16 bits, little-endian.
func fromRaw(b []byte) ([]int16, error) {
	pcm := make([]int16, len(b)/2)
	if _, err := binary.Decode(b, binary.LittleEndian, pcm); err != nil {
		return nil, err
	}
	return Resample(pcm, 16000, audio.SampleRate)
}

// Resample converts mono audio between rates in Hz. Sample k of the result is the
// sound at time k/to.
func Resample(pcm []int16, from, to int) ([]int16, error) {
	r, err := audio.NewResampler(from, to)
	if err != nil {
		return nil, err
	}
	return r.Flush(r.Process(nil, pcm)), nil
}

// Person returns a sentence of a recording that every machine with the test data has,
// at 16 kHz for recognizers.
func Person() ([]int16, error) {
	r, err := Find("en/librivox/0870")
	if err != nil {
		return nil, err
	}
	clip, err := r.Load()
	if err != nil {
		return nil, err
	}
	return Resample(clip.PCM, audio.SampleRate, 16000)
}
