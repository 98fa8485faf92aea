package pulse

const (
	// stampPeriod is after how many samples the stamps begin again, 640 ms.
	stampPeriod = 64 * FrameSamples
	// mostLeftOut is how many frames are left out at once: by so many the stamps
	// jump, and a jump of a period would not be seen.
	mostLeftOut = 32
)

// delay measures the way from what the room hears to what it spoke then, sample by
// sample: beside each sample it stamps where in the recording it was spoken, and
// finds the stamps in the recording. Each time the server runs dry it fills in
// silence, and from then on everything is that much later. A real microphone that
// was not read in time loses sound instead and is on time afterwards, so what came
// too late is made up for: that many frames of what is spoken next are left out.
type delay struct {
	pos    int64 // up to which the recording was heard
	spoken int64 // where what was heard last was spoken
	known  bool  // the first stamp was heard
	usual  int64 // the way, in samples, before the server first ran dry
	excess int   // frames that are to be left out
	since  int64 // what was spoken before this position does not show the last that were
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
	if !d.known {
		// The way may be whole periods longer, but its changes are what counts.
		d.spoken = at - (at-int64(stamp-1))%stampPeriod
		d.usual, d.known = at-d.spoken, true
		return false
	}
	ahead := (int64(stamp-1) - d.spoken) % stampPeriod
	d.spoken += (ahead + stampPeriod) % stampPeriod // it never goes back
	if d.spoken < d.since {
		return false
	}
	d.excess = int(min((at-d.spoken-d.usual)/FrameSamples, mostLeftOut))
	return d.excess > 0
}

// leaveOut says that this frame was not spoken.
func (d *delay) leaveOut() {
	d.excess--
	d.since = d.pos + FrameSamples
}

// stamp is what sample i of what is spoken now is stamped with.
func (d *delay) stamp(i int) uint16 { return uint16((d.pos+int64(i))%stampPeriod) + 1 }
