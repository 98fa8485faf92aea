package daemon

import (
	"strings"
	"unicode"

	"github.com/agentvoice/agentvoice-daemon/audio/turns"
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/internal/vocab"
)

// heard stores the words of a final transcript and classifies the utterance. A yes that the
// sound does not confirm is doubted.
func (d *Daemon) heard(epoch uint32, utterance uint64, t Transcript) csm.Final {
	f := csm.Final{Epoch: epoch, Utterance: utterance}
	text, unsure := t.words()
	if strings.TrimSpace(t.Text) != "" {
		d.unreported.Store(!t.reported())
	}
	instead, whole := "", text
	text, called := d.cutWakePhrase(text, t.Called)
	if called {
		t = t.rest(text)
	}
	q := d.questionOver(utterance)
	text, sends, kept := d.cutSendPhrase(q, text, t)
	if sends {
		f.Class = csm.Send
	} else if kept && text == "" || spoken.Subtitles(text) && !t.Pressed {
		f.Class = csm.Backchannel
	} else if called && text == "" {
		f.Class = csm.Attention
	} else {
		said := d.classify(q, text, t)
		f.Class, f.Named, f.Doubted = said.Class, said.Named, said.Doubted
		if d.settlesMode(utterance, f.Class, t.settles()) {
			f.Class = csm.Backchannel
		} else if d.goesOn(utterance, f.Class, text, t.Joined) {
			f.Class = csm.Content
		} else if f.Class == csm.Content {
			f.Class, instead = d.commanded(q, utterance, text)
			if (t.doubtful() || t.unvouched()) && (f.Class != csm.Content && d.forgetWish(utterance) || instead != "") {
				f.Class, f.Doubted, instead = csm.Content, true, ""
			}
		}
	}
	f.Words = len(strings.Fields(text))
	if f.Named { // no expected answer names the action, so the sound is none for certain
		unsure = t.unvouched() || t.doubtful()
	}
	f.Doubted = f.Doubted || f.Class == csm.Content && t.doubtful() || t.doubts(f.Class, unsure)
	f.Named = f.Named && !f.Doubted
	written, changes := text, []vocab.Change(nil)
	switch {
	case instead != "":
		written = instead
	case f.Class == csm.Content || f.Class == csm.Send:
		written, changes = d.corrected(text)
	}
	d.content.setHeard(utterance, text, written, changes)
	switch {
	case text != whole:
		d.content.setShortened(utterance)
	case f.Class == csm.Content && instead == "" && t.Joined != nil:
		written, changes := d.corrected(t.Joined.Text)
		d.content.setJoined(utterance, *t.Joined, written, changes)
	}
	if instead == "" {
		d.content.setDictated(utterance)
	}
	return f
}

func (d *Daemon) heardPartly(epoch uint32, utterance uint64, text string) csm.Partial {
	text, _ = d.cutWakePhrase(text, false)
	d.content.setUtterance(utterance, text)
	p := csm.Partial{Epoch: epoch, Utterance: utterance, Words: len(strings.Fields(text))}
	g := d.grammar()
	switch u := g.Classify(text); u.Class { // more may follow; all other classes count
	case spoken.UtteranceBackchannel:
		p.Class = csm.Backchannel
	case spoken.UtteranceEmpty:
		p.Words = 0
	case spoken.UtteranceCommand: // leaves the floor to the assistant
		if u.Command == spoken.CommandYes || d.takesNoFloor(u.Command) {
			p.Class = csm.Backchannel
		}
	case spoken.UtteranceContent:
		if g.Begins(text) {
			p.Class = csm.Backchannel
		}
	}
	return p
}

// heardSettled handles what was heard at a pause of the voice. What a sound is for certain is heard
// at once, like a word that is spoken: "stop" pauses the answer before its final words decide.
func (d *Daemon) heardSettled(epoch uint32, utterance uint64, said Transcript) csm.Event {
	if said.Answer == nil || !said.Answer.certain() {
		return nil
	}
	words, _ := said.words()
	return d.heardPartly(epoch, utterance, words)
}

// question is the question about a call that an utterance may answer; call is 0 without one.
type question struct {
	call uint64
	open bool // it was not decided since
}

// questionOver returns the question over which an utterance began, whatever was asked or decided since:
// words come later. What has no onset, such as typed words, may answer the open question.
func (d *Daemon) questionOver(utterance uint64) question {
	st := d.loop.State()
	if u, known := turn.Find(st.Turn, utterance); known {
		switch u.Stamp {
		case turn.OverAnswer, turn.OverUnheard, turn.OverQuestion: // the question may follow the answer
		case turn.OverDecided:
			return question{call: d.voice.asked.Load()}
		default:
			return question{}
		}
	}
	if w, asked := st.Copilot.(copilot.WaitingForApproval); asked {
		return question{w.Calls[0].ID, true}
	}
	return question{}
}

// classify classifies an utterance, which may be the answer to a question.
func (d *Daemon) classify(q question, text string, t Transcript) csm.Final {
	said := d.grammar().Classify(text)
	class := classOf(said)
	if d.invented(text, t) {
		return csm.Final{Class: csm.Backchannel}
	}
	if q.call != 0 {
		call, known := d.content.call(q.call)
		switch {
		case !known:
		case call.Question != "":
			if class == csm.Yes || class == csm.No || class == csm.Agree || class == csm.Continue { // an answer, but no permission
				return csm.Final{Class: csm.Content, Doubted: t.doubtful() || t.unvouched()}
			}
		case said.Refuses && class == csm.Continue:
			class = csm.No
		case class == csm.Content:
			return answerTo(d.grammar(), call.ToolCall, text, t)
		}
	}
	return csm.Final{Class: class}
}

