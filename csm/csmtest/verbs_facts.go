package csmtest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
)

var _ = addVerbs(map[string]func(*player, *words) error{
	"vad.start":   (*player).onset,
	"vad.end":     func(p *player, w *words) error { return p.voiceFact("vad.end", w, nil) },
	"vad.pause":   func(p *player, w *words) error { return p.voiceFact("vad.pause", w, nil) },
	"vad.resume":  func(p *player, w *words) error { return p.voiceFact("vad.resume", w, nil) },
	"stt.partial": func(p *player, w *words) error { return p.heardWords("stt.partial", w) },
	"stt.final":   func(p *player, w *words) error { return p.heardWords("stt.final", w) },
	"stt.failed": func(p *player, w *words) error {
		return p.voiceFact("stt.failed", w, map[string]any{"Code": csm.Code(w.word())})
	},
	"copilot": (*player).copilot,
	"speech":  (*player).speech,
	"tool":    func(p *player, w *words) error { return p.terminal("CallTool", "tool.done", "tool.done", w) },
	"search":  func(p *player, w *words) error { return p.terminal("SearchTools", "tools.found", "tools.found", w) },
	"summary": func(p *player, w *words) error {
		return p.terminal("Summarise", "history.summarised", "history.summarised", w)
	},
	"model":      (*player).model,
	"session":    func(p *player, w *words) error { return p.resource(sessionFacts, w) },
	"device":     func(p *player, w *words) error { return p.resource(deviceFacts, w) },
	"microphone": func(p *player, w *words) error { return p.oneDevice(csm.Microphone, w) },
	"speaker":    func(p *player, w *words) error { return p.oneDevice(csm.Speaker, w) },
	"connection": func(p *player, w *words) error { return p.resource(connectionFacts, w) },
})

// onset starts the next utterance, or the named one: vad.start [of N].
func (p *player) onset(w *words) error {
	p.voice++
	return p.voiceFact("vad.start", w, nil)
}

// voiceFact is a fact about the last utterance or utterance N: vad.end [of N].
func (p *player) voiceFact(kind string, w *words, fields map[string]any) error {
	u := p.voice
	if w.is("of") {
		n, err := w.number()
		if err != nil {
			return err
		}
		u, p.voice = n, max(n, p.voice)
	}
	var late time.Duration
	if w.is("noticed") {
		var err error
		if late, err = w.duration(); err != nil {
			return err
		}
		w.is("later")
	}
	return p.make(kind, map[string]any{
		"Epoch": connection.Epoch(p.state.Conn), "Utterance": u, "Pos": (p.clock.Now() - late).Milliseconds() * samplesPerMillisecond, "Late": late,
	}, fields)
}

// classes are the names of the classes of utterances, in order of their values.
var classes = func() (names []string) {
	for c := range csm.NumClasses {
		names = append(names, c.String())
	}
	return names
}()

// ownClass maps utterances to a class other than content.
var ownClass = map[string]string{"": "empty", "mm-hm": "backchannel", "uh-huh": "backchannel", "okay": "agree", "stop": "stop", "yes": "yes", "no": "no", "send it": "send", "hold on": "pause", "wait": "pause", "continue": "continue",
	"yes, but": "unclear", "permission granted": "assent", "hey computer": "attention"}

// heardWords is stt.partial and stt.final "words" [as CLASS] [named] [of N]. The
// words determine the count and, by default, the class.
func (p *player) heardWords(kind string, w *words) error {
	s, ok := w.text()
	if !ok {
		return fmt.Errorf("missing words; write %s \"words\"", kind)
	}
	class, ok := ownClass[s]
	if !ok {
		class = "content"
	}
	if w.is("as") {
		class = w.word()
	}
	n := -1
	for i, name := range classes {
		if name == class {
			n = i
		}
	}
	if n < 0 {
		return fmt.Errorf("unknown class %q; use one of %s", class, strings.Join(classes, ", "))
	}
	return p.voiceFact(kind, w, map[string]any{"Words": len(strings.Fields(s)), "Class": n, "Named": w.is("named"), "Doubted": w.is("doubted")})
}

