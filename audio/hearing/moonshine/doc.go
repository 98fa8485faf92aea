// Package moonshine recognises English speech with Moonshine tiny-en (Useful Sensors, MIT),
// an encoder and a decoder that ONNX Runtime computes.
//
// The audio is encoded once, and any number of questions are asked of the result:
//
//	m, err := moonshine.Load(dir, runtimePath, 2)
//	defer m.Close()
//	names := m.Names(append(moonshine.Terms(), "split fields"))
//	sound, err := m.Encode(pcm)
//	transcript, err := m.Transcribe(sound, names)          // what was said?
//	logProbs, err := m.Score(sound, []string{"Yes.", "No."}) // how likely is each of these?
//
// Transcribe is a beam search that prefers names. Score computes the probability of given
// texts, which tells short answers apart where a transcript is often wrong. Recognize
// encodes and transcribes speech of any length.
//
// The model writes something for every sound: "You" or "Thank you for watching." for noise.
// Callers reject that by Transcript.Mean, Word.Prob and the voice behind the words.
//
// LoadWorker serves a model in the child process of package engine.
//
// # Invariants
//
// A Model is used by one goroutine at a time. Equal calls give equal results. Audio and
// words leave the package only as results, never in an error.
package moonshine
