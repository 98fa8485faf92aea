//go:build cgo

package roomsim

import (
	"context"
	"reflect"
	"testing"
	"time"
)

// TestAConversationIsTheSameEachTime also shows that a person is heard at all, and
// that each profile does what it is called by.
func TestAConversationIsTheSameEachTime(t *testing.T) {
	says, err := NewAssistant(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	all, err := SyntheticCases(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	place := usual("study", -12)
	cell := Cell{Place: place, Seed: 3, Profile: "default", Cases: []Case{all[1], all[8]}}
	noises := NewNoises(1, says, nil)
	first, err := Run(cell, says, noises)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Run(cell, says, noises)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Errors) > 0 || len(first.Outcomes) != 2 {
		t.Fatalf("%v, %d outcomes", first.Errors, len(first.Outcomes))
	}
	if !reflect.DeepEqual(first.Outcomes, again.Outcomes) || !reflect.DeepEqual(first.FalseAt, again.FalseAt) {
		t.Errorf("two runs differ:\n%+v\n%+v", first.Outcomes, again.Outcomes)
	}
	if o := first.Outcomes[0]; o.Missed() || o.WentOn || o.Silent > 500 {
		t.Errorf("%q does not stop the assistant: %+v", o.ID, o)
	}
	if o := first.Outcomes[1]; !o.WentOn || o.Stuck {
		t.Errorf("%q stops the assistant: %+v", o.ID, o)
	}
	cell.Profile = "off"
	deaf, err := Run(cell, says, noises)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range deaf.Outcomes {
		if o.Interrupted() {
			t.Errorf("the profile off pauses for %q: %+v", o.ID, o)
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
		t.Error("a seed draws two matrices")
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
