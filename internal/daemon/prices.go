package daemon

import (
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

// Priced returns a use with the price that the user gives for its model, if any.
func Priced(s protocol.Settings, u usage.Use) usage.Use {
	if u.Price != nil {
		return u
	}
	prices, _, _ := protocol.ModelPrices(s.Budget.Prices) // invalid prices were rejected with the settings
	given, ok := prices[u.Model]
	if !ok {
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

// Unpriced returns the models of uses without a known price, each once.
func Unpriced(s protocol.Settings, uses []usage.Use) (models []string) {
	seen := map[string]bool{}
	for _, u := range uses {
		if _, known := Priced(s, u).Rate(); !known && !seen[u.Model] {
			seen[u.Model] = true
			models = append(models, u.Model)
		}
	}
	return models
}

// refuse ends a conversation that begins with a budget and a model without a known price, which the
// budget could not limit. It runs before the World activates the session, so that no service is called.
func (d *Daemon) refuse() {
	set := d.settings()
	if !set.Budget.Limited() {
		return
	}
	var uses []usage.Use
	if w, ok := d.world.(Payer); ok {
		uses = w.Pays(set)
	}
	if a, ok := d.adapter().(copilot.Hosted); ok {
		provider, model := a.Hosted(set.Copilot.Model)
		uses = append(uses, usage.Use{Provider: provider, Model: model})
	}
	if models := Unpriced(set, uses); len(models) > 0 {
		d.warn(protocol.CodePriceUnknown, strings.Join(models, ", "))
		d.loop.Post(csm.UserStop{})
	}
}
