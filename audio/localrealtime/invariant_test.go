//go:build cgo

package localrealtime

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
)

// busy is a Model that answers in several pieces, occasionally calls a function, and
// counts the concurrent answers.
type busy struct{ now, most, answers atomic.Int64 }

func (b *busy) Answer(ctx context.Context, _ Prompt, text func(string), call func(FunctionCall)) error {
	n := b.now.Add(1)
	defer b.now.Add(-1)
	for most := b.most.Load(); n > most && !b.most.CompareAndSwap(most, n); most = b.most.Load() {
	}
	for range 4 {
		text("One two three. ")
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
	if b.answers.Add(1)%3 == 0 {
		call(FunctionCall{Name: "look", Arguments: "{}"})
	}
	return nil
}

// walk performs random client actions.
func (p *peer) walk(random *rand.Rand, steps int) {
	var items []string
	for range steps {
		for len(p.events) > 0 {
			if e := <-p.events; e.Item.ID != "" && e.Type == "conversation.item.done" {
				items = append(items, e.Item.ID)
			}
		}
		item := "none"
		if len(items) > 0 {
			item = items[random.IntN(len(items))]
		}
		switch random.IntN(12) {
		case 0, 1:
			p.appendAudio(tone(300+random.IntN(300), listenRate))
		case 2, 3:
			p.appendAudio(quiet(700))
		case 4:
			p.sendJSON(`{"type":"input_audio_buffer.commit"}`)
		case 5:
			p.sendJSON(`{"type":"input_audio_buffer.clear"}`)
		case 6:
			p.sendJSON(`{"type":"response.create"}`)
		case 7:
			p.sendJSON(`{"type":"response.create","response":{"conversation":"none"}}`)
		case 8:
			p.sendJSON(`{"type":"response.cancel"}`)
		case 9:
			p.sendJSON(`{"type":"output_audio_buffer.clear"}`)
		case 10:
			p.sendJSON(fmt.Sprintf(`{"type":"conversation.item.%s","item_id":%q,"audio_end_ms":50}`, []string{"delete", "truncate"}[random.IntN(2)], item))
		case 11:
			p.sendJSON([]string{
				`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"type":"server_vad","interrupt_response":false}}}}}`,
				`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"type":"server_vad","create_response":false}}}}}`,
				`{"type":"session.update","session":{"audio":{"input":{"turn_detection":null}}}}`,
				`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"type":"semantic_vad","eagerness":"high"}}}}}`,
			}[random.IntN(4)])
		}
		time.Sleep(time.Duration(random.IntN(10)) * time.Millisecond)
	}
}

// Whatever a client does, in any order, over WebSocket: each event follows the wire
// rules, one answer is generated at a time, and nothing is pending at the end.
func TestServerKeepsItsPromisesInAnyOrder(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			var model busy
			h := start(t, func(c *Config) {
				c.Model, c.Segmenter = &model, func() Segmenter { return &sentences{} }
				c.Summarise, c.Remember = func(context.Context, []Message) (string, error) { return "They counted.", nil }, 200
			})
			p := h.socket(t)
			p.sendJSON(`{"type":"session.update","session":{"audio":{"input":{"transcription":{"model":"x"}}}}}`)
			p.walk(rand.New(rand.NewPCG(seed, 0)), 80)
			p.sendJSON(`{"type":"output_audio_buffer.clear"}`)
			p.sendJSON(`{"type":"input_audio_buffer.clear","event_id":"last"}`)
			for began := time.Now(); len(p.rules.owes()) > 0 && time.Since(began) < patience; time.Sleep(5 * time.Millisecond) {
				for len(p.events) > 0 {
					<-p.events
				}
			}
			if owed := p.rules.owes(); len(owed) > 0 {
				t.Errorf("in the end there are owed: %q", owed)
			}
			if model.most.Load() != 1 {
				t.Errorf("%d answers were made at one time", model.most.Load())
			}
		})
	}
}

