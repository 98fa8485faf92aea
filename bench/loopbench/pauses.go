package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

// What surrounds the sentences of a recording.
const (
	pauseLead     = 4 * time.Second         // before the first sentence
	warmUp        = 8 * time.Second         // after the first sentence, which loads the models
	modelLoad     = 20 * time.Second        // before others load theirs
	answerTime    = 3500 * time.Millisecond // after each: the turn ends after at most 1.5 s, and the answer takes 2 s
	pauseSeed     = 1                       // of the noise
	slowFirst     = 1500 * time.Millisecond // a hosted model's time to its first words
	wholeGoal     = 95                      // % with slowFirst and a pause of goalPause
	wholeGoalFast = 80                      // % with an agent that answers at once
	goalPause     = 800 * time.Millisecond
)

// pauseOptions are the flags of the measurement.
type pauseOptions struct {
	recordings string
	sentences  int // 0 for all
	parallel   int
	only       string // regular expression of the rows to measure
}

// sentence is a recording of one sentence, at audio.SampleRate.
type sentence struct {
	name, words string
	pcm         []int16
}

// condition is a row of the table.
type condition struct {
	firstWords time.Duration // of the agent
	pause      time.Duration // in each sentence, 0 for none
	early      bool          // agentvoice.speculation
	fast       bool          // the voice without a model, whose first audio comes at once
}

func (c condition) String() string {
	name := "no pause"
	if c.pause > 0 {
		name = fmt.Sprintf("pause of %.1f s", c.pause.Seconds())
	}
	if c.early {
		name += ", speculation"
	}
	if c.fast {
		name += ", fast voice"
	}
	return name
}

// agent names the agent of a row.
func (c condition) agent() string {
	if c.firstWords == 0 {
		return "agent that answers at once"
	}
	return fmt.Sprintf("agent whose first words come after %.1f s", c.firstWords.Seconds())
}

// conditions returns the rows of which the agent and the name match a regular expression, those of
// one agent together.
func conditions(only string) ([]condition, error) {
	matches, err := regexp.Compile(only)
	if err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	var all []condition
	for _, firstWords := range []time.Duration{slowFirst, 0} {
		for _, pause := range []time.Duration{0, goalPause} {
			all = append(all, condition{firstWords: firstWords, pause: pause})
		}
		for _, pause := range []time.Duration{0, 300 * time.Millisecond, 500 * time.Millisecond, goalPause, 1200 * time.Millisecond} {
			all = append(all, condition{firstWords: firstWords, pause: pause, fast: true})
			if firstWords > 0 && (pause == 0 || pause == goalPause) {
				all = append(all, condition{firstWords: firstWords, pause: pause, early: true, fast: true})
			}
		}
	}
	all = slices.DeleteFunc(all, func(c condition) bool { return !matches.MatchString(c.agent() + ": " + c.String()) })
	if len(all) == 0 {
		return nil, fmt.Errorf("-only %q matches no row; use part of a row's name, such as \"no pause\"", only)
	}
	return all, nil
}

// pauses measures how many sentences with a pause inside reach the agent as one request, in
// conversations with recordings of several sentences each.
func pauses(daemon, out string, o pauseOptions) error {
	list, err := readSentences(o.recordings, o.sentences)
	if err != nil {
		return err
	}
	out = filepath.Join(out, "pauses")
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	began := time.Now()
	all, err := conditions(o.only)
	if err != nil {
		return err
	}
	talks, err := holdAll(daemon, out, all, list, o.parallel)
	if err != nil {
		return err
	}
	texts := textsOf(list, all, talks)
	results := make([][]verdict, len(all))
	for i, t := range talks {
		results[i] = t.judge(texts)
	}
	counted := countable(list, all, results)
	if err := writeVerdicts(filepath.Join(out, "verdicts.txt"), list, all, results); err != nil {
		return err
	}
	printPauses(list, all, results, counted)
	fmt.Printf("%d conversations, up to %d at a time, in %v; each sentence is in %s\n", len(all), o.parallel+1,
		time.Since(began).Round(time.Second), filepath.Join(out, "verdicts.txt"))
	return nil
}

// readSentences loads the WAV files of a folder that have a text of the same name and of two words
// or more: others have no place for a pause.
func readSentences(folder string, most int) ([]sentence, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.wav"))
	if err != nil {
		return nil, err
	}
	var list []sentence
	for _, file := range files {
		words, err := os.ReadFile(strings.TrimSuffix(file, ".wav") + ".txt")
		if err != nil {
			return nil, fmt.Errorf("read the words of a recording: %w", err)
		}
		pcm, err := wavio.ReadAll(file)
		if err != nil {
			return nil, err
		}
		if len(strings.Fields(string(words))) > 1 {
			list = append(list, sentence{strings.TrimSuffix(filepath.Base(file), ".wav"), strings.TrimSpace(string(words)), pcm})
		}
	}
	if len(list) == 0 {
		return nil, errors.New("-recordings: no WAV files with sentences; use a folder of *.wav files, each with a *.txt of the same name")
	}
	if most > 0 {
		list = list[:min(most, len(list))]
	}
	return list, nil
}

