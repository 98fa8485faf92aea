package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/front"
	"github.com/agentvoice/agentvoice-daemon/audio/portaudio"
)

const (
	// echoTime bounds the whole measurement.
	echoTime = 15 * time.Second
	// noiseFrames is the length of the noise. It stops earlier once the echo is cancelled. The
	// canceller needs two to three seconds to find the delay, and restarts then if the reported
	// latency is wrong.
	noiseFrames = 1000
	// detectFrames is the length of the noise if no chirp was heard: detecting an echo takes less
	// time than cancelling it.
	detectFrames = 400
	// silenceFrames is the silence before the noise, to measure the room.
	silenceFrames = 50
	// farLags is the largest echo delay that is detected, in frames.
	farLags = 100
	// longDelay is the delay above which an uncancelled echo is blamed on the delay. The
	// canceller follows some longer ones.
	longDelay = 400 * time.Millisecond
	// minCorrelation is the correlation with the noise's loudness above which a signal counts as its
	// echo. Chance gives about 0.3.
	minCorrelation = 0.5
	// maxDelaySpread is the largest difference between chirp delays. The canceller can only follow slow
	// changes.
	maxDelaySpread = 40 * time.Millisecond
	// minEchoDB is how many dB above the room an echo must be to matter.
	minEchoDB = 6
	// minReductionDB is the required echo reduction in dB, if the echo is that far above the room.
	minReductionDB = 12
	// maxReductionDB is the largest reduction, in dB, that the canceller reaches in this time
	// without distortion.
	maxReductionDB = 20
	// maxResidueDBFS is the highest acceptable residual echo of the noise, in dBFS. The assistant's
	// voice is 10 dB louder.
	maxResidueDBFS = -40
)

// echo is the echo of the speaker in the microphone. Levels are in dBFS.
type echo struct {
	correlation float64       // correlation of its loudness with that of the noise, -1 to 1
	late        time.Duration // the delay with the highest correlation
	room        float64       // level of the quietest frames
	level       float64       // level with the noise
	played      float64       // level of the noise
	clipped     float64       // share of clipped samples
	removed     float64       // echo reduction in dB at the end
	delay       time.Duration // delay that the canceller uses
	measured    bool          // delay was measured by the canceller
	reported    time.Duration // latency that the devices report
}

// heardFrame is a captured frame: how much was rendered before it, and its power.
type heardFrame struct {
	rendered int64
	power    float64
}

// hearEcho plays noise and captures its echo through the echo cancellation of conversations. It
// ends when the echo is cancelled or the noise is over. It returns a *audio.DeviceError if a
// device was lost, or the error of ctx. It must be the only user of both devices.
func hearEcho(ctx context.Context, source audio.Source, sink audio.Sink, noise []audio.Frame) (echo, error) {
	ends, err := front.New(dsp.Default(), nil) // without a tracker, no audio is held back
	if err != nil {
		return echo{}, err
	}
	defer func() { _ = ends.Close() }() // a tracker's error
	ends.Attach(source, sink)
	e := echo{reported: ends.Stats().Reported}
	run, cancel := context.WithTimeout(ctx, 2*time.Duration(len(noise)+silenceFrames)*audio.FrameTime+startTime)
	defer cancel()
	var rendered atomic.Int64
	render := func(f *audio.Frame) {
		n := rendered.Load()
		if at := n - silenceFrames; at >= 0 && at < int64(len(noise)) {
			*f = noise[at]
		} else {
			clear(f[:])
		}
		ends.Rendered(f)
		rendered.Store(n + 1)
	}
	var failed error
	all := make([]heardFrame, 0, 2*len(noise))
	gone, over, recent := 0, false, 0.0
	deliver := func(pos int64, f *audio.Frame) {
		n := rendered.Load()
		if over || n == 0 { // the speaker has not started
			return
		}
		_, err := ends.Captured(pos, f)
		failed = errors.Join(failed, err)
		power := math.Pow(10, audio.LevelOf(f[:]).RMS/10)
		all = append(all, heardFrame{n, power})
		recent += (power - recent) / 200
		st := ends.Stats()
		e.clipped = max(e.clipped, st.Clipped)
		if gone++; !st.Echo || st.ERLE < minReductionDB || 10*math.Log10(recent)-st.ERLE > maxResidueDBFS {
			gone = 0
		}
		if over = gone >= 100 || n >= int64(len(noise)+silenceFrames) || failed != nil || len(all) == cap(all); over {
			e.removed, e.delay, e.measured = st.ERLE, st.Delay, st.Measured
			cancel()
		}
	}
	err = runBoth(run, cancel, source, sink, render, deliver)
	switch {
	case failed != nil:
		return e, failed
	case over:
		e.compare(all, noise)
		return e, nil
	case ctx.Err() != nil:
		return e, ctx.Err()
	default:
		return e, err
	}
}

