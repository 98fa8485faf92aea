package live

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
)

// fakeHearing is a fake service that records the commits it receives.
type fakeHearing struct {
	Hearing
	commits []uint64
}

func (f *fakeHearing) CommitInput(utterance uint64) { f.commits = append(f.commits, utterance) }
func (f *fakeHearing) ClearInput()                  {}

// said is a sentence of 2 s, whose end the service has not heard.
func said(h *hearer) {
	h.voice(vad.Mark{Kind: vad.Onset, Pos: 48000}, 0)
	h.SpeechStarted("A", 48000)
	h.voice(vad.Mark{Kind: vad.Paused, Pos: 144000}, 0)
}

var lateCommits = []struct {
	name string
	ends bool // the service ends utterances by itself
	then func(h *hearer)
	want []uint64 // commits
}{
	{"the service hears the end late", true, func(h *hearer) {
		said(h)
		h.commit()
		time.Sleep(ownEnd - time.Millisecond)
		h.SpeechStopped("A", 168000)
		time.Sleep(time.Minute)
	}, nil},
	{"its words are there first", true, func(h *hearer) {
		said(h)
		h.commit()
		h.FinalTranscript("A", realtime.Transcript{Text: "one"})
		time.Sleep(time.Minute)
	}, nil},
	{"it does not hear the end", true, func(h *hearer) {
		said(h)
		h.commit()
		time.Sleep(ownEnd)
	}, []uint64{1}},
	{"the user speaks again", true, func(h *hearer) {
		said(h)
		h.commit()
		h.voice(vad.Mark{Kind: vad.Onset, Pos: 200000}, 0)
	}, []uint64{1}},
	{"it did not hear the voice", true, func(h *hearer) {
		h.voice(vad.Mark{Kind: vad.Onset, Pos: 48000}, 0)
		h.voice(vad.Mark{Kind: vad.Paused, Pos: 144000}, 0)
		h.commit()
	}, []uint64{1}},
	{"the user speaks for too long", true, func(h *hearer) {
		said(h)
		h.voice(vad.Mark{Kind: vad.Resumed, Pos: 150000}, 0)
		h.commit()
	}, []uint64{1}},
	{"push-to-talk", true, func(h *hearer) {
		h.press(48000)
		h.commit()
	}, []uint64{1}},
	{"the service judges pauses otherwise", false, func(h *hearer) {
		said(h)
		h.commit()
	}, []uint64{1}},
	{"what was said is dropped", true, func(h *hearer) {
		said(h)
		h.commit()
		h.clear()
		time.Sleep(time.Minute)
	}, nil},
	{"the call is over", true, func(h *hearer) {
		said(h)
		h.commit()
		h.close()
		time.Sleep(time.Minute)
	}, nil},
}

// A commit over WebRTC overtakes audio that is late and would cut the sentence there. A
// service that heard the voice and ends utterances by itself gets ownEnd to do so.
func TestACommitDoesNotOvertakeAudio(t *testing.T) {
	for _, c := range lateCommits {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				port := daemon.Port{
					Post: func(csm.Event) {}, NewUtterance: ids(),
					Heard: func(epoch uint32, u uint64, _ daemon.Transcript) csm.Final {
						return csm.Final{Epoch: epoch, Utterance: u}
					},
				}
				service := &fakeHearing{}
				w := &World{cfg: Config{Speed: 1}, port: port, cues: newCues(nil, func() {})}
				w.grace = newGrace(w)
				defer w.cues.shut()
				h := &hearer{w: w, call: &call{client: service}, ends: c.ends}
				h.match = newMatcher(port, 1, true, func(int64, int64) bool { return false })
				c.then(h)
				synctest.Wait()
				h.mu.Lock()
				defer h.mu.Unlock()
				if !slices.Equal(service.commits, c.want) {
					t.Errorf("commits of %d, want %d", service.commits, c.want)
				}
			})
		})
	}
}

// ids returns a source of utterance ids.
func ids() func() uint64 {
	var last uint64
	return func() uint64 { last++; return last }
}