// holdAll holds a conversation for each condition: one at a time with the default voice, whose model
// needs the processor, and beside it some with the fast one.
func holdAll(daemon, out string, all []condition, list []sentence, parallel int) ([]conversation, error) {
	talks, errs := make([]conversation, len(all)), make([]error, len(all))
	slots := map[bool]chan struct{}{false: make(chan struct{}, 1), true: make(chan struct{}, max(parallel, 1))}
	var running sync.WaitGroup
	for i, c := range all {
		running.Go(func() {
			if c.fast {
				time.Sleep(modelLoad)
			}
			slots[c.fast] <- struct{}{}
			defer func() { <-slots[c.fast] }()
			talks[i], errs[i] = c.hold(daemon, filepath.Join(out, fmt.Sprintf("%02d", i)), list)
		})
	}
	running.Wait()
	return talks, errors.Join(errs...)
}

// hold holds one conversation. Its files begin with a path.
func (c condition) hold(daemon, path string, list []sentence) (talk conversation, err error) {
	pcm, spans, err := c.recording(list)
	if err == nil {
		err = wavio.WriteMono(path+".wav", audio.SampleRate, pcm)
	}
	if err != nil {
		return talk, err
	}
	agent, err := newChatAgent(c.firstWords)
	if err != nil {
		return talk, err
	}
	cmd := exec.Command(daemon, "talk", "--audio-in", "wav:"+path+".wav", "--audio-out", "null", "--journal", path+".jsonl", "--journal-content", "full", "--verify=false",
		"--agent", "openai", "--agent-endpoint", agent.url, "--set", fmt.Sprintf("agentvoice.speculation=%v", c.early))
	if c.fast {
		cmd.Args = append(cmd.Args, "--set", "agentvoice.voice.engine=fast")
	}
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		_, closed := agent.close(time.Time{})
		return talk, errors.Join(fmt.Errorf("talk with %v: %w\n%s", c, err, said.String()), closed)
	}
	talk, opened, err := readConversation(path + ".jsonl")
	requests, closed := agent.close(opened)
	talk.spans, talk.requests = spans, requests
	return talk, errors.Join(err, closed, os.Remove(path+".wav"))
}

// recording returns the first sentence, to load the models, and then all with their pauses, and
// where they are.
func (c condition) recording(list []sentence) (pcm []int16, spans []span, err error) {
	pcm = noise(audio.Samples(pauseLead), floorOf(list[0].pcm), pauseSeed)
	say := func(said []int16, at int64, pause, after time.Duration) {
		label, _ := speechdata.LabelOf(said)
		at = max(at, label.Onset)
		begin := int64(len(pcm))
		position := func(sample int64) time.Duration { return audio.Duration(begin + sample) }
		spans = append(spans, span{position(label.Onset), position(at), position(at) + pause, position(label.End)})
		silent := audio.Samples(after) - (int64(len(said)) - label.End)
		pcm = append(pcm, said...)
		pcm = append(pcm, noise(max(silent, 0), floorOf(said), uint64(len(spans)))...)
	}
	say(list[0].pcm, 0, 0, warmUp+c.firstWords)
	for i, s := range list {
		said, at, ok := s.pcm, int64(0), true
		if c.pause > 0 {
			said, at, ok = insertPause(s.pcm, s.words, c.pause, uint64(pauseSeed+i))
		}
		if !ok {
			return nil, nil, fmt.Errorf("%s has no place for a pause; remove it from the recordings", s.name)
		}
		say(said, at, c.pause, answerTime+c.firstWords)
	}
	return pcm, spans, nil
}

