package realtime

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// stage runs a scenario on the speech queue: each line is a step and its effects.
type stage struct {
	speech
	now time.Time
}

func newStage(markers bool) *stage {
	return &stage{speech: speech{markers: markers}, now: time.Unix(1000, 0)}
}

func parseSegment(s string) (id audio.SegmentID) {
	if _, err := fmt.Sscanf(s, "%d.%d", &id.Gen, &id.Seq); err != nil {
		panic(s)
	}
	return id
}

// do runs a step and returns the actions as text, with the segment that audio was
// delivered to as "heard".
func (s *stage) do(step string) string {
	f := strings.Fields(step)
	arg := func(i int) string {
		if i < len(f) {
			return f[i]
		}
		return ""
	}
	var heard string
	switch f[0] {
	case "speak":
		text := "the tests of the parser pass again"
		if len(f) > 2 {
			text = strings.Join(f[2:], " ")
		}
		s.speak(Segment{ID: parseSegment(f[1]), Text: text}, s.now)
	case "next":
		s.speak(Segment{ID: parseSegment(f[1]), Text: "there is more", Next: true}, s.now)
	case "cancel":
		s.cancel(parseSegment(f[1]+".0").Gen, s.now)
	case "created":
		var meta map[string]string
		if len(f) > 2 {
			id := parseSegment(f[2])
			meta = map[string]string{metaGeneration: fmt.Sprint(id.Gen), metaSegment: fmt.Sprint(id.Seq)}
		}
		s.created(f[1], meta, s.now)
	case "done":
		s.done(f[1], arg(2), s.now)
	case "started":
		s.announce()
	case "stopped":
		s.stopped(arg(1), s.now)
	case "cleared":
		s.cleared(s.now)
	case "refused":
		s.refused(parseSegment(f[1]), f[2], s.now)
	case "transcript":
		s.transcript(f[1], strings.Join(f[2:], " "), s.now)
	case "sound", "silence", "marker", "resume":
		c := chunk{marker: f[0] == "marker", resumes: f[0] == "resume", silent: f[0] == "silence"}
		id, ok := s.audio(c, s.now)
		if ok {
			heard = "heard " + id.String()
		}
		s.now = s.now.Add(20 * time.Millisecond)
	case "pcm", "ends": // of a response
		c := chunk{response: f[1], ends: f[0] == "ends"}
		if !c.ends {
			c.pcm = make([]int16, packetSamples)
		}
		if id, ok := s.audio(c, s.now); ok && !c.ends {
			heard = "heard " + id.String()
		}
		s.settle(s.now)
	case "wait":
		d, err := time.ParseDuration(f[1])
		if err != nil {
			panic(err)
		}
		// Time passes as in the loop: from deadline to deadline.
		end := s.now.Add(d)
		for at := s.deadline(); !at.After(end); at = s.deadline() {
			s.now = latest(s.now, at)
			s.settle(s.now)
		}
		s.now = end
		s.settle(s.now)
	default:
		panic(step)
	}
	out := describe(s.take())
	if heard != "" {
		out = append(out, heard)
	}
	return strings.Join(out, ", ")
}

func describe(actions []action) (out []string) {
	for _, a := range actions {
		switch a.kind {
		case actCreate:
			out = append(out, "create "+a.seg.ID.String())
		case actSpeed:
			out = append(out, fmt.Sprintf("speed %g", a.seg.speed()))
		case actCancel:
			out = append(out, "cancel "+a.id)
		case actClear:
			out = append(out, "clear")
		case actEnded:
			out = append(out, "ended "+a.seg.ID.String())
		case actFailed:
			out = append(out, "failed "+a.seg.ID.String()+" "+a.code)
		case actUnsolicited:
			out = append(out, "unsolicited")
		case actMismatch:
			out = append(out, "mismatch")
		}
	}
	return out
}

