package localrealtime

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
)

// Limits of the recogniser's queue and of the rate of partial results.
const (
	maxQueuedSamples = 600 * listenRate // 19 MB; a recogniser that is behind on a busy machine catches up later
	fullSamples      = 20 * listenRate  // beyond this backlog a client that supports backpressure has to wait
	partialEvery     = 4                // windows: 128 ms
	lifeSign         = time.Second      // interval at which the last partial result is repeated while the engine works
)

// errOverload fails an utterance that the recogniser cannot keep up with.
var errOverload = errors.New("the recogniser is more than ten minutes behind; the machine is too slow for it")

// recognition is the recogniser of one call behind a queue. It has its own goroutine,
// because a chunk can take more than 100 ms. The queue's methods never block; results
// are posted to the call.
type recognition struct {
	engines *pool[hearing.Recognizer]
	// What is likely to be said. Either may be nil.
	words    func() []string
	expected func() [][]string
	// report receives the results of an utterance: any number of partials, then one
	// final or one failure, unless it was aborted.
	report func(transcript)
	// joins: utterances may be recognised as one, so the engine keeps the last one.
	joins bool

	mu      sync.Mutex
	queue   []recognitionJob
	samples int // in queue
	wake    chan struct{}
	room    chan struct{} // has a value after the queue got shorter
}

type recognitionJob struct {
	kind recognitionKind
	item string
	pcm  []int16
	// pause, of recognitionStart, is the silence since the utterance before, in samples; negative
	// if this one does not continue it.
	pause int64
}

type recognitionKind uint8

const (
	recognitionStart recognitionKind = iota
	recognitionWrite
	recognitionOverload
	recognitionFinish
	recognitionSettled
	recognitionResumed
	recognitionRest
)

// transcript is a result for an utterance.
type transcript struct {
	item  string
	text  string
	stop  *float64 // probability that the sentence of a settled text is finished; may be nil
	final bool
	heard int64 // samples of the utterance that a partial result covers
	// settled: the voice has paused for so long that only more voice changes the text.
	settled bool
	// probs is the probability of each word of a final; empty if not reported.
	probs  []float64
	answer *hearing.Answer // of a final, or one that has settled; may be nil
	joined *joined         // of a final; nil if it continues no utterance
	err    error           // the utterance has failed
}

// joined is the text of consecutive utterances that were recognised as one.
type joined struct {
	Transcript string   `json:"transcript"`
	Items      []string `json:"items"` // before the one that ends it
}

