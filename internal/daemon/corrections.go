package daemon

import (
	"errors"
	"fmt"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/vocab"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// ErrNoCorrection reports a correction that is unknown or was undone before.
var ErrNoCorrection = errors.New("there is no such correction, or it was undone before")

// UndoCorrection takes back the correction of an utterance, which is identified by the
// name that the client knows. If the assistant has the corrected words, it is sent those
// that were heard.
func (d *Daemon) UndoCorrection(id string, done func(csm.Reply, protocol.Snapshot)) error {
	heard, sent, ok := d.undoCorrection(d.content.correctionNamed(id))
	switch {
	case !ok:
		return ErrNoCorrection
	case sent:
		return d.SendText(d.asHeard(heard), done)
	}
	done(csm.Reply{}, d.Snapshot())
	return nil
}

// undoCorrection takes back the correction of an utterance, once: its line shows the
// words as heard, and the same words are not changed again. Words that were not sent yet
// are replaced. If sent is true, the caller has to send the words as heard.
func (d *Daemon) undoCorrection(utterance uint64) (heard string, sent, ok bool) {
	heard, changes, sent, ok := d.content.takeCorrection(utterance)
	if !ok {
		return "", false, false
	}
	d.vocabulary.undo(changes)
	d.pubMu.Lock()
	d.pub.uncorrect(utterance)
	d.pubMu.Unlock()
	d.show(voiceWords[d.locale()].uncorrected)
	return heard, sent, true
}

// asHeard returns the message that corrects a request to the words as heard.
func (d *Daemon) asHeard(heard string) string {
	return fmt.Sprintf(voiceWords[d.locale()].asHeard, heard)
}

// markSent records that the assistant is sent the words of utterances.
func (c *content) markSent(utterance uint64, more []uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent[utterance] = true
	for _, id := range more {
		c.sent[id] = true
	}
}

// takeCorrection removes the correction of an utterance. Unless the assistant was sent
// its words, they become those that were heard.
func (c *content) takeCorrection(utterance uint64) (heard string, changes []vocab.Change, sent, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changes, ok = c.corrected[utterance]
	if !ok {
		return "", nil, false, false
	}
	heard, sent = c.misheard[utterance], c.sent[utterance]
	c.forgetCorrection(utterance)
	if j, ok := c.joined[utterance]; ok && j.heard == heard {
		j.written, j.changes = heard, nil
		c.joined[utterance] = j
	} else if !sent {
		c.utterances[utterance] = heard
	}
	return heard, changes, sent, true
}

// forgetCorrection makes the correction of an utterance final.
func (c *content) forgetCorrection(utterance uint64) {
	delete(c.corrected, utterance)
	delete(c.misheard, utterance)
	if c.latest == utterance {
		c.latest = 0
	}
}

// lastCorrected returns the last corrected utterance, or 0 if its correction was undone.
func (c *content) lastCorrected() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.latest
}

// correction returns the client's name for the correction of an utterance, or "" if it
// has none to undo.
func (c *content) correction(utterance uint64) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.corrected[utterance]) == 0 {
		return ""
	}
	return utteranceID(utterance)
}

// correctionNamed returns the corrected utterance with the client's name, or 0.
func (c *content) correctionNamed(id string) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	for utterance := range c.corrected {
		if utteranceID(utterance) == id {
			return utterance
		}
	}
	return 0
}
