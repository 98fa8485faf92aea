package live

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hosted"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// reader is the assistant's voice over one call: the session's, or a separate one that
// reads each segment word for word. If both exist, each is the fallback of the other:
// the session speaks if the separate service fails, and the separate voice says the rest
// of what the session does not read as it is written.
type reader struct {
	session Voice
	own     Voice   // nil without a separate voice
	mute    bool    // the session only listens
	beside  *beside // the local engine of own; nil without one

	mu     sync.Mutex
	reads  bool // own is in use
	failed bool // own must not be used again
	// canceled are the generations of which the session says nothing any more, because own says the
	// rest: those before this one.
	canceled uint32
}

// current returns the voice in use.
func (r *reader) current() Voice {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reads {
		return r.own
	}
	return r.session
}

func (r *reader) Speak(s realtime.Segment)           { r.current().Speak(s) }
func (r *reader) Speeds() (slowest, fastest float64) { return r.current().Speeds() }

// read has own say everything from now on.
func (r *reader) read() (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.own == nil || r.reads || r.failed {
		return false
	}
	r.reads = true
	return true
}

// rest is read where the session has begun with a generation.
func (r *reader) rest(gen uint32) (changed bool) {
	if !r.read() {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.canceled = gen + 1
	return true
}

// back has the session say everything, because own failed. It reports whether the session can still say
// something of a generation.
func (r *reader) back(gen uint32) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.own == nil || !r.reads || r.mute {
		return false
	}
	r.reads, r.failed = false, true
	return gen >= r.canceled
}

func (r *reader) CancelSpeech(gen uint32) {
	if r.own != nil {
		r.own.CancelSpeech(gen)
	}
	if !r.mute {
		r.session.CancelSpeech(gen)
	}
}

// Close closes the separate voice. The session belongs to the call.
func (r *reader) Close() error {
	if r.own == nil {
		return nil
	}
	return r.own.Close()
}

// voiceWire returns the wire that the settings select, or else the provider's first
// usable one. model is the model of that wire; "" means that the provider has no
// separate voice.
func voiceWire(set protocol.Settings) (row provider.Row, voice provider.Voice, model string) {
	row, _ = provider.Of(string(set.Speaks()))
	session := set.Speaks() == set.SessionWith()
	for _, v := range row.Voice {
		model := cmp.Or(set.Voice.Model, v.Model)
		usable := map[provider.Wire]bool{provider.Realtime: session, provider.Engine: !session, provider.Speech: model != ""}[v.Wire]
		if usable && (set.Voice.Wire == protocol.WireAuto || set.Voice.Wire == string(v.Wire)) {
			return row, v, model
		}
	}
	return row, provider.Voice{}, ""
}

// proofreader returns the voice that says the rest of what a session says in other words, if it may: the
// same provider's if the settings name its model, or else this machine's.
func proofreader(set protocol.Settings, row provider.Row, session provider.Voice) (provider.Row, provider.Voice, string) {
	if speech, ok := row.Speaks(provider.Speech); ok && set.Voice.Model != "" {
		return row, speech, set.Voice.Model
	}
	if session.Verbatim || row.Session.Live {
		return row, provider.Voice{}, ""
	}
	row, _ = provider.Of(provider.Local)
	voice, _ := row.Speaks(provider.Engine)
	return row, voice, ""
}

// newReader returns the voice of a call.
func (s *service) newReader(set protocol.Settings, session Voice, listens bool, l *hearer) (*reader, error) {
	r := &reader{session: session, mute: listens}
	row, voice, model := voiceWire(set)
	r.reads = voice.Wire != provider.Realtime
	if !r.reads {
		row, voice, model = proofreader(set, row, voice)
	}
	var speak hosted.Speaker
	var done func() error
	switch {
	case voice.Wire == provider.Engine:
		r.beside = newBeside(s, set, r.reads)
		speak, done = r.beside.speak, r.beside.close
	case voice.Wire == provider.Speech:
		var err error
		speak, err = hosted.NewSpeaker(hosted.Config{
			Provider: row, BaseURL: set.VoiceEndpoint(), Model: model, HTTPClient: s.httpClient(set), Log: s.w.cfg.Log,
			Credentials: func(ctx context.Context) (realtime.Credential, error) { return s.credential(ctx, set.Speaks()) },
		}, voice, set.Voice.Name)
		if err != nil {
			return nil, err
		}
		speak = s.countSpeech(set, model, speak)
	case r.reads:
		return nil, &realtime.Error{Code: realtime.CodeConnectionFailed, Message: "the voice cannot be used; check agentvoice.voice.provider and agentvoice.voice.model"}
	default:
		return r, nil
	}
	queue := hosted.NewQueue(speak, listener{l}, hosted.QueueConfig{Slowest: voice.Slowest, Fastest: voice.Fastest, Speed: s.w.cfg.Speed})
	r.own = ownVoice{queue, done}
	return r, nil
}

// ownVoice is a voice with a resource to release.
type ownVoice struct {
	*hosted.Queue
	done func() error // nil if there is nothing to release
}

func (v ownVoice) Close() error {
	err := v.Queue.Close()
	if v.done != nil {
		err = errors.Join(err, v.done())
	}
	return err
}

// listener receives the audio of a call's separate voice.
type listener struct{ *hearer }

// SpeechFailed implements hosted.Listener. The session takes over, unless part of the
// segment was heard.
func (l listener) SpeechFailed(seg audio.SegmentID, code string) {
	if !l.w.aside.of(seg) && l.w.voice.takeOver(l.call, seg, code) {
		return
	}
	l.hearer.SpeechFailed(seg, code)
}

// because returns an error in the user's language, or "" if it has no text.
func (w *World) because(err error) string {
	var e *realtime.Error
	if !errors.As(err, &e) || !protocol.ErrorCode(e.Code).Known() {
		return ""
	}
	return w.port.Spoken(protocol.ErrorCode(e.Code))
}
