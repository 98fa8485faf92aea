package live

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
)

// matched feeds events, one per line, to a matcher and returns what the core receives.
// Positions are in milliseconds.
//
//	voice 100 | silence 400 | gone | committed | empty 1 | pressed 100
//	started A 100 | stopped A 700 | partial A words | settled A words | final A words | doubted A words | failed A | refused A
func matched(t *testing.T, local bool, echo [2]int64, lines string) string {
	t.Helper()
	var last uint64
	var out []string
	port := daemon.Port{
		NewUtterance: func() uint64 { last++; return last },
		Heard: func(epoch uint32, u uint64, said daemon.Transcript) csm.Final {
			class := map[string]csm.Class{"hm": csm.Backchannel}[said.Text]
			return csm.Final{Epoch: epoch, Utterance: u, Class: class, Words: len(strings.Fields(said.Text)), Doubted: !said.Pressed && len(said.Probs) == 0}
		},
		HeardSettled: func(_ uint32, u uint64, said daemon.Transcript) csm.Event {
			out = append(out, fmt.Sprintf("settled %d %s", u, said.Text))
			return nil
		},
		HeardPartly: func(epoch uint32, u uint64, text string) csm.Partial {
			return csm.Partial{Epoch: epoch, Utterance: u, Words: len(strings.Fields(text))}
		},
	}
	m := newMatcher(port, 3, local, func(from, to int64) bool { return from >= echo[0]*48 && to <= echo[1]*48 })
	for _, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		w := strings.Fields(line)
		var ms int64
		_, _ = fmt.Sscan(w[len(w)-1], &ms)
		pos := ms * audio.SampleRate / 1000
		text := ""
		if len(w) > 2 {
			text = strings.Join(w[2:], " ")
		}
		var events []csm.Event
		switch w[0] {
		case "voice":
			events = some(m.voice(pos, 0))
		case "silence":
			events = some(m.silence(pos))
		case "gone":
			events = m.gone()
		case "committed":
			m.committed(0)
		case "empty":
			events = m.empty(uint64(ms))
		case "pressed":
			events = some(m.begin(pos, 0, true))
		case "started":
			events = some(m.started(w[1], pos))
		case "stopped":
			events = some(m.stopped(w[1], pos))
		case "partial":
			events = some(m.partial(w[1], text))
		case "settled":
			m.settled(w[1], daemon.Transcript{Text: text})
		case "final":
			events = m.final(w[1], daemon.Certain(text))
		case "doubted":
			events = m.final(w[1], daemon.Transcript{Text: text})
		case "failed":
			events = some(m.failed(w[1]))
		case "refused":
			events = m.refused(w[1])
		default:
			t.Fatalf("what is %q", line)
		}
		for _, e := range append(events, m.overdue()...) {
			out = append(out, told(e))
		}
	}
	return strings.Join(out, "; ")
}

func told(e csm.Event) string {
	switch e := e.(type) {
	case csm.SpeechStarted:
		return fmt.Sprintf("%d starts %d", e.Utterance, e.Pos/48)
	case csm.SpeechPaused:
		return fmt.Sprintf("%d pauses %d", e.Utterance, e.Pos/48)
	case csm.SpeechResumed:
		return fmt.Sprintf("%d resumes %d", e.Utterance, e.Pos/48)
	case csm.SpeechStopped:
		return fmt.Sprintf("%d ends %d", e.Utterance, e.Pos/48)
	case csm.Partial:
		return fmt.Sprintf("%d so far %d", e.Utterance, e.Words)
	case csm.Final:
		if e.Class == csm.Empty {
			return fmt.Sprintf("%d nothing", e.Utterance)
		}
		if e.Doubted {
			return fmt.Sprintf("%d words %d doubted", e.Utterance, e.Words)
		}
		return fmt.Sprintf("%d words %d", e.Utterance, e.Words)
	case csm.RecognitionLost:
		return fmt.Sprintf("%d lost", e.Utterance)
	case csm.UserInterrupt:
		return "stops"
	default:
		return fmt.Sprintf("%T", e)
	}
}

