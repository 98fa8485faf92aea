package localrealtime

import (
	"cmp"
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
	if c.state.Settings.Remember == 0 {
		return
	}
	size := 0
	for _, it := range c.items.items {
		if it.summary == 0 {
			size += it.size()
		}
	}
	c.raise(machine.Event{Kind: machine.Grown, Size: size}, news{})
}

// changed has them know that an item was changed or deleted: a summary must not tell of
// what is not there any more.
func (c *call) changed(it item) {
	c.raise(machine.Event{Kind: machine.Changed, OK: it.summary != 0}, news{})
	c.grown()
}

// size is how many characters of an item can be summarised: what a system says cannot.
func (it item) size() int {
	if it.Role == "system" {
		return 0
	}
	return utf8.RuneCountInString(cmp.Or(it.Arguments, it.Output, it.remembered()))
}

// summarise has the beginning of the conversation summarised: all but the last half of
// what is remembered, and nothing that is not whole yet.
func (c *call) summarise(job uint32) {
	said := c.items.beginning(c.state.Settings.Remember/2, job, func(it item) bool {
		return it.Status != "in_progress" && c.transcripts[it.ID] == nil
	})
	messages := messagesOf(said, c.items.items)
	if before := c.items.summary.text; before != "" {
		messages = append([]Message{{Role: "user", Text: summaryLead + before}}, messages...)
	}
	ctx, stop := context.WithCancel(c.ctx)
	c.items.summary.stop = stop
	c.workers.Go(func() {
		text, err := "", error(nil)
		if len(messages) > 0 {
			text, err = c.srv.cfg.Summarise(ctx, messages)
		}
		if err != nil && ctx.Err() == nil {
			c.log.Warn().Err(err).Msg("the conversation cannot be summarised; its beginning is left out where it is too long")
		}
		c.post(func() {
			c.take(machine.Event{Kind: machine.Summarised, ID: job, OK: err == nil && text != ""}, news{text: text})
		})
	})
}

// beginning is what was said before the last so many characters, up to what is not whole.
// It is of the summary job from now on. A call of a function stays with its output.
func (v *conversation) beginning(keep int, job uint32, whole func(item) bool) (said []item) {
	outputs := map[string]bool{}
	left := 0
	for _, it := range v.items {
		if it.Type == itemFunctionOutput {
			outputs[it.CallID] = true
		}
		if it.summary == 0 {
			left += it.size()
		}
	}
	for i := range v.items {
		it := &v.items[i]
		if it.summary != 0 || it.Role == "system" || it.Type == itemFunctionCall && !outputs[it.CallID] {
			continue
		}
		if left <= keep || !whole(*it) {
			break
		}
		left -= it.size()
		it.summary = job
		said = append(said, *it)
	}
	return said
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
