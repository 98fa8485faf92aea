package timeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/figures"
)

// Latency is the time between two moments. Known is false if the journal does not
// have both.
type Latency struct {
	Duration time.Duration
	Known    bool
}

// String returns the latency in milliseconds, or a dash.
func (l Latency) String() string {
	if !l.Known {
		return "–"
	}
	return fmt.Sprintf("%d ms", l.Duration.Round(time.Millisecond).Milliseconds())
}

// Turn is one exchange and its latencies.
type Turn struct {
	ID        uint64
	Utterance uint64
	Request   uint64
	Opened    time.Duration // on the conversation's clock
	Closed    time.Duration // the end of the record for an open turn
	End       csm.TurnEnd   // empty for an open turn
	Code      csm.Code      // what failed

	Words int    // number of words that the user said
	Said  string // empty in a redacted journal
	Typed bool
	// Heard and Unheard are the two parts of the answer that were passed to speech;
	// both are empty in a redacted journal. HeardChars is the length of the first, by
	// the playback cursor.
	Heard, Unheard string
	HeardChars     int

	// The user's side, in a turn that used its utterance first (not in a retry).
	Endpointing Latency // last sample of speech -> vad.end, with a resolution of 50 ms if the journal has levels
	Recognition Latency // vad.end -> stt.final
	// The assistant's side. A typed or repeated utterance counts from its request.
	FirstSign    Latency // stt.final -> first copilot.delta, including dispatch and queueing
	FirstSegment Latency // first copilot.delta -> first piece that can be spoken
	Synthesis    Latency // Speak -> tts.bufferReady: synthesis and transport
	FirstAudio   Latency // last sample of speech -> first audio of the answer

	Interruption *Interruption  // nil in a turn that was not interrupted
	Retracted    []Interruption // retracted interruptions
}

// Interruption is an answer that was stopped, or paused on a suspicion. The latencies
// are those of package figures, relative to Onset.
type Interruption struct {
	Onset     time.Duration // first sample of speech, or the user's command
	Utterance uint64        // 0 for a command
	Decided   Latency
	Silent    Latency // unknown in journals of builds that did not record the output
	Listening Latency // unknown for a suspicion that ended before
	Resumed   Latency // known only for a retracted suspicion
}

// Stage is one of the latencies of a turn, for tables.
type Stage struct {
	Name    string // a word or two
	Meaning string // its start and end
	Of      func(Turn) Latency
}

// Stages lists the latencies of an answer in order. All but the last are parts of the
// last.
var Stages = []Stage{
	{"Endpointing", "end of speech to the end of the turn", func(t Turn) Latency { return t.Endpointing }},
	{"Recognition", "end of the turn to the final text", func(t Turn) Latency { return t.Recognition }},
	{"First response", "final text to the first words of the answer", func(t Turn) Latency { return t.FirstSign }},
	{"First segment", "first words of the answer to the first segment that can be spoken", func(t Turn) Latency { return t.FirstSegment }},
	{"Synthesis", "that segment to its first audio in the player, transport included", func(t Turn) Latency { return t.Synthesis }},
	{"Reply", "end of speech to first audio, total", func(t Turn) Latency { return t.FirstAudio }},
}

// InterruptionStages lists the latencies of an interruption by voice. A command has
// no onset.
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

// Stat summarizes one latency over the N turns that have it.
type Stat struct {
	N        int
	P50, P95 time.Duration
}

// Enough reports whether there are enough values for P95: of fewer than 20, it is only
// their maximum.
func (s Stat) Enough() bool { return s.N >= 20 }

// Summarise summarizes one latency over the turns.
func Summarise(turns []Turn, of func(Turn) Latency) Stat {
	var known []time.Duration
	for _, t := range turns {
		if l := of(t); l.Known {
			known = append(known, l.Duration)
		}
	}
	return Stat{N: len(known), P50: Percentile(known, 50), P95: Percentile(known, 95)}
}

// Percentile returns the smallest of ds that at least p percent of them do not exceed
// (nearest rank), or 0 if ds is empty.
func Percentile(ds []time.Duration, p int) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(ds))
	rank := (len(sorted)*p + 99) / 100
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Latencies measures the turns of a journal, in order.
func Latencies(j *journal.Journal) []Turn { return read(j).turns() }
