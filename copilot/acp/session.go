package acp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// choiceLimit is the timeout for listing or switching modes, models and sessions.
const choiceLimit = 20 * time.Second

// methodSetModel sets a model that an agent lists in "models". The protocol has replaced
// it with configuration options, but Gemini CLI 0.61.0 still uses it.
const methodSetModel = "session/set_model"

// opened is the response when a session is opened, loaded or resumed.
type opened struct {
	SessionID acpsdk.SessionId         `json:"sessionId"`
	Modes     *acpsdk.SessionModeState `json:"modes"`
	Models    *struct {
		AvailableModels []struct {
			ModelID string `json:"modelId"`
			Name    string `json:"name"`
		} `json:"availableModels"`
		CurrentModelID string `json:"currentModelId"`
	} `json:"models"`
	ConfigOptions json.RawMessage `json:"configOptions"`
}

// offer holds the choices of a session and their current values. modeOption and
// modelOption name the configuration option that sets the value, or are "" if a separate
// method does.
type offer struct {
	modes       []copilot.Mode
	mode        string
	modeOption  acpsdk.SessionConfigId
	models      []copilot.Model
	model       string
	modelOption acpsdk.SessionConfigId
}

func (r opened) offer() (o offer) {
	var options []acpsdk.SessionConfigOption
	if json.Unmarshal(r.ConfigOptions, &options) == nil { // a different shape offers no choices
		o.configure(options)
	}
	if r.Modes != nil && o.modeOption == "" {
		o.mode = string(r.Modes.CurrentModeId)
		for _, m := range r.Modes.AvailableModes {
			o.modes = append(o.modes, copilot.Mode{ID: string(m.Id), Name: m.Name})
		}
	}
	if r.Models != nil && o.modelOption == "" {
		o.model = r.Models.CurrentModelID
		for _, m := range r.Models.AvailableModels {
			o.models = append(o.models, copilot.Model{ID: m.ModelID, Name: m.Name})
		}
	}
	return o
}

// configure reads modes and models from configuration options, which take precedence over modes
// and models that the agent lists separately for older clients. The first option of a category
// counts.
func (o *offer) configure(options []acpsdk.SessionConfigOption) {
	seen := map[acpsdk.SessionConfigOptionCategory]bool{}
	for _, option := range options {
		s := option.Select
		if s == nil || s.Category == nil || seen[*s.Category] {
			continue
		}
		values := valuesOf(s.Options)
		if len(values) == 0 {
			continue
		}
		seen[*s.Category] = true
		switch *s.Category {
		case acpsdk.SessionConfigOptionCategoryMode:
			o.mode, o.modeOption, o.modes = string(s.CurrentValue), s.Id, nil
			for _, v := range values {
				o.modes = append(o.modes, copilot.Mode{ID: string(v.Value), Name: v.Name})
			}
		case acpsdk.SessionConfigOptionCategoryModel:
			o.model, o.modelOption, o.models = string(s.CurrentValue), s.Id, nil
			for _, v := range values {
				o.models = append(o.models, copilot.Model{ID: string(v.Value), Name: v.Name})
			}
		}
	}
}

// update applies the agent's changes of its mode and options.
func (o *offer) update(u acpsdk.SessionUpdate) {
	switch {
	case u.CurrentModeUpdate != nil:
		o.mode = string(u.CurrentModeUpdate.CurrentModeId)
	case u.ConfigOptionUpdate != nil:
		o.configure(u.ConfigOptionUpdate.ConfigOptions)
	}
}

func valuesOf(o acpsdk.SessionConfigSelectOptions) (out []acpsdk.SessionConfigSelectOption) {
	if o.Ungrouped != nil {
		return *o.Ungrouped
	}
	if o.Grouped != nil {
		for _, g := range *o.Grouped {
			out = append(out, g.Options...)
		}
	}
	return out
}

// askingModes are the modes of known agents that ask before each step that changes
// something, in order of preference.
var askingModes = []string{"default", "read-only", "ask", "manual", "normal"}

// planMode changes nothing until the user approves the plan.
const planMode = "plan"

// asks reports whether a mode is known to ask before each step that changes something.
// Some agents use a URL as the mode id, with the name after a #.
func asks(mode string) bool {
	mode = mode[strings.LastIndexByte(mode, '#')+1:]
	return mode == planMode || slices.Contains(askingModes, mode)
}

