package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// agentChoice holds the modes and sessions of the agent that the user was last told.
// voiceCommands.mu guards its fields.
type agentChoice struct {
	sessions []copilot.Session // as listed most recently
	mode     *unaskedMode      // awaits a spoken yes
}

// unaskedMode is a mode in which an agent may act without asking, and the deadline, by
// the conversation's clock, for the yes that switches to it.
type unaskedMode struct {
	agent copilot.Agent
	mode  copilot.Mode
	until time.Duration
}

const (
	agentTime   = 40 * time.Second // limit for the agent, including its start
	confirmTime = 30 * time.Second // limit for a yes to a mode
	maxListed   = 5                // sessions read aloud
)

// agentCommand returns the action for a command about who answers, or about the modes, models or
// sessions of the current adapter. It returns nil if the words are not such a command, or if
// nothing matches it.
func (d *Daemon) agentCommand(u spoken.Utterance, text string) (do func()) {
	name := ""
	if u.Command == "" {
		u.Command, name = d.grammar().Named(text, func(c spoken.Command, name string) bool {
			switch c {
			case spoken.CommandSwitchAssistant:
				return d.assistantNamed(name).ID != ""
			case spoken.CommandOpenSession:
				return spoken.NamesChoice(c, name) || d.listedSession(name) >= 0
			}
			return spoken.NamesChoice(c, name)
		})
	}
	if !u.Command.Agent() {
		return nil
	}
	return d.agentAction(u.Command, name)
}

func (d *Daemon) agentAction(c spoken.Command, name string) (do func()) {
	lister, lists := d.adapter().(copilot.Lister)
	agent, is := d.adapter().(copilot.Agent)
	switch {
	case c == spoken.CommandListModels && lists:
		return d.askAgent(func(ctx context.Context) (string, error) { return d.listModels(ctx, lister) })
	case c == spoken.CommandSwitchModel && lists:
		return d.askAgent(func(ctx context.Context) (string, error) { return d.switchModel(ctx, lister, name) })
	case (c == spoken.CommandListModels || c == spoken.CommandSwitchModel) && d.cfg.Editor != nil:
		return func() { d.say(agentTexts[d.locale()].modelsInPanel) }
	case c == spoken.CommandListAssistants && d.cfg.Assistants != nil:
		return func() { d.say(d.listAssistants()) }
	case c == spoken.CommandSwitchAssistant && d.cfg.Assistants != nil:
		return d.askAgent(func(ctx context.Context) (string, error) { return d.switchTo(ctx, d.assistantNamed(name)) })
	case c == spoken.CommandListModes && is:
		return d.askAgent(func(ctx context.Context) (string, error) { return d.listModes(ctx, agent) })
	case c == spoken.CommandSwitchMode && is:
		return d.askAgent(func(ctx context.Context) (string, error) { return d.switchMode(ctx, agent, name) })
	case c == spoken.CommandListSessions && is:
		return d.askAgent(func(ctx context.Context) (string, error) { return d.listSessions(ctx, agent) })
	case c == spoken.CommandLastSession && is, c == spoken.CommandOpenSession && is:
		return d.askAgent(func(ctx context.Context) (string, error) { return d.openSession(ctx, agent, name) })
	}
	return nil
}

// askAgent returns an action that queries the agent in the background and says the
// result.
func (d *Daemon) askAgent(ask func(context.Context) (string, error)) func() {
	return func() {
		go func() {
			ctx, cancel := context.WithTimeout(d.vocabulary.ctx, agentTime)
			defer cancel()
			said, err := ask(ctx)
			var failed *copilot.Error
			switch {
			case d.vocabulary.ctx.Err() != nil:
				return
			case errors.Is(err, copilot.ErrBusy):
				said = agentTexts[d.locale()].busy
			case errors.As(err, &failed):
				said = d.failure(knownCode(failed.Code, csm.CodeCopilotFailed), "").Message
			case err != nil:
				said = agentTexts[d.locale()].failed
			}
			if said != "" {
				d.say(said)
			}
		}()
	}
}

