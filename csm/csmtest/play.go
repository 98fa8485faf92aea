package csmtest

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

// player plays one scenario.
type player struct {
	clock *dispatch.Virtual
	loop  *dispatch.Loop // nil in a silent world
	quiet *World         // the silent world, which steps events directly
	state csm.State
	steps []step
	err   error // first violation on the loop

	took    map[string]setting // how the world answers each effect
	speaker *world.Speaker     // nil if the scenario reports playback itself
	twice   bool               // repeat every report
	stale   bool               // try every stale variant of the line's event
	last    []csm.Event
	latest  map[string]csm.Effect // last effect of each name
	call    csm.Call
	said    int // length of the current answer
	tool    uint64
	voice   uint64 // last utterance
	seen    int    // transitions already covered by an expect path
	visible int    // number of prelude steps, which the trace omits
}

// step is one completed step.
type step struct {
	env    csm.Envelope
	before csm.State
	after  csm.State
	fx     []csm.Effect
}

// setting is how, and after how long, the world answers an effect.
type setting struct {
	after time.Duration
	never bool
	fails csm.Code // "" if it succeeds
}

// Problem is a line of a scenario that failed or could not be parsed.
type Problem struct {
	File string
	Line int
	Text string // text of the line
	Err  error
}

func (p *Problem) Error() string { return fmt.Sprintf("%s:%d: %s: %v", p.File, p.Line, p.Text, p.Err) }
func (p *Problem) Unwrap() error { return p.Err }

// Outline is the result of a scenario: its trace and states.
type Outline struct {
	Trace []string
	Steps []Stepped
}

// Stepped is one step of a scenario.
type Stepped struct {
	Envelope      csm.Envelope
	Before, After csm.State
	Effects       []csm.Effect
}

// Play plays a scenario. The error is a *Problem.
func Play(s Scenario) (Outline, error) {
	p := newPlayer(true)
	for _, l := range s.lines {
		err := p.do(l.text)
		if l.prelude {
			p.visible = len(p.steps)
		}
		if err = errors.Join(p.err, err); err != nil {
			return p.outline(), &Problem{File: s.File, Line: l.no, Text: l.text, Err: err}
		}
	}
	return p.outline(), nil
}

// Happen returns every step that a possibly faulty core takes in a scenario, ignoring
// expectations and violations. It stops early if a step panics or the scenario refers to
// a missing request.
func Happen(s Scenario) (steps []Stepped) {
	p := newPlayer(false)
	defer func() {
		if recover() != nil { // the core panicked; earlier steps are still valid
			steps = p.outline().Steps
		}
	}()
	for _, l := range s.lines {
		at, rest, timed := l.text, "", false
		if t, ok := strings.CutPrefix(l.text, "at "); ok {
			at, rest, timed = cutWord(t)
		}
		verb, _, _ := cutWord(l.text)
		if timed {
			verb, _, _ = cutWord(rest)
		}
		text := l.text
		if verb == "expect" {
			if !timed {
				continue
			}
			text = "at " + at
		}
		if p.do(text) != nil || p.err != nil {
			break
		}
	}
	return p.outline().Steps
}

func cutWord(s string) (word, rest string, more bool) {
	word, rest, more = strings.Cut(s, " ")
	return word, strings.TrimSpace(rest), more
}

func newPlayer(verify bool) *player {
	p := &player{clock: &dispatch.Virtual{}, state: csm.Initial(), latest: map[string]csm.Effect{}, took: map[string]setting{}}
	for name, d := range defaultTimes {
		p.took[name] = setting{after: d}
	}
	p.loop = dispatch.New(dispatch.Config{Clock: p.clock, Execute: p.execute, Verify: verify})
	return p
}

func (p *player) outline() Outline {
	o := Outline{Trace: p.trace()}
	for _, s := range p.steps {
		o.Steps = append(o.Steps, Stepped{s.env, s.before, s.after, s.fx})
	}
	return o
}

// do executes one line.
func (p *player) do(text string) error {
	w := &words{rest: text}
	if w.is("at") {
		if err := p.moveTo(w.word()); err != nil {
			return err
		}
	}
	if p.stale = w.is("stale"); p.stale && w.peek() == "" {
		return errors.New("stale needs an event after it")
	}
	verb := w.word()
	if verb == "" {
		return nil
	}
	do, ok := verbs[verb]
	if !ok {
		return fmt.Errorf("unknown verb %q; see the package doc", verb)
	}
	if err := do(p, w); err != nil {
		return err
	}
	return w.end()
}

// verbs maps the first word of a line to its verb. Each verbs file adds its own.
var verbs = map[string]func(*player, *words) error{}

// Verbs returns all verbs.
func Verbs() []string { return slices.Sorted(maps.Keys(verbs)) }

