// Package speechdata lists human recordings that any machine can have from
// Debian's packages, and loads them, for tests and benches of what listens.
//
// # Model
//
// recordings.tsv is the table: a row a recording, with the package that it comes
// in, its path there, the checksum of its file, its language, its voice, how it
// was spoken, what it is and, where they are known, its words. packages.tsv says
// under which licence each package is and whose voice it holds. scripts/speech.sh
// brings the files into the user's cache folder; nothing of them is in the tree,
// and nothing is redistributed: they are for measuring on the machine that
// fetched them. A file that a package installed in the system is found there too
// (scripts/setup.sh installs pocketsphinx-testdata), so that a few recordings are
// always at hand.
//
// Everything in the table is a recording of a human voice, but for the kind Noise.
// Voices are named as the packages tell them apart; one actor can be several.
//
// # Labels
//
// A clip says at which sample the voice begins and ends. The labels are made from
// the clean file by energy (see LabelOf), not by ear. WeakOnset says that the
// voice begins softly, as an f or an h does: from noise or through a telephone
// such a beginning cannot be heard, and Strong is where the loud part begins.
// Where a game added an echo (fillets-ng-data, see packages.tsv), the end lies in
// the echo and says little; the onset is as good as elsewhere.
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

// Env names the environment variable for a folder of one's own, as for
// scripts/speech.sh.
const Env = "AGENTVOICE_SPEECH"

// ErrMissing is that a recording is not on this machine.
var ErrMissing = errors.New("the recording is not on this machine; bring it with scripts/speech.sh")

// Kind is what is recorded.
type Kind string

// The kinds. An Utterance is something that one interrupts with, from one word to
// a sentence; a Passage is read for a quarter of a minute and more, or nearly so.
// Noise is the single stroke of a key.
const (
	Utterance   Kind = "utterance"
	Backchannel Kind = "backchannel"
	Cough       Kind = "cough"
	Laugh       Kind = "laugh"
	Passage     Kind = "passage"
	Noise       Kind = "noise"
)

// Style is how it was spoken.
type Style string

// The styles. Cartoon voices are human, but disguised, and some were raised in
// pitch by the game: figures on them are to be given apart.
const (
	Read    Style = "read"
	Acted   Style = "acted"
	Cartoon Style = "cartoon"
)

// Recording is a row of the table.
type Recording struct {
	ID       string // unique, such as nl/keys/rand-7-1
	Package  string // of Debian
	Path     string // in the package, without a leading slash
	SHA256   string // of the file at Path, in hexadecimal
	Language string // ISO 639-1; empty where there are no words
	Voice    string // empty for noise
	Style    Style  // empty for noise
	Kind     Kind
	// Words is what is said; empty where it is not known. Known tells from where:
	// "transcript" and "script" come with the recording, and "name" is the name
	// of the file, which the speaker may have spoken more freely.
	Words, Known string
}

// Package is where recordings come from.
type Package struct {
	Name, Version string // Version is the one that the checksums were taken from
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

// table returns the fields of each row; a lone dash stands for an empty one.
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

// All lists the recordings of some kinds, or of all kinds when none is named, in
// the order of the table.
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

// Find is the recording of an id.
func Find(id string) (Recording, error) {
	for _, r := range All() {
		if r.ID == id {
			return r, nil
		}
	}
	return Recording{}, fmt.Errorf("there is no recording %q in internal/speechdata/recordings.tsv", id)
}

// Packages lists where the recordings come from.
func Packages() []Package {
	var list []Package
	for _, f := range table(packagesTable) {
		list = append(list, Package{Name: f[0], Version: f[1], Licence: f[2], Holder: f[3], Holds: f[4]})
	}
	return list
}

// path is the file to read and the file with the pinned checksum: they differ
// where scripts/speech.sh has decoded one to the other.
func (r Recording) path() (read, pinned string, err error) {
	roots := []string{"/"}
	if dir, err := os.UserCacheDir(); err == nil {
		roots = slices.Insert(roots, 0, filepath.Join(dir, "agentvoice", "speech", r.Package))
	}
	if dir := os.Getenv(Env); dir != "" { // then nothing else counts
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

// Present says whether the recording is on this machine.
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

// Load reads and labels the recording. It fails with ErrMissing when it is not on
// this machine, and when its file is not the pinned one.
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
		return nil, fmt.Errorf("%s: the file has not the checksum that is pinned; run scripts/speech.sh again", r.ID)
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
		return nil, fmt.Errorf("%s: it holds no sound that could be labelled", r.ID)
	}
	return &Clip{Recording: r, PCM: pcm, Label: label}, nil
}

// LoadAll loads the recordings of some kinds, or of all.
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

// Resample converts mono audio between rates in Hz. Sample k of what it returns is
// the sound at time k/to.
func Resample(pcm []int16, from, to int) ([]int16, error) {
	r, err := audio.NewResampler(from, to)
	if err != nil {
		return nil, err
	}
	return r.Flush(r.Process(nil, pcm)), nil
}

// Person is a sentence of a recording that every machine has that runs the tests, as
// recognisers take it: at 16 kHz.
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