func (d *Daemon) listModes(ctx context.Context, agent copilot.Agent) (string, error) {
	modes, err := agent.Modes(ctx)
	words, now := agentTexts[d.locale()], ""
	if err != nil || len(modes) == 0 {
		return words.noModes, err
	}
	for _, m := range modes {
		if m.Current {
			now = fmt.Sprintf(words.now, clipSpoken(m.Name))
		}
	}
	return fmt.Sprintf(words.modes, d.listed(modeNames(modes))) + now, nil
}

// switchMode switches to the named mode. If the agent may act unasked in that mode, it
// asks for a yes first.
func (d *Daemon) switchMode(ctx context.Context, agent copilot.Agent, name string) (string, error) {
	modes, err := agent.Modes(ctx)
	words := agentTexts[d.locale()]
	if err != nil || len(modes) == 0 {
		return words.noModes, err
	}
	known := make([][]string, len(modes))
	for i, m := range modes {
		known[i] = []string{m.Name, m.ID}
		for _, s := range modeSynonyms {
			if spoken.NameKey(m.Name) == s[0] || spoken.NameKey(m.ID) == s[0] {
				known[i] = append(known[i], s[1:]...)
			}
		}
	}
	at := meantBy(name, known)
	if at < 0 {
		return fmt.Sprintf(words.noMode, clipSpoken(name), d.listed(modeNames(modes))), nil
	}
	mode := modes[at]
	if !mode.Asks && !mode.Current {
		d.voice.mu.Lock()
		d.voice.agent.mode = &unaskedMode{agent, mode, d.cfg.Clock.Now() + confirmTime}
		d.voice.mu.Unlock()
		return fmt.Sprintf(words.unaskedMode, clipSpoken(mode.Name)), nil
	}
	return d.setMode(ctx, agent, mode)
}

func (d *Daemon) setMode(ctx context.Context, agent copilot.Agent, mode copilot.Mode) (string, error) {
	return fmt.Sprintf(agentTexts[d.locale()].modeSet, clipSpoken(mode.Name)), agent.SetMode(ctx, mode.ID)
}

// settlesMode reports whether an utterance answers the open question about a mode in
// which the agent acts unasked, and queues the action. A yes that is not sure keeps the mode.
// Any other words decline silently.
func (d *Daemon) settlesMode(utterance uint64, class csm.Class, sure bool) bool {
	if class == csm.Backchannel || class == csm.Empty {
		return false
	}
	d.voice.mu.Lock()
	asked := d.voice.agent.mode
	d.voice.agent.mode = nil
	d.voice.mu.Unlock()
	if asked == nil || d.asking() || d.cfg.Clock.Now() > asked.until || class != csm.Yes && class != csm.No {
		return false
	}
	do := func() { d.say(agentTexts[d.locale()].modeKept) }
	if class == csm.Yes && sure {
		do = d.askAgent(func(ctx context.Context) (string, error) { return d.setMode(ctx, asked.agent, asked.mode) })
	}
	d.wish(utterance, wish{do: do})
	return true
}

func (d *Daemon) listModels(ctx context.Context, lister copilot.Lister) (string, error) {
	models, err := lister.Models(ctx)
	words := agentTexts[d.locale()]
	if err != nil || len(models) == 0 {
		return words.noModels, err
	}
	return fmt.Sprintf(words.models, d.listed(modelNames(models))), nil
}

func (d *Daemon) switchModel(ctx context.Context, lister copilot.Lister, name string) (string, error) {
	models, err := lister.Models(ctx)
	words := agentTexts[d.locale()]
	if err != nil || len(models) == 0 {
		return words.noModels, err
	}
	known := make([][]string, len(models))
	for i, m := range models {
		known[i] = []string{m.Name, m.ID}
	}
	at := meantBy(name, known)
	if at < 0 {
		return fmt.Sprintf(words.noModel, clipSpoken(name), d.listed(modelNames(models))), nil
	}
	d.SelectModel(models[at].ID, func(csm.Reply, protocol.Snapshot) {})
	return fmt.Sprintf(words.modelSet, clipSpoken(nameOfModel(models[at]))), nil
}

func (d *Daemon) listSessions(ctx context.Context, agent copilot.Agent) (string, error) {
	sessions, err := d.sessions(ctx, agent)
	words := agentTexts[d.locale()]
	if err != nil || len(sessions) == 0 {
		return words.noSessions, err
	}
	var names []string
	for i, s := range sessions[:min(len(sessions), maxListed)] {
		names = append(names, fmt.Sprintf("%d, %s", i+1, d.titleOf(s)))
	}
	if more := len(sessions) - maxListed; more > 0 {
		names = append(names, fmt.Sprintf(questions[d.locale()].more, more))
	}
	return fmt.Sprintf(words.sessions, strings.Join(names, "; ")), nil
}

