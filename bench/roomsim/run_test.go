//go:build cgo

package roomsim

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// synthetic returns an assistant and cases that need no recordings.
func synthetic(t *testing.T) (Assistant, []Case) {
	t.Helper()
	says, err := NewAssistant(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	all, err := SyntheticCases(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return says, all
}

// A recognizer that replaces the oracle decides: the answer ends at words, and
// continues after uncertain words.
func TestRecognizerReplacesTheOracle(t *testing.T) {
	says, all := synthetic(t)
	said := all[1]
	for _, doubted := range []bool{false, true} {
		var heard []int16
		res, err := Run(Cell{Place: usual("study", -12), Seed: 3, Profile: "default", Cases: []Case{said}, Words: func(pcm []int16) (csm.Final, error) {
			heard = pcm
			return csm.Final{Words: 1, Doubted: doubted}, nil
		}}, says, NewNoises(1, says, nil))
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Outcomes) != 1 || len(res.Errors) > 0 || res.Outcomes[0].WentOn != doubted {
			t.Errorf("doubted %v: %+v, %v", doubted, res.Outcomes, res.Errors)
		}
		least := audio.Samples(leadIn) + said.End - said.Onset
		if n := int64(len(heard)); n < least-audio.Samples(100*time.Millisecond) || n > least+audio.Samples(time.Second) {
			t.Errorf("recognition got %v of a sound of %v", audio.Duration(n), audio.Duration(said.End-said.Onset))
		}
	}
}

// TestOpeningsBeginEarly: cases that interrupt the first words do so at the right time.
func TestOpeningsBeginEarly(t *testing.T) {
	all, err := SyntheticCases(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i].Group = Read // replaces recordings that may be missing
	}
	cells := Openings(Quick(), 1, all)
	each := len(Quick().Rooms) * (Quick().Cases / 4)
	if want := len(Opened) * each; len(cells) != want {
		t.Fatalf("%d conversations, want %d", len(cells), want)
	}
	for i := range each {
		for k, o := range Opened {
			c := cells[k*each+i]
			if same := cells[(k%4)*each+i]; c.Cases[0].ID != same.Cases[0].ID || c.Seed != same.Seed {
				t.Errorf("%v is interrupted by %s, %v by %s", o, c.Cases[0].ID, Opened[k%4], same.Cases[0].ID)
			}
			if (c.Asks == nil) != (o.Place == TypedAtOnce) || c.Asks != nil && (c.Asks.Voice != c.Cases[0].Voice || c.Asks.ID == c.Cases[0].ID) {
				t.Errorf("%v: %s is asked before %s", o, c.Asks.ID, c.Cases[0].ID)
			}
			if c.Known != (o.Place == KnownSpeakers) || c.Headphones != (o.Place == Headphones || o.Place == Unprocessed) {
				t.Errorf("%v: %+v", o, c.Place)
			}
		}
	}
	for k, o := range Opened {
		p := newPerson(cells[k*each])
		var near audio.Frame
		pos := int64(0)
		for p.said == nil {
			p.near(pos, true, &near)
			pos += audio.FrameSamples
		}
		if off := audio.Duration(pos) - o.After; off < 0 || off > 20*time.Millisecond {
			t.Errorf("%v: the interruption starts after %v", o, audio.Duration(pos))
		}
	}
}

func TestTheMatrixIsDrawnBySeed(t *testing.T) {
	all, err := SyntheticCases(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	one, two, other := Matrix(Quick(), 1, all), Matrix(Quick(), 1, all), Matrix(Quick(), 2, all)
	if !reflect.DeepEqual(one, two) {
		t.Error("the matrix of a seed is not reproducible")
	}
	if reflect.DeepEqual(one, other) {
		t.Error("two seeds draw the same matrix")
	}
	alone := map[string]time.Duration{}
	for _, c := range Matrix(Full(), 1, all) {
		if c.Place.Noise == "" {
			alone[c.Profile+c.Room] += c.Alone
		}
	}
	for _, r := range Full().Rooms {
		if alone["default"+r] < 10*time.Minute {
			t.Errorf("the assistant speaks for %v alone in %s", alone["default"+r], r)
		}
	}
}
