package openai_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot/openai"
)

// A key that is not kept here is asked for with each request, and is never sent unencrypted
// to another machine.
func TestKeyIsAskedFor(t *testing.T) {
	var got []string
	keys := []string{canary, ""}
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		writeEvents(w, content("a"), finish("stop"), "[DONE]")
	}, func(o *openai.Options) {
		o.Key = openai.NewKey("")
		o.Ask = func(context.Context) openai.Key { key := keys[len(got)]; return openai.NewKey(key) }
	})
	for range keys {
		if _, err := send(t, a); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 2 || got[0] != "Bearer "+canary || got[1] != "" {
		t.Errorf("the keys that came are %q", got)
	}
	far, err := openai.New(openai.Options{BaseURL: "http://192.0.2.1:8080", Model: "m", Ask: func(context.Context) openai.Key { return openai.NewKey(canary) }})
	if err != nil {
		t.Fatal(err)
	}
	_, err = send(t, far)
	wantError(t, err, "authentication", false)
}
