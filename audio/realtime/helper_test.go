package realtime

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// patience is the timeout of a test's waits. It is long, because a busy machine is slow;
// only a failing test waits that long.
const patience = time.Minute

func receive[T any](t testing.TB, ch <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(patience):
		t.Fatalf("%s did not come", what)
	}
	return v
}

func (r *recorder) add(format string, args ...any) { r.calls <- fmt.Sprintf(format, args...) }

// want checks that the next calls of the Handler are these.
func (r *recorder) want(t testing.TB, calls ...string) {
	t.Helper()
	for _, want := range calls {
		if got := receive(t, r.calls, want); got != want {
			t.Fatalf("the handler was told %q, want %q", got, want)
		}
	}
}

// forget drops the calls so far.
func (r *recorder) forget() {
	for {
		select {
		case <-r.calls:
		default:
			return
		}
	}
}

// none fails if the Handler was called.
func (r *recorder) none(t *testing.T) {
	t.Helper()
	select {
	case got := <-r.calls:
		t.Fatalf("the handler was told %q", got)
	default:
	}
}

// connect dials the fake service.
func connect(t *testing.T, f *fakeService, cfg Config) (*Client, *recorder) {
	t.Helper()
	r := newRecorder()
	c, err := Dial(t.Context(), cfg, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, r
}

func seg(gen, seq uint32) Segment {
	return Segment{ID: audio.SegmentID{Gen: gen, Seq: seq}, Turn: 7, Text: "All tests pass."}
}

func created(id string, s Segment) string {
	return fmt.Sprintf(`{"type":"response.created","event_id":"e","response":{"id":%q,"status":"in_progress","metadata":{"turn":"7","segment":"%d","generation":"%d"}}}`,
		id, s.ID.Seq, s.ID.Gen)
}

func done(id, status string) string {
	return fmt.Sprintf(`{"type":"response.done","event_id":"e","response":{"id":%q,"status":%q}}`, id, status)
}

func buffer(what, id string) string {
	return fmt.Sprintf(`{"type":"output_audio_buffer.%s","event_id":"e","response_id":%q}`, what, id)
}
