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

// defaultTimes are the default delays of the world's answers.
var defaultTimes = map[string]time.Duration{
	"ActivateSession": 20 * time.Millisecond, "OpenAudio": 30 * time.Millisecond, "StartCapture": 10 * time.Millisecond,
	"OpenConnection": 100 * time.Millisecond, "DeactivateSession": 5 * time.Millisecond, "CloseAudio": 5 * time.Millisecond,
	"CloseConnection": 5 * time.Millisecond, "SendCopilot": 1 * time.Millisecond, "CancelCopilot": 10 * time.Millisecond,
	"Speak": 50 * time.Millisecond, "Flush": 5 * time.Millisecond, "LoadModel": 400 * time.Millisecond,
	"SearchTools": 20 * time.Millisecond, "CancelSearch": 10 * time.Millisecond, "CancelTool": 10 * time.Millisecond,
	"Summarise": 700 * time.Millisecond, "CancelSummary": 10 * time.Millisecond,
}

// worldNames maps the names in scenarios to effects; an effect's own name works too.
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
			return errors.New("write repeat everything twice")
		}
		p.twice = true
		return nil
	},
	"again": func(p *player, _ *words) error {
		if len(p.last) == 0 {
			return errors.New("no event to repeat")
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
			return fmt.Errorf("unknown event %q", name)
		}
		e, err := csm.DecodeEvent(k, []byte(w.all()))
		if err != nil {
			return err
		}
		return p.happen(e)
	},
})

// world configures how effects are answered:
//
//	world connection 100ms, speech never, session fails authentication after 2s
//	world playing 200ms      duration of each segment's playback
//	world silent             no answers, no deadlines, no dispatcher,
//	                         and all checks of World
func (p *player) world(w *words) error {
	if w.is("silent") {
		if len(p.steps) > 0 {
			return errors.New("world silent must be the first line")
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
			return fmt.Errorf("unknown effect %q", name)
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

// configure changes the configuration by field name:
//
//	configure copilot 3s, queue 2
//
// Fields that are not named keep their defaults.
func (p *player) configure(w *words) error {
	c := csm.DefaultConfig()
	v := reflect.ValueOf(&c).Elem()
	for w.peek() != "" {
		name := w.word()
		f, ok := configField(v, name)
		if !ok {
			return fmt.Errorf("unknown configuration field %q", name)
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

// valueNames are the value names of configuration enumerations, in order.
var valueNames = map[reflect.Type][]string{
	reflect.TypeFor[turn.Mode]():        {"semantic", "server", "manual"},
	reflect.TypeFor[turn.Eagerness]():   {"auto", "low", "medium", "high"},
	reflect.TypeFor[csm.Interruption](): {1: "confirmed", "byWords", "never"},
}

// setNamed sets a number, or an enumeration by value name.
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
	return fmt.Errorf("invalid value %q", name)
}
