package live

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/wake"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
)

// slack is how far apart the service and the local detector may place the same edge of
// speech: a service pads the beginning, and its positions do not include the path to
// it.
const slack = 500 * time.Millisecond

// matcher tracks the utterances of one connection and matches the service's items to
// them. The local detector opens utterances and reports the end of their voice; the
// service's judgement of the same speech and its words end them. A service may also hear
// speech that nobody said, such as the assistant's own voice, so an item without a
// voice is dropped. Without a local detector, the service's items are the utterances.
//
// Methods must not be called concurrently. They return the events for the core.
type matcher struct {
	port  daemon.Port
	epoch uint32
	local bool // a local detector is in use
	// wordsOnly: the service reports a voice only by its words, or late, so it may have
	// heard one that it has not reported yet.
	wordsOnly bool
	// commits: the service names the item of each commit, and has no others.
	commits bool
	// hold tells the service that an item is that of an utterance which the judge ends; may be nil.
	hold func(item string)
	// echo reports whether most of the audio captured between two positions may have
	// been the assistant's own voice.
	echo func(from, to int64) bool

	spoken []*utterance // in progress or awaiting words, oldest first
	items  map[string]*item
	// names are the latest items that had words, with their utterances.
	names []named
	// held are final words whose sound is being compared.
	held []held
	// late are final words without a voice.
	late []late
	// ignored counts items without a voice.
	ignored int64
	heardTo int64       // position up to which the service has answered
	phrase  *wake.Heard // that began the conversation, or nil
}

// utterance is speech that the core knows.
type utterance struct {
	id       uint64
	from, to int64 // to grows while it is open
	ended    int64 // captured position at which the core or the judge ended it, or 0
	pressed  bool  // begun manually
	paused   bool  // the local detector has reported a pause
	stopped  bool  // its end was reported to the core
	quiet    bool  // the local detector has reported its end
	dropped  bool  // its words are not wanted
	distant  bool  // the voice is far quieter than the user's own
	item     *item // the service's item; nil until it heard something

	// What the service recognised so far, and the captured position up to which it has; see
	// realtime.Settled.
	words          string
	reached        int64
	stop, complete *float64
	partial        string // is newer than words, but does not have all of it

	expected [][]string     // answers when it began; nil if none were expected
	attempt  int            // counts what makes a comparison invalid: its voice went on
	asked    bool           // its sound is being compared
	answer   *daemon.Answer // nil if not compared
}

// named is the service's name for an utterance.
type named struct {
	item  string
	of    uint64
	meant bool // the words mean something to the core
}

// mostNames is how many names are kept: utterances that are recognised as one are few.
const mostNames = 16

// held are final words of an utterance.
type held struct {
	of   *utterance
	said daemon.Transcript
}

// late are final words of an item without a voice.
type late struct {
	name string
	of   *item
	said daemon.Transcript
}

// item is the service's name for an utterance.
type item struct {
	from, to int64      // before 0 for a voice at the beginning, which a service pads
	onset    bool       // the service reported where it begins
	of       *utterance // nil while no voice is known for it
}

func newMatcher(port daemon.Port, epoch uint32, local bool, echo func(from, to int64) bool) *matcher {
	return &matcher{port: port, epoch: epoch, local: local, echo: echo, items: map[string]*item{}}
}

// open returns the current utterance, or nil.
func (m *matcher) open() *utterance {
	if n := len(m.spoken); n > 0 && !m.spoken[n-1].stopped {
		return m.spoken[n-1]
	}
	return nil
}

// begin opens an utterance. An item that the service has already begun is assigned to
// it.
func (m *matcher) begin(pos int64, late time.Duration, pressed bool) csm.Event {
	u := &utterance{id: m.port.NewUtterance(), from: pos, to: pos, pressed: pressed}
	m.spoken = append(m.spoken, u)
	for name, it := range m.items {
		if it.of == nil && m.meet(u, it) {
			m.match(u, name, it)
		}
	}
	return csm.SpeechStarted{Epoch: m.epoch, Utterance: u.id, Pos: pos, Late: late}
}

// voice handles a mark of the local detector: a voice begins or continues.
func (m *matcher) voice(pos int64, late time.Duration) csm.Event {
	u := m.open()
	switch {
	case u == nil:
		return m.begin(pos, late, false)
	case u.pressed:
		return nil
	default:
		u.paused, u.quiet, u.to = false, false, pos
		u.attempt, u.asked, u.answer = u.attempt+1, false, nil
		return csm.SpeechResumed{Epoch: m.epoch, Utterance: u.id, Pos: pos}
	}
}

