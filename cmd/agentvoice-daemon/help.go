package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// helpGroups orders the commands in the help of the program.
var helpGroups = []struct{ id, title, commands string }{
	{"talk", "Talk:", "talk watch commands sessions usage"},
	{"setup", "Set up:", "doctor devices models settings words"},
	{"journal", "Look at recorded conversations:", "journals replay timeline"},
	{"serve", "Serve other programs:", "serve realtime-server"},
	{"measure", "Measure and examine:", "bench graph explore"},
	{"other", "Other:", "version help completion"},
}

// helpExamples has command lines of each command, without the program's name.
var helpExamples = map[string][]string{
	"bench hearing":    {"bench hearing", "bench hearing --recordings FOLDER --language de"},
	"bench turn":       {"bench turn --count 50"},
	"bench voice":      {"bench voice --text Hello"},
	"commands":         {"commands", "commands --locale de"},
	"devices":          {"devices"},
	"doctor":           {"doctor", "doctor --sound", "doctor --provider openai --agent openai"},
	"explore":          {"explore --world turns", "explore --budget 90s --progress"},
	"graph":            {"graph", "graph turn --format dot", "graph --list"},
	"journals list":    {"journals list", "journals list FOLDER"},
	"models import":    {"models import FOLDER --name my-voice"},
	"models install":   {"models install", "models install kokoro-82m-int8"},
	"models list":      {"models list", "models list --language de"},
	"models measure":   {"models measure"},
	"models remove":    {"models remove kokoro-82m-int8"},
	"models verify":    {"models verify"},
	"models voices":    {"models voices", "models voices af_heart bf_emma"},
	"realtime-server":  {"realtime-server --api-key-file key.txt", "realtime-server --api-key-file key.txt --agent none --addr 127.0.0.1:9000"},
	"replay":           {"replay journal.jsonl", "replay FOLDER --json"},
	"serve":            {"serve --stdio", "serve --stdio --headless --script script.txt"},
	"sessions":         {"sessions", "sessions --limit 100 --json"},
	"settings check":   {"settings check settings.json"},
	"settings explain": {"settings explain voice.rate"},
	"settings list":    {"settings list"},
	"talk":             {"talk", "talk --agent acp:codex-acp --trust", "talk --set voice.rate=1.2 --set cues.enabled=false", "talk --audio-in wav:question.wav --audio-out wav:answer.wav"},
	"timeline":         {"timeline journal.jsonl -o timeline.html --open"},
	"usage":            {"usage", "usage --since 2026-05-31"},
	"version":          {"version --json"},
	"watch":            {"watch", "watch --list", "watch --words"},
	"words":            {"words", "words FOLDER"},
}

// addHelp groups the commands below root, and gives them examples.
func addHelp(root *cobra.Command) {
	for _, g := range helpGroups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, name := range strings.Fields(g.commands) {
			if c, _, err := root.Find([]string{name}); err == nil {
				c.GroupID = g.id
			}
		}
	}
	for _, c := range commandsBelow(root)[1:] {
		path := strings.TrimPrefix(c.CommandPath(), root.Name()+" ")
		for _, line := range helpExamples[path] {
			c.Example += "\n  " + root.Name() + " " + line
		}
		c.Example = strings.TrimPrefix(c.Example, "\n")
	}
}