// setAskingMode sets a mode in which the agent asks, preferably the user's choice. Some
// agents start in a mode that does not ask.
func (g *agent) setAskingMode(ctx context.Context, session acpsdk.SessionId, o *offer, chosen string) error {
	for _, wanted := range append([]string{chosen}, askingModes...) {
		for _, m := range o.modes {
			if wanted == "" || m.ID != wanted && !strings.HasSuffix(m.ID, "#"+wanted) {
				continue
			}
			if o.mode == m.ID {
				return nil
			}
			if err := g.setMode(ctx, session, o.modeOption, m.ID); err != nil {
				return err
			}
			o.mode = m.ID
			return nil
		}
	}
	return nil
}

func (g *agent) setMode(ctx context.Context, session acpsdk.SessionId, option acpsdk.SessionConfigId, mode string) error {
	return g.choose(ctx, session, acpsdk.AgentMethodSessionSetMode, "modeId", option, mode)
}

// choose sets a mode or model through its configuration option, if it has one, or else
// with method.
func (g *agent) choose(ctx context.Context, session acpsdk.SessionId, method, field string, option acpsdk.SessionConfigId, id string) error {
	params := map[string]any{"sessionId": session, field: id}
	if option != "" {
		method, params = acpsdk.AgentMethodSessionSetConfigOption, map[string]any{"sessionId": session, "configId": option, "value": id}
	}
	return g.call(ctx, method, params, nil)
}

// loads reports whether the agent can continue an earlier session.
func (g *agent) loads() bool { return g.can.LoadSession || g.can.SessionCapabilities.Resume != nil }

// load opens an earlier session. The history that the agent replays meanwhile is dropped,
// because no prompt is open.
func (g *agent) load(ctx context.Context, dir string, session acpsdk.SessionId) (offer, error) {
	method := acpsdk.AgentMethodSessionLoad
	if !g.can.LoadSession {
		method = acpsdk.AgentMethodSessionResume
	}
	var loaded opened
	err := g.call(ctx, method, acpsdk.LoadSessionRequest{
		SessionId: session, Cwd: dir, McpServers: []acpsdk.McpServer{},
	}, &loaded)
	return loaded.offer(), err
}

// mustWarn reports, once, that the agent may act without asking although the user did not
// choose that. The caller holds Adapter.mu.
func (a *Adapter) mustWarn(g *agent) bool {
	if asks(g.offer.mode) {
		a.warned = false
		return false
	}
	warn := !a.warned
	a.warned = true
	return warn
}

// useModel switches to a model. It ignores models that the agent does not have, such as
// those of another assistant.
func (a *Adapter) useModel(ctx context.Context, g *agent, model string) error {
	a.mu.Lock()
	o, session := g.offer, g.session
	a.mu.Unlock()
	if model == o.model || !slices.ContainsFunc(o.models, func(m copilot.Model) bool { return m.ID == model }) {
		return nil
	}
	ctx, done := context.WithTimeout(ctx, choiceLimit)
	defer done()
	if err := g.choose(ctx, session, methodSetModel, "modelId", o.modelOption, model); err != nil {
		return failure(err)
	}
	a.mu.Lock()
	g.offer.model = model
	a.mu.Unlock()
	return nil
}

