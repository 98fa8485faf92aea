package csm

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// goldenMeanings is the table of meaning. Whoever changes a cell of Means changes it here, too.
const goldenMeanings = `| Words | nothing | question in prose | request | answer | question unheard | question heard | question decided |
| --- | --- | --- | --- | --- | --- | --- | --- |
| content | message | message | message | message | message | message | message |
| content, doubted | doubt: say so | doubt: say so | doubt: say so | nothing | doubt: say so | doubt: say so | doubt: say so |
| empty | nothing | nothing | nothing | nothing | nothing | nothing | nothing |
| empty, doubted | nothing | nothing | nothing | nothing | nothing | nothing | nothing |
| backchannel | nothing | nothing | nothing | nothing | nothing | nothing | nothing |
| backchannel, doubted | nothing | nothing | nothing | nothing | nothing | nothing | nothing |
| stop | stop | stop | stop | stop | stop | stop | stop |
| stop, doubted | stop | stop | stop | stop | stop | stop | stop |
| yes | message | message | nothing | nothing | unclear: ask again | yes | nothing |
| yes, doubted | nothing | doubt: say so | nothing | nothing | unclear: ask again | unclear: ask again | nothing |
| no | message | message | unclear: ask again | message | no | no | nothing |
| no, doubted | nothing | doubt: say so | nothing | nothing | unclear: ask again | unclear: ask again | nothing |
| send | send | send | send | send | send | send | send |
| send, doubted | send | send | send | send | send | send | send |
| pause | nothing | nothing | pause | pause | pause | pause | pause |
| pause, doubted | nothing | nothing | pause | pause | pause | pause | pause |
| continue | message | message | continue | continue | unclear: ask again | yes if it can be undone | continue |
| continue, doubted | doubt: say so | doubt: say so | continue | continue | unclear: ask again | unclear: ask again | continue |
| agree | nothing | message | nothing | nothing | nothing | yes if it can be undone | nothing |
| agree, doubted | nothing | doubt: say so | nothing | nothing | nothing | unclear: ask again | nothing |
| assent | message | message | message | message | unclear: ask again | yes if it can be undone | nothing |
| assent, doubted | doubt: say so | doubt: say so | doubt: say so | nothing | unclear: ask again | unclear: ask again | nothing |
| unclear | message | message | message | message | unclear: ask again | unclear: ask again | message |
| unclear, doubted | doubt: say so | doubt: say so | doubt: say so | nothing | unclear: ask again | unclear: ask again | doubt: say so |
| attention | nothing | nothing | nothing | stop | pause | pause | nothing |
| attention, doubted | nothing | nothing | nothing | stop | pause | pause | nothing |
`

// TestMeaningsAreTheGoldenOnes: every cell is as in the golden table.
func TestMeaningsAreTheGoldenOnes(t *testing.T) {
	if got := MeaningTable(); got != goldenMeanings {
		t.Errorf("the table of meaning changed; if intended, correct goldenMeanings, run `make generate` and review both:\n%s", got)
	}
}

// TestEveryMeaningKeepsItsLaws walks every cell of the table.
func TestEveryMeaningKeepsItsLaws(t *testing.T) {
	for said := range NumClasses {
		outcomes := map[Meaning]bool{}
		for over := range turn.NumStamps {
			for _, doubted := range []bool{false, true} {
				m := Means(over, said, doubted)
				outcomes[m] = true
				fail := func(law string) {
					t.Errorf("%v over %v (doubted: %v) means %v, but %s", said, over, doubted, m, law)
				}
				if (m == MeansYes || m == MeansAssent) && (over != turn.OverQuestion || doubted) {
					fail("a yes needs a question that was heard, and certain words")
				}
				if said == Stop && m != MeansStop {
					fail("stop is stop everywhere")
				}
				if doubted && m == MeansMessage {
					fail("doubted words are never a message")
				}
				if m >= NumMeanings {
					fail("there is no such meaning")
				}
			}
		}
		delete(outcomes, MeansNothing)
		if silent := said == Empty || said == Backchannel; silent != (len(outcomes) == 0) {
			t.Errorf("%v has the outcomes %v; only no words and a backchannel mean nothing everywhere", said, outcomes)
		}
	}
}
