package aec3

import (
	"encoding/binary"
	"math"

	"github.com/tetratelabs/wazero/api"
)

// The levels of Suppress.
const (
	Low = iota
	Moderate
	High
)

// looser is by how much more echo, relative to the near end, the suppressor tolerates at
// each level: the ratios at which it begins, and at which it suppresses all, times this.
// High is AEC3 as it comes, which also attenuates a person who speaks over the echo. With
// Low, voices are detected over an echo as often as with the native library, in
// BenchmarkLibraries of package dsp.
var looser = [...]float32{Low: 32, Moderate: 2, High: 1}

// gains are a state's parameters of the suppressor: GainParameters of
// webrtc::SuppressionGain.
type gains struct {
	memory []byte // the ratios, float32
	stock  [2 * bands]float32
}

const (
	bands = 65
	// The parameters of the two states, at addresses that are the same in each instance,
	// because all start alike: those of normal operation and those while the near end
	// dominates. Before the ratios are the limits of how fast the gain rises and falls.
	normalAddress   = 379160
	dominantAddress = 378372
	mostRise        = 2
	mostFall        = 0.25
	// The ratio at which suppression begins, in the lowest band.
	normalBegins   = 0.3
	dominantBegins = 1.09
)

// findGains takes the parameters from a new memory.
func (c *Canceller) findGains(memory api.Memory) error {
	if !c.normal.take(memory, normalAddress, normalBegins) || !c.dominant.take(memory, dominantAddress, dominantBegins) {
		return errMissing
	}
	return nil
}

// take reports whether the parameters are at the address.
func (g *gains) take(memory api.Memory, address uint32, begins float32) bool {
	const limits = 2 * 4
	rise, _ := memory.ReadFloat32Le(address)
	fall, _ := memory.ReadFloat32Le(address + 4)
	ratios, ok := memory.Read(address+limits, 4*uint32(len(g.stock)))
	if !ok || rise != mostRise || fall != mostFall {
		return false
	}
	g.memory = ratios
	for i := range g.stock {
		g.stock[i] = math.Float32frombits(binary.LittleEndian.Uint32(ratios[4*i:]))
	}
	return g.stock[0] == begins
}

func (g *gains) set(times float32) {
	for i, v := range g.stock {
		binary.LittleEndian.PutUint32(g.memory[4*i:], math.Float32bits(v*times))
	}
}

// Suppress sets how strongly the residual echo is suppressed: Low, Moderate or High, the
// default. It keeps the adaptation.
func (c *Canceller) Suppress(level int) error {
	if !c.cfg.EchoCancellation {
		return nil
	}
	if c.in == nil {
		return errClosed
	}
	times := looser[min(max(level, Low), High)]
	c.normal.set(times)
	c.dominant.set(times)
	return nil
}
