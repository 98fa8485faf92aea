package protocol

// EditorCommand is what the user asks the editor for by a voice command, spoken or
// typed.
type EditorCommand string

// The commands.
const (
	EditorUndo             EditorCommand = "undo"             // the last edit
	EditorOpenSettings     EditorCommand = "openSettings"     // of this extension
	EditorChooseMicrophone EditorCommand = "chooseMicrophone" // from a list
	EditorFixIt            EditorCommand = "fixIt"            // the first remedy of the problem that is shown
	EditorScrollUp         EditorCommand = "scrollUp"
	EditorScrollDown       EditorCommand = "scrollDown"
	EditorNextProblem      EditorCommand = "nextProblem"
	EditorPreviousProblem  EditorCommand = "previousProblem"
	EditorOpenFile         EditorCommand = "openFile" // the first of names that exists
	EditorGoToLine         EditorCommand = "goToLine" // number of the open file
	EditorRunTests         EditorCommand = "runTests"
	EditorShowChange       EditorCommand = "showChange" // that the first of names, a call of a tool, would make
)

// EditorCommands lists every command.
var EditorCommands = []EditorCommand{
	EditorUndo, EditorOpenSettings, EditorChooseMicrophone, EditorFixIt, EditorScrollUp, EditorScrollDown, EditorNextProblem, EditorPreviousProblem,
	EditorOpenFile, EditorGoToLine, EditorRunTests, EditorShowChange,
}

// EditorCommandParams of window/command.
type EditorCommandParams struct {
	Command EditorCommand `json:"command"`
	Number  int           `json:"number,omitempty" jsonschema:"minimum=0"` // of a line
	Names   []string      `json:"names,omitempty"`                         // of files, with or without folders and a line: parser.go:42; or of a call
}

// EditorCommandResult says what kept the editor from it, in the user's language, to be
// said aloud: a line that the file does not have, say. Empty when it is done.
type EditorCommandResult struct {
	Problem string `json:"problem,omitempty"`
}
