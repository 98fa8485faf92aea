package daemon

import (
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// sendPhrases end a turn unless the setting names another phrase.
var sendPhrases = map[protocol.Locale]string{
	protocol.English: "send it", protocol.German: "abschicken", protocol.Japanese: "送信",
}

// cutSendPhrase removes the send phrase, or its refusal, from the end of an utterance. Only the
// mode for that phrase listens for it. sends: what was said is to be sent. kept: "don't send it"
// keeps it. Over a question about a tool, the words are an answer first.
func (d *Daemon) cutSendPhrase(q question, text string, t Transcript) (rest string, sends, kept bool) {
	set := d.conversationSettings().TurnDetection
	if set.Mode != protocol.TurnPhrase || q.call != 0 && answers(d.classify(q, text, t).Class) {
		return text, false, false
	}
	phrase := set.SendPhrase
	if len(tokens(phrase)) == 0 {
		phrase = ""
	}
	if rest, kept = d.grammar().CutRefusal(text, phrase); kept {
		return rest, false, true
	}
	if rest, sends = d.beforeSendPhrase(text, phrase); !sends {
		return text, false, false
	}
	if q.call != 0 {
		said := d.lastBefore(text, rest, phrase)
		if class := d.classify(q, said, t).Class; answers(class) || class == csm.Unclear {
			return said, false, false
		}
	}
	return rest, true, false
}

// lastBefore returns the text before the last words that send; rest is what beforeSendPhrase
// returned, which takes "yes, send it" for a polite "send it".
func (d *Daemon) lastBefore(text, rest, phrase string) string {
	words := tokens(text)
	for i := len(words) - 1; i > 0 && rest == "" && phrase == ""; i-- {
		if d.grammar().Classify(text[words[i].at:]).Command == spoken.CommandSendPhrase {
			return trimmedEnd(text[:words[i].at])
		}
	}
	return rest
}

// answers reports whether words of a class answer a question about a tool.
func answers(class csm.Class) bool {
	switch class {
	case csm.Yes, csm.No, csm.Agree, csm.Assent, csm.Continue:
		return true
	default:
		return false
	}
}

// beforeSendPhrase returns the text before the send phrase that an utterance ends with.
func (d *Daemon) beforeSendPhrase(text, phrase string) (rest string, said bool) {
	if phrase == "" {
		if u := d.grammar().Classify(text); u.Command == spoken.CommandSendPhrase {
			return "", true // alone, in any of its variants
		}
		phrase = sendPhrases[d.locale()]
	}
	return cutPhrase(text, phrase)
}
