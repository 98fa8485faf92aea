// Package hosted recognises and synthesises speech through HTTP requests to OpenAI's
// /v1/audio endpoints: one request per segment for speech, and one per utterance for
// recognition. LocalAI, speaches, vLLM, whisper servers and many others have the same
// endpoints.
//
// # Voice
//
// A Queue speaks segments in order. A Speaker produces their audio: a request
// (NewSpeaker), or a local engine.
//
//	q := hosted.NewQueue(hosted.NewSpeaker(cfg), listener, hosted.QueueConfig{})
//	defer q.Close()
//	q.Speak(segment)
//	q.CancelSpeech(gen) // when the user interrupts
//
// # Invariants
//
//   - Each segment that was neither cancelled nor dropped by Close ends in exactly one
//     SpeechEnded or SpeechFailed: every wait of a request has a deadline, and the size
//     of responses is limited.
//   - After CancelSpeech(gen) no new call of the listener names a segment of that
//     generation or an older one, and its request is closed.
//   - A request is retried only while none of its audio was played.
//   - Errors and logs contain no secret and no text.
package hosted
