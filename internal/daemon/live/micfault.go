package live

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/turns"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

const (
	// deadAfter is how long a microphone that delivers only zeros counts as working: wireless
	// ones deliver zeros while they wake up.
	deadAfter = int(3 * time.Second / audio.FrameTime)
	// A microphone that delivered zeros restsOften times, each for restsFor or longer, and then
	// sound again, does so while nobody speaks: it has a noise gate. Its zeros are no fault.
	restsOften = 3
	restsFor   = int(100 * time.Millisecond / audio.FrameTime)
	// clipsAbove and clipsBelow are shares of clipped samples, over about two seconds. Loud
	// speech that is not clipped has about 0.002, since its waves have flat tops; speech that is
	// clipped at half its peak has 0.049.
	clipsAbove = 0.02
	clipsBelow = 0.01
	// cleanAfter is how much of a voice without clipping ends the fault.
	cleanAfter = int(3 * time.Second / audio.FrameTime)
	// quietBelow is the level of a voice, in dBFS RMS, below which it is not recognised reliably
	// (docs/design/answers.md has figures). voiceFrames is how much of a voice is measured,
	// and apartFrames the pause after which another voice begins.
	quietBelow  = -65
	voiceFrames = 50
	apartFrames = 300
)

// micFault judges whether the microphone lets the user be heard. It is pure: its only clock are
// the captured frames, and it belongs to the goroutine that captures them.
type micFault struct {
	zeros int // frames of zeros in a row
	rests int // how often zeros gave way to sound

	clips bool
	clean int // frames of a voice since clipping was last measured

	voice []float64 // levels of the voice that is being measured
	apart int       // frames since the last of them
	heard bool      // a voice was loud enough
	quiet bool
}

// micFrame is what is known about a captured frame.
type micFrame struct {
	muted   bool    // by the system's sound settings
	zero    bool    // all samples are zero
	clipped float64 // share of clipped samples
	voice   bool    // possibly a voice, and not the assistant's
	level   float64 // dBFS RMS
}

// judge returns the fault after the next frame, or "".
func (m *micFault) judge(f micFrame) protocol.ErrorCode {
	m.hearZeros(f.zero)
	m.hearClipping(f)
	m.hearLevel(f)
	switch {
	case f.muted:
		return protocol.CodeMicrophoneMuted
	case m.zeros >= deadAfter && m.rests < restsOften:
		return protocol.CodeMicrophoneSilent
	case m.clips:
		return protocol.CodeMicrophoneClips
	case m.quiet:
		return protocol.CodeMicrophoneQuiet
	default:
		return ""
	}
}

func (m *micFault) hearZeros(zero bool) {
	switch {
	case zero:
		m.zeros++
	case m.zeros >= restsFor:
		m.zeros, m.rests = 0, m.rests+1
	default:
		m.zeros = 0
	}
}

func (m *micFault) hearClipping(f micFrame) {
	switch {
	case f.clipped >= clipsAbove:
		m.clips, m.clean = true, 0
	case f.clipped >= clipsBelow:
		m.clean = 0
	case f.voice: // silence does not prove that the next voice is not clipped
		if m.clean++; m.clean >= cleanAfter {
			m.clips = false
		}
	}
}

// hearLevel measures voices. Once one was loud enough, a faint one is somebody else.
func (m *micFault) hearLevel(f micFrame) {
	if !f.voice {
		if m.apart++; m.apart >= apartFrames {
			m.voice = m.voice[:0]
		}
		return
	}
	m.apart = 0
	if m.voice = append(m.voice, f.level); len(m.voice) < voiceFrames {
		return
	}
	m.heard = m.heard || !TooQuiet(m.voice)
	m.quiet, m.voice = !m.heard, m.voice[:0]
}

// TooQuiet reports whether a voice is too quiet to be recognised, from the levels of the frames
// that may contain it, in dBFS RMS. Fewer than half a second of them prove nothing.
func TooQuiet(voice []float64) bool {
	level, _ := turns.LevelOfVoice(voice)
	return len(voice) >= voiceFrames && level < quietBelow
}

// heardFaults is what the ear knows about its microphone. It belongs to the source's goroutine.
type heardFaults struct {
	micFault
	now   protocol.ErrorCode          // as last reported
	said  map[protocol.ErrorCode]bool // aloud in this conversation
	toSay protocol.ErrorCode          // once neither side speaks
}

// judgeMicrophone reports a fault of the microphone, and its end. zero says that all samples of
// the frame are zero. Only a microphone has faults, not a recording.
func (d *devices) judgeMicrophone(source audio.Source, e *ear, zero bool) {
	mic, ok := source.(audio.Microphone)
	if !ok {
		return
	}
	if d.muted.Load() || d.held.Load() { // nobody is to be heard
		e.faults.zeros = 0
		return
	}
	voice := e.front.Finds() && e.front.MaybeVoice() && !e.front.Audible()
	fault := e.faults.judge(micFrame{
		muted: mic.Muted(), zero: zero, clipped: e.front.Stats().Clipped, voice: voice, level: e.front.Level(),
	})
	if fault != e.faults.now {
		d.reportFault(e, fault)
	}
	if fault := e.faults.toSay; fault != "" && !e.front.Speaking() && !e.front.Audible() {
		e.faults.toSay, e.faults.said[fault] = "", true
		d.q.Do(func() { d.w.aside.say(d.w.port.Spoken(fault)) })
	}
}

// reportFault reports a fault, or its end, and has it said aloud once per conversation.
func (d *devices) reportFault(e *ear, fault protocol.ErrorCode) {
	e.faults.now, e.faults.toSay = fault, ""
	if fault != "" {
		d.w.cfg.Log.Warn().Str("code", string(fault)).Msg("the microphone does not let the user be heard well")
		if !e.faults.said[fault] {
			e.faults.toSay = fault
		}
	}
	d.w.port.Faulty(fault)
}

// forgetFault is for a microphone that is closed or was opened again.
func (d *devices) forgetFault(e *ear) {
	if e == nil {
		return
	}
	e.faults.micFault = micFault{}
	if e.faults.now != "" {
		d.reportFault(e, "")
	}
}
