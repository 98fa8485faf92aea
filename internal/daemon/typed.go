package daemon

import (
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// typed runs the action of a typed command and reports whether the text was one. If
// not, written is the message to the assistant.
func (d *Daemon) typed(id uint64, text string, done func(csm.Reply, protocol.Snapshot)) (written string, obeyed bool) {
	if d.loop.State().Phase() == csm.PhaseIdle {
		return text, false
	}
	q := d.questionOver(id)
	said := d.classify(q, text, Certain(text))
	class, instead := csm.Backchannel, ""
	if !d.settlesMode(id, said.Class, true) {
		if d.typedClass(said, done) {
			return text, true
		} else if said.Class != csm.Content {
			return text, false
		}
		class, instead = d.commanded(q, id, text)
	}
	switch {
	case class == csm.Content && instead != "":
		return instead, false
	case class == csm.Content:
		return text, false
	case class == csm.Stop:
		d.voice.mu.Lock()
		if w, asked := d.voice.wishes[id]; asked {
			delete(d.voice.wishes, id)
			d.voice.wishes[typedWish] = w
		}
		d.voice.mu.Unlock()
		d.Call(func(c csm.Call) csm.Event { return csm.UserInterrupt{Call: c} }, done)
	default:
		d.voice.mu.Lock()
		w := d.voice.wishes[id]
		delete(d.voice.wishes, id)
		d.voice.mu.Unlock()
		w.do()
		done(csm.Reply{}, d.Snapshot())
	}
	return text, true
}

// typedClass runs the action for a class of typed words and reports whether there was
// one. A typed yes allows the same calls as a spoken one.
func (d *Daemon) typedClass(said csm.Final, done func(csm.Reply, protocol.Snapshot)) bool {
	st := d.loop.State()
	switch said.Class {
	case csm.Stop:
		d.Call(func(c csm.Call) csm.Event { return csm.UserInterrupt{Call: c} }, done)
	case csm.Pause, csm.Continue:
		if !st.HasPlayback() {
			return d.typedAnswer(said, done)
		}
		d.Call(func(c csm.Call) csm.Event { return csm.UserPlayback{Call: c, Pause: said.Class == csm.Pause} }, done)
	default:
		return d.typedAnswer(said, done)
	}
	return true
}

// typedAnswer gives a class of typed words as the answer to an open question about a call, and reports
// whether it is one. It means the same as spoken: see csm.Means.
func (d *Daemon) typedAnswer(said csm.Final, done func(csm.Reply, protocol.Snapshot)) bool {
	w, asked := d.loop.State().Copilot.(copilot.WaitingForApproval)
	if !asked {
		return false
	}
	call, known := d.content.call(w.Calls[0].ID)
	if !known {
		return false
	}
	allow := true
	switch csm.Means(turn.OverQuestion, said.Class, said.Doubted) {
	case csm.MeansYes:
		allow = said.Named || !w.Calls[0].Destructive
	case csm.MeansAssent:
		allow = !w.Calls[0].Destructive
	case csm.MeansUnclear:
		allow = false
	case csm.MeansPause: // the question stays open
		done(csm.Reply{}, d.Snapshot())
		return true
	case csm.MeansNo:
		d.Call(func(c csm.Call) csm.Event { return csm.UserApprove{Call: c, ToolCall: w.Calls[0].ID} }, done)
		return true
	default:
		return false
	}
	if !allow || !said.Named && proposalOf(call.ToolCall).click {
		d.askAgain(w.Calls[0].ID)
		done(csm.Reply{}, d.Snapshot())
		return true
	}
	d.Call(func(c csm.Call) csm.Event {
		return csm.UserApprove{Call: c, ToolCall: w.Calls[0].ID, Approved: true}
	}, done)
	return true
}

// SendText submits a typed message. It takes the same path as spoken words.
func (d *Daemon) SendText(text string, done func(csm.Reply, protocol.Snapshot)) error {
	if strings.TrimSpace(text) == "" {
		return ErrNoWords
	}
	id := d.content.newID()
	written, obeyed := d.typed(id, strings.TrimSpace(text), done)
	if obeyed {
		return nil
	}
	d.submit(id, written, done)
	return nil
}

// submitAgain sends an utterance that was taken for a command to the assistant.
func (d *Daemon) submitAgain(utterance uint64, text string) {
	id := d.content.newID()
	if d.content.isDictated(utterance, nil) {
		d.content.setDictated(id)
	}
	d.submit(id, text, func(csm.Reply, protocol.Snapshot) {})
}

func (d *Daemon) submit(id uint64, text string, done func(csm.Reply, protocol.Snapshot)) {
	d.content.setUtterance(id, text)
	d.Call(func(c csm.Call) csm.Event {
		return csm.UserText{Call: c, Utterance: id, Words: len(strings.Fields(text))}
	}, done)
}
