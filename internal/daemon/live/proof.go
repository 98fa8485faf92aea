package live

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// A session's model is asked to read a text, and may say something else. What it says is compared with the
// text while it says it (realtime.Handler.SpeechMismatch): a deviation is cut off, and the voice that reads
// word for word says the rest.

// proofLead is how much of such audio is in the player before it is heard: what comes later may still be
// cut off. A session over a WebSocket delivers whole sentences at once.
const proofLead = time.Second

// unproven is audio of a session that waits, or the end of a segment.
type unproven struct {
	seg  audio.SegmentID
	pcm  []int16
	ends bool
}

// proves reports whether what the session says waits for its proof: there is a voice that can say the rest.
func (r *reader) proves() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.own != nil && !r.reads && !r.failed
}

// spoken takes decoded audio of a call's voice, or the end of a segment.
func (v *assistant) spoken(c *call, a unproven) {
	v.proof.Lock()
	defer v.proof.Unlock()
	if len(v.behind) > 0 || c.voice.proves() && v.lead() >= audio.Samples(proofLead) {
		a.pcm = slices.Clone(a.pcm)
		v.behind = append(v.behind, a)
		return
	}
	v.pass(a)
}

func (v *assistant) pass(a unproven) {
	if a.ends {
		v.ended(a.seg)
	} else {
		v.audio(a.seg, a.pcm)
	}
}

// feed gives the player what is due of the audio that waits.
func (v *assistant) feed() {
	v.proof.Lock()
	defer v.proof.Unlock()
	for len(v.behind) > 0 && (v.behind[0].ends || v.lead() < audio.Samples(proofLead)) {
		v.pass(v.behind[0])
		v.behind = v.behind[1:]
	}
}

// drop forgets the waiting audio of a generation and those before it.
func (v *assistant) drop(gen uint32) {
	v.proof.Lock()
	defer v.proof.Unlock()
	v.behind = slices.DeleteFunc(v.behind, func(a unproven) bool { return a.seg.Gen <= gen })
}

// lead returns how much audio the player has that was not heard, in samples.
func (v *assistant) lead() (samples int64) {
	seg, played := v.player.Cursor()
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, p := range v.pieces {
		samples += p.written
		if id == seg {
			samples -= played
		}
	}
	return samples
}

// mismatched handles a segment of which the session says something else after its first right bytes. The
// user is told once per conversation.
func (v *assistant) mismatched(c *call, seg audio.SegmentID, right int) {
	v.w.cfg.Log.Warn().Stringer("segment", seg).Msg("the service did not read the text as it is written")
	if !v.replace(c, seg, right) {
		v.paraphrased.Store(c)
	}
	if v.warned.CompareAndSwap(false, true) {
		v.w.port.Warn(protocol.CodeSpeechMismatch, "")
	}
}

// replace has the voice that reads say a segment from where the session went astray, and what follows it. It
// returns false without such a voice, and if the segment's audio is complete.
func (v *assistant) replace(c *call, seg audio.SegmentID, right int) bool {
	v.proof.Lock()
	defer v.proof.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.pieces[seg]
	if p == nil || p.ended || !c.voice.rest(seg.Gen) {
		return false
	}
	c.voice.session.CancelSpeech(seg.Gen)
	v.behind = slices.DeleteFunc(v.behind, func(a unproven) bool { return a.seg.Gen == seg.Gen && a.seg.Seq >= seg.Seq })
	p.again = true
	p.said.Text = restOf(p.said.Text, min(right, v.said(p)))
	if p.said.Text == "" { // only what it added was astray
		v.behind = append(v.behind, unproven{seg: seg, ends: true})
		seg.Seq++
	}
	v.say(c, seg)
	return true
}

// said estimates how many bytes of a segment's text its audio in the player has said: at a slower pace than
// any voice's, so that no word is left out and a few may be said twice. The caller holds mu.
func (v *assistant) said(p *piece) (bytes int) {
	chars := int(float64(p.written) * p.rate / max(v.pace, slowestSpeech))
	for ; chars > 0 && bytes < len(p.said.Text); chars-- {
		_, n := utf8.DecodeRuneInString(p.said.Text[bytes:])
		bytes += n
	}
	return bytes
}

// restOf returns a text from the beginning of the word at a byte on; of a script without blanks, from that
// byte.
func restOf(text string, at int) string {
	if at >= len(text) {
		return ""
	}
	if blank := strings.LastIndexFunc(text[:at], unicode.IsSpace); blank >= 0 || strings.ContainsFunc(text, unicode.IsSpace) {
		if next, _ := utf8.DecodeRuneInString(text[at:]); !unicode.IsSpace(next) {
			at = blank + 1
		}
	}
	return strings.TrimLeftFunc(text[at:], unicode.IsSpace)
}