// Running turns and answers keep the voice and the format that they started with
// (000.4.5).
func TestServerKeepsTheSettingsOfWhatRuns(t *testing.T) {
	h := start(t, answering(func(ctx context.Context, _ Prompt, text func(string), _ func(FunctionCall)) error {
		text("One wait two three.")
		return nil
	}))
	p := h.socket(t)
	p.sendJSON(`{"type":"session.update","session":{"audio":{"output":{"voice":"slt"}}}}`)
	p.next("session.updated")
	p.sendJSON(`{"type":"response.create"}`)
	all := p.until("response.output_audio_transcript.delta")
	p.sendJSON(`{"type":"session.update","session":{"audio":{"output":{"voice":"kal","format":{"type":"audio/pcm","rate":8000}}}}}`)
	all = append(all, p.until("session.updated")...)
	h.engines.gate <- struct{}{}
	all = append(all, p.until("response.done")...)
	done := all[len(all)-1].Response
	if o := done.Audio.Output; o.Voice != "slt" || o.Format.Rate != 24000 {
		t.Errorf("the response changed to %+v", o)
	}
	if ms := audioMs(t, all); ms < 4*fakeWordTime-5 || ms > 4*fakeWordTime+5 {
		t.Errorf("%d ms of audio came, want %d ms", ms, 4*fakeWordTime)
	}
}

// Audio is either committed or cleared, and never used twice (000.4.6).
func TestServerUsesAudioOnce(t *testing.T) {
	h := start(t)
	p := h.socket(t)
	p.sendJSON(`{"type":"session.update","session":{"audio":{"input":{"turn_detection":null,"transcription":{"model":"x"}}}}}`)
	p.next("session.updated")
	for _, c := range []struct {
		ms   int
		then string
	}{{400, "commit"}, {500, "clear"}, {600, "commit"}, {250, "commit"}} {
		p.appendAudio(tone(c.ms, listenRate))
		p.sendJSON(`{"type":"input_audio_buffer.` + c.then + `"}`)
		if c.then == "clear" {
			p.until("input_audio_buffer.cleared")
			continue
		}
		all := p.until("conversation.item.input_audio_transcription.completed")
		if s := all[len(all)-1].Usage.Seconds * 1000; s < float64(c.ms-40) || s > float64(c.ms+40) {
			t.Errorf("%v ms were committed, want %d", s, c.ms)
		}
	}
	p.sendJSON(`{"type":"input_audio_buffer.commit"}`)
	if e := p.until("error"); e[len(e)-1].Error.Code != "input_audio_buffer_commit_empty" {
		t.Errorf("nothing is left to commit, and there came %+v", e)
	}
}

// The end of a call ends its running work and waits for it, even if the work is slow to
// end (000.4.8, 000.4.10).
func TestServerEndsWhatACallHadUnderWay(t *testing.T) {
	const slow = 500 * time.Millisecond
	ended := make(chan string, 2)
	begun := make(chan struct{}, 2)
	h := start(t, answering(func(ctx context.Context, _ Prompt, text func(string), _ func(FunctionCall)) error {
		text("One wait two.")
		begun <- struct{}{}
		<-ctx.Done()
		time.Sleep(slow)
		ended <- "answer"
		return ctx.Err()
	}), func(c *Config) {
		c.Remember = 10
		c.Summarise = func(ctx context.Context, _ []Message) (string, error) {
			begun <- struct{}{}
			<-ctx.Done()
			time.Sleep(slow)
			ended <- "summary"
			return "", ctx.Err()
		}
	})
	p := h.socket(t)
	p.typeText("something that is longer than ten characters")
	p.typeText("and something after it")
	p.sendJSON(`{"type":"response.create"}`)
	p.until("response.output_audio_transcript.delta")
	<-begun
	<-begun
	h.HangUpAll()
	if h.Calls() != 0 || len(ended) != 2 {
		t.Errorf("%d calls are left, and %d of two workers ended before them", h.Calls(), len(ended))
	}
}