// readConversation reads from a journal when the microphone opened, what was recognised, and when
// the assistant became audible.
func readConversation(file string) (talk conversation, opened time.Time, err error) {
	j, err := readJournal(file)
	if err != nil {
		return talk, opened, err
	}
	var start time.Duration
	phase := ""
	ids := map[uint64]int{} // of utterances
	for _, l := range j.Lines {
		if l.Note == journal.NoteWords {
			var w journal.Words
			if err := json.Unmarshal(l.Data, &w); err != nil {
				return talk, opened, err
			}
			switch i, known := ids[w.ID]; {
			case known && w.Kind == "utterance":
				talk.utterances[i].words = w.Text
			case known && w.Kind == "joined":
				talk.utterances[i].joined = w.Text
			}
		}
		if l.Event == "" {
			continue
		}
		env, err := l.Envelope()
		if err != nil {
			return talk, opened, err
		}
		switch e := env.Event.(type) {
		case csm.AudioReady:
			if opened.IsZero() {
				start, opened = l.Time(), j.Header.Started.Add(l.Time())
			}
		case csm.SpeechStarted:
			ids[e.Utterance] = len(talk.utterances)
			talk.utterances = append(talk.utterances, utterance{onset: audio.Duration(e.Pos), end: audio.Duration(e.Pos)})
		case csm.SpeechStopped:
			if i, known := ids[e.Utterance]; known {
				talk.utterances[i].end = audio.Duration(e.Pos)
			}
		}
		if speaking := csm.PhaseSpeaking.String(); l.Phase == speaking && phase != speaking {
			talk.audible = append(talk.audible, l.Time()-start)
		}
		if l.Phase != "" {
			phase = l.Phase
		}
	}
	if opened.IsZero() {
		return talk, opened, fmt.Errorf("the microphone did not open in the conversation of %s", filepath.Base(file))
	}
	return talk, opened, nil
}

// textsOf returns the texts of each sentence: as written, and as they reach the agent without a
// pause. These differ if a spoken command asks the agent something in other words.
func textsOf(list []sentence, all []condition, talks []conversation) [][]string {
	texts := make([][]string, len(list))
	for i, s := range list {
		texts[i] = []string{s.words}
	}
	for i, c := range all {
		if c.pause > 0 {
			continue
		}
		for k, v := range talks[i].judge(make([][]string, len(list))) {
			if len(v.messages) == 1 {
				texts[k] = append(texts[k], v.messages[0])
			}
		}
	}
	return texts
}

// countable returns which sentences count: those of which something reaches an agent without a
// pause, if that was measured. The others are spoken commands that the daemon carries out.
func countable(list []sentence, all []condition, results [][]verdict) []bool {
	counted := make([]bool, len(list))
	measured := slices.ContainsFunc(all, func(c condition) bool { return c.pause == 0 })
	for i, c := range all {
		for k, v := range results[i] {
			counted[k] = counted[k] || !measured || c.pause == 0 && v.outcome != absent
		}
	}
	return counted
}

func printPauses(list []sentence, all []condition, results [][]verdict, counted []bool) {
	var commands []string
	for i, s := range list {
		if !counted[i] {
			commands = append(commands, fmt.Sprintf("%q", s.words))
		}
	}
	fmt.Printf("%d sentences; %d do not reach the agent even without a pause and do not count: %s\n", len(list), len(commands), strings.Join(commands, ", "))
	for i, c := range all {
		if i == 0 || c.firstWords != all[i-1].firstWords {
			goal := wholeGoal
			if c.firstWords == 0 {
				goal = wholeGoalFast
			}
			fmt.Printf("\n%s; goal %d %% at %.1f s\n%-40s %8s %6s %7s %7s %6s %7s %9s %26s\n", c.agent(), goal, goalPause.Seconds(),
				"", "as one", "first", "joined", "partly", "split", "absent", "requests", "to first audio, p50 / p95")
		}
		var of [absent + 1]int
		requests := 0
		var replies []time.Duration
		for k, v := range results[i] {
			if !counted[k] {
				continue
			}
			of[v.outcome]++
			requests += len(v.requests)
			if v.outcome <= joined && v.reply > 0 {
				replies = append(replies, v.reply)
			}
		}
		total := max(of[first]+of[joined]+of[partly]+of[split]+of[absent], 1)
		fmt.Printf("%-40s %6.1f %% %6d %7d %7d %6d %7d %9d %23s ms\n", c, 100*float64(of[first]+of[joined])/float64(total),
			of[first], of[joined], of[partly], of[split], of[absent], requests, percentiles(replies))
	}
}

// writeVerdicts writes what became of each sentence, by condition.
func writeVerdicts(file string, list []sentence, all []condition, results [][]verdict) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for i, c := range all {
		if _, err := fmt.Fprintf(f, "%s: %v\n", c.agent(), c); err != nil {
			return err
		}
		for k, v := range results[i] {
			if err := v.write(f, list[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v verdict) write(out io.Writer, s sentence) error {
	_, err := fmt.Fprintf(out, "  %-8s %s %5d ms %q\n", v.outcome, s.name, v.reply.Milliseconds(), s.words)
	for _, r := range v.requests {
		if err == nil {
			_, err = fmt.Fprintf(out, "           %8.2f s request %q\n", r.at.Seconds(), r.last())
		}
	}
	for _, m := range v.messages {
		if err == nil && v.outcome > joined {
			_, err = fmt.Fprintf(out, "                      message %q\n", m)
		}
	}
	return err
}
