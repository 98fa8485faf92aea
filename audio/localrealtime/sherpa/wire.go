package sherpa

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A frame to the child consists of its kind, its stream number and the payload length,
// both as little-endian 32-bit numbers, and the payload.
const (
	frameHead = 9
	maxFrame  = 16 << 20 // 8 minutes of audio, far more than an utterance
)

type frameKind byte

const (
	frameStart  frameKind = 's' // begins an utterance; payload: likely words, one per line
	frameAudio  frameKind = 'a' // audio of the utterance: 16 kHz, 16-bit little-endian
	frameFinish frameKind = 'f' // requests the final
	frameText   frameKind = 't' // a sentence, as JSON
	frameTurn   frameKind = 'e' // requests an end-of-turn judgement; payload: audio
	frameCancel frameKind = 'x' // drops an utterance, a sentence or a judgement
)

type frame struct {
	kind    frameKind
	stream  uint32
	payload []byte
}

// sentence is the payload of frameText.
type sentence struct {
	Text    string  `json:"text"`
	Speaker int     `json:"speaker"`
	Speed   float64 `json:"speed"`
}

// reply is one line of the child. Exactly one of its parts is set.
type reply struct {
	Stream  uint32  `json:"stream,omitempty"`
	Ready   *ready  `json:"ready,omitempty"`
	Partial *string `json:"partial,omitempty"`
	Final   *final  `json:"final,omitempty"`
	Audio   []byte  `json:"audio,omitempty"` // 16-bit little-endian at Rate
	Rate    int     `json:"rate,omitempty"`  // Hz
	Done    bool    `json:"done,omitempty"`  // the sentence is complete
	// Complete is the probability that the turn is complete.
	Complete *float64 `json:"complete,omitempty"`
	Error    string   `json:"error,omitempty"` // the stream failed
}

// ready reports that the models are loaded.
type ready struct {
	Speakers int `json:"speakers,omitempty"` // number of speakers of a voice
}

type final struct {
	Text       string  `json:"text"`
	Confidence float64 `json:"confidence"` // 0 if the model reports none
}

// last reports whether this is the last reply of the stream.
func (r reply) last() bool { return r.Final != nil || r.Done || r.Complete != nil || r.Error != "" }

func writeFrame(w io.Writer, f frame) error {
	b := make([]byte, frameHead, frameHead+len(f.payload))
	b[0] = byte(f.kind)
	binary.LittleEndian.PutUint32(b[1:], f.stream)
	binary.LittleEndian.PutUint32(b[5:], uint32(len(f.payload)))
	_, err := w.Write(append(b, f.payload...))
	return err
}

func readFrame(r io.Reader) (frame, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	f := frame{kind: frameKind(head[0]), stream: binary.LittleEndian.Uint32(head[1:])}
	n := binary.LittleEndian.Uint32(head[5:])
	if n > maxFrame {
		return frame{}, fmt.Errorf("a frame of %d bytes is too long", n)
	}
	f.payload = make([]byte, n)
	_, err := io.ReadFull(r, f.payload)
	return f, err
}

// readReply parses a line of the child. Lines that are not replies are skipped, because
// libraries print too.
func readReply(line []byte) (reply, error) {
	if !bytes.HasPrefix(line, []byte("{")) {
		return reply{}, errors.New("not a reply")
	}
	var r reply
	err := json.Unmarshal(line, &r)
	return r, err
}

func pcmBytes(pcm []int16) []byte {
	b := make([]byte, 2*len(pcm))
	for i, s := range pcm {
		binary.LittleEndian.PutUint16(b[2*i:], uint16(s))
	}
	return b
}

func pcmSamples(b []byte) []int16 {
	pcm := make([]int16, len(b)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return pcm
}
