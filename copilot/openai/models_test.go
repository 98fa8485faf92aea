package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/openai"
)

var (
	_ copilot.Lister     = (*openai.Adapter)(nil)
	_ copilot.Summariser = (*openai.Adapter)(nil)
)

func TestModels(t *testing.T) {
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer "+canary {
			t.Errorf("%s %s", r.Method, r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"object":"list","data":[{"id":"small","object":"model","created":1,"owned_by":"us"},{"id":"","object":"model"},{"id":"large","object":"model","created":1,"owned_by":""}]}`)
	})
	got, err := a.Models(t.Context())
	want := []copilot.Model{{ID: "small", Name: "small", Vendor: "us"}, {ID: "large", Name: "large"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("models %+v, %v; want %+v", got, err, want)
	}
}

// At most a thousand models are listed.
func TestModelsAreBounded(t *testing.T) {
	a := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"object":"list","data":[{"id":"m"}%s]}`, strings.Repeat(`,{"id":"m"}`, 1000))
	})
	if got, err := a.Models(t.Context()); err != nil || len(got) != 1000 {
		t.Errorf("%d models, %v", len(got), err)
	}
}

func TestModelsFailure(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"authentication": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":{"message":"CANARY words","code":"invalid_api_key"}}`, http.StatusUnauthorized)
		},
		"copilotFailed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, `["CANARY`)
		},
	} {
		_, err := serve(t, h).Models(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), name+":") || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A list request without a response, and a cancelled one.
func TestModelsWithoutService(t *testing.T) {
	a, err := openai.New(openai.Options{Model: "m", Transport: &canned{}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Models(t.Context())
	wantError(t, err, "copilotUnavailable", true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Models(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a list that is not wanted any more: %v", err)
	}
}

// A request may select another model than the adapter's.
func TestModelOfRequest(t *testing.T) {
	var models []string
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Model string }
		_ = json.NewDecoder(r.Body).Decode(&body)
		models = append(models, body.Model)
		writeEvents(w, content("Hello."), finish("stop"), "[DONE]")
	})
	for _, model := range []string{"", "large"} {
		r := request
		r.Model = model
		if err := a.Send(t.Context(), r, func(string) {}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"test-model", "large"}; !reflect.DeepEqual(models, want) {
		t.Errorf("models %q, want %q", models, want)
	}
}

// A summary request includes everything that it replaces, and its result is bounded.
func TestSummarise(t *testing.T) {
	long := strings.Repeat("a summary ", 1000)
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Messages []struct{ Role, Content string }
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		n := len(body.Messages)
		if n != len(request.Messages)+2 || body.Messages[1].Content != "CANARY question" || !strings.Contains(body.Messages[n-1].Content, "150 words") {
			t.Errorf("messages %+v", body.Messages)
		}
		writeEvents(w, content(long), finish("stop"), "[DONE]")
	})
	got, err := a.Summarise(t.Context(), request.Messages)
	if err != nil || len(got) > 4000 || !strings.HasPrefix(long, got) || got == "" {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	cut := serve(t, func(w http.ResponseWriter, _ *http.Request) { writeEvents(w, content("half")) })
	if _, err := cut.Summarise(t.Context(), request.Messages); err == nil {
		t.Error("half a summary was taken")
	}
}