// runBoth runs both devices until one ends, waits for the other and returns the error of the
// first.
func runBoth(ctx context.Context, cancel func(), source audio.Source, sink audio.Sink, render func(*audio.Frame), deliver func(int64, *audio.Frame)) error {
	ended := make(chan error, 2)
	go func() { ended <- sink.Run(ctx, render) }()
	go func() { ended <- source.Run(ctx, deliver) }()
	err := <-ended
	cancel()
	<-ended
	var device *audio.DeviceError
	if !errors.As(err, &device) {
		return fault{"the devices delivered too little audio in time", "close other programs that use them and retry"}
	}
	return device
}

// compare estimates the level and delay of the echo from frame loudness alone. This also
// detects an echo that no filter can follow because it is distorted or its delay changes.
func (e *echo) compare(all []heardFrame, noise []audio.Frame) {
	far := make([]float64, len(noise))
	for i := range noise {
		far[i] = math.Pow(10, audio.LevelOf(noise[i][:]).RMS/20)
	}
	var powers, loud []float64
	for _, f := range all {
		powers = append(powers, f.power)
		if f.rendered > silenceFrames {
			loud = append(loud, f.power)
		}
	}
	slices.Sort(powers) // the first frames may hold a late chirp
	e.room, e.level = level(powers[:len(powers)/20]), level(loud)
	sum := 0.0
	for _, a := range far {
		sum += a * a
	}
	e.played = 10 * math.Log10(sum/float64(len(far)))
	for lag := range int64(farLags) {
		var a, b []float64
		for _, f := range all {
			if at := f.rendered - silenceFrames - 1 - lag; at >= 0 && at < int64(len(far)) {
				a, b = append(a, far[at]), append(b, math.Sqrt(f.power))
			}
		}
		if c := correlation(a, b); c > e.correlation {
			e.correlation, e.late = c, time.Duration(lag)*audio.FrameTime
		}
	}
}

// level is the level of frames with these powers, in dBFS.
func level(powers []float64) float64 {
	sum := 0.0
	for _, p := range powers {
		sum += p
	}
	return max(audio.SilenceLevel, 10*math.Log10(sum/float64(max(1, len(powers)))))
}

// correlation is Pearson's, -1 to 1; 0 for too few values or a constant series.
func correlation(a, b []float64) float64 {
	if len(a) < farLags {
		return 0
	}
	n := float64(len(a))
	var sa, sb, saa, sbb, sab float64
	for i := range a {
		sa, sb = sa+a[i], sb+b[i]
		saa, sbb, sab = saa+a[i]*a[i], sbb+b[i]*b[i], sab+a[i]*b[i]
	}
	va, vb := saa-sa*sa/n, sbb-sb*sb/n
	if va <= 1e-15 || vb <= 1e-15 {
		return 0
	}
	return (sab - sa*sb/n) / math.Sqrt(va*vb)
}

// judge describes the echo, or returns what is wrong with it. loop is the result of the chirps,
// nil if they were not heard: a longer delay is then estimated from loudness.
func (e echo) judge(loop *portaudio.Loop) (string, error) {
	above := e.level - e.room
	alike := e.correlation >= minCorrelation && above >= minEchoDB
	switch {
	case loop == nil && !alike && above >= 2*minEchoDB:
		return "", fault{"another sound was louder than the test sounds", "retry in a quiet room"}
	case loop == nil && !alike:
		return "no audible echo, as expected with headphones", nil
	case e.removed >= min(minReductionDB, above-minEchoDB/2) && e.clipped < maxClippedShare && e.level-e.removed <= maxResidueDBFS:
		where := fmt.Sprintf("reported latency %s", inMs(e.reported))
		if e.measured {
			where = fmt.Sprintf("measured delay %s, %s", inMs(e.delay), where)
		}
		return fmt.Sprintf("cancelled: %.0f dB above the room, reduced by %.0f dB; %s", above, e.removed, where), nil
	}
	return "", e.uncancelled(loop, above)
}

