package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

// examineEnds says by what the ends of turns were judged in the last recorded conversation: that
// of the journal or folder at path, or of what an editor saved if path is "". There is no finding if
// none is recorded.
func examineEnds(path string) []finding {
	last, err := lastJournal(cmp.Or(path, journalDir()))
	if last == nil && err == nil {
		return nil
	}
	return []finding{check("last conversation", false, func() (string, error) {
		if err != nil {
			return "", err
		}
		return endsOf(last)
	})}
}

// lastJournal reads the journal that was written last, nil if there is none.
func lastJournal(path string) (*journal.Journal, error) {
	if !strings.HasSuffix(path, ".jsonl") {
		all, err := findJournals([]string{path})
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		path = ""
		for _, j := range all { // newest first
			if j.Problem == nil {
				path = j.Path
				break
			}
		}
	}
	if path == "" {
		return nil, nil
	}
	j, err := readJournal(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return j, err
}

// endsOf counts the utterances of a journal by what their ends were judged by.
func endsOf(j *journal.Journal) (string, error) {
	var ends [csm.NumEndReasons]int
	n := 0
	for _, line := range j.Lines {
		if line.Event == "" {
			continue
		}
		env, err := line.Envelope()
		if err != nil {
			return "", fmt.Errorf("%s: %w; write a new journal with this version", j.Path, err)
		}
		if e, ok := env.Event.(csm.SpeechStopped); ok {
			ends[e.Why]++
			n++
		}
	}
	if n == 0 {
		return "nothing was said", nil
	}
	var by []string
	for why, count := range ends {
		if count > 0 {
			by = append(by, fmt.Sprintf("%v %d", csm.EndReason(why), count))
		}
	}
	return fmt.Sprintf("%d times the end of what you said was judged by: %s", n, strings.Join(by, ", ")), nil
}