func addVerbs(m map[string]func(*player, *words) error) bool {
	for name, do := range m {
		if verbs[name] != nil {
			panic("csmtest: duplicate verb " + name)
		}
		verbs[name] = do
	}
	return true
}

// moveTo advances to a time, or by a duration that starts with +.
func (p *player) moveTo(text string) error {
	w := words{rest: text}
	d, err := w.duration()
	if err != nil {
		return err
	}
	if text[0] != '+' {
		d -= p.clock.Now()
	}
	if d < 0 {
		return fmt.Errorf("the time is already %v", p.clock.Now())
	}
	p.advance(d)
	return nil
}

func (p *player) advance(d time.Duration) {
	if p.loop == nil {
		p.clock.Advance(d, func() {})
		return
	}
	p.clock.Advance(d, p.loop.Drain)
}

// happen posts events and processes everything that follows immediately.
func (p *player) happen(events ...csm.Event) error {
	if p.stale {
		return p.happenStale(events)
	}
	p.last = events
	for _, e := range events {
		p.post(e)
		if p.loop != nil {
			p.loop.Drain()
		}
	}
	return nil
}

// post queues an event; the world calls it with its answers.
func (p *player) post(e csm.Event) {
	if p.loop == nil {
		p.quiet.At = p.clock.Now()
		err := p.quiet.Fire(e)
		env := p.quiet.Log[len(p.quiet.Log)-1]
		if err != nil {
			p.broke(env, err)
		}
		p.note(env, p.quiet.State, p.quiet.Effects)
		return
	}
	p.loop.Post(e)
	if p.twice {
		p.loop.Post(e)
	}
}

func (p *player) broke(env csm.Envelope, err error) {
	if p.err == nil {
		p.err = fmt.Errorf("after %v at %v: %w", csm.KindOf(env.Event), env.At, err)
	}
}

func (p *player) note(env csm.Envelope, after csm.State, fx []csm.Effect) {
	p.steps = append(p.steps, step{env, p.state, after, fx})
	p.state = after
	for _, f := range fx {
		p.latest[csm.NameOf(f)] = f
	}
}

// execute plays the world: it answers the requests of a step.
func (p *player) execute(st dispatch.Step) {
	p.note(st.Envelope, st.State, st.Effects)
	for _, f := range st.Effects {
		switch f := f.(type) {
		case csm.Report:
			p.broke(st.Envelope, errors.New(f.What))
		case csm.SendCopilot:
			if f.Round == 0 { // characters count over all rounds
				p.said = 0
			}
		default:
		}
		flushed := p.hears(f)
		how, ok := p.took[csm.NameOf(f)]
		if !ok || how.never {
			continue
		}
		e := p.answer(f, how)
		p.clock.AfterFunc(how.after, func() {
			switch f, speaks := f.(csm.Speak); {
			case speaks && p.speaker != nil && how.fails == "":
				p.speaker.Buffer(f)
			case flushed.Of > 0:
				p.post(flushed)
			default:
				p.post(e)
			}
		})
	}
}

// hears applies an effect to the loudspeaker, and returns how much of flushed speech was
// heard.
func (p *player) hears(f csm.Effect) (flushed csm.SpeechFlushed) {
	if p.speaker == nil {
		return flushed
	}
	p.speaker.Take(f)
	if f, ok := f.(csm.Flush); ok {
		flushed, _ = p.speaker.Flush(f)
	}
	return flushed
}

// answer returns the delayed answer to an effect. The course of answers and speech is up
// to the scenario.
func (p *player) answer(f csm.Effect, how setting) csm.Event {
	if how.fails == "" {
		return world.Reaction(f)
	}
	return world.WithCode(world.Ending(f, world.Failed), how.fails)
}

// samplesPerMillisecond is the sample rate.
const samplesPerMillisecond = 48

// happenStale posts every stale variant of the events and checks that each only changes a
// counter.
func (p *player) happenStale(events []csm.Event) error {
	tried := 0
	for _, e := range events {
		for _, v := range StaleVariants(p.state, e) {
			before := p.state
			p.post(v.Event)
			if p.loop != nil {
				p.loop.Drain()
			}
			if err := unchanged(before, p.state); err != nil {
				return fmt.Errorf("%s (%s) is stale, but %w", v.Class(), compact(v.Event), err)
			}
			tried++
		}
	}
	if tried == 0 {
		return errors.New("these events have no stale variant")
	}
	return nil
}

// unchanged returns an error that names a changed field other than a counter.
func unchanged(before, after csm.State) error {
	a, b := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range a.NumField() {
		if name := a.Type().Field(i).Name; name != "Counters" && !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			return fmt.Errorf("%s changed from %+v to %+v", name, a.Field(i).Interface(), b.Field(i).Interface())
		}
	}
	return nil
}
