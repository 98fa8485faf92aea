//go:build cgo

package localrealtime

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
)

// comparing is a recogniser that compares each sound with the expected answers.
type comparing struct {
	hearing.Recognizer
	expected [][]string
}

func (c *comparing) SetExpected(groups [][]string) { c.expected = groups }

func (c *comparing) Finish() (hearing.Result, error) {
	r, err := c.Recognizer.Finish()
	if len(c.expected) > 0 {
		r.Answer = &hearing.Answer{Phrase: c.expected[0][0], Lead: 5, Behind: 1}
	}
	return r, err
}

// A client that asks for it receives how well a sound fits the answers that are expected when
// the voice begins; other clients do not.
func TestAnswersAreSentToClientsThatAsk(t *testing.T) {
	for _, asks := range []bool{false, true} {
		session := transcribing()
		if asks {
			session = strings.Replace(session, `"include":[`, `"include":["`+includeAnswer+`",`, 1)
		}
		engines := newFakeEngines()
		expected := make(chan [][]string, 2)
		h := start(t, func(c *Config) {
			c.Recognizer = func() (hearing.Recognizer, error) {
				r, err := engines.recognizer()
				return &comparing{Recognizer: r}, err
			}
			c.Expected = func() [][]string { return <-expected }
		})
		p := h.call(t, session)
		for _, groups := range [][][]string{{{"Yes."}, {"No."}}, nil} {
			expected <- groups
			p.say(append(append(quiet(600), tone(800, listenRate)...), quiet(700)...), time.Millisecond)
			events := p.until("conversation.item.input_audio_transcription.completed")
			var want *hearing.Answer
			if asks && groups != nil {
				want = &hearing.Answer{Phrase: "Yes.", Lead: 5, Behind: 1}
			}
			if got := events[len(events)-1].Answer; !reflect.DeepEqual(got, want) {
				t.Errorf("asks %v, expected %q: the answer is %+v, want %+v", asks, groups, got, want)
			}
		}
	}
}
