package archtest

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// rule says which of our packages the packages of a group may import. Patterns are
// those of path.Match, relative to the module root; a trailing /... matches the
// package and everything below it.
type rule struct {
	group  []string
	may    []string
	reason string
}

// rules is the import law; the first rule that matches a package applies.
var rules = []rule{
	{
		[]string{"csm/connection", "csm/turn", "csm/speech", "csm/history", "csm/hold", "session", "copilot"}, []string{"csm/statechart"},
		"a region of the core imports only the table's types, so that it can be read, tested and replayed in isolation",
	},
	{
		[]string{"csm/statechart", "copilot/spoken", "copilot/reasoning"}, nil,
		"a pure part below or beside the regions imports nothing of ours",
	},
	{
		[]string{"csm"}, []string{"csm/connection", "csm/turn", "csm/speech", "csm/history", "csm/hold", "csm/statechart", "session", "copilot"},
		"the core is a pure function of its regions; if it knew words, wires or devices, a replay would need them",
	},
	{
		[]string{"csm/world"}, []string{"csm", "csm/turn"},
		"the contract of the handlers is shared by all drivers of the core, so it imports the core and no driver",
	},
	{
		[]string{"csm/explore"}, []string{"csm", "csm/world"},
		"it drives the core only by the moves of the world, so that it explores what every other driver does",
	},
	{
		[]string{"csm/dispatch", "csm/journal"}, []string{"csm"},
		"it drives or records the core only by events and effects, so that no region leaks into the loop or the file",
	},
	{
		[]string{"csm/csmtest"}, []string{"csm/...", "session", "copilot"},
		"scenarios and generators use only the core",
	},
	{
		[]string{"copilot/*"}, []string{"copilot", "copilot/reasoning", "internal/git", "internal/procgroup", "internal/workspace"},
		"an adapter answers requests and does not know conversations; with csm it could depend on the state",
	},
	{
		[]string{"session/registry"}, []string{"internal/filelock", "session", "session/usage"},
		"it records sessions in a file shared by daemons; it does not know conversations, so it cannot store them",
	},
	{
		[]string{"session/usage"}, []string{"internal/services"},
		"what something costs follows from what was used and the table of models",
	},
	{
		[]string{"internal/services"}, nil,
		"the table of models is imported by all who speak to a service, pay it or tell of it",
	},
	{
		[]string{"session/*"}, []string{"session"},
		"keys and registries serve a session and do not know conversations",
	},
	{
		[]string{"audio"}, nil,
		"all audio packages import the frames and device interfaces: an import here soon causes a cycle, and cgo must stay at the edge",
	},
	{
		[]string{"audio/hearing", "audio/voice", "audio/turns/sound"}, []string{"audio", "audio/engine"},
		"an engine implements its interface and does not know the server",
	},
	{
		[]string{"audio/engine"}, []string{"internal/workspace"},
		"it starts and supervises the child process, and does not know what the models in it compute",
	},
	{
		[]string{"audio/engine/sherpa"}, []string{"audio/engine"},
		"it computes models in the child process, which gives it frames",
	},
	{
		[]string{"audio/turns/smartturn"}, []string{"audio/engine", "audio/engine/onnx"},
		"it computes a model in the child process, with the one binding of ONNX Runtime",
	},
	{
		[]string{"audio/turns"}, nil,
		"a pause is judged by its evidence alone; every side that hears it shares the judgement",
	},
	{
		[]string{"audio/localrealtime/machine"}, []string{"csm/statechart"},
		"it holds the tables that the embedded server decides by; without other imports, every state can be explored",
	},
	{
		[]string{"audio/localrealtime"}, []string{"audio", "audio/turns", "audio/turns/sound", "audio/localrealtime/machine", "audio/hearing", "audio/voice", "audio/opus", "audio/vad"},
		"the embedded server is a service like any other; if it shared more than codecs with the client, the two could agree on a wrong protocol",
	},
	{
		[]string{"audio/provider"}, []string{"internal/services"},
		"the table of provider capabilities is imported everywhere; the table of models imports nothing",
	},
	{
		[]string{"audio/realtime"}, []string{"audio", "audio/opus", "audio/provider"},
		"the client must use the embedded server only over the wire, like every other provider",
	},
	{
		[]string{"audio/hosted"}, []string{"audio", "audio/hearing", "audio/provider", "audio/realtime", "audio/wavio"},
		"it makes requests to a service with a session's errors and keys, and does not know conversations",
	},
	{
		[]string{"audio/dsp"}, []string{"audio", "audio/aec3"},
		"it maps frames to frames, and does not know what detects or recognizes a voice in them",
	},
	{
		[]string{"audio/aec3"}, nil,
		"it is one canceller of two, with the interface of the other; only audio/dsp selects it",
	},
	{
		[]string{"audio/front"}, []string{"audio", "audio/dsp", "audio/vad"},
		"it combines audio processing and voice detection once, for production and for benches",
	},
	{
		[]string{"audio/engine/onnx"}, nil,
		"it loads models for whoever computes with them, and knows none of them",
	},
	{
		[]string{"audio/hearing/moonshine"}, []string{"audio", "audio/engine", "audio/engine/onnx"},
		"it computes words from audio in the child process, and knows nothing of the server that asks",
	},
	{
		[]string{"audio/vad"}, []string{"audio", "audio/engine/onnx", "audio/turns"},
		"the detector runs in the daemon, with the one binding of ONNX Runtime",
	},
	{
		[]string{"audio/voice/pronounce"}, nil,
		"how a word sounds depends only on the word lists, whatever voice speaks it",
	},
	{
		[]string{"audio/voice/kokoro"}, []string{"audio/engine", "audio/engine/onnx", "audio/voice/pronounce"},
		"it computes audio from text in the child process, and knows nothing of the server that asks",
	},
	{
		[]string{"audio/*"}, []string{"audio"},
		"a device, codec or detector only implements the interfaces of audio, so that a stub can replace it",
	},
	{
		[]string{"protocol/..."}, []string{"protocol/..."},
		"the wire is a separate contract; if it used a type of the core, the core could not change",
	},
	{
		[]string{"internal/assets", "internal/figures", "internal/filelock", "internal/heap", "internal/redact", "internal/memo", "internal/mutant", "internal/procgroup", "internal/protect", "internal/testutil/pulse", "internal/shellcmd", "internal/testutil/tonemodel", "internal/wer", "internal/workspace"}, nil,
		"a helper for all packages imports none of them",
	},
	{
		[]string{"internal/git"}, []string{"internal/procgroup", "internal/workspace"},
		"it reads a hostile repository, and knows nobody who asks",
	},
	{
		[]string{"internal/vocab"}, []string{"internal/git", "internal/workspace"},
		"names come from the workspace alone",
	},
	{
		[]string{"internal/miclock"}, []string{"internal/assets", "internal/filelock"},
		"everything that opens a microphone imports it, so it imports none of that",
	},
	{
		[]string{"internal/models"}, []string{"audio/engine", "internal/assets", "internal/filelock", "internal/procgroup", "internal/workspace"},
		"models are installed and removed outside conversations, so it knows only their files",
	},
	{
		[]string{"internal/testutil/modelmirror"}, []string{"internal/models", "internal/testutil/tonemodel"},
		"it creates the content of a model server for tests of downloads",
	},
	{
		[]string{"internal/timeline"}, []string{"audio", "csm/...", "internal/figures"},
		"a timeline is drawn from a journal alone, so that it can be drawn on another machine",
	},
	{
		[]string{"internal/testutil/speechdata"}, []string{"audio", "audio/wavio"},
		"all tests and benches share the reader of recordings, so it imports none of them",
	},
	{
		[]string{"internal/testutil/audioapi"}, []string{"audio", "audio/hearing", "audio/voice", "audio/wavio"},
		"it is a service for tests and shares nothing with the client except the public reference",
	},
	{
		[]string{"bench/room"}, []string{"audio"},
		"a simulated room maps frames to frames, so that it works with anything",
	},
	{
		[]string{"bench/roomsim"}, []string{"audio", "audio/cue", "audio/dsp", "audio/front", "audio/vad", "audio/portaudio", "audio/voice", "csm", "csm/dispatch", "csm/world", "internal/assets", "internal/testutil/pulse", "bench/room", "internal/testutil/speechdata", "protocol"},
		"it combines the media path and the core as a conversation does, without anything else",
	},
	{
		[]string{"internal/official"}, nil,
		"it checks files against the types of a library that takes minutes to compile, in a separate module so that no build waits for it",
	},
	{
		[]string{"internal/archtest", "internal/contract"}, nil,
		"it reads the tree's source, and builds even when the tree does not",
	},
	{
		[]string{"internal/daemon/...", "internal/gen", "internal/prove/...", "internal/tools/*", "internal/testutil/*", "bench/*"},
		[]string{"audio/...", "bench/...", "copilot/...", "csm/...", "internal/...", "protocol/...", "session/..."},
		"it composes or generates from everything below it; only the command line is above it",
	},
	{
		[]string{"cmd/*"}, []string{"..."},
		"the command line is the only place that picks adapters",
	},
}