var matcherCases = []struct {
	name  string
	local bool
	echo  [2]int64
	lines string
	want  string
}{
	{"the service's words are of the voice", true, [2]int64{-1, -1},
		"voice 100\nstarted A 80\nsilence 900\npartial A one\nstopped A 1400\ngone\nfinal A one two",
		"1 starts 100; 1 pauses 900; 1 so far 1; 1 ends 1400; 1 words 2"},
	{"the service is first", true, [2]int64{-1, -1},
		"started A 80\nvoice 100\nstopped A 1400\nfinal A one", "1 starts 100; 1 ends 1400; 1 words 1"},
	{"a voice at the beginning, which the service pads", true, [2]int64{-1, -1},
		"voice 14\nstarted A -20\nsilence 900\npartial A one\nstopped A 1400\ngone\nfinal A one two",
		"1 starts 14; 1 pauses 900; 1 so far 1; 1 ends 1400; 1 words 2"},
	{"the same, heard first by the service", true, [2]int64{-1, -1},
		"started A -20\nvoice 14\nsilence 900\nstopped A 1400\nfinal A one two", "1 starts 14; 1 pauses 900; 1 ends 1400; 1 words 2"},
	{"the same, missed by the detector", true, [2]int64{-1, -1},
		"started A -20\nstopped A 1400\nfinal A one two", "1 starts 0; 1 ends 1400; 1 words 2"},
	{"the words at a pause", true, [2]int64{-1, -1},
		"voice 100\nstarted A 80\nsilence 900\nsettled A one two\nsettled B of another\nstopped A 1400\nfinal A one two",
		"1 starts 100; 1 pauses 900; settled 1 one two; 1 ends 1400; 1 words 2"},
	{"a voice that goes on", true, [2]int64{-1, -1},
		"voice 100\nstarted A 80\nsilence 900\nvoice 1200\nsilence 2000\nstopped A 2500\nfinal A one",
		"1 starts 100; 1 pauses 900; 1 resumes 1200; 1 pauses 2000; 1 ends 2500; 1 words 1"},
	{"a long pause that the service takes for thinking", true, [2]int64{-1, -1},
		"voice 100\nstarted A 80\nsilence 900\ngone\nvoice 3000\nsilence 3500\nstopped A 4500\nfinal A one",
		"1 starts 100; 1 pauses 900; 1 resumes 3000; 1 pauses 3500; 1 ends 4500; 1 words 1"},
	{"a cough that the service does not hear", true, [2]int64{-1, -1},
		"voice 100\nsilence 400\ngone\nvoice 2000\nstarted A 1900\nstopped A 3000\nfinal A one",
		"1 starts 100; 1 pauses 400; 1 ends 400; 1 nothing; 2 starts 2000; 2 ends 3000; 2 words 1"},
	{"two in a row, whose words come late", true, [2]int64{-1, -1},
		"voice 100\nstarted A 80\nsilence 900\nstopped A 1400\nvoice 1600\nstarted B 1500\nfinal A one\nsilence 2500\nstopped B 3000\nfinal B one two",
		"1 starts 100; 1 pauses 900; 1 ends 1400; 2 starts 1600; 1 words 1; 2 pauses 2500; 2 ends 3000; 2 words 2"},
	{"the service parts what the voice does not", true, [2]int64{-1, -1},
		"voice 100\nstarted A 80\nstopped A 1000\nvoice 1100\nstarted B 1050\nfinal A one\nstopped B 2000\nfinal B two",
		"1 starts 100; 1 ends 1000; 2 starts 1100; 1 words 1; 2 ends 2000; 2 words 1"},
	{"the assistant's own voice", true, [2]int64{0, 5000},
		"started A 1000\nstopped A 3000\nfinal A one two\nstarted B 3500\nfailed B", ""},
	{"words that the detector missed", true, [2]int64{-1, -1},
		"started A 1000\nstopped A 3000\nfinal A one two", "1 starts 1000; 1 ends 3000; 1 words 2"},
	{"nothing that the detector missed", true, [2]int64{-1, -1}, "started A 1000\nstopped A 3000\nfinal A", ""},
	{"speech that is not understood", true, [2]int64{-1, -1}, "voice 100\nstarted A 80\nstopped A 900\nfailed A", "1 starts 100; 1 ends 900; 1 lost"},
	{"a speaker who is refused", true, [2]int64{-1, -1},
		"voice 100\nstarted A 80\nstopped A 900\nfinal A one\nvoice 1500\nstarted B 1480\nrefused A\nstopped B 2000\nfinal B hm\nrefused B\nrefused C",
		"1 starts 100; 1 ends 900; 1 words 1; 2 starts 1500; stops; 2 ends 2000; 2 words 1"},
	{"a speaker who is refused, whose words wait", true, [2]int64{-1, -1},
		"started A 1000\nstopped A 1400\nvoice 2100\nfinal A one two\nrefused A\nsilence 2500\nstarted B 2050\nstopped B 2600\nfinal B one",
		"1 starts 2100; 1 pauses 2500; 1 ends 2600; 1 words 1"},
	{"a speaker who is refused, whom the detector missed", true, [2]int64{-1, -1},
		"started A 1000\nstopped A 3000\nfinal A one two\nrefused A", "1 starts 1000; 1 ends 3000; 1 words 2; stops"},
	{"the core ends it", true, [2]int64{-1, -1},
		"voice 100\nstarted A 80\nsilence 900\ncommitted\nvoice 5000\nfinal A one", "1 starts 100; 1 pauses 900; 2 starts 5000; 1 words 1"},
	{"an item that is over before the voice began is not its", true, [2]int64{0, 2000},
		"started A 100\nstopped A 700\nvoice 4000\nfinal A one\nstarted B 3900\nstopped B 5000\nfinal B two",
		"1 starts 4000; 1 ends 5000; 1 words 1"},
	{"without a detector the items are the utterances", false, [2]int64{-1, -1},
		"started A 80\npartial A one\nstopped A 1400\nstarted B 1500\nfinal A one\nstopped B 2000\nfailed B",
		"1 starts 80; 1 so far 1; 1 ends 1400; 2 starts 1500; 1 words 1; 2 ends 2000; 2 lost"},
	{"words that the service doubts", true, [2]int64{-1, -1}, "voice 100\nstarted A 80\nstopped A 900\ndoubted A one", "1 starts 100; 1 ends 900; 1 words 1 doubted"},
	{"it doubts words that nobody was heard to say", true, [2]int64{-1, -1}, "started A 1000\nstopped A 3000\ndoubted A one", "1 starts 1000; 1 ends 3000; 1 words 1 doubted"},
	{"by hand, which leaves no doubt", false, [2]int64{-1, -1}, "pressed 100\ncommitted\ndoubted A one", "1 starts 100; 1 words 1"},
	{"by hand, without a sound", false, [2]int64{-1, -1},
		"pressed 100\ncommitted\npressed 900\ncommitted\nempty 1\nfinal A one", "1 starts 100; 2 starts 900; 1 nothing; 2 words 1"},
	{"a commit that crosses the service's own", true, [2]int64{-1, -1},
		"voice 100\nstarted A 80\nsilence 900\ncommitted\nempty 1\nstopped A 1400\nfinal A one", "1 starts 100; 1 pauses 900; 1 words 1"},
	{"words made of the silence after such a commit", true, [2]int64{-1, -1},
		"voice 100\nstarted A 80\nsilence 900\ncommitted\nstopped A 1400\nfinal A one\nfinal B thank you", "1 starts 100; 1 pauses 900; 1 words 1"},
	{"such a silence is not the next utterance", true, [2]int64{-1, -1},
		"voice 100\nstarted A 80\nsilence 900\ncommitted\nstopped A 1400\nvoice 2000\nfinal A one\nfinal B thank you\nstarted C 1900\nstopped C 3000\nfinal C two",
		"1 starts 100; 1 pauses 900; 2 starts 2000; 1 words 1; 2 ends 3000; 2 words 1"},
	{"by hand, with words on the way", false, [2]int64{-1, -1},
		"pressed 100\ncommitted\npartial A one\nfinal A one two", "1 starts 100; 1 so far 1; 1 words 2"},
	{"by hand", false, [2]int64{-1, -1}, "pressed 100\nvoice 300\nsilence 500\ngone\ncommitted\nfinal A one", "1 starts 100; 1 words 1"},
	{"by hand, twice", false, [2]int64{-1, -1},
		"pressed 100\ncommitted\npressed 900\ncommitted\nfinal A one\nfinal B one two", "1 starts 100; 2 starts 900; 1 words 1; 2 words 2"},
}

