package csmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

var _ = addVerbs(map[string]func(*player, *words) error{"expect": (*player).expect})

// expect checks the outcome of the scenario so far:
//
//	expect PHASE [at TIME] [because CAUSE]
//	expect path PHASE, PHASE ...          all transitions since the last expect path
//	expect effect NAME [once | N times] [with FIELD=VALUE ...] | expect no effect NAME
//	expect reply ok | CODE                the reply to the user's last command
//	expect notice CODE | error CODE [fatal]
//	expect turn N answered | failed | dropped | interrupted | open
//	expect turns N END, ...  | expect sent N, N ... | expect queue N
//	expect heard N [of N]                 characters of the last answer
//	expect timer NAME armed [for TIME] | expect timer NAME not armed
//	expect state PATH VALUE               any field of the state, as in journals
//	expect progress                       in a silent world: at rest, or a deadline is armed
func (p *player) expect(w *words) error {
	what := w.word()
	switch what {
	case "path":
		return p.expectPath(w)
	case "no":
		w.is("effect")
		return p.expectEffect(w, true)
	case "effect":
		return p.expectEffect(w, false)
	case "reply":
		return p.expectReply(w)
	case "notice", "error":
		return p.expectNews(what, w)
	case "turn":
		return p.expectTurn(w)
	case "turns":
		return same(w.all(), strings.Join(p.ends(), ", "))
	case "sent":
		return same(w.all(), strings.Join(p.sent(), ", "))
	case "queue":
		return same(w.word(), fmt.Sprint(len(p.state.Queue)))
	case "heard":
		return p.expectHeard(w)
	case "timer":
		return p.expectTimer(w)
	case "progress":
		if p.quiet == nil {
			return errors.New("expect progress requires a silent world")
		}
		return p.quiet.progress()
	case "state":
		path := w.word()
		got, err := p.stateAt(path)
		if err != nil {
			return err
		}
		return same(w.all(), got)
	default:
		return p.expectPhase(what, w)
	}
}

