package pulse

// stampPeriod is after how many samples the stamps begin again, 640 ms: longer than
// the way to the microphone ever is.
const stampPeriod = 64 * FrameSamples

// delay measures the way from what the room hears to what it spoke then, sample by
// sample: beside each sample it stamps where in the recording it was spoken, and
// finds the stamps in the recording. Each time the server runs dry it fills in
// silence, and from then on everything is that much later. A real microphone that
// was not read in time loses sound instead and is on time afterwards, so what came
// too late is made up for: that many frames of what is spoken next are left out.
type delay struct {
	pos     int64 // of the frame that is heard, and spoken into
	usual   int64 // samples; the least so far
	known   bool
	pending int64 // frames that were left out last were before this position
	excess  int64 // frames that are still to be left out
}

// heard takes the stamps of the next frame of the recording. late says that what
// is spoken into the room now is to be left out.
func (d *delay) heard(stamps *Frame) (late bool) {
	d.pos += FrameSamples
	if d.excess > 0 {
		return true
	}
	stamp := stamps[FrameSamples-1]
	if stamp == 0 {
		return false // nothing was spoken
	}
	at := d.pos - 1
	way := (at - int64(stamp-1)) % stampPeriod
	if spokenAt := at - way; spokenAt < d.pending {
		return false
	}
	if !d.known || way < d.usual {
		d.usual, d.known = way, true
	}
	d.excess = (way - d.usual) / FrameSamples
	return d.excess > 0
}

// leaveOut says that this frame was not spoken.
func (d *delay) leaveOut() {
	d.excess--
	d.pending = d.pos + FrameSamples
}

// stamp is what sample i of what is spoken now is stamped with.
func (d *delay) stamp(i int) uint16 { return uint16((d.pos+int64(i))%stampPeriod) + 1 }
