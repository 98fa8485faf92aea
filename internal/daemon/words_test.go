package daemon

import (
	"encoding/json"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// askedToDelete returns a room in which a question about a deletion is open.
func askedToDelete(t *testing.T, set protocol.Settings) *room {
	t.Helper()
	r := newRoom(t, set, false, "", false)
	r.asks("", copilot.ToolCall{ID: "c1", Name: "delete_file", Input: json.RawMessage(`{"path":"old.txt"}`)})
	return r
}

// An answer that is not finished, or that begins with a no, allows nothing.
func TestWhatIsNotConsent(t *testing.T) {
	r := askedToDelete(t, locale(t, protocol.English))
	for text, want := range map[string]csm.Meaning{
		"Yes, delete it.": csm.MeansYes, "Ja, lösche die Datei.": csm.MeansYes, "はい、削除して。": csm.MeansYes,
		"Yes, delete the": csm.MeansUnclear, "yes, delete it with": csm.MeansUnclear, "Yes, and the.": csm.MeansUnclear, "yes, use the": csm.MeansUnclear,
		"yes, delete a": csm.MeansUnclear, "Yes, delete the file on": csm.MeansUnclear, "yes, could you": csm.MeansUnclear, "delete the": csm.MeansUnclear,
		"Ja, lösche die": csm.MeansUnclear, "ja, und die": csm.MeansUnclear, "ja, lösche es auf": csm.MeansUnclear, "ja, könnten Sie": csm.MeansUnclear,
		"No, go on.": csm.MeansNo, "no, continue": csm.MeansNo, "Um, no, please go on.": csm.MeansNo, "no way, go ahead": csm.MeansNo, "no, do it": csm.MeansNo,
		"nein, weiter": csm.MeansNo, "Nein, mach weiter.": csm.MeansNo, "nein, mach das": csm.MeansNo, "いいえ、続けて": csm.MeansNo, "いや、続けてください": csm.MeansNo,
		"no, yes, delete it": csm.MeansNo, "go on": csm.MeansAssent, "weiter": csm.MeansAssent, "続けて": csm.MeansAssent,
		"yes, perfect": csm.MeansAssent, "Yes, exactly.": csm.MeansAssent, "ja, genau": csm.MeansAssent, "はい、わかりました": csm.MeansAssent, "yes, exactly, but": csm.MeansUnclear,
		"はい、削除を": csm.MeansUnclear, "はい、削除する前に": csm.MeansUnclear, "はい、削除しないで": csm.MeansUnclear,
	} {
		f := r.d.heard(1, 99, Certain(text))
		if got := csm.Means(turn.OverQuestion, f.Class, f.Doubted); got != want {
			t.Errorf("%q is %v (%+v), want %v", text, got, f, want)
		}
		if f.Named && want != csm.MeansYes {
			t.Errorf("%q names the action", text)
		}
	}
}

// Over an answer, "no, go on" continues it.
func TestNoGoOnContinuesAnAnswer(t *testing.T) {
	d := newIdle(t, nil)
	for _, text := range []string{"No, go on.", "no, continue", "nein, weiter", "いいえ、続けて"} {
		if f := d.heard(1, 1, Certain(text)); f.Class != csm.Continue {
			t.Errorf("%q is %v", text, f.Class)
		}
	}
}

// The send phrase after an answer to a question about a tool is not a part of it.
func TestTheSendPhraseAfterAnAnswer(t *testing.T) {
	set := locale(t, protocol.English)
	set.TurnDetection.Mode = protocol.TurnPhrase
	r := askedToDelete(t, set)
	for text, want := range map[string]csm.Final{
		"Yes, delete it, send it.": {Class: csm.Yes, Named: true, Words: 3}, "Yes, send it.": {Class: csm.Yes, Words: 1}, "no, send it": {Class: csm.No, Words: 1},
		"okay, send it": {Class: csm.Agree, Words: 1}, "delete it, send it": {Class: csm.Assent, Words: 2}, "Yes, but, send it.": {Class: csm.Unclear, Words: 2},
		"Yes, delete the, send it.": {Class: csm.Unclear, Words: 3}, "Use the other file, send it.": {Class: csm.Send, Words: 4}, "send it": {Class: csm.Send},
		"Don't send it.": {Class: csm.Backchannel},
	} {
		want.Epoch, want.Utterance = 1, 99
		if f := r.d.heard(1, 99, Certain(text)); f != want {
			t.Errorf("%q: %+v, want %+v", text, f, want)
		}
	}
	german := locale(t, protocol.German)
	german.TurnDetection.Mode = protocol.TurnPhrase
	if f := askedToDelete(t, german).d.heard(1, 99, Certain("Ja, lösche es, abschicken.")); f.Class != csm.Yes || !f.Named {
		t.Errorf("in German: %+v", f)
	}
	japanese := locale(t, protocol.Japanese)
	japanese.TurnDetection.Mode = protocol.TurnPhrase
	if f := askedToDelete(t, japanese).d.heard(1, 99, Certain("はい、削除して、送信")); f.Class != csm.Yes || !f.Named {
		t.Errorf("in Japanese: %+v", f)
	}
}

// Where the call itself sends something, "send it" names its action.
func TestTheSendPhraseMayNameTheAction(t *testing.T) {
	set := locale(t, protocol.English)
	set.TurnDetection.Mode = protocol.TurnPhrase
	r := newRoom(t, set, false, "", false)
	r.asks("", copilot.ToolCall{ID: "c1", Name: "send_message", Input: json.RawMessage(`{"to":"anna"}`)})
	if f := r.d.heard(1, 99, Certain("Yes, send it.")); f.Class != csm.Yes || !f.Named {
		t.Errorf("yes: %+v", f)
	}
	if f := r.d.heard(1, 99, Certain("Don't send it.")); f.Class != csm.No {
		t.Errorf("no: %+v", f)
	}
}

// A refusal to send keeps the draft and is no part of it.
func TestARefusalKeepsTheDraft(t *testing.T) {
	for _, c := range []struct {
		locale        protocol.Locale
		refusal, send string
	}{
		{protocol.English, "Don't send that.", "Send it."}, {protocol.English, "I don't want to send it", "send it"}, {protocol.English, "do not send this yet", "send that"},
		{protocol.German, "Bitte nicht jetzt abschicken.", "abschicken"}, {protocol.German, "Schick es noch nicht ab.", "Schick es ab."},
		{protocol.Japanese, "まだ送信しないで。", "送信"},
	} {
		set := locale(t, c.locale)
		set.TurnDetection.Mode = protocol.TurnPhrase
		r := newRoom(t, set, false, "", false)
		for _, says := range []string{"explain the parser", c.refusal, "and the lexer", c.send} {
			r.hears(says)
		}
		r.left("asks explain the parser and the lexer")
	}
}

// Agreement while an answer is read does not end it.
func TestAgreementOverAnAnswer(t *testing.T) {
	for _, text := range []string{"yes, exactly", "Yeah, I see.", "yes, got it", "right, okay", "ja, genau", "はい、わかりました"} {
		r := newRoom(t, protocol.DefaultSettings(), false, codeAnswer, true)
		r.hears(text)
		if phase := r.d.State().Phase(); phase != csm.PhaseSpeaking {
			t.Errorf("after %q: %v", text, phase)
		}
		r.left()
	}
}

// A short answer reaches the assistant if a question ends its answer, or precedes one sentence.
func TestAgreementAnswersAQuestionInProse(t *testing.T) {
	for _, c := range []struct{ answer, says string }{
		{"Done. Should I also update the tests? Just say so.", "Okay."}, {"Should I also update the tests? 🙂", "exactly"},
		{"Soll ich auch die Tests ändern? Sagen Sie einfach Bescheid.", "Genau."}, {"テストも更新しますか。教えてください。", "了解です"},
	} {
		r := newRoom(t, protocol.DefaultSettings(), false, c.answer, false)
		r.hears(c.says)
		r.left("asks " + c.says)
	}
	r := newRoom(t, protocol.DefaultSettings(), false, "Why did it fail? The parser read too far. I changed it.", false)
	r.hears("okay")
	r.left()
}

// Words that recognisers invent for a sound are ignored. Those that only a video would say are
// ignored at any probability, unless they were typed or a key was held.
func TestInventionsAreNothing(t *testing.T) {
	d := newIdle(t, nil)
	sure := func(text string) Transcript { return Transcript{Text: text, Probs: Certain(text).Probs} }
	for _, text := range []string{"Thank you for watching!", "Please subscribe.", "Thanks for watching. Please subscribe.", "Don't forget to like and subscribe.", "Subtitles by the Amara.org community",
		"Vielen Dank fürs Zuschauen!", "Untertitelung des ZDF, 2020", "ご視聴ありがとうございました。", "チャンネル登録をお願いします。"} {
		for _, said := range []Transcript{sure(text), likely(text, 0.1), {Text: text}} {
			if f := d.heard(1, 1, said); f.Class != csm.Backchannel {
				t.Errorf("%+v: %+v", said, f)
			}
		}
		pressed := sure(text)
		pressed.Pressed = true
		if f := d.heard(1, 1, pressed); f.Class != csm.Content {
			t.Errorf("%q with a key: %+v", text, f)
		}
	}
	for _, text := range []string{"See you next time.", "Bis zum nächsten Mal.", "You.", "Write thank you for watching into the footer.", "Add a button: please subscribe."} {
		if f := d.heard(1, 1, sure(text)); f.Class == csm.Backchannel {
			t.Errorf("%q: %+v", text, f)
		}
	}
	for _, said := range []Transcript{{Text: "Bye."}, likely("Bye.", 0.1)} {
		if f := d.heard(1, 1, said); f.Class != csm.Backchannel {
			t.Errorf("%+v: %+v", said, f)
		}
	}
	r := newRoom(t, protocol.DefaultSettings(), false, "", false)
	r.types("thank you for watching")
	r.left("asks thank you for watching")
}
