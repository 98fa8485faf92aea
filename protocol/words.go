package protocol

// WorkspaceWordsParams is the payload of workspace/words: sources of names that the user
// may say. It replaces the previous one. Its content is not stored or logged, and is sent
// on only with agentvoice.words.send.
type WorkspaceWordsParams struct {
	// Folders on the daemon's machine, whose names it reads itself.
	Folders []string `json:"folders,omitempty"`
	// Names that the client knows, starting with those in the open file.
	Names []WorkspaceWord `json:"names,omitempty"`
	// Lists are the texts of the workspace's voice-words.md, if the daemon cannot read
	// it.
	Lists []string `json:"lists,omitempty"`
}

// WorkspaceWord is a name in its written form.
type WorkspaceWord struct {
	Text string   `json:"text"`
	Kind WordKind `json:"kind"`
}

// WordKind is the kind of thing that a name denotes.
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
