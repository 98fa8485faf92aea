package front

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// The assistant hears itself where two interruptions are taken back within mostApart,
// and its echo is not cancelled. That ends with the first sign that it is, and after
// duplexMost at the latest: then it is tried again.
const (
	mostApart  = 5 * time.Second
	duplexMost = 30 * time.Second
	// settleMost is for how long, at most, nobody is listened for after an echo that was
	// known has moved: the canceller starts over.
	settleMost = 2 * time.Second
)

// The echo is judged by pieces: pieceFrames frames in which the loudspeaker sounds and
// nobody is taken to speak. It is cancelled in a piece of which the canceller takes 12
// dB, or whose remainder is at most 9 dB above the room's noise. After
// provenPieces in a row that is proven, and after as many of the others, in all, it is
// proven that it is not. The sounds of a person who coughs or agrees twice make up to
// four of these before they count as speech.
const (
	pieceFrames  = 10
	provenPieces = 5
	takes        = 16.0 // ratio of powers
	overRoom     = 8.0
	// pieceGap is for how long the loudspeaker may be silent in a piece.
	pieceGap = 100 * time.Millisecond
)

// The level of the room is followed down at once, and up by 1.3 dB a second, while the
// assistant is silent. A frame below faintest, -70 dBFS, holds nothing of a room.
const (
	roomFalls = 0.1
	roomRises = 1.003
	faintest  = audio.FrameSamples * 10 * 10
)

// duplex decides whether the assistant can be interrupted by voice. It is pure: no
// clock but positions of the microphone.
type duplex struct {
	half    bool
	settles int64 // until when the canceller is starting over
	since   int64 // where half duplex began
	retract int64 // where an interruption was last taken back; -1 for none since a proof
	good    int   // pieces in a row in which the echo is cancelled
	poor    int   // pieces since the last proof in which it is not

	frames       int     // in this piece
	nears, lefts float64 // power of this piece in front of the canceller, and behind it
	room         float64 // power of a frame behind it while the assistant is silent
	near, left   rumbleless
}

func newDuplex() duplex { return duplex{retract: -1} }

// retracted takes that an interruption was taken back.
func (d *duplex) retracted(pos int64) {
	again := d.retract >= 0 && pos-d.retract <= audio.Samples(mostApart)
	d.retract = pos
	if again && d.poor >= provenPieces && !d.half {
		d.half, d.since = true, pos
	}
}

// cancelled takes that the echo is cancelled.
func (d *duplex) cancelled() { d.half, d.settles, d.retract, d.good, d.poor = false, 0, -1, 0, 0 }

// moved takes that the streams were realigned; known says that the
// echo had been found where it was before.
func (d *duplex) moved(pos int64, known bool) {
	d.cancelled()
	if known {
		d.settles = pos + audio.Samples(settleMost)
	}
}

// deaf says whether a frame in which the assistant is audible is for no detector.
func (d *duplex) deaf(pos int64) bool {
	return d.half || pos < d.settles
}

// hear takes the frame at pos in front of the canceller and behind it.
func (d *duplex) hear(pos int64, before, after *audio.Frame, sounding, audible, speaking bool) {
	near, left := d.near.power(before), d.left.power(after)
	if d.half && pos-d.since > audio.Samples(duplexMost) {
		d.cancelled() // maybe
	}
	switch {
	case speaking:
		d.frames, d.nears, d.lefts = 0, 0, 0
	case !audible && left < faintest: // muted, or not there yet
	case !audible && d.room == 0:
		d.room = left
	case !audible && left < d.room:
		d.room += roomFalls * (left - d.room)
	case !audible:
		d.room *= roomRises
	case sounding:
		d.frames, d.nears, d.lefts = d.frames+1, d.nears+near, d.lefts+left
		if d.frames == pieceFrames {
			d.judge()
		}
	}
}

// judge judges a piece.
func (d *duplex) judge() {
	if d.lefts*takes <= d.nears || d.lefts <= pieceFrames*overRoom*max(d.room, faintest) {
		d.good++
	} else {
		d.good, d.poor = 0, d.poor+1
	}
	d.frames, d.nears, d.lefts = 0, 0, 0
	if d.good >= provenPieces {
		d.cancelled()
	}
}

// rumbleless takes out what is below 130 Hz: the canceller's high-pass does so too,
// and that is not echo.
type rumbleless struct{ x, y float64 }

// power is that of a frame behind the filter.
func (r *rumbleless) power(f *audio.Frame) float64 {
	sum := 0.0
	for _, s := range f {
		x := float64(s)
		r.y, r.x = x-r.x+0.983*r.y, x
		sum += r.y * r.y
	}
	return sum
}
