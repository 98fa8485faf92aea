package behaviour

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// most is the limit of events of one kind in one state. The values of a field are
// ordered by importance, so the least important ones are cut off.
const most = 48

// events returns the events that may happen in s: every kind, with every live id and
// with one that is not live.
func events(s csm.State) []csm.Event {
	values := candidates(s)
	var out []csm.Event
	for k := range csm.NumKinds {
		e, err := csm.DecodeEvent(k, []byte("{}"))
		if err != nil {
			panic(fmt.Sprintf("kind %v has no event: %v", k, err))
		}
		all := []reflect.Value{reflect.ValueOf(e)}
		for i := range all[0].NumField() {
			all = vary(all, i, values)
		}
		for _, v := range all {
			out = append(out, v.Interface().(csm.Event))
		}
	}
	return out
}

// vary returns each event once per candidate value of its field i.
func vary(all []reflect.Value, i int, values map[string][]uint64) []reflect.Value {
	field := all[0].Type().Field(i)
	var options []any
	switch field.Type.Kind() {
	case reflect.Bool:
		options = []any{false, true}
	case reflect.String:
		options = []any{string(csm.CodeCopilotFailed), "", string(csm.CodeAuthentication)}
	case reflect.Struct:
		return all // a configuration: the zero value is always accepted, and changes every deadline
	default:
		list, known := values[field.Name]
		if !known {
			list = []uint64{1, 0}
		}
		for _, v := range list {
			options = append(options, v)
		}
	}
	var out []reflect.Value
	for _, o := range options {
		for _, e := range all {
			if len(out) == most {
				return out
			}
			next := reflect.New(e.Type()).Elem()
			next.Set(e)
			next.Field(i).Set(reflect.ValueOf(o).Convert(field.Type))
			out = append(out, next)
		}
	}
	return out
}

// candidates returns the values of fields by name. The values of all other fields are
// 1 and 0.
func candidates(s csm.State) map[string][]uint64 {
	epoch := []uint64{uint64(s.IDs.Epoch)}
	if o, ok := s.Conn.(connection.Open); ok {
		epoch = append([]uint64{uint64(o.Epoch)}, epoch...)
	}
	round, call := uint64(0), 2000+s.Current.Request
	request := []uint64{s.Current.Request, s.IDs.Request}
	if l, ok := copilot.LiveOf(s.Copilot); ok {
		request, round = append([]uint64{l.Request}, request...), uint64(l.Round)
		if len(l.Calls) > 0 {
			call = l.Calls[0].ID
		}
	}
	gen := []uint64{uint64(s.Speech.Generation())}
	if in, ok := s.Conv.(csm.Interrupted); ok {
		gen = append(gen, uint64(in.Line.Gen))
	}
	seq, end := []uint64{uint64(s.IDs.Segment)}, uint64(0)
	if l, ok := speech.LineOf(s.Speech); ok {
		for i := len(l.Segments) - 1; i >= l.Played; i-- {
			seq = append([]uint64{uint64(l.Segments[i].Seq)}, seq...)
		}
		if last, ok := l.Last(); ok {
			end = uint64(last.End)
		}
	}
	fresh := 1000 + s.IDs.Turn
	utterance := []uint64{fresh}
	for _, u := range turn.Pending(s.Turn) {
		utterance = append([]uint64{u.ID}, utterance...)
	}
	if sp, ok := s.Turn.(turn.UserSpeaking); ok {
		utterance = append([]uint64{sp.Open.ID}, utterance...)
	}
	out := map[string][]uint64{
		"Instance": {uint64(s.Instance), uint64(s.Instance) + 9}, "Epoch": append(epoch, epoch[0]+9),
		"Request": append(request, request[0]+9), "Gen": append(gen, gen[0]+9), "Seq": seq,
		"Utterance": utterance, "Start": {end, 0}, "End": {end + 10}, "Timer": timers(),
		"Class": {0, 4, 5, 6, 3, 2, 1}, "Words": {2, 0}, "Reason": {1, 2, 4, 8, 32}, "Attempt": {1, 2},
		"Round": {round, round + 1}, "ToolCall": {call, call + 1}, "Tools": {1}, "Stage": {0}, "Model": {1, 2}, "Percent": {50},
		"Load": {uint64(s.IDs.Load), uint64(s.IDs.Load) + 9}, "Job": {uint64(s.IDs.Job), uint64(s.IDs.Job) + 9},
		"Buffered": {5}, "Played": {1, 3}, "Of": {2, 0}, "Call": {7}, "Chars": {9}, "Pos": {1 << 20}, "Coalesced": {0},
	}
	for name, list := range out {
		var once []uint64
		for _, v := range list {
			if !slices.Contains(once, v) {
				once = append(once, v)
			}
		}
		out[name] = once
	}
	return out
}

func timers() []uint64 {
	var out []uint64
	for t := range csm.NumTimers {
		out = append(out, uint64(t))
	}
	return out
}

// withLiveGeneration sets the live generation in a deadline event.
func withLiveGeneration(s csm.State, e csm.Event) csm.Event {
	if f, ok := e.(csm.TimerFired); ok && f.Timer < csm.NumTimers && f.Gen != 9 {
		f.Gen = s.Timers[f.Timer].Gen
		return f
	}
	return e
}
