package live

import (
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
)

// slack is how far apart a service and the local detector may put the same edge
// of speech: a service pads the beginning, and its positions lack the way there.
const slack = 500 * time.Millisecond

// matcher knows the utterances of one connection: which of the service's items is
// which. The local detector opens utterances, and says when their voice is gone;
// what ends them is the service's judgement of the same speech, and its words. A
// service also hears what nobody said, such as the assistant's own voice: an item
// without a voice is dropped then. Without a local detector the service's items
// are the utterances.
//
// Its methods are called one at a time, and return what the core is to be told.
type matcher struct {
	port  daemon.Port
	epoch uint32
	local bool // there is a local detector
	// wordsOnly: the service tells of a voice by its words, so that it may have heard one
	// of which it has not told yet.
	wordsOnly bool
	// echo says whether most of what was captured between two positions may have
	// been the assistant's own voice.
	echo func(from, to int64) bool

	spoken []*utterance // whose words are awaited or that are being spoken, oldest first
	items  map[string]*item
	// ignored counts items that nobody said.
	ignored int64
	heardTo int64 // up to where the service has answered
}

// utterance is speech that the core knows of.
type utterance struct {
	id       uint64
	from, to int64 // to grows as long as it is open
	pressed  bool  // begun by the user's hand
	stopped  bool  // the core was told of its end
	quiet    bool  // the local detector has heard its end
	item     *item // the service's; nil where it heard nothing yet
}

// item is what a service calls an utterance.
type item struct {
	from, to int64
	of       *utterance // nil while no voice is known to it
}

func newMatcher(port daemon.Port, epoch uint32, local bool, echo func(from, to int64) bool) *matcher {
	return &matcher{port: port, epoch: epoch, local: local, echo: echo, items: map[string]*item{}}
}

// open is the utterance that is being spoken, nil when there is none.
func (m *matcher) open() *utterance {
	if n := len(m.spoken); n > 0 && !m.spoken[n-1].stopped {
		return m.spoken[n-1]
	}
	return nil
}

// begin opens an utterance. An item that the service began meanwhile is its.
func (m *matcher) begin(pos int64, late time.Duration, pressed bool) csm.Event {
	u := &utterance{id: m.port.NewUtterance(), from: pos, to: pos, pressed: pressed}
	m.spoken = append(m.spoken, u)
	for _, it := range m.items {
		if it.of == nil && m.meet(u, it) {
			it.of, u.item = u, it
		}
	}
	return csm.SpeechStarted{Epoch: m.epoch, Utterance: u.id, Pos: pos, Late: late}
}

// voice is the local detector's: a voice that begins, or continues.
func (m *matcher) voice(pos int64, late time.Duration) csm.Event {
	u := m.open()
	switch {
	case u == nil:
		return m.begin(pos, late, false)
	case u.pressed:
		return nil
	default:
		u.quiet, u.to = false, pos
		return csm.SpeechResumed{Epoch: m.epoch, Utterance: u.id, Pos: pos}
	}
}

// silence is a voice that is gone for the time being.
func (m *matcher) silence(pos int64) csm.Event {
	u := m.open()
	if u == nil || u.pressed {
		return nil
	}
	u.to = pos
	return csm.SpeechPaused{Epoch: m.epoch, Utterance: u.id, Pos: pos}
}

// gone is a voice that has been silent for the time that ends an utterance. One
// that the service has not heard is over, without words; of another one the
// service tells the end.
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

// unheard ends an utterance whose voice is gone and that the service has not heard.
func (m *matcher) unheard(u *utterance) []csm.Event {
	if u == nil || u.item != nil || !u.quiet || u.stopped {
		return nil
	}
	return append([]csm.Event{csm.SpeechStopped{Epoch: m.epoch, Utterance: u.id, Pos: u.to}}, m.nothing(u)...)
}

// nothing ends an utterance of which no words come.
func (m *matcher) nothing(u *utterance) []csm.Event {
	m.answered(u)
	return []csm.Event{csm.Final{Epoch: m.epoch, Utterance: u.id, Class: csm.Empty}}
}

// committed says that the core has ended the open utterance by itself. It returns
// the utterance, 0 where none is open.
func (m *matcher) committed() uint64 {
	u := m.open()
	if u == nil {
		return 0
	}
	u.stopped = true
	return u.id
}