// copilot is the assistant's progress on its last request:
//
//	copilot gets it [attempt N]                 the attempt was sent
//	copilot thinks                              a sign of an answer
//	copilot acts                                the agent runs a tool by itself
//	copilot says "..." | N characters [in N segments]
//	copilot answers "..." | N characters [in N segments]     says, then done; a text may end with a question
//	copilot calls tool N [destructive] [reading] [allowed]
//	copilot is done | is cancelled | fails CODE
//
// append "for request N" for another request.
func (p *player) copilot(w *words) error {
	head, req, other := strings.Cut(w.rest, " for request ")
	fields := map[string]any{}
	if f, ok := p.latest["SendCopilot"]; ok {
		fields = flat(f)
	}
	if w.rest = head; other {
		r := words{rest: req}
		n, err := r.number()
		if err != nil {
			return err
		}
		fields["Request"] = n
	}
	switch what := w.word(); what {
	case "gets":
		n := uint64(1)
		if w.is("it attempt") {
			var err error
			if n, err = w.number(); err != nil {
				return err
			}
		}
		w.is("it")
		return p.make("copilot.request", fields, map[string]any{"Attempt": n})
	case "thinks":
		return p.make("copilot.delta", fields, map[string]any{"Chars": p.said})
	case "acts":
		return p.make("copilot.delta", fields, map[string]any{"Chars": p.said, "Acted": true})
	case "says":
		return p.saysText(w, fields)
	case "answers":
		asks := strings.HasSuffix(strings.TrimSpace(w.rest), `?"`)
		if err := p.saysText(w, fields); err != nil {
			return err
		}
		return p.make("copilot.done", fields, map[string]any{"Asks": asks})
	case "calls":
		w.is("tool")
		n, err := w.number()
		p.tool = n
		if err != nil {
			return err
		}
		return p.make("copilot.toolCall", fields, map[string]any{"ToolCall": n, "Destructive": w.is("destructive"), "Reads": w.is("reading"), "Allowed": w.is("allowed")})
	case "fails":
		return p.make("copilot.done", fields, map[string]any{"Code": csm.Code(w.word())})
	case "is":
		if w.is("cancelled") {
			return p.make("copilot.done", fields, map[string]any{"Cancelled": true})
		}
		if w.is("done") {
			return p.make("copilot.done", fields)
		}
		return errors.New("copilot is done or is cancelled")
	default:
		return fmt.Errorf("unknown copilot action %q", what)
	}
}

// saysText extends the answer by the length of a text or a number of characters.
func (p *player) saysText(w *words, fields map[string]any) error {
	s, ok := w.text()
	n := uint64(len([]rune(s)))
	if !ok {
		var err error
		if n, err = w.number(); err != nil || !w.is("characters") {
			return fmt.Errorf("write \"a text\" or N characters")
		}
	}
	parts := uint64(1)
	if w.is("in") {
		var err error
		if parts, err = w.number(); err != nil || parts == 0 || !(w.is("segments") || w.is("segment")) {
			return fmt.Errorf("write \"in N segments\"")
		}
	}
	start := p.said
	for i := range parts {
		end := start + int(n*(i+1)/parts)
		part := map[string]any{"Start": p.said, "End": end, "Chars": end}
		p.said = end
		if err := p.make("copilot.delta", fields, part); err != nil {
			return err
		}
		if err := p.make("copilot.segment", fields, part); err != nil {
			return err
		}
	}
	return nil
}

// speech is a report of the loudspeaker:
//
//	speech is buffered [segment N]
//	speech heard [segment N]        the next segment was played
//	speech drained [segment N]      everything was played
//	speech silent [at N of N samples in segment N]
//	speech reaches N of N samples [in segment N]
//	speech fails CODE
func (p *player) speech(w *words) error {
	line, open := speech.LineOf(p.state.Speech)
	next, last := p.state.IDs.Segment, p.state.IDs.Segment
	if open && line.Played < len(line.Segments) {
		next = line.Segments[line.Played].Seq
	}
	gen := p.state.Speech.Generation()
	what := w.word()
	var at, of uint64
	if what == "silent" && w.is("at") || what == "reaches" {
		var err [2]error
		at, err[0] = w.number()
		w.is("of")
		of, err[1] = w.number()
		if e := errors.Join(err[:]...); e != nil {
			return e
		}
		w.is("samples")
		w.is("in")
	}
	code := csm.Code("")
	if what == "fails" {
		code = csm.Code(w.word())
	}
	if w.is("segment") {
		n, err := w.number()
		if err != nil {
			return err
		}
		next, last = uint32(n), uint32(n)
	}
	switch what {
	case "is":
		w.is("buffered")
		w.is("segment")
		if w.peek() != "" {
			n, err := w.number()
			if err != nil {
				return err
			}
			next = uint32(n)
		}
		return p.happen(csm.SpeechBuffered{Gen: gen, Seq: next})
	case "heard":
		return p.happen(csm.SpeechPlayed{Gen: gen, Seq: next})
	case "drained":
		return p.happen(csm.SpeechDrained{Gen: gen, Seq: last})
	case "fails":
		return p.happen(csm.SpeechFailed{Gen: gen, Seq: next, Code: code})
	case "reaches":
		return p.happen(csm.SpeechCursor{Gen: gen, Seq: next, Played: int64(at), Of: int64(of), Buffered: int64(of - min(at, of))})
	case "silent":
		e := csm.SpeechFlushed{Gen: gen - 1, Played: int64(at), Of: int64(of)}
		if of > 0 {
			e.Seq = next
		}
		return p.happen(e)
	default:
		return fmt.Errorf("unknown speech report %q; use is buffered, heard, drained, silent, reaches or fails", what)
	}
}

