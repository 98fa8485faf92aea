package realtime

import (
	"fmt"
	"slices"
)

// turns names the user's turns at a service that does not name them when they begin
// (provider.Session.Unnamed). The turn that is open gets a name of its own; the first
// caption or the commit tells which item it is.
type turns struct {
	count     int
	open      string      // name of the turn that is not committed; "" if none
	captioned string      // its item, if it has captions
	committed []namedTurn // without their transcript yet, oldest first
	last      string      // name of the turn whose transcript came last
}

// namedTurn is a turn whose item is known.
type namedTurn struct{ item, name string }

// begin returns the name of the turn that begins. A turn that is still open goes on: the
// service drops one without captions silently.
func (t *turns) begin() string {
	if t.open == "" {
		t.count++
		t.open = fmt.Sprintf("turn_%d", t.count)
	}
	return t.open
}

// of returns the name of an item's turn, which is the item if the service named it.
func (t *turns) of(item string) string {
	if i := t.index(item); i >= 0 {
		return t.committed[i].name
	}
	if t.open == "" || t.captioned != "" && t.captioned != item {
		return item
	}
	t.captioned = item
	return t.open
}

func (t *turns) index(item string) int {
	return slices.IndexFunc(t.committed, func(n namedTurn) bool { return n.item == item })
}

// commit ends the open turn, whose transcript follows.
func (t *turns) commit(item string) {
	if name := t.of(item); name == t.open && t.open != "" {
		t.open, t.captioned = "", ""
		if t.committed = append(t.committed, namedTurn{item, name}); len(t.committed) > maxItems {
			t.committed = t.committed[1:]
		}
	}
}

// finish returns the name of a turn whose transcript came, or will not come.
func (t *turns) finish(item string) string {
	t.last = t.of(item)
	if i := t.index(item); i >= 0 {
		t.committed = slices.Delete(t.committed, i, i+1)
	} else if t.last == t.open {
		t.open, t.captioned = "", ""
	}
	return t.last
}

// fail returns the name of the oldest turn without a transcript, which gets none. If all have one, it
// is a new name: the turn was ended by a commit, which names another item than the transcript.
func (t *turns) fail() string {
	if len(t.committed) > 0 {
		return t.finish(t.committed[0].item)
	}
	t.count++
	return fmt.Sprintf("turn_%d", t.count)
}
