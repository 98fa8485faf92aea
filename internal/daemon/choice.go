package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// checkTime limits the check of an assistant.
const checkTime = 45 * time.Second

// Assistants lists the assistants that can be chosen. It checks the one with the id check, which
// may block until ctx is done.
func (d *Daemon) Assistants(ctx context.Context, check string) protocol.AssistantsResult {
	if d.cfg.Assistants == nil {
		return protocol.AssistantsResult{}
	}
	all, selected := d.cfg.Assistants(d.settings())
	i := slices.IndexFunc(all, func(a protocol.Assistant) bool { return a.ID == check })
	if i >= 0 && check != protocol.EditorAssistant {
		ctx, cancel := context.WithTimeout(ctx, checkTime)
		defer cancel()
		folder, _ := d.trustedFolder()
		err := d.cfg.Check(ctx, d.settings(), check, folder)
		ready := err == nil
		if all[i].Ready = &ready; !ready {
			code := csm.CodeCopilotFailed
			if failed := (*copilot.Error)(nil); errors.As(err, &failed) {
				code = knownCode(failed.Code, code)
			}
			p := protocol.ErrorCode(code).Spec().By(all[i].Title).Params(d.locale(), "")
			all[i].Code, all[i].Reason = p.Code, p.Message
		}
	}
	return protocol.AssistantsResult{Assistants: all, Selected: selected}
}

// ErrNoAssistant reports an unknown id of an assistant.
var ErrNoAssistant = errors.New("no assistant has this id; choose one of assistant/list")

// AgentFor returns the value of agentvoice.agent for an assistant of the list.
func (d *Daemon) AgentFor(id string) (string, error) {
	kind, _, named := strings.Cut(id, ":")
	switch {
	case id == protocol.EditorAssistant:
		return "", nil
	case named && kind == protocol.ChatAssistant, d.cfg.Assistants == nil:
		return id, nil
	}
	all, _ := d.cfg.Assistants(d.settings())
	if !slices.ContainsFunc(all, func(a protocol.Assistant) bool { return a.ID == id }) {
		return "", ErrNoAssistant
	}
	return id, nil
}

// endings are the last words of names that people leave out.
var endings = []string{" CLI", " Code", " Agent", " Build"}

// spokenNames returns what people call an assistant.
func spokenNames(a protocol.Assistant) []string {
	_, name, _ := strings.Cut(a.ID, ":")
	names := []string{a.Title, name}
	if a.ID == protocol.OfflineAssistant {
		names = []string{a.Title}
		for _, words := range agentTexts {
			names = append(names, words.offline)
		}
	}
	for _, end := range endings {
		if short, cut := strings.CutSuffix(a.Title, end); cut {
			names = append(names, short)
		}
	}
	return names
}

// assistantNamed returns the assistant that the user names, or the zero value. A name has to be
// whole, because "switch to main" is meant for the assistant.
func (d *Daemon) assistantNamed(name string) protocol.Assistant {
	key := spoken.NameKey(name)
	if d.cfg.Assistants == nil || key == "" {
		return protocol.Assistant{}
	}
	all, _ := d.cfg.Assistants(d.settings())
	i := slices.IndexFunc(all, func(a protocol.Assistant) bool {
		return slices.ContainsFunc(spokenNames(a), func(n string) bool { return spoken.NameKey(n) == key })
	})
	if i < 0 {
		return protocol.Assistant{}
	}
	return all[i]
}

// listAssistants says who can answer.
func (d *Daemon) listAssistants() string {
	words := agentTexts[d.locale()]
	all, _ := d.cfg.Assistants(d.settings())
	var names []string
	for _, a := range all {
		switch {
		case a.ID == protocol.OfflineAssistant:
			names = append(names, words.offline)
		case a.Found:
			names = append(names, a.Title)
		}
	}
	return fmt.Sprintf(words.assistants, d.listed(names))
}

// switchTo checks an assistant, and has it answer from the next message on. The client keeps the
// choice for later conversations.
func (d *Daemon) switchTo(ctx context.Context, a protocol.Assistant) (string, error) {
	if !a.Found {
		return fmt.Sprintf(agentTexts[d.locale()].notInstalled, clipSpoken(a.Title)), nil
	}
	checked := d.Assistants(ctx, a.ID)
	i := slices.IndexFunc(checked.Assistants, func(o protocol.Assistant) bool { return o.ID == a.ID })
	if i >= 0 && checked.Assistants[i].Ready != nil && !*checked.Assistants[i].Ready {
		return clipSpoken(a.Title) + ": " + checked.Assistants[i].Reason, nil
	}
	agent, err := d.AgentFor(a.ID)
	if err != nil {
		return "", err
	}
	set := d.settings()
	set.Agent = agent
	d.Configure(set) // says who answers
	if d.cfg.Editor != nil {
		d.askEditor(protocol.EditorCommandParams{Command: protocol.EditorKeepAssistant, Names: []string{a.ID}}, func() {})
	}
	return "", nil
}