func TestMatcher(t *testing.T) {
	for _, c := range matcherCases {
		t.Run(c.name, func(t *testing.T) {
			if got := matched(t, c.local, c.echo, c.lines); got != c.want {
				t.Errorf("the core is told\n%s, want\n%s", got, c.want)
			}
		})
	}
}

// TestMatcherAtAnyPosition: where the audio began to count changes nothing, also before 0. Only
// words without a voice are placed at 0 then.
func TestMatcherAtAnyPosition(t *testing.T) {
	position := regexp.MustCompile(`(voice|silence|pressed|started \w|stopped \w|starts|pauses|resumes|ends) -?\d+`)
	for _, c := range matcherCases {
		if c.echo[0] >= 0 || strings.HasPrefix(c.lines, "started") && c.local {
			continue
		}
		for _, by := range []int{-100, -1100, -60_000, 60_000} {
			move := func(text string) string {
				return position.ReplaceAllStringFunc(text, func(found string) string {
					at := strings.LastIndexByte(found, ' ') + 1
					ms, _ := strconv.Atoi(found[at:])
					return found[:at] + strconv.Itoa(ms+by)
				})
			}
			if got, want := matched(t, c.local, c.echo, move(c.lines)), move(c.want); got != want {
				t.Errorf("%s, moved by %d ms: the core is told\n%s, want\n%s", c.name, by, got, want)
			}
		}
	}
}

