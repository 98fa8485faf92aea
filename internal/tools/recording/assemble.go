package main

import (
	"math"
	"math/rand/v2"
	"time"
)

// pauses are the pauses between the turns.
type pauses struct {
	lead, interrupt, long, short time.Duration
}

// label is the position, the speaker and the words of an utterance.
type label struct {
	Start int    `json:"startSample"` // at 16 kHz
	End   int    `json:"endSample"`   // the first sample after it
	Voice string `json:"voice"`
	Human bool   `json:"human"`
	Text  string `json:"text"`
}

type recording struct {
	pcm    []int16
	labels []label
}

// readers lists sentences of one LibriVox reader. None is a question that the offline
// assistant knows, so its answers are long enough to be interrupted.
var readers = []string{
	"librivox/sense_and_sensibility_01_austen_64kb-0920.wav",
	"librivox/sense_and_sensibility_01_austen_64kb-0930.wav",
	"librivox/sense_and_sensibility_01_austen_64kb-0870.wav",
	"librivox/sense_and_sensibility_01_austen_64kb-0880.wav",
	"librivox/sense_and_sensibility_01_austen_64kb-0890.wav",
}

// others lists sentences of other people, who interrupt.
var others = []string{goForward, "cards/005.wav", "cards/003.wav", "cards/001.wav"}

// questions lists questions that the offline assistant answers in one sentence, in
// voices other than its own.
var questions = []question{
	{"am_michael", "current-branch", "What is the current branch?"},
	{"bf_emma", "project", "What is the name of the project?"},
	{"am_puck", "time", "Tell me the time."},
	{"af_bella", "system", "What operating system is this?"},
	{"bf_emma", "project", "What is the name of the project?"},
	{"bm_george", "branch", "Which branch are we on?"},
}

// demo is the conversation of make run about testdata/demo. The pauses fit the answers of
// the offline assistant; the first one is interrupted, and the one about splitFields stopped.
var demo = []struct {
	question // without a voice, file names a human recording
	after    time.Duration
}{
	{question{file: goForward}, 5 * time.Second},
	{question{"bm_george", "branch", "Which branch are we on?"}, 6 * time.Second},
	{question{"bf_emma", "change", "What did I change?"}, 7 * time.Second},
	{question{"am_michael", "where-is", "Where is"}, 800 * time.Millisecond}, // a pause in the sentence
	{question{"am_michael", "split-fields", "the function splitFields?"}, 5 * time.Second},
	{question{"am_michael", "stop", "Stop."}, 4 * time.Second},
	{question{"am_puck", "failing", "Which tests are failing?"}, 11 * time.Second},
	{question{"am_puck", "yes", "Yes, please."}, 13 * time.Second},
	{question{"bm_george", "repeat", "Repeat that."}, 9 * time.Second},
}

// assembleDemo generates the conversation of make run.
func assembleDemo(v *voices, lead time.Duration) (rec recording, err error) {
	rec.pause(lead)
	for _, d := range demo {
		if d.voice == "" {
			err = rec.human(v, d.file, d.after)
		} else {
			err = rec.ask(d.question, d.after)
		}
		if err != nil {
			return rec, err
		}
	}
	rec.addNoise()
	return rec, nil
}

// assemble generates the requested number of questions, or rounds until the recording
// has the requested length. It ends after the pause for an answer.
func assemble(v *voices, o options) (recording, error) {
	var rec recording
	rec.pause(o.pauses.lead)
	for i := range o.questions {
		if err := rec.ask(questions[i%len(questions)], o.pauses.short); err != nil {
			return rec, err
		}
	}
	for round := 0; o.questions == 0 && (round == 0 || rec.length() < o.atLeast); round++ {
		if err := rec.human(v, readers[round%len(readers)], o.pauses.interrupt); err != nil {
			return rec, err
		}
		if err := rec.human(v, others[round%len(others)], o.pauses.long); err != nil {
			return rec, err
		}
		for i := range 2 {
			if err := rec.ask(questions[(2*round+i)%len(questions)], o.pauses.short); err != nil {
				return rec, err
			}
		}
	}
	rec.addNoise()
	return rec, nil
}

// ask adds a question.
func (r *recording) ask(q question, after time.Duration) error {
	pcm, err := q.audio()
	if err != nil {
		return err
	}
	r.say(label{Voice: q.voice, Text: q.text}, pcm, after)
	return nil
}

func (r *recording) human(v *voices, name string, after time.Duration) error {
	pcm, text, err := v.human(name)
	if err != nil {
		return err
	}
	r.say(label{Voice: name, Human: true, Text: text}, pcm, after)
	return nil
}

func (r *recording) say(l label, pcm []int16, after time.Duration) {
	level(pcm)
	l.Start = len(r.pcm)
	r.pcm = append(r.pcm, pcm...)
	l.End = len(r.pcm)
	r.labels = append(r.labels, l)
	r.pause(after)
}

func (r *recording) pause(d time.Duration) {
	r.pcm = append(r.pcm, make([]int16, int64(d)*rate/int64(time.Second))...)
}

func (r *recording) length() time.Duration {
	return time.Duration(len(r.pcm)) * time.Second / rate
}

// addNoise adds the noise of a quiet room (-65 dBFS), the same in every run.
func (r *recording) addNoise() {
	const seed = 1
	random := rand.New(rand.NewPCG(seed, seed))
	for i, s := range r.pcm {
		v := float64(s) + random.NormFloat64()*decibels(-65)
		r.pcm[i] = int16(math.Round(min(max(v, math.MinInt16), math.MaxInt16)))
	}
}
