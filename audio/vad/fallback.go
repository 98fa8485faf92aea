package vad

import (
	"errors"
	"math"
	"slices"
)

// WithFallback returns a factory of detectors from first, or from second if first fails. A
// detector from first that fails later is replaced by one from second, which is given the
// last audio to learn the room, and the failed window again: no voice is lost.
//
// report is called with each failure that the fallback covered, and must not block.
func WithFallback(first, second func() (Detector, error), report func(error)) func() (Detector, error) {
	return func() (Detector, error) {
		d := &replaceable{second: second, report: report}
		current, err := first()
		if err == nil {
			d.Detector, d.recent = current, make([]int16, 0, recentWindows*WindowSamples)
			return d, nil
		}
		if err = d.replace(err); err != nil {
			return nil, err
		}
		return d, nil
	}
}

// recentWindows is how much audio is kept for a replacement: 2 s, in which somebody who speaks
// pauses for breath or between words, so that the room can be heard.
const recentWindows = 62

// replaceable is a detector that another one can replace.
type replaceable struct {
	Detector
	second func() (Detector, error)
	report func(error)
	// recent is the audio of the last windows, oldest first; nil if the detector was replaced.
	recent []int16
}

var errNotANumber = errors.New("voice detector: the model's result is not a number; install it again")

// Process implements Detector.
func (d *replaceable) Process(window []int16) (float32, error) {
	p, err := d.Detector.Process(window)
	if math.IsNaN(float64(p)) {
		err = errNotANumber
	}
	if d.recent == nil || len(window) != WindowSamples {
		return p, err
	}
	if err != nil {
		if err = d.replace(err); err != nil {
			return 0, err
		}
		return d.Detector.Process(window)
	}
	if len(d.recent) == cap(d.recent) {
		d.recent = d.recent[:copy(d.recent, d.recent[WindowSamples:])]
	}
	d.recent = append(d.recent, window...)
	return p, nil
}

// replace replaces the detector, which has failed.
func (d *replaceable) replace(failed error) error {
	next, err := d.second()
	if err != nil {
		return errors.Join(failed, err)
	}
	for window := range slices.Chunk(d.recent, WindowSamples) {
		if _, err := next.Process(window); err != nil {
			return errors.Join(failed, err, next.Close())
		}
	}
	if d.Detector != nil {
		_ = d.Detector.Close() // it has failed
	}
	d.wipe()
	d.Detector, d.recent = next, nil
	d.report(failed)
	return nil
}

// Reset implements Detector.
func (d *replaceable) Reset() {
	d.wipe()
	d.Detector.Reset()
}

// Close implements Detector.
func (d *replaceable) Close() error {
	d.wipe()
	return d.Detector.Close()
}

// wipe forgets the recent audio.
func (d *replaceable) wipe() {
	clear(d.recent)
	d.recent = d.recent[:0]
}

// Remember implements Rememberer.
func (d *replaceable) Remember(to *Memory) { Remember(d.Detector, to) }

// Recall implements Rememberer.
func (d *replaceable) Recall(from *Memory) { Recall(d.Detector, from) }

// Replaced reports whether a detector is a fallback. The next conversation tries the first
// choice again.
func Replaced(d Detector) bool {
	r, ok := d.(*replaceable)
	return ok && r.recent == nil
}
