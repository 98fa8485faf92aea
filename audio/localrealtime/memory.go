package localrealtime

import (
	"context"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
)

// DefaultRemember is half of the limit of a prompt.
const DefaultRemember = maxPromptChars / 2

// summary replaces the beginning of the conversation in prompts.
type summary struct {
	text string
	job  uint32             // job that created it; summarised items have this number or a lower one
	stop context.CancelFunc // cancels the summary in progress
}

// summaryLead tells a Model that the first message is a summary.
const summaryLead = "[What was said before, in short]\n"

// grown reports the size of the unsummarised conversation to the tables.
func (c *call) grown() {
	if c.state.Settings.Remember > 0 {
		_, size := c.unsummarised()
		c.raise(machine.Event{Kind: machine.Grown, Size: size}, news{})
	}
}

// changed reports to the tables that an item was changed or deleted, because a summary
// must not mention deleted content.
func (c *call) changed(it item) {
	c.raise(machine.Event{Kind: machine.Changed, OK: it.summary != 0}, news{})
	c.grown()
}

// said is an entry that a Model sees verbatim: a message, or a function call with its
// output.
type said struct {
	items  []*item
	weight int // characters
}

// unsummarised returns the entries that no summary covers, and their weight. System
// messages are never summarised. Even a short entry has a minimum weight, so that many
// short ones are summarised before maxItems drops the oldest.
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
				continue // not part of prompts
			}
			s.items = append(s.items, output)
			s.weight = utf8.RuneCountInString(it.Arguments + output.Output)
		}
		s.weight = max(s.weight, 2*c.state.Settings.Remember/maxItems)
		all, weight = append(all, s), weight+s.weight
	}
	return all, weight
}

// beginning returns the entries before the most recent half of what is remembered, up
// to the first incomplete one, and never the last. It assigns them to the summary job.
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

// summarise starts summarising the beginning of the conversation in the background.
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

// keepSummary stores a finished summary in place of its items.
func (c *call) keepSummary(job uint32, text string) {
	s := &c.items.summary
	s.stop()
	s.text, s.job = text, job
	c.grown()
}

// stopSummary cancels the summary in progress; its items stay unsummarised.
func (c *call) stopSummary() {
	c.items.summary.stop()
	c.items.unsummarise(c.items.summary.job)
}

// forgetSummary discards the summary, so that prompts contain the original items again.
func (c *call) forgetSummary() {
	c.items.summary.text = ""
	c.items.unsummarise(0)
}

// unsummarise removes items from all summaries after job.
func (v *conversation) unsummarise(job uint32) {
	for i := range v.items {
		if v.items[i].summary > job {
			v.items[i].summary = 0
		}
	}
}

// remembered returns the items that no summary covers.
func (v *conversation) remembered() (items []item) {
	for _, it := range v.items {
		if it.summary == 0 || it.summary > v.summary.job {
			items = append(items, it)
		}
	}
	return items
}
