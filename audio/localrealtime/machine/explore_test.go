package machine

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// world bounds an exploration: the possible settings of the session and the possible
// events. The settings bound the answers.
type world struct {
	name     string
	settings []Settings // the first is the initial one
	without  []Kind
	words    int // maximum utterances with pending words
}

// worlds are explored exhaustively.
func worlds() []world {
	on := Settings{Interrupt: true, Create: true, Idle: true, Transcribe: true, Model: true, Answers: 2}
	set := func(s Settings, change func(*Settings)) Settings { change(&s); return s }
	memory := []Kind{Grown, Changed, Summarised}
	return []world{
		{name: "a model answers", settings: []Settings{
			on, set(on, func(s *Settings) { s.Interrupt, s.Create = false, false }), set(on, func(s *Settings) { s.Transcribe, s.Idle = false, false }),
		}, without: memory, words: 2},
		{name: "no model", settings: []Settings{
			set(on, func(s *Settings) { s.Model, s.Create = false, false }), set(on, func(s *Settings) { s.Model, s.Transcribe, s.Interrupt = false, false, false }),
		}, without: memory, words: 2},
		{name: "three answers", settings: []Settings{set(on, func(s *Settings) { s.Answers = 3 })}, without: append(memory, Configure, Voice, Clear, Delta, Spoken, TooLong, Stalled), words: 1},
		{name: "memory", settings: []Settings{set(on, func(s *Settings) { s.Remember, s.Answers = 1, 1 })}, without: []Kind{Configure}, words: 1},
	}
}

// moves returns the events possible in a state. They refer to the existing answers,
// words and summaries, and to one that does not exist.
func (w *world) moves(s State) (out []Event) {
	const nobody = 1 << 20
	for k := range numKinds {
		if slices.Contains(w.without, k) || len(s.Words) == w.words && (k == Onset || k == Voice || k == IdleTimeout || k == Commit && s.Turn.Utterance == 0) {
			continue
		}
		ids := []uint32{0}
		switch {
		case k.of() == ofWords:
			ids = []uint32{nobody}
			for _, x := range s.Words {
				ids = append(ids, x.ID)
			}
		case k == Summarised:
			ids = []uint32{nobody, s.Memory.Job}
		case k.of() == ofAnswers && k != Create && k != ClearOutput:
			ids = []uint32{nobody}
			for _, x := range s.Answers {
				ids = append(ids, x.ID)
			}
			if k == Cancel {
				ids = append(ids, 0)
			}
		}
		for _, id := range ids {
			out = append(out, Event{Kind: k, ID: id})
			switch k {
			case Create:
				out = append(out, Event{Kind: k, Apart: true})
			case Commit, Stalled, Final, Generated, Summarised, Changed:
				out = append(out, Event{Kind: k, ID: id, OK: true})
			case Grown:
				for size := range 3 {
					out = append(out, Event{Kind: k, Size: size + 1})
				}
			case Configure:
				out = out[:len(out)-1]
				for _, c := range w.settings {
					out = append(out, Event{Kind: k, Settings: c}, Event{Kind: k, Settings: c, OK: true})
				}
			}
		}
	}
	return out
}

// canonical renumbers all ids from 1, because the tables only compare ids for equality.
func canonical(s State) State {
	ids := map[uint32]uint32{0: 0}
	number := func(id *uint32) {
		if _, ok := ids[*id]; !ok {
			ids[*id] = uint32(len(ids))
		}
		*id = ids[*id]
	}
	s.Words, s.Answers = slices.Clone(s.Words), slices.Clone(s.Answers)
	for i := range s.Words {
		number(&s.Words[i].ID)
	}
	for i := range s.Answers {
		a := &s.Answers[i]
		if _, awaited := ids[a.Turn]; !awaited {
			a.Turn = 0
		}
		a.Turn = ids[a.Turn]
	}
	number(&s.Turn.Utterance)
	for i := range s.Answers {
		number(&s.Answers[i].ID)
	}
	number(&s.Memory.Job)
	s.Last = uint32(len(ids) - 1)
	return s
}

