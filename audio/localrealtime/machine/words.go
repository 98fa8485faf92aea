package machine

import (
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm/statechart"
)

// Words is the recognition of one utterance while it is in progress.
type Words struct {
	ID    uint32
	At    WordsState
	Asked bool // the client wants a transcript
}

// WordsState is a state of the words.
type WordsState uint8

const (
	hearingWords WordsState = iota // the utterance is open
	pendingWords                   // it is committed; the final result is pending
	gone
	liveWords
)

var wordsParents = map[WordsState]WordsState{hearingWords: liveWords, pendingWords: liveWords}

func (s WordsState) String() string { return [...]string{"hearing", "pending", "gone", "live"}[s] }

func wordsRows() []line[WordsState] {
	asked := statechart.When("the client wants them", func(r *run) bool { return r.Words[r.at].Asked })
	known := statechart.When("of an utterance that it knows", func(r *run) bool { return r.Turn.Announced() })
	return []line[WordsState]{
		row(hearingWords, Partial, asked.And(known), hearingWords, Taken, ofWordsAct(TellWords)),
		row(hearingWords, committed, always{}, pendingWords, Taken, ofWordsAct(EndListening)),
		row(hearingWords, dropped, always{}, gone, Taken, nil),
		row(pendingWords, Partial, asked, pendingWords, Taken, ofWordsAct(TellProgress)),
		row(pendingWords, Final, asked, gone, Taken, does(ofWordsAct(KeepWords), ofWordsAct(TellTranscript), (*run).noteEmpty)),
		row(pendingWords, Final, asked.Not(), gone, Taken, does(ofWordsAct(KeepWords), (*run).noteEmpty)),
		row(pendingWords, WordsFailed, asked, gone, Taken, does(ofWordsAct(LoseWords), ofWordsAct(TellWordsFailed), (*run).noteEmpty)),
		row(pendingWords, WordsFailed, asked.Not(), gone, Taken, does(ofWordsAct(LoseWords), (*run).noteEmpty)),
		row(liveWords, shut, always{}, gone, Taken, nil),
	}
}

func ofWordsAct(d Do) func(*run) { return func(r *run) { r.emit(d, r.Words[r.at].ID) } }

// wordsOf gives an input to the words of an utterance, and drops words that are gone.
func (r *run) wordsOf(id uint32, on Kind) Outcome {
	r.at = slices.IndexFunc(r.Words, func(w Words) bool { return w.ID == id })
	if r.at < 0 {
		return Stale
	}
	w := &r.Words[r.at]
	row := r.t.words.Choose(w.At, on, r)
	if row == nil {
		return Stale
	}
	w.At = row.Next(w.At)
	if row.Do != nil {
		row.Do(r)
	}
	if w.At == gone {
		r.Words = slices.Delete(r.Words, r.at, r.at+1)
	}
	return row.Means
}

// noteEmpty tells the answers to an utterance whether it contains any words.
func (r *run) noteEmpty() {
	if r.e.Kind == Final && r.e.OK {
		return
	}
	for i := range r.Answers {
		if r.Answers[i].Turn == r.e.ID {
			r.Answers[i].Empty = true
		}
	}
}
