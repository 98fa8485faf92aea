// Package services is the table of hosted models: what each serves and takes, what it costs, and
// when its service ends it. Such facts age, so each row has the date of the last look and its source.
//
// The rows are of OpenAI. Other services have models of the same names, which that service does
// not end.
package services

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Use is what a model is for.
type Use string

// The uses.
const (
	Session       Use = "session"       // a realtime or a Live session
	Voice         Use = "voice"         // speech in a session
	Transcription Use = "transcription" // speech to text
	Speech        Use = "speech"        // POST /v1/audio/speech
	Chat          Use = "chat"          // POST /v1/chat/completions
)

// Wire is the type of the session that a model needs.
type Wire string

// The session types; "" for a model that is used by requests, or in a session of another model.
const (
	RealtimeSession      Wire = "realtime"
	TranscriptionSession Wire = "transcription" // without turn detection
	LiveSession          Wire = "live"
)

// Field is what a model takes beside the audio or the text.
type Field string

// The fields.
const (
	Prompt    Field = "prompt"    // a text with names and terms
	Keywords  Field = "keywords"  // a list of names and terms
	Languages Field = "languages" // a list instead of one language
	Logprobs  Field = "logprobs"  // can be included in the reply
	Reasoning Field = "reasoning_effort"
)

// Model is what is known about a model.
type Model struct {
	Name    string  `json:"model"`
	Serves  []Use   `json:"serves"`
	Session Wire    `json:"session,omitempty"`
	Takes   []Field `json:"takes,omitempty"`
	// Price is the list price without taxes and discounts; nil if it is not known.
	Price *Price `json:"price,omitempty"`
	// Ends is the day from which the service no longer accepts it, and Instead what it recommends;
	// zero if no end is announced.
	Ends    Day    `json:"ends,omitzero"`
	Instead string `json:"instead,omitempty"`
	// Source is where the facts are from, and Looked the day of the last look.
	Source string `json:"source"`
	Looked Day    `json:"looked"`
}

// Price is in US dollars. A zero member is not charged, or not by that unit.
type Price struct {
	// Per million tokens.
	TextIn      float64 `json:"textIn,omitempty"`
	TextCached  float64 `json:"textCached,omitempty"`
	TextOut     float64 `json:"textOut,omitempty"`
	AudioIn     float64 `json:"audioIn,omitempty"`
	AudioCached float64 `json:"audioCached,omitempty"`
	AudioOut    float64 `json:"audioOut,omitempty"`
	// Per million characters that are spoken.
	Characters float64 `json:"characters,omitempty"`
	// Per minute of audio. Where there is a price per token, it is the service's estimate, for replies
	// without a count.
	Minute float64 `json:"minute,omitempty"`
	// Per minute for which a session is open, silence included.
	SessionMinute float64 `json:"sessionMinute,omitempty"`
	// StartSeconds of a session are charged when it is created, even if it never runs.
	StartSeconds int `json:"startSeconds,omitempty"`
}

// Tokens reports whether it is a price by the token.
func (p Price) Tokens() bool { return p.TextIn+p.TextOut+p.AudioIn+p.AudioOut > 0 }

// Day is a date without a time.
type Day struct{ time.Time }

// UnmarshalText reads a date such as 2027-01-20.
func (d *Day) UnmarshalText(text []byte) (err error) {
	d.Time, err = time.Parse(time.DateOnly, string(text))
	return err
}

// MarshalText writes it as UnmarshalText reads it.
func (d Day) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalJSON and MarshalJSON override those of time.Time.
func (d *Day) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	return d.UnmarshalText([]byte(s))
}

// MarshalJSON writes a string.
func (d Day) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

func (d Day) String() string { return d.Format(time.DateOnly) }

//go:embed models.json
var data []byte

var models = func() map[string]Model {
	all, err := read(data)
	if err != nil {
		panic(err) // the file is part of the program, and tested
	}
	return all
}()

// read reads the table.
func read(data []byte) (map[string]Model, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var rows []Model
	if err := d.Decode(&rows); err != nil {
		return nil, fmt.Errorf("models.json: %w", err)
	}
	all := map[string]Model{}
	for _, m := range rows {
		switch _, twice := all[m.Name]; {
		case twice:
			return nil, fmt.Errorf("models.json has %s twice", m.Name)
		case m.Name == "" || len(m.Serves) == 0 || m.Source == "" || m.Looked.IsZero():
			return nil, fmt.Errorf("models.json: %q needs model, serves, source and looked", m.Name)
		}
		all[m.Name] = m
	}
	return all, nil
}

// dated matches a model as it was on a date.
var dated = regexp.MustCompile(`^(.+)-\d{4}-\d{2}-\d{2}$`)

// Of returns what is known about a model. A dated one such as gpt-4o-2024-11-20 is its model as it was
// on that day; gpt-realtime-2 is another model than gpt-realtime.
func Of(name string) (Model, bool) {
	m, ok := models[name]
	if part := dated.FindStringSubmatch(name); !ok && part != nil {
		m, ok = models[part[1]]
	}
	return m, ok
}

// Accepts reports whether a model takes a field.
func (m Model) Accepts(f Field) bool { return slices.Contains(m.Takes, f) }

// Effort returns the reasoning_effort for spoken answers: none, where a model can answer at once; "" for
// one that has no such setting. With tools, the chat endpoint requires none.
func Effort(model string) string {
	if m, _ := Of(model); m.Accepts(Reasoning) {
		return "none"
	}
	return ""
}

// EndsBefore reports whether the service ends a model before a day.
func (m Model) EndsBefore(day time.Time) bool { return !m.Ends.IsZero() && m.Ends.Before(day) }

// String says the price in a few words.
func (p Price) String() string {
	var parts []string
	in := func(of string, in, out float64) {
		switch {
		case in > 0 && out > 0:
			parts = append(parts, fmt.Sprintf("$%g in and $%g out for a million tokens of %s", in, out, of))
		case in+out > 0:
			parts = append(parts, fmt.Sprintf("$%g for a million tokens of %s", in+out, of))
		}
	}
	in("text", p.TextIn, p.TextOut)
	in("audio", p.AudioIn, p.AudioOut)
	if p.Characters > 0 {
		parts = append(parts, fmt.Sprintf("$%g for a million characters", p.Characters))
	}
	if p.Minute > 0 && !p.Tokens() {
		parts = append(parts, fmt.Sprintf("$%g a minute of audio", p.Minute))
	}
	if p.SessionMinute > 0 {
		parts = append(parts, fmt.Sprintf("$%g a minute, silence included", p.SessionMinute))
	}
	return strings.Join(parts, ", ")
}
