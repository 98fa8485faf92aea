// Package sherpa recognises and synthesises speech with sherpa-onnx and models
// installed by the user.
//
// # Model
//
// sherpa-onnx aborts the process on a damaged model file, and exits on a model without
// metadata. It therefore runs in a child process of the same program, and the parent
// only sees frames and JSON lines:
//
//	Recognizer, Synthesizer ──► Engine ──frames──► child: Serve ──► libsherpa-onnx-c-api
//	                               ◄──JSON lines──
//
// An Engine is one child and the configuration to restart it. Several Recognizers or
// Synthesizers share it: each utterance and each sentence is a numbered stream, and the
// child serves them in order of arrival. The child starts with the first user and stops
// with the last. If it dies, the next use restarts it, with a backoff after consecutive
// failures; its last output becomes the error.
//
// Recognition uses two passes if both models are installed: the streaming model
// produces the partial results, and the other produces the final from the whole
// utterance. A streaming model alone does both; the other model alone produces only
// finals.
//
// # The caller's loop
//
//	set, err := sherpa.Installed(folder)
//	engine := sherpa.NewEngine(sherpa.EngineConfig{Command: ..., Libraries: ..., Models: set.Hearing})
//	factory := stt.WithFallback(sherpa.Recognizers(engine), stt.PocketSphinx(...), report)
//
// # Invariants
//
// Only a library of exactly Version is used, because structure layouts change between
// releases. Spoken and recognised text never reaches a log, an error or a disk. Errors
// contain no user paths. No child outlives its parent: it exits when its input ends.
package sherpa
