package daemon

import (
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/services"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// Payer is a World that uses services which may cost something.
type Payer interface {
	// Pays returns a use of each service and model that a conversation with these settings needs.
	Pays(s protocol.Settings) []usage.Use
}

// pricesOf returns what the user gives for a model by unit; nil if nothing.
func pricesOf(s protocol.Settings, model string) map[string]float64 {
	prices, _, _ := protocol.ModelPrices(s.Budget.Prices) // invalid prices were rejected with the settings
	return prices[model]
}

// Priced returns a use with the price that the user gives for its model, if any.
func Priced(s protocol.Settings, u usage.Use) usage.Use {
	given := pricesOf(s, u.Model)
	if u.Price != nil || given == nil {
		return u
	}
	or := func(unit, other string) float64 {
		if price, ok := given[unit]; ok {
			return price
		}
		return given[other]
	}
	u.Price = &services.Price{
		TextIn: given["textIn"], TextCached: or("textCached", "textIn"), TextOut: given["textOut"],
		AudioIn: given["audioIn"], AudioCached: or("audioCached", "audioIn"), AudioOut: given["audioOut"],
		Characters: given["characters"], Minute: given["minute"],
		SessionMinute: given["sessionMinute"], StartSeconds: int(given["startSeconds"]),
	}
	return u
}

// Unknown is a model without a known price, and the units that are missing.
type Unknown struct{ Model, Lacks string }

func (u Unknown) String() string {
	if u.Lacks == "" {
		return u.Model
	}
	return u.Model + ": " + u.Lacks
}

// Unpriced returns the models of uses without a known price, each once. A user's price needs the units that
// the use is paid by, or the use would seem to cost nothing.
func Unpriced(s protocol.Settings, uses []usage.Use) (models []Unknown) {
	for _, u := range uses {
		rate, known := Priced(s, u).Rate()
		given := pricesOf(s, u.Model)
		m := Unknown{u.Model, u.For.Lacks(given)}
		priced := known && (given == nil || m.Lacks == "" || rate == (services.Price{}))
		if !priced && !slices.Contains(models, m) {
			models = append(models, m)
		}
	}
	return models
}

// uses returns a use of each service and model that a conversation with these settings needs.
func (d *Daemon) uses(set protocol.Settings) (uses []usage.Use) {
	if w, ok := d.world.(Payer); ok {
		uses = w.Pays(set)
	}
	return append(uses, d.chats(d.modelFor(set))...)
}

// chats returns a use of the assistant's service with a model, if the user of this program pays it.
func (d *Daemon) chats(model string) []usage.Use {
	a, ok := d.adapter().(copilot.Hosted)
	if !ok {
		return nil
	}
	provider, model := a.Hosted(model)
	return []usage.Use{{Provider: provider, Model: model, For: services.Chat}}
}

// unlimited warns of uses without a known price, which a budget could not limit, and reports whether there are any.
func (d *Daemon) unlimited(set protocol.Settings, uses []usage.Use) bool {
	if !set.Budget.Limited() {
		return false
	}
	var names []string
	for _, m := range Unpriced(set, uses) {
		names = append(names, m.String())
	}
	if len(names) == 0 {
		return false
	}
	d.warn(protocol.CodePriceUnknown, strings.Join(names, "; "))
	return true
}

// cost stores whether a conversation that begins may cost something. It runs on the loop's goroutine.
func (d *Daemon) cost() {
	set := d.settings()
	d.costs = slices.ContainsFunc(d.uses(set), func(u usage.Use) bool {
		rate, known := Priced(set, u).Rate()
		return !known || rate != (services.Price{})
	})
}

// refuse ends a conversation with a budget and a model without a known price. At the start, it runs before
// the World activates the session, so that no service is called.
func (d *Daemon) refuse() {
	if set := d.settings(); d.unlimited(set, d.uses(set)) {
		d.loop.Post(csm.UserStop{})
	}
}

// selectable reports whether a model can be selected now: with a budget, a conversation continues only with
// a model of a known price.
func (d *Daemon) selectable(model string) bool {
	return !d.conversing() || !d.unlimited(d.settings(), d.chats(model))
}

// conversing reports whether a conversation has started, from when refuse has checked it, and goes on.
func (d *Daemon) conversing() bool {
	st := d.loop.State()
	idle, _ := st.Conv.(csm.Idle)
	return idle.Starting || st.Phase().Active()
}
