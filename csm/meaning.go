package csm

import (
	"fmt"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// Meaning is what the words of an utterance mean.
type Meaning uint8

// The meanings.
const (
	MeansNothing  Meaning = iota
	MeansMessage          // for the assistant; it continues the turn as long as its answer is not audible
	MeansYes              // allows the call that was asked about
	MeansAssent           // the same, if the call can be undone; otherwise the user is asked again
	MeansNo               // rejects the call
	MeansUnclear          // the user is asked again; a message if no question is open
	MeansDoubt            // not understood: the user is told
	MeansStop             // ends the answer
	MeansPause            // pauses the answer, or leaves the question open
	MeansContinue         // continues the answer; a message if there is none
	MeansSend             // ends a turn with manual commit
	NumMeanings
)

var meaningNames = [NumMeanings]string{
	"nothing", "message", "yes", "yes if it can be undone", "no", "unclear: ask again", "doubt: say so", "stop", "pause", "continue", "send",
}

func (m Meaning) String() string { return meaningNames[m] }

// Means returns what an utterance means: its stamp says what was open at its onset, its class
// what kind of words it has, and doubted that the recogniser is unsure of them. Nothing else
// decides that.
func Means(over turn.Stamp, said Class, doubted bool) Meaning {
	if doubted {
		return meanings[said].doubted[over]
	}
	return meanings[said].sure[over]
}

// MeaningOf returns what finished words mean in a state: nothing if the user interrupted after
// they began.
func (s State) MeaningOf(f Final) Meaning {
	u, _ := turn.Find(s.Turn, f.Utterance)
	if u.Dropped {
		return MeansNothing
	}
	return Means(u.Stamp, f.Class, f.Doubted)
}

// meanings is the table of Means. Consent is never an absence: a yes needs a question that was
// heard and words that are certain.
var meanings = func() [NumClasses]struct{ sure, doubted [turn.NumStamps]Meaning } {
	const (
		none = MeansNothing
		msg  = MeansMessage
		yes  = MeansYes
		asnt = MeansAssent
		no   = MeansNo
		uncl = MeansUnclear
		doub = MeansDoubt
		stop = MeansStop
		paus = MeansPause
		cont = MeansContinue
		send = MeansSend
	)
	type cells = [turn.NumStamps]Meaning
	return [NumClasses]struct{ sure, doubted cells }{
		//           over: nothing prose request answer unheard question decided      and doubted
		Content:     {cells{msg, msg, msg, msg, msg, msg, msg}, cells{doub, doub, doub, none, doub, doub, doub}},
		Empty:       {},
		Backchannel: {},
		Stop:        {cells{stop, stop, stop, stop, stop, stop, stop}, cells{stop, stop, stop, stop, stop, stop, stop}},
		Yes:         {cells{msg, msg, none, none, uncl, yes, none}, cells{none, doub, none, none, uncl, uncl, none}},
		No:          {cells{msg, msg, uncl, msg, no, no, none}, cells{none, doub, none, none, uncl, uncl, none}},
		Send:        {cells{send, send, send, send, send, send, send}, cells{send, send, send, send, send, send, send}},
		Pause:       {cells{none, none, paus, paus, paus, paus, paus}, cells{none, none, paus, paus, paus, paus, paus}},
		Continue:    {cells{msg, msg, cont, cont, uncl, asnt, cont}, cells{doub, doub, cont, cont, uncl, uncl, cont}},
		Agree:       {cells{none, msg, none, none, none, asnt, none}, cells{none, doub, none, none, none, uncl, none}},
		Assent:      {cells{msg, msg, msg, msg, uncl, asnt, none}, cells{doub, doub, doub, none, uncl, uncl, none}},
		Unclear:     {cells{msg, msg, msg, msg, uncl, uncl, msg}, cells{doub, doub, doub, none, uncl, uncl, doub}},
		Attention:   {cells{none, none, none, stop, paus, paus, none}, cells{none, none, none, stop, paus, paus, none}},
	}
}()

// MeaningTable returns the table of Means in Markdown: a row for each class of words, certain
// and doubted, and a column for each stamp.
func MeaningTable() string {
	var out strings.Builder
	row := func(name string, cell func(over turn.Stamp) string) {
		out.WriteString("| " + name + " |")
		for over := range turn.NumStamps {
			out.WriteString(" " + cell(over) + " |")
		}
		out.WriteString("\n")
	}
	row("Words", turn.Stamp.String)
	row("---", func(turn.Stamp) string { return "---" })
	for said := range NumClasses {
		row(said.String(), func(over turn.Stamp) string { return Means(over, said, false).String() })
		row(fmt.Sprintf("%v, doubted", said), func(over turn.Stamp) string { return Means(over, said, true).String() })
	}
	return out.String()
}

// stamp returns the stamp of an utterance that begins now.
func (s *State) stamp() turn.Stamp {
	line, open := speech.LineOf(s.Speech)
	last := open && line.Played >= len(line.Segments)-1
	live, busy := copilot.LiveOf(s.Copilot)
	busy = busy && !live.Cancelled
	_, quiet := s.Turn.(turn.Idle)
	switch sounds := speech.Begun(s.Speech); {
	case s.Asking() && sounds && last: // also when it is repeated: the voice may be the loudspeaker's
		return turn.OverUnheard
	case s.Asking() && s.Approval.Heard && !sounds:
		return turn.OverQuestion
	case s.Approval.State.phase() == ApprovalListening && !sounds: // it broke off
		return turn.OverUnheard
	case sounds && last && s.Asked && !busy && s.Current.Failed == "":
		return turn.OverProse
	case sounds || s.Conv.Phase() == PhaseInterrupted:
		return turn.OverAnswer
	case s.inWriting():
		if s.Asked {
			return turn.OverProse
		}
		return turn.OverAnswer
	case busy || s.Current.Utterance != 0 || !quiet:
		return turn.OverRequest
	case s.Asked:
		return turn.OverProse
	default:
		return turn.OverNothing
	}
}

// finalMeans returns the trigger of a finished transcript.
func (r *run) finalMeans(f Final) Kind {
	if r.words.Dropped {
		return FinalNothing
	}
	switch m := Means(r.words.Stamp, f.Class, f.Doubted); m {
	case MeansStop:
		return FinalStop
	case MeansPause:
		if r.asking() || r.st.HasPlayback() {
			return VoicePause
		}
	case MeansYes, MeansAssent, MeansNo, MeansUnclear:
		switch {
		case r.asking():
			return r.answerMeans(m)
		case m == MeansUnclear:
			return r.messageMeans(f)
		}
	case MeansDoubt:
		return FinalDoubt
	case MeansContinue:
		if r.st.HasPlayback() {
			return VoiceContinue
		}
		return r.messageMeans(f)
	case MeansMessage:
		return r.messageMeans(f)
	case MeansSend:
		if f.Words == 0 {
			return FinalSend
		}
		return r.messageMeans(f)
	case MeansNothing:
	}
	return FinalNothing
}

// answerMeans returns the trigger of an answer to a question about a call.
func (r *run) answerMeans(m Meaning) Kind {
	call, _ := r.asked()
	switch {
	case m == MeansNo:
		return FinalNo
	case m == MeansUnclear, m == MeansAssent && call.Destructive:
		return FinalUnclear
	default:
		return FinalYes
	}
}

// messageMeans returns the trigger of a message. One that no pause ends waits for a manual commit.
func (r *run) messageMeans(f Final) Kind {
	switch p := r.st.Conv.Phase(); {
	case f.Words == 0:
		return FinalNothing
	case r.drafts(f) && (r.approving() || p != PhaseSpeaking && p != PhaseInterrupted):
		return FinalDraft
	default:
		return FinalContent
	}
}
