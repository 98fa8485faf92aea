//go:build cgo && !race

package roomsim

import (
	"context"
	"reflect"
	"testing"
)

// TestAConversationIsTheSameEachTime also checks that a person is detected at all,
// and that each profile behaves as named.
func TestAConversationIsTheSameEachTime(t *testing.T) {
	says, all := synthetic(t)
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

// TestCommandsAreDetectedFromTheFirstWord with headphones, processed and unprocessed,
// and with new speakers: each command is decided within 250 ms, and none is missed.
func TestCommandsAreDetectedFromTheFirstWord(t *testing.T) {
	says, all := synthetic(t)
	commands, err := SyntheticCommands(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	noises := NewNoises(1, says, nil)
	for i, c := range commands {
		for _, place := range []Setup{Headphones, Unprocessed, NewSpeakers} {
			cell := Opening{After: FirstWord, Place: place}.cell([]string{"study", "hall"}[i%2], question(all, c, 1), c)
			cell.Seed = uint64(i)
			res, err := Run(cell, says, noises)
			if err != nil {
				t.Fatal(err)
			}
			if o := res.Outcomes[0]; o.Missed() || o.Decided < 0 || o.Decided > 250 {
				t.Errorf("%s, %s: %+v", cell.Name, c.ID, o)
			}
		}
	}
}