// invented reports whether words are what recognisers write for a sound without words.
func (d *Daemon) invented(text string, t Transcript) bool {
	return spoken.Invented(text) && !t.Pressed && (!t.reported() || t.doubtful())
}

// goesOn reports whether an utterance is the rest of a sentence that a pause cut: it begins before the
// answer to words that need a continuation, as in "align the text to the ... right", or the whole was
// recognised as one sentence. Even a command or a yes is part of it then. "Stop" and "wait" never are.
func (d *Daemon) goesOn(utterance uint64, class csm.Class, text string, joined *Joined) bool {
	st := d.loop.State()
	u, _ := turn.Find(st.Turn, utterance)
	if class == csm.Stop || class == csm.Pause || class == csm.Empty || class == csm.Backchannel || u.Stamp != turn.OverRequest || st.Current.Utterance == 0 {
		return false
	}
	said := append([]uint64{st.Current.Utterance}, st.Current.More...)
	return turns.Of(d.content.utterance(st.Current.Utterance)) == turns.Open ||
		d.content.continues(said, text, joined) && joined.inOneSentence(text)
}

// mayGoOn reports whether a voice that begins now may continue the current message. With a manual
// commit it never does: a draft may grow for minutes.
func (d *Daemon) mayGoOn() bool { return d.loop.State().MayGoOn() }

// unfinished reports whether the words of the open utterance are the beginning of more: "yes" where
// nothing was asked, "hold on" where there is nothing to hold, or one word that is no command.
func (d *Daemon) unfinished(words string) bool {
	st := d.loop.State()
	voice, speaks := st.Turn.(turn.UserSpeaking)
	if !speaks || voice.Open.Stamp != turn.OverNothing || len(st.Drafts) > 0 {
		return false
	}
	text, _ := d.cutWakePhrase(words, false)
	u := d.grammar().Classify(text)
	switch classOf(u) {
	case csm.Yes, csm.No, csm.Agree, csm.Assent, csm.Pause, csm.Continue, csm.Backchannel:
		return true
	case csm.Content:
		if u.Command != "" || len(tokens(text)) != 1 || unspaced(text) {
			return false
		}
		_, command := d.editorCommand(u, text)
		return !command
	default:
		return false
	}
}

// ClassOf classifies an utterance outside of a question, without user-defined commands.
func ClassOf(text string) csm.Class { return classOf(spoken.Classify(text)) }

func classOf(u spoken.Utterance) csm.Class {
	switch {
	case u.Class == spoken.UtteranceEmpty:
		return csm.Empty
	case u.Agrees:
		return csm.Agree
	case u.Class == spoken.UtteranceBackchannel:
		return csm.Backchannel
	case u.Class == spoken.UtteranceCommand && u.Command == spoken.CommandStop:
		return csm.Stop
	case u.Class == spoken.UtteranceCommand && u.Command == spoken.CommandPause:
		return csm.Pause
	case u.Class == spoken.UtteranceCommand && u.Command == spoken.CommandContinue:
		return csm.Continue
	case u.Class == spoken.UtteranceCommand && u.Command == spoken.CommandYes:
		return csm.Yes
	case u.Class == spoken.UtteranceCommand && u.Command == spoken.CommandNo:
		return csm.No
	}
	return csm.Content
}

// takesCommands reports whether spoken commands about the last answer apply now.
func (d *Daemon) takesCommands() bool {
	now := d.loop.State()
	if _, asked := now.Copilot.(copilot.WaitingForApproval); asked || len(now.Drafts) > 0 {
		return false
	}
	switch now.Conv.(type) {
	case csm.Listening, csm.Speaking, csm.Interrupted:
		return true
	}
	return false
}

// cutPhrase compares word by word, ignoring case and punctuation. In a script without
// spaces it compares the end of the last word.
func cutPhrase(text, phrase string) (rest string, said bool) {
	words, want := tokens(text), tokens(phrase)
	first := len(words) - len(want)
	if first < 0 {
		return "", false
	}
	at := words[first].at
	for i, w := range want {
		have := words[first+i].text
		if have == w.text {
			continue
		}
		if i > 0 || !unspaced(w.text) || !strings.HasSuffix(have, w.text) {
			return "", false
		}
		at += len(have) - len(w.text)
	}
	return trimmedEnd(text[:at]), true
}

// trimmedEnd returns a text without the punctuation that joined what was cut off.
func trimmedEnd(text string) string { return strings.TrimRight(text, " ,;:-–—、") }

// token is a word in lower case, with its offset in the text.
type token struct {
	text string
	at   int
}

// tokens splits a text into words. A word is lowercased only if that keeps its length,
// so that offsets in it are offsets in the text.
func tokens(text string) (out []token) {
	begin := -1
	for i, r := range text + " " {
		inside := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || r == '\'' || r == '’'
		switch {
		case inside && begin < 0:
			begin = i
		case !inside && begin >= 0:
			word := text[begin:i]
			if low := strings.ToLower(word); len(low) == len(word) {
				word = low
			}
			out = append(out, token{word, begin})
			begin = -1
		}
	}
	return out
}

// unspaced reports whether a word belongs to a script without spaces between words.
func unspaced(word string) bool {
	for _, r := range word {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
	}
	return false
}
