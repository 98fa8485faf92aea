package protocol

// EditorCommand is what the editor is asked to do by a spoken or typed voice command.
type EditorCommand string

// The commands.
const (
	EditorUndo             EditorCommand = "undo"             // the last edit
	EditorOpenSettings     EditorCommand = "openSettings"     // of Agent Voice
	EditorChooseMicrophone EditorCommand = "chooseMicrophone" // from a list
	EditorFixIt            EditorCommand = "fixIt"            // the first quick fix of the problem at the cursor
	EditorScrollUp         EditorCommand = "scrollUp"
	EditorScrollDown       EditorCommand = "scrollDown"
	EditorNextProblem      EditorCommand = "nextProblem"
	EditorPreviousProblem  EditorCommand = "previousProblem"
	EditorOpenFile         EditorCommand = "openFile" // the first existing file in names
	EditorGoToLine         EditorCommand = "goToLine" // line number of the open file
	EditorRunTests         EditorCommand = "runTests"
	EditorShowChange       EditorCommand = "showChange"    // the change that the tool call in names[0] would make
	EditorKeepAssistant    EditorCommand = "keepAssistant" // write names[0], an id of assistant/list, to the setting agentvoice.agent
	EditorKeepVoice        EditorCommand = "keepVoice"     // write names[0] to the setting agentvoice.voice.name
)

// EditorCommands lists every command.
var EditorCommands = []EditorCommand{
	EditorUndo, EditorOpenSettings, EditorChooseMicrophone, EditorFixIt, EditorScrollUp, EditorScrollDown, EditorNextProblem, EditorPreviousProblem,
	EditorOpenFile, EditorGoToLine, EditorRunTests, EditorShowChange, EditorKeepVoice, EditorKeepAssistant,
}

// EditorCommandParams are the params of window/command.
type EditorCommandParams struct {
	Command EditorCommand `json:"command"`
	Number  int           `json:"number,omitempty" jsonschema:"minimum=0"` // a line
	Names   []string      `json:"names,omitempty"`                         // file names, optionally with folder and line, such as parser.go:42; a call id; or a voice
}

// EditorCommandResult says aloud, in the user's language, why the editor could not do it,
// for example because the line does not exist. It is empty on success. With ToAssistant, the editor
// has nothing that the command is for, such as tests, and the user's words go to the assistant.
type EditorCommandResult struct {
	Problem     string `json:"problem,omitempty"`
	ToAssistant bool   `json:"toAssistant,omitempty"`
}
