package daemon

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// talk is a conversation that is drawn from a seed: what the user does, and how the assistant
// answers.
type talk struct {
	Moments []moment
	Replies []reply // in turn
}

// moment is one thing that the user does. Durations are in milliseconds.
type moment struct {
	Until string // "asked" or "heard": waits for a question about a call; "" for none
	After int
	Do    string // say, type, allow, refuse, interrupt, mute, unmute
	Words string // a key of sayings
	Voice int    // length of the voice
	Gap   int    // silence in the middle of the voice
	Late  int    // from the end of the voice to its words
	Fate  string // sure, doubted, unvoiced, lost, or never
}

func (m moment) String() string {
	s := fmt.Sprintf("%+6d ms: %s", m.After, m.Do)
	if m.Until != "" {
		s = "once a question is " + m.Until + ", " + s
	}
	if m.Do == "say" {
		s += fmt.Sprintf(" %q for %d ms with a gap of %d; after %d ms the words are %s", sayings[m.Words], m.Voice, m.Gap, m.Late, m.Fate)
	}
	return s
}

// reply is how a request is answered.
type reply struct {
	First int      // ms until the first words
	Rest  int      // ms from there to the end
	Calls []string // keys of scheduledCalls
	Ends  string   // whole, fails or cut
}

// sayings are what the user says. In those with a number it tells utterances apart.
var sayings = map[string]string{
	"message": "look at word%03d in the parser", "yes": "yes", "named": "yes, delete", "go": "go ahead", "okay": "okay", "no": "no",
	"but": "yes, but look at word%03d first", "wait": "wait", "stop": "stop", "hum": "mm-hm", "empty": "",
}

var scheduledCalls = map[string]copilot.ToolCall{
	"reads":       {Name: "editor_read_file", Input: []byte(`{"path":"a.go"}`), Destructive: new(bool)},
	"preapproved": {Name: "editor_read_file", Input: []byte(`{"path":"b.go"}`), Destructive: new(bool), Allowed: true},
	"changes":     {Name: "editor_apply_edit", Input: []byte(`{"path":"a.go","edits":[{"oldText":"a","newText":"b"}]}`), Destructive: new(bool)},
	"deletes":     {Name: "delete_file", Input: []byte(`{"path":"a.go"}`)},
}

func drawTalk(seed uint64) talk {
	r := rand.New(rand.NewPCG(seed, 36))
	pick := func(of string) string { all := strings.Fields(of); return all[r.IntN(len(all))] }
	var t talk
	for range 8 {
		p := reply{First: r.IntN(1800), Rest: r.IntN(600), Ends: pick("whole whole whole whole fails cut")}
		for range r.IntN(4) {
			p.Calls = append(p.Calls, pick("reads changes changes deletes preapproved"))
		}
		t.Replies = append(t.Replies, p)
	}
	for range 6 + r.IntN(10) {
		m := moment{After: r.IntN(1500), Do: pick("say say say say say say say say type allow refuse interrupt mute unmute")}
		if r.IntN(8) == 0 {
			m.After += 4000
		}
		m.Voice, m.Late, m.Fate = 150+r.IntN(1200), r.IntN(900), pick("sure sure sure sure sure sure sure doubted unvoiced lost never")
		if r.IntN(4) == 0 {
			m.Gap, m.Late = 100+r.IntN(1500), r.IntN(2500)
		}
		m.Words = pick("message message message but hum empty okay stop yes")
		answers := r.IntN(2) == 0
		if answers {
			m.Until, m.After = pick("asked heard heard heard"), r.IntN(1200)
			m.Words = pick("yes yes yes named named go okay no but wait stop message")
		}
		t.Moments = append(t.Moments, m)
		switch {
		case answers && r.IntN(2) == 0: // second thoughts
			t.Moments = append(t.Moments, moment{
				After: r.IntN(700), Do: "say", Words: pick("message no but wait hum empty yes stop"), Voice: 150 + r.IntN(600), Late: r.IntN(1500),
				Fate: pick("sure sure sure doubted lost never"),
			})
		case m.Do == "type" && r.IntN(3) == 0: // more than the queue holds
			for range 10 {
				t.Moments = append(t.Moments, moment{After: 20, Do: "type"})
			}
			t.Moments = append(t.Moments, moment{After: 20, Do: "say", Words: "message", Voice: 300, Fate: "sure"})
		}
	}
	return t
}

func (t talk) String() string {
	var b strings.Builder
	for _, m := range t.Moments {
		fmt.Fprintln(&b, m)
	}
	for i, r := range t.Replies {
		fmt.Fprintf(&b, "reply %d: after %d ms, for %d ms, calls %v, %s\n", i, r.First, r.Rest, r.Calls, r.Ends)
	}
	return b.String()
}

// Seeds that found a fault: a no to one call, after which a preapproved one ran.
func TestSchedulesThatWentWrong(t *testing.T) {
	for _, seed := range []int{586, 1189, 4809} {
		playTalks(t, seed, seed+1)
	}
}
