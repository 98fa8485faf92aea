package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/live"
	"github.com/agentvoice/agentvoice-daemon/internal/services"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// endsSoon is how long before its end a model is warned of.
const endsSoon = 60 * 24 * time.Hour

// models returns the models that talk would use with the same flags, of all services but the engines of this
// machine; hosted says which are of OpenAI itself.
func (f *doctorFlags) models(set protocol.Settings) (all, hosted []live.HostedModel) {
	all, hosted = live.AllModels(set), live.HostedModels(set)
	if f.agent != "openai" {
		return all, hosted
	}
	a, err := assistants{assistantFlags: &f.assistantFlags}.named(protocol.ChatSettings{}, f.agent, "") // an error is reported as one of the assistant
	if service, ok := a.(copilot.Hosted); ok && err == nil {
		of, model := service.Hosted(set.Copilot.Model)
		chat := live.HostedModel{Name: model, Setting: "--agent-model", Use: services.Chat, Provider: protocol.Provider(of)}
		if all = append(all, chat); chat.Provider == protocol.ProviderOpenAI {
			hosted = append(hosted, chat)
		}
	}
	return all, hosted
}

// ends returns the function that asks OpenAI when it ends a model. Without a key it asks nothing.
func (f *doctorFlags) ends(ctx context.Context, t transports) func(live.HostedModel) (services.Day, error) {
	return func(m live.HostedModel) (services.Day, error) {
		transport, key := t.chat, os.Getenv(envOpenAI)
		if m.Use != services.Chat {
			c, _ := credentials(f.keyFile)(ctx, protocol.ProviderOpenAI) // an error is reported as one of the credentials
			transport, key = t.voice, c.Value
		}
		if key == "" {
			return services.Day{}, nil
		}
		return endOf(ctx, transport, key, m.Name)
	}
}

// maxModel bounds what is read of the description of a model, in bytes.
const maxModel = 64 << 10

// endOf asks OpenAI when it ends a model; zero if no end is announced.
func endOf(ctx context.Context, t http.RoundTripper, key, model string) (end services.Day, err error) {
	openAI, _ := provider.Of(provider.OpenAI)
	home, _ := openAI.Base("")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, home+"/models/"+url.PathEscape(model), nil)
	if err != nil {
		return end, err
	}
	openAI.Authorize(req.Header, key, false)
	res, err := t.RoundTrip(req)
	if err != nil {
		return end, err
	}
	defer func() { _ = res.Body.Close() }()
	var row struct {
		Ends *services.Day `json:"shutdown_date"`
	}
	switch {
	case res.StatusCode == http.StatusUnauthorized:
		return end, errors.New("it rejected the key")
	case res.StatusCode == http.StatusNotFound:
		return end, errors.New("it does not have this model, or the key may not use it")
	case res.StatusCode != http.StatusOK:
		return end, fmt.Errorf("status %d", res.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxModel)).Decode(&row); err != nil {
		return end, errors.New("its answer does not describe a model")
	}
	if row.Ends != nil {
		end = *row.Ends
	}
	return end, nil
}

// examineModels says of each hosted model what it costs and when it ends, by the table or, if that is
// sooner or the table does not know it, by what ask returns.
func (f *doctorFlags) examineModels(set protocol.Settings, today time.Time, ask func(live.HostedModel) (services.Day, error)) (all []finding) {
	models, hosted := f.models(set)
	for _, m := range hosted {
		known, _ := services.Of(m.Name)
		told, err := ask(m)
		if !told.IsZero() && (known.Ends.IsZero() || told.Before(known.Ends.Time)) {
			known.Ends = told
		}
		detail, problem := examineModel(set, m, known, today)
		if err != nil && problem == nil {
			detail += fmt.Sprintf("; asking OpenAI for its end failed (%v)", err)
		}
		all = append(all, found("model", misused(m, known) != nil || unpriced(set, m) != nil || known.EndsBefore(today), detail, nil, problem))
	}
	for _, m := range models { // of other services, only what keeps a conversation from starting
		if problem := unpriced(set, m); problem != nil && !slices.Contains(hosted, m) {
			all = append(all, found("model", true, "", nil, problem))
		}
	}
	return all
}

// unpriced returns why a conversation does not start with a model: a budget is set, and its price is not known.
func unpriced(set protocol.Settings, m live.HostedModel) error {
	unknown := daemon.Unpriced(set, []usage.Use{m.UseOf()})
	if !set.Budget.Limited() || len(unknown) == 0 {
		return nil
	}
	return fault{m.Name + ": what it costs is not known, so no conversation starts with it while a budget is set",
		fmt.Sprintf("set its price in %sbudget.prices: %s", protocol.Prefix, unknown[0].Lacks)}
}

// misused returns why a model cannot do what it is used for, as far as that is known.
func misused(m live.HostedModel, known services.Model) error {
	if known.Name == "" || slices.Contains(known.Serves, m.Use) {
		return nil
	}
	return fault{fmt.Sprintf("%s: OpenAI does not have it for %s", m.Name, m.Use), fmt.Sprintf("set %s to a model that it has, or leave it empty", m.Setting)}
}

// examineModel describes a model; known has no name if the table has no row of it. The error is that
// it ends soon, has ended, or cannot be used.
func examineModel(set protocol.Settings, m live.HostedModel, known services.Model, today time.Time) (string, error) {
	if problem := cmp.Or(misused(m, known), unpriced(set, m)); problem != nil {
		return "", problem
	}
	var text string
	switch own := daemon.Priced(set, m.UseOf()).Price; {
	case own != nil:
		text = fmt.Sprintf("%s: %s (your price)", m.Name, cmp.Or(own.String(), "free"))
	case known.Price != nil:
		text = fmt.Sprintf("%s: %v (as of %v)", m.Name, *known.Price, known.Looked)
	default:
		text = fmt.Sprintf("%s: what it costs is not known here; with a budget, set its price in %sbudget.prices", m.Name, protocol.Prefix)
	}
	switch {
	case known.Ends.IsZero() && known.Name == "":
		return text + "; when it ends is not known here", nil
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
	switch {
	case m.Use == services.Speech: // there are no others for that request
		return fmt.Sprintf("set %svoice.provider to local and %svoice.wire to auto", protocol.Prefix, protocol.Prefix)
	case known.Instead == "":
		return fmt.Sprintf("set %s to another model", m.Setting)
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
