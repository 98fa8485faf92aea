//go:build cgo

package live

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/wake"
	"github.com/agentvoice/agentvoice-daemon/internal/miclock"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// numbered is a microphone whose frames a test delivers; each begins with its number.
type numbered struct {
	frames chan func(int64, *audio.Frame) // the number of the next frame is n
	next   int64
	err    error
}

func (*numbered) Open(context.Context) error { return nil }
func (*numbered) Close() error               { return nil }
func (s *numbered) Run(ctx context.Context, deliver func(int64, *audio.Frame)) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case done, open := <-s.frames:
			if !open {
				return s.err
			}
			deliver(s.next*audio.FrameSamples, &audio.Frame{0: int16(s.next), 1: 1})
			s.next++
			done(0, nil)
		}
	}
}

// wakerMic is an open microphone of a waker under test.
type wakerMic struct {
	*overheard
	mic     *numbered
	spotted int // frames that the spotter got
	lates   int
	got     []int16 // frames that the conversation got
	w       *World
}

func newWakerMic(t *testing.T) *wakerMic {
	t.Helper()
	w := &World{cfg: Config{Speed: 1}}
	w.devices, w.waker = &devices{w: w}, newWaker(w)
	return micOf(t, w, func(wake.Heard) {})
}

// micOf returns the open microphone of a world's waker.
func micOf(t *testing.T, w *World, begin func(wake.Heard)) *wakerMic {
	t.Helper()
	o := &wakerMic{w: w, mic: &numbered{frames: make(chan func(int64, *audio.Frame))}}
	ctx, stop := context.WithCancelCause(t.Context())
	o.overheard = newOverheard(w, wake.DefaultPhrase, begin, stop)
	o.source = o.mic
	go o.run(ctx, func(int64, *audio.Frame) { o.spotted++ })
	t.Cleanup(o.end)
	return o
}

// capture delivers n frames.
func (o *wakerMic) capture(n int) {
	for range n {
		done := make(chan struct{})
		o.mic.frames <- func(int64, *audio.Frame) { close(done) }
		<-done
	}
}

// phraseUntil reports that the phrase was said until a frame.
func (o *wakerMic) phraseUntil(to int64) {
	o.heard(wake.Heard{Sure: true, Pos: o.mic.next * audio.FrameSamples, To: to * audio.FrameSamples})
}

// listen passes the audio on until stop is called or the source ends.
func (o *wakerMic) listen(t *testing.T) (stop func(), done chan error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done = make(chan error, 1)
	go func() {
		done <- o.pass(ctx, receiver{
			frame: func(pos int64, f *audio.Frame, _ time.Duration) {
				if f[1] != 0 && pos != int64(f[0])*audio.FrameSamples {
					t.Errorf("frame %d is at %d", f[0], pos/audio.FrameSamples)
				}
				o.got = append(o.got, f[0])
			},
			late: func() { o.lates++ },
		})
	}()
	for o.to.Load() == nil {
		time.Sleep(time.Millisecond)
	}
	return stop, done
}

func (o *wakerMic) keeps() (n int) {
	for i := range o.kept.frames {
		if o.kept.frames[i].frame != (audio.Frame{}) {
			n++
		}
	}
	return n
}

// What is said from the phrase on is kept while the conversation starts, and then delivered
// once and in order before what follows.
func TestWhatIsSaidAfterThePhraseIsKept(t *testing.T) {
	o := newWakerMic(t)
	o.capture(1000)
	if n := o.keeps(); n != 300 {
		t.Errorf("%d frames are kept before the phrase, want 3 s", n)
	}
	o.phraseUntil(900)
	if !o.take() {
		t.Fatal("the conversation does not get the microphone")
	}
	o.capture(300)
	if n := o.keeps(); n != 500 {
		t.Errorf("%d frames are kept, want those from 1 s before the end of the phrase on", n)
	}
	stop, done := o.listen(t)
	o.capture(200)
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	wantFrames(t, o.got, 800, 1500)
	if o.spotted != 1000 || o.lates == 0 || o.lates > 600 {
		t.Errorf("the spotter got %d frames, want those before the phrase; %d frames were late", o.spotted, o.lates)
	}
	o.end()
	if n := o.keeps(); n != 0 {
		t.Errorf("%d frames are kept after the end", n)
	}
}

