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

// lastJournal reads the newest journal. It returns nil if no conversation was recorded.
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

// endsOf counts the utterances of the last conversation of a journal, in this file and those that
// follow it, by what their ends were judged by.
func endsOf(j *journal.Journal) (string, error) {
	if j.Header.Core != journal.Core() {
		return "it was recorded by another build, " + j.Header.Build, nil
	}
	var ends [csm.NumEndReasons]int
	for {
		for _, line := range j.Lines {
			if line.Event == "" {
				continue
			}
			env, err := line.Envelope()
			if err != nil {
				return "", fmt.Errorf("%s: %w", j.Path, err)
			}
			switch e := env.Event.(type) {
			case csm.UserStart:
				clear(ends[:])
			case csm.SpeechStopped:
				if e.Why >= csm.NumEndReasons {
					e.Why = csm.EndedElsewhere
				}
				ends[e.Why]++
			}
		}
		if j.More == "" {
			break
		}
		next, err := readJournal(j.More)
		if err != nil {
			return "", err
		}
		j = next
	}
	n := 0
	var by []string
	for why, count := range ends {
		if n += count; count > 0 {
			by = append(by, fmt.Sprintf("%v %d", csm.EndReason(why), count))
		}
	}
	if n == 0 {
		return "nothing was said", nil
	}
	return fmt.Sprintf("%d times the end of what you said was judged by: %s", n, strings.Join(by, ", ")), nil
}
