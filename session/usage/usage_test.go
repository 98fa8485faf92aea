package usage

import (
	"testing"
	"time"
)

// Costs calculated manually from the list prices.
func TestCost(t *testing.T) {
	for name, c := range map[string]struct {
		use     Use
		dollars float64
		known   bool
	}{
		"a spoken answer": {Use{Provider: "openai", Model: "gpt-realtime", Tokens: Tokens{TextIn: 1000, TextCached: 400, TextOut: 100, AudioIn: 2000, AudioCached: 500, AudioOut: 600}},
			(600*4 + 400*0.4 + 100*16 + 1500*32 + 500*0.4 + 600*64) / 1e6, true},
		"a snapshot":            {Use{Provider: "azure", Model: "gpt-4o-2024-11-20", Tokens: Tokens{TextIn: 1_000_000}}, 2.5, true},
		"a longer name":         {Use{Provider: "openai", Model: "gpt-4o-mini", Tokens: Tokens{TextIn: 1_000_000}}, 0.15, true},
		"minutes":               {Use{Provider: "openai", Model: "whisper-1", AudioIn: 90 * time.Second}, 0.009, true},
		"minutes of a voice":    {Use{Provider: "openai", Model: "gpt-4o-mini-tts", AudioOut: 4 * time.Minute, Characters: 4000}, 0.06, true},
		"characters":            {Use{Provider: "openai", Model: "tts-1", AudioOut: time.Minute, Characters: 1_000_000}, 15, true},
		"local engine":          {Use{Provider: Local, AudioIn: time.Hour}, 0, true},
		"an unknown model":      {Use{Provider: "openai", Model: "gpt-9", Tokens: Tokens{TextIn: 1000}}, 0, false},
		"a later model":         {Use{Provider: "openai", Model: "gpt-realtime-2", Tokens: Tokens{TextOut: 1000}}, 0.024, true},
		"a later one's date":    {Use{Provider: "openai", Model: "gpt-realtime-2-2026-11-20", Tokens: Tokens{TextOut: 1000}}, 0.024, true},
		"one later still":       {Use{Provider: "openai", Model: "gpt-realtime-3", Tokens: Tokens{TextIn: 1000}}, 0, false},
		"a variant of one":      {Use{Provider: "openai", Model: "gpt-4o-large", Tokens: Tokens{TextIn: 1000}}, 0, false},
		"no price by the token": {Use{Provider: "openai", Model: "whisper-1", Tokens: Tokens{AudioIn: 1000}}, 0, false},
		"nothing reported":      {Use{Provider: "openai", Model: "gpt-4o"}, 0, false},
	} {
		got, known := c.use.Cost()
		if d := got.Dollars() - c.dollars; known != c.known || d > 1e-9 || d < -1e-9 {
			t.Errorf("%s costs %v, %v; want %v, %v", name, got.Dollars(), known, c.dollars, c.known)
		}
	}
}