// The kept audio is bounded, and the source's last frames are not lost with it.
func TestWhatIsKeptIsBounded(t *testing.T) {
	o := newWakerMic(t)
	o.capture(100)
	o.phraseUntil(90)
	o.take()
	o.capture(3000)
	if n := o.keeps(); n != 1500 {
		t.Errorf("%d frames are kept, want 15 s", n)
	}
	stop, done := o.listen(t)
	defer stop()
	o.mic.err = errors.New("lost")
	close(o.mic.frames)
	if err := <-done; !errors.Is(err, o.mic.err) {
		t.Errorf("it ended with %v", err)
	}
	wantFrames(t, o.got, 1600, 3100)
}

// Nothing is kept if the conversation does not start or the microphone is muted; the phrase
// counts again.
func TestARefusedStartForgetsWhatWasSaid(t *testing.T) {
	for name, refuse := range map[string]func(*wakerMic){
		"refused": func(o *wakerMic) { o.capture(300) },
		"muted":   func(o *wakerMic) { o.muted.Store(true); o.capture(1) },
	} {
		t.Run(name, func(t *testing.T) {
			o := newWakerMic(t)
			o.capture(200)
			o.phraseUntil(190)
			o.capture(1)
			if n := o.keeps(); n != 111 {
				t.Fatalf("%d frames are kept", n)
			}
			refuse(o)
			if n := o.keeps(); n > 2 {
				t.Errorf("%d frames are kept", n)
			}
			if _, said := o.phrase(); said != (name == "muted") || name == "refused" && len(o.kept.frames) != 300 {
				t.Errorf("the phrase counts: %v, with room for %d frames", said, len(o.kept.frames))
			}
		})
	}
}

// A microphone has one owner.
func TestTheWakersMicrophoneHasOneOwner(t *testing.T) {
	for range 100 {
		o := newWakerMic(t)
		var owners sync.WaitGroup
		taken, closed := false, false
		owners.Go(func() { taken = o.take() })
		owners.Go(func() { closed = o.owner.CompareAndSwap(0, ownerNobody) })
		if owners.Wait(); taken == closed {
			t.Fatalf("taken %v, closed %v", taken, closed)
		}
	}
}

// begun is a gapped ear of a conversation that the wake phrase began, in the frames until 100.
func begun(t *testing.T) *gapped {
	g := newGapped(t)
	g.w.link.live.Store(nil)
	h := wake.Heard{To: 100 * audio.FrameSamples}
	g.phrase.Store(&h)
	g.backlog.gap.Store(&gap{from: h.To, until: time.Now().Add(gapLimit), phrase: &h})
	return g
}

// What was said after the phrase goes to the first call once the conversation listens. A voice
// that does not pause after the phrase begins an utterance there.
func TestThePhraseIsNotSent(t *testing.T) {
	mark := func(kind vad.MarkKind, frame int64) vad.Mark {
		pos := frame * audio.FrameSamples
		return vad.Mark{Kind: kind, Pos: pos, Decided: pos + 10*audio.FrameSamples}
	}
	for name, c := range map[string]struct {
		pause int64 // the frame where the voice pauses
		from  int
	}{
		"one breath":         {200, 100},
		"a pause":            {105, 105},
		"a pause, early":     {90, 90},
		"a question of 0.3s": {130, 100},
	} {
		t.Run(name, func(t *testing.T) {
			g := begun(t)
			g.capture(20, false)
			g.capture(1, true, mark(vad.Onset, 20))
			g.capture(int(c.pause)+10-21, true)
			g.capture(1, true, mark(vad.Paused, c.pause))
			first := g.call(true).client.(*noting)
			g.capture(300, true)
			if len(first.got) != 0 {
				t.Fatalf("%d frames are sent before the conversation listens", len(first.got))
			}
			g.listen()
			g.capture(200, true)
			wantFrames(t, first.got, c.from, int(g.next/audio.FrameSamples))
			spoken := g.w.link.live.Load().hearer.match.spoken
			if begun := len(spoken) == 1 && spoken[0].from == int64(c.from)*audio.FrameSamples; begun != (c.from == 100) {
				t.Errorf("utterances %+v", spoken)
			}
		})
	}
}

