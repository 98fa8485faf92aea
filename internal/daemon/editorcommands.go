package daemon

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/internal/vocab"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// editorCommands maps the commands that the client's editor executes.
var editorCommands = map[spoken.Command]protocol.EditorCommand{
	spoken.CommandUndo: protocol.EditorUndo, spoken.CommandOpenSettings: protocol.EditorOpenSettings,
	spoken.CommandChooseMicrophone: protocol.EditorChooseMicrophone, spoken.CommandFixIt: protocol.EditorFixIt,
	spoken.CommandScrollUp: protocol.EditorScrollUp, spoken.CommandScrollDown: protocol.EditorScrollDown,
	spoken.CommandNextProblem: protocol.EditorNextProblem, spoken.CommandPreviousProblem: protocol.EditorPreviousProblem,
	spoken.CommandOpenThatFile: protocol.EditorOpenFile, spoken.CommandOpenFile: protocol.EditorOpenFile,
	spoken.CommandGoToLine: protocol.EditorGoToLine, spoken.CommandRunTests: protocol.EditorRunTests,
}

// editorCommand returns the editor request for a command. ok is false without an
// editor, or if the command refers to nothing in it; the words are then dictation.
func (d *Daemon) editorCommand(u spoken.Utterance, text string) (p protocol.EditorCommandParams, ok bool) {
	if d.cfg.Editor == nil {
		return p, false
	}
	if u.Command == "" {
		var name string
		u.Command, name = d.fileCommand(text)
		p.Names = []string{name}
	}
	p.Command, ok = editorCommands[u.Command]
	p.Number = int(u.Number)
	switch u.Command {
	case spoken.CommandFixIt:
		ok = d.voice.problem.Load()
	case spoken.CommandGoToLine:
		ok = p.Number >= 1 && float64(p.Number) == u.Number
	case spoken.CommandOpenThatFile:
		p.Names = filesIn(d.content.lastAnswer())
		ok = len(p.Names) > 0
	}
	return p, ok
}

// fileCommand returns the command of words that name a workspace file, and the file
// name as written.
func (d *Daemon) fileCommand(text string) (command spoken.Command, file string) {
	now := d.vocabulary.now.Load()
	known := func(c spoken.Command, name string) bool {
		if c != spoken.CommandOpenFile {
			return false
		}
		file = fileNamed(now.Terms(), name)
		return file != ""
	}
	corrected, _ := now.Correct(text)
	for _, words := range []string{text, corrected} {
		if command, name := d.grammar().Named(words, known); name != "" {
			return command, file
		}
	}
	return "", ""
}

// fileNamed returns the file with that name, with or without its extension, if there is
// exactly one.
func fileNamed(terms []vocab.Term, name string) (file string) {
	for _, t := range terms {
		ext := path.Ext(t.Text)
		if t.Kind != vocab.File && t.Kind != vocab.Open || ext == "" {
			continue
		}
		switch name {
		case spoken.NameWords(t.Text), spoken.NameWords(strings.Replace(t.Text, ".", " dot ", 1)):
			return t.Text
		case spoken.NameWords(strings.TrimSuffix(t.Text, ext)):
			if file != "" && file != t.Text {
				return ""
			}
			file = t.Text
		}
	}
	return file
}

// filePath finds file names in an answer, with the line number if given. A match
// followed by a parenthesis or with a capital after its dot is code.
var filePath = regexp.MustCompile(`(?:[\w@.+-]+[/\\])*[\w@.+-]*\w\.[a-z]\w{0,9}(?::\d+)?\b[(]?`)

// maxNames limits the file names of an answer that the editor looks up.
const maxNames = 16

// filesIn returns the file names in an answer, last one first.
func filesIn(answer string) (names []string) {
	for _, name := range slices.Backward(filePath.FindAllString(answer, -1)) {
		if !strings.HasSuffix(name, "(") && !slices.Contains(names, name) && len(names) < maxNames {
			names = append(names, name)
		}
	}
	return names
}

// editorTime is the timeout of an editor command.
const editorTime = 10 * time.Second

// askEditor sends a command to the editor once it has answered the one before, and tells
// the user the reason if it fails. If the editor has nothing that it is for, otherwise is called.
func (d *Daemon) askEditor(p protocol.EditorCommandParams, otherwise func()) {
	answered := make(chan struct{})
	d.voice.mu.Lock()
	before := d.voice.editor
	d.voice.editor = answered
	d.voice.mu.Unlock()
	go func() {
		defer close(answered)
		if before != nil {
			<-before
		}
		ctx, cancel := context.WithTimeout(d.vocabulary.ctx, editorTime)
		defer cancel()
		result, err := d.cfg.Editor(ctx, p)
		switch {
		case d.vocabulary.ctx.Err() != nil:
		case err != nil:
			d.say(voiceWords[d.locale()].editorFailed)
		case result.Problem != "":
			d.say(result.Problem)
		case result.ToAssistant:
			otherwise()
		}
	}()
}
