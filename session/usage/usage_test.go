package usage

import (
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/services"
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

// TestTenModels: models of each kind of price, by what a minute of conversation reports, a user's price
// and what is free.
func TestTenModels(t *testing.T) {
	words := Tokens{TextIn: 2000, TextOut: 200}
	talk := Tokens{AudioIn: 600, AudioOut: 1200}
	own := &services.Price{TextIn: 3, TextOut: 9}
	for _, c := range []struct {
		use     Use
		dollars float64
		known   bool
	}{
		// Tokens.
		{Use{Provider: "openai", Model: "gpt-realtime-2.1", Tokens: talk}, (600*32 + 1200*64) / 1e6, true},
		{Use{Provider: "openai", Model: "gpt-realtime-2.1-mini", Tokens: talk}, (600*10 + 1200*20) / 1e6, true},
		{Use{Provider: "openai", Model: "gpt-6-luna", Tokens: words}, (2000*0.1 + 200*0.5) / 1e6, true},
		{Use{Provider: "openai", Model: "gpt-6.1-sol", Tokens: words}, (2000*2 + 200*10) / 1e6, true},
		// Minutes of audio.
		{Use{Provider: "openai", Model: "gpt-live-transcribe", AudioIn: time.Minute}, 0.017, true},
		{Use{Provider: "openai", Model: "gpt-transcribe", AudioIn: time.Minute}, 0.0045, true},
		{Use{Provider: "azure", Model: "whisper-1", AudioIn: time.Minute}, 0.006, true},
		// Minutes of a session, however much of it is silent. A dated one is that model.
		{Use{Provider: "live", Model: "gpt-live-1", Open: time.Minute}, 0.05, true},
		{Use{Provider: "live", Model: "gpt-live-1.1-2026-11-03", Open: 15 * time.Second}, 0.0125, true},
		{Use{Provider: "live", Model: "gpt-live-1", AudioIn: time.Minute}, 0, true}, // part of the session
		// Not in the table.
		{Use{Provider: "live", Model: "gpt-live-2", Open: time.Minute}, 0, false},
		{Use{Provider: "openai", Model: "gpt-9", Tokens: words}, 0, false},
		{Use{Provider: "openai", Model: "gpt-9", Tokens: words, Price: own}, (2000*3 + 200*9) / 1e6, true},
		// Another server's model of the same name has the user's price, or none.
		{Use{Provider: Compatible, Model: "whisper-1", AudioIn: time.Minute}, 0, false},
		{Use{Provider: Compatible, Model: "whisper-1", AudioIn: time.Minute, Price: &services.Price{Minute: 0.001}}, 0.001, true},
		{Use{Provider: Compatible, Model: "whisper-1", AudioIn: time.Minute, Price: &services.Price{}}, 0, true},
		{Use{Provider: LocalAI, Model: "gpt-4o", Tokens: words}, 0, true},
		{Use{Provider: Compatible, Model: "whisper-1", AudioIn: time.Minute, Free: true}, 0, true},
		// Also what would be free: such a server may pass it on to a paid one.
		{Use{Provider: LocalAI, Model: "gpt-4o", Tokens: words, Price: own}, (2000*3 + 200*9) / 1e6, true},
		{Use{Provider: Local, Model: "gpt-4o", Tokens: words, Price: own}, (2000*3 + 200*9) / 1e6, true},
		{Use{Provider: Compatible, Model: "gpt-4o", Tokens: words, Free: true, Price: own}, (2000*3 + 200*9) / 1e6, true},
		// A service that counts tokens has been heard as well.
		{Use{Provider: Compatible, Model: "x", AudioIn: time.Minute, Tokens: talk, Price: &services.Price{Minute: 0.001}}, 0.001, true},
	} {
		got, known := c.use.Cost()
		if d := got.Dollars() - c.dollars; known != c.known || d > 1e-9 || d < -1e-9 {
			t.Errorf("%s %s costs %v, %v; want %v, %v", c.use.Provider, c.use.Model, got.Dollars(), known, c.dollars, c.known)
		}
	}
}
