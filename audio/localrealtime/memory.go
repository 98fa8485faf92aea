package localrealtime

import (
	"context"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
)

// DefaultRemember is half of what a prompt may have.
const DefaultRemember = maxPromptChars / 2

// summary stands for the beginning of the conversation in prompts.
type summary struct {
	text string
	job  uint32             // that made it; the summaries of items are up to this one
	stop context.CancelFunc // of the one that is being made
}

// summaryLead tells a Model what the first message is.
const summaryLead = "[What was said before, in short]\n"

// grown has the tables know how long the conversation is, without what is summarised.
func (c *call) grown() {
	if c.state.Settings.Remember > 0 {
		_, size := c.unsummarised()
		c.raise(machine.Event{Kind: machine.Grown, Size: size}, news{})
	}
}

// changed has them know that an item was changed or deleted: a summary must not tell of
// what is not there any more.
func (c *call) changed(it item) {
	c.raise(machine.Event{Kind: machine.Changed, OK: it.summary != 0}, news{})
	c.grown()
}

// said is something that a Model is reminded of as it was said: a message, or a call of a
// function with its output.
type said struct {
	items  []*item
	weight int // characters
}

// unsummarised is what is in no summary, and its weight. What a system says never is. An
// entry weighs something even where it is short, so that many of them are summarised before
// the oldest item is forgotten.
func (c *call) unsummarised() (all []said, weight int) {
	outputs := map[string]*item{}
	for i := range c.items.items {
		if it := &c.items.items[i]; it.Type == itemFunctionOutput {
			outputs[it.CallID] = it
		}
	}
	for i := range c.items.items {
		it := &c.items.items[i]
		if it.summary != 0 || it.Role == "system" || it.Type == itemFunctionOutput {
			continue
		}
		s := said{items: []*item{it}, weight: utf8.RuneCountInString(it.Arguments + it.remembered())}
		if it.Type == itemFunctionCall {
			output := outputs[it.CallID]
			if output == nil {
				continue // it is left out of prompts
			}
			s.items = append(s.items, output)
			s.weight = utf8.RuneCountInString(it.Arguments + output.Output)
		}
		s.weight = max(s.weight, 2*c.state.Settings.Remember/maxItems)
		all, weight = append(all, s), weight+s.weight
	}
	return all, weight
}

// beginning is what was said before the last half of what is remembered, up to what is not
// whole, and without the last. It is of the summary job from now on.
func (c *call) beginning(job uint32) (items []item) {
	all, left := c.unsummarised()
	for i, s := range all {
		first := s.items[0]
		if i == len(all)-1 || left <= c.state.Settings.Remember/2 || first.Status == "in_progress" || c.transcripts[first.ID] != nil {
			break
		}
		left -= s.weight
		for _, it := range s.items {
			it.summary = job
		}
		items = append(items, *first)
	}
	return items
}

// summarise has the beginning of the conversation summarised, beside whatever goes on.
func (c *call) summarise(job uint32) {
	messages := messagesOf(c.beginning(job), c.items.items)
	if len(messages) == 0 {
		c.items.summary.stop = func() {}
		c.raise(machine.Event{Kind: machine.Summarised, ID: job}, news{})
		return
	}
	if before := c.items.summary.text; before != "" {
		messages = append([]Message{{Role: "user", Text: summaryLead + before}}, messages...)
	}
	ctx, stop := context.WithCancel(c.ctx)
	c.items.summary.stop = stop
	c.workers.Go(func() {
		text, err := c.srv.cfg.Summarise(ctx, messages)
		if err != nil && ctx.Err() == nil {
			c.log.Warn().Err(err).Msg("the conversation cannot be summarised; its beginning is left out where it is too long")
		}
		c.post(func() {
			c.take(machine.Event{Kind: machine.Summarised, ID: job, OK: err == nil && text != ""}, news{text: text})
		})
	})
}

// keepSummary has the summary stand for what it is of.
func (c *call) keepSummary(job uint32, text string) {
	s := &c.items.summary
	s.stop()
	s.text, s.job = text, job
	c.grown()
}

// stopSummary gives up the summary that is being made: what it would be of stays.
func (c *call) stopSummary() {
	c.items.summary.stop()
	c.items.unsummarise(c.items.summary.job)
}

// forgetSummary has the conversation remembered as it was said again.
func (c *call) forgetSummary() {
	c.items.summary.text = ""
	c.items.unsummarise(0)
}

// unsummarise takes items out of the summaries after job.
func (v *conversation) unsummarise(job uint32) {
	for i := range v.items {
		if v.items[i].summary > job {
			v.items[i].summary = 0
		}
	}
}

// remembered are the items that no summary stands for.
func (v *conversation) remembered() (items []item) {
	for _, it := range v.items {
		if it.summary == 0 || it.summary > v.summary.job {
			items = append(items, it)
		}
	}
	return items
}
