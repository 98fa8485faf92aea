package editor_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

func ended(how string) map[string]any { return map[string]any{"status": "completed", "end": how} }

func TestEndIsReportedAsUnknown(t *testing.T) {
	for _, tt := range []struct {
		result  map[string]any
		unknown bool
	}{
		{map[string]any{"status": "completed"}, true},
		{ended("unknown"), true},
		{ended("some new end"), true},
		{ended("whole"), false},
		{ended("length"), false},
		{map[string]any{"status": "cancelled"}, false},
		{map[string]any{"status": "failed"}, false},
	} {
		w := connect(t, func(_ json.RawMessage, delta func(int, string)) (any, error) {
			delta(0, "a")
			return tt.result, nil
		})
		unknown := 0
		r := request
		r.EndUnknown = func() { unknown++ }
		_ = w.adapter.Send(t.Context(), r, func(string) {})
		if (unknown == 1) != tt.unknown || unknown > 1 {
			t.Errorf("%v: reported %d times, want %t", tt.result, unknown, tt.unknown)
		}
	}
}

// TestReasoningIsNotText: each delta is passed on, as reasoning a sign of life.
func TestReasoningIsNotText(t *testing.T) {
	w := connect(t, func(_ json.RawMessage, delta func(int, string)) (any, error) {
		for i, d := range []string{"<thi", "nk>CANARY", "</think>four", " <"} {
			delta(i, d)
		}
		return ended("whole"), nil
	})
	var pieces []string
	if err := w.adapter.Send(t.Context(), request, func(s string) { pieces = append(pieces, s) }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(pieces, []string{"", "", "four", " ", "<"}) {
		t.Errorf("got %q", pieces)
	}
}

// TestCutReasoningOfAModel: what a model whose template begins the reasoning wrote before
// its length limit is reasoning.
func TestCutReasoningOfAModel(t *testing.T) {
	for end, want := range map[string]string{"length": "", "whole": "CANARY", "unknown": "CANARY"} {
		w := connect(t, func(_ json.RawMessage, delta func(int, string)) (any, error) {
			delta(0, "CANARY")
			return ended(end), nil
		})
		r := request
		r.Model = "deepseek-r1"
		var b strings.Builder
		_ = w.adapter.Send(t.Context(), r, func(s string) { b.WriteString(s) })
		if b.String() != want {
			t.Errorf("%s: got %q, want %q", end, b.String(), want)
		}
	}
}

func TestMarksOfMessages(t *testing.T) {
	var got struct {
		Messages []struct {
			Content       string
			Dictated, Cut bool
		}
	}
	w := connect(t, func(params json.RawMessage, delta func(int, string)) (any, error) {
		delta(0, "ok")
		return completed, json.Unmarshal(params, &got)
	})
	r := request
	r.Messages = []copilot.Message{{Role: copilot.RoleUser, Content: "spoken", Dictated: true}, {Role: copilot.RoleAssistant, Content: "half", Cut: true}, {Role: copilot.RoleUser, Content: "typed"}}
	if err := w.adapter.Send(t.Context(), r, func(string) {}); err != nil {
		t.Fatal(err)
	}
	for i, m := range got.Messages {
		if m.Content != r.Messages[i].Content || m.Dictated != r.Messages[i].Dictated || m.Cut != r.Messages[i].Cut {
			t.Errorf("message %d is sent as %+v, want %+v", i, m, r.Messages[i])
		}
	}
}
