//go:build cgo

package localrealtime

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/front"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

// The levels of a scene, in dBFS: of the user's loud parts, and of the noise.
const (
	userLevel = -24.0
	roomNoise = -72.0
)

// Of a scene: before the user speaks, while others talk already, and after.
const (
	sceneLead = 3 * audio.SampleRate / 2
	sceneTail = 5 * audio.SampleRate
)

// scene is what a microphone hears: a user's sentence between from and to, at audio.SampleRate.
type scene struct {
	pcm      []float64
	from, to int
}

// silentScene is a sentence in a quiet room. With earlier, the user has said another one before.
func silentScene(user *speechdata.Clip, earlier *speechdata.Clip) scene {
	var s scene
	pause := func(n int) { s.pcm = append(s.pcm, make([]float64, n)...) }
	say := func(c *speechdata.Clip) {
		for _, v := range c.PCM[c.Onset:c.End] {
			s.pcm = append(s.pcm, float64(v)*math.Pow(10, (userLevel-c.Level)/20))
		}
	}
	pause(audio.SampleRate)
	if earlier != nil {
		say(earlier)
		pause(2 * audio.SampleRate)
	}
	pause(sceneLead)
	s.from = len(s.pcm)
	say(user)
	s.to = len(s.pcm)
	pause(sceneTail)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range s.pcm {
		s.pcm[i] += 32768 * math.Pow(10, roomNoise/20) * random.NormFloat64()
	}
	return s
}

// with adds a sound whose loud parts are so many dB below the user's, from before the sentence on.
func (s scene) with(sound []int16, below float64) scene {
	label, _ := speechdata.LabelOf(sound)
	gain := math.Pow(10, (userLevel-below-label.Level)/20)
	mixed := slices.Clone(s.pcm)
	for i := range mixed[s.from-sceneLead:] {
		mixed[s.from-sceneLead+i] += gain * float64(sound[i%len(sound)])
	}
	s.pcm = mixed
	return s
}

// softer lowers the voice by so many dB from the middle of the sentence on.
func (s scene) softer(by float64) scene {
	s.pcm = slices.Clone(s.pcm)
	for i := (s.from + s.to) / 2; i < s.to; i++ {
		s.pcm[i] *= math.Pow(10, -by/20)
	}
	return s
}

// talker joins the utterances of other voices, with their pauses.
func talker(tb testing.TB, user *speechdata.Clip) (pcm []int16) {
	tb.Helper()
	for _, c := range recordedSentences(tb) {
		if c.Voice == user.Voice {
			continue
		}
		for _, v := range c.PCM {
			pcm = append(pcm, int16(float64(v)*math.Pow(10, (userLevel-c.Level)/20)))
		}
	}
	return pcm
}

// recordedSentences are the recordings that every machine with the test data has.
func recordedSentences(tb testing.TB) (clips []*speechdata.Clip) {
	tb.Helper()
	for _, r := range speechdata.All(speechdata.Utterance) {
		if r.Package != "pocketsphinx-testdata" || r.ID == "en/cards/004" {
			continue
		}
		c, err := r.Load()
		if err != nil {
			tb.Fatal(err)
		}
		clips = append(clips, c)
	}
	return clips
}

// sceneTurn is a turn, in ms of the scene: as the server or the front end of the client hears it.
type sceneTurn struct{ from, to int64 }

func (t sceneTurn) String() string { return fmt.Sprintf("%d to %d", t.from, t.to) }

// heardScene is what the two sides made of a scene.
type heardScene struct{ server, client []sceneTurn }

// sharedDetector is one that outlives a call.
type sharedDetector struct{ vad.Detector }

func (sharedDetector) Close() error { return nil }

// ears are the detectors of both sides.
type ears struct {
	server  vad.Detector
	tracker *vad.Tracker
}

func newEars(tb testing.TB) ears {
	tb.Helper()
	model, err := assets.Silero()
	if err != nil {
		tb.Fatal(err)
	}
	runtime, err := assets.ONNXRuntime()
	if err != nil {
		tb.Fatal(err)
	}
	silero := func() (vad.Detector, error) { return vad.NewSilero(model, runtime) }
	d, err := silero()
	if err != nil {
		tb.Fatal(err)
	}
	tr, err := vad.NewTracker(func() (vad.Detector, error) {
		d, err := silero()
		return sharedDetector{d}, err
	}, vad.ProfileConfig(vad.ProfileDefault))
	if err != nil {
		tb.Fatal(err)
	}
	return ears{sharedDetector{d}, tr}
}

