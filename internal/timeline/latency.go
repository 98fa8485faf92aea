package timeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/figures"
)

// Latency is a time between two moments. Known is false where the journal does
// not have both.
type Latency struct {
	Duration time.Duration
	Known    bool
}

// String is the latency in milliseconds, or a dash.
func (l Latency) String() string {
	if !l.Known {
		return "–"
	}
	return fmt.Sprintf("%d ms", l.Duration.Round(time.Millisecond).Milliseconds())
}

// Turn is one exchange and how long its parts took.
type Turn struct {
	ID        uint64
	Utterance uint64
	Request   uint64
	Opened    time.Duration // on the conversation's clock
	Closed    time.Duration // the end of the record for a turn that is still open
	End       csm.TurnEnd   // empty for a turn that is still open
	Code      csm.Code      // what failed

	Words int    // that the user said
	Said  string // empty in a redacted journal
	Typed bool
	// Heard and Unheard are the two parts of the answer as far as it was given to
	// speech; both are empty in a redacted journal. HeardChars is the length of
	// the first, by the playback cursor.
	Heard, Unheard string
	HeardChars     int

	// User's side, in a turn that took its utterance first (not in a retry).
	Endpointing Latency // last sample of speech -> vad.end, to 50 ms where the journal has levels
	Recognition Latency // vad.end -> stt.final
	// Assistant's side. A typed or repeated utterance counts from its request.
	FirstSign    Latency // stt.final -> first copilot.delta, hand-over and waiting in the queue included
	FirstSegment Latency // first copilot.delta -> first piece that can be spoken
	Synthesis    Latency // Speak -> tts.bufferReady: synthesis and transport
	FirstAudio   Latency // last sample of speech -> first audio of the answer

	Interruption *Interruption  // nil in a turn that was not interrupted
	Retracted    []Interruption // suspicions after which the answer went on
}

// Interruption is how an answer was stopped, or paused on a suspicion. The
// latencies are those of package figures and count from Onset.
type Interruption struct {
	Onset     time.Duration // first sample of speech, or the user's command
	Utterance uint64        // 0 for a command
	Decided   Latency
	Silent    Latency // unknown in journals of builds that did not record the output
	Listening Latency // unknown for a suspicion that was over before
	Resumed   Latency // known only for a suspicion that was taken back
}

// Stage is one of the latencies of a turn, for tables.
type Stage struct {
	Name    string // a word or two
	Meaning string // from what to what
	Of      func(Turn) Latency
}

// Stages lists the latencies of an answer in the order in which they pass. All
// but the last are parts of it.
var Stages = []Stage{
	{"Endpointing", "end of speech to vad.end", func(t Turn) Latency { return t.Endpointing }},
	{"Recognition", "vad.end to stt.final", func(t Turn) Latency { return t.Recognition }},
	{"First sign", "stt.final to the first copilot.delta", func(t Turn) Latency { return t.FirstSign }},
	{"First segment", "first copilot.delta to the first segment", func(t Turn) Latency { return t.FirstSegment }},
	{"Synthesis", "Speak to tts.bufferReady, transport included", func(t Turn) Latency { return t.Synthesis }},
	{"Reply", "end of speech to first audio, in all", func(t Turn) Latency { return t.FirstAudio }},
}

// InterruptionStages lists the latencies of an interruption by voice. A command
// has no onset to count from.
var InterruptionStages = []Stage{
	{"Decided", figures.Decided.Meaning(), interruption(func(i Interruption) Latency { return i.Decided })},
	{"Silent", figures.Silent.Meaning(), interruption(func(i Interruption) Latency { return i.Silent })},
	{"Listening", figures.Listening.Meaning(), interruption(func(i Interruption) Latency { return i.Listening })},
}

func interruption(of func(Interruption) Latency) func(Turn) Latency {
	return func(t Turn) Latency {
		if t.Interruption == nil || t.Interruption.Utterance == 0 {
			return Latency{}
		}
		return of(*t.Interruption)
	}
}

// Stat sums up one latency over N turns that have it.
type Stat struct {
	N        int
	P50, P95 time.Duration
}

// Summarise collects one latency of many turns.
func Summarise(turns []Turn, of func(Turn) Latency) Stat {
	var known []time.Duration
	for _, t := range turns {
		if l := of(t); l.Known {
			known = append(known, l.Duration)
		}
	}
	return Stat{N: len(known), P50: Percentile(known, 50), P95: Percentile(known, 95)}
}

// Percentile is the smallest of ds that at least p of a hundred do not exceed
// (nearest rank), and 0 of none.
func Percentile(ds []time.Duration, p int) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(ds))
	rank := (len(sorted)*p + 99) / 100
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Latencies measures the turns of a journal, in their order.
func Latencies(j *journal.Journal) []Turn { return read(j).turns() }
