package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

// conversation holds the machine-independent content of a journal: the sequence of states
// and the outcome of each turn, without words and times.
type conversation struct {
	states []state
	turns  []turn

	sent   map[uint64]int // requests per utterance
	ends   map[uint64]int // ends per request
	played map[string]int // segments of answers, by request and position
}

type state struct {
	name  string
	turn  uint64
	taken bool // the interruption before it was a false one
}

// turn is a finished turn.
type turn struct {
	id, request uint64
	end         string
}

// effects are the outcome's effects that matter here.
type effects struct {
	PublishState *struct {
		To    string `json:"to"`
		Cause string `json:"cause"`
		Turn  uint64 `json:"turn"`
	}
	PublishTurn *struct {
		Turn struct {
			ID      uint64 `json:"id"`
			Request uint64 `json:"request"`
		} `json:"turn"`
		End string `json:"end"`
	}
	SendCopilot *struct {
		Request   uint64 `json:"request"`
		Utterance uint64 `json:"utterance"`
	}
	Speak *struct {
		Gen     uint32 `json:"gen"`
		Segment struct {
			Seq     uint32 `json:"seq"`
			Request uint64 `json:"request"`
			Start   int    `json:"start"`
			End     int    `json:"end"`
		} `json:"segment"`
	}
}

// read extracts the conversation from a journal.
func read(j *journal.Journal) (*conversation, error) {
	c := &conversation{sent: map[uint64]int{}, ends: map[uint64]int{}, played: map[string]int{}}
	pieces := map[[2]uint32]string{} // text spoken as a segment
	for _, l := range j.Lines {
		if l.Event == "" {
			continue
		}
		env, err := l.Envelope()
		if err != nil {
			return nil, err
		}
		switch e := env.Event.(type) {
		case csm.CopilotDone:
			c.ends[e.Request]++
		case csm.SpeechPlayed:
			if piece := pieces[[2]uint32{e.Gen, e.Seq}]; piece != "" {
				c.played[piece]++
			}
		}
		if len(l.Effects) == 0 {
			continue
		}
		var all []effects
		if err := json.Unmarshal(l.Effects, &all); err != nil {
			return nil, fmt.Errorf("the effects of event %d: %w", l.Seq, err)
		}
		for _, fx := range all {
			switch {
			case fx.PublishState != nil:
				s := fx.PublishState
				c.enter(state{name: s.To, turn: s.Turn, taken: s.Cause == "interrupt.retracted"})
			case fx.PublishTurn != nil && fx.PublishTurn.End != "":
				t := fx.PublishTurn
				c.turns = append(c.turns, turn{id: t.Turn.ID, request: t.Turn.Request, end: t.End})
			case fx.SendCopilot != nil:
				c.sent[fx.SendCopilot.Utterance]++
			case fx.Speak != nil:
				s := fx.Speak.Segment
				if s.Request != 0 {
					pieces[[2]uint32{fx.Speak.Gen, s.Seq}] = fmt.Sprintf("request %d, characters %d to %d", s.Request, s.Start, s.End)
				}
			}
		}
	}
	return c, nil
}

// thinking are the states between the user's words and the answer. Their durations depend
// on the machine.
var thinking = []string{"Analysing", "WaitingForCopilot", "GeneratingResponse"}

// enter adds a state. It drops pauses within an answer and false interruptions, because
// they depend on the machine.
func (c *conversation) enter(s state) {
	if slices.Contains(thinking, s.name) {
		s.name = "Thinking"
	}
	n, before := len(c.states), -1 // where this answer was heard before
	for at, was := range c.states {
		if was.name == s.name && was.turn == s.turn {
			before = at
		}
	}
	paused := before == n-2 && n > 1 && c.states[n-1].name == "Thinking"
	switch {
	case n > 0 && before == n-1:
	case s.name == "Speaking" && before >= 0 && (s.taken || paused):
		c.states = c.states[:before+1]
	default:
		c.states = append(c.states, s)
	}
}

// once reports what was asked or said more than once, or did not end exactly once.
func (c *conversation) once() error {
	var all []error
	for utterance, n := range c.sent {
		if n != 1 {
			all = append(all, fmt.Errorf("utterance %d was asked %d times", utterance, n))
		}
	}
	for request, n := range c.ends {
		if n != 1 {
			all = append(all, fmt.Errorf("request %d ended %d times", request, n))
		}
	}
	if len(c.ends) != len(c.sent) {
		all = append(all, fmt.Errorf("%d requests have %d ends", len(c.sent), len(c.ends)))
	}
	for piece, n := range c.played {
		if n != 1 {
			all = append(all, fmt.Errorf("%s was said %d times", piece, n))
		}
	}
	return errors.Join(all...)
}

// String returns the conversation in the format of the golden file.
func (c *conversation) String() string {
	var b strings.Builder
	for _, s := range c.states {
		b.WriteString(s.name)
		if s.turn != 0 {
			fmt.Fprintf(&b, " turn %d", s.turn)
		}
		b.WriteByte('\n')
	}
	for _, t := range c.turns {
		fmt.Fprintf(&b, "turn %d, request %d: %s\n", t.id, t.request, t.end)
	}
	return b.String()
}
