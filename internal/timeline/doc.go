// Package timeline renders a conversation from its journal as a picture, and measures
// the latencies in it.
//
// # Model
//
// A journal is read once into a record: spans of states, utterances, spoken segments,
// requests, turns and interruptions, each with its known moments. Latencies are
// differences of two such moments; Render draws the same moments on one axis. Times
// are the conversation's, as in the journal. The user's utterances are placed where
// they were captured, by sample position, not where their events arrived.
//
//	turns := timeline.Latencies(j)
//	stat := timeline.Summarise(turns, func(t timeline.Turn) timeline.Latency { return t.FirstAudio })
//	err := timeline.Render(j, file, timeline.Options{Verdict: "identical"})
//
// # Invariants
//
// A journal that is truncated, has gaps, contains no words, or contains lines that
// this build does not know is drawn as far as possible: unknown parts are omitted or
// marked as unknown, never guessed. The page needs no network and no other file, and
// runs only its own script, whatever was said in the conversation.
package timeline