// A conversation that already listens waits until it is known whether the voice paused.
func TestThePhraseIsHeldUntilItsEndIsKnown(t *testing.T) {
	g := begun(t)
	g.listen()
	first := g.call(true).client.(*noting)
	g.capture(150, true)
	if len(first.got) != 0 {
		t.Fatalf("%d frames are sent", len(first.got))
	}
	g.capture(100, true)
	wantFrames(t, first.got, 100, 250)
}

// oneBreath is a daemon that waits for its phrase, and its fake recogniser.
func oneBreath(t *testing.T, words string, cfg Config, r *room, change func(*protocol.Settings)) (*talk, *countingSpotter, tape) {
	t.Helper()
	heard, made := newTape(words), make(chan *countingSpotter, 10)
	cfg.Engines, cfg.Spotter = heard.engines, spotters(made)
	tk := idleTalk(t, func(s *protocol.Settings) {
		wakes(s)
		if change != nil {
			change(s)
		}
	}, cfg)
	s := soon(t, made, "the spotter")
	soon(t, r.opened, "the microphone")
	return tk, s, heard
}

// phraseOf is how much of the sentence stands for the phrase.
const phraseOf = 900 * time.Millisecond

// calls says the sentence, whose beginning the spotter takes for the phrase; only that if alone.
func (r *room) calls(t *testing.T, s *countingSpotter, alone bool) []int16 {
	t.Helper()
	pcm := voiceOf(t, sentence)
	if alone {
		pcm = pcm[:audio.Samples(phraseOf)]
	}
	at := r.utter(append([]int16(nil), pcm...))
	to := at + audio.Samples(phraseOf)
	s.said.Store(&wake.Heard{Sure: true, Pos: to + audio.Samples(150*time.Millisecond), To: to})
	return pcm
}

// lengths returns how many samples each utterance had.
func (r tape) lengths() (samples []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, pcm := range *r.said {
		if len(pcm) > 0 {
			samples = append(samples, len(pcm))
		}
	}
	return samples
}

// requests returns what was sent to the assistant.
func (tk *talk) requests() (sent []string) {
	for _, r := range tk.agent.requests() {
		sent = append(sent, r.Messages[len(r.Messages)-1].Content)
	}
	return sent
}

// TestAQuestionInOneBreath: a question in one breath with the wake phrase arrives whole and
// once, although the service is dialled for longer than it takes. The microphone stays open,
// as the snapshot says at every moment.
func TestAQuestionInOneBreath(t *testing.T) {
	gate := make(chan struct{})
	unlock := sync.OnceFunc(func() { close(gate) })
	r := newRoom()
	cfg := over(r)
	cfg.Instrument = func(*realtime.Config) { <-gate }
	tk, s, heard := oneBreath(t, "Pilot. What is the git status?", cfg, r, nil)
	t.Cleanup(unlock)
	pcm := r.calls(t, s, false)
	r.wait(t)
	tk.want(protocol.StatePreparing)
	unlock()
	tk.want(protocol.StateListening)
	tk.answered()
	tk.want(protocol.StateListening)
	if sent := tk.requests(); len(sent) != 1 || sent[0] != "What is the git status?" {
		t.Errorf("sent %q", sent)
	}
	if said := heard.lengths(); len(said) != 1 || said[0] < (len(pcm)-int(audio.Samples(phraseOf)))/3 {
		t.Errorf("of %d samples, %d were recognised", len(pcm)/3, said)
	}
	if len(r.opened) != 0 {
		t.Error("the microphone was opened again")
	}
	tk.mu.Lock()
	defer tk.mu.Unlock()
	wakes := false
	for _, m := range tk.mics {
		if wakes = wakes || m.Wake; wakes && !m.Open {
			t.Errorf("the microphone was reported closed: %+v", tk.mics)
		}
	}
}

// TestThePhraseAloneSendsNothing: what is said after a pause is a question of its own.
func TestThePhraseAloneSendsNothing(t *testing.T) {
	r := newRoom()
	tk, s, heard := oneBreath(t, "What is the git status?", over(r), r, nil)
	r.calls(t, s, true)
	tk.want(protocol.StatePreparing, protocol.StateListening)
	r.wait(t)
	r.utter(make([]int16, audio.SampleRate))
	r.wait(t)
	r.utter(voiceOf(t, sentence))
	tk.answered()
	if sent := tk.requests(); len(sent) != 1 {
		t.Errorf("sent %q", sent)
	}
	if said := heard.lengths(); len(said) != 1 {
		t.Errorf("utterances of %d samples were recognised, want the question", said)
	}
}