// The beginning of a conversation is summarised in the middle of a tool loop, by one
// summary at a time, and later entries are kept. A deleted item is in no summary
// (000.4.9).
func TestServerSummarisesInAToolLoop(t *testing.T) {
	prompts := make(chan Prompt, 10)
	summaries := make(chan []Message, 10)
	goOn := make(chan string)
	h := start(t, answering(func(_ context.Context, p Prompt, _ func(string), call func(FunctionCall)) error {
		prompts <- p
		call(FunctionCall{ID: fmt.Sprintf("c%d", len(p.Messages)), Name: "look", Arguments: "{}"})
		return nil
	}), func(c *Config) {
		c.Remember = 100
		c.Summarise = func(ctx context.Context, said []Message) (string, error) {
			summaries <- said
			select {
			case text := <-goOn:
				return text, nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
	})
	p := h.socket(t)
	round := func(output string) Prompt {
		p.sendJSON(`{"type":"response.create"}`)
		all := p.until("response.done")
		id := all[slices.Index(types(all), "response.function_call_arguments.done")].CallID
		p.send(map[string]any{"type": "conversation.item.create", "item": map[string]any{"type": "function_call_output", "call_id": id, "output": output}})
		p.until("conversation.item.done")
		return <-prompts
	}
	p.typeText("what is in the files?")
	round("alpha " + strings.Repeat("x", 60))
	if len(summaries) > 0 {
		t.Error("it is summarised before it is long")
	}
	round("beta " + strings.Repeat("y", 60))
	said := <-summaries
	if len(said) < 2 || said[0].Text != "what is in the files?" || !strings.HasPrefix(said[1].Text, "alpha") {
		t.Fatalf("there is to be summarised %+v", said)
	}
	// Until there is a summary, the conversation is remembered verbatim.
	if m := round("gamma").Messages; len(m) != 3 || m[0].Text != said[0].Text {
		t.Errorf("during the summary the model is told %+v", m)
	}
	if len(summaries) > 0 {
		t.Error("two summaries are made at one time")
	}
	goOn <- "The user asked for files; the first is alpha."
	var last Prompt
	for began := time.Now(); time.Since(began) < patience; {
		if last = round("delta"); strings.HasPrefix(last.Messages[0].Text, summaryLead) {
			break
		}
	}
	if m := last.Messages; m[0].Text != summaryLead+"The user asked for files; the first is alpha." || !strings.HasPrefix(m[1].Text, "beta") {
		t.Errorf("after the summary the model is told %+v", m)
	}
}

func TestServerForgetsDeletedItemsInSummaries(t *testing.T) {
	prompts := make(chan Prompt, 2)
	summaries := make(chan []Message, 10)
	h := start(t, answering(func(_ context.Context, p Prompt, text func(string), _ func(FunctionCall)) error {
		prompts <- p
		return nil
	}), func(c *Config) {
		c.Remember = 50
		c.Summarise = func(_ context.Context, said []Message) (string, error) {
			summaries <- said
			return fmt.Sprintf("%d things", len(said)), nil
		}
	})
	p := h.socket(t)
	p.send(map[string]any{"type": "conversation.item.create", "item": map[string]any{
		"id": "secret", "type": "message", "role": "user", "content": []any{map[string]string{"type": "input_text", "text": "the secret is 42"}},
	}})
	p.until("conversation.item.done")
	p.typeText(strings.Repeat("z", 50))
	if said := <-summaries; said[0].Text != "the secret is 42" {
		t.Fatalf("summarised: %+v", said)
	}
	p.sendJSON(`{"type":"conversation.item.delete","item_id":"secret"}`)
	p.until("conversation.item.deleted")
	p.sendJSON(`{"type":"response.create"}`)
	p.until("response.done")
	if m := (<-prompts).Messages; len(m) != 1 || m[0].Text != strings.Repeat("z", 50) {
		t.Errorf("the model is told %+v", m)
	}
}

// The check fails closed: a call whose state violates an invariant accepts nothing
// more, and ends.
func TestServerHangsUpInAStateThatCannotBe(t *testing.T) {
	h := start(t, answering(echo))
	p := h.socket(t)
	c := h.liveCalls()[0]
	c.post(func() {
		c.state.Answers = []machine.Answer{{ID: 1 << 20}}
		c.happened(machine.Heard)
	})
	// The server may already have hung up.
	_ = p.ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"response.create"}`))
	select {
	case <-c.done:
	case <-time.After(patience):
		t.Fatal("the call goes on")
	}
	for e := range p.events {
		t.Errorf("the client is sent %+v", e)
	}
}

// Every action of the tables has an executor.
func TestEveryActionHasAnExecutor(t *testing.T) {
	for i, f := range executors() {
		if f == nil {
			t.Errorf("nobody carries out %v", machine.Do(i))
		}
	}
}