// terminal answers the last effect of a name: is done, finds N tools, is cancelled, or
// fails CODE.
func (p *player) terminal(effect, done, failed string, w *words) error {
	f, ok := p.latest[effect]
	if !ok {
		return fmt.Errorf("no %s to answer", effect)
	}
	switch {
	case w.is("done"):
		return p.make(done, flat(f))
	case w.is("is cancelled"):
		return p.make(done, flat(f), map[string]any{"Cancelled": true})
	case w.is("fails"):
		return p.make(failed, flat(f), map[string]any{"Code": csm.Code(w.word())})
	case w.is("finds"):
		n, err := w.number()
		w.is("tools")
		if err != nil {
			return err
		}
		return p.make(done, flat(f), map[string]any{"Tools": n})
	default:
		return errors.New("use is done, is cancelled, finds N tools, or fails CODE")
	}
}

// model is "model ready", "model fails CODE" and "model loaded N percent".
func (p *player) model(w *words) error {
	if w.is("loaded") {
		n, err := w.number()
		w.is("percent")
		f, ok := p.latest["LoadModel"]
		if err != nil || !ok {
			return fmt.Errorf("no model is loading, or invalid number: %w", err)
		}
		return p.make("model.progress", flat(f), map[string]any{"Percent": n})
	}
	if w.is("ready") {
		return p.terminal("LoadModel", "model.ready", "", &words{rest: "done"})
	}
	return p.terminal("LoadModel", "model.ready", "model.failed", w)
}

// Facts about resources, by their word in scenarios. A code, if any, follows the word.
var (
	sessionFacts = map[string]string{
		"ready": "session.ready", "fails": "session.failed", "renewal": "session.renewal", "renewed": "session.renewed",
		"closed": "session.closed", "expiring": "session.expiring",
	}
	deviceFacts = map[string]string{
		"primed": "audio.primed", "ready": "audio.ready", "fails": "audio.failed", "lost": "device.lost", "restored": "device.restored", "closed": "audio.closed",
	}
	connectionFacts = map[string]string{"ready": "conn.ready", "lost": "conn.lost", "fails": "conn.failed", "closed": "conn.closed"}
)

// oneDevice is "microphone lost", "speaker restored" and the like; "device lost" loses both.
func (p *player) oneDevice(d csm.Device, w *words) error {
	what := w.word()
	if what != "lost" && what != "restored" {
		return fmt.Errorf("unknown fact %q; use lost or restored", what)
	}
	return p.make("device."+what, map[string]any{"Instance": p.state.Instance, "Device": d})
}

func (p *player) resource(facts map[string]string, w *words) error {
	what := w.word()
	kind, ok := facts[what]
	if !ok {
		return fmt.Errorf("unknown fact %q; use one of %v", what, reflect.ValueOf(facts).MapKeys())
	}
	fields := map[string]any{"Instance": p.state.Instance, "Epoch": p.state.IDs.Epoch}
	if what == "lost" { // the open one; the others concern the last dial
		fields["Epoch"] = connection.Epoch(p.state.Conn)
	}
	switch code := csm.Code(w.word()); {
	case code != "":
		fields["Code"] = code
	case what == "lost":
		fields["Code"] = csm.CodeConnectionLost
	case what == "fails":
		return errors.New("missing failure code")
	}
	return p.make(kind, fields)
}
