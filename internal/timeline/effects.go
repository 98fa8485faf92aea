package timeline

import (
	"encoding/json"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// stateChange is a csm.PublishState as in a journal, where phases are names.
type stateChange struct {
	Cause string
	Turn  uint64
	Code  csm.Code
}

// effects maps the effects that a picture needs, by name.
var effects = map[string]func(*reader, json.RawMessage) error{
	"PublishState":   apply(func(r *reader, c stateChange) { r.change = c }),
	"PublishTurn":    apply((*reader).publishTurn),
	"PublishHeard":   apply((*reader).publishHeard),
	"SendCopilot":    apply((*reader).sendCopilot),
	"CancelCopilot":  apply((*reader).cancelCopilot),
	"Speak":          apply((*reader).speak),
	"StartPlayback":  apply(func(r *reader, _ csm.StartPlayback) { r.playing = true }),
	"PausePlayback":  apply((*reader).pausePlayback),
	"ResumePlayback": apply((*reader).resumePlayback),
	"Flush":          apply(func(r *reader, f csm.Flush) { r.endPause(); r.silenced(f.Gen) }),
	"Notify":         apply(func(r *reader, f csm.Notify) { r.notice("notice", f.Code, f.Turn) }),
	"PublishError":   apply(func(r *reader, f csm.PublishError) { r.notice("fault", f.Code, 0) }),
	"Report":         apply(func(r *reader, f csm.Report) { r.mark("bug", "a bug in the core", f.What) }),
}

func apply[E any](do func(*reader, E)) func(*reader, json.RawMessage) error {
	return func(r *reader, fields json.RawMessage) error {
		var e E
		if err := json.Unmarshal(fields, &e); err != nil {
			return err
		}
		do(r, e)
		return nil
	}
}

// applyEffects applies the effects of a line, in order.
func (r *reader) applyEffects(list json.RawMessage) {
	if len(list) == 0 {
		return
	}
	var named []map[string]json.RawMessage // each with one effect
	if json.Unmarshal(list, &named) != nil {
		r.unknown++
		return
	}
	for _, one := range named {
		for name, fields := range one {
			if take, ok := effects[name]; ok && take(r, fields) != nil {
				r.unknown++
			}
		}
	}
}

func (r *reader) publishTurn(f csm.PublishTurn) {
	x := r.record.exchange(f.Turn.ID)
	if x == nil {
		x = &exchange{utterance: r.openUtterance()}
		r.exchanges = append(r.exchanges, x)
	}
	x.Turn, x.end = f.Turn, f.End
	if f.End == "" {
		return
	}
	x.closed = at(r.now)
	switch i := r.suspicion(); {
	case f.End == csm.TurnCutOff && (i == nil || i.turn != x.ID):
		r.interrupt(x.ID).decide(cutOff, r.now)
	case f.End == csm.TurnCutOff:
		i.decide(cutOff, r.now)
	case i != nil && i.turn == x.ID:
		i.decide(moot, r.now)
	}
}

// openUtterance returns the last utterance, if its transcript is pending or arrives in this step.
func (r *reader) openUtterance() uint64 {
	if n := len(r.utterances); n > 0 {
		if u := r.utterances[n-1]; !u.typed && (!u.final.known || u.final.at == r.now) {
			return u.id
		}
	}
	return 0
}

func (r *reader) publishHeard(f csm.PublishHeard) {
	r.heard[f.Request] = max(r.heard[f.Request], f.Chars)
}

func (r *reader) sendCopilot(f csm.SendCopilot) {
	r.requests = append(r.requests, &request{SendCopilot: f, sent: r.now})
	if x := r.record.exchange(f.Turn); x != nil {
		x.Utterance, x.Request = f.Utterance, f.Request
	}
}

func (r *reader) cancelCopilot(f csm.CancelCopilot) {
	if q := r.record.request(f.Request); q != nil {
		q.cancel.first(r.now)
	}
}

func (r *reader) speak(f csm.Speak) {
	r.segments = append(r.segments, &segment{Segment: f.Segment, gen: f.Gen, turn: f.Turn, spoke: r.now})
}

func (r *reader) pausePlayback(csm.PausePlayback) {
	r.playing = false
	r.pauses = append(r.pauses, pause{from: r.now})
}

func (r *reader) resumePlayback(csm.ResumePlayback) {
	r.playing = true
	r.endPause()
}

// endPause ends the open pause, if any.
func (r *reader) endPause() {
	if n := len(r.pauses); n > 0 {
		r.pauses[n-1].to.first(r.now)
	}
}
