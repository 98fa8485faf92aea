package live

import (
	"cmp"
	"errors"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// hearer turns reports from the service and the local detector into events.
type hearer struct {
	w    *World
	call *call
	ear  *ear // nil without devices
	// wordsOnly: see matcher.wordsOnly.
	wordsOnly bool
	// drops: the service drops what was no speech after all, and may not say so.
	drops bool
	// comparer is nil if short sounds are not compared.
	comparer *comparer
	// compares is the captured position at which the sound before a pause is compared, or 0.
	// Only the source's goroutine uses it.
	compares int64
	// Likewise: the captured position at which the service last dropped what it kept, and whether it
	// may have kept voices since.
	forgot int64
	voices bool

	mu    sync.Mutex  // guards the fields below
	match *matcher    // nil before the first report
	late  *time.Timer // see awaitWords; nil before the first use
	held  *time.Timer // see FinalTranscript; nil before the first use
	judge *judge      // nil if the service ends the user's turns
}

func newHearer(w *World, c *call, set protocol.Settings) *hearer {
	row, _ := provider.Of(string(set.SessionWith()))
	session := cmp.Or(row.Session, &provider.Session{})
	return &hearer{
		w: w, call: c, ear: w.devices.ear.Load(), wordsOnly: session.Live || session.Unnamed, drops: session.Unnamed,
		judge: newJudge(w, set), comparer: w.comparer,
	}
}

// matcher is created for the first report rather than with the connection: whether
// there is a local detector is known only after it has loaded, and dialling does not
// wait for that. The caller holds mu.
func (h *hearer) matcher() *matcher {
	if h.match == nil {
		echo := func(from, to int64) bool { return h.ear != nil && h.ear.echo(from, to) }
		h.match = newMatcher(h.w.port, h.call.epoch.Load(), h.ear.finds(), echo)
		if h.judge.ends(h.match) && h.judge.settles {
			h.match.hold = h.call.client.HoldInput
		}
		h.match.wordsOnly, h.match.commits = h.wordsOnly, h.judge != nil && !h.judge.settles
		if h.ear != nil {
			h.match.phrase = h.ear.phrase.Load()
		}
	}
	return h.match
}

// with passes a report to the matcher and posts the resulting events. It keeps them in
// order, although two goroutines report.
func (h *hearer) with(fact func(*matcher) []csm.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.matcher()
	for _, e := range append(fact(m), m.overdue()...) {
		h.w.port.Post(e)
		h.w.cues.heard(e)
		h.w.grace.heard(e)
	}
	h.tell(h.judge.judge(m))
}

// tell tells the tracker how long a pause must last, unless another call is live.
func (h *hearer) tell(silence, faint time.Duration) {
	if h.ear != nil && h.call.link.live.Load() == h.call {
		h.ear.pause.set(silence, faint)
	}
}

// press begins an utterance manually. The service assigns an item when it ends.
func (h *hearer) press(pos int64) {
	h.with(func(m *matcher) []csm.Event { return some(m.begin(pos, 0, true)) })
}

// voice handles a mark of the local detector. The device had its sample at arrived.
func (h *hearer) voice(m vad.Mark, arrived time.Duration) {
	expected := h.expect(m)
	h.with(func(match *matcher) []csm.Event {
		switch m.Kind {
		case vad.Onset, vad.Resumed:
			events := match.release()
			// Detection takes at least its samples, even if the clock has seen only late frames.
			late := max(h.w.now()-arrived, audio.Duration(m.Decided-m.Pos))
			events = append(events, some(match.voice(m.Pos, late))...)
			match.expect(m.Pos, expected)
			if m.Kind == vad.Onset && h.ear != nil {
				h.ear.levels.begin()
			}
			return events
		case vad.Paused:
			paused := match.silence(m.Pos)
			if u := match.open(); u != nil && !u.pressed && h.ear != nil {
				u.distant = h.ear.levels.pause(u.from, u.to)
			}
			return some(paused)
		default:
			if h.judge.ends(match) {
				return h.end(match, m)
			}
			h.awaitWords(match)
			return match.gone()
		}
	})
}

// expect returns the expected answers where a voice begins, and sets when the sound before a
// pause is compared with them. It runs on the source's goroutine.
func (h *hearer) expect(m vad.Mark) (expected [][]string) {
	switch {
	case h.comparer == nil:
	case m.Kind == vad.Onset || m.Kind == vad.Resumed:
		h.compares = 0
		if expected = h.w.port.Expected(); expected != nil {
			h.comparer.prepare()
		}
	case m.Kind == vad.Paused:
		h.compares = m.Pos + audio.Samples(comparedAfter)
	}
	return expected
}

// delivered compares a short sound with the expected answers, once the audio up to a captured
// position contains enough of the pause after it. It runs on the source's goroutine.
func (h *hearer) delivered(pos int64, b *backlog) {
	h.forget(pos, b)
	if h.compares == 0 || pos < h.compares {
		return
	}
	h.compares = 0
	if short := h.short(b); short != nil {
		h.comparer.compare(short)
	}
}

// A service that does not look for voices keeps all audio for the next utterance. It drops what it
// has every forgetEvery, sooner if that may have voices in it, once nothing has sounded like the
// beginning of the user's voice for calmFor. A clear that is late by much may take the beginning of one, so there
// are few of them.
const (
	forgetEvery  = 20 * time.Second
	forgetVoices = 2 * time.Second
	calmFor      = time.Second
)

// forget makes such a service drop audio without the user's voice, up to a captured position.
func (h *hearer) forget(pos int64, b *backlog) {
	if h.judge == nil || h.judge.settles {
		return
	}
	h.voices = h.voices || b.quiet == 0
	every := forgetEvery
	if h.voices {
		every = forgetVoices
	}
	if pos-h.forgot < audio.Samples(every) || int64(b.calm)*audio.FrameSamples < audio.Samples(calmFor) {
		return
	}
	h.forgot, h.voices = pos, false
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.matcher().open() == nil {
		h.call.client.ForgetInput()
	}
}

// short returns the sound of the open utterance, or nil if it is not compared.
func (h *hearer) short(b *backlog) *sound {
	h.mu.Lock()
	defer h.mu.Unlock()
	u, attempt := h.matcher().toCompare()
	if u == nil {
		return nil
	}
	return &sound{
		pcm:      b.between(u.from-audio.Samples(comparedBefore), u.to+audio.Samples(comparedAfter)),
		expected: u.expected,
		done: func(answer *daemon.Answer) {
			h.with(func(m *matcher) []csm.Event { return m.compared(u, attempt, answer) })
		},
	}
}

// lateWords is how long to wait for the first words after a voice has ended, with a
// service that reports a voice only by its words.
const lateWords = 5 * time.Second

// lateEnd is how long to wait for the end of an utterance that the service has heard, with one that may
// drop it silently. The longest silence that ends a turn there is 8 s.
const lateEnd = 12 * time.Second

// awaitWords ends an utterance for which no words arrive. The caller holds mu.
func (h *hearer) awaitWords(m *matcher) {
	if !h.wordsOnly {
		return
	}
	u := m.open()
	if h.drops && u != nil && u.item != nil {
		h.after(lateEnd, func(m *matcher) []csm.Event { return m.undecided(u) })
		return
	}
	h.after(lateWords, func(m *matcher) []csm.Event { return m.unheard(u) })
}

// after passes f to with after d, and replaces the previous one. The caller holds mu.
func (h *hearer) after(d time.Duration, f func(*matcher) []csm.Event) {
	if h.late != nil {
		h.late.Stop()
	}
	h.late = time.AfterFunc(d, func() { h.with(f) })
}

// close reports the words that are held, and stops the hearer's timers.
func (h *hearer) close() {
	h.release()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range []*time.Timer{h.late, h.held} {
		if t != nil {
			t.Stop()
		}
	}
}

// release reports the words that are held.
func (h *hearer) release() {
	h.mu.Lock()
	held := h.match != nil && len(h.match.held) > 0
	h.mu.Unlock()
	if held {
		h.with((*matcher).release)
	}
}

// heardAfter is how much of the pause after an utterance the service gets, so that it hears the end.
const heardAfter = 200 * time.Millisecond

// end ends the open utterance after a pause, at a mark.
func (h *hearer) end(m *matcher, mark vad.Mark) []csm.Event {
	u := m.open()
	if u == nil || u.pressed {
		return nil
	}
	u.quiet, u.stopped, u.ended = true, true, mark.Pos
	why := h.judge.why
	if mark.Faint {
		why = h.judge.faint
	}
	h.w.cfg.Log.Debug().Uint64("utterance", u.id).Stringer("because", why.Reason).Dur("delay", why.Delay).Msg("a pause ends the turn")
	h.commitTo(u.id, u.to+audio.Samples(heardAfter)-h.call.base.Load(), true)
	return some(csm.SpeechStopped{Epoch: m.epoch, Utterance: u.id, Pos: u.to, Why: reasons[why.Reason]})
}

// commit ends the current utterance at the service.
func (h *hearer) commit() {
	h.with(func(m *matcher) []csm.Event {
		now, u := h.call.client.Position(), m.open()
		if u == nil {
			return nil
		}
		m.committed(h.call.base.Load() + now)
		h.commitTo(u.id, now, false)
		if h.judge.ends(m) && !h.judge.settles && !u.paused && !u.pressed { // the voice goes on, and nobody else hears it
			return some(m.begin(h.call.base.Load()+now, 0, false))
		}
		return nil
	})
}

// commitTo makes the service end an utterance once it has the audio up to a position of the client,
// or all that was sent. Found means that it commits only what its turn detection has found.
func (h *hearer) commitTo(utterance uint64, end int64, found bool) {
	const unsent = 2 * audio.FrameSamples // may wait for the rest of its packet
	h.call.client.CommitInput(utterance, max(min(end, h.call.client.Position()-unsent), 0), found)
}

// clear drops what was said since the last turn.
func (h *hearer) clear() {
	h.with(func(m *matcher) []csm.Event {
		m.drop()
		h.call.client.ClearInput()
		return nil
	})
}

// unanswered returns the position from which the service did not answer its input; see
// matcher.unanswered.
func (h *hearer) unanswered(unheard time.Duration, oldest int64) (from int64, owes, kept bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.call.base.Load() + h.call.client.Position()
	if h.match == nil { // nothing was reported
		return now - audio.Samples(unheard), false, true
	}
	return h.match.unanswered(now-audio.Samples(unheard), now, oldest)
}

// some returns a list with e, or an empty list if e is nil.
func some(e csm.Event) []csm.Event {
	if e == nil {
		return nil
	}
	return []csm.Event{e}
}

// SpeechStarted implements realtime.Handler.
func (h *hearer) SpeechStarted(item string, pos int64) {
	h.with(func(m *matcher) []csm.Event { return some(m.started(item, h.call.base.Load()+pos)) })
}

// SpeechStopped implements realtime.Handler.
func (h *hearer) SpeechStopped(item string, pos int64) {
	h.with(func(m *matcher) []csm.Event { return some(m.stopped(item, h.call.base.Load()+pos)) })
}

// PartialTranscript implements realtime.Handler.
func (h *hearer) PartialTranscript(item, text string) {
	h.with(func(m *matcher) []csm.Event { return some(m.partial(item, text)) })
}

// SettledTranscript implements realtime.SettledHandler.
func (h *hearer) SettledTranscript(item string, s realtime.Settled) {
	h.with(func(m *matcher) []csm.Event {
		if news := m.reached(item, h.call.base.Load()+s.End, s); !news || s.Text == "" {
			return nil
		}
		return some(m.settled(item, daemon.Transcript{Text: s.Text, Answer: (*daemon.Answer)(s.Answer)}))
	})
}

// FinalTranscript implements realtime.Handler. The words of a sound that is being compared are
// held for a moment.
func (h *hearer) FinalTranscript(item string, t realtime.Transcript) {
	h.with(func(m *matcher) []csm.Event {
		said := daemon.Transcript{Text: t.Text, Probs: t.Probs, Answer: (*daemon.Answer)(t.Answer)}
		if t.Joined != nil {
			said.Joined = &daemon.Joined{Text: t.Joined.Transcript, Before: m.before(t.Joined.Items)}
		}
		events := m.final(item, said)
		if len(m.held) > 0 {
			if h.held != nil {
				h.held.Stop()
			}
			h.held = time.AfterFunc(time.Duration(float64(longestHeld)/h.w.cfg.Speed), h.release)
		}
		return events
	})
}

// TranscriptFailed implements realtime.Handler.
func (h *hearer) TranscriptFailed(item, _ string) {
	h.with(func(m *matcher) []csm.Event { return some(m.failed(item)) })
}

// SpeakerRefused implements realtime.SpeakerHandler.
func (h *hearer) SpeakerRefused(item string) {
	h.with(func(m *matcher) []csm.Event { return m.refused(item) })
	h.w.port.Warn(protocol.CodeSpeakerRefused, "")
}

// InputCommitted implements realtime.Handler.
func (h *hearer) InputCommitted(utterance uint64, item string) {
	h.with(func(m *matcher) []csm.Event { m.assign(utterance, item); return nil })
}

// InputEmpty implements realtime.Handler.
func (h *hearer) InputEmpty(utterance uint64) {
	h.with(func(m *matcher) []csm.Event { return m.empty(utterance) })
}

// SpeechAudio implements realtime.Handler.
func (h *hearer) SpeechAudio(seg audio.SegmentID, pcm []int16) {
	if h.w.aside.of(seg) {
		h.w.aside.audio(seg, pcm)
		return
	}
	if c, ok := h.call.client.(*realtime.Client); ok {
		h.w.voice.player.Prebuffer(c.JitterTarget())
	}
	h.w.voice.spoken(h.call, unproven{seg: seg, pcm: pcm})
}

// SpeechEnded implements realtime.Handler.
func (h *hearer) SpeechEnded(seg audio.SegmentID) {
	if h.w.aside.of(seg) {
		h.w.aside.ended(seg)
		return
	}
	h.w.voice.spoken(h.call, unproven{seg: seg, ends: true})
}

// SpeechFailed implements realtime.Handler.
func (h *hearer) SpeechFailed(seg audio.SegmentID, code string) {
	if h.w.aside.of(seg) {
		h.w.cfg.Log.Warn().Str("reason", code).Msg("a text beside the conversation cannot be spoken; it is shown")
		return
	}
	h.w.voice.failed(seg, code)
}

// SpeechMismatch implements realtime.Handler.
func (h *hearer) SpeechMismatch(seg audio.SegmentID, right int) {
	h.w.voice.mismatched(h.call, seg, right)
}

// Lost implements realtime.Handler.
func (h *hearer) Lost(code string, err error) {
	h.w.cfg.Log.Warn().Uint32("epoch", h.call.epoch.Load()).Str("code", code).Err(err).Msg("the connection is lost")
	var unheard time.Duration
	var e *realtime.Error
	if errors.As(err, &e) {
		unheard = e.Unheard
	}
	h.release() // words that were heard are not awaited
	h.call.link.lost(h.call, code, unheard)
}
