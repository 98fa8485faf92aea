// Package cue plays short tones (earcons) that signal the state of a conversation to
// a user who is not looking at the screen.
//
// It has three parts. A Policy, which is pure and reads no clock, decides from the
// phases of the conversation which cue is due. A Mixer adds cues to the audio on its
// way to the speaker. The cues are synthesized from a table of notes; there are no
// files. The caller's loop:
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
// The cues differ in contour and in timbre, so that either is enough to tell them
// apart. Peaks are at volume 1; speech peaks at -6 to -3 dBFS.
//
//	cue       notes (hertz)                   contour       timbre   length  peak
//	listening A5 880, D6 1175, and a drop     up            soft     230 ms  -20 dBFS
//	thinking  D5 587, A5 880                  swells        pure     loop of 2 s, -28 dBFS
//	error     G5 784, C#5 554                 down, tritone rough    290 ms  -20 dBFS
//	needs-you E6 1319, B5 988, E6 1319        down and up   bell     290 ms  -20 dBFS
//	done      D6 1175, B5 988, G5 784         down, triad   wood     270 ms  -20 dBFS
//
// soft is a sine with a weak octave; rough beats; bell has an inharmonic partial and
// rings; wood is dry, with a third harmonic that decays within 15 ms. Every note has
// an attack of 8 ms or more and a release. All energy is below 4 kHz, because pitch
// is hard to perceive above, and over 500 Hz, because small speakers cannot reproduce
// less and the voice detector detects vowels there. The drop is the exception: it
// falls from 3.9 kHz to 90 Hz in the last 80 ms of listening, so that its echo shows
// the echo canceller the room's response before the assistant's first word.
//
// # Speech has priority
//
// A cue starts only after 100 ms without speech, and fades out in the 10 ms frame in
// which speech starts. Listening and done are about a moment: if they cannot start
// within 300 ms they are dropped. Error and needs-you require the user's attention:
// they wait until the speech is over, and restart after it if it cut them off.
// Thinking does not resume after speech; the Policy orders it again when it is due.
// Only the newest order counts.
//
// # Invariants
//
//   - Render takes no lock and does not allocate. A frame without a cue is exactly
//     what the
//     inner function rendered.
//   - Play, Stop and SetVolume return at once and take effect with the next frame.
//   - One cue sounds at a time, and it fades in and out.
//   - The voice detector does not detect any cue as speech; a test checks this.
package cue