// empty is the service's answer to a commit: it has no audio of that utterance. One
// that it ended by itself has an item, whose words come.
func (m *matcher) empty(id uint64) []csm.Event {
	i := slices.IndexFunc(m.spoken, func(u *utterance) bool { return u.id == id && u.item == nil })
	if i < 0 {
		return nil
	}
	return m.nothing(m.spoken[i])
}

// started is the service's onset.
func (m *matcher) started(name string, pos int64) csm.Event {
	it := m.item(name, pos)
	if it.of != nil || m.local {
		return nil
	}
	e := m.begin(pos, 0, false)
	return e
}

// stopped is the service's end.
func (m *matcher) stopped(name string, pos int64) csm.Event {
	it := m.item(name, pos)
	it.to = pos
	u := it.of
	if u == nil || u.stopped {
		return nil
	}
	u.stopped, u.to = true, max(u.to, pos)
	return csm.SpeechStopped{Epoch: m.epoch, Utterance: u.id, Pos: pos}
}

// partial is what the service understood so far.
func (m *matcher) partial(name, text string) csm.Event {
	if it := m.items[name]; it != nil && it.of != nil {
		return m.port.HeardPartly(m.epoch, it.of.id, text)
	}
	return nil
}

// final is what the service understood. Words without a voice are somebody's whom
// the local detector has not noticed, unless they may be the assistant's own. Who
// presses a key to speak does not cough into it.
func (m *matcher) final(name, text string, confidence float64) []csm.Event {
	it := m.item(name, -1)
	delete(m.items, name)
	u := it.of
	m.heardTo = max(m.heardTo, it.to)
	if u == nil {
		if m.echo(it.from, it.to) || text == "" {
			m.ignored++
			return nil
		}
		started := m.begin(max(it.from, 0), 0, false)
		u = m.spoken[len(m.spoken)-1]
		m.answered(u)
		return []csm.Event{started, csm.SpeechStopped{Epoch: m.epoch, Utterance: u.id, Pos: max(it.to, it.from)}, m.port.Heard(m.epoch, u.id, text, confidence)}
	}
	m.answered(u)
	if u.pressed {
		confidence = 1
	}
	return []csm.Event{m.port.Heard(m.epoch, u.id, text, confidence)}
}

// failed is speech that the service did not understand.
func (m *matcher) failed(name string) csm.Event {
	it := m.item(name, -1)
	delete(m.items, name)
	m.heardTo = max(m.heardTo, it.to)
	if it.of == nil {
		m.ignored++
		return nil
	}
	m.answered(it.of)
	return csm.RecognitionLost{Epoch: m.epoch, Utterance: it.of.id, Code: csm.CodeRecognitionFailed}
}

// unanswered is what a call that is lost did not answer: from there on it is to be
// sent again. silent is the position at which the path to the service may have been
// cut, now the latest one, and oldest the first one that is kept. owes says that words
// are awaited, and kept whether all of what was said is there.
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

// item is the service's item of that name. One that is met first belongs to the
// oldest utterance that has none and that it can be; pos is where it begins, -1
// where that is not known.
func (m *matcher) item(name string, pos int64) *item {
	it := m.items[name]
	if it == nil {
		it = &item{from: pos, to: pos}
		m.items[name] = it
	}
	if it.of != nil {
		return it
	}
	for _, u := range m.spoken {
		if u.item == nil && m.meet(u, it) {
			it.of, u.item = u, it
			break
		}
	}
	return it
}

// meet says whether an item can be of an utterance: they overlap. By its words alone a
// service does not say so exactly where they were.
func (m *matcher) meet(u *utterance, it *item) bool {
	if u.pressed || it.from < 0 || m.wordsOnly {
		return true
	}
	near := audio.Samples(slack)
	ends := u.quiet || u.stopped
	return (!ends || it.from <= u.to+near) && (it.to <= it.from || it.to >= u.from-near)
}

// answered forgets an utterance that is over.
func (m *matcher) answered(u *utterance) {
	u.stopped = true
	m.spoken = slices.DeleteFunc(m.spoken, func(o *utterance) bool { return o == u })
}