func same(want, got string) error {
	if want != got {
		return fmt.Errorf("expected %s, got %s", orNothing(want), orNothing(got))
	}
	return nil
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

func (p *player) expectPhase(name string, w *words) error {
	known := false
	for ph := range csm.NumPhases {
		known = known || strings.EqualFold(ph.String(), name)
	}
	if !known {
		return fmt.Errorf("unknown phase or expectation %q", name)
	}
	s := p.state
	seen := fmt.Sprintf("%s since %v because %s", lowerFirst(s.Phase().String()), s.Since, orNothing(string(s.Cause)))
	if !strings.EqualFold(s.Phase().String(), name) {
		return fmt.Errorf("expected %s, got %s", name, seen)
	}
	if w.is("at") {
		at, err := w.duration()
		if err != nil {
			return err
		}
		if at != s.Since {
			return fmt.Errorf("expected %s at %v, got %s", name, at, seen)
		}
	}
	if w.is("because") {
		if cause := w.word(); cause != string(s.Cause) {
			return fmt.Errorf("expected %s because %s, got %s", name, cause, seen)
		}
	}
	return nil
}

// changes returns all transitions so far.
func (p *player) changes() []csm.PublishState {
	var out []csm.PublishState
	for _, st := range p.steps {
		for _, f := range st.fx {
			if c, ok := f.(csm.PublishState); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

func (p *player) expectPath(w *words) error {
	all := p.changes()
	var got []string
	for _, c := range all[p.seen:] {
		got = append(got, lowerFirst(c.To.String()))
	}
	p.seen = len(all)
	var want []string
	for w.peek() != "" {
		want = append(want, w.word())
	}
	return same(strings.Join(want, ", "), strings.Join(got, ", "))
}

// effects returns all effects of a name.
func (p *player) effects(name string) []csm.Effect {
	var out []csm.Effect
	for _, st := range p.steps {
		for _, f := range st.fx {
			if csm.NameOf(f) == name {
				out = append(out, f)
			}
		}
	}
	return out
}

func (p *player) expectEffect(w *words, none bool) error {
	name := w.word()
	want := -1
	switch c := *w; {
	case none:
		want = 0
	case w.is("once"):
		want = 1
	default:
		if n, err := c.number(); err == nil && c.is("times") {
			want, *w = int(n), c
		}
	}
	var fields []string
	if w.is("with") {
		fields = strings.Fields(w.all())
	}
	all := p.effects(name)
	var seen []string
	n := 0
	for _, f := range all {
		ok, err := hasFields(f, fields)
		if err != nil {
			return err
		}
		if ok {
			n++
		}
		seen = append(seen, name+" "+compact(f))
	}
	if n == want || want < 0 && n > 0 {
		return nil
	}
	times := "at least once"
	if want >= 0 {
		times = fmt.Sprint(want, " times")
	}
	return fmt.Errorf("expected %s %s, got %d times among: %s", strings.Join(append([]string{name}, fields...), " "), times, n, orNothing(strings.Join(seen, "; ")))
}

// hasFields says whether the effect's JSON has every field=value. Values may be
// durations; a nested field is OUTER.INNER.
func hasFields(f csm.Effect, fields []string) (bool, error) {
	b, err := json.Marshal(f)
	if err != nil {
		return false, err
	}
	for _, want := range fields {
		path, val, ok := strings.Cut(want, "=")
		if !ok {
			return false, fmt.Errorf("%q is not field=value", want)
		}
		got, err := at(b, path)
		if err != nil {
			got = "0" // omitted from the JSON
		}
		if d, err := time.ParseDuration(val); err == nil && fmt.Sprint(int64(d)) == got {
			continue
		}
		if got != val {
			return false, nil
		}
	}
	return true, nil
}

// at returns the value at a dotted path in JSON, as text.
func at(b []byte, path string) (string, error) {
	for _, name := range strings.Split(path, ".") {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(b, &m); err != nil {
			return "", fmt.Errorf("%s does not exist: the parent of %s has no fields", path, name)
		}
		v, ok := m[name]
		for k, x := range m {
			if !ok && strings.EqualFold(k, name) {
				v, ok = x, true
			}
		}
		if !ok {
			return "", fmt.Errorf("%s does not exist: no field %s", path, name)
		}
		b = v
	}
	return strings.Trim(string(b), `"`), nil
}

func (p *player) stateAt(path string) (string, error) {
	b, err := json.Marshal(p.state)
	if err != nil {
		return "", err
	}
	return at(b, path)
}

func (p *player) expectReply(w *words) error {
	want := w.word()
	for _, f := range p.effects("Reply") {
		r := f.(csm.Reply)
		if r.Call != p.call {
			continue
		}
		got := string(r.Code)
		if got == "" {
			got = "ok"
		}
		return same(want, got)
	}
	return fmt.Errorf("expected reply %s, got no reply to the last command", want)
}

func (p *player) expectNews(what string, w *words) error {
	name := "Notify"
	if what == "error" {
		name = "PublishError"
	}
	all := p.effects(name)
	if len(all) == 0 {
		return fmt.Errorf("expected %s %s, got none", what, w.all())
	}
	if n, ok := all[len(all)-1].(csm.Notify); ok {
		return same(w.word(), string(n.Code))
	}
	e := all[len(all)-1].(csm.PublishError)
	if err := same(w.word(), string(e.Code)); err != nil {
		return err
	}
	if e.Fatal != w.is("fatal") {
		return fmt.Errorf("unexpected fatal=%v", e.Fatal)
	}
	return nil
}

// ends returns how turns ended, as "1 answered".
func (p *player) ends() []string {
	var out []string
	for _, f := range p.effects("PublishTurn") {
		if t := f.(csm.PublishTurn); t.End != "" {
			out = append(out, fmt.Sprint(t.Turn.ID, " ", t.End))
		}
	}
	return out
}

// sent returns the utterances that were sent to the assistant, in order.
func (p *player) sent() []string {
	var out []string
	for _, f := range p.effects("SendCopilot") {
		out = append(out, fmt.Sprint(f.(csm.SendCopilot).Utterance))
	}
	return out
}

func (p *player) expectTurn(w *words) error {
	id, want := w.word(), w.word()
	if want == "open" {
		return same(id, fmt.Sprint(p.state.Current.ID))
	}
	if !slices.Contains(p.ends(), id+" "+want) {
		return fmt.Errorf("expected turn %s %s, got: %s", id, want, orNothing(strings.Join(p.ends(), ", ")))
	}
	return nil
}

func (p *player) expectHeard(w *words) error {
	n, err := w.number()
	if err != nil {
		return err
	}
	if w.is("of") {
		of, err := w.number()
		if err != nil {
			return err
		}
		if int(of) != p.said {
			return fmt.Errorf("expected an answer of %[2]d characters, got %[1]d", p.said, of)
		}
	}
	heard := 0
	if h := p.state.History.Said().Items; len(h) > 0 {
		heard = h[len(h)-1].Heard
	}
	return same(fmt.Sprint(n), fmt.Sprint(heard))
}

func (p *player) expectTimer(w *words) error {
	name := w.word()
	for t := range csm.NumTimers {
		if t.String() != name {
			continue
		}
		is := p.state.Timers[t]
		switch {
		case w.is("not armed"):
			if is.Armed {
				return fmt.Errorf("expected timer %s not armed, but it is armed for %v", name, is.At-p.clock.Now())
			}
			return nil
		case !w.is("armed"):
			return errors.New("write armed or not armed")
		case !is.Armed:
			return fmt.Errorf("expected timer %s armed, but it is not", name)
		case w.is("for"):
			d, err := w.duration()
			if err != nil {
				return err
			}
			return same(d.String(), (is.At - p.clock.Now()).String())
		}
		return nil
	}
	return fmt.Errorf("unknown timer %q", name)
}
