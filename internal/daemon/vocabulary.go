package daemon

import (
	"context"
	"fmt"
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
	ignored   int            // replacements in the lists of the workspace
	told      int            // of them
	undone    []vocab.Change // by the user; kept until the daemon ends
	now       atomic.Pointer[vocab.Vocabulary]
	lexicon   atomic.Pointer[map[string]string] // user-defined pronunciations

	collecting sync.Mutex // held while scanning the folders, one scan at a time
	ctx        context.Context
	stop       context.CancelFunc
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
// changed since the last conversation. tell is called with the number of replacements in the
// lists of the workspace, which are ignored, once for each number.
func (v *vocabulary) refresh(tell func(ignored int)) {
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
		if len(folders) > 0 && slices.Equal(folders, v.client.Folders) {
			v.folders, v.collected = names, time.Now()
		}
		v.build()
		ignored, told := v.ignored, v.told
		v.told = ignored
		v.mu.Unlock()
		if ignored > 0 && ignored != told {
			tell(ignored)
		}
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
	own, rules := vocab.ReadOwn(v.files)
	terms, replacements = append(terms, own...), append(replacements, rules...)
	v.ignored = 0
	if v.set.Words.Workspace {
		listed, ignored := vocab.ReadWorkspace(v.files, v.client.Folders[:min(len(v.client.Folders), maxFolders)])
		terms, v.ignored = append(terms, listed...), ignored
		for _, text := range v.client.Lists[:min(len(v.client.Lists), maxFolders)] {
			listed, ignored := vocab.ParseWorkspace(text)
			terms, v.ignored = append(terms, listed...), v.ignored+ignored
		}
		for _, n := range v.client.Names[:min(len(v.client.Names), maxClientNames)] {
			if vocab.Speakable(n.Text) && vocab.Kind(n.Kind) != vocab.Own {
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
	_, rules := vocab.ReadOwn(v.files)
	replacements = append(replacements, rules...)
	lexicon := map[string]string{}
	for _, r := range replacements {
		word := strings.ToLower(r.Written)
		if _, known := lexicon[word]; !known && !strings.Contains(word, " ") {
			lexicon[word] = r.Heard
		}
	}
	v.lexicon.Store(&lexicon)
}

// promptBytes limits the names in a prompt; whisper accepts 224 tokens.
const promptBytes = 600

// expected returns the names that a recogniser may expect, the user's own first. A name of a
// workspace with a word that turns the meaning of a sentence is none: it would be heard where
// the user said something else.
func (v *vocabulary) expected() (out []vocab.Term) {
	for _, t := range v.now.Load().Terms() {
		if t.Kind == vocab.Own || !vocab.Decides(t.Text) {
			out = append(out, t)
		}
	}
	return out
}

// names returns the expected names for a prompt.
func (v *vocabulary) names() (out []string) {
	bytes := 0
	for _, t := range v.expected() {
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

// said returns the spoken forms of the expected names.
func (v *vocabulary) said() (out []string) {
	terms := v.expected()
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
	d.readWords()
}

// readWords rereads the names, and tells the user about replacements that are ignored.
func (d *Daemon) readWords() {
	d.vocabulary.refresh(func(ignored int) {
		d.pub.notify(protocol.NotifyNotification, protocol.NotificationParams{
			Message: fmt.Sprintf(voiceWords[d.locale()].onlyNames, ignored), Severity: protocol.SeverityWarning, Kind: protocol.NotificationMessage,
		})
	})
}

// corrected replaces misheard names with their spelling, and returns the changes. It
// leaves commands, yes and no, and words without a request unchanged.
func (d *Daemon) corrected(text string) (string, []vocab.Change) {
	if d.grammar().Classify(text).Class != spoken.UtteranceContent {
		return text, nil
	}
	v := d.vocabulary.now.Load()
	written, changes := v.Correct(text)
	if slices.ContainsFunc(changes, v.Foreign) && d.grammar().Classify(written).Class != spoken.UtteranceContent {
		return text, nil // a name of the workspace must not make an answer or a command of it
	}
	return written, changes
}
