package csmtest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

// defaultTimes are how long the world takes for what is not said otherwise.
var defaultTimes = map[string]time.Duration{
	"ActivateSession": 20 * time.Millisecond, "OpenAudio": 30 * time.Millisecond, "StartCapture": 10 * time.Millisecond,
	"OpenConnection": 100 * time.Millisecond, "DeactivateSession": 5 * time.Millisecond, "CloseAudio": 5 * time.Millisecond,
	"CloseConnection": 5 * time.Millisecond, "SendCopilot": 1 * time.Millisecond, "CancelCopilot": 10 * time.Millisecond,
	"Speak": 50 * time.Millisecond, "Flush": 5 * time.Millisecond, "LoadModel": 400 * time.Millisecond,
	"SearchTools": 20 * time.Millisecond, "CancelSearch": 10 * time.Millisecond, "CancelTool": 10 * time.Millisecond,
	"Summarise": 700 * time.Millisecond, "CancelSummary": 10 * time.Millisecond,
}

// worldNames are the effects by the names that scenarios have for them; an
// effect's own name serves too.
var worldNames = map[string][]string{
	"session":    {"ActivateSession"},
	"devices":    {"OpenAudio"},
	"microphone": {"StartCapture"},
	"connection": {"OpenConnection"},
	"closing":    {"DeactivateSession", "CloseAudio", "CloseConnection"},
	"copilot":    {"SendCopilot"},
	"cancelling": {"CancelCopilot", "CancelSearch", "CancelTool", "CancelSummary"},
	"speech":     {"Speak"},
	"flush":      {"Flush"},
	"model":      {"LoadModel"},
	"search":     {"SearchTools"},
	"tool":       {"CallTool"},
	"summary":    {"Summarise"},
}

var _ = addVerbs(map[string]func(*player, *words) error{
	"world":     (*player).world,
	"configure": (*player).configure,
	"repeat": func(p *player, w *words) error {
		if !w.is("everything twice") {
			return errors.New("only everything can be repeated, and only twice")
		}
		p.twice = true
		return nil
	},
	"again": func(p *player, _ *words) error {
		if len(p.last) == 0 {
			return errors.New("nothing happened yet")
		}
		return p.happen(p.last...)
	},
	"wait": func(p *player, w *words) error {
		d, err := w.duration()
		p.advance(d)
		return err
	},
	"event": func(p *player, w *words) error {
		name := w.word()
		k, ok := csm.KindByName(name)
		if !ok {
			return fmt.Errorf("this build has no event %q", name)
		}
		e, err := csm.DecodeEvent(k, []byte(w.all()))
		if err != nil {
			return err
		}
		return p.happen(e)
	},
})

// world sets how effects are answered:
//
//	world connection 100ms, speech never, session fails authentication after 2s
//	world playing 200ms      the loudspeaker plays a segment for so long
//	world silent             nothing is answered, no deadline passes, there is no dispatcher,
//	                         and every promise of World is checked
func (p *player) world(w *words) error {
	if w.is("silent") {
		if len(p.steps) > 0 {
			return errors.New("the world is silent from the beginning, or not at all")
		}
		p.loop, p.quiet = nil, NewWorld(func(string, int) int { return 0 })
		return nil
	}
	for w.peek() != "" {
		name := w.word()
		if name == "playing" {
			d, err := w.duration()
			if err != nil {
				return err
			}
			length := func(csm.Speak) time.Duration { return d }
			if p.speaker = nil; d > 0 {
				p.speaker = &world.Speaker{Clock: p.clock, Post: p.post, Length: length, All: true}
			}
			continue
		}
		effects := worldNames[name]
		if _, own := defaultTimes[name]; own {
			effects = []string{name}
		}
		if effects == nil {
			return fmt.Errorf("the world does not answer %q", name)
		}
		how, err := p.how(w, p.took[effects[0]])
		if err != nil {
			return err
		}
		for _, f := range effects {
			p.took[f] = how
		}
	}
	return nil
}

func (p *player) how(w *words, old setting) (setting, error) {
	switch {
	case w.is("never"):
		return setting{never: true, after: old.after}, nil
	case w.is("fails"):
		s := setting{fails: csm.Code(w.word()), after: old.after}
		if !w.is("after") {
			return s, nil
		}
		var err error
		s.after, err = w.duration()
		return s, err
	default:
		d, err := w.duration()
		return setting{after: d}, err
	}
}

// configure changes settings by their names in the configuration:
//
//	configure copilot 3s, queue 2
//
// What it does not name has its default.
func (p *player) configure(w *words) error {
	c := csm.DefaultConfig()
	v := reflect.ValueOf(&c).Elem()
	for w.peek() != "" {
		name := w.word()
		f, ok := configField(v, name)
		if !ok {
			return fmt.Errorf("the configuration has no %q", name)
		}
		switch {
		case f.Type() == reflect.TypeFor[time.Duration]():
			d, err := w.duration()
			if err != nil {
				return err
			}
			f.SetInt(int64(d))
		case f.Kind() == reflect.Bool:
			f.SetBool(!w.is("off"))
			w.is("on")
		default:
			if err := setNamed(f, w); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return p.happen(csm.Configure{Config: c})
}

func configField(v reflect.Value, name string) (reflect.Value, bool) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name || strings.EqualFold(f.Name, name) {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// valueNames are the values of enumerations in the configuration, in their order.
var valueNames = map[reflect.Type][]string{
	reflect.TypeFor[turn.Mode]():        {"semantic", "server", "manual"},
	reflect.TypeFor[turn.Eagerness]():   {"auto", "low", "medium", "high"},
	reflect.TypeFor[csm.Interruption](): {"atOnce", "confirmed", "byWords", "never"},
}

// setNamed sets a number, or an enumeration by its value's name.
func setNamed(f reflect.Value, w *words) error {
	c := *w
	if n, err := c.number(); err == nil {
		*w = c
		setNumber(f, n)
		return nil
	}
	name := w.word()
	if n := slices.Index(valueNames[f.Type()], name); n >= 0 {
		setNumber(f, uint64(n))
		return nil
	}
	return fmt.Errorf("%q is no value of it", name)
}
