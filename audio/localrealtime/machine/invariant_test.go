package machine

import (
	"fmt"
	"slices"
	"testing"
)

// promise is an invariant of every step. Check reports whether the step tests it, and
// what is wrong.
type promise struct {
	name  string
	check func(edge) (atStake bool, wrong string)
}

var promises = []promise{
	{"check", func(x edge) (bool, string) {
		if err := Check(x.to); err != nil {
			return true, err.Error()
		}
		return true, ""
	}},
	{"1", oneAnswer}, {"2", oneTerminal}, {"3", contentBeforeTheEnd}, {"4", speechIsATurn}, {"5", settingsStay},
	{"6", audioOnce}, {"7", nothingDropped}, {"8", childrenEnd}, {"9", compactionRuns}, {"10", closedOnce},
	{"rest", comesToRest},
}

func (x edge) did(d Do, id uint32) bool {
	return slices.ContainsFunc(x.acts, func(a Action) bool { return a.Do == d && (id == 0 || a.ID == id) })
}

func (x edge) times(d Do) (n int) {
	for _, a := range x.acts {
		if a.Do == d {
			n++
		}
	}
	return n
}

// ends reports whether the step ends the call.
func (x edge) ends() bool { return !x.from.Link.Over() && x.to.Link.Over() }

// owed reports whether an answer is being generated or will be.
func owed(a Answer) bool { return a.At == waiting || a.At == making || a.At == talking }

func find(s State, id uint32) (Answer, bool) {
	i := slices.IndexFunc(s.Answers, func(a Answer) bool { return a.ID == id })
	if i < 0 {
		return Answer{}, false
	}
	return s.Answers[i], true
}

// 1: the speaker has one answer at a time, and the client cannot start a second one in
// the conversation.
func oneAnswer(x edge) (bool, string) {
	made := 0
	for _, a := range x.to.Answers {
		if a.made() {
			made++
		}
	}
	if made > 1 {
		return true, fmt.Sprintf("%d answers are made at one time", made)
	}
	another := slices.ContainsFunc(x.from.Answers, func(a Answer) bool { return owed(a) && !a.Apart })
	if x.e.Kind == Create && !x.e.Apart && x.from.Settings.Model && another && x.outcome == Taken {
		return true, "a second answer in the conversation is taken"
	}
	return x.did(Generate, 0) || x.outcome == Busy, ""
}

// 2: each response.created is followed by one response.done.
func oneTerminal(x edge) (bool, string) {
	created, done := map[uint32]bool{}, map[uint32]bool{}
	for _, a := range x.from.Answers {
		created[a.ID], done[a.ID] = true, !owed(a)
	}
	for _, a := range x.acts {
		switch a.Do {
		case TellCreated:
			if created[a.ID] {
				return true, fmt.Sprintf("answer %d is announced twice", a.ID)
			}
			created[a.ID] = true
		case Finish:
			if !created[a.ID] || done[a.ID] {
				return true, fmt.Sprintf("answer %d has an end, and was announced: %v, had one: %v", a.ID, created[a.ID], done[a.ID])
			}
			done[a.ID] = true
		case Forget:
			if !done[a.ID] {
				return true, fmt.Sprintf("answer %d is forgotten without an end", a.ID)
			}
			delete(created, a.ID)
		}
	}
	if x.ends() {
		return true, "" // the end of the call ends them too
	}
	for _, a := range x.to.Answers {
		if !created[a.ID] {
			return true, fmt.Sprintf("answer %d is not announced", a.ID)
		}
	}
	for id := range created {
		a, there := find(x.to, id)
		if !there || owed(a) == done[id] {
			return true, fmt.Sprintf("answer %d is %v, and its end was told: %v", id, a.At, done[id])
		}
	}
	return x.did(Finish, 0), ""
}

