// Package sherpa recognises and speaks with sherpa-onnx and models that the
// user installs.
//
// # Model
//
// sherpa-onnx aborts the process on a damaged model file and exits it on a model
// without its metadata. So it runs in a child process of the same program, and the
// parent only sees frames and JSON lines:
//
//	Recognizer, Synthesizer ──► Engine ──frames──► child: Serve ──► libsherpa-onnx-c-api
//	                               ◄──JSON lines──
//
// An Engine is one child and what is needed to start it again. Several Recognizers
// or Synthesizers share it: each utterance and each sentence is a stream with a
// number of its own, and the child serves them in the order in which they came. The
// child starts with the first user and ends with the last one. Where it died, the
// next use starts it again, later with each failure in a row; its last words become
// the error.
//
// Hearing takes two passes where both models are installed: the streaming model
// gives the partial results, and the other one the final on the whole utterance.
// One of them alone does both, or gives the final only.
//
// # The caller's loop
//
//	set, err := sherpa.Installed(folder)
//	engine := sherpa.NewEngine(sherpa.EngineConfig{Command: ..., Libraries: ..., Models: set.Hearing})
//	factory := stt.WithFallback(sherpa.Recognizers(engine), stt.PocketSphinx(...), report)
//
// # Invariants
//
// Only a library of exactly Version is used: the layout of its structures changes
// between releases. Nothing that was said or heard reaches a log, an error or a
// disk. A path of the user is in no error. No child outlives its parent: it ends at
// the end of its input.
package sherpa
