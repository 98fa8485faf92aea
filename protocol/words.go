package protocol

// WorkspaceWordsParams is the payload of workspace/words: what the names that the user
// may say are taken from. It replaces what was sent before. Nothing of it is stored,
// logged or sent on, but for agentvoice.words.send.
type WorkspaceWordsParams struct {
	// Folders on the daemon's own machine, of which it reads the names by itself.
	Folders []string `json:"folders,omitempty"`
	// Names that the client knows, those of the open file first.
	Names []WorkspaceWord `json:"names,omitempty"`
	// Lists are the texts of the workspace's voice-words.md, where the daemon cannot
	// read them.
	Lists []string `json:"lists,omitempty"`
}

// WorkspaceWord is a name as it is written.
type WorkspaceWord struct {
	Text string   `json:"text"`
	Kind WordKind `json:"kind"`
}

// WordKind says what a name is of.
type WordKind string

// The kinds of names.
const (
	WordOpen       WordKind = "open"
	WordSymbol     WordKind = "symbol"
	WordFile       WordKind = "file"
	WordBranch     WordKind = "branch"
	WordDependency WordKind = "dependency"
)

// WordKinds lists every kind of name.
var WordKinds = []WordKind{WordOpen, WordSymbol, WordFile, WordBranch, WordDependency}