// 3: content occurs between added and done, and before the end of its answer.
func contentBeforeTheEnd(x edge) (atStake bool, wrong string) {
	open, done := map[uint32]bool{}, map[uint32]bool{}
	for _, a := range x.from.Answers {
		open[a.ID], done[a.ID] = a.At == talking, !owed(a)
	}
	for _, a := range x.acts {
		bad := false
		switch a.Do {
		case Announce:
			bad = open[a.ID] || done[a.ID]
			open[a.ID] = true
		case Say, TellAudio, Mark:
			bad = !open[a.ID] || done[a.ID]
		case Keep:
			bad = done[a.ID]
		case CloseItem:
			bad = !open[a.ID] || done[a.ID]
			open[a.ID], atStake = false, true
		case Finish:
			bad = open[a.ID]
			done[a.ID] = true
		}
		if bad {
			return true, fmt.Sprintf("%v comes with its item open: %v, its end told: %v", a, open[a.ID], done[a.ID])
		}
	}
	for _, a := range x.to.Answers {
		if open[a.ID] != (a.At == talking) {
			return true, fmt.Sprintf("answer %d is %v, and its item is open: %v", a.ID, a.At, open[a.ID])
		}
	}
	return atStake, ""
}

// 4: a user who speaks has a turn, and barging in ends answers before the turn is
// committed.
func speechIsATurn(x edge) (bool, string) {
	told := x.from.Turn.Announced()
	for _, a := range x.acts {
		switch a.Do {
		case TellSpeechStarted:
			if told {
				return true, "the beginning of speech is told twice"
			}
			told = true
		case CommitUtterance, DropUtterance:
			told = false
		case TellSpeechStopped:
			if !told {
				return true, "the end of speech is told, and not its beginning"
			}
		}
	}
	if !x.to.Link.Over() && told != x.to.Turn.Announced() {
		return true, fmt.Sprintf("the client was told of speech: %v, and the turn is %v", told, x.to.Turn.At)
	}
	if !x.did(TellSpeechStarted, 0) || !x.from.Settings.Interrupt {
		return false, ""
	}
	for _, a := range x.from.Answers {
		b, there := find(x.to, a.ID)
		switch {
		case a.Apart:
		case there && owed(b):
			return true, fmt.Sprintf("answer %d goes on while the user speaks", a.ID)
		case (a.Sound == pending || a.Sound == sounding) && !x.did(Kill, a.ID), a.Sound == sounding && !x.did(TellAudioCleared, a.ID):
			return true, fmt.Sprintf("answer %d is heard on while the user speaks", a.ID)
		}
	}
	return len(x.from.Answers) > 0, ""
}

// 5: running parts keep the settings that they started with.
func settingsStay(x edge) (bool, string) {
	for _, a := range x.from.Answers {
		if b, there := find(x.to, a.ID); there && (a.Turn != b.Turn || a.Apart != b.Apart) {
			return true, fmt.Sprintf("answer %d was %+v and is %+v", a.ID, a, b)
		}
	}
	for _, w := range x.from.Words {
		for _, v := range x.to.Words {
			if w.ID == v.ID && w.Asked != v.Asked {
				return true, fmt.Sprintf("the words of %d change their reader", w.ID)
			}
		}
	}
	if x.from.Turn.Announced() && x.to.Turn.Announced() && x.did(Reconfigure, 0) {
		return true, "turn detection changes while the user speaks"
	}
	if x.from.Turn.At == outdated && x.to.Turn.At == quiet && !x.did(Reconfigure, 0) {
		return true, "new settings of turn detection are forgotten"
	}
	return x.e.Kind == Configure && x.from.Turn.Announced(), ""
}

