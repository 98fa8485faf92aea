package daemon

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/internal/vocab"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Limits for the names that a client sends, and for scanning folders.
const (
	maxClientNames = 4_000
	maxFolders     = 8
	collectTime    = 10 * time.Second
	collectEvery   = time.Minute
)

// vocabulary holds the names that transcripts are corrected with: the user's own, from
// the setting and from files, and those of the workspace. It is safe for concurrent
// use.
type vocabulary struct {
	files []string // the user's lists, which need not exist

	mu        sync.Mutex // guards building
	set       protocol.Settings
	client    protocol.WorkspaceWordsParams
	folders   []vocab.Term // names of the folders
	collected time.Time
	undone    []vocab.Change // by the user; kept until the daemon ends
	now       atomic.Pointer[vocab.Vocabulary]
	lexicon   atomic.Pointer[map[string]string] // user-defined pronunciations

	collecting sync.Mutex // held while scanning the folders, one scan at a time
	ctx        context.Context
	stop       context.CancelFunc
}

// folder returns the first folder of the workspace, or "" if unknown.
func (v *vocabulary) folder() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.client.Folders) == 0 {
		return ""
	}
	return v.client.Folders[0]
}

func (v *vocabulary) open(files, folders []string) {
	v.files, v.client.Folders = files, folders
	v.ctx, v.stop = context.WithCancel(context.Background())
}

func (v *vocabulary) close() { v.stop() }

// configure applies settings.
func (v *vocabulary) configure(set protocol.Settings) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.set = set
	v.build()
}

// workspace replaces the client's information about the workspace.
func (v *vocabulary) workspace(p protocol.WorkspaceWordsParams) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Equal(p.Folders, v.client.Folders) {
		v.folders, v.collected = nil, time.Time{}
	}
	v.client = p
	v.build()
}

// refresh rereads the files and folders in the background, because they may have
// changed since the last conversation.
func (v *vocabulary) refresh() {
	go func() {
		v.collecting.Lock()
		defer v.collecting.Unlock()
		v.mu.Lock()
		var folders []string
		if v.set.Words.Workspace && v.set.Words.Correct && time.Since(v.collected) > collectEvery {
			folders = v.client.Folders
		}
		v.mu.Unlock()
		ctx, cancel := context.WithTimeout(v.ctx, collectTime)
		defer cancel()
		var names []vocab.Term
		for _, dir := range folders[:min(len(folders), maxFolders)] {
			names = append(names, vocab.Collect(ctx, dir)...)
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		if len(folders) > 0 && slices.Equal(folders, v.client.Folders) {
			v.folders, v.collected = names, time.Now()
		}
		v.build()
	}()
}

// build builds the vocabulary from the known names. The caller holds mu.
func (v *vocabulary) build() {
	v.buildLexicon()
	if !v.set.Words.Correct {
		v.now.Store(nil)
		return
	}
	terms, replacements := vocab.ParseList(v.set.Vocabulary)
	list := func(text string) {
		t, r := vocab.ParseFile(text)
		terms, replacements = append(terms, t...), append(replacements, r...)
	}
	var folders []string
	if v.set.Words.Workspace {
		folders = v.client.Folders[:min(len(v.client.Folders), maxFolders)]
	}
	for _, name := range vocab.Lists(v.files, folders) {
		list(readList(name))
	}
	if v.set.Words.Workspace {
		for _, text := range v.client.Lists[:min(len(v.client.Lists), maxFolders)] {
			list(text)
		}
		for _, n := range v.client.Names[:min(len(v.client.Names), maxClientNames)] {
			if vocab.Speakable(n.Text) {
				terms = append(terms, vocab.Term{Text: n.Text, Kind: vocab.Kind(n.Kind)})
			}
		}
		terms = append(terms, v.folders...)
	}
	v.now.Store(vocab.New(terms, replacements).Without(v.undone))
}

// undo prevents changes from now on.
func (v *vocabulary) undo(changes []vocab.Change) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.undone = append(v.undone, changes...)
	v.now.Store(v.now.Load().Without(v.undone))
}

// buildLexicon makes words pronounced as they are heard: "cube cuttle = kubectl" works
// in both directions. The lists of a workspace are ignored here. The caller holds mu.
func (v *vocabulary) buildLexicon() {
	_, replacements := vocab.ParseList(v.set.Vocabulary)
	for _, name := range v.files {
		_, r := vocab.ParseFile(readList(name))
		replacements = append(replacements, r...)
	}
	lexicon := map[string]string{}
	for _, r := range replacements {
		word := strings.ToLower(r.Written)
		if _, known := lexicon[word]; !known && !strings.Contains(word, " ") {
			lexicon[word] = r.Heard
		}
	}
	v.lexicon.Store(&lexicon)
}

// readList returns the text of a user's list, which usually does not exist.
func readList(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(text)
}

// promptBytes limits the names in a prompt; whisper accepts 224 tokens.
const promptBytes = 600

// names returns the known names for a prompt, the user's own first.
func (v *vocabulary) names() (out []string) {
	bytes := 0
	for _, t := range v.now.Load().Terms() {
		if bytes += len(t.Text) + 2; bytes > promptBytes {
			break
		}
		out = append(out, t.Text)
	}
	return out
}

// hotWords limits the names passed to a local engine, which searches for each of them
// in all of its input.
const hotWords = 200

// said returns the spoken forms of the known names, the user's own first.
func (v *vocabulary) said() (out []string) {
	terms := v.now.Load().Terms()
	for _, t := range terms[:min(len(terms), hotWords)] {
		out = append(out, vocab.Said(t.Text))
	}
	return out
}

// prompted returns the conversation's settings for the world. If the user enabled it,
// names are appended to the prompt of a hosted service.
func (d *Daemon) prompted() protocol.Settings {
	set := d.conversationSettings()
	if d.endsSooner(set) {
		set.TurnDetection.Eagerness = protocol.EagernessHigh
	}
	if !set.Words.Send || set.Hears() == protocol.ProviderLocal {
		return set
	}
	names := d.vocabulary.names()
	if set.Transcription.Prompt != "" {
		names = append([]string{set.Transcription.Prompt}, names...)
	}
	set.Transcription.Prompt = strings.Join(names, ", ")
	return set
}

// SetWorkspace replaces the workspace information that names are taken from.
func (d *Daemon) SetWorkspace(p protocol.WorkspaceWordsParams) {
	d.vocabulary.workspace(p)
	d.vocabulary.refresh()
}

// corrected replaces misheard names with their spelling, and returns the changes. It
// leaves commands, yes and no, and words without a request unchanged.
func (d *Daemon) corrected(text string) (string, []vocab.Change) {
	if d.grammar().Classify(text).Class != spoken.UtteranceContent {
		return text, nil
	}
	return d.vocabulary.now.Load().Correct(text)
}
