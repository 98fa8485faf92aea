// Package pulse runs a private PulseAudio, so that tests and benches have real
// devices on machines without a sound card: a speaker and a microphone on one clock
// that can be recorded, fed, unplugged, killed and restarted.
//
// # One clock
//
// The server has one sink, the room, with a channel for each signal: the first is the
// speaker; the second is read by a source, the microphone; the third is a label that
// no device hears; the fourth is internal (see delay). The microphone and its label
// are written as one stream, and the tape is one recording. Sample k of the tape is
// therefore exactly the same instant at the speaker, at the microphone and in the
// label: there are no two clocks to compare and no recording delay to subtract. A
// bench writes labelled speech to the label and its mixture with the echo to the
// microphone, and reads from the tape how many samples after the label's onset the
// speaker falls silent.
//
// # Model of use
//
//	server, err := pulse.Start(ctx, dir, pulse.Options{})     // or pulse.ForTest(t)
//	server.Connect(room)                       // sets the microphone's input
//	child.Env = append(os.Environ(), server.Env()...)
//	server.Tape().Wait(ctx, n)                 // until n samples are recorded
//	server.Tape().Copy(pulse.Speaker, pos, pcm)
//
// The room is called for every 10 ms recorded, with the speaker's output, and returns
// the microphone's next input. The delay from the speaker through the room to the
// microphone is about that of the two buffers on the way; a bench measures it on the
// tape, with the help of the label. It is constant, because both ends run on the
// room's clock. After a stall the microphone's input has a gap, and some of the
// following input is dropped.
//
// A new stream may lose its first few milliseconds on the tape: the sink rewinds what
// it has rendered ahead, which was already recorded. Measure later than that.
//
// The recording keeps the room running with low latency; a sink without listeners
// would play in steps of two seconds.
package pulse
