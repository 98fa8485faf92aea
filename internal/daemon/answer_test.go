package daemon

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// The work for an answer, counted in decoded bytes, is a small multiple of its length,
// regardless of the number of pieces.
func TestWorkForAnAnswerIsLinear(t *testing.T) {
	const piece = "The parser drops the last line. Ünïcödé is counted by runes, so the test fails.\n\n- one\n- two\n\n"
	for _, size := range []int{20_000, 80_000, 320_000} {
		text := strings.Repeat(piece, size/len(piece))
		c := newContent()
		segments := 0
		s := newSegmenter(c, 1, 0, func(e csm.Event) {
			if seg, ok := e.(csm.CopilotSegment); ok {
				segments++
				_ = c.source(1, seg.Start, seg.End) // as for its caption
			}
		}, spoken.Options{Locale: "en"})
		for at := 0; at < len(text); at += 4 {
			s.push(text[at:min(at+4, len(text))])
		}
		s.flush()
		work := c.answers[1].scanned
		t.Logf("%d bytes, %d segments: %d bytes decoded, %.2f for each", len(text), segments, work, float64(work)/float64(len(text)))
		if work > 10*len(text) {
			t.Errorf("an answer of %d bytes had %d decoded", len(text), work)
		}
	}
}

// An answer locates its characters as counting from the start does, wherever the pieces
// were split, even if they are not valid UTF-8.
func TestAnswerFindsCharacters(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var text strings.Builder
		for range random.IntN(1500) {
			switch random.IntN(8) {
			case 0:
				text.WriteByte(byte(random.IntN(256)))
			case 1:
				text.WriteRune(rune(0x3040 + random.IntN(90)))
			default:
				text.WriteRune(rune('a' + random.IntN(26)))
			}
		}
		want, a := text.String(), &answer{}
		for rest := want; rest != ""; {
			n := min(1+random.IntN(5), len(rest))
			a.add(rest[:n])
			rest = rest[n:]
			if have := a.text.String(); a.length() != utf8.RuneCountInString(have) {
				t.Fatalf("%q has %d characters, not %d", have, utf8.RuneCountInString(have), a.length())
			}
		}
		chars := 0
		for i := range want {
			if got := a.offset(chars); got != i {
				t.Fatalf("character %d of %q begins at %d, not %d", chars, want, i, got)
			}
			chars++
		}
		if a.offset(chars) != len(want) || a.offset(chars+9) != len(want) {
			t.Fatalf("the end of %q is at %d", want, a.offset(chars))
		}
		a.cut(len(want) / 2)
		if half := want[:len(want)/2]; a.text.String() != half || a.length() != utf8.RuneCountInString(half) {
			t.Fatalf("%q was cut to %q", want, a.text.String())
		}
	}
}

// An answer that arrives faster than the core takes it is held back. One that is
// cancelled while it waits adds nothing.
func TestAnswerWaitsForRoom(t *testing.T) {
	const deltas = 100
	a, _ := errands(t, &able{})
	posted, asked := 0, 0
	a.post = func(csm.Event) { posted++ }
	ctx, cancel := context.WithCancel(t.Context())
	a.room = func(ctx context.Context) bool {
		asked++
		if asked > deltas/2 {
			cancel()
		}
		return ctx.Err() == nil
	}
	a.adapter = sends(func(emit func(string)) {
		for range deltas {
			emit("A sentence that is long enough. ")
		}
	})
	if _, err := a.attempt(ctx, a.adapter, csm.SendCopilot{Request: 1}, copilot.Request{}); err != nil {
		t.Fatal(err)
	}
	if asked != deltas || posted < deltas/2 || posted > 3*deltas/2 {
		t.Errorf("%d of %d pieces waited for room, and %d events were posted", asked, deltas, posted)
	}
}

// sends is an adapter that answers with the given function.
type sends func(emit func(string))

func (sends) Name() string { return "sends" }
func (s sends) Send(_ context.Context, _ copilot.Request, emit func(string)) error {
	s(emit)
	return nil
}

// The heard part of a segment ends at the spoken word, not at the same fraction of its
// source, both in the transcript and in the prompt.
func TestHeardEndsAtTheWord(t *testing.T) {
	const answer = "See [the page](https://example.com/a/very/long/path/to/somewhere) of the tests first. Then run all of them."
	r := newRoom(t, protocol.DefaultSettings(), false, answer, true)
	c := r.d.content
	first := c.lastPieces()[0]
	if first.text != "See the page of the tests first." {
		t.Fatalf("said %q", first.text)
	}
	for _, word := range []string{"page", "of", "tests", "first"} {
		spoke := strings.Index(first.text, word) + len(word)
		core := first.start + (spoke*(first.end-first.start)+len(first.text)-1)/len(first.text) // the fraction that was played
		want := answer[:strings.Index(answer, word)+len(word)]
		if got := c.source(r.request, 0, c.heardOf(r.request, core)); got != want {
			t.Errorf("up to %q: heard %q, want %q", word, got, want)
		}
		messages := c.messages([]history.Item{{Request: r.request, Heard: core}})
		if len(messages) != 1 || messages[0].Content != want {
			t.Errorf("up to %q: the assistant is told %v", word, messages)
		}
	}
	for _, core := range []int{first.start, first.end, utf8.RuneCountInString(answer)} {
		if got := c.heardOf(r.request, core); got != core {
			t.Errorf("heard %d where a segment ends at %d", got, core)
		}
	}
	share := (first.start + first.end) / 2
	r.d.pub.heard(csm.PublishHeard{Turn: r.d.State().Current.ID, Request: r.request, Chars: share})
	r.d.WithTranscript(0, func(p protocol.TranscriptResult) {
		e := p.Entries[len(p.Entries)-1]
		if want := c.heardOf(r.request, share); e.HeardChars == nil || *e.HeardChars != want || want < strings.Index(answer, "of the") {
			t.Errorf("the transcript has %v of %q as heard, want %d", e.HeardChars, e.Text, want)
		}
	})
}

// Another attempt replaces the output of the previous one.
func TestSegmentsOfAnotherAttempt(t *testing.T) {
	a := &answer{spoken: map[int]said{}}
	a.add("One two three. Four five six. ")
	for _, s := range []said{{"One two three.", spoken.ClassProse, 0, 15}, {"Four five six.", spoken.ClassProse, 15, 30}, {"One two three. Four five six.", spoken.ClassProse, 0, 30}} {
		a.setSpoken(s)
	}
	if len(a.starts) != 1 {
		t.Errorf("segments begin at %v", a.starts)
	}
	last := 0
	for chars := range 31 {
		now := a.heard(chars)
		if now < last || now > 30 {
			t.Errorf("heard %d at %d, after %d", now, chars, last)
		}
		last = now
	}
}
