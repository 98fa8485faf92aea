package room

import (
	"fmt"
	"math"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Config is what is in the room. The zero value is a cable: the microphone hears
// the near end alone.
type Config struct {
	// Echo is the impulse response from the loudspeaker to the microphone at
	// 48 kHz (Shape.EchoResponse); nil for no echo.
	Echo []float32
	// EchoGain is how much louder the echo is at the microphone than the rendered
	// audio is on the wire, in dB: -6 for a laptop turned up, -12 for one that is
	// not.
	EchoGain float64
	// Delay is from a rendered sample to its echo, without the way through the
	// air: the buffers of both devices. From 0 to 2 s.
	Delay time.Duration
	// DriftPPM is how much faster the loudspeaker's clock is than the
	// microphone's, in parts per million; up to 5000 either way.
	DriftPPM float64
	// SpeakerClip and MicClip are where the loudspeaker and the microphone clip,
	// as parts of full scale; 0 for full scale. A loudspeaker clips before the
	// echo gain.
	SpeakerClip, MicClip float64
	// Near is the impulse response from the person to the microphone
	// (Shape.NearResponse); nil for dry speech.
	Near []float32
	// Noise is noise with an RMS of 1 (Fan, Babble), repeated; nil for none. Its
	// level is NoiseLevel, in dBFS: ActiveLevel of the speech less the SNR.
	Noise      []float32
	NoiseLevel float64
}

// Room is a simulated room. It is used by one goroutine.
type Room struct {
	cfg        Config
	echoGain   float32
	noiseGain  float32
	speakerMax float32
	micMax     float32
	echo, near *convolver
	noiseAt    int

	delay    *line
	rendered audio.Frame
	far      block
	person   block
}

// New fails for a delay or a drift out of range.
func New(cfg Config) (*Room, error) {
	if cfg.Delay < 0 || cfg.Delay > 2*time.Second {
		return nil, fmt.Errorf("a room delays by 0 to 2 s, not by %v", cfg.Delay)
	}
	if math.Abs(cfg.DriftPPM) > 5000 {
		return nil, fmt.Errorf("clocks drift by up to 5000 ppm, not by %v", cfg.DriftPPM)
	}
	r := &Room{
		cfg:        cfg,
		echoGain:   float32(math.Pow(10, cfg.EchoGain/20)),
		noiseGain:  float32(math.Pow(10, cfg.NoiseLevel/20)),
		speakerMax: ceiling(cfg.SpeakerClip),
		micMax:     ceiling(cfg.MicClip),
		delay:      newLine(int(audio.Samples(cfg.Delay)), int(audio.Samples(mostJump)), cfg.DriftPPM),
	}
	if cfg.Echo != nil {
		r.echo = newConvolver(cfg.Echo)
	}
	if cfg.Near != nil {
		r.near = newConvolver(cfg.Near)
	}
	return r, nil
}

// mostJump is by how much the delay may become longer than at first.
const mostJump = 250 * time.Millisecond

// Jump makes the delay longer, or shorter where by is negative, from the next frame on.
func (r *Room) Jump(by time.Duration) {
	r.delay.delay = max(r.delay.delay+float64(audio.Samples(by)), 0)
}

func ceiling(part float64) float32 {
	if part <= 0 || part > 1 {
		return 1
	}
	return float32(part)
}

// Capture makes the next frame of the microphone from the next frame of the
// person. It calls render for each frame that the loudspeaker asks for meanwhile:
// 0 to 2. near may be nil, for a person who is silent.
func (r *Room) Capture(render func(f *audio.Frame), near, mic *audio.Frame) {
	r.delay.read(&r.far, func(b *block) {
		render(&r.rendered)
		for i, s := range r.rendered {
			b[i] = min(max(float32(s)/(1<<15), -r.speakerMax), r.speakerMax)
		}
	})
	if r.echo != nil {
		r.echo.filter(&r.far)
	} else {
		r.far = block{}
	}
	r.person = block{}
	if near != nil {
		for i, s := range near {
			r.person[i] = float32(s) / (1 << 15)
		}
	}
	if r.near != nil {
		r.near.filter(&r.person)
	}
	for i := range mic {
		v := r.person[i] + r.echoGain*r.far[i]
		if len(r.cfg.Noise) > 0 {
			v += r.noiseGain * r.cfg.Noise[r.noiseAt]
			r.noiseAt = (r.noiseAt + 1) % len(r.cfg.Noise)
		}
		v = min(max(v, -r.micMax), r.micMax)
		mic[i] = int16(min(math.RoundToEven(float64(v)*(1<<15)), math.MaxInt16))
	}
}
