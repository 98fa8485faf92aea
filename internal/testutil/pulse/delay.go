package pulse

const (
	// stampPeriod is after how many samples the stamps repeat: 640 ms.
	stampPeriod = 64 * FrameSamples
	// maxDropped limits how many frames are dropped at once: the stamps jump by as
	// many, and a jump of a whole period would go unnoticed.
	maxDropped = 32
)

// delay measures the delay from the room's input to its output, sample by sample: it
// stamps each spoken sample with its position in the recording, and finds the stamps
// in the recording. Each underrun makes the server insert silence, which delays
// everything after it. A real microphone that is not read in time drops audio instead
// and is on time afterwards, so delay compensates: it drops as many frames of the
// following input.
type delay struct {
	pos    int64 // end of the processed recording
	spoken int64 // position at which the last heard sample was spoken
	known  bool  // the first stamp was heard
	usual  int64 // delay in samples before the first underrun
	excess int   // frames that must be dropped
	since  int64 // input spoken before this position does not reflect the last dropped frames
}

// heard processes the stamps of the next recorded frame. late reports that the input
// spoken now must be dropped.
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
	if !d.known {
		// The delay may be whole periods longer, but only its changes matter.
		d.spoken = at - (at-int64(stamp-1))%stampPeriod
		d.usual, d.known = at-d.spoken, true
		return false
	}
	ahead := (int64(stamp-1) - d.spoken) % stampPeriod
	d.spoken += (ahead + stampPeriod) % stampPeriod // never negative
	if d.spoken < d.since {
		return false
	}
	d.excess = int(min((at-d.spoken-d.usual)/FrameSamples, maxDropped))
	return d.excess > 0
}

// leaveOut records that this frame was dropped.
func (d *delay) leaveOut() {
	d.excess--
	d.since = d.pos + FrameSamples
}

// stamp returns the stamp of sample i of the current input.
func (d *delay) stamp(i int) uint16 { return uint16((d.pos+int64(i))%stampPeriod) + 1 }
