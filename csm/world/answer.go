package world

import (
	"reflect"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Reaction is what the handlers say first about an effect when all goes well. It is
// nil for an effect that is not answered.
func Reaction(f csm.Effect) csm.Event {
	if i, ok := ruleOf[csm.NameOf(f)]; ok {
		return rules[i].says[0].event(&Place{}, rules[i].open(f))
	}
	return Ending(f, Done)
}

// Ending is how the handlers end what an effect asks for, nil where they do not end
// it like that. What is told to stop ends as cancelled.
func Ending(f csm.Effect, o Outcome) csm.Event {
	if asked, id, ok := cancels(f); ok {
		return ruleFor(asked).ending(Item{ID: id}, Cancelled)
	}
	if r := ruleFor(csm.NameOf(f)); r != nil {
		return r.ending(r.open(f), o)
	}
	return nil
}

// WithCode is a failure with another code.
func WithCode(e csm.Event, code csm.Code) csm.Event {
	v := reflect.New(reflect.TypeOf(e)).Elem()
	v.Set(reflect.ValueOf(e))
	v.FieldByName("Code").Set(reflect.ValueOf(code))
	return v.Interface().(csm.Event)
}

// Stops says which effect asked for what f has told to stop, if f does.
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
	if o == Cancelled { // it fails instead
		return r.ending(it, Failed)
	}
	return nil
}

// MoveOf is the move that an event makes, whoever had it happen: one of those that
// can happen, which is lawful, or else a report about an owed item that has the same
// ids. known is false for an event that is neither.
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
