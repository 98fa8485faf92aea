//go:build !windows

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// layAgent puts a program named name in dir that speaks the Agent Client Protocol. It answers
// session/new with the given member, and records that it was started.
func layAgent(t *testing.T, dir, name, session string) {
	t.Helper()
	text := fmt.Sprintf(`#!/bin/sh
echo started >>%q
while read -r line; do
  id=${line##*'"id":'}; id=${id%%%%[,\}]*}
  case "$line" in
  *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"x","version":"1"}}}' ;;
  *'"session/new"'*) echo '{"jsonrpc":"2.0","id":'$id',%s}' ;;
  esac
done
`, filepath.Join(dir, name+".started"), session)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// codeOf returns the code of a failed check; "" for one that succeeded.
func codeOf(err error) string {
	if failed := (*copilot.Error)(nil); errors.As(err, &failed) {
		return failed.Code
	}
	return fmt.Sprint(err)
}

// The list says which agents are installed without starting any. The check of one starts it, and
// says whether it opens a session.
func TestAssistantsAreFoundAndTried(t *testing.T) {
	dir := t.TempDir()
	layAgent(t, dir, "codex-acp", `"result":{"sessionId":"s"}`)
	layAgent(t, dir, "gemini", `"error":{"code":-32000,"message":"Authentication required"}`)
	t.Setenv("PATH", dir)
	t.Setenv(envOpenAI, "")
	set := protocol.DefaultSettings()
	f := assistants{assistantFlags: &assistantFlags{agent: "offline", model: defaultChatModel}, editor: true}

	all, selected := f.list(set)
	var found []string
	for _, a := range all {
		if a.Found {
			found = append(found, a.ID)
		}
	}
	if want := []string{"copilot", "acp:codex-acp", "acp:gemini", "offline"}; selected != "copilot" || !slices.Equal(found, want) || !slices.Equal(found, ids(all[:4])) {
		t.Errorf("found %v, selected %s; want %v first", ids(all), selected, want)
	}
	if i := slices.Index(ids(all), "acp:qwen"); i < 0 || all[i].Install != "npm install -g @qwen-code/qwen-code" || all[i].Page == "" {
		t.Errorf("Qwen Code is not offered: %+v", all)
	}
	if started, _ := filepath.Glob(filepath.Join(dir, "*.started")); len(started) > 0 {
		t.Errorf("the list started %v", started)
	}
	for _, c := range []struct{ id, folder, code string }{
		{"acp:codex-acp", t.TempDir(), "<nil>"}, {"acp:gemini", t.TempDir(), "agentSignIn"}, {"acp:qwen", t.TempDir(), "agentMissing"},
		{"acp:codex-acp", "", "noTrustedFolder"}, {"offline", "", "<nil>"},
	} {
		if code := codeOf(f.check(t.Context(), set, c.id, c.folder)); code != c.code {
			t.Errorf("the check of %s in %q found %s, want %s", c.id, c.folder, code, c.code)
		}
	}
	set.Agent = "acp:" + filepath.Join(dir, "codex-acp")
	if all, selected = f.list(set); selected != set.Agent || !slices.ContainsFunc(all, func(a protocol.Assistant) bool { return a.ID == selected && a.Found && a.Title == "codex-acp" }) {
		t.Errorf("an agent of the user's own is not listed: %s, %+v", selected, all)
	}
}

func ids(all []protocol.Assistant) (ids []string) {
	for _, a := range all {
		ids = append(ids, a.ID)
	}
	return ids
}

// The address of a chat endpoint in the settings gets the key that the client stores for it, and
// never the one in the environment.
func TestChatEndpointOfTheSettings(t *testing.T) {
	const ours, theirs = "key-of-the-environment", "key-of-the-address"
	t.Setenv(envOpenAI, ours)
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		_, _ = fmt.Fprint(w, `{"data":[{"id":"qwen3"}]}`)
	}))
	defer server.Close()
	set := protocol.DefaultSettings()
	set.Chat = protocol.ChatSettings{Endpoint: server.URL, Model: "qwen3"}
	set.Agent = "openai"
	stored := map[string]string{server.URL: theirs}
	f := assistants{assistantFlags: &assistantFlags{agent: "offline", model: defaultChatModel}, editor: true,
		ask: func(_ context.Context, p protocol.CredentialsParams) (protocol.CredentialsResult, error) {
			if key := stored[p.Endpoint]; p.Kind == protocol.CredentialChatKey && key != "" {
				return protocol.CredentialsResult{Value: key}, nil
			}
			return protocol.CredentialsResult{}, errors.New("none")
		}}
	all, selected := f.list(set)
	if i := slices.Index(ids(all), "openai:qwen3"); selected != "openai:qwen3" || i < 0 || all[i].Where != server.URL || !all[i].Found {
		t.Errorf("selected %s of %+v", selected, all)
	}
	for id, code := range map[string]string{"openai:qwen3": "<nil>", "openai:other": "modelUnavailable"} {
		if found := codeOf(f.check(t.Context(), set, id, "")); found != code {
			t.Errorf("%s: %s, want %s", id, found, code)
		}
	}
	delete(stored, server.URL)
	_ = f.check(t.Context(), set, "openai:qwen3", "")
	if want := []string{"Bearer " + theirs, "Bearer " + theirs, ""}; !slices.Equal(got, want) {
		t.Errorf("the keys sent are %q, want %q", got, want)
	}
	if f.acts(set, true) {
		t.Error("a chat endpoint acts in a folder")
	}
	set.Agent = "openai:qwen3:8b"
	if a, ok := f.choose()(set, "", true).(copilot.Titled); !ok || a.Title() != "qwen3:8b" {
		t.Errorf("%v answers for %s", a, set.Agent)
	}
}
