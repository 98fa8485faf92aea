// Package timeline makes a picture of a conversation from its journal, and
// measures how long everything in it took.
//
// # Model
//
// A journal is read once into what happened: spans of states, utterances,
// spoken segments, requests, turns and interruptions, each with the moments that
// are known of it. Latencies are differences of two such moments; Render draws
// the same moments on one axis. Times are the conversation's, as in the journal.
// What the user said lies where it was captured, by sample position, not where
// its event arrived.
//
//	turns := timeline.Latencies(j)
//	stat := timeline.Summarise(turns, func(t timeline.Turn) timeline.Latency { return t.FirstAudio })
//	err := timeline.Render(j, file, timeline.Options{Verdict: "identical"})
//
// # Invariants
//
// A journal that was cut off, has gaps, holds no words, or holds lines that this
// build does not know is drawn as far as it goes: what is not known is left out
// or said to be unknown, never guessed. The page needs no network and no other
// file, and runs no script but its own, whatever was said in the conversation.
package timeline
