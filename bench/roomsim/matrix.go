package roomsim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/bench/room"
)

// Size is the size of a matrix.
type Size struct {
	Rooms  []string      // of room.Shapes
	Cases  int           // per cell
	Alone  time.Duration // of the assistant's speech in each far-end cell
	Places bool          // also delays, drift, clipping, noise and a quiet person
}

// Quick takes a few minutes on two cores; Full has enough samples for the goals.
func Quick() Size {
	return Size{Rooms: []string{"study", "hall"}, Cases: 20, Alone: time.Minute}
}

// Full is the whole matrix.
func Full() Size {
	var all []string
	for _, s := range room.Shapes {
		all = append(all, s.Name)
	}
	return Size{Rooms: all, Cases: 40, Alone: 10 * time.Minute, Places: true}
}

// The device latencies of a laptop, as measured by portaudio on a sound server.
const (
	laptopRender  = 25 * time.Millisecond
	laptopCapture = 10 * time.Millisecond
)

// usual returns a laptop in a room.
func usual(name string, gain float64) Place {
	return Place{Room: name, EchoGain: gain, Render: laptopRender, Capture: laptopCapture}
}

// places returns the measured places, with their names.
func (z Size) places() (names []string, places []Place) {
	add := func(name string, p Place) { names, places = append(names, name), append(places, p) }
	for _, gain := range []float64{-6, -12} {
		for _, r := range z.Rooms {
			add(fmt.Sprintf("%s, echo %.0f dB", r, gain), usual(r, gain))
		}
	}
	ratios := []float64{10}
	if z.Places {
		ratios = []float64{20, 10, 5}
	}
	for _, snr := range ratios {
		for _, kind := range []string{"fan", "babble"} {
			p := usual("study", -6)
			p.Noise, p.SNR = kind, snr
			add(fmt.Sprintf("study, echo -6 dB, %s at %.0f dB", kind, snr), p)
		}
	}
	if !z.Places {
		return names, places
	}
	const tick = time.Millisecond
	for _, d := range [][2]time.Duration{{10 * tick, 10 * tick}, {40 * tick, 20 * tick}, {80 * tick, 20 * tick}, {200 * tick, 50 * tick}} {
		p := usual("study", -6)
		p.Render, p.Capture = d[0], d[1]
		add(fmt.Sprintf("study, echo -6 dB, delay %v", d[0]+d[1]), p)
	}
	bluetooth := usual("study", -6) // reports less than its delay
	bluetooth.Unreported = 130 * tick
	bluetooth.Render += bluetooth.Unreported
	add(fmt.Sprintf("study, echo -6 dB, delay %v, %v of it unreported", bluetooth.Render+bluetooth.Capture, bluetooth.Unreported), bluetooth)
	for _, ppm := range []float64{-100, 100} {
		p := usual("living", -6)
		p.DriftPPM = ppm
		add(fmt.Sprintf("living, echo -6 dB, drift %+.0f ppm", ppm), p)
	}
	clipped, quiet := usual("study", -6), usual("study", -6)
	clipped.Clip, quiet.Quieter = 0.2, 6
	add("study, echo -6 dB, loudspeaker clips at -14 dB", clipped)
	add("study, echo -6 dB, person 6 dB quieter", quiet)
	return names, places
}

// Profiles lists all profiles; off is measured in one room.
var Profiles = []string{"default", "assertive", "cautious"}

// Matrix returns the cells of a size. The seed draws the cases: two thirds are
// interruptions, the rest backchannels and coughs.
func Matrix(z Size, seed uint64, all []Case) []Cell {
	var cells []Cell
	add := func(c Cell) {
		c.Seed = seed*1000 + uint64(len(cells))
		if c.Alone == 0 && c.Cases == nil {
			c.Cases = draw(all, z.Cases, c.Seed)
		}
		cells = append(cells, c)
	}
	names, places := z.places()
	for _, profile := range Profiles {
		for i, p := range places {
			add(Cell{Name: names[i], Profile: profile, Place: p})
		}
	}
	add(Cell{Name: names[0], Profile: "off", Place: places[0]})
	for _, profile := range Profiles[:2] { // with the third, only words interrupt
		for _, r := range z.Rooms {
			for _, noise := range []string{"", "fan", "babble"} {
				p := usual(r, -6)
				name := fmt.Sprintf("%s, echo -6 dB, assistant alone", r)
				if noise != "" {
					p.Noise, p.SNR = noise, 10
					name += fmt.Sprintf(", %s at 10 dB", noise)
				}
				add(Cell{Name: name, Profile: profile, Place: p, Alone: z.Alone})
			}
		}
	}
	return cells
}

