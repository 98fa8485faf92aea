package engine

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A frame to the child consists of its kind, its worker, its stream number and the payload
// length, both as little-endian 32-bit numbers, and the payload.
const (
	frameHead = 10
	// MaxPayload is the longest payload of a frame in bytes: 8 minutes of audio.
	MaxPayload = 16 << 20
)

// FrameKind is what a frame asks for.
type FrameKind byte

// The kinds of frames. Load and Unload are for the process itself.
const (
	Load   FrameKind = 'l' // loads the models of the worker
	Unload FrameKind = 'u' // frees them
	Start  FrameKind = 's' // begins an utterance; payload: likely words, one per line
	Audio  FrameKind = 'a' // audio of the utterance: 16 kHz, 16-bit little-endian
	Before FrameKind = 'b' // audio before the utterance, whose sentence it may continue; before any Audio
	Settle FrameKind = 'p' // requests the final as it is so far; later audio is silence until Resume
	Resume FrameKind = 'r' // the voice goes on after Settle
	Finish FrameKind = 'f' // requests the final
	Text   FrameKind = 't' // a text to speak, as JSON of Sentence
	Turn   FrameKind = 'e' // requests an end-of-turn judgement; payload: audio
	Cancel FrameKind = 'x' // drops an utterance, a text or a judgement
)

// Frame is a request to a worker of the child.
type Frame struct {
	Kind    FrameKind
	Stream  uint32
	Payload []byte

	worker byte
}

// Sentence is the payload of Text.
type Sentence struct {
	Text    string  `json:"text"`
	Speaker string  `json:"speaker,omitempty"` // "" is the model's first
	Speed   float64 `json:"speed"`
	// Language is an ISO 639-1 code, for models that speak several; "" is the model's first.
	Language string `json:"language,omitempty"`
	// Follows: it is heard after the sentence that was asked for before it.
	Follows bool `json:"follows,omitempty"`
	// AheadMS is how much audio the listener has yet to hear before it, in ms, unless it
	// Follows. A voice that is slow uses the time.
	AheadMS int64 `json:"aheadMs,omitempty"`
}

// Reply is one line of the child. Apart from Stream and Worker, exactly one of its parts is
// set.
type Reply struct {
	Stream  uint32  `json:"stream,omitempty"`
	Worker  int     `json:"worker,omitempty"` // of Ready and Failed
	Ready   bool    `json:"ready,omitempty"`  // the models of the worker are loaded
	TookMS  int64   `json:"tookMs,omitempty"` // with Ready: what Measure returned, in ms
	Failed  string  `json:"failed,omitempty"` // why they are not
	Partial *string `json:"partial,omitempty"`
	Final   *Final  `json:"final,omitempty"`
	Settled *Final  `json:"settled,omitempty"` // the answer to Settle
	Audio   []byte  `json:"audio,omitempty"`   // 16-bit little-endian at Rate
	Rate    int     `json:"rate,omitempty"`    // Hz
	// End, with Audio, is how many bytes of the text are spoken with it; 0 if unknown.
	End  int  `json:"end,omitempty"`
	Done bool `json:"done,omitempty"` // the text is spoken
	// Complete is the probability that the turn is complete.
	Complete *float64 `json:"complete,omitempty"`
	Error    string   `json:"error,omitempty"` // the stream failed
}

// Utterance is the payload of Start: what is likely to be said.
type Utterance struct {
	// Words are names and terms, in spoken form.
	Words []string `json:"words,omitempty"`
	// Expected are short answers as people write them, in groups of one meaning. A sound that
	// is short enough for one is compared with each.
	Expected [][]string `json:"expected,omitempty"`
}

// Final is what was recognised of an utterance.
type Final struct {
	Text string `json:"text"`
	// Probs is the probability of each word of Text, as separated by spaces; empty if the
	// model reports none.
	Probs []float64 `json:"probs,omitempty"`
	// Stop is the probability that the sentence is finished; nil if the model reports none.
	Stop *float64 `json:"stop,omitempty"`
	// Answer is set if the sound was compared with the expected answers.
	Answer *Answer `json:"answer,omitempty"`
	// Joined is the text of the audio before and of the utterance, recognised as one sound. It is
	// empty in the answer to Settle, without Before, and if the whole is too long.
	Joined string `json:"joined,omitempty"`
}

// Answer says how well a short sound fits the expected answers. Its numbers are natural
// logarithms of ratios of probabilities.
type Answer struct {
	Phrase string  `json:"phrase"` // the most likely one of the most likely group
	Lead   float64 `json:"lead"`   // of that group before the next one
	Behind float64 `json:"behind"` // of the phrase behind the text that is likely without them
}

// last reports whether this is the last reply of the stream.
func (r Reply) last() bool { return r.Final != nil || r.Done || r.Complete != nil || r.Error != "" }

func writeFrame(w io.Writer, f Frame) error {
	b := make([]byte, frameHead, frameHead+len(f.Payload))
	b[0], b[1] = byte(f.Kind), f.worker
	binary.LittleEndian.PutUint32(b[2:], f.Stream)
	binary.LittleEndian.PutUint32(b[6:], uint32(len(f.Payload)))
	_, err := w.Write(append(b, f.Payload...))
	return err
}

func readFrame(r io.Reader) (Frame, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	f := Frame{Kind: FrameKind(head[0]), worker: head[1], Stream: binary.LittleEndian.Uint32(head[2:])}
	n := binary.LittleEndian.Uint32(head[6:])
	if n > MaxPayload {
		return Frame{}, fmt.Errorf("a frame of %d bytes is too long", n)
	}
	f.Payload = make([]byte, n)
	_, err := io.ReadFull(r, f.Payload)
	return f, err
}

// readReply parses a line of the child. Lines that are not replies are skipped, because
// libraries print too.
func readReply(line []byte) (Reply, error) {
	if !bytes.HasPrefix(line, []byte("{")) {
		return Reply{}, errors.New("not a reply")
	}
	var r Reply
	err := json.Unmarshal(line, &r)
	return r, err
}

// Payload returns the frame's payload for u.
func (u Utterance) Payload() []byte {
	b, _ := json.Marshal(u) // strings can always be marshalled
	return b
}

// UtteranceOf returns what is likely to be said in an utterance, from the payload of Start.
func UtteranceOf(payload []byte) Utterance {
	var u Utterance
	_ = json.Unmarshal(payload, &u) // without it, the utterance is recognised all the same
	return u
}

// Bytes returns samples as a payload.
func Bytes(pcm []int16) []byte {
	b := make([]byte, 2*len(pcm))
	for i, s := range pcm {
		binary.LittleEndian.PutUint16(b[2*i:], uint16(s))
	}
	return b
}

// Samples returns the samples of a payload.
func Samples(b []byte) []int16 {
	pcm := make([]int16, len(b)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return pcm
}
