// Package wake listens for one phrase, such as "okay copilot", on this machine.
// Nothing is recognised but the phrase, and nothing of what is heard is kept.
//
// # Model
//
// A Spotter is a queue and a goroutine behind it. The capturing goroutine pushes
// its frames and never waits: the engine (the keyword search of PocketSphinx) may
// take more than 100 ms for a piece, which no media path can wait for. The engine
// compares two paths through the sound, one through the phrase and one through any
// sounds whatever; Config.Threshold is how much likelier the phrase has to be. The
// caller's loop:
//
//	s, err := wake.New(wake.Config{Heard: func(h wake.Heard) { ... }})
//	defer s.Close()
//	source.Run(ctx, func(pos int64, f *audio.Frame) {
//		if idle { s.Push(pos, f) }
//	})
//
// To pause, do not push: a gap in the positions restarts behind it.
//
// # Invariants
//
//   - Push neither blocks nor allocates. When the engine is more than two seconds
//     behind, frames are dropped, and counted.
//   - A phrase is heard once, after its end, on the Spotter's goroutine.
//   - After Close nothing is heard.
//   - What is said reaches no log and no error; only the phrase itself does.
package wake
