// Package pulse runs a private PulseAudio, so that tests and benches have real
// devices where there is no sound card: a loudspeaker and a microphone, on one
// clock, that can be recorded, spoken into, unplugged, killed and started again.
//
// # One clock
//
// The server has one sink of three channels, the room. The loudspeaker is its
// first channel; the microphone is a source that reads its second; the third is a
// label, which no device hears. What is written into the microphone and its label
// is one stream of two channels, and the tape is one recording of the three. So
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
// the same as long as nothing stalls, since both ends run on the room's clock.
//
// A stream that begins may lose its first few milliseconds on the tape: the sink
// takes back what it has rendered ahead, and the recording has it already. What is
// measured should come later than that.
//
// The recording keeps the room awake with a small latency, without which a sink
// that nobody listens to would play in steps of two seconds.
package pulse
