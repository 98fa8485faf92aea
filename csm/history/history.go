// Package history is the history region: what was said, and of the assistant's
// words only what was heard.
//
// It keeps references and lengths, never words. The words are beside the core;
// an item names the utterance or the answer that they belong to, and for an
// answer how many of its characters the playback cursor proves were heard.
package history

// MaxItems bounds the history. The oldest items leave first, a whole exchange
// at a time, so that the first item is always the user's.
const MaxItems = 40

// Item is one side of an exchange.
type Item struct {
	Turn      uint64 `json:"turn"`
	Utterance uint64 `json:"utterance,omitempty"` // the user's, or
	Request   uint64 `json:"request,omitempty"`   // the assistant's
	Heard     int    `json:"heard,omitempty"`     // characters of the answer that were heard
}

// State is the history of a conversation, oldest first. Items is never modified
// in place.
type State struct {
	Items   []Item `json:"items,omitempty"`
	Dropped uint64 `json:"dropped,omitempty"` // items that left because of MaxItems
}

// Said adds the user's utterance.
func (s State) Said(turn, utterance uint64) State {
	return s.add(Item{Turn: turn, Utterance: utterance})
}

// Heard adds an answer, or raises the heard length of the last one when it is
// of the same request. A shorter length than the known one changes nothing.
func (s State) Heard(turn, request uint64, chars int) State {
	if chars == 0 {
		return s
	}
	if n := len(s.Items); n > 0 && s.Items[n-1].Request == request {
		if chars <= s.Items[n-1].Heard {
			return s
		}
		items := append([]Item(nil), s.Items...)
		items[n-1].Heard = chars
		return State{Items: items, Dropped: s.Dropped}
	}
	return s.add(Item{Turn: turn, Request: request, Heard: chars})
}

func (s State) add(it Item) State {
	from := 0
	if len(s.Items) >= MaxItems {
		from = 1
		for from < len(s.Items) && s.Items[from].Utterance == 0 {
			from++
		}
	}
	items := make([]Item, 0, len(s.Items)-from+1)
	items = append(append(items, s.Items[from:]...), it)
	return State{Items: items, Dropped: s.Dropped + uint64(from)}
}
