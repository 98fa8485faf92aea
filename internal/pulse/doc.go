// Package pulse runs a private PulseAudio, so that tests and benches have real
// devices where there is no sound card: a loudspeaker and a microphone, on one
// clock, that can be recorded, spoken into, unplugged, killed and started again.
//
// # One clock
//
// The server has one sink, the room, with a channel for each. The loudspeaker is the
// first; the microphone is a source that reads the second; the third is a label,
// which no device hears; the fourth is the server's own (see delay). What is written
// into the microphone and its label is one stream, and the tape is one recording. So
// sample k of the tape is the same instant at the loudspeaker, at the microphone
// and in the label, exactly: there are no two clocks to compare and no delay of a
// recording program to take off. A bench puts the labelled speech into the label
// and its mixture with the echo into the microphone, and reads from the tape how
// many samples after the onset in the label the loudspeaker falls silent.
//
// # Model of use
//
//	server, err := pulse.Start(ctx, dir, pulse.Options{})     // or pulse.ForTest(t)
//	server.Connect(room)                       // what the microphone hears
//	child.Env = append(os.Environ(), server.Env()...)
//	server.Tape().Wait(ctx, n)                 // until n samples are recorded
//	server.Tape().Copy(pulse.Speaker, pos, pcm)
//
// The room is called once for each 10 ms that were recorded, with what the
// loudspeaker played, and gives what the microphone hears next. The way from the
// loudspeaker through the room back to the microphone takes about as long as the
// two buffers on it; a bench measures it on the tape (the label helps). It stays
// the same, since both ends run on the room's clock. Where something stalls, what is
// spoken has a gap, and some of what is spoken next is left out.
//
// A stream that begins may lose its first few milliseconds on the tape: the sink
// takes back what it has rendered ahead, and the recording has it already. What is
// measured should come later than that.
//
// The recording keeps the room awake with a small latency, without which a sink
// that nobody listens to would play in steps of two seconds.
package pulse
