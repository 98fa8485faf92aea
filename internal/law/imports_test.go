package law

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// rule says which packages of ours the packages of a group may import. Patterns
// are those of path.Match, from the root of the module; a trailing /... stands
// for the package and everything below it.
type rule struct {
	group  []string
	may    []string
	reason string
}

// rules is the import law; of the rules that match a package the first counts.
var rules = []rule{
	{
		[]string{"csm/connection", "csm/turn", "csm/speech", "csm/history", "csm/hold", "session", "copilot"}, []string{"csm/statechart"},
		"it is a region that the core composes: it knows the form of its table and nobody else, so that each can be read, tested and replayed alone",
	},
	{
		[]string{"csm/statechart", "copilot/spoken"}, nil,
		"it is a pure part that stands below or beside the regions: it knows nobody",
	},
	{
		[]string{"csm"}, []string{"csm/connection", "csm/turn", "csm/speech", "csm/history", "csm/hold", "csm/statechart", "session", "copilot"},
		"the core is a pure function of its regions; words, wires and devices are others' business, or a replay would need them",
	},
	{
		[]string{"csm/world"}, []string{"csm", "csm/turn"},
		"it is the contract of the handlers, which every driver of the core shares: it knows the core and no driver",
	},
	{
		[]string{"csm/explore"}, []string{"csm", "csm/world"},
		"it drives the core by the moves of the world alone, so that it explores what every other driver does",
	},
	{
		[]string{"csm/dispatch", "csm/journal"}, []string{"csm"},
		"it drives or records the core by its events and effects alone, so that no region leaks into the loop or the file",
	},
	{
		[]string{"csm/csmtest"}, []string{"csm/...", "session", "copilot"},
		"scenarios and generators see the core and nothing around it",
	},
	{
		[]string{"copilot/*"}, []string{"copilot"},
		"an adapter answers requests and knows nothing of conversations: with csm it could reach into the state",
	},
	{
		[]string{"session/registry"}, []string{"internal/filelock", "session", "session/usage"},
		"it records sessions in a file that daemons share, and knows nothing of conversations: what it does not know it cannot keep",
	},
	{
		[]string{"session/*"}, []string{"session"},
		"keys and registries serve a session and know nothing of conversations",
	},
	{
		[]string{"audio"}, nil,
		"frames and device interfaces are what all audio meets at: an import here is a cycle soon, and cgo must stay at the edge",
	},
	{
		[]string{"audio/localrealtime/stt", "audio/localrealtime/tts"}, []string{"audio"},
		"an engine is behind its interface and knows no server",
	},
	{
		[]string{"audio/localrealtime/sherpa"}, []string{"audio/localrealtime/stt", "audio/localrealtime/tts", "audio/localrealtime/endturn"},
		"the models of one child process hear, speak and end turns: they are behind those interfaces and know no server",
	},
	{
		[]string{"audio/localrealtime/endturn"}, nil,
		"whether a sentence is over is a matter of its words alone",
	},
	{
		[]string{"audio/localrealtime"}, []string{"audio", "audio/localrealtime/endturn", "audio/localrealtime/stt", "audio/localrealtime/tts", "audio/opus", "audio/vad"},
		"the embedded server is a service like any other: it shares codecs with the client and nothing else, or the two would agree by accident",
	},
	{
		[]string{"audio/provider"}, nil,
		"it is the table of what providers can do, which everybody asks",
	},
	{
		[]string{"audio/realtime"}, []string{"audio", "audio/opus", "audio/provider"},
		"the client must meet the embedded server on the wire only, as it meets every other provider",
	},
	{
		[]string{"audio/hosted"}, []string{"audio", "audio/localrealtime/stt", "audio/provider", "audio/realtime", "audio/wavio"},
		"it makes requests to a service with the errors and the keys of a session, and knows no conversation",
	},
	{
		[]string{"audio/front"}, []string{"audio", "audio/dsp", "audio/vad"},
		"it puts the processing and the detection of a voice together once, for whoever holds conversations or measures them",
	},
	{
		[]string{"audio/*"}, []string{"audio"},
		"a device, codec or detector stands alone behind the interfaces of audio, so that it can be replaced by a stub",
	},
	{
		[]string{"protocol/..."}, []string{"protocol/..."},
		"the wire is a contract of its own; with a type of the core in it the core could not change",
	},
	{
		[]string{"internal/assets", "internal/figures", "internal/filelock", "internal/heap", "internal/logid", "internal/mutant", "internal/pulse", "internal/shellcmd", "internal/tonemodel", "internal/vocab", "internal/wer"}, nil,
		"it is a helper that everybody may use, so it uses nobody",
	},
	{
		[]string{"internal/lease"}, []string{"internal/assets", "internal/filelock"},
		"whoever opens a microphone asks it first, so it uses nobody who does",
	},
	{
		[]string{"internal/models"}, []string{"audio/localrealtime/sherpa", "internal/assets", "internal/filelock"},
		"models are installed and removed while no conversation runs, so it knows their files and nothing that talks",
	},
	{
		[]string{"internal/modelmirror"}, []string{"internal/models", "internal/tonemodel"},
		"it makes what a server of models has, for tests of those who download it",
	},
	{
		[]string{"internal/timeline"}, []string{"audio", "csm/...", "internal/figures"},
		"a picture is made from a journal alone, so that one can be drawn on another machine",
	},
	{
		[]string{"internal/speechdata"}, []string{"audio", "audio/wavio"},
		"recordings are read alike by every test and bench, so what reads them knows none of them",
	},
	{
		[]string{"internal/audioapi"}, []string{"audio", "audio/localrealtime/stt", "audio/localrealtime/tts", "audio/wavio"},
		"it is a service that tests make requests to, and shares nothing with the client but what the public reference says",
	},
	{
		[]string{"internal/room"}, []string{"audio"},
		"a simulated room is frames in and frames out, so that anything can be put into one",
	},
	{
		[]string{"internal/roomsim"}, []string{"audio", "audio/cue", "audio/dsp", "audio/front", "audio/vad", "audio/portaudio", "audio/localrealtime/tts", "csm", "csm/dispatch", "csm/world", "internal/assets", "internal/pulse", "internal/room", "internal/speechdata", "protocol"},
		"it puts the media path and the core together as a conversation does, and leaves everything else out",
	},
	{
		[]string{"internal/official"}, nil,
		"it compares files with the types of a library that takes minutes to compile, and is a module of its own so that no build waits for it",
	},
	{
		[]string{"internal/law", "internal/contract"}, nil,
		"it reads the source of the tree, and builds where the tree does not",
	},
	{
		[]string{"internal/daemon/...", "internal/gen", "internal/tools/*"},
		[]string{"audio/...", "copilot/...", "csm/...", "internal/...", "protocol/...", "session/..."},
		"it composes or generates from everything below it; what is above it is the command line",
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
			panic(err) // a rule is malformed
		}
		return ok
	})
}

func TestImportLaw(t *testing.T) {
	used := make([]bool, len(rules))
	for _, f := range tree(t) {
		i := slices.IndexFunc(rules, func(r rule) bool { return matches(r.group, f.pkg()) })
		if i < 0 {
			t.Errorf("%s: package %s is under no rule; add one that says what it may import, and why", f.path, f.pkg())
			continue
		}
		used[i] = true
		if f.isTest { // tests may use whatever proves their package
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
			t.Errorf("no package is under the rule of %q; take it out", r.group)
		}
	}
}

// The law itself must be able to find a breach.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, pkg string
		want         bool
	}{
		{"csm", "csm", true}, {"csm", "csm/turn", false}, {"csm/...", "csm", true}, {"csm/...", "csm/turn", true},
		{"csm/...", "csmtest", false}, {"audio/*", "audio/vad", true}, {"audio/*", "audio/localrealtime/stt", false}, {"...", "cmd/x", true},
	} {
		if got := matches([]string{c.pattern}, c.pkg); got != c.want {
			t.Errorf("%q against %q: %v", c.pattern, c.pkg, got)
		}
	}
}
