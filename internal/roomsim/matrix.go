package roomsim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/room"
)

// Size says how much a matrix measures.
type Size struct {
	Rooms  []string      // of room.Shapes
	Cases  int           // in a cell
	Alone  time.Duration // of the assistant's speech in each far-end cell
	Places bool          // also delays, drift, clipping, noise and a quiet person
}

// Quick takes a few minutes on two cores; Full measures what the goals ask for.
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

// The devices of a laptop, as portaudio measures them on a sound server.
const (
	laptopRender  = 25 * time.Millisecond
	laptopCapture = 10 * time.Millisecond
)

// usual is a laptop in a room.
func usual(name string, gain float64) Place {
	return Place{Room: name, EchoGain: gain, Render: laptopRender, Capture: laptopCapture}
}

// places are where the person is spoken to, with what each is called.
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
	bluetooth := usual("study", -6) // says less than it takes
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

// Profiles are all of them; off is measured in one room.
var Profiles = []string{"default", "assertive", "cautious"}

// Matrix is the cells of a size. Cases are drawn from all by the seed: two thirds
// are interruptions, the rest is shared by backchannels and coughs.
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
	for _, profile := range Profiles[:2] { // in the third, only words interrupt
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

// Opening is when in a conversation somebody interrupts for the first time.
type Opening struct {
	After time.Duration // of the assistant's speech
	Known bool          // devices that were heard in a conversation before
}

// String is how an Opening's cells end.
func (o Opening) String() string {
	if o.Known {
		return fmt.Sprintf("after %v, known devices", o.After)
	}
	return fmt.Sprintf("after %v, new devices", o.After)
}

// Opened are the openings that are measured.
var Opened = []Opening{{time.Second, false}, {time.Second, true}, {3 * time.Second, false}, {3 * time.Second, true}}

// Openings are conversations whose first case is an interruption in the assistant's
// first seconds: z.Cases/4 in each room of each that is Opened. Known devices and new
// ones are interrupted by the same people.
func Openings(z Size, seed uint64, all []Case) []Cell {
	var cells []Cell
	for _, o := range Opened {
		same := uint64(0) // of the seed, for whether devices are known
		for _, r := range z.Rooms {
			for range z.Cases / 4 {
				c := Cell{
					Name: fmt.Sprintf("%s, echo -6 dB, %v", r, o), Profile: "default", Place: usual(r, -6),
					Seed: seed*1000 + 600 + uint64(o.After/time.Second)*100 + same, WarmUp: o.After, Known: o.Known,
				}
				same++
				for _, k := range pick(c.Seed, len(all)) {
					if all[k].Kind == BargeIn && (all[k].Group == Read || all[k].Group == Acted) {
						c.Cases = []Case{all[k]}
						break
					}
				}
				if c.Cases != nil {
					cells = append(cells, c)
				}
			}
		}
	}
	return cells
}

// Unmeant are conversations in which a person only coughs, laughs and says that they
// listen, with a profile of default, in each room. Words is the caller's to set.
func Unmeant(z Size, seed uint64, all []Case) []Cell {
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

// draw picks n cases: two thirds interruptions, in an order by the seed. The groups
// take turns, so that each is there.
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
				// Read speech is most of what there is, and counts twice.
				for range map[bool]int{true: 2, false: 1}[k == string(BargeIn)+"/"+Read] {
					if c := by[k]; len(c) > 0 && c[0].Kind == part.kind && left > 0 {
						out, by[k], left = append(out, c[0]), c[1:], left-1
					}
				}
			}
			if left == before {
				break // there are no more
			}
		}
	}
	random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// NewNoises makes the noises: the babble is of people who read and act.
func NewNoises(seed uint64, says Assistant, all []Case) Noises {
	var people [][]int16
	for _, c := range all {
		if c.Group == Read || c.Group == Acted {
			people = append(people, c.PCM)
		}
	}
	if len(people) < 8 {
		people = append(people, says...) // where no recordings are at hand
	}
	return Noises{"fan": room.Fan(seed), "babble": room.Babble(seed, people...)}
}
