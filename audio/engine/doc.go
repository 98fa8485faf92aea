// Package engine runs the models that recognise, speak and judge in child processes.
//
// # Model
//
// A library can abort its process on a damaged model, and computing must not delay whoever
// listens to the microphone. Models are therefore computed in a child process of the same
// program, at a lower priority, and the parent only sees frames and JSON lines:
//
//	Engine ─┐                            ┌─► Worker
//	Engine ─┴─► Process ──frames──► child: Serve ─► Worker
//	               ◄──JSON lines──
//
// An Engine is one worker: a voice, or the one or two models of a recogniser. Several
// callers share it: each utterance, text and judgement is a Stream, and the worker serves
// them in order of arrival. The child starts with the first user of any engine and stops
// with the last one; an engine's models are loaded with its first user. If the child dies,
// the next use restarts it, with a backoff after consecutive failures of the same engine;
// its last output becomes the error.
//
// # The caller's loop
//
//	p := engine.NewProcess(engine.Config{Command: ..., Options: ...})
//	ears, mouth := p.Engine(recogniser), p.Engine(voice)
//	factory := hearing.WithFallback(hearing.Engine(ears), hearing.PocketSphinx(...), report)
//
// # Invariants
//
// Spoken and recognised text never reaches a log, an error or a disk. Errors contain no
// user paths. No child outlives its parent: it exits when its input ends.
package engine