func matches(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if p == "..." {
			return true
		}
		if root, all := strings.CutSuffix(p, "/..."); all {
			return pkg == root || strings.HasPrefix(pkg, root+"/")
		}
		ok, err := path.Match(p, pkg)
		if err != nil {
			panic(err) // malformed rule
		}
		return ok
	})
}

func TestImportLaw(t *testing.T) {
	used := make([]bool, len(rules))
	for _, f := range tree(t) {
		i := slices.IndexFunc(rules, func(r rule) bool { return matches(r.group, f.pkg()) })
		if i < 0 {
			t.Errorf("%s: no rule matches package %s; add one that says what it may import, and why", f.path, f.pkg())
			continue
		}
		used[i] = true
		if f.isTest { // tests may import anything
			continue
		}
		for _, p := range f.imports() {
			ours, ok := strings.CutPrefix(p, module+"/")
			if ok && !matches(rules[i].may, ours) {
				t.Errorf("%s imports %s, and package %s may not: %s", f.path, ours, f.pkg(), rules[i].reason)
			}
		}
	}
	for i, r := range rules {
		// Parts that later work brings have their rule already.
		if later := []string{"csm/csmtest", "session/*"}; !used[i] && !slices.Contains(later, r.group[0]) {
			t.Errorf("no package matches the rule of %q; remove it", r.group)
		}
	}
}

// The law must find known breaches.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, pkg string
		want         bool
	}{
		{"csm", "csm", true}, {"csm", "csm/turn", false}, {"csm/...", "csm", true}, {"csm/...", "csm/turn", true},
		{"csm/...", "csmtest", false}, {"audio/*", "audio/vad", true}, {"audio/*", "audio/engine/onnx", false}, {"...", "cmd/x", true},
	} {
		if got := matches([]string{c.pattern}, c.pkg); got != c.want {
			t.Errorf("%q against %q: %v", c.pattern, c.pkg, got)
		}
	}
}