// 6: the audio of an utterance is committed or dropped, exactly once.
func audioOnce(x edge) (bool, string) {
	ended := 0
	open := x.from.Turn.Utterance
	for _, a := range x.acts {
		switch a.Do {
		case OpenUtterance:
			if open != 0 {
				return true, "an utterance is opened in another"
			}
			open = a.ID
		case CommitUtterance, DropUtterance:
			if open != a.ID || a.ID == 0 {
				return true, fmt.Sprintf("%v, and %d is open", a, open)
			}
			open = 0
			ended++
		}
	}
	if !x.to.Link.Over() && open != x.to.Turn.Utterance {
		return true, fmt.Sprintf("%d is open, and should be %d", x.to.Turn.Utterance, open)
	}
	if x.e.Kind == Clear && x.outcome == Taken {
		heard := slices.ContainsFunc(x.to.Words, func(w Words) bool { return w.At == hearingWords })
		if x.to.Turn.Utterance != 0 || heard || !x.did(ForgetAudio, 0) || x.did(CommitUtterance, 0) {
			return true, "clear leaves something of the turn"
		}
	}
	return ended > 0, ""
}

// 7: no end of a turn and no final transcript is lost.
func nothingDropped(x edge) (atStake bool, wrong string) {
	k := x.e.Kind
	if x.from.Link == Open && x.from.Turn.Announced() && (k == Pause || k == TooLong || k == Stalled && x.e.OK) {
		u := x.from.Turn.Utterance
		if !x.did(TellSpeechStopped, u) || !x.did(CommitUtterance, u) {
			return true, "the end of a turn is lost"
		}
		room := len(x.from.Answers) < x.from.Settings.Answers
		if c := x.from.Settings; c.Create && c.Model && room && !x.did(TellCreated, 0) || c.Create && !(c.Model && room) && !x.did(TellNoModel, 0) && !x.did(TellFull, 0) {
			return true, "a turn gets no answer, and nobody is told"
		}
		atStake = true
	}
	for _, w := range x.from.Words {
		if w.At != pendingWords || x.to.Link.Over() {
			continue
		}
		final := x.e.ID == w.ID && (k == Final || k == WordsFailed)
		there := slices.ContainsFunc(x.to.Words, func(v Words) bool { return v.ID == w.ID })
		kept := x.did(KeepWords, w.ID) || x.did(LoseWords, w.ID)
		told := x.did(TellTranscript, w.ID) || x.did(TellWordsFailed, w.ID)
		if final != kept || final == there || (final && w.Asked) != told {
			return true, fmt.Sprintf("the words of %d: final %v, kept %v, awaited %v, told %v", w.ID, final, kept, there, told)
		}
		atStake = atStake || final
	}
	return atStake, ""
}

// 8: when the link ends, everything within it ends, and nothing starts again.
func childrenEnd(x edge) (bool, string) {
	if !x.to.Link.Over() {
		return false, ""
	}
	if x.to.Turn.At != closedTurn || x.to.Memory.At != closedMemory || len(x.to.Words)+len(x.to.Answers) > 0 {
		return true, "the link is over, and something within it is not"
	}
	for _, a := range x.from.Answers {
		if x.ends() && a.At != over && !x.did(Stop, a.ID) {
			return true, fmt.Sprintf("answer %d is not stopped", a.ID)
		}
	}
	if x.from.Link.Over() && slices.ContainsFunc(x.acts, func(a Action) bool { return a.Do != HangUp }) {
		return true, "something happens after the end"
	}
	return true, ""
}

// 9: a conversation that is too long is summarised regardless of other activity, by one
// summary at a time.
func compactionRuns(x edge) (bool, string) {
	m := x.from.Memory
	due := x.from.Link == Open && x.e.Kind == Grown && m.At == normal && x.from.Settings.Remember > 0 &&
		x.e.Size > x.from.Settings.Remember && x.e.Size >= m.From
	switch {
	case due != x.did(Summarise, 0):
		return true, fmt.Sprintf("a summary is due: %v, and begun: %v", due, !due)
	case x.did(KeepSummary, 0) && (m.Job == 0 || m.Job != x.e.ID || !x.e.OK):
		return true, "another summary is kept"
	case m.Job != 0 && x.to.Memory.Job != m.Job && x.e.Kind != Summarised && !x.did(StopSummary, 0):
		return true, "a summary is forgotten that is being made"
	}
	return due && slices.ContainsFunc(x.from.Answers, Answer.made), ""
}

