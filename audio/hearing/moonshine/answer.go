//go:build cgo

package moonshine

import (
	"math"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
)

// longestAnswer is the longest audio that is compared with the expected answers, in samples:
// a voice of 1.5 s with the silence around it.
const longestAnswer = 2 * SampleRate

// Compare says how well a sound fits the expected answers, groups of one meaning. There are at
// least two groups, none of them empty.
func (m *Model) Compare(s *Sound, expected [][]string) (*engine.Answer, error) {
	free, err := m.Draft(s)
	if err != nil {
		return nil, err
	}
	var phrases []string
	for _, group := range expected {
		phrases = append(phrases, group...)
	}
	scores, err := m.Score(s, phrases)
	if err != nil {
		return nil, err
	}
	answer := &engine.Answer{}
	best, second := math.Inf(-1), math.Inf(-1)
	for _, group := range expected {
		of := scores[:len(group)]
		scores = scores[len(group):]
		likely := 0
		for i := range of {
			if of[i] > of[likely] {
				likely = i
			}
		}
		sum := 0.0
		for _, p := range of {
			sum += math.Exp(p - of[likely])
		}
		if whole := of[likely] + math.Log(sum); whole > best {
			best, second = whole, best
			answer.Phrase, answer.Behind = group[likely], free.LogProb-of[likely]
		} else {
			second = max(second, whole)
		}
	}
	answer.Lead = best - second
	return answer, nil
}