// hear plays a scene to the production front end, and what that sends to a call whose recogniser
// always hears the same words.
func (e ears) hear(t *testing.T, s scene, words string) (heard heardScene) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		v := newVirtualCall(t, recognising(words), func(c *Config) { c.Detector = func() (vad.Detector, error) { e.server.Reset(); return e.server, nil } })
		v.call.post(func() { v.call.onClientEvent([]byte(`{"type":"session.update","session":` + semantic + `}`)) })
		if err := v.call.loadDetector(); err != nil {
			t.Fatal(err)
		}
		f, err := front.New(dsp.Default(), func(time.Duration) {})
		if err != nil {
			t.Fatal(err)
		}
		e.tracker.Reset()
		f.Track(e.tracker)
		f.Attach(nil, wavio.Null{})
		encoder, err := opus.NewEncoder(opus.Config{FEC: true})
		if err != nil {
			t.Fatal(err)
		}
		receiver, err := newReceiver(v.call.hear)
		if err != nil {
			t.Fatal(err)
		}
		packet := &rtp.Packet{}
		var last audio.Frame
		for n := range len(s.pcm) / audio.FrameSamples {
			var frame audio.Frame
			for i := range frame {
				frame[i] = int16(max(-32768, min(32767, s.pcm[n*audio.FrameSamples+i])))
			}
			f.Rendered(&audio.Frame{})
			marks, err := f.Captured(int64(n*audio.FrameSamples), &frame)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range marks {
				switch at := m.Pos * 1000 / audio.SampleRate; m.Kind {
				case vad.Onset:
					heard.client = append(heard.client, sceneTurn{at, -1})
				case vad.Ended:
					heard.client[len(heard.client)-1].to = at
				default:
				}
			}
			if n%2 == 0 {
				last = *f.Uplink()
				continue
			}
			if packet.Payload, err = encoder.Encode(&last, f.Uplink()); err != nil {
				t.Fatal(err)
			}
			receiver.receive(packet)
			packet = &rtp.Packet{Header: rtp.Header{SequenceNumber: packet.SequenceNumber + 1, Timestamp: packet.Timestamp + opus.PacketSamples}}
			time.Sleep(20 * time.Millisecond)
			synctest.Wait()
			for len(v.events) > 0 {
				switch e := <-v.events; e.Type {
				case "input_audio_buffer.speech_started":
					heard.server = append(heard.server, sceneTurn{e.AudioStartMs, -1})
				case "input_audio_buffer.speech_stopped":
					heard.server[len(heard.server)-1].to = e.AudioEndMs
				}
			}
		}
	})
	return heard
}

// of is the user's turn in a scene, and how many turns began after it.
func of(turns []sceneTurn, s scene) (user sceneTurn, invented int) {
	for _, t := range turns {
		switch {
		case t.from >= ms(s.to):
			invented++
		case t.to < 0 || t.to > ms(s.from):
			user = t
		}
	}
	return user, invented
}

func ms(samples int) int64 { return int64(samples) * 1000 / audio.SampleRate }

// A voice far below the user's, which talks before, while and after the user speaks, does not hold
// the turn open and begins none after it. The front end of the client hears the end at the same time;
// what it hears alone has no words.
func TestATalkerInTheBackgroundHoldsNoTurnOpen(t *testing.T) {
	e := newEars(t)
	for i, c := range recordedSentences(t) {
		if i%3 != 0 {
			continue
		}
		s := silentScene(c, nil)
		below := []float64{20, 30, 40}[i/3%3]
		silence, heard := e.hear(t, s, ""), e.hear(t, s.with(talker(t, c), below), "")
		for side, turns := range map[string][2][]sceneTurn{"server": {silence.server, heard.server}, "client": {silence.client, heard.client}} {
			want, _ := of(turns[0], s)
			got, invented := of(turns[1], s)
			if got.from > ms(s.from)+300 || got.to < want.to-150 || got.to > want.to+400 || side == "server" && invented > 0 {
				t.Errorf("%s, %v dB below: the %s hears %v, %d after it; in silence %v", c.ID, below, side, turns[1], invented, want)
			}
		}
	}
}

// A user who speaks 10 dB more softly from the middle of a sentence on loses nothing of it.
func TestAUserWhoLowersTheVoiceIsHeard(t *testing.T) {
	e := newEars(t)
	for i, c := range recordedSentences(t) {
		if i%3 != 1 {
			continue
		}
		s := silentScene(c, nil).softer(10)
		turns := e.hear(t, s, "").server
		if len(turns) == 0 || turns[0].from > ms(s.from) || turns[len(turns)-1].to < ms(s.to)-100 {
			t.Errorf("%s, %d to %d: heard %v", c.ID, ms(s.from), ms(s.to), turns)
		}
		for i, turn := range turns[1:] {
			if turn.from > turns[i].to {
				t.Errorf("%s: what was said between %v is lost", c.ID, turns)
			}
		}
	}
}