// open returns the running agent, or starts it.
func (a *Adapter) open(ctx context.Context) (*agent, error) {
	a.mu.Lock()
	g := a.agent
	a.mu.Unlock()
	if g != nil {
		select {
		case <-g.conn.DisconnectNotify():
		default:
			return g, nil
		}
	}
	select {
	case a.sending <- struct{}{}:
		defer func() { <-a.sending }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return a.running(ctx)
}

// Modes implements copilot.Agent.
func (a *Adapter) Modes(ctx context.Context) ([]copilot.Mode, error) {
	g, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	modes := slices.Clone(g.offer.modes)
	for i := range modes {
		modes[i].Current, modes[i].Asks = modes[i].ID == g.offer.mode, asks(modes[i].ID)
	}
	return modes, nil
}

// SetMode implements copilot.Agent. It may be called while the agent answers.
func (a *Adapter) SetMode(ctx context.Context, id string) error {
	g, err := a.open(ctx)
	if err != nil {
		return err
	}
	a.mu.Lock()
	option, session := g.offer.modeOption, g.session
	a.warned = true // the agent may report the mode before it replies
	a.mu.Unlock()
	ctx, done := context.WithTimeout(ctx, choiceLimit)
	defer done()
	if err := g.setMode(ctx, session, option, id); err != nil {
		return failure(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	g.offer.mode, a.mode = id, ""
	if asks(id) {
		a.mode = id
	}
	return nil
}

// Models implements copilot.Lister.
func (a *Adapter) Models(ctx context.Context) ([]copilot.Model, error) {
	g, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(g.offer.models), nil
}

const (
	maxSessions = 50 // maximum listed
	cutTitle    = 10 // characters of the instruction that mark the end of a title
)

// Sessions implements copilot.Agent.
func (a *Adapter) Sessions(ctx context.Context) ([]copilot.Session, error) {
	g, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	if g.can.SessionCapabilities.List == nil || !g.loads() {
		return nil, nil
	}
	ctx, done := context.WithTimeout(ctx, choiceLimit)
	defer done()
	var list acpsdk.ListSessionsResponse
	if err := g.call(ctx, acpsdk.AgentMethodSessionList, acpsdk.ListSessionsRequest{Cwd: &a.opts.Dir}, &list); err != nil {
		return nil, failure(err)
	}
	a.mu.Lock()
	now := g.session
	a.mu.Unlock()
	when := func(s acpsdk.SessionInfo) string { // RFC 3339 sorts by time
		if s.UpdatedAt == nil {
			return ""
		}
		return *s.UpdatedAt
	}
	slices.SortStableFunc(list.Sessions, func(x, y acpsdk.SessionInfo) int { return strings.Compare(when(y), when(x)) })
	var out []copilot.Session
	for _, s := range list.Sessions {
		if s.SessionId == now || s.Cwd != "" && s.Cwd != a.opts.Dir || len(out) == maxSessions {
			continue
		}
		session := copilot.Session{ID: string(s.SessionId)}
		if s.Title != nil { // some agents use the first prompt, including the instruction, as the title
			before, _, _ := strings.Cut(*s.Title, "["+a.opts.Instruction[:min(len(a.opts.Instruction), cutTitle)])
			session.Title = strings.TrimSpace(before)
		}
		out = append(out, session)
	}
	return out, nil
}

// LoadSession implements copilot.Agent. The loaded session lacks the current
// conversation, so the next prompt includes it.
func (a *Adapter) LoadSession(ctx context.Context, id string) error {
	g, err := a.open(ctx)
	if err != nil {
		return err
	}
	select {
	case a.sending <- struct{}{}:
		defer func() { <-a.sending }()
	default:
		return copilot.ErrBusy
	}
	a.mu.Lock()
	p, mode, was := a.prompt, a.mode, g.offer
	asks := p != nil && p.question() != nil
	a.mu.Unlock()
	ctx, done := context.WithTimeout(ctx, choiceLimit)
	defer done()
	if asks { // the agent waits only for the user
		a.cancel(p)
		select {
		case <-p.over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if p != nil && !p.isOver() {
		return copilot.ErrBusy
	}
	session := acpsdk.SessionId(id)
	of, err := g.load(ctx, a.opts.Dir, session)
	if err != nil {
		return failure(err)
	}
	if len(of.modes) == 0 { // the response omits them; set the mode again
		of.modes, of.modeOption = was.modes, was.modeOption
	}
	if len(of.models) == 0 {
		of.models, of.modelOption = was.models, was.modelOption
	}
	if err := g.setAskingMode(ctx, session, &of, mode); err != nil {
		return failure(err)
	}
	a.mu.Lock()
	former := g.session
	g.session, g.offer, g.fresh = session, of, true
	a.session = id
	a.mu.Unlock()
	if former != session {
		g.closeSession(ctx, former)
	}
	return nil
}

// closeSession tells an agent that supports it that a session is over, so that it stops what
// still runs for it. The session can be continued later.
func (g *agent) closeSession(ctx context.Context, session acpsdk.SessionId) {
	if g.can.SessionCapabilities.Close == nil {
		return
	}
	ctx, done := context.WithTimeout(ctx, closeLimit)
	defer done()
	_ = g.call(ctx, acpsdk.AgentMethodSessionClose, acpsdk.CloseSessionRequest{SessionId: session}, nil)
}
