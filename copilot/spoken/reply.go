package spoken

import (
	"strings"
	"unicode"
)

// Reply is what an utterance says to the question whether an action may be done, if it is no
// plain command.
type Reply struct {
	Kind ReplyKind
	// Names is the word that names the action, "" for none.
	Names string
	// Partly says that words without meaning of their own are left over: a breath, or the start
	// of more.
	Partly bool
}

// ReplyKind is the kind of a reply.
type ReplyKind uint8

// The kinds.
const (
	NoReply      ReplyKind = iota // something else
	ReplyYes                      // a yes, and words about the action
	ReplyNo                       // a no, and words about the action
	ReplyAssent                   // the action itself, as an order: "run the tests"
	ReplyUnclear                  // a yes that goes on with something else, or is unfinished: "yes, but"
)

// Action is what a question asks about.
type Action struct {
	// Named reports whether a word in lower case names the action.
	Named func(word string) bool
	// Objects are the words, in lower case, that the action is about.
	Objects map[string]bool
}

// Reply classifies an utterance as the answer to the question about an action.
func (g *Grammar) Reply(text string, about Action) Reply {
	words := replyWords(text)
	kind, rest, first := g.leadOf(words)
	switch {
	case kind == ReplyYes && first && endsOpen(words), endsJoining(words) && (first || kind == NoReply && g.begins(words)):
		return Reply{Kind: ReplyUnclear}
	}
	if kind == NoReply {
		return g.assent(text, words, about)
	}
	r := Reply{Kind: kind}
	for i, w := range rest {
		switch {
		case connectives[w] && i == len(rest)-1: // also where a file has that name
			r.Partly = true
		case about.Named(w):
			if !ordered(w) {
				return Reply{Kind: ReplyUnclear}
			}
			r.Names = w
		case besides[w] || about.Objects[w], kind == ReplyNo && negations[w]: // "nein, doch nicht"
		case connectives[w]:
			r.Partly = true
		case kind == ReplyYes && first:
			return Reply{Kind: ReplyUnclear}
		default:
			return Reply{}
		}
	}
	return r
}

// assent recognises the action itself as an order.
func (g *Grammar) assent(text string, words []string, about Action) Reply {
	r := Reply{Kind: ReplyAssent}
	open := endsOpen(words)
	for i, w := range words {
		switch {
		case connectives[w] && i == len(words)-1:
			open = true
		case about.Named(w):
			open = open || !ordered(w)
			r.Names = w
		case besides[w] || about.Objects[w] || g.agreements[w]:
		default:
			return Reply{}
		}
	}
	switch {
	case strings.ContainsAny(text, "?？"):
		return Reply{}
	case open && (r.Names != "" || g.begins(words)):
		return Reply{Kind: ReplyUnclear}
	case r.Names == "":
		return Reply{}
	}
	return r
}

// begins reports whether words begin as an answer does, without being one: "okay, wait".
func (g *Grammar) begins(words []string) bool {
	for n := min(3, len(words)); n > 0; n-- {
		part := strings.Join(words[:n], " ")
		if g.agreements[part] || g.commands[part] == CommandContinue {
			return true
		}
	}
	return false
}

// leadOf returns the yes or no at the start of an utterance, or else at its end, and the
// remaining words. first says that it stands at the start.
func (g *Grammar) leadOf(words []string) (kind ReplyKind, rest []string, first bool) {
	kindOf := func(part []string) ReplyKind {
		switch g.commandOf(part).Command {
		case CommandYes:
			return ReplyYes
		case CommandNo:
			return ReplyNo
		}
		return NoReply
	}
	for n := len(words) - 1; n > 0; n-- {
		if kind := kindOf(words[:n]); kind != NoReply {
			return kind, words[n:], true
		}
	}
	for n := len(words) - 1; n > 0; n-- {
		if kind := kindOf(words[len(words)-n:]); kind != NoReply {
			return kind, words[:len(words)-n], false
		}
	}
	return NoReply, nil, false
}

// replyWords returns the words of an utterance in lower case. In a script without spaces it
// splits a yes or no from the text that follows, and a joining word or a "do not" from the text before.
func replyWords(text string) (out []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(annotation.ReplaceAllString(text, " ")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r) && r != '\'' && r != '’'
	}) {
		w = strings.NewReplacer("'", "", "’", "").Replace(w)
		for _, lead := range []string{"はい", "ええ", "いいえ"} {
			if rest, joined := strings.CutPrefix(w, lead); joined && rest != "" {
				out = append(out, lead)
				w = rest
			}
		}
		tail := ""
		for _, end := range []string{"だけど", "けれど", "けど", "でも", "ただ", "しないでください", "しないで"} {
			if rest, joined := strings.CutSuffix(w, end); joined && rest != "" {
				w, tail = rest, end
				break
			}
		}
		if w != "" {
			out = append(out, w)
		}
		if tail != "" {
			out = append(out, tail)
		}
	}
	return out
}

var (
	// besides may accompany a yes or no and the name of the action.
	besides = set(`it that this them these those the a file files please now do go ahead and you may can tool use command for me on with okay ok yes
		es das die den der dem diese dieses bitte datei jetzt mal tu mach du kannst darfst sie können dürfen und werkzeug mit für auf ja aus
		を して ください お願いします してください それ ファイル`)
	// connectives are words without meaning of their own. After a yes or no, they are the
	// recogniser's transcript of a breath, or the start of an unfinished sentence.
	connectives = set(`an and are as at but by for from he her his if in is its of or our she so some such than that then there
		they to too uh um was we well were with
		aber als also auch bei da dann dass denn doch ein eine er halt im ist noch oder sie so von wenn wie wir zu
		で と は も が`)
	// negations may follow a no.
	negations = set(`no not dont never nein nicht nie doch bitte lieber いいえ`)
)
