// Package cue plays short tones that say where a conversation stands to somebody
// who does not look at the screen.
//
// It has three parts. A Policy, which is pure, says from the phases of the
// conversation which cue is due; it reads no clock. A Mixer adds cues to the
// audio on its way to the loudspeaker. The cues themselves are made from a table
// of notes; there are no files. The caller's loop:
//
//	mixer := cue.NewMixer(player.Render)
//	go sink.Run(ctx, mixer.Render) // on the device's thread
//
//	for each change of the conversation, and whenever Due says so {
//		var order cue.Cue
//		var changed bool
//		if policy, order, changed = policy.Next(now, facts); changed {
//			mixer.Play(order)
//		}
//	}
//
// # The cues
//
// They differ in contour and in timbre, so that one of the two is enough. Peaks
// are at volume 1; speech peaks at -6 to -3 dBFS.
//
//	cue       notes (hertz)                   contour       timbre   length  peak
//	listening A5 880, D6 1175, and a drop     up            soft     230 ms  -20 dBFS
//	thinking  D5 587, A5 880                  swells        pure     loop of 2 s, -28 dBFS
//	error     G5 784, C#5 554                 down, tritone rough    290 ms  -20 dBFS
//	needs-you E6 1319, B5 988, E6 1319        down and up   bell     290 ms  -20 dBFS
//	done      D6 1175, B5 988, G5 784         down, triad   wood     270 ms  -20 dBFS
//
// soft is a sine with a faint octave; rough beats; bell has a partial that is no
// harmonic and rings; wood is dry, with a third harmonic that is gone after 15 ms.
// Every note begins in 8 ms or more and ends in a slope. Nothing is above 4 kHz,
// where a pitch says little, or below 500 Hz, where small loudspeakers are deaf and
// the detector of voices hears vowels, but for the drop: it falls from 3.9 kHz to 90 Hz
// in the last 80 ms of listening, so that its echo tells the echo canceller what becomes
// of the assistant's words in the room before the first one is said.
//
// # Never in the way of speech
//
// A cue begins only when the speech has been silent for 100 ms, and fades out in
// the 10 ms frame in which speech comes. Listening and done are about a moment:
// when they cannot begin within 300 ms they are dropped. Error and needs-you ask
// the user for something: they wait until the speech is over, and restart after
// it when it cut them short. Thinking is not resumed after speech; the Policy
// orders it again when it is due. Only the newest order counts.
//
// # Invariants
//
//   - Render takes no lock and allocates nothing. A frame to which no cue belongs
//     is what the inner function made, bit for bit.
//   - Play, Stop and SetVolume return at once and take effect with the next frame.
//   - One cue sounds at a time, each beginning and end is a slope.
//   - No cue is taken for speech: a test holds it against the voice detector.
package cue