// silence handles a pause in the voice.
func (m *matcher) silence(pos int64) csm.Event {
	u := m.open()
	if u == nil || u.pressed || u.paused {
		return nil
	}
	u.paused, u.to = true, pos
	return csm.SpeechPaused{Epoch: m.epoch, Utterance: u.id, Pos: pos}
}

// gone handles a voice that has been silent long enough to end an utterance. If the
// service has not heard it, the utterance ends without words; otherwise the service
// reports the end.
func (m *matcher) gone() []csm.Event {
	u := m.open()
	if u == nil || u.pressed {
		return nil
	}
	u.quiet = true
	if u.item != nil || m.wordsOnly {
		return nil
	}
	return m.unheard(u)
}

// unheard ends an utterance whose voice has ended and that the service has not heard.
func (m *matcher) unheard(u *utterance) []csm.Event {
	if u == nil || u.item != nil || !u.quiet || u.stopped {
		return nil
	}
	return append([]csm.Event{csm.SpeechStopped{Epoch: m.epoch, Utterance: u.id, Pos: u.to}}, m.nothing(u)...)
}

// undecided ends an utterance whose voice has ended long ago, and whose end the service has not
// reported: it has dropped it silently.
func (m *matcher) undecided(u *utterance) []csm.Event {
	if u == nil || !u.quiet || u.stopped {
		return nil
	}
	maps.DeleteFunc(m.items, func(_ string, it *item) bool { return it.of == u })
	u.item = nil
	return m.unheard(u)
}

// nothing ends an utterance for which no words arrive.
func (m *matcher) nothing(u *utterance) []csm.Event {
	m.answered(u)
	return []csm.Event{csm.Final{Epoch: m.epoch, Utterance: u.id, Class: csm.Empty}}
}

// committed records that the core ended the open utterance, at a captured position.
func (m *matcher) committed(now int64) {
	if u := m.open(); u != nil {
		u.stopped, u.ended = true, now
	}
}

// drop removes the open utterance, whose audio the service drops.
func (m *matcher) drop() {
	if u := m.open(); u != nil {
		m.answered(u)
		u.dropped = true
	}
}

// assign handles the service's item of a commit.
func (m *matcher) assign(id uint64, name string) {
	i := slices.IndexFunc(m.spoken, func(u *utterance) bool { return u.id == id })
	if i < 0 || !m.commits {
		return
	}
	u := m.spoken[i]
	it := m.items[name]
	if it == nil {
		it = &item{}
		m.items[name] = it
	}
	if it.of != nil && it.of != u {
		it.of.item = nil // a partial transcript was taken for that one's
	}
	it.of, u.item = u, it
}

// empty handles the service's reply to a commit that it has no audio of the utterance.
// One that the service ended by itself has an item, whose words will arrive.
func (m *matcher) empty(id uint64) []csm.Event {
	i := slices.IndexFunc(m.spoken, func(u *utterance) bool { return u.id == id && (u.item == nil || m.commits) })
	if i < 0 {
		return nil
	}
	return m.nothing(m.spoken[i])
}

// started handles the service's onset.
func (m *matcher) started(name string, pos int64) csm.Event {
	it := m.item(name, pos, true)
	if it.of != nil || m.local {
		return nil
	}
	e := m.begin(pos, 0, false)
	return e
}

// stopped handles the service's end of speech.
func (m *matcher) stopped(name string, pos int64) csm.Event {
	it := m.item(name, pos, true)
	it.to = pos
	u := it.of
	if u == nil || u.stopped {
		return nil
	}
	u.stopped, u.to = true, max(u.to, pos)
	return csm.SpeechStopped{Epoch: m.epoch, Utterance: u.id, Pos: pos}
}

// partial handles a partial transcript. Of a commit, it is the first that the service
// reports.
func (m *matcher) partial(name, text string) csm.Event {
	it := m.items[name]
	if it == nil && !m.wordsOnly {
		it = m.item(name, 0, false)
	}
	if u := m.open(); m.commits && it != nil && it.of == nil && u != nil && u.item == nil {
		it.of, u.item = u, it // it is transcribed before it is committed
	}
	if it != nil && it.of != nil {
		it.of.partial = text
		return m.port.HeardPartly(m.epoch, it.of.id, text)
	}
	return nil
}

