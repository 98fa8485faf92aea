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
	// echoTime is the longest that all of it plays.
	echoTime = 15 * time.Second
	// noiseFrames is how much noise there is, in frames; less is played where the
	// echo is gone before. The canceller first looks for the delay, for two or
	// three seconds, and where the devices report it wrong restarts then.
	noiseFrames = 1000
	// fewFrames is the same where no chirp was heard: no echo has to go, it only
	// has to be noticed.
	fewFrames = 400
	// quietFrames is how long it is silent before, to know the room.
	quietFrames = 50
	// farLags is by how many frames the echo may be late to be recognised.
	farLags = 100
	// heldBack is the delay from which on an echo that stays is taken to stay because
	// it is late. The canceller follows some that are later.
	heldBack = 400 * time.Millisecond
	// follows is how much the loudness of what is heard must be like that of the
	// noise, as a correlation, to be its echo. Chance gives about 0.3.
	follows = 0.5
	// steady is by how much the delays of the chirps may differ. What the canceller
	// follows is slower.
	steady = 40 * time.Millisecond
	// audible is by how many dB an echo must be louder than the room for anybody
	// to mind it.
	audible = 6
	// cancelled is how many dB of an echo must be taken out, where so many are
	// above the room.
	cancelled = 12
	// mostCancelled is how many dB the canceller takes out in the time, at most, of
	// an echo that nothing distorts.
	mostCancelled = 20
	// faintEcho is the level, in dBFS, up to which what is left of the noise is
	// borne. The assistant speaks 10 dB louder.
	faintEcho = -40
)

// echo is what a microphone heard of a speaker. Levels are in dBFS.
type echo struct {
	likeness float64       // of its loudness to that of the noise, -1 to 1
	late     time.Duration // where that is most
	room     float64       // level of the quietest frames
	level    float64       // level with the noise
	played   float64       // level of the noise
	clipped  float64       // share of samples that the microphone cut off
	removed  float64       // dB that the canceller took out, in the end
	delay    time.Duration // that the canceller uses
	measured bool          // and has found by itself
	reported time.Duration // the same, as the devices report it
}

// heardFrame is a captured frame: how much was rendered when it came, and its power.
type heardFrame struct {
	rendered int64
	power    float64
}