// uncancelled is the likeliest cause of an echo that is not cancelled.
func (e echo) uncancelled(loop *portaudio.Loop, above float64) fault {
	what := fmt.Sprintf("the echo is not cancelled: %.0f dB above the room, reduced by %.0f dB", above, max(0, e.removed))
	late := e.late
	if loop != nil {
		late = loop.Delay
	}
	switch {
	case e.clipped >= maxClippedShare:
		// Residual echo suppression also suppresses the user's voice.
		return fault{what + "; the microphone clips while the speaker plays", "turn the speaker down, or lower the input level in the system's sound settings"}
	case e.removed >= minReductionDB:
		return e.tooLoud(what)
	case loop != nil && loop.Max-loop.Min > maxDelaySpread:
		return fault{fmt.Sprintf("%s; its delay varies (%s to %s)", what, inMs(loop.Min), inMs(loop.Max)), "use wired devices, close programs that load the CPU, or use headphones"}
	case late > longDelay:
		return fault{fmt.Sprintf("%s; its delay of %s is too long", what, inMs(late)), "use a wired speaker or headphones"}
	case e.correlation < minCorrelation:
		return fault{what + ", or another sound was louder", "retry in a quiet room; if the echo stays, use headphones"}
	case e.level-maxReductionDB > maxResidueDBFS:
		// The speaker may also distort because its volume is too high. The canceller learns
		// more of that the longer it listens, and the fix is the same.
		return e.tooLoud(what)
	}
	return fault{what + "; something distorts it", "turn off sound effects in the system's sound settings, turn the speaker down, or use headphones"}
}

// tooLoud is the fault of an echo whose residue is too loud.
func (e echo) tooLoud(what string) fault {
	return fault{
		fmt.Sprintf("%s; a residue of %.0f dBFS is too loud", what, e.level-max(0, e.removed)),
		"turn the speaker down, or lower the input level in the system's sound settings",
	}
}

// examineEcho measures the path from the speaker to the microphone and how well the echo is
// cancelled.
func examineEcho(ctx context.Context, source audio.Source, sink audio.Sink) finding {
	measured, err := portaudio.MeasureLoop(ctx, sink, source)
	loop, frames := &measured, noiseFrames
	if errors.Is(err, portaudio.ErrNoEcho) {
		loop, frames, err = nil, detectFrames, nil
	}
	var e echo
	if err == nil {
		e, err = hearEcho(ctx, source, sink, speechNoise(frames))
	}
	if err != nil {
		return found("echo", false, "", nil, err)
	}
	detail, err := e.judge(loop)
	figures := map[string]float64{
		"removedDb": tenth(e.removed), "roomDbfs": tenth(e.room), "levelDbfs": tenth(e.level), "playedDbfs": tenth(e.played),
		"likeness": math.Round(100*e.correlation) / 100, "reportedMs": ms(e.reported), "clippedShare": math.Round(1000*e.clipped) / 1000,
	}
	if e.measured {
		figures["cancellerDelayMs"] = ms(e.delay)
	}
	if loop != nil {
		figures["loopMs"], figures["loopLeastMs"], figures["loopMostMs"] = ms(loop.Delay), ms(loop.Min), ms(loop.Max)
		figures["loopDb"], figures["probes"] = tenth(loop.Level), float64(loop.Probes)
		detail += fmt.Sprintf("; round-trip delay %s (%s to %s)", inMs(loop.Delay), inMs(loop.Min), inMs(loop.Max))
	}
	return found("echo", false, detail, figures, err)
}

// speechNoise is deterministic noise that a canceller treats as speech: a speech-like spectrum
// in syllables of 80 to 250 ms, with pauses. Its level is -29 dBFS, like soft speech.
func speechNoise(frames int) []audio.Frame {
	const rms = 0.05 // of a syllable
	random := rand.New(rand.NewPCG(4, 1))
	pcm := make([]float64, frames*audio.FrameSamples)
	low, slow := 0.0, 0.0
	for i := range pcm {
		// One pole at 800 Hz, and a high-pass at 100 Hz.
		low += 0.1 * (random.NormFloat64() - low)
		slow += 0.013 * (low - slow)
		pcm[i] = low - slow
	}
	sum := 0.0
	for _, s := range pcm {
		sum += s * s
	}
	gain := rms / math.Sqrt(sum/float64(len(pcm)))
	envelope := make([]float64, 0, len(pcm))
	for len(envelope) < len(pcm) {
		syllable := make([]float64, 48*(80+random.IntN(170)))
		for i := range syllable {
			syllable[i] = math.Sin(math.Pi * float64(i) / float64(len(syllable)))
		}
		envelope = append(envelope, syllable...)
		envelope = append(envelope, make([]float64, 48*(40+random.IntN(160)))...)
	}
	noise := make([]audio.Frame, frames)
	for i := range pcm {
		v := pcm[i] * gain * envelope[i] * (1 << 15)
		noise[i/audio.FrameSamples][i%audio.FrameSamples] = int16(min(max(math.Round(v), math.MinInt16), math.MaxInt16))
	}
	return noise
}