func newRecognition(engines *pool[hearing.Recognizer], words func() []string, expected func() [][]string, report func(transcript)) *recognition {
	return &recognition{engines: engines, words: words, expected: expected, report: report, wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// start begins an utterance and drops an unfinished one. It continues the one before after a pause
// in samples, unless that is negative.
func (r *recognition) start(item string, pcm []int16, pause int64) {
	r.push(recognitionJob{kind: recognitionStart, item: item, pause: pause})
	r.write(item, pcm)
}

// write continues the utterance. pcm must not be modified afterwards.
func (r *recognition) write(item string, pcm []int16) {
	r.push(recognitionJob{kind: recognitionWrite, item: item, pcm: pcm})
}

// finish ends the utterance; the final result is reported.
func (r *recognition) finish(item string) {
	r.push(recognitionJob{kind: recognitionFinish, item: item})
}

// settle requests the text so far, because the voice has paused.
func (r *recognition) settle(item string) {
	r.push(recognitionJob{kind: recognitionSettled, item: item})
}

// resume says that the voice goes on after a pause for which settle was called.
func (r *recognition) resume(item string) {
	r.push(recognitionJob{kind: recognitionResumed, item: item})
}

// rest returns the engine to the pool until the next utterance starts. No utterance is open.
func (r *recognition) rest() {
	r.push(recognitionJob{kind: recognitionRest})
}

func (r *recognition) push(j recognitionJob) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if j.kind == recognitionResumed && r.unsettle(j.item) {
		return
	}
	if j.kind == recognitionWrite && r.samples+len(j.pcm) > maxQueuedSamples {
		j.kind, j.pcm = recognitionOverload, nil
	}
	r.samples += len(j.pcm)
	r.queue = append(r.queue, j)
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// unsettle removes the pause of an utterance that goes on, if its text was not requested yet: a
// recogniser that is behind would compute in each pause what nobody awaits any more. The caller
// holds mu.
func (r *recognition) unsettle(item string) bool {
	for i, j := range slices.Backward(r.queue) {
		switch {
		case j.item != item || j.kind == recognitionStart || j.kind == recognitionResumed:
			return false
		case j.kind == recognitionSettled:
			r.queue = slices.Delete(r.queue, i, i+1)
			return true
		}
	}
	return false
}

func (r *recognition) pop(ctx context.Context) (recognitionJob, bool) {
	for {
		r.mu.Lock()
		if len(r.queue) > 0 {
			j := r.queue[0]
			r.queue = r.queue[1:]
			r.samples -= len(j.pcm)
			r.mu.Unlock()
			select {
			case r.room <- struct{}{}:
			default:
			}
			return j, ctx.Err() == nil
		}
		r.queue = nil
		r.mu.Unlock()
		select {
		case <-r.wake:
		case <-ctx.Done():
			return recognitionJob{}, false
		}
	}
}

// full reports whether the backlog is so large that a client should stop sending.
func (r *recognition) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.samples >= fullSamples
}

// awaitRoom waits until the queue is not full, or returns false when ctx is done. Only
// one goroutine may wait at a time.
func (r *recognition) awaitRoom(ctx context.Context) bool {
	for r.full() {
		select {
		case <-r.room:
		case <-ctx.Done():
			return false
		}
	}
	return ctx.Err() == nil
}

// run serves the queue until ctx is done, and then returns the engine to the pool.
func (r *recognition) run(ctx context.Context) {
	u := utteranceInEngine{engines: r.engines, words: r.words, expected: r.expected}
	defer u.release()
	partials := newRepeater(r.report)
	writes, heard := 0, int64(0)
	var pause settledWords
	var before []string // the utterances that the current one is joined to
	for {
		j, ok := r.pop(ctx)
		if !ok {
			return
		}
		switch j.kind {
		case recognitionStart:
			writes, heard, pause = 0, 0, settledWords{}
			partials.begin(j.item)
			if !u.join(j.pause) {
				before = nil
			}
			partials.during(u.start)
		case recognitionWrite:
			partials.during(func() { u.write(j.pcm) })
			heard += int64(len(j.pcm))
			if writes++; writes%partialEvery == 0 {
				t := transcript{item: j.item, heard: heard}
				t.text, t.stop = pause.words(u.partial())
				partials.report(t)
			}
		case recognitionSettled:
			var so hearing.Result
			partials.during(func() { so = u.settle() })
			if heard > 0 && u.settles() { // the judge of the pause gets the words as they will be
				pause = settledWords{text: strings.TrimSuffix(so.Text, "."), draft: u.partial(), stop: so.Stop}
				partials.report(transcript{item: j.item, text: pause.text, stop: pause.stop, heard: heard})
			}
			r.report(transcript{item: j.item, text: so.Text, stop: so.Stop, settled: true, heard: heard, answer: so.Answer})
		case recognitionResumed:
			pause = settledWords{}
			u.resume()
		case recognitionRest:
			u.release()
		case recognitionOverload:
			u.fail(errOverload)
		case recognitionFinish:
			var result hearing.Result
			var err error
			partials.during(func() {
				result, err = u.finish(func(text string) { partials.report(transcript{item: j.item, text: text}) })
			})
			final := transcript{item: j.item, text: result.Text, final: true, probs: result.Probs, answer: result.Answer, err: err}
			if result.Joined == "" {
				before = nil
			} else {
				final.joined = &joined{result.Joined, slices.Clone(before)}
			}
			before = append(before, j.item)
			if !r.joins {
				u.forget()
			}
			r.report(final)
		}
	}
}

// settledWords are the words that a pause has settled, and the partial result at that time, which
// may be older.
type settledWords struct {
	text, draft string
	stop        *float64
}

// words returns the settled words, or a partial result that is newer.
func (s settledWords) words(partial string) (text string, stop *float64) {
	if s.text != "" && partial == s.draft {
		return s.text, s.stop
	}
	return partial, nil
}

// repeater reports partial results. While the engine works, loading included, it repeats
// the last one a second after the previous report: a client that awaits the words sees
// that they are coming, however slow the engine or the machine is.
type repeater struct {
	to func(transcript)

	mu    sync.Mutex
	last  transcript
	at    time.Time // of the last report, or of the begin of the utterance
	works bool
	again *time.Timer
}

func newRepeater(to func(transcript)) *repeater {
	p := &repeater{to: to}
	p.again = time.AfterFunc(time.Hour, p.repeat)
	p.again.Stop()
	return p
}

// begin begins an utterance.
func (p *repeater) begin(item string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.at = transcript{item: item}, time.Now()
}

func (p *repeater) report(t transcript) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.at = t, time.Now()
	p.to(t)
}

// repeat reports the last result if that is due, and schedules the next repetition.
func (p *repeater) repeat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.works {
		return
	}
	if time.Since(p.at) >= lifeSign {
		p.to(p.last)
		p.at = time.Now()
	}
	p.schedule()
}

// schedule runs repeat when the next repetition is due. The due time does not depend on
// when work began, so that a repetition that coincides with the end of work is made up
// for by the next work. The caller holds mu.
func (p *repeater) schedule() { p.again.Reset(time.Until(p.at.Add(lifeSign))) }

