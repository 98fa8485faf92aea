package world

import (
	"reflect"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Reaction returns the first report of the handlers about an effect on success, nil if
// the effect is not answered.
func Reaction(f csm.Effect) csm.Event {
	if i, ok := ruleOf[csm.NameOf(f)]; ok {
		return rules[i].says[0].event(&Place{}, rules[i].open(f))
	}
	return Ending(f, Done)
}

// Ending returns the handlers' terminal of an effect with an outcome, nil if there is
// none. A cancelled request ends as Cancelled.
func Ending(f csm.Effect, o Outcome) csm.Event {
	if asked, id, ok := cancels(f); ok {
		return ruleFor(asked).ending(Item{ID: id}, Cancelled)
	}
	if r := ruleFor(csm.NameOf(f)); r != nil {
		return r.ending(r.open(f), o)
	}
	return nil
}

// WithCode returns a failure with another code.
func WithCode(e csm.Event, code csm.Code) csm.Event {
	v := reflect.New(reflect.TypeOf(e)).Elem()
	v.Set(reflect.ValueOf(e))
	v.FieldByName("Code").Set(reflect.ValueOf(code))
	return v.Interface().(csm.Event)
}

// Stops returns the effect whose request f cancels, if any.
func Stops(f csm.Effect) (asked string, ok bool) {
	asked, _, ok = cancels(f)
	return asked, ok
}

func ruleFor(effect string) *rule {
	if i, ok := ruleOf[effect]; ok {
		return &rules[i]
	}
	return nil
}

func (r *rule) ending(it Item, o Outcome) csm.Event {
	for _, sy := range r.says {
		if sy.next == nil && sy.outcome == o {
			return sy.event(&Place{}, it)
		}
	}
	if o == Cancelled { // it has no cancelled terminal and fails instead
		return r.ending(it, Failed)
	}
	return nil
}

// MoveOf returns the move that an event makes, whoever caused it: a possible move, which
// is lawful, or else a report about an owed item with the same ids. known is false for
// any other event.
func (p *Place) MoveOf(e csm.Event, same func(a, b csm.Event) bool) (m Move, lawful, known bool) {
	for _, m := range p.Moves(nil) {
		if m.Event == e {
			return m, true, true
		}
	}
	for i, it := range p.Env.Owed.All() {
		for j, sy := range rules[it.Rule].says {
			if same(sy.event(p, it), e) {
				return Move{Event: e, Class: Answer, item: int8(i), say: uint8(j)}, false, true
			}
		}
	}
	return does(e), false, false
}