// Opening is the time and setup of the first interruption in a conversation.
type Opening struct {
	After time.Duration // of the assistant's speech
	Place Setup
}

// Setup is the output setup of an Opening.
type Setup string

// The setups.
const (
	NewSpeakers Setup = "loudspeakers, new" // not used before
	// TypedAtOnce is NewSpeakers with a first question typed as the microphone
	// opened, so that the answer starts 0.3 s later. No user is that fast; it shows
	// what is known of the room by then.
	TypedAtOnce   Setup = "loudspeakers, new, answer at 0.3 s"
	KnownSpeakers Setup = "loudspeakers, known"
	Headphones    Setup = "headphones"
	Unprocessed   Setup = "headphones, no processing"
)

// FirstWord is how long the assistant has been audible when its first word is interrupted.
const FirstWord = 100 * time.Millisecond

// String returns the suffix of the names of an Opening's cells.
func (o Opening) String() string { return fmt.Sprintf("%s, after %v", o.Place, o.After) }

// Opened lists the measured openings.
var Opened = func() (all []Opening) {
	for _, p := range []Setup{Headphones, Unprocessed, NewSpeakers, KnownSpeakers, TypedAtOnce} {
		for _, after := range []time.Duration{FirstWord, 500 * time.Millisecond, time.Second, 3 * time.Second} {
			all = append(all, Opening{after, p})
		}
	}
	return all
}()

// cell returns a conversation with one case, after a spoken question if the setup has one.
func (o Opening) cell(r string, asks *Case, said Case) Cell {
	c := Cell{
		Name: fmt.Sprintf("%s, %v", r, o), Profile: "default", Place: usual(r, -6),
		WarmUp: o.After, Known: o.Place == KnownSpeakers, Asks: asks, Cases: []Case{said},
	}
	switch o.Place {
	case Unprocessed:
		c.DSP = &dsp.Config{}
		fallthrough
	case Headphones:
		c.Headphones = true
	case TypedAtOnce:
		c.Asks = nil
	case NewSpeakers, KnownSpeakers:
	}
	return c
}

// minQuestion is the minimum length of a question.
const minQuestion = time.Second

// question returns what the person of a case asks before: another utterance in the
// same voice, or else in the same group.
func question(all []Case, said Case, seed uint64) *Case {
	var other *Case
	for _, i := range pick(seed, len(all)) {
		c := &all[i]
		if c.Kind != BargeIn || c.Group != said.Group || c.ID == said.ID || audio.Duration(c.End-c.Onset) < minQuestion {
			continue
		}
		if c.Voice == said.Voice {
			return c
		}
		if other == nil {
			other = c
		}
	}
	return other
}

// Openings returns conversations whose first case interrupts the assistant's first
// seconds: z.Cases/4 per room and entry of Opened. The answer is to a question that
// the same voice spoke, except with TypedAtOnce. The same people interrupt in all
// setups.
func Openings(z Size, seed uint64, all []Case) []Cell {
	var cells []Cell
	for _, o := range Opened {
		same := uint64(0) // the same for all setups
		for _, r := range z.Rooms {
			for range z.Cases / 4 {
				s := seed*1000 + 600 + uint64(o.After/time.Second)*100 + same
				same++
				for _, k := range pick(s, len(all)) {
					if all[k].Kind == BargeIn && (all[k].Group == Read || all[k].Group == Acted) {
						c := o.cell(r, question(all, all[k], s), all[k])
						c.Seed = s
						cells = append(cells, c)
						break
					}
				}
			}
		}
	}
	return cells
}

// Beginning is a named place whose echo path the canceller does not know.
type Beginning struct {
	Name  string
	place func(room string) Place
}

// Beginnings lists the places of First.
var Beginnings = []Beginning{
	{"echo -6 dB", func(r string) Place { return usual(r, -6) }},
	{"echo -20 dB", func(r string) Place { return usual(r, -20) }},
	{"echo -6 dB, fan at 10 dB", func(r string) Place {
		p := usual(r, -6)
		p.Noise, p.SNR = "fan", 10
		return p
	}},
	{"echo -6 dB, babble at 10 dB", func(r string) Place {
		p := usual(r, -6)
		p.Noise, p.SNR = "babble", 10
		return p
	}},
	{"echo -6 dB, loudspeaker clips at -14 dB", func(r string) Place {
		p := usual(r, -6)
		p.Clip = 0.2
		return p
	}},
	{"echo -6 dB, 130 ms unreported", func(r string) Place {
		p := usual(r, -6)
		p.Unreported = 130 * time.Millisecond
		p.Render += p.Unreported
		return p
	}},
}

