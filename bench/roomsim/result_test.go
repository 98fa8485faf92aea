package roomsim

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

const second = int64(audio.SampleRate)

func TestUncausedPausesAreFalse(t *testing.T) {
	said := []saying{{c: &Case{}, begin: 20 * second, over: 24 * second}}
	for _, c := range []struct {
		name                  string
		happened              []happening
		pauses, interruptions int
		early                 int
	}{
		{"a pause that is retracted", []happening{{12 * second, "pause"}, {13 * second, "resume"}}, 1, 0, 0},
		{"a pause that takes the floor", []happening{{2 * second, "pause"}, {3 * second, "listening"}, {4 * second, "resume"}}, 1, 1, 1},
		{"a pause that ends the answer", []happening{{12 * second, "pause"}, {13 * second, "flush"}}, 1, 1, 0},
		{"an answer that is ended at once", []happening{{12 * second, "flush"}, {12 * second, "listening"}}, 1, 1, 0},
		{"the end of an answer", []happening{{12 * second, "listening"}}, 0, 0, 0},
		{"what the person did", []happening{{20 * second, "pause"}, {21 * second, "listening"}, {22 * second, "flush"}}, 0, 0, 0},
	} {
		var res Result
		res.countFalse(said, c.happened)
		if res.Pauses != c.pauses || res.Interruptions != c.interruptions || res.Early != c.early {
			t.Errorf("%s: %d pauses, %d early, %d interruptions", c.name, res.Pauses, res.Early, res.Interruptions)
		}
	}
}

func TestOutcomeIsRelativeToTheLabel(t *testing.T) {
	c := &Case{Kind: BargeIn, Label: speechdata.Label{Onset: 4800, Strong: 9600, End: second}}
	said := saying{c: c, begin: second, over: 4 * second, first: second + 4800 + 480, told: true}
	tape := taped(0, second+14400, 3*second, 5*second)
	o := outcome(&said, tape, []happening{{second / 2, "pause"}, {second + 12000, "pause"}, {second + 16800, "listening"}}, 480)
	if o.Silent != 200 || o.Strong != 100 || o.Decided != 150 || o.Listening != 250 || o.Lost != 10 || o.Missed() || !o.WentOn {
		t.Errorf("%+v", o)
	}
	if o.Resumed < 990 || o.Resumed > 1000 {
		t.Errorf("sounds again %v ms after the end, want 1000", o.Resumed)
	}
	if o := outcome(&said, tape, nil, 0); !o.Missed() || o.Interrupted() {
		t.Errorf("an undetected interruption is not a miss: %+v", o)
	}
	said.told = false
	if o := outcome(&said, tape, []happening{{second + 12000, "flush"}}, 0); !o.Missed() || o.WentOn {
		t.Errorf("a retracted interruption is not a miss: %+v", o)
	}
}
