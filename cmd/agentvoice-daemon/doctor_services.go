package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/live"
	"github.com/agentvoice/agentvoice-daemon/internal/services"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// endsSoon is how long before its end a model is warned of.
const endsSoon = 60 * 24 * time.Hour

// examineModels says of each hosted model that the settings select what it costs and when it ends.
func examineModels(set protocol.Settings, today time.Time) (all []finding) {
	ours := live.HostedModels(set)
	for _, m := range ours {
		detail, err := examineModel(set, m, today)
		ended := refused(set, m)
		if known, ok := services.Of(m.Name); ok {
			ended = known.EndsBefore(today)
		}
		all = append(all, found("model", ended, detail, nil, err))
	}
	for _, m := range live.AllModels(set) { // of other services, only what keeps a conversation from starting
		if !slices.Contains(ours, m) && refused(set, m) {
			all = append(all, found("model", true, "", nil, unpriced(m)))
		}
	}
	return all
}

// refused reports whether a conversation does not start with a model, because a budget is set and its price
// is not known.
func refused(set protocol.Settings, m live.HostedModel) bool {
	return set.Budget.Limited() && len(daemon.Unpriced(set, []usage.Use{m.UseOf()})) > 0
}

func unpriced(m live.HostedModel) error {
	return fault{m.Name + ": what it costs is not known, so no conversation starts with it while a budget is set", "set its price in " + protocol.Prefix + "budget.prices"}
}

// examineModel describes a model. The error is that it ends soon, has ended, or cannot be used with a budget.
func examineModel(set protocol.Settings, m live.HostedModel, today time.Time) (string, error) {
	known, ok := services.Of(m.Name)
	own := daemon.Priced(set, m.UseOf()).Price
	switch {
	case refused(set, m):
		return "", unpriced(m)
	case !ok && own == nil:
		return m.Name + ": when it ends and what it costs is not known here; with a budget, set its price in " + protocol.Prefix + "budget.prices", nil
	case !ok:
		return fmt.Sprintf("%s: %s (your price); when it ends is not known here", m.Name, priceText(*own)), nil
	}
	text := fmt.Sprintf("%s: %v (as of %v)", m.Name, *known.Price, known.Looked)
	if own != nil {
		text = fmt.Sprintf("%s: %s (your price)", m.Name, priceText(*own))
	}
	switch {
	case known.Ends.IsZero():
		return text, nil
	case !known.EndsBefore(today.Add(endsSoon)):
		return fmt.Sprintf("%s; OpenAI ends it on %v", text, known.Ends), nil
	}
	ends := "ends it on"
	if known.EndsBefore(today) {
		ends = "ended it on"
	}
	return "", fault{fmt.Sprintf("%s: OpenAI %s %v", m.Name, ends, known.Ends), otherModel(m, known)}
}

func priceText(p services.Price) string { return cmp.Or(p.String(), "free") }

// otherModel says what to use instead of a model.
func otherModel(m live.HostedModel, known services.Model) string {
	if m.Use == services.Speech { // there are no others for that request
		return fmt.Sprintf("set %svoice.provider to local and %svoice.wire to auto", protocol.Prefix, protocol.Prefix)
	}
	return fmt.Sprintf("set %s to %s", m.Setting, known.Instead)
}

// modelNotes are the lines of `settings check` about models that end.
func modelNotes(set protocol.Settings, today time.Time) (notes []string) {
	for _, m := range live.HostedModels(set) {
		switch known, _ := services.Of(m.Name); {
		case known.Ends.IsZero():
		case known.EndsBefore(today):
			notes = append(notes, fmt.Sprintf("%s: OpenAI ended %s on %v; %s", m.Setting, m.Name, known.Ends, otherModel(m, known)))
		default:
			notes = append(notes, fmt.Sprintf("%s: OpenAI ends %s on %v; %s", m.Setting, m.Name, known.Ends, otherModel(m, known)))
		}
	}
	return notes
}
