// Package usage computes the cost of service usage from the table of models (internal/services).
//
// A service reports tokens, seconds of audio or nothing; a price is per million tokens,
// per minute of audio, per million characters or per minute of an open session. Usage
// without a known price is counted but has no cost. Local engines are free.
package usage

import (
	"math"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/services"
)

// Use is the usage that a service reported for one request, or the amount sent and
// received if it reported nothing. Input tokens include cached ones.
type Use struct {
	Provider string
	Model    string
	Tokens
	AudioIn, AudioOut time.Duration
	Characters        int64 // of synthesised text
	// Open is the time of a session that is paid by the minute, silence included.
	Open time.Duration
	// More continues a use that was recorded before, so it is no request of its own.
	More bool
	// For is what the model is for, where its price is checked; else "".
	For services.Use
	// Free is set for a server of the user's that needs no key.
	Free bool
	// Price is the user's, and replaces every other; the zero price is free.
	Price *services.Price
}

// Tokens are counts of tokens.
type Tokens struct {
	TextIn, TextCached, TextOut    int64
	AudioIn, AudioCached, AudioOut int64
}

// Input and Output are the sums of both kinds.
func (t Tokens) Input() int64  { return t.TextIn + t.AudioIn }
func (t Tokens) Output() int64 { return t.TextOut + t.AudioOut }

// Local is the provider that runs on this machine, LocalAI a server of the user's, and Compatible
// another server, whose models only share their names with those of the table.
const (
	Local      = "local"
	LocalAI    = "localai"
	Compatible = "compatible"
)

// Nano is an amount of money: a billionth of a US dollar, so that the price of one
// token is a whole number.
type Nano int64

// Dollars is the amount in US dollars.
func (n Nano) Dollars() float64 { return float64(n) / 1e9 }

// FromDollars converts an amount entered by a user.
func FromDollars(d float64) Nano { return Nano(math.Round(d * 1e9)) }

// Rate returns the price that applies to a use; false if it is not known. What is free has the zero
// price.
func (u Use) Rate() (services.Price, bool) {
	switch {
	case u.Price != nil:
		return *u.Price, true
	case u.Provider == Local || u.Provider == LocalAI || u.Free:
		return services.Price{}, true
	case u.Provider == Compatible:
		return services.Price{}, false
	}
	m, _ := services.Of(u.Model)
	if m.Price == nil {
		return services.Price{}, false
	}
	return *m.Price, true
}

// Cost is the cost of a use; false if no price is known.
func (u Use) Cost() (Nano, bool) {
	p, known := u.Rate()
	t := u.Tokens
	switch heard := u.AudioIn + u.AudioOut; {
	case !known:
		return 0, false
	case p == (services.Price{}):
		return 0, true
	case p.SessionMinute > 0: // the time pays for everything in the session
		return FromDollars(u.Open.Minutes() * p.SessionMinute), true
	case t != (Tokens{}) && (p.Tokens() || p.Minute == 0 || heard == 0):
		return perMillion(t.TextIn-t.TextCached, p.TextIn) + perMillion(t.TextCached, p.TextCached) + perMillion(t.TextOut, p.TextOut) +
			perMillion(t.AudioIn-t.AudioCached, p.AudioIn) + perMillion(t.AudioCached, p.AudioCached) + perMillion(t.AudioOut, p.AudioOut), p.Tokens()
	case u.Characters > 0 && p.Characters > 0:
		return perMillion(u.Characters, p.Characters), true
	case heard > 0 && p.Minute > 0:
		return FromDollars(heard.Minutes() * p.Minute), true
	}
	return 0, false
}

// perMillion is the cost of n units at a price in dollars for a million of them. The price of one is a
// whole number of nano-dollars.
func perMillion(n int64, dollars float64) Nano { return Nano(n) * FromDollars(dollars/1e6) }
