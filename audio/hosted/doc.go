// Package hosted hears and speaks by HTTP requests, as OpenAI's /v1/audio endpoints
// take them: a voice by one request for each segment, and hearing by one for each
// utterance. LocalAI, speaches, vLLM, whisper servers and many others have the same
// endpoints.
//
// # Voice
//
// A Queue speaks segments in order. What makes their audio is a Speaker: a request
// (NewSpeaker), or an engine on this machine.
//
//	q := hosted.NewQueue(hosted.NewSpeaker(cfg), listener, hosted.QueueConfig{})
//	defer q.Close()
//	q.Speak(segment)
//	q.CancelSpeech(gen) // when the user interrupts
//
// # Invariants
//
//   - Each segment that was neither cancelled nor left behind by Close ends in exactly
//     one SpeechEnded or SpeechFailed: every wait of a request has a deadline, and what a
//     service may send is bounded.
//   - After CancelSpeech(gen) no new call of the listener names a segment of that
//     generation or an older one, and its request is closed.
//   - A request is retried only while nothing of its audio was heard.
//   - No secret and no text is in an error or a log.
package hosted