// oneBreathOfWindow is oneBreath with a lease of the microphone, which other windows can take.
func oneBreathOfWindow(t *testing.T) (*talk, *countingSpotter, *room) {
	t.Helper()
	leaseFolder(t)
	r := newRoom()
	cfg := over(r)
	cfg.Holder = "this window"
	tk, s, _ := oneBreath(t, "What is the git status?", cfg, r, nil)
	return tk, s, r
}

// The conversation takes over the lease: other windows see its name, and it ends when one of
// them takes the microphone.
func TestTheLeasePassesToTheConversation(t *testing.T) {
	tk, s, r := oneBreathOfWindow(t)
	s.heard()
	tk.want(protocol.StatePreparing, protocol.StateListening)
	_, err := miclock.Acquire(t.Context(), miclock.Holder{Name: "another window"})
	var held *miclock.HeldError
	if !errors.As(err, &held) || held.Holder.Name != "this window" {
		t.Errorf("another window gets %v", err)
	}
	other, err := miclock.TakeOver(t.Context(), miclock.Holder{Name: "another window"})
	if errors.As(err, &held) && yields(held.Holder) { // this window already waits again; see devices.claim
		other, err = miclock.TakeOver(t.Context(), miclock.Holder{Name: "another window"})
	}
	if err != nil {
		t.Fatal(err)
	}
	tk.want(protocol.StateTerminating, protocol.StateIdle)
	tk.settled()
	if r.open.Load() != 0 {
		t.Error("two windows have the microphone")
	}
	other.Release()
	soon(t, r.opened, "the microphone for the phrase")
}

// A window that takes the microphone before the conversation does leaves nothing behind.
func TestAWindowThatTakesTheMicrophoneFirst(t *testing.T) {
	tk, s, r := oneBreathOfWindow(t)
	o := tk.w.waker.current.Load()
	blocked := make(chan struct{})
	unblock := sync.OnceFunc(func() { close(blocked) })
	t.Cleanup(unblock)
	tk.w.devices.q.Do(func() { <-blocked })
	s.heard()
	other, err := miclock.TakeOver(t.Context(), miclock.Holder{Name: "another window"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Release()
	soon(t, o.ended, "the end of the microphone")
	unblock()
	tk.want(protocol.StateFaulted)
	tk.settled()
	if r.open.Load() != 0 || o.kept.n != 0 {
		t.Errorf("the microphone is open %d times, %d frames are kept", r.open.Load(), o.kept.n)
	}
}

// Muted after the phrase, nothing of what was said is heard.
func TestMutedAfterThePhrase(t *testing.T) {
	gate := make(chan struct{})
	unlock := sync.OnceFunc(func() { close(gate) })
	r := newRoom()
	cfg := over(r)
	cfg.Instrument = func(*realtime.Config) { <-gate }
	tk, s, heard := oneBreath(t, "Pilot. What is the git status?", cfg, r, nil)
	t.Cleanup(unlock)
	r.calls(t, s, false)
	r.wait(t)
	tk.want(protocol.StatePreparing)
	tk.d.Mute(protocol.MuteParams{Muted: true})
	unlock()
	tk.want(protocol.StateListening)
	r.utter(make([]int16, 3*audio.SampleRate))
	r.wait(t)
	if sent := tk.requests(); len(sent)+len(heard.lengths()) != 0 {
		t.Errorf("sent %q, recognised utterances of %d samples", sent, heard.lengths())
	}
}

// In push-to-talk, what is said without the key is not heard.
func TestPushToTalkAfterThePhrase(t *testing.T) {
	r := newRoom()
	tk, s, _ := oneBreath(t, "What is the git status?", over(r), r, func(s *protocol.Settings) { s.TurnDetection.Mode = protocol.TurnPushToTalk })
	r.calls(t, s, false)
	tk.want(protocol.StatePreparing, protocol.StateListening)
	r.wait(t)
	r.utter(make([]int16, 2*audio.SampleRate))
	r.wait(t)
	if sent := tk.requests(); len(sent) != 0 {
		t.Errorf("sent %q", sent)
	}
}
