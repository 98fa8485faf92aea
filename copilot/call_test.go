package copilot

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// TestHashes: the daemon and the editor compute the same hash of a call of the editor's
// assistant. The file is read by the extension's tests too.
func TestHashes(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "testdata", "calls.json"))
	if err != nil {
		t.Fatal(err)
	}
	var calls []struct {
		Tool  string
		Input json.RawMessage
		Hash  string
	}
	if err := json.Unmarshal(b, &calls); err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		if got := (ToolCall{Agent: "editor", Name: c.Tool, Input: c.Input}).Hash(); got != c.Hash {
			t.Errorf("%s %s: the hash is %s, want %s", c.Tool, c.Input, got, c.Hash)
		}
	}
}

// TestHashIsOfTheWholeCall: whatever differs in a call changes its hash, and how its input
// is written does not.
func TestHashIsOfTheWholeCall(t *testing.T) {
	old := "a"
	base := ToolCall{
		ID: "c1", Agent: "acp:x", Name: "run_command", Kind: "execute", Title: "Do it", Input: json.RawMessage(`{"command":"ls","cwd":"/w"}`),
		Files: []string{"a.go"}, Diffs: []Diff{{Path: "a.go", Old: &old, New: "b"}}, Folder: "/w",
	}
	differs := map[string]func(*ToolCall){
		"agent":          func(c *ToolCall) { c.Agent = "acp:y" },
		"tool":           func(c *ToolCall) { c.Name = "run" },
		"kind":           func(c *ToolCall) { c.Kind = "read" },
		"input":          func(c *ToolCall) { c.Input = json.RawMessage(`{"command":"ls -a","cwd":"/w"}`) },
		"another member": func(c *ToolCall) { c.Input = json.RawMessage(`{"command":"ls","cwd":"/w","stdin":"x"}`) },
		"no input":       func(c *ToolCall) { c.Input = nil },
		"files":          func(c *ToolCall) { c.Files = nil },
		"path of a diff": func(c *ToolCall) { c.Diffs = []Diff{{Path: "b.go", Old: &old, New: "b"}} },
		"old text":       func(c *ToolCall) { c.Diffs = []Diff{{Path: "a.go", New: "b"}} },
		"new text":       func(c *ToolCall) { c.Diffs = []Diff{{Path: "a.go", Old: &old, New: "c"}} },
		"folder":         func(c *ToolCall) { c.Folder = "/v" },
	}
	seen := map[string]string{base.Hash(): "the call itself"}
	for what, change := range differs {
		c := base
		change(&c)
		hash := c.Hash()
		if other, again := seen[hash]; again || hash == "" {
			t.Errorf("with another %s the hash %q is that of %s", what, hash, other)
		}
		seen[hash] = what
	}
	for what, change := range map[string]func(*ToolCall){
		"id":                  func(c *ToolCall) { c.ID = "c2" },
		"title":               func(c *ToolCall) { c.Title = "Do something else" },
		"order and spaces":    func(c *ToolCall) { c.Input = json.RawMessage(` { "cwd" : "\/w", "command" : "l\u0073" } `) },
		"how it is asked for": func(c *ToolCall) { c.Reason, c.Again, c.Allowed = "x", true, true },
	} {
		c := base
		change(&c)
		if c.Hash() != base.Hash() {
			t.Errorf("another %s changes the hash", what)
		}
	}
}

// TestAmbiguousInputHasNoHash: parsers differ in what they make of these.
func TestAmbiguousInputHasNoHash(t *testing.T) {
	for _, input := range []string{`{"command":"ls","command":"rm -rf ~"}`, `{"a":{"b":1,"b":2}}`, `{"command":"\ud800"}`, `{`, `{} {}`, "{\"a\":\"\xff\"}"} {
		if hash := (ToolCall{Agent: "editor", Name: "x", Input: json.RawMessage(input)}).Hash(); hash != "" {
			t.Errorf("%q has the hash %s", input, hash)
		}
	}
}

// TestHashProperty: two inputs have the same hash exactly if they decode to the same value.
func TestHashProperty(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) json.RawMessage {
		m := rapid.MapOfN(rapid.StringMatching(`[a-c]{0,2}`), rapid.OneOf(
			rapid.StringMatching(`[a-b]{0,2}`).AsAny(), rapid.IntRange(-2, 2).AsAny(), rapid.Bool().AsAny(), rapid.SliceOfN(rapid.IntRange(0, 1), 0, 2).AsAny(),
		), 0, 3).Draw(t, "members")
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := value.Draw(t, "a"), value.Draw(t, "b")
		same := string(a) == string(b) // encoding/json sorts the names
		if got := (ToolCall{Input: a}).Hash() == (ToolCall{Input: b}).Hash(); got != same {
			t.Errorf("%s and %s: same hash %v", a, b, got)
		}
	})
}