// Words without a voice that the local detector heard are marked, and words under a pressed key.
func TestMatcherKnowsTheVoice(t *testing.T) {
	for _, local := range []bool{true, false} {
		var got []daemon.Transcript
		m := newMatcher(daemon.Port{
			NewUtterance: func() uint64 { return uint64(len(got)) + 1 },
			Heard: func(_ uint32, _ uint64, said daemon.Transcript) csm.Final {
				got = append(got, said)
				return csm.Final{}
			},
		}, 3, local, func(int64, int64) bool { return false })
		m.started("A", 4800)
		m.stopped("A", 9600)
		m.final("A", daemon.Certain("yes"))
		m.overdue()
		m.voice(48000, 0)
		m.started("B", 48000)
		m.silence(52800)
		m.final("B", daemon.Certain("yes"))
		m.begin(96000, 0, true)
		m.committed(0)
		m.final("C", daemon.Certain("yes"))
		if len(got) != 3 || got[0].Unvoiced != local || got[1].Unvoiced || got[2].Unvoiced || got[0].Pressed || got[1].Pressed || !got[2].Pressed {
			t.Errorf("local %v: %+v", local, got)
		}
	}
}

// Words of a voice that was given up before the service heard it, on a busy machine, arrive while the
// user speaks again: they wait until the core can take them, and are not lost.
func TestMatcherKeepsOverdueWords(t *testing.T) {
	got := matched(t, true, [2]int64{}, `
		voice 100
		silence 1000
		gone
		started A 90
		stopped A 1100
		voice 2000
		final A what did I change
		final C and why
		silence 2500
		started B 1990
		stopped B 2600
		final B where is it`)
	want := "1 starts 100; 1 pauses 1000; 1 ends 1000; 1 nothing; 2 starts 2000; 2 pauses 2500; 2 ends 2600; " +
		"3 starts 90; 3 ends 1100; 3 words 4; 2 words 3"
	if got != want {
		t.Errorf("the core is told\n%s, want\n%s", got, want)
	}
}