// 10: everything is closed exactly once.
func closedOnce(x edge) (bool, string) {
	left := func(was, is bool) int {
		if was && !is {
			return 1
		}
		return 0
	}
	stalls := left(x.from.Turn.Announced(), x.to.Turn.Announced())
	switch {
	case x.times(HangUp) != left(x.from.Link != Torn, x.to.Link != Torn):
		return true, "the line is not hung up once"
	case x.from.Link == Torn && x.outcome != Stale:
		return true, "what is torn takes an event"
	case x.times(Greet) > 1 || x.did(Greet, 0) && x.from.Link != Connecting:
		return true, "the client is greeted twice"
	case x.times(StopStall) != stalls:
		return true, "the timer of a turn is not stopped once"
	case x.times(StopSummary) > 1 || x.did(StopSummary, 0) && x.from.Memory.At != compacting:
		return true, "a summary is stopped that is not made"
	}
	for _, a := range x.from.Answers {
		_, there := find(x.to, a.ID)
		if n := x.times(Forget) - x.timesOther(Forget, a.ID); !x.ends() && n != left(true, there) {
			return true, fmt.Sprintf("answer %d is forgotten %d times", a.ID, n)
		}
	}
	return x.ends(), ""
}

// timesOther counts an action on any other id.
func (x edge) timesOther(d Do, id uint32) (n int) {
	for _, a := range x.acts {
		if a.Do == d && a.ID != id {
			n++
		}
	}
	return n
}

// comesToRest: if every request gets its reply, every wait ends.
func comesToRest(x edge) (bool, string) {
	if x.to.Link != Open || x.outcome != Taken {
		return false, ""
	}
	s := x.to
	for range 40 {
		var e Event
		awaited := slices.IndexFunc(s.Words, func(w Words) bool { return w.At == pendingWords })
		made := slices.IndexFunc(s.Answers, Answer.made)
		heard := slices.IndexFunc(s.Answers, func(a Answer) bool { return a.At == over })
		switch {
		case awaited >= 0:
			e = Event{Kind: WordsFailed, ID: s.Words[awaited].ID}
		case made >= 0:
			e = Event{Kind: Generated, ID: s.Answers[made].ID, OK: true}
		case heard >= 0:
			e = Event{Kind: AudioStopped, ID: s.Answers[heard].ID}
		case s.Memory.At == compacting:
			e = Event{Kind: Summarised, ID: s.Memory.Job}
		default:
			if len(s.Answers) > 0 {
				return true, "an answer waits for nobody"
			}
			return true, ""
		}
		s, _, _ = Step(s, e)
	}
	return true, "it does not come to rest"
}

func TestInvariant1OneAnswerAtATime(t *testing.T)          { held(t, "1") }
func TestInvariant2OneTerminal(t *testing.T)               { held(t, "2"); held(t, "rest") }
func TestInvariant3ContentBeforeTheEnd(t *testing.T)       { held(t, "3") }
func TestInvariant4SpeechIsATurn(t *testing.T)             { held(t, "4") }
func TestInvariant5SettingsStay(t *testing.T)              { held(t, "5") }
func TestInvariant6AudioOnce(t *testing.T)                 { held(t, "6") }
func TestInvariant7NothingDropped(t *testing.T)            { held(t, "7") }
func TestInvariant8ChildrenEndWithTheLink(t *testing.T)    { held(t, "8") }
func TestInvariant9CompactionRunsAlsoInATurn(t *testing.T) { held(t, "9") }
func TestInvariant10EverythingIsClosedOnce(t *testing.T)   { held(t, "10") }
