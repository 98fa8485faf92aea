package live

import (
	"errors"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
)

// hearer turns reports from the service and the local detector into events.
type hearer struct {
	w    *World
	call *call
	ear  *ear // nil without devices
	// wordsOnly: see matcher.wordsOnly.
	wordsOnly bool
	// ends: the service ends an utterance after the same silence as the core.
	ends bool
	// comparer is nil if short sounds are not compared.
	comparer *comparer
	// compares is the captured position at which the sound before a pause is compared, or 0.
	// Only the source's goroutine uses it.
	compares int64

	mu    sync.Mutex  // guards the fields below
	match *matcher    // nil before the first report
	late  *time.Timer // see awaitWords and commit; nil before the first use
	held  *time.Timer // see FinalTranscript; nil before the first use
	due   uint64      // the utterance whose commit is delayed, or 0
}

func newHearer(w *World, c *call) *hearer {
	set := w.port.Settings()
	row, _ := provider.Of(string(set.SessionWith()))
	live := row.Session != nil && row.Session.Live
	return &hearer{
		w: w, call: c, ear: w.devices.ear.Load(), wordsOnly: live,
		ends: !live && turnDetection(set.TurnDetection).Type == realtime.ServerVAD, comparer: w.comparer,
	}
}

// matcher is created for the first report rather than with the connection: whether
// there is a local detector is known only after it has loaded, and dialling does not
// wait for that. The caller holds mu.
func (h *hearer) matcher() *matcher {
	if h.match == nil {
		echo := func(from, to int64) bool { return h.ear != nil && h.ear.echo(from, to) }
		h.match = newMatcher(h.w.port, h.call.epoch.Load(), h.ear.finds(), echo)
		h.match.wordsOnly = h.wordsOnly
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
			if match.open() == nil {
				h.commitDue(match) // or the service adds this voice to that utterance
			}
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
	if h.compares == 0 || pos < h.compares {
		return
	}
	h.compares = 0
	if short := h.short(b); short != nil {
		h.comparer.compare(short)
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

// awaitWords ends an utterance for which no words arrive. The caller holds mu.
func (h *hearer) awaitWords(m *matcher) {
	if !h.wordsOnly {
		return
	}
	u := m.open()
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

// ownEnd is how long a service that hears an utterance may take to end it by itself once
// the core has.
const ownEnd = 1500 * time.Millisecond

// commit ends the current utterance at the service. Over WebRTC a commit overtakes audio
// that is late, for example after an outage, and would cut the utterance there. So a
// service that will end it by itself gets the time to do so.
func (h *hearer) commit() {
	h.with(func(m *matcher) []csm.Event {
		switch utterance, paused := m.committed(); {
		case utterance == 0:
		case paused && h.ends:
			h.due = utterance
			wait := time.Duration(float64(ownEnd) / h.w.cfg.Speed)
			h.after(wait, func(m *matcher) []csm.Event { h.commitDue(m); return nil })
		default:
			h.call.client.CommitInput(utterance)
		}
		return nil
	})
}

// commitDue sends the commit that is delayed, unless the service has ended the utterance.
// The caller holds mu.
func (h *hearer) commitDue(m *matcher) {
	if h.due != 0 && !m.ended(h.due) {
		h.call.client.CommitInput(h.due)
	}
	h.due = 0
}

// clear drops what was said since the last turn.
func (h *hearer) clear() {
	h.with(func(m *matcher) []csm.Event {
		m.committed()
		h.due = 0
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
func (h *hearer) SettledTranscript(item string, t realtime.Transcript) {
	h.with(func(m *matcher) []csm.Event {
		return some(m.settled(item, daemon.Transcript{Text: t.Text, Answer: (*daemon.Answer)(t.Answer)}))
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
	h.w.voice.audio(seg, pcm)
}

// SpeechEnded implements realtime.Handler.
func (h *hearer) SpeechEnded(seg audio.SegmentID) {
	if h.w.aside.of(seg) {
		h.w.aside.ended(seg)
		return
	}
	h.w.voice.ended(seg)
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
func (h *hearer) SpeechMismatch(seg audio.SegmentID) { h.w.voice.mismatched(h.call, seg) }

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