// hearEcho plays noise through an open sink while it takes from an open source
// what comes of it, through the echo cancellation that conversations have. It ends
// when the echo is gone, or with the noise. The error is a *audio.DeviceError where
// a device was lost, and that of ctx. Nothing else runs the two meanwhile.
func hearEcho(ctx context.Context, source audio.Source, sink audio.Sink, noise []audio.Frame) (echo, error) {
	ends, err := front.New(dsp.Default(), nil) // without a tracker, nothing is held
	if err != nil {
		return echo{}, err
	}
	defer func() { _ = ends.Close() }() // a tracker's error
	ends.Attach(source, sink)
	e := echo{reported: ends.Stats().Reported}
	run, cancel := context.WithTimeout(ctx, 2*time.Duration(len(noise)+quietFrames)*audio.FrameTime+startTime)
	defer cancel()
	var rendered atomic.Int64
	render := func(f *audio.Frame) {
		n := rendered.Load()
		if at := n - quietFrames; at >= 0 && at < int64(len(noise)) {
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
		if over || n == 0 { // the speaker has not begun
			return
		}
		_, err := ends.Captured(pos, f)
		failed = errors.Join(failed, err)
		power := math.Pow(10, audio.LevelOf(f[:]).RMS/10)
		all = append(all, heardFrame{n, power})
		recent += (power - recent) / 200
		st := ends.Stats()
		e.clipped = max(e.clipped, st.Clipped)
		if gone++; !st.Echo || st.ERLE < cancelled || 10*math.Log10(recent)-st.ERLE > faintEcho {
			gone = 0
		}
		if over = gone >= 100 || n >= int64(len(noise)+quietFrames) || failed != nil || len(all) == cap(all); over {
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

// runBoth runs both devices until one of them ends, and returns its error. Both
// have ended then.
func runBoth(ctx context.Context, cancel func(), source audio.Source, sink audio.Sink, render func(*audio.Frame), deliver func(int64, *audio.Frame)) error {
	ended := make(chan error, 2)
	go func() { ended <- sink.Run(ctx, render) }()
	go func() { ended <- source.Run(ctx, deliver) }()
	err := <-ended
	cancel()
	<-ended
	var device *audio.DeviceError
	if !errors.As(err, &device) {
		return fault{"the devices gave too little sound in the time", "close what else uses them, and try again"}
	}
	return device
}

// compare finds how loud the echo is, and by how much it is late, from the
// loudness of each frame alone: also an echo that no filter can follow, since it is
// distorted or its delay changes, is loud when the noise is.
func (e *echo) compare(all []heardFrame, noise []audio.Frame) {
	far := make([]float64, len(noise))
	for i := range noise {
		far[i] = math.Pow(10, audio.LevelOf(noise[i][:]).RMS/20)
	}
	var powers, loud []float64
	for _, f := range all {
		powers = append(powers, f.power)
		if f.rendered > quietFrames {
			loud = append(loud, f.power)
		}
	}
	slices.Sort(powers) // what is silent first need not be quiet: the last chirp may come late
	e.room, e.level = level(powers[:len(powers)/20]), level(loud)
	sum := 0.0
	for _, a := range far {
		sum += a * a
	}
	e.played = 10 * math.Log10(sum/float64(len(far)))
	for lag := range int64(farLags) {
		var a, b []float64
		for _, f := range all {
			if at := f.rendered - quietFrames - 1 - lag; at >= 0 && at < int64(len(far)) {
				a, b = append(a, far[at]), append(b, math.Sqrt(f.power))
			}
		}
		if c := correlation(a, b); c > e.likeness {
			e.likeness, e.late = c, time.Duration(lag)*audio.FrameTime
		}
	}
}

// level is that of frames of these powers, in dBFS.
func level(powers []float64) float64 {
	sum := 0.0
	for _, p := range powers {
		sum += p
	}
	return max(audio.SilenceLevel, 10*math.Log10(sum/float64(max(1, len(powers)))))
}

// correlation is Pearson's, -1 to 1; 0 for too few values, and for those of which
// one is always the same.
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

// judge says what was heard of the speaker, and what is wrong with that. loop
// is what the chirps found, nil where they were not heard: an echo that is too
// late for them is known by its loudness.
func (e echo) judge(loop *portaudio.Loop) (string, error) {
	above := e.level - e.room
	alike := e.likeness >= follows && above >= audible
	switch {
	case loop == nil && !alike && above >= 2*audible:
		return "", fault{"something else was louder than the sounds that were played", "try again while it is quiet"}
	case loop == nil && !alike:
		return "the microphone hears next to nothing of the speaker; with headphones that is as it should be", nil
	case e.removed >= min(cancelled, above-audible/2) && e.clipped < clips && e.level-e.removed <= faintEcho:
		where := fmt.Sprintf("the devices report %s", inMs(e.reported))
		if e.measured {
			where = fmt.Sprintf("the canceller found it after %s, %s", inMs(e.delay), where)
		}
		return fmt.Sprintf("cancelled: it is %.0f dB above the room, and %.0f dB are taken out; %s", above, e.removed, where), nil
	}
	return "", e.uncancelled(loop, above)
}

// uncancelled is the likeliest cause of an echo that stays.
func (e echo) uncancelled(loop *portaudio.Loop, above float64) fault {
	what := fmt.Sprintf("the echo is not cancelled: it is %.0f dB above the room, and %.0f dB are taken out", above, max(0, e.removed))
	late := e.late
	if loop != nil {
		late = loop.Delay
	}
	switch {
	case e.clipped >= clips:
		// The canceller hides what it cannot follow, and with it the user's voice.
		return fault{what + ", but the microphone clips while the speaker plays", "turn the speaker down, or lower the microphone's level in the system's sound settings"}
	case e.removed >= cancelled:
		return e.tooLoud(what)
	case loop != nil && loop.Max-loop.Min > steady:
		return fault{fmt.Sprintf("%s, since its delay changes (%s to %s)", what, inMs(loop.Min), inMs(loop.Max)), "use a speaker and a microphone with cables, end programs that keep the machine busy, or use headphones"}
	case late > heldBack:
		return fault{fmt.Sprintf("%s, since it comes %s late", what, inMs(late)), "use a speaker with a cable, or headphones"}
	case e.likeness < follows:
		return fault{what + ", or something else was louder", "try again while it is quiet, and if it stays use headphones"}
	case e.level-mostCancelled > faintEcho:
		// The speaker may distort it besides, as one does that is turned up too
		// far: the canceller learns the more of that the longer it listens, and the
		// fix is the same.
		return e.tooLoud(what)
	}
	return fault{what + ", since it is changed on its way", "switch off sound effects in the system's sound settings, turn the speaker down, or use headphones"}
}

// tooLoud is the fault of an echo of which too much is left by its loudness alone.
func (e echo) tooLoud(what string) fault {
	return fault{
		fmt.Sprintf("%s, but %.0f dBFS are left, so loud it is", what, e.level-max(0, e.removed)),
		"turn the speaker down, or lower the microphone's level in the system's sound settings",
	}
}

// examineEcho measures the way from the speaker to the microphone, and what
// the canceller makes of it.
func examineEcho(ctx context.Context, source audio.Source, sink audio.Sink) finding {
	measured, err := portaudio.MeasureLoop(ctx, sink, source)
	loop, frames := &measured, noiseFrames
	if errors.Is(err, portaudio.ErrNoEcho) {
		loop, frames, err = nil, fewFrames, nil
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
		"likeness": math.Round(100*e.likeness) / 100, "reportedMs": ms(e.reported), "clippedShare": math.Round(1000*e.clipped) / 1000,
	}
	if e.measured {
		figures["cancellerDelayMs"] = ms(e.delay)
	}
	if loop != nil {
		figures["loopMs"], figures["loopLeastMs"], figures["loopMostMs"] = ms(loop.Delay), ms(loop.Min), ms(loop.Max)
		figures["loopDb"], figures["probes"] = tenth(loop.Level), float64(loop.Probes)
		detail += fmt.Sprintf("; out and in again takes %s (%s to %s)", inMs(loop.Delay), inMs(loop.Min), inMs(loop.Max))
	}
	return found("echo", false, detail, figures, err)
}

// speechNoise is noise that is like speech to a canceller and to nobody else: its
// spectrum falls as that of a voice, and it comes in syllables of 80 to 250 ms with
// pauses between them, always the same ones. It is at -29 dBFS over all, as loud
// as somebody who speaks softly.
func speechNoise(frames int) []audio.Frame {
	const rms = 0.05 // of a syllable
	random := rand.New(rand.NewPCG(4, 1))
	pcm := make([]float64, frames*audio.FrameSamples)
	low, slow := 0.0, 0.0
	for i := range pcm {
		// A pole at 800 Hz, and no rumble below 100.
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
