package csm

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// A sum lists the cases of one closed sum by name, so that a state can be decoded from
// JSON. A new case is a new line below; a test finds missing ones.
type sum[S any] struct {
	what  string
	cases map[string]func(data []byte) (S, error)
}

// of creates a sum from its cases, keyed by the name used in the state's JSON.
func of[S any](what string, name func(S) string, cases ...func([]byte) (S, error)) sum[S] {
	s := sum[S]{what, map[string]func([]byte) (S, error){}}
	for _, c := range cases {
		zero, err := c([]byte("{}"))
		if err != nil {
			panic(fmt.Sprintf("csm: cannot decode a case of %s: %v", what, err))
		}
		s.cases[name(zero)] = c
	}
	return s
}

// one decodes case C of sum S.
func one[S, C any](data []byte) (S, error) {
	var c C
	err := strictJSON(data, &c)
	return any(c).(S), err
}

func (s sum[S]) decode(name string, data []byte) (S, error) {
	read, ok := s.cases[name]
	if !ok {
		var none S
		return none, fmt.Errorf("unknown state %q of %s; read it with the build that wrote it", name, s.what)
	}
	c, err := read(data)
	if err != nil {
		return c, fmt.Errorf("data of %s in %s: %w", s.what, name, err)
	}
	return c, nil
}

// The sums of a state.
var (
	conversations = of("the conversation", func(c Conversation) string { return c.Phase().String() },
		one[Conversation, Idle],
		one[Conversation, Preparing],
		one[Conversation, Listening],
		one[Conversation, Analysing],
		one[Conversation, WaitingForCopilot],
		one[Conversation, GeneratingResponse],
		one[Conversation, Speaking],
		one[Conversation, Interrupted],
		one[Conversation, Faulted],
		one[Conversation, Terminating],
	)
	connections = of("the connection", connection.State.String,
		one[connection.State, connection.Disconnected],
		one[connection.State, connection.Connecting],
		one[connection.State, connection.Open],
		one[connection.State, connection.Reconnecting],
		one[connection.State, connection.Torn],
	)
	turns = of("turn detection", turn.State.String,
		one[turn.State, turn.Idle],
		one[turn.State, turn.UserSpeaking],
		one[turn.State, turn.EndPending],
	)
	speeches = of("speech output", speech.State.String,
		one[speech.State, speech.Closed],
		one[speech.State, speech.Buffering],
		one[speech.State, speech.Ready],
		one[speech.State, speech.Playing],
		one[speech.State, speech.Paused],
		one[speech.State, speech.Draining],
	)
	copilots = of("the assistant", copilot.State.String,
		one[copilot.State, copilot.Idle],
		one[copilot.State, copilot.LoadingModel],
		one[copilot.State, copilot.LoadFailed],
		one[copilot.State, copilot.Ready],
		one[copilot.State, copilot.SearchingTools],
		one[copilot.State, copilot.Generating],
		one[copilot.State, copilot.Streaming],
		one[copilot.State, copilot.WaitingForApproval],
		one[copilot.State, copilot.CallingTool],
	)
	histories = of("the history", history.State.String,
		one[history.State, history.Normal],
		one[history.State, history.Compacting],
	)
)

// sessions are the states of the session region, which are encoded by name.
var sessions = []session.State{
	session.Inactive, session.Activating, session.Ready, session.Running,
	session.Waiting, session.Deactivating, session.Error,
}

// regionJSON is the JSON of a region: the name of its case and the case's data.
type regionJSON struct {
	State string          `json:"state"`
	Data  json.RawMessage `json:"data"`
}

func region[S any](s sum[S], r regionJSON, to *S) error {
	c, err := s.decode(r.State, r.Data)
	if err == nil {
		*to = c
	}
	return err
}

// UnmarshalJSON decodes the output of MarshalJSON. An unknown case or field is an error
// that names it: the state is from another build.
func (s *State) UnmarshalJSON(data []byte) error {
	type plainState State // without this method
	var in struct {
		*plainState
		Session                                    string
		Conv, Conn, Turn, Speech, Copilot, History regionJSON
	}
	var out State
	in.plainState = (*plainState)(&out)
	if err := strictJSON(data, &in); err != nil {
		return fmt.Errorf("decode state: %w", err)
	}
	i := slices.IndexFunc(sessions, func(st session.State) bool { return st.String() == in.Session })
	if i < 0 {
		return fmt.Errorf("unknown state %q of the session; read it with the build that wrote it", in.Session)
	}
	out.Session = sessions[i]
	for _, err := range []error{
		region(conversations, in.Conv, &out.Conv), region(connections, in.Conn, &out.Conn), region(turns, in.Turn, &out.Turn),
		region(speeches, in.Speech, &out.Speech), region(copilots, in.Copilot, &out.Copilot), region(histories, in.History, &out.History),
	} {
		if err != nil {
			return err
		}
	}
	if out.Config == nil || out.Current.ID != 0 && out.Current.Config == nil {
		return errors.New("decode state: no configuration in the state or its turn")
	}
	*s = out
	return nil
}

// UnmarshalText parses the phase's name.
func (p *Phase) UnmarshalText(text []byte) error {
	i := slices.Index(phaseNames[:NumPhases], string(text))
	if i < 0 {
		return fmt.Errorf("unknown phase %q; read it with the build that wrote it", text)
	}
	*p = Phase(i)
	return nil
}