func key(s State) string {
	b := make([]byte, 0, 64)
	put := func(v ...byte) { b = append(b, v...) }
	flag := func(v bool) byte {
		if v {
			return 1
		}
		return 0
	}
	c := s.Settings
	put(flag(c.Interrupt), flag(c.Create), flag(c.Idle), flag(c.Transcribe), byte(s.Link), byte(s.Turn.At), byte(s.Turn.Utterance))
	put(byte(s.Memory.At), byte(s.Memory.Job), byte(s.Memory.From), byte(len(s.Words)))
	for _, w := range s.Words {
		put(byte(w.ID), byte(w.At), flag(w.Asked))
	}
	for _, a := range s.Answers {
		put(byte(a.ID), byte(a.At), byte(a.Sound), byte(a.Turn), flag(a.Apart), flag(a.Empty))
	}
	return string(b)
}

// node is a state with the path to it.
type node struct {
	state  State
	parent int
	by     Event
}

// edge is one step.
type edge struct {
	from, to State
	e        Event
	acts     []Action
	outcome  Outcome
}

// violation is an invariant that a step violates, with the shortest path to it.
type violation struct {
	what string
	path []string
}

// explored is the result of exploring all worlds.
type explored struct {
	worlds, states, edges int
	closed                bool
	broken                map[string]violation // by invariant
	met                   map[string]int       // how often it was tested, by invariant
	until                 string               // the invariant to look for, "" for all
}

// tooMany is more states than any world should have.
const tooMany = 2_000_000

var exploreOnce = sync.OnceValue(func() *explored {
	r := &explored{closed: true, broken: map[string]violation{}, met: map[string]int{}}
	for _, w := range worlds() {
		r.explore(&w, Step)
	}
	return r
})

func (r *explored) explore(w *world, step func(State, Event) (State, []Action, Outcome)) {
	nodes := []node{{state: New(w.settings[0])}}
	seen := map[string]bool{key(nodes[0].state): true}
	for i := 0; i < len(nodes); i++ {
		if _, found := r.broken[r.until]; found || len(nodes) > tooMany {
			r.closed = false
			return
		}
		from := nodes[i].state
		for _, e := range w.moves(from) {
			to, acts, outcome := step(from, e)
			r.edges++
			r.judge(w, nodes, i, edge{from, to, e, acts, outcome})
			next := canonical(to)
			if k := key(next); !seen[k] {
				seen[k] = true
				nodes = append(nodes, node{next, i, e})
			}
		}
	}
	r.worlds++
	r.states += len(nodes)
}

// judge checks every invariant for a step.
func (r *explored) judge(w *world, nodes []node, at int, x edge) {
	for _, p := range promises {
		if _, known := r.broken[p.name]; known {
			continue
		}
		atStake, what := p.check(x)
		if atStake {
			r.met[p.name]++
		}
		if what == "" {
			continue
		}
		v := violation{what: fmt.Sprintf("%s: %s; %v led to %v", w.name, what, x.e, x.acts), path: []string{x.e.String()}}
		for i := at; i != 0; i = nodes[i].parent {
			v.path = append(v.path, nodes[i].by.String())
		}
		slices.Reverse(v.path)
		r.broken[p.name] = v
	}
}

// Every world is explored exhaustively.
func TestEveryWorldCloses(t *testing.T) {
	r := exploreOnce()
	if !r.closed || r.states < 1000 {
		t.Errorf("%d states were reached, closed: %v", r.states, r.closed)
	}
	if v, broken := r.broken["check"]; broken {
		t.Errorf("%s, after:\n  %s", v.what, strings.Join(v.path, "\n  "))
	}
	fmt.Printf("machines: %d worlds closed: %d states, %d edges, %d promises\n", r.worlds, r.states, r.edges, len(promises))
}

// held fails if the exploration violates an invariant or never tests it.
func held(t *testing.T, name string) {
	t.Helper()
	r := exploreOnce()
	if v, broken := r.broken[name]; broken {
		t.Errorf("%s, after:\n  %s", v.what, strings.Join(v.path, "\n  "))
	}
	if r.met[name] == 0 || !r.closed {
		t.Errorf("it was at stake in %d steps, closed: %v", r.met[name], r.closed)
	}
}