// reached handles that the service has recognised an utterance up to a captured position. It reports
// whether the words are new.
func (m *matcher) reached(name string, pos int64, s realtime.Settled) (news bool) {
	it := m.items[name]
	if it == nil || it.of == nil {
		return false
	}
	u := it.of
	news = pos != u.reached
	u.words, u.partial, u.reached = strings.TrimSuffix(s.Text, "."), "", pos
	u.stop, u.complete = s.Stop, s.Complete
	return news
}

// settled handles the words at a pause of the voice.
func (m *matcher) settled(name string, said daemon.Transcript) csm.Event {
	if it := m.items[name]; it != nil && it.of != nil {
		return m.port.HeardSettled(m.epoch, it.of.id, said)
	}
	return nil
}

// final handles a final transcript. Words without a voice come from somebody whom the
// local detector missed, unless they may be the assistant's own, or were made of silence.
// Words spoken under push-to-talk are never taken for a cough.
func (m *matcher) final(name string, said daemon.Transcript) []csm.Event {
	it := m.item(name, 0, false)
	delete(m.items, name)
	u := it.of
	m.answers(it)
	if u != nil && u.dropped {
		return nil
	}
	if u == nil {
		if m.echo(it.from, it.to) || said.Text == "" || m.silent(it) {
			m.ignored++
			return nil
		}
		said.Unvoiced, said.Called = m.local, m.calls(it.from)
		m.late = append(m.late, late{name, it, said})
		return nil
	}
	m.call(name, u)
	said.Pressed = u.pressed
	said.Distant = u.distant
	said.Called = m.calls(u.from)
	if said.Answer == nil {
		said.Answer, said.Beside = u.answer, true
	}
	m.held = append(m.held, held{u, said})
	if u.stopped = true; u.asked && said.Answer == nil {
		return nil
	}
	return m.release()
}

// answers records up to where the service has answered.
func (m *matcher) answers(it *item) {
	m.heardTo = max(m.heardTo, it.to)
	if it.of != nil {
		m.heardTo = max(m.heardTo, it.of.ended)
	}
}

// before returns the utterances of items.
func (m *matcher) before(items []string) (utterances []uint64) {
	for _, item := range items {
		i := slices.IndexFunc(m.names, func(n named) bool { return n.item == item })
		if i < 0 {
			return nil
		}
		utterances = append(utterances, m.names[i].of)
	}
	return utterances
}

// calls reports whether an utterance from a position on follows the wake phrase at once.
func (m *matcher) calls(from int64) bool {
	return m.phrase != nil && from < m.phrase.To+audio.FrameSamples
}

// overdue returns the words without a voice, once nobody is speaking: the core takes one voice at a
// time.
func (m *matcher) overdue() (events []csm.Event) {
	for ; len(m.late) > 0 && m.open() == nil; m.late = m.late[1:] {
		it := m.late[0].of
		started := m.begin(max(it.from, 0), 0, false)
		u := m.spoken[len(m.spoken)-1]
		m.answered(u)
		m.call(m.late[0].name, u)
		events = append(events, started, csm.SpeechStopped{Epoch: m.epoch, Utterance: u.id, Pos: max(it.to, it.from)},
			m.hear(u, m.late[0].said))
	}
	return events
}

// expect sets the answers that are expected, for an utterance that has just begun at pos.
func (m *matcher) expect(pos int64, expected [][]string) {
	if u := m.open(); u != nil && u.from == pos {
		u.expected = expected
	}
}

// toCompare returns the open utterance if its sound is now compared with the expected answers,
// and the attempt.
func (m *matcher) toCompare() (*utterance, int) {
	u := m.open()
	if u == nil || !u.paused || u.pressed || u.expected == nil || u.to-u.from > audio.Samples(longestCompared) {
		return nil, 0
	}
	u.asked = true
	return u, u.attempt
}

// compared handles the answer of a sound; nil if it was not compared.
func (m *matcher) compared(u *utterance, attempt int, answer *daemon.Answer) []csm.Event {
	if u.attempt != attempt || !slices.Contains(m.spoken, u) {
		return nil
	}
	u.asked, u.answer = false, answer
	if i := slices.IndexFunc(m.held, func(h held) bool { return h.of == u }); i >= 0 {
		m.held[i].said.Answer = answer
		return m.release()
	}
	if answer == nil {
		return nil
	}
	return some(m.port.HeardSettled(m.epoch, u.id, daemon.Transcript{Answer: answer}))
}

