package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// Limits of the data that a service may make the daemon hold.
const (
	maxModels  = 1000
	maxList    = 8 << 20 // bytes
	maxSummary = 4000    // bytes
)

// Models implements copilot.Lister with GET /models. Services list all their models,
// including those without chat.
func (a *Adapter) Models(ctx context.Context) ([]copilot.Model, error) {
	res, err := a.do(ctx, http.MethodGet, "models", nil, http.Header{"Accept": {"application/json"}})
	if err == nil {
		defer func() { _ = res.Body.Close() }()
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, connectFailure(err)
	case res.StatusCode != http.StatusOK:
		return nil, statusFailure(res)
	}
	var page struct {
		Data []struct {
			ID      string `json:"id"`
			OwnedBy string `json:"owned_by"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxList)).Decode(&page); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, failed("the service did not return a list of models; check the base URL")
	}
	var out []copilot.Model
	for _, m := range page.Data[:min(len(page.Data), maxModels)] {
		if m.ID != "" {
			out = append(out, copilot.Model{ID: m.ID, Name: m.ID, Vendor: m.OwnedBy})
		}
	}
	return out, nil
}

// summaryPrompt requests a summary that replaces the beginning of a conversation.
const summaryPrompt = "[Not by the user] The conversation above has become long. Put it into at most 150 words that will stand in its place: " +
	"what the user wants, what was found out and decided, names of files and symbols, results of tools, and what is still open. Only the summary, in the user's language."

// Summarise implements copilot.Summariser.
func (a *Adapter) Summarise(ctx context.Context, said []copilot.Message) (string, error) {
	var b strings.Builder
	r := copilot.Request{ID: "summary", Attempt: 1, Messages: append(said[:len(said):len(said)], copilot.Message{Role: copilot.RoleUser, Content: summaryPrompt})}
	err := a.Send(ctx, r, func(text string) {
		if b.Len() < maxSummary {
			b.WriteString(text)
		}
	})
	if e := (*copilot.Error)(nil); err != nil && (!errors.As(err, &e) || e.Code != copilot.CutByLength) { // a long summary is cut below, too
		return "", err
	}
	return strings.TrimSpace(strings.ToValidUTF8(b.String()[:min(b.Len(), maxSummary)], "")), nil
}
