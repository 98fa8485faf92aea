// Package usage computes the cost of service usage from one table of prices.
//
// A service reports tokens, seconds of audio or nothing; a price is per million tokens,
// per minute of audio or per million characters. Usage without a known price is counted
// but has no cost. Local engines are free.
package usage

import (
	"regexp"
	"time"
)

// Use is the usage that a service reported for one request, or the amount sent and
// received if it reported nothing. Input tokens include cached ones.
type Use struct {
	Provider string
	Model    string
	Tokens
	AudioIn, AudioOut time.Duration
	Characters        int64 // of synthesised text
}

// Tokens are counts of tokens.
type Tokens struct {
	TextIn, TextCached, TextOut    int64
	AudioIn, AudioCached, AudioOut int64
}

// Input and Output are the sums of both kinds.
func (t Tokens) Input() int64  { return t.TextIn + t.AudioIn }
func (t Tokens) Output() int64 { return t.TextOut + t.AudioOut }

// Local is the provider that runs on this machine.
const Local = "local"

// Nano is an amount of money: a billionth of a US dollar, so that the price of one
// token is a whole number.
type Nano int64

// Dollars is the amount in US dollars.
func (n Nano) Dollars() float64 { return float64(n) / 1e9 }

// FromDollars converts an amount entered by a user.
func FromDollars(d float64) Nano { return Nano(d * 1e9) }

// Cost is the cost of a use; false if no price is known.
func (u Use) Cost() (Nano, bool) {
	if u.Provider == Local {
		return 0, true
	}
	p, ok := priceOf(u.Model)
	if !ok {
		return 0, false
	}
	t := u.Tokens
	if t != (Tokens{}) {
		return Nano((t.TextIn-t.TextCached)*p.textIn + t.TextCached*p.textCached + t.TextOut*p.textOut +
			(t.AudioIn-t.AudioCached)*p.audioIn + t.AudioCached*p.audioCached + t.AudioOut*p.audioOut), p.tokens()
	}
	if u.Characters > 0 && p.characters > 0 {
		return Nano(u.Characters * p.characters), true
	}
	if minutes := u.AudioIn + u.AudioOut; p.minute > 0 && minutes > 0 {
		return Nano(minutes.Milliseconds() * p.minute / 60), true
	}
	return 0, false
}

// snapshot matches a model as it was on a date.
var snapshot = regexp.MustCompile(`^(.+)-\d{4}-\d{2}-\d{2}$`)

// priceOf returns the row of a model. A snapshot such as gpt-4o-2024-11-20 has the price
// of its model; gpt-realtime-2 is another model than gpt-realtime.
func priceOf(model string) (price, bool) {
	p, ok := prices[model]
	if m := snapshot.FindStringSubmatch(model); !ok && m != nil {
		p, ok = prices[m[1]]
	}
	return p, ok
}
