package wake

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	maxWords  = 8
	minSounds = 8
)

// acousticFiles are the parts of the acoustic model without which the engine
// terminates the process instead of returning an error.
var acousticFiles = []string{"feat.params", "mdef", "means", "noisedict", "sendump", "transition_matrices", "variances"}

// modelIn returns the folder of the acoustic model and the path of the dictionary, which are in
// dir. The error names the missing file and its package, but no folder.
func modelIn(dir string) (acoustic, dictionary string, err error) {
	acoustic = filepath.Join(dir, "en-us", "en-us")
	dictionary = filepath.Join(dir, "en-us", "cmudict-en-us.dict")
	files := []string{dictionary}
	for _, name := range acousticFiles {
		files = append(files, filepath.Join(acoustic, name))
	}
	if missing := firstMissing(files); missing != "" {
		return "", "", fmt.Errorf("PocketSphinx model file %s is missing; install the package pocketsphinx-en-us again", missing)
	}
	return acoustic, dictionary, nil
}

func firstMissing(files []string) string {
	for _, path := range files {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return filepath.Base(path)
		}
	}
	return ""
}

// PhraseError says why a phrase is unusable, and what to choose instead.
type PhraseError struct{ problem string }

func (e *PhraseError) Error() string { return e.problem }

func unusable(format string, args ...any) error {
	return &PhraseError{fmt.Sprintf(format, args...)}
}

// word is a word of the phrase and its pronunciation, as in the dictionary: phones
// separated by spaces.
type word struct{ text, sounds string }

// parsePhrase looks up the words of a phrase. It uses the first pronunciation of each
// word. The error names the offending word.
func parsePhrase(phrase, dictionary string) ([]word, error) {
	texts := strings.Fields(strings.ToLower(phrase))
	if len(texts) < 2 || len(texts) > maxWords {
		return nil, unusable("wake phrase %q has %d words; use 2 to %d, such as %q", phrase, len(texts), maxWords, DefaultPhrase)
	}
	found, err := pronunciations(dictionary, texts)
	if err != nil {
		return nil, err
	}
	var words []word
	sounds := 0
	for _, text := range texts {
		s, ok := found[text]
		if !ok {
			return nil, unusable("wake phrase %q: the word %q is not in the English dictionary; spell it as words that sound like it, or choose another",
				phrase, text)
		}
		words = append(words, word{text, s})
		sounds += len(strings.Fields(s))
	}
	if sounds < minSounds {
		return nil, unusable("wake phrase %q has only %d sounds and would trigger on everyday speech; use one with at least %d, such as %q",
			phrase, sounds, minSounds, DefaultPhrase)
	}
	return words, nil
}

// pronunciations reads the wanted words from a dictionary, whose lines are a word and
// its phones. It treats alternative pronunciations, as in "hello(2)", as different
// words.
func pronunciations(dictionary string, wanted []string) (map[string]string, error) {
	file, err := os.Open(dictionary)
	if err != nil {
		return nil, unreadable(err)
	}
	defer file.Close()
	found := make(map[string]string, len(wanted))
	for _, text := range wanted {
		found[text] = ""
	}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		text, sounds, ok := strings.Cut(lines.Text(), " ")
		if _, want := found[text]; ok && want {
			found[text] = strings.TrimSpace(sounds)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, unreadable(err)
	}
	for text, sounds := range found {
		if sounds == "" || strings.ContainsAny(text, "()<>[]") {
			delete(found, text)
		}
	}
	return found, nil
}

// unreadable omits the path, which contains the user's folders.
func unreadable(err error) error {
	if pathErr, ok := err.(*os.PathError); ok {
		err = pathErr.Err
	}
	return fmt.Errorf("cannot read PocketSphinx dictionary: %w; reinstall the package pocketsphinx-en-us", err)
}
