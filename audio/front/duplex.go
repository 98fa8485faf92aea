package front

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Half duplex starts when the assistant appears to hear itself: two interruptions are
// retracted within maxApart and its echo is not cancelled. It ends with the first
// proof of cancellation, and after maxHalfDuplex in any case, to try again.
const (
	maxApart      = 5 * time.Second
	maxHalfDuplex = 30 * time.Second
	// maxSettling is how long detection is suspended at most after a known echo has
	// moved, because the canceller adapts from scratch.
	maxSettling = 2 * time.Second
)

// Cancellation is judged in pieces of pieceFrames frames in which the speaker is
// active and the user is not speaking. A piece is good if the canceller removes 12
// dB, or if the residual is at most 9 dB above the room's noise floor. provenPieces
// consecutive good pieces prove cancellation; as many poor ones in total prove that
// it fails. Two coughs or backchannels make up to four poor pieces before they count
// as speech.
// four of these before they count as speech.
const (
	pieceFrames  = 10
	provenPieces = 5
	takes        = 16.0 // ratio of powers
	overRoom     = 8.0
	// pieceGap is how long the speaker may be silent within a piece.
	pieceGap = 100 * time.Millisecond
)

// The noise floor of the room follows down at once, and up by 1.3 dB per second,
// while the assistant is silent. A frame below faintest (-70 dBFS) is not room noise.
const (
	roomFalls = 0.1
	roomRises = 1.003
	faintest  = audio.FrameSamples * 10 * 10
)

// duplex decides whether the user can interrupt the assistant by voice. It is pure;
// its only clock is the capture position.
type duplex struct {
	half    bool
	settles int64 // position until which the canceller is settling
	since   int64 // position at which half duplex started
	retract int64 // position of the last retracted interruption; -1 if none since a proof
	good    int   // consecutive good pieces
	poor    int   // poor pieces since the last proof

	frames       int     // in the current piece
	nears, lefts float64 // power of the piece before and after the canceller
	room         float64 // power of a frame after the canceller while the assistant is silent
	near, left   rumbleless
}

func newDuplex() duplex { return duplex{retract: -1} }

// retracted records that the core retracted an interruption.
func (d *duplex) retracted(pos int64) {
	again := d.retract >= 0 && pos-d.retract <= audio.Samples(maxApart)
	d.retract = pos
	if again && d.poor >= provenPieces && !d.half {
		d.half, d.since = true, pos
	}
}

// cancelled resets the state after a proof of cancellation.
func (d *duplex) cancelled() { d.half, d.settles, d.retract, d.good, d.poor = false, 0, -1, 0, 0 }

// moved records that the streams were realigned. known reports whether the echo had
// been found before.
func (d *duplex) moved(pos int64, known bool) {
	d.cancelled()
	if known {
		d.settles = pos + audio.Samples(maxSettling)
	}
}

// suspended reports whether frames with an audible assistant are withheld from the detectors.
func (d *duplex) suspended(pos int64) bool {
	return d.half || pos < d.settles
}

// hear processes the frame at pos before and after the canceller.
func (d *duplex) hear(pos int64, before, after *audio.Frame, sounding, audible, speaking bool) {
	near, left := d.near.power(before), d.left.power(after)
	if d.half && pos-d.since > audio.Samples(maxHalfDuplex) {
		d.cancelled() // unproven, but try again
	}
	switch {
	case speaking:
		d.frames, d.nears, d.lefts = 0, 0, 0
	case !audible && left < faintest: // muted, or not delivering yet
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

// judge rates a complete piece.
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

// rumbleless removes the band below 130 Hz, which the canceller's high-pass removes
// too and which would otherwise count as removed echo.
type rumbleless struct{ x, y float64 }

// power returns the power of a filtered frame.
func (r *rumbleless) power(f *audio.Frame) float64 {
	sum := 0.0
	for _, s := range f {
		x := float64(s)
		r.y, r.x = x-r.x+0.983*r.y, x
		sum += r.y * r.y
	}
	return sum
}
