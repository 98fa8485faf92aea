package hearing

import "github.com/agentvoice/agentvoice-daemon/audio"

// longestJoined limits utterances that are recognised as one, in samples. Moonshine recognises
// that much at once.
const longestJoined = 15 * SampleRate

// voice is the audio of the utterances that the current one may continue, and of that one. The zero
// value has none.
type voice struct {
	pcm   []int16
	from  int  // where the current utterance begins
	joins bool // the next utterance belongs to it
	long  bool // it became too long, and was dropped
}

// begin begins an utterance. It returns what was said before it.
func (v *voice) begin() (before []int16) {
	if !v.joins {
		v.wipe()
	}
	v.joins, v.from = false, len(v.pcm)
	return v.pcm
}

// alone forgets what was before the current utterance, because they were not recognised as one.
func (v *voice) alone() {
	rest := copy(v.pcm, v.pcm[min(v.from, len(v.pcm)):])
	clear(v.pcm[rest:])
	v.pcm, v.from = v.pcm[:rest], 0
}

// add adds audio of the utterance.
func (v *voice) add(pcm []int16) {
	if v.long = v.long || len(v.pcm)+len(pcm) > longestJoined; v.long {
		clear(v.pcm)
		v.pcm = v.pcm[:0]
		return
	}
	v.pcm = audio.AppendWiped(v.pcm, pcm)
}

// join makes the next utterance follow after a pause, in samples. It reports whether it does.
func (v *voice) join(pause int) bool {
	if len(v.pcm) == 0 || len(v.pcm)+pause >= longestJoined {
		return false
	}
	v.pcm, v.joins = audio.AppendWiped(v.pcm, make([]int16, pause)), true
	return true
}

// wipe forgets everything.
func (v *voice) wipe() {
	clear(v.pcm)
	*v = voice{pcm: v.pcm[:0]}
}
