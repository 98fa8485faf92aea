package roomsim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/bench/room"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

// SpeechLevel is the active level of the assistant on the wire and of the person at
// the microphone, in dBFS. An echo of -6 dB is therefore 6 dB below the person at the
// microphone.
const SpeechLevel = -20.0

// speechGap is the longest pause in the assistant's speech.
const speechGap = 60 * time.Millisecond

var sentences = []string{
	"The test suite has finished, and two of the tests have failed.",
	"The first one is in the parser, where an empty line is taken for the end of the file.",
	"The second is a race in the cache, which I can show you if you like.",
	"I would mend the parser first, because the other fault may be a consequence of it.",
	"There are also seven warnings, most of them about names that are not used.",
	"The function reads the whole file into memory, although it needs one line at a time.",
	"If you stream it instead, the peak falls from eight hundred megabytes to about twelve.",
	"Your branch is three commits behind the main one, and there is a conflict in the settings.",
	"I have kept both versions of the list, since they add different entries.",
	"Please look at line forty two, where the lock is taken twice on the same path.",
	"The error message says that the address is already in use by another process.",
	"You can find out which one it is by asking for the sockets that listen.",
	"A map would be slower here than a sorted slice, because there are never more than ten keys.",
	"Yes, that is possible, but the older clients do not send this field at all.",
	"So the server has to treat a missing value as the default, which is five seconds.",
	"Finally, I would rename the variable, because it hides the one of the package.",
}

// Assistant is the assistant's speech: synthetic sentences at SpeechLevel, with
// pauses of at most speechGap.
type Assistant [][]int16

// assistantVoices lists the synthetic voices, which alternate.
var assistantVoices = []string{"slt", "rms", "awb"}

// NewAssistant synthesizes all sentences.
func NewAssistant(ctx context.Context) (Assistant, error) {
	var a Assistant
	for i, text := range sentences {
		pcm, err := synthesize(ctx, assistantVoices[i%len(assistantVoices)], text)
		if err != nil {
			return nil, err
		}
		a = append(a, atLevel(closeGaps(pcm), SpeechLevel))
	}
	return a, nil
}

// synthesize returns a spoken text, at 48 kHz.
func synthesize(ctx context.Context, name, text string) (_ []int16, err error) {
	s, err := voice.Flite()()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var pcm []int16
	from := 0
	if err := s.Speak(ctx, name, text, func(piece []int16, rate int) error {
		pcm, from = append(pcm, piece...), rate
		return nil
	}); err != nil {
		return nil, err
	}
	return speechdata.Resample(pcm, from, audio.SampleRate)
}

// closeGaps shortens pauses (more than 30 dB below the overall level) to speechGap.
func closeGaps(pcm []int16) []int16 {
	least := room.ActiveLevel(pcm) - 25
	var out []int16
	quiet := 0
	for at := 0; at+perMs*5 <= len(pcm); at += perMs * 5 {
		piece := pcm[at : at+perMs*5]
		if audio.LevelOf(piece).RMS < least {
			quiet += len(piece)
		} else {
			quiet = 0
		}
		if int64(quiet) <= audio.Samples(speechGap)/2 { // half, because the pauses of two sentences add up
			out = append(out, piece...)
		}
	}
	return out
}

func atLevel(pcm []int16, level float64) []int16 {
	gain := math.Pow(10, (level-room.ActiveLevel(pcm))/20)
	out := make([]int16, len(pcm))
	for i, s := range pcm {
		out[i] = int16(max(min(math.Round(float64(s)*gain), math.MaxInt16), math.MinInt16))
	}
	return out
}

// Kind is the kind of sound that the person makes.
type Kind string

// The kinds.
const (
	BargeIn     Kind = "barge-in" // an intended interruption
	Backchannel Kind = "backchannel"
	Cough       Kind = "cough" // coughs and laughter, without words
)

// Case is one sound of the person, while the assistant speaks.
type Case struct {
	ID    string
	Kind  Kind
	Group string
	Voice string // the speaker's name
	Lang  string
	Words string  // if known
	PCM   []int16 // at SpeechLevel
	speechdata.Label
}

// Groups of cases.
const (
	Read      = "human, read"
	Acted     = "human, acted"
	Cartoon   = "human, in comic voices"
	Synthetic = "synthetic"
)

var kinds = map[speechdata.Kind]Kind{
	speechdata.Utterance: BargeIn, speechdata.Backchannel: Backchannel,
	speechdata.Cough: Cough, speechdata.Laugh: Cough,
}

var groups = map[speechdata.Style]string{
	speechdata.Read: Read, speechdata.Acted: Acted, speechdata.Cartoon: Cartoon,
}

// HumanCases returns the recordings that are installed on this machine. missing is
// how many are not.
func HumanCases() (cases []Case, missing int, err error) {
	for _, r := range speechdata.All(speechdata.Utterance, speechdata.Backchannel, speechdata.Cough, speechdata.Laugh) {
		if !r.Present() {
			missing++
			continue
		}
		clip, err := r.Load()
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", r.ID, err)
		}
		c := Case{ID: r.ID, Kind: kinds[r.Kind], Group: groups[r.Style], Voice: r.Voice, Lang: r.Language, Words: r.Words, PCM: atLevel(clip.PCM, SpeechLevel), Label: clip.Label}
		cases = append(cases, c)
	}
	return cases, missing, nil
}

var spoken = []struct {
	kind Kind
	text string
}{
	{BargeIn, "stop"}, {BargeIn, "wait a moment"}, {BargeIn, "no, the other file"}, {BargeIn, "what about the cache?"},
	{BargeIn, "hold on"}, {BargeIn, "open the file and make the change now"}, {BargeIn, "actually, never mind"}, {BargeIn, "can you repeat that?"},
	{Backchannel, "yeah"}, {Backchannel, "okay"}, {Backchannel, "right"}, {Backchannel, "I see"},
}

// caller is the synthetic voice of the synthetic cases.
const caller = "kal16"

// SyntheticCases use a synthetic voice other than the assistant's.
func SyntheticCases(ctx context.Context) ([]Case, error) {
	var cases []Case
	for _, s := range spoken {
		c, err := syntheticCase(ctx, s.kind, s.text)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// SyntheticCommands are one-word commands in the voice of SyntheticCases.
func SyntheticCommands(ctx context.Context) ([]Case, error) {
	var cases []Case
	for _, text := range []string{"stop", "no", "wait"} {
		c, err := syntheticCase(ctx, BargeIn, text)
		if err != nil {
			return nil, err
		}
		clear(c.PCM[:c.Onset]) // the synthesizer adds noise before some words
		cases = append(cases, c)
	}
	return cases, nil
}

func syntheticCase(ctx context.Context, kind Kind, text string) (Case, error) {
	pcm, err := synthesize(ctx, caller, text)
	if err != nil {
		return Case{}, err
	}
	pcm = atLevel(pcm, SpeechLevel)
	label, ok := speechdata.LabelOf(pcm)
	if !ok {
		return Case{}, fmt.Errorf("the synthetic %q is silent", text)
	}
	return Case{ID: "synthetic/" + text, Kind: kind, Group: Synthetic, Voice: caller, Lang: "en", Words: text, PCM: pcm, Label: label}, nil
}

// OneWord reports whether the case is an intended interruption of one word, such as "stop".
func (c Case) OneWord() bool { return c.Kind == BargeIn && len(strings.Fields(c.Words)) == 1 }

// pick returns a permutation of n items for a seed.
func pick(seed uint64, n int) []int { return rand.New(rand.NewPCG(seed, 0x9e3779b9)).Perm(n) }