// sessions lists the agent's sessions and keeps the list, so that the user can refer to
// its numbers.
func (d *Daemon) sessions(ctx context.Context, agent copilot.Agent) ([]copilot.Session, error) {
	sessions, err := agent.Sessions(ctx)
	d.voice.mu.Lock()
	d.voice.agent.sessions = sessions
	d.voice.mu.Unlock()
	return sessions, err
}

// openSession continues the named session, or the latest if name is empty. A number
// refers to the list that was said last.
func (d *Daemon) openSession(ctx context.Context, agent copilot.Agent, name string) (string, error) {
	words, at := agentTexts[d.locale()], 0
	d.voice.mu.Lock()
	sessions := d.voice.agent.sessions
	d.voice.mu.Unlock()
	if name == "" || len(sessions) == 0 {
		var err error
		if sessions, err = d.sessions(ctx, agent); err != nil || len(sessions) == 0 {
			return words.noSessions, err
		}
	}
	if n, number := spoken.NumberOf(name); number {
		at = int(n) - 1
	} else if name != "" {
		at = d.listedSession(name)
	}
	if at < 0 || at >= len(sessions) {
		return fmt.Sprintf(words.noSession, clipSpoken(name), len(sessions)), nil
	}
	if err := agent.LoadSession(ctx, sessions[at].ID); err != nil {
		return "", err
	}
	d.voice.mu.Lock()
	d.voice.agent.sessions = nil // the numbers have changed
	d.voice.mu.Unlock()
	return fmt.Sprintf(words.sessionSet, d.titleOf(sessions[at])), nil
}

// listedSession returns the index, by title, of a session in the list that was said
// last, or -1.
func (d *Daemon) listedSession(name string) int {
	d.voice.mu.Lock()
	defer d.voice.mu.Unlock()
	var titles [][]string
	for _, s := range d.voice.agent.sessions {
		titles = append(titles, []string{s.Title})
	}
	return meantBy(name, titles)
}

func (d *Daemon) titleOf(s copilot.Session) string {
	if title := clipSpoken(s.Title); title != "" {
		return title
	}
	return agentTexts[d.locale()].untitled
}

// mayActUnasked announces an agent that may change things without asking the user.
func (d *Daemon) mayActUnasked() {
	d.say(fmt.Sprintf(agentTexts[d.locale()].mayActUnasked, d.agent()))
}

// minPart is the shortest part of a name, in characters, that matches if only one name
// contains it.
const minPart = 3

// meantBy returns the index of the entry that name means: an exact match, or else the
// only entry that contains it. It returns -1 if there is no such entry.
func meantBy(name string, all [][]string) int {
	key := spoken.NameKey(name)
	has := func(match func(string) bool) (at int) {
		at = -1
		for i, names := range all {
			if slices.ContainsFunc(names, func(n string) bool { return match(spoken.NameKey(n)) }) {
				if at >= 0 {
					return -1
				}
				at = i
			}
		}
		return at
	}
	at := has(func(k string) bool { return k == key })
	if at < 0 && utf8.RuneCountInString(key) >= minPart {
		at = has(func(k string) bool { return strings.Contains(k, key) })
	}
	return at
}

func modeNames(modes []copilot.Mode) (names []string) {
	for _, m := range modes {
		names = append(names, m.Name)
	}
	return names
}

func modelNames(models []copilot.Model) (names []string) {
	for _, m := range models {
		names = append(names, nameOfModel(m))
	}
	return names
}

// nameOfModel returns the name that is spoken, which may begin with its provider: "Local/Small".
func nameOfModel(m copilot.Model) string { return strings.ReplaceAll(cmp.Or(m.Name, m.ID), "/", " ") }

// listed joins names, up to the number that is read aloud.
func (d *Daemon) listed(names []string) string {
	said := make([]string, len(names))
	for i, n := range names {
		said[i] = clipSpoken(n)
	}
	return questions[d.locale()].few(said)
}
