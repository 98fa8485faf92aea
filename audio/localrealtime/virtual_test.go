//go:build cgo

package localrealtime

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// virtualCall is a call in a synctest bubble: real tables, engines that are fakes, and RTP
// that is recorded instead of sent. Times are exact, however busy the machine is.
type virtualCall struct {
	*rtpSpeech
	call    *call
	events  chan event
	packets chan *rtp.Packet
}

// newVirtualCall begins a call, which ends with the test.
func newVirtualCall(t *testing.T, change ...func(*Config)) *virtualCall {
	t.Helper()
	e := newFakeEngines()
	cfg := Config{
		Recognizer: e.recognizer, Synthesizer: e.synthesizer, Detector: e.detector, Speed: 1, Log: zerolog.Nop(),
		MaxCalls: 1, SessionLimit: DefaultSessionLimit, Remember: DefaultRemember, KeepEngines: time.Minute, EnginesFreed: func() {},
	}
	for _, f := range change {
		f(&cfg)
	}
	s := &Server{
		cfg: cfg, calls: map[string]*call{}, stallSlack: stallSlack, pingEvery: pingEvery,
		recognizers: newPool[hearing.Recognizer](cfg.Recognizer, cfg.KeepEngines, cfg.EnginesFreed),
		detectors:   newPool[vad.Detector](cfg.Detector, cfg.KeepEngines, cfg.EnginesFreed),
	}
	made, err := newSession(false, json.RawMessage(transcribing()))
	if err != nil {
		t.Fatal(err)
	}
	v := &virtualCall{events: make(chan event, 100), packets: make(chan *rtp.Packet, 1000)}
	v.call, err = s.newCall(made, func(c *call) (_ transport, err error) {
		v.rtpSpeech, err = newRTPSpeech(c)
		return v, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.track.Bind(v); err != nil {
		t.Fatal(err)
	}
	if err := s.adopt(v.call); err != nil {
		t.Fatal(err)
	}
	go v.call.run()
	v.call.post(func() { v.call.happened(machine.Opened) })
	t.Cleanup(func() {
		s.HangUpAll()
		if err := errors.Join(s.recognizers.close(), s.detectors.close()); err != nil {
			t.Error(err)
		}
	})
	return v
}

// speak requests an answer to be spoken.
func (v *virtualCall) speak(text string) {
	ev := []byte(`{"type":"response.create","response":{"conversation":"none","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}]}}`)
	v.call.post(func() { v.call.onClientEvent(ev) })
}

// sentPackets returns the RTP packets so far.
func (v *virtualCall) sentPackets() (all []*rtp.Packet) {
	for len(v.packets) > 0 {
		all = append(all, <-v.packets)
	}
	return all
}

func (v *virtualCall) start() { v.call.workers.Go(v.pace) }

func (v *virtualCall) send(data []byte) error {
	e := event{at: time.Now()}
	err := json.Unmarshal(data, &e)
	v.events <- e
	return err
}
func (v *virtualCall) whenSent(f func()) { f() }
func (v *virtualCall) away() bool        { return false }
func (v *virtualCall) close() error      { return nil }

// virtualCall is also what a track is bound to.

func (v *virtualCall) CodecParameters() []webrtc.RTPCodecParameters {
	return []webrtc.RTPCodecParameters{{RTPCodecCapability: opusCapability, PayloadType: 111}}
}
func (v *virtualCall) HeaderExtensions() []webrtc.RTPHeaderExtensionParameter { return nil }
func (v *virtualCall) SSRC() webrtc.SSRC                                      { return 1 }
func (v *virtualCall) SSRCRetransmission() webrtc.SSRC                        { return 0 }
func (v *virtualCall) SSRCForwardErrorCorrection() webrtc.SSRC                { return 0 }
func (v *virtualCall) WriteStream() webrtc.TrackLocalWriter                   { return v }
func (v *virtualCall) ID() string                                             { return "virtual" }
func (v *virtualCall) RTCPReader() interceptor.RTCPReader                     { return nil }

func (v *virtualCall) WriteRTP(h *rtp.Header, payload []byte) (int, error) {
	v.packets <- &rtp.Packet{Header: *h, Payload: slices.Clone(payload)}
	return len(payload), nil
}
func (v *virtualCall) Write(b []byte) (int, error) { return len(b), nil }

// The audio of an answer is contiguous: 100 ms at once, the rest in real time. The next
// answer follows after the shortest pause.
func TestAnswersAreContiguous(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtualCall(t)
		v.speak("one two three") // 9 packets
		v.speak("one two")       // 6
		synctest.Wait()
		packets := v.sentPackets()
		if len(packets) != 5 {
			t.Errorf("%d packets were sent at once, want 100 ms", len(packets))
		}
		for at := 20 * time.Millisecond; len(packets) < 15 && at < time.Second; at += 20 * time.Millisecond {
			time.Sleep(20 * time.Millisecond)
			synctest.Wait()
			packets = append(packets, v.sentPackets()...)
			if want := 5 + int(at/(20*time.Millisecond)); len(packets) != want && len(packets) != want-1 { // one for the pause
				t.Errorf("%d packets were sent after %v, want %d", len(packets), at, want)
			}
		}
		if len(packets) != 15 {
			t.Fatalf("%d packets were sent, want 15", len(packets))
		}
		for i, p := range packets[1:] {
			gap := uint32(opus.PacketSamples)
			if i+1 == 9 {
				gap += pauseTicks
			}
			if last := packets[i]; p.SequenceNumber != last.SequenceNumber+1 || p.Timestamp != last.Timestamp+gap {
				t.Errorf("packet %d does not follow: %v after %v", i+1, p.Header, last.Header)
			}
		}
	})
}

// TestALateCallIsNotACallerWhoStopped: time in which this process does not run does not count as
// the caller's silence. A caller who sends nothing for as long has ended the turn.
func TestALateCallIsNotACallerWhoStopped(t *testing.T) {
	for name, tt := range map[string]struct {
		late  time.Duration // for which the call does not run
		quiet time.Duration // until the caller's next audio
		ended bool
	}{
		"late":         {late: time.Minute, quiet: 300 * time.Millisecond},
		"late, silent": {late: time.Minute, quiet: 3 * time.Second, ended: true},
		"silent":       {quiet: 3 * time.Second, ended: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVirtualCall(t)
				if err := v.call.loadDetector(); err != nil {
					t.Fatal(err)
				}
				hear := func(d time.Duration) {
					const window = vad.WindowSamples * time.Second / listenRate
					for range d / window {
						v.call.hear(tone(int(window/time.Millisecond), listenRate))
						time.Sleep(window)
					}
				}
				hear(time.Second)
				v.call.post(func() { time.Sleep(tt.late) })
				time.Sleep(tt.late + tt.quiet)
				synctest.Wait()
				ended := false
				for len(v.events) > 0 {
					e := <-v.events
					ended = ended || e.Type == "input_audio_buffer.speech_stopped"
				}
				if ended != tt.ended {
					t.Errorf("the turn ended: %v, want %v", ended, tt.ended)
				}
			})
		})
	}
}