// speechScenarios: each line is a step, followed by "=>" and its effects.
var speechScenarios = map[string]struct {
	markers bool
	lines   string
}{
	"a segment that is next comes before those that were not requested": {true, `
			speak 1.1            => create 1.1
			speak 1.2            =>
			speak 1.3            =>
			next 1.9             =>
			created r1 1.1       =>
			marker               => heard 1.1
			sound                => heard 1.1
			done r1              => create 1.9
			created r9 1.9       =>
			done r9              => create 1.2
		`},
	"events only: one after the other, ended by silence": {false, `
			speak 1.1            => create 1.1
			speak 1.2            =>
			sound                =>
			created r1 1.1       =>
			silence              =>
			sound                => heard 1.1
			silence              => heard 1.1
			done r1              =>
			sound                => heard 1.1
			wait 279ms           =>
			wait 1ms             => ended 1.1, create 1.2
			sound                =>
			created r2 1.2       =>
			sound                => heard 1.2
			done r2              =>
			wait 300ms           => ended 1.2
			sound                =>`},
	"events only: silence does not prolong a segment": {false, `
			speak 1.1            => create 1.1
			created r1           =>
			sound                => heard 1.1
			done r1              =>
			silence              => heard 1.1
			wait 279ms           =>
			wait 1ms             => ended 1.1`},
	"events only: the announced end counts, after a grace": {false, `
			speak 1.1            => create 1.1
			created r1           =>
			started              =>
			sound                => heard 1.1
			done r1              =>
			wait 1s              =>
			sound                => heard 1.1
			stopped r1           =>
			sound                => heard 1.1
			wait 59ms            =>
			wait 1ms             => ended 1.1`},
	"events only: an announced end that never comes": {false, `
			speak 1.1            => create 1.1
			created r1           =>
			started              =>
			sound                => heard 1.1
			done r1              =>
			wait 1999ms          =>
			wait 1ms             => ended 1.1`},
	"a stopped without a response id is about the one being heard": {false, `
			speak 1.1            => create 1.1
			created r1           =>
			sound                => heard 1.1
			done r1              =>
			stopped              =>
			wait 80ms            => ended 1.1`},
	"markers: synthesis overlaps playback": {true, `
			speak 1.1            => create 1.1
			speak 1.2            =>
			created r1 1.1       =>
			sound                =>
			marker               => heard 1.1
			done r1              => create 1.2
			sound                => heard 1.1
			created r2 1.2       =>
			done r2              =>
			sound                => heard 1.1
			marker               => ended 1.1, heard 1.2
			sound                => heard 1.2
			stopped r2           =>
			wait 80ms            => ended 1.2`},
	"markers: a marker in the middle is a pause": {true, `
			speak 1.1            => create 1.1
			created r1           =>
			marker               => heard 1.1
			marker               => heard 1.1`},
	"markers: audio may overtake response.created": {true, `
			speak 1.1            => create 1.1
			marker               => heard 1.1
			created r1           =>
			done r1              =>
			stopped r1           =>
			wait 80ms            => ended 1.1`},
	"markers: a lost marker is made up for by the pause": {true, `
			speak 1.1            => create 1.1
			speak 1.2            =>
			created r1           =>
			marker               => heard 1.1
			done r1              => create 1.2
			created r2           =>
			stopped r1           =>
			sound                => heard 1.1
			resume               => ended 1.1, heard 1.2`},
	"markers: the first marker is lost": {true, `
			speak 1.1            => create 1.1
			created r1           =>
			resume               => heard 1.1`},
	"markers: not ahead across generations": {true, `
			speak 1.1            => create 1.1
			speak 2.1            =>
			created r1           =>
			marker               => heard 1.1
			done r1              =>
			stopped r1           =>
			wait 80ms            => ended 1.1, create 2.1`},
	"cancel while waiting": {false, `
			speak 1.1            => create 1.1
			speak 1.2            =>
			created r1           =>
			sound                => heard 1.1
			done r1              =>
			cancel 1             => clear
			sound                =>
			wait 10s             =>`},
	"cancel before response.created": {false, `
			speak 1.1            => create 1.1
			cancel 1             => clear
			speak 2.1            =>
			created r1 1.1       => cancel r1, clear
			sound                =>
			done r1 cancelled    =>
			cleared              =>
			wait 79ms            =>
			wait 1ms             => create 2.1
			created r2 2.1       =>
			sound                => heard 2.1`},
	"cancel before response.created, which never comes": {false, `
			speak 1.1            => create 1.1
			cancel 1             => clear
			speak 2.1            =>
			wait 2999ms          =>
			wait 1ms             => create 2.1`},
	"cancel between created and the first sound": {false, `
			speak 1.1            => create 1.1
			created r1           =>
			cancel 1             => cancel r1, clear
			sound                =>
			done r1 cancelled    =>
			wait 1s              =>
			sound                =>`},
	"cancel while it sounds": {true, `
			speak 1.1            => create 1.1
			speak 1.2            =>
			created r1           =>
			marker               => heard 1.1
			cancel 1             => cancel r1, clear
			sound                =>
			speak 2.1            =>
			done r1 cancelled    =>
			sound                =>
			cleared              =>
			wait 80ms            => create 2.1
			sound                =>
			marker               => heard 2.1`},
	"cancel drops what was made ahead, at once": {true, `
			speak 1.1            => create 1.1
			speak 1.2            =>
			created r1           =>
			marker               => heard 1.1
			done r1              => create 1.2
			created r2           =>
			done r2              =>
			cancel 1             => clear
			speak 2.1            =>
			marker               =>
			cleared              =>
			wait 80ms            => create 2.1`},
	"cancel is idempotent and leaves newer generations": {false, `
			speak 2.1            => create 2.1
			created r1           =>
			cancel 1             =>
			sound                => heard 2.1
			cancel 2             => cancel r1, clear
			cancel 2             =>`},
	"late audio of a service that does not clear is never the next one's": {false, `
			speak 1.1            => create 1.1
			created r1           =>
			sound                => heard 1.1
			cancel 1             => cancel r1, clear
			speak 2.1            =>
			done r1 cancelled    =>
			sound                =>
			wait 250ms           =>
			sound                =>
			wait 279ms           =>
			wait 1ms             => create 2.1
			sound                =>
			created r2           =>
			sound                => heard 2.1`},
	"a service that never stops talking blocks nobody for good": {false, `
			speak 1.1            => create 1.1
			created r1           =>
			sound                => heard 1.1
			cancel 1             => cancel r1, clear
			speak 2.1            =>
			wait 2900ms          =>
			sound                =>
			wait 200ms           =>
			sound                =>
			wait 2s              => create 2.1`},
	"an unsolicited response while nothing is said": {false, `
			created x1           => unsolicited, cancel x1, clear
			sound                =>
			speak 1.1            =>
			done x1 cancelled    =>
			cleared              =>
			wait 80ms            => create 1.1`},
	"an unsolicited response before the first sound: withdrawn and asked again": {false, `
			speak 1.1            => create 1.1
			created r1 1.1       =>
			created x1           => unsolicited, cancel r1, cancel x1, clear
			sound                =>
			done r1 cancelled    =>
			done x1 cancelled    =>
			cleared              =>
			wait 80ms            => create 1.1
			created r2 1.1       =>
			sound                => heard 1.1`},
	"an unsolicited response, known by metadata, before ours is created": {false, `
			speak 1.1            => create 1.1
			created r1 1.1       =>
			sound                => heard 1.1
			done r1              =>
			wait 300ms           => ended 1.1
			speak 1.2            => create 1.2
			created x1           => unsolicited, cancel x1, clear
			created r2 1.2       => cancel r2, clear
			done x1 cancelled    =>
			done r2 cancelled    =>
			cleared              =>
			wait 80ms            => create 1.2`},
	"an unsolicited response while a segment sounds leaves it": {false, `
			speak 1.1            => create 1.1
			created r1 1.1       =>
			sound                => heard 1.1
			created x1           => unsolicited, cancel x1
			sound                => heard 1.1
			done r1              =>
			done x1 cancelled    =>
			stopped r1           =>
			wait 80ms            => ended 1.1`},
	"a repeated event changes nothing": {true, `
			speak 1.1            => create 1.1
			created r1           =>
			created r1           =>
			marker               => heard 1.1
			done r1              =>
			done r1 failed       =>
			stopped r1           =>
			stopped r1           =>
			wait 80ms            => ended 1.1
			stopped r1           =>
			done r1              =>`},
	"refused": {false, `
			speak 1.1            => create 1.1
			speak 1.2            =>
			refused 1.1 rate_limit => failed 1.1 rate_limit, create 1.2
			refused 1.1 again    =>`},
	"what waits is asked for in its order": {false, `
			speak 1.1            => create 1.1
			speak 1.2            =>
			speak 1.3            =>
			speak 1.4            =>
			refused 1.1 rate_limit => failed 1.1 rate_limit, create 1.2
			refused 1.2 rate_limit => failed 1.2 rate_limit, create 1.3
			refused 1.3 rate_limit => failed 1.3 rate_limit, create 1.4`},
	"a refused request that was cancelled is not spoken of": {false, `
			speak 1.1            => create 1.1
			cancel 1             => clear
			speak 2.1            =>
			refused 1.1 rate_limit => create 2.1`},
	"never created": {false, `
			speak 1.1            => create 1.1
			wait 4999ms          =>
			wait 1ms             => failed 1.1 speechTimeout, clear
			speak 1.2            =>
			wait 3s              => create 1.2`},
	"created, then nothing": {false, `
			speak 1.1            => create 1.1
			created r1           =>
			wait 9999ms          =>
			wait 1ms             => failed 1.1 speechTimeout, cancel r1, clear`},
	"completed without a sound": {false, `
			speak 1.1            => create 1.1
			created r1           =>
			done r1              =>
			wait 1999ms          =>
			wait 1ms             => failed 1.1 speechNoAudio`},
	"completed and stopped without a sound": {true, `
			speak 1.1            => create 1.1
			created r1           =>
			done r1              =>
			stopped r1           =>
			wait 80ms            => failed 1.1 speechNoAudio`},
	"failed by the service": {false, `
			speak 1.1            => create 1.1
			created r1           =>
			sound                => heard 1.1
			done r1 server_error => failed 1.1 server_error, clear
			sound                =>
			wait 1s              =>`},
	"said as written": {false, `
			speak 1.1 It's 3 o'clock, Ben! => create 1.1
			created r1           =>
			transcript r1 its 3 oclock ben =>`},
	"a number, in words": {false, `
			speak 1.1 42.        => create 1.1
			created r1           =>
			sound                => heard 1.1
			transcript r1 Forty-two. =>
			sound                => heard 1.1`},
	"said a little differently": {false, `
			speak 1.1 one two three four => create 1.1
			created r1           =>
			transcript r1 one too three four =>`},
	"said something else, which is heard": {false, `
			speak 1.1 Delete the old branch. => create 1.1
			created r1           =>
			sound                => heard 1.1
			transcript r1 I'm sorry, I can't help with that. => mismatch
			sound                => heard 1.1
			done r1              =>
			wait 300ms           => ended 1.1`},
	"said something else, while the one before is still heard": {true, `
			speak 1.1            => create 1.1
			speak 1.2            =>
			created r1           =>
			marker               => heard 1.1
			done r1              => create 1.2
			created r2           =>
			transcript r2 no no no no no no no => mismatch
			sound                => heard 1.1
			marker               => ended 1.1, heard 1.2
			sound                => heard 1.2`},
	"unknown responses": {false, `
			done r9              =>
			transcript r9 hello  =>
			stopped r9           =>
			stopped              =>
			cleared              =>
			sound                =>`},
}