// during repeats the last result while work runs.
func (p *repeater) during(work func()) {
	set := func(works bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.works = works; works {
			p.schedule()
		} else {
			p.again.Stop()
		}
	}
	set(true)
	defer set(false)
	work()
}

// utteranceInEngine is the engine and whether its current utterance has failed. A
// failed engine is closed, and the next utterance gets a new one.
type utteranceInEngine struct {
	engines  *pool[hearing.Recognizer]
	words    func() []string
	expected func() [][]string
	engine   hearing.Recognizer
	err      error
}

func (u *utteranceInEngine) start() {
	u.err = nil
	if u.engine == nil {
		if u.engine, u.err = u.engines.take(); u.err != nil {
			u.engine = nil
			return
		}
	}
	if w, ok := u.engine.(hearing.WordTaker); ok && u.words != nil {
		w.SetWords(u.words())
	}
	if a, ok := u.engine.(hearing.AnswerTaker); ok && u.expected != nil {
		a.SetExpected(u.expected())
	}
	if err := u.engine.Start(); err != nil {
		u.fail(err)
	}
}

// join says that the next utterance continues the last one after a pause, unless that is negative.
// It reports whether both are recognised as one.
func (u *utteranceInEngine) join(pause int64) bool {
	j, ok := u.engine.(hearing.Joiner)
	return ok && pause >= 0 && u.err == nil && j.Join(int(pause))
}

// forget drops the audio of the last utterance.
func (u *utteranceInEngine) forget() {
	if j, ok := u.engine.(hearing.Joiner); ok {
		j.Forget()
	}
}

func (u *utteranceInEngine) write(pcm []int16) {
	if u.err == nil && len(pcm) > 0 {
		if err := u.engine.Write(pcm); err != nil {
			u.fail(err)
		}
	}
}

func (u *utteranceInEngine) partial() string {
	if u.err != nil {
		return ""
	}
	return u.engine.Partial()
}

// settles reports whether the engine computes its final text in a pause.
func (u *utteranceInEngine) settles() bool {
	_, ok := u.engine.(hearing.Settler)
	return ok && u.err == nil
}

// settle returns the text so far, which is final unless the voice goes on.
func (u *utteranceInEngine) settle() hearing.Result {
	if !u.settles() {
		return hearing.Result{Text: u.partial()}
	}
	result, err := u.engine.(hearing.Settler).Settle()
	if err != nil {
		u.fail(err)
	}
	return result
}

func (u *utteranceInEngine) resume() {
	if u.settles() {
		if err := u.engine.(hearing.Settler).Resume(); err != nil {
			u.fail(err)
		}
	}
}

func (u *utteranceInEngine) finish(partial func(string)) (result hearing.Result, err error) {
	if u.err != nil {
		return hearing.Result{}, u.err
	}
	if s, ok := u.engine.(hearing.Streamer); ok {
		result, err = s.FinishStreaming(partial)
	} else {
		result, err = u.engine.Finish()
	}
	if err != nil {
		u.fail(err)
	}
	return result, err
}

func (u *utteranceInEngine) fail(err error) {
	if u.err != nil {
		return
	}
	u.err = err
	if u.engine != nil && !errors.Is(err, errOverload) {
		_ = u.engines.discard(u.engine)
		u.engine = nil
	}
}

func (u *utteranceInEngine) release() {
	if u.engine != nil {
		u.forget()
		_ = u.engines.put(u.engine)
		u.engine = nil
	}
}

// stableAfter is the number of consecutive partial results in which a word must be
// unchanged to count as heard: half a second at 128 ms each. PocketSphinx revises
// younger words more often than not.
const stableAfter = 4

// stablePrefix turns partial results, which the recogniser may revise, into append-only
// text.
type stablePrefix struct {
	sent string
	last []string
	ages []int // of each word of last, counted in partial results
}

// grow processes the next partial result and returns the newly stable text.
func (s *stablePrefix) grow(partial string) (delta string) {
	words := strings.Fields(partial)
	ages := make([]int, len(words))
	stable := 0
	for i, same := 0, true; i < len(words); i++ {
		ages[i] = 1
		if same = same && i < len(s.last) && words[i] == s.last[i]; same {
			ages[i] += s.ages[i]
		}
		if stable == i && ages[i] >= stableAfter {
			stable++
		}
	}
	s.last, s.ages = words, ages
	return s.extend(strings.Join(words[:stable], " "))
}

// extend returns what text adds to the text already sent, or nothing if it contradicts
// that text.
func (s *stablePrefix) extend(text string) (delta string) {
	rest, ok := strings.CutPrefix(text, s.sent)
	if !ok || rest == "" || (s.sent != "" && rest[0] != ' ') {
		return ""
	}
	s.sent = text
	return rest
}
