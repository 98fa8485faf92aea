// Package wake detects one wake phrase, such as "okay copilot", on this machine. It
// recognizes nothing but the phrase, and keeps no audio.
//
// # Model
//
// A Spotter is a queue with a goroutine. The capturing goroutine pushes its frames
// and never blocks: the engine (the keyword search of PocketSphinx) may take more
// than 100 ms for a piece, which a media path cannot wait for. The engine compares
// two paths through the audio, one through the phrase and one through arbitrary
// sounds; Config.Threshold is the required likelihood ratio. A caller with a recogniser
// of whole sentences can also get less likely detections (Config.Candidates), ask it
// Question, and let Confirms decide. The caller's loop:
//
//	s, err := wake.New(wake.Config{ModelDir: dir, Heard: func(h wake.Heard) { ... }})
//	defer s.Close()
//	source.Run(ctx, func(pos int64, f *audio.Frame) {
//		if idle { s.Push(pos, f) }
//	})
//
// To pause, stop pushing: a gap in the positions restarts the search.
//
// # Invariants
//
//   - Push neither blocks nor allocates. If the engine is more than two seconds
//     behind, frames are dropped and counted.
//   - Heard is called once per phrase, after its end, on the Spotter's goroutine.
//   - After Close, Heard is not called.
//   - Spoken words never appear in a log or an error; only the phrase itself does.
package wake
