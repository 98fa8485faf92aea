package realtime

import "testing"

// Audio that names its response ends the segment where the response ends, not at
// silence; cancelled responses block nothing.
func TestSpeechWithNames(t *testing.T) {
	for name, lines := range map[string]string{
		"one after the other, each to its last sample": `
			speak 1.1            => create 1.1
			speak 1.2            =>
			created r1 1.1       =>
			pcm r1               => heard 1.1
			done r1              =>
			stopped r1           =>
			wait 3s              =>
			pcm r1               => heard 1.1
			ends r1              => ended 1.1, create 1.2
			created r2 1.2       =>
			pcm r1               =>
			pcm r2               => heard 1.2
			ends r2              =>
			done r2              => ended 1.2`,
		"an interruption": `
			speak 1.1            => create 1.1
			created r1 1.1       =>
			pcm r1               => heard 1.1
			cancel 1             => cancel r1, clear
			speak 2.1            =>
			pcm r1               =>
			done r1              => create 2.1
			created r2 2.1       =>
			pcm r1               =>
			pcm r2               => heard 2.1
			done r2              =>
			ends r2              => ended 2.1`,
		"an answer that nobody asked for": `
			created r9           => unsolicited, cancel r9, clear
			pcm r9               =>
			speak 1.1            =>
			done r9              => create 1.1
			created r1 1.1       =>
			pcm r9               =>
			pcm r1               => heard 1.1
			done r1              =>
			ends r1              => ended 1.1`,
		"no sound": `
			speak 1.1            => create 1.1
			created r1 1.1       =>
			done r1              =>
			ends r1              => failed 1.1 speechNoAudio`,
		"no end": `
			speak 1.1            => create 1.1
			created r1 1.1       =>
			pcm r1               => heard 1.1
			done r1              =>
			wait 9s              =>
			wait 1s              => failed 1.1 speechTimeout, clear`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(true)
			s.named = true
			s.play(t, lines)
		})
	}
}