// release returns the words that are held, in order.
func (m *matcher) release() (events []csm.Event) {
	for _, h := range m.held {
		m.answered(h.of)
		events = append(events, m.hear(h.of, h.said))
	}
	m.held = nil
	return events
}

// hear reports the words of an utterance.
func (m *matcher) hear(u *utterance, said daemon.Transcript) csm.Event {
	f := m.port.Heard(m.epoch, u.id, said)
	for i := range m.names {
		if m.names[i].of == u.id {
			m.names[i].meant = f.Class != csm.Empty && f.Class != csm.Backchannel
		}
	}
	return f
}

// call remembers the item of an utterance that has its words.
func (m *matcher) call(name string, u *utterance) {
	if m.names = append(m.names, named{item: name, of: u.id}); len(m.names) > mostNames {
		m.names = m.names[1:]
	}
}

// refused handles that the service does not accept who spoke an item that had its words: those that
// the core does not have yet are dropped, and what the others began is stopped.
func (m *matcher) refused(name string) []csm.Event {
	m.late = slices.DeleteFunc(m.late, func(l late) bool { return l.name == name })
	i := slices.IndexFunc(m.names, func(n named) bool { return n.item == name })
	if i < 0 {
		return nil
	}
	if at := slices.IndexFunc(m.held, func(h held) bool { return h.of.id == m.names[i].of }); at >= 0 {
		u := m.held[at].of
		m.held = slices.Delete(m.held, at, at+1)
		return m.nothing(u)
	}
	if !m.names[i].meant {
		return nil
	}
	return []csm.Event{csm.UserInterrupt{}}
}

// failed handles speech that the service could not transcribe.
func (m *matcher) failed(name string) csm.Event {
	it := m.item(name, 0, false)
	delete(m.items, name)
	m.answers(it)
	if it.of == nil {
		m.ignored++
		return nil
	}
	m.answered(it.of)
	return csm.RecognitionLost{Epoch: m.epoch, Utterance: it.of.id, Code: csm.CodeRecognitionFailed}
}

// unanswered returns the position from which a lost call left audio unanswered, so that
// it must be sent again. silent is the position from which the path to the service may
// have been cut, now is the latest position, and oldest the first that is kept. owes
// says that words are awaited, kept that all of the speech is available.
func (m *matcher) unanswered(silent, now, oldest int64) (from int64, owes, kept bool) {
	from, kept = max(silent, m.heardTo), true
	for _, u := range m.spoken {
		owes, kept = true, kept && !u.pressed && u.from >= oldest
		from = min(from, u.from)
	}
	if !kept {
		from = now
	}
	return from, owes, kept
}

// item returns the service's item with that name. A new item is assigned to the oldest
// utterance without one that it can match; pos is where it begins if onset says that this is
// known.
func (m *matcher) item(name string, pos int64, onset bool) *item {
	it := m.items[name]
	if it == nil {
		it = &item{from: pos, to: pos, onset: onset}
		m.items[name] = it
	}
	if it.of != nil {
		return it
	}
	for _, u := range m.spoken {
		if u.item == nil && m.meet(u, it) {
			m.match(u, name, it)
			break
		}
	}
	return it
}

// match assigns an item to an utterance.
func (m *matcher) match(u *utterance, name string, it *item) {
	it.of, u.item = u, it
	if m.hold != nil && !u.pressed && !u.stopped {
		m.hold(name)
	}
}

// silent reports whether an item is the silence after an utterance: the core's commit
// crossed the service's own end of it. Services invent words for silence.
func (m *matcher) silent(it *item) bool { return !it.onset && !m.wordsOnly }

// meet reports whether an item can belong to an utterance: they overlap. An item without
// an onset is the result of a commit. A service that reports only words does not give
// their exact position.
func (m *matcher) meet(u *utterance, it *item) bool {
	if u.pressed || m.wordsOnly {
		return true
	}
	if !it.onset {
		return u.stopped && !m.commits
	}
	near := audio.Samples(slack)
	ends := u.quiet || u.stopped
	return (!ends || it.from <= u.to+near) && (it.to <= it.from || it.to >= u.from-near)
}

// answered removes a finished utterance.
func (m *matcher) answered(u *utterance) {
	u.stopped = true
	m.spoken = slices.DeleteFunc(m.spoken, func(o *utterance) bool { return o == u })
}
