package main

import (
	"fmt"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/daemon/live"
	"github.com/agentvoice/agentvoice-daemon/internal/services"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// endsSoon is how long before its end a model is warned of.
const endsSoon = 60 * 24 * time.Hour

// examineModels says of each hosted model that the settings select what it costs and when it ends.
func examineModels(set protocol.Settings, today time.Time) (all []finding) {
	for _, m := range live.HostedModels(set) {
		detail, err := examineModel(m, today)
		ended := false
		if known, ok := services.Of(m.Name); ok {
			ended = known.EndsBefore(today)
		}
		all = append(all, found("model", ended, detail, nil, err))
	}
	return all
}

// examineModel describes a model. The error is that it ends soon, or has ended.
func examineModel(m live.HostedModel, today time.Time) (string, error) {
	known, ok := services.Of(m.Name)
	if !ok {
		return m.Name + ": when it ends and what it costs is not known here, so a budget does not count it", nil
	}
	text := fmt.Sprintf("%s: %v (as of %v)", m.Name, *known.Price, known.Looked)
	if known.Price.SessionMinute > 0 {
		text += ", which a budget does not count"
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
