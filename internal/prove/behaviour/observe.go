package behaviour

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/csmtest"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// states is the number of distinct states that are stepped through every event.
const states = 500

// A walk ends after walkSteps. Events that would end the conversation are taken only
// once in endOdds times, so that walks get far.
const (
	walkSteps = 400
	endOdds   = 40
	handful   = 4
	pause     = 30 // one in this many steps waits for a minute
)

// record is the results of the steps, by phase and kind.
type record map[string]*cell

type cell struct {
	steps int
	sum   hash.Hash
}

func (r record) String() string {
	var out []string
	for name, c := range r {
		out = append(out, fmt.Sprintf("%s %d %s\n", name, c.steps, hex.EncodeToString(c.sum.Sum(nil)[:8])))
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

// observe walks until it has seen the given number of distinct states, and steps each
// of them through every event. Then it does the same with the states of the
// scenarios, which walks rarely reach.
func observe(states int, told []csmtest.Scenario) record {
	r := record{}
	seen, met := map[string]bool{}, map[csm.Phase]int{}
	defer func() { r.follow(told, seen) }()
	random := rand.New(rand.NewPCG(1, 2)) // the same numbers on every machine
	for walk := 0; len(seen) < states && walk < states; walk++ {
		s, at := csm.Initial(), time.Duration(0)
		s, _ = csm.Step(s, csm.Envelope{Seq: 1, Event: csm.Configure{Config: configs()[walk%len(configs())]}})
		for seq := uint64(2); seq < walkSteps && len(seen) < states; seq++ {
			at += time.Duration(random.IntN(300)) * time.Millisecond
			if random.IntN(pause) == 0 {
				at += time.Minute
			}
			all := events(s)
			if key := shape(s); !seen[key] {
				seen[key] = true
				met[s.Phase()]++
				if p := s.Phase(); !p.Active() || p == csm.PhasePreparing { // states with fewer possible events
					met[p] += 4
				}
				for _, e := range all {
					r.step(s, csm.Envelope{Seq: seq, At: at, Event: withLiveGeneration(s, e)})
				}
			}
			s = advance(random, s, all, met, seq, at)
		}
	}
	return r
}

// follow steps the states of the scenarios through every event. It ignores scenarios
// that fail, which another test reports.
func (r record) follow(told []csmtest.Scenario, seen map[string]bool) {
	for _, sc := range told {
		out, _ := csmtest.Play(sc)
		for _, st := range out.Steps {
			key := shape(st.After)
			if seen[key] {
				continue
			}
			seen[key] = true
			for _, e := range events(st.After) {
				r.step(st.After, csm.Envelope{Seq: st.Envelope.Seq + 1, At: st.Envelope.At + 300*time.Millisecond, Event: withLiveGeneration(st.After, e)})
			}
		}
	}
}

// scenarios returns the text scenarios of the module at root.
func scenarios(root string) ([]csmtest.Scenario, error) {
	told, err := csmtest.Scenarios(os.DirFS(filepath.Join(root, "testdata", "csm")))
	if err != nil {
		return nil, err
	}
	broke, err := csmtest.Scenarios(os.DirFS(filepath.Join(root, "testdata", "regressions")))
	return append(told, broke...), err
}

// configs are the initial configurations of walks, in turn: with and without tools,
// each way to end the user's turn, and a history that soon gets too long.
func configs() []csm.Config {
	var out []csm.Config
	for _, mode := range []turn.Mode{turn.Server, turn.Semantic, turn.Manual} {
		for _, tools := range []bool{true, false} {
			c := csm.DefaultConfig()
			c.Turns, c.Tools, c.HistoryMax, c.HistoryKeep, c.QueueMax, c.RoundsMax = mode, tools, 6, 2, 2, 2
			out = append(out, c)
		}
	}
	return out
}

// advance picks a random event that has an effect: of a handful, the one that leads
// to the least visited state.
func advance(random *rand.Rand, s csm.State, all []csm.Event, met map[csm.Phase]int, seq uint64, at time.Duration) csm.State {
	best, found := s, 0
	for range 200 {
		env := csm.Envelope{Seq: seq, At: at, Event: withLiveGeneration(s, all[random.IntN(len(all))])}
		next, _ := csm.Step(s, env)
		ends := s.Phase().Active() && !next.Phase().Active()
		_, configured := env.Event.(csm.Configure)
		if next.Counters != s.Counters || configured || ends && random.IntN(endOdds) > 0 {
			continue
		}
		if found == 0 || met[next.Phase()] < met[best.Phase()] {
			best = next
		}
		if found++; found == handful {
			break
		}
	}
	return best
}

// step records the result of one step.
func (r record) step(s csm.State, env csm.Envelope) {
	next, fx := csm.Step(s, env)
	name := s.Phase().String() + " " + csm.KindOf(env.Event).String()
	c := r[name]
	if c == nil {
		c = &cell{sum: sha256.New()}
		r[name] = c
	}
	c.steps++
	c.note(env.Event)
	if changed := next.Counters == s.Counters; changed {
		c.note(next)
	} else {
		c.note(next.Counters)
	}
	for _, f := range fx {
		fmt.Fprint(c.sum, csm.NameOf(f))
		c.note(f)
	}
}

func (c *cell) note(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("%T has no JSON: %v", v, err))
	}
	c.sum.Write(text)
}

var numbers = regexp.MustCompile(`[0-9]+`)

// shape is a state without its ids and times, detailed enough that walks continue
// beyond similar states.
func shape(s csm.State) string {
	s.Counters, s.Since, s.CauseSeq, s.IDs, s.Cause, s.Previous, s.Cursor = csm.Counters{}, 0, 0, csm.IDs{}, "", 0, csm.Cursor{}
	for t := range s.Timers {
		s.Timers[t] = csm.TimerState{Armed: s.Timers[t].Armed}
	}
	s.Config, s.Current.Config, s.Faults.Recent, s.Current.Opened = nil, nil, [3]time.Duration{}, 0
	text, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("a state has no JSON: %v", err))
	}
	return s.Phase().String() + numbers.ReplaceAllStringFunc(string(text), func(n string) string {
		if n == "0" || n == "1" {
			return n
		}
		return "n"
	})
}