func TestSpeechScenarios(t *testing.T) {
	for name, scenario := range speechScenarios {
		t.Run(name, func(t *testing.T) { newStage(scenario.markers).play(t, scenario.lines) })
	}
}

// play runs the steps of a scenario.
func (s *stage) play(t *testing.T, lines string) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		step, want, _ := strings.Cut(line, "=>")
		step, want = strings.TrimSpace(step), strings.TrimSpace(want)
		if got := s.do(step); got != want {
			t.Fatalf("%s\n got: %s\nwant: %s", step, got, want)
		}
	}
}

// TestSpeechInvariants checks that whatever the service sends, in whatever order, each
// segment is reported at most once, nothing of a cancelled one is delivered, and the
// queue is empty in the end.
func TestSpeechInvariants(t *testing.T) {
	steps := []string{"created r%d", "created r%d 1.%d", "done r%d", "done r%d failed", "stopped r%d", "stopped", "cleared",
		"started", "sound", "sound", "silence", "marker", "resume", "transcript r%d no", "refused 1.%d code", "pcm r%d", "ends r%d", "wait 50ms", "wait 1s"}
	rapid.Check(t, func(t *rapid.T) {
		s := newStage(rapid.Bool().Draw(t, "markers"))
		s.named = rapid.Bool().Draw(t, "named")
		ended := map[string]bool{}
		canceled := uint32(0)
		check := func(step string) {
			for _, out := range strings.Split(s.do(step), ", ") {
				f := strings.Fields(out)
				if len(f) < 2 || f[0] == "create" || f[0] == "cancel" {
					continue
				}
				if parseSegment(f[1]).Gen <= canceled || ended[f[1]] {
					t.Fatalf("%s: %s, which was cancelled or has ended", step, out)
				}
				if f[0] == "ended" || f[0] == "failed" {
					ended[f[1]] = true
				}
			}
		}
		spoken := map[string]bool{}
		gen, seq := uint32(1), 0
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch n := rapid.IntRange(0, 9).Draw(t, "what"); {
			case n < 2:
				seq++
				id := fmt.Sprintf("%d.%d", gen, seq)
				spoken[id] = true
				check("speak " + id)
			case n == 2:
				canceled, gen = gen, gen+1
				check(fmt.Sprintf("cancel %d", canceled))
				for id := range spoken {
					delete(spoken, id)
				}
			default:
				step := rapid.SampledFrom(steps).Draw(t, "step")
				k := rapid.IntRange(1, 4).Draw(t, "k")
				switch strings.Count(step, "%d") {
				case 1:
					step = fmt.Sprintf(step, k)
				case 2:
					step = fmt.Sprintf(step, k, rapid.IntRange(1, max(1, seq)).Draw(t, "seq"))
				}
				check(step)
			}
		}
		for range 100 { // without further events, every wait ends
			check("wait 20s")
		}
		for id := range spoken {
			if !ended[id] {
				t.Fatalf("segment %s has not ended: %d live, %d waiting", id, len(s.live), len(s.waiting))
			}
		}
		if len(s.live)+len(s.waiting) > 0 {
			t.Fatalf("%d live and %d waiting are left", len(s.live), len(s.waiting))
		}
	})
}
