package speech

import (
	"slices"
	"strings"
	"testing"
)

// The arrows by hand. A cell that changes, an order that does, or a state that
// can no longer be reached turns this red.
func TestEdges(t *testing.T) {
	want := strings.Split(strings.TrimSpace(`
buffering/buffered/held
buffering/end/buffering
buffering/end [all was heard]/closed
buffering/enqueue/buffering
buffering/flush/closed
buffering/restart/buffering
closed/enqueue/buffering
closed/flush/closed
draining/drained/buffering
draining/drained [all was heard]/closed
draining/enqueue/playing
draining/flush/closed
draining/pause/paused
draining/played/draining
draining/restart/buffering
draining/restart [all was heard]/closed
held/end/held
held/enqueue/held
held/flush/closed
held/restart/buffering
held/start/playing
held/start [the line has ended]/draining
paused/drained/buffering
paused/drained [all was heard]/closed
paused/end/paused
paused/enqueue/paused
paused/flush/closed
paused/played/paused
paused/restart/buffering
paused/restart [all was heard]/closed
paused/resume/playing
paused/resume [the line has ended]/draining
playing/drained/buffering
playing/end/draining
playing/enqueue/playing
playing/flush/closed
playing/pause/paused
playing/played/playing
playing/restart/buffering
`), "\n")
	var got []string
	for _, e := range Edges() {
		got = append(got, e.From+"/"+e.On+"/"+e.To)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
