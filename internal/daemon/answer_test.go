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
)

// The work for an answer, counted in bytes that are decoded, is a small multiple of
// its length, in however many pieces it comes.
func TestWorkForAnAnswerIsLinear(t *testing.T) {
	const piece = "The parser drops the last line. Ünïcödé is counted by runes, so the test fails.\n\n- one\n- two\n\n"
	for _, size := range []int{20_000, 80_000, 320_000} {
		text := strings.Repeat(piece, size/len(piece))
		c := newContent()
		segments := 0
		s := newSegmenter(c, 1, 0, func(e csm.Event) {
			if seg, ok := e.(csm.CopilotSegment); ok {
				segments++
				_ = c.source(1, seg.Start, seg.End) // as its caption does
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

// An answer finds its characters as counting from the beginning does, wherever the
// pieces were divided, and also where they are no UTF-8.
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

// An answer that comes faster than the core takes it is held up, and one that is no
// longer wanted while it waits adds nothing.
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
	if _, err := a.attempt(ctx, csm.SendCopilot{Request: 1}, copilot.Request{}); err != nil {
		t.Fatal(err)
	}
	if asked != deltas || posted < deltas/2 || posted > 3*deltas/2 {
		t.Errorf("%d of %d pieces waited for room, and %d events were posted", asked, deltas, posted)
	}
}

// sends is an adapter that answers as it says.
type sends func(emit func(string))

func (sends) Name() string { return "sends" }
func (s sends) Send(_ context.Context, _ copilot.Request, emit func(string)) error {
	s(emit)
	return nil
}