// With a service that reports a voice by its words only, an utterance waits for them
// after its voice has ended, and ends without words if none arrive.
func TestMatcherWaitsForWords(t *testing.T) {
	var last uint64
	m := newMatcher(daemon.Port{
		NewUtterance: func() uint64 { last++; return last },
		Heard: func(epoch uint32, u uint64, said daemon.Transcript) csm.Final {
			return csm.Final{Epoch: epoch, Utterance: u, Words: len(strings.Fields(said.Text))}
		},
	}, 3, true, func(int64, int64) bool { return true })
	m.wordsOnly = true
	var out []string
	note := func(events ...csm.Event) {
		for _, e := range events {
			out = append(out, told(e))
		}
	}
	note(m.voice(4800, 0), m.silence(9600))
	note(m.gone()...)
	u := m.open()
	note(some(m.started("A", 480000))...) // the words arrive late, while the assistant speaks
	note(m.unheard(u)...)
	note(m.stopped("A", 14400))
	note(m.final("A", daemon.Certain("stop it"))...)
	note(m.voice(48000, 0), m.silence(52800)) // a cough
	note(m.gone()...)
	u = m.open()
	note(m.unheard(u)...)
	note(m.unheard(u)...)
	want := "1 starts 100; 1 pauses 200; 1 ends 300; 1 words 2; 2 starts 1000; 2 pauses 1100; 2 ends 1100; 2 nothing"
	if got := strings.Join(out, "; "); got != want {
		t.Errorf("the core is told\n%s, want\n%s", got, want)
	}
}

// With a service that drops a turn silently, the utterance ends without words long after its voice, and
// the next one has its own.
func TestMatcherGivesUpAnItem(t *testing.T) {
	var last uint64
	m := newMatcher(daemon.Port{
		NewUtterance: func() uint64 { last++; return last },
		Heard: func(epoch uint32, u uint64, said daemon.Transcript) csm.Final {
			return csm.Final{Epoch: epoch, Utterance: u, Words: len(strings.Fields(said.Text))}
		},
	}, 3, true, func(int64, int64) bool { return false })
	m.wordsOnly = true
	var out []string
	note := func(events ...csm.Event) {
		for _, e := range events {
			if e != nil {
				out = append(out, told(e))
			}
		}
	}
	note(m.voice(4800, 0), m.started("turn_1", 48000), m.silence(9600))
	note(m.gone()...)
	u := m.open()
	note(m.undecided(u)...)
	note(m.undecided(u)...)
	note(m.voice(480000, 0), m.started("turn_1", 504000))
	note(m.undecided(m.open())...) // the voice goes on
	note(m.stopped("turn_1", 528000))
	note(m.final("turn_1", daemon.Certain("go on"))...)
	want := "1 starts 100; 1 pauses 200; 1 ends 200; 1 nothing; 2 starts 10000; 2 ends 11000; 2 words 2"
	if got := strings.Join(out, "; "); got != want {
		t.Errorf("the core is told\n%s, want\n%s", got, want)
	}
}

// TestMatcherKnowsWhatIsJoined: the items that were recognised as one are utterances of the core, if all of
// them are.
func TestMatcherKnowsWhatIsJoined(t *testing.T) {
	var last uint64
	port := daemon.Port{
		NewUtterance: func() uint64 { last++; return last },
		Heard: func(epoch uint32, u uint64, _ daemon.Transcript) csm.Final {
			return csm.Final{Epoch: epoch, Utterance: u}
		},
	}
	m := newMatcher(port, 3, false, func(int64, int64) bool { return false })
	for i := range int64(3 * mostNames) {
		name := fmt.Sprint("item", i)
		m.started(name, i*480000)
		m.stopped(name, i*480000+48000)
		m.final(name, daemon.Transcript{Text: "words"})
	}
	if got := m.before([]string{"item46", "item47"}); !slices.Equal(got, []uint64{47, 48}) {
		t.Errorf("the utterances are %v", got)
	}
	if got := m.before([]string{"item1", "item47"}); got != nil {
		t.Errorf("of forgotten items, the utterances are %v", got)
	}
	if len(m.names) > mostNames {
		t.Errorf("%d names are kept", len(m.names))
	}
}
