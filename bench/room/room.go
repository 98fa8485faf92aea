package room

import (
	"fmt"
	"math"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Config describes the room. The zero value is a cable: the microphone hears only the
// near end.
type Config struct {
	// Echo is the impulse response from the speaker to the microphone at 48 kHz
	// (Shape.EchoResponse); nil for no echo.
	Echo []float32
	// EchoGain is the level of the echo at the microphone relative to the rendered
	// audio, in dB: -6 for a laptop at high volume, -12 at normal volume.
	EchoGain float64
	// Delay is from a rendered sample to its echo, without the time through the air:
	// the buffers of both devices. 0 to 2 s.
	Delay time.Duration
	// DriftPPM is how much faster the speaker's clock is than the microphone's, in ppm;
	// -5000 to 5000.
	DriftPPM float64
	// SpeakerClip and MicClip are the clipping levels of the speaker and the
	// microphone, as fractions of full scale; 0 means full scale. The speaker clips
	// before the echo gain.
	SpeakerClip, MicClip float64
	// Near is the impulse response from the person to the microphone
	// (Shape.NearResponse); nil for dry speech.
	Near []float32
	// Noise is noise with an RMS of 1 (Fan, Babble), repeated; nil for none. Its
	// level is NoiseLevel, in dBFS: ActiveLevel of the speech minus the SNR.
	Noise      []float32
	NoiseLevel float64
}

// Room is a simulated room. It is not safe for concurrent use.
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

// New returns an error if the delay or the drift is out of range.
func New(cfg Config) (*Room, error) {
	if cfg.Delay < 0 || cfg.Delay > 2*time.Second {
		return nil, fmt.Errorf("room: delay %v is out of range; use 0 to 2 s", cfg.Delay)
	}
	if math.Abs(cfg.DriftPPM) > 5000 {
		return nil, fmt.Errorf("room: clock drift of %v ppm is out of range; use -5000 to 5000 ppm", cfg.DriftPPM)
	}
	r := &Room{
		cfg:        cfg,
		echoGain:   float32(math.Pow(10, cfg.EchoGain/20)),
		noiseGain:  float32(math.Pow(10, cfg.NoiseLevel/20)),
		speakerMax: ceiling(cfg.SpeakerClip),
		micMax:     ceiling(cfg.MicClip),
		delay:      newLine(int(audio.Samples(cfg.Delay)), int(audio.Samples(maxJump)), cfg.DriftPPM),
	}
	if cfg.Echo != nil {
		r.echo = newConvolver(cfg.Echo)
	}
	if cfg.Near != nil {
		r.near = newConvolver(cfg.Near)
	}
	return r, nil
}

// maxJump is by how much the delay may exceed the initial one.
const maxJump = 250 * time.Millisecond

// Jump changes the delay by a duration, which may be negative, from the next frame on.
func (r *Room) Jump(by time.Duration) {
	r.delay.delay = max(r.delay.delay+float64(audio.Samples(by)), 0)
}

func ceiling(part float64) float32 {
	if part <= 0 || part > 1 {
		return 1
	}
	return float32(part)
}

// Capture returns in mic the next frame of the microphone, given the next frame of
// the person; near may be nil for silence. It calls render for each frame that the
// speaker needs meanwhile: 0 to 2 times.
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