// First returns the first seconds of an assistant who answers a spoken question
// without being interrupted, with new devices: every pause is a false trigger. Each
// place occurs z.Cases/4 times per room.
func First(z Size, seed uint64, all []Case) []Cell {
	var cells []Cell
	for i, b := range Beginnings {
		for j, r := range z.Rooms {
			for k := range z.Cases / 4 {
				s := seed*1000 + uint64(300+100*i+20*j+k)
				cells = append(cells, Cell{
					Name: fmt.Sprintf("%s, first %v, %s", r, Settled, b.Name), Profile: "default", Place: b.place(r),
					Seed: s, Alone: Settled, Asks: question(all, Case{Group: Read}, s),
				})
			}
		}
	}
	return cells
}

// Commanded lists when one-word commands are said.
var Commanded = []Opening{
	{FirstWord, Headphones}, {time.Second, Headphones}, {WarmUp, Headphones},
	{FirstWord, NewSpeakers}, {time.Second, NewSpeakers}, {WarmUp, NewSpeakers},
}

// Commands returns conversations whose first case is a single word: the synthetic
// commands, and z.Cases/2 words of people in any language, because few recordings
// contain just a command. The rooms alternate.
func Commands(z Size, seed uint64, all, synthetic []Case) []Cell {
	said := slices.Clone(synthetic)
	for _, k := range pick(seed, len(all)) {
		if c := all[k]; c.OneWord() && (c.Group == Read || c.Group == Acted) && len(said) < len(synthetic)+z.Cases/2 {
			said = append(said, c)
		}
	}
	var cells []Cell
	for _, o := range Commanded {
		for i, c := range said {
			s := seed*1000 + 800 + uint64(i)
			cell := o.cell(z.Rooms[i%len(z.Rooms)], question(all, c, s), c)
			cell.Seed = s
			cells = append(cells, cell)
		}
	}
	return cells
}

// NonInterruptions returns conversations in which a person only coughs, laughs and gives
// backchannels, with the default profile, in each room. The caller sets Words.
func NonInterruptions(z Size, seed uint64, all []Case) []Cell {
	var cells []Cell
	for i, r := range z.Rooms {
		c := Cell{Name: r + ", echo -6 dB", Profile: "default", Place: usual(r, -6), Seed: seed*1000 + 500 + uint64(i)}
		for _, k := range pick(c.Seed, len(all)) {
			if all[k].Kind != BargeIn {
				c.Cases = append(c.Cases, all[k])
			}
		}
		cells = append(cells, c)
	}
	return cells
}

// draw picks n cases, two thirds of them interruptions, in a seeded order. The groups
// alternate, so that each occurs.
func draw(all []Case, n int, seed uint64) []Case {
	random := rand.New(rand.NewPCG(seed, 0xca5e))
	by := map[string][]Case{}
	var keys []string
	for _, i := range random.Perm(len(all)) {
		k := string(all[i].Kind) + "/" + all[i].Group
		if by[k] == nil {
			keys = append(keys, k)
		}
		by[k] = append(by[k], all[i])
	}
	slices.Sort(keys)
	var out []Case
	for _, part := range []struct {
		kind Kind
		n    int
	}{{BargeIn, n - 2*(n/6)}, {Backchannel, n / 6}, {Cough, n / 6}} {
		for left := part.n; left > 0; {
			before := left
			for _, k := range keys {
				// Read speech is the largest group, and counts twice.
				for range map[bool]int{true: 2, false: 1}[k == string(BargeIn)+"/"+Read] {
					if c := by[k]; len(c) > 0 && c[0].Kind == part.kind && left > 0 {
						out, by[k], left = append(out, c[0]), c[1:], left-1
					}
				}
			}
			if left == before {
				break // no more cases
			}
		}
	}
	random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// NewNoises generates the noises. The babble uses read and acted speech.
func NewNoises(seed uint64, says Assistant, all []Case) Noises {
	var people [][]int16
	for _, c := range all {
		if c.Group == Read || c.Group == Acted {
			people = append(people, c.PCM)
		}
	}
	if len(people) < 8 {
		people = append(people, says...) // if there are no recordings
	}
	return Noises{"fan": room.Fan(seed), "babble": room.Babble(seed, people...)}
}
