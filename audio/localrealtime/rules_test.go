//go:build cgo

package localrealtime

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// wireRules are the guarantees for every client, whatever it does (000, part 4). They
// are checked on each event that any test of this package receives.
type wireRules struct {
	mu        sync.Mutex
	events    int
	responses map[string]*wireResponse
	speaking  string         // the item of the announced turn
	items     map[string]int // items of the conversation that were added but are not done
	words     map[string]int // final transcripts of committed items: 0 if pending
}

type wireResponse struct {
	done    bool
	open    []string // output items and content parts
	playing bool
}

// take returns the rule that an event violates, or "".
func (w *wireRules) take(e event) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.responses == nil {
		w.responses, w.items, w.words = map[string]*wireResponse{}, map[string]int{}, map[string]int{}
	}
	w.events++
	if (e.Type == "session.created") != (w.events == 1) {
		return "session.created is the first event, and comes once"
	}
	switch {
	case strings.HasPrefix(e.Type, "response."):
		return w.response(e)
	case strings.HasPrefix(e.Type, "output_audio_buffer."):
		return w.playback(e)
	default:
		return w.input(e)
	}
}

func (w *wireRules) response(e event) string {
	if e.Type == "response.created" {
		if w.responses[e.Response.ID] != nil {
			return "a response is created once"
		}
		w.responses[e.Response.ID] = &wireResponse{}
		return ""
	}
	id := e.ResponseID
	if e.Type == "response.done" {
		id = e.Response.ID
	}
	r := w.responses[id]
	if r == nil || r.done {
		return "nothing of a response comes before response.created or after response.done"
	}
	begin := func(what string) { r.open = append(r.open, what) }
	end := func(what string) string {
		i := slices.Index(r.open, what)
		if i < 0 {
			return "what is done was added before"
		}
		r.open = slices.Delete(r.open, i, i+1)
		return ""
	}
	switch e.Type {
	case "response.output_item.added":
		begin(e.Item.ID)
	case "response.content_part.added":
		begin("part of " + e.ItemID)
	case "response.content_part.done":
		return end("part of " + e.ItemID)
	case "response.output_item.done":
		return end(e.Item.ID)
	case "response.done":
		r.done = true
		if len(r.open) > 0 {
			return "what was added is done before its response"
		}
	}
	return ""
}

func (w *wireRules) playback(e event) string {
	r := w.responses[e.ResponseID]
	if r == nil {
		if e.Type == "output_audio_buffer.cleared" && e.ResponseID == "" {
			return ""
		}
		return "audio is of a response"
	}
	if starts := e.Type == "output_audio_buffer.started"; r.playing == starts {
		return "audio is started once, and stopped or cleared once after that"
	}
	r.playing = !r.playing
	return ""
}

func (w *wireRules) input(e event) string {
	switch e.Type {
	case "input_audio_buffer.speech_started":
		if w.speaking != "" {
			return "speech begins once"
		}
		w.speaking = e.ItemID
	case "input_audio_buffer.speech_stopped":
		if w.speaking != e.ItemID {
			return "speech ends that began"
		}
	case "input_audio_buffer.committed":
		if _, twice := w.words[e.ItemID]; twice || w.speaking != "" && w.speaking != e.ItemID {
			return "the turn that is open is committed, once"
		}
		w.speaking, w.words[e.ItemID] = "", 0
	case "input_audio_buffer.cleared":
		w.speaking = ""
	case "conversation.item.added":
		if w.items[e.Item.ID]++; w.items[e.Item.ID] > 1 {
			return "an item is added once"
		}
	case "conversation.item.done":
		if w.items[e.Item.ID]--; w.items[e.Item.ID] != 0 {
			return "an item is done once"
		}
	case "conversation.item.input_audio_transcription.completed", "conversation.item.input_audio_transcription.failed":
		n, committed := w.words[e.ItemID]
		if !committed || n > 0 {
			return "the final words of a committed turn come once"
		}
		w.words[e.ItemID]++
	case "conversation.item.input_audio_transcription.delta":
		if w.words[e.ItemID] > 0 {
			return "no words come after the final ones"
		}
	}
	return ""
}

// owes returns the events that the client must still receive, including the transcript
// of each committed turn.
func (w *wireRules) owes() (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, r := range w.responses {
		if !r.done || r.playing {
			out = append(out, fmt.Sprintf("response %s: %+v", id, *r))
		}
	}
	for id, n := range w.items {
		if n > 0 {
			out = append(out, "the end of item "+id)
		}
	}
	for id, n := range w.words {
		if n == 0 {
			out = append(out, "the words of "+id)
		}
	}
	return out
}
