package main

import (
	"flag"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/internal/services"
)

var asOfToday = flag.Bool("today", false, "look at the defaults as of today, not of the last commit")

// hostedDefaults returns where each default model of OpenAI is used. Other rows have names of local servers.
func hostedDefaults() map[string]string {
	used := map[string]string{defaultChatModel: "--agent-model"}
	for _, r := range provider.Rows {
		if r.Home == "" {
			continue
		}
		add := func(model, where string) { used[model] = r.Name + " " + where }
		if r.Session != nil {
			add(r.Session.Model, "session")
		}
		for _, h := range r.Hearing {
			add(h.Model, "hearing over "+string(h.Wire))
			add(h.Converses, "hearing in a session that speaks")
		}
		for _, v := range r.Voice {
			add(v.Model, "voice over "+string(v.Wire))
		}
	}
	delete(used, "")
	return used
}

// ending returns the models that end within sixty days.
func ending(used map[string]string, day time.Time) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if m, _ := services.Of(name); m.EndsBefore(day.Add(endsSoon)) {
			names = append(names, name)
		}
	}
	return names
}

// TestNoDefaultEndsSoon: a default is replaced sixty days before its service ends it. The day is that of the
// last commit, so that an old one stays green; make official uses the real day.
func TestNoDefaultEndsSoon(t *testing.T) {
	day := time.Now()
	if !*asOfToday {
		out, err := exec.Command("git", "log", "-1", "--format=%cI").Output()
		if err == nil {
			day, err = time.Parse(time.RFC3339, strings.TrimSpace(string(out)))
		}
		if err != nil { // an archive has no commits; its table was looked at shortly before
			m, _ := services.Of(defaultChatModel)
			day = m.Looked.Time
		}
	}
	used := hostedDefaults()
	for _, name := range ending(used, day) {
		m, _ := services.Of(name)
		t.Errorf("%s (%s) ends on %v, and this is as of %s; %s takes its place", name, used[name], m.Ends, day.Format(time.DateOnly), m.Instead)
	}
	for name, where := range used {
		if m, ok := services.Of(name); !ok || m.Price == nil {
			t.Errorf("%s (%s) is not in the table, or has no price", name, where)
		}
	}
	old := map[string]string{"gpt-4o-mini-tts": "voice", "gpt-4o-mini-transcribe": "hearing", defaultChatModel: "chat"}
	if got := ending(old, time.Date(2026, 12, 7, 0, 0, 0, 0, time.UTC)); !slices.Equal(got, []string{"gpt-4o-mini-tts"}) {
		t.Errorf("thirty days before the end of gpt-4o-mini-tts, %q end", got)
	}
}
