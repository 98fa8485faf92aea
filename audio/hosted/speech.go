package hosted

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
)

// pcmRate is the sample rate of response_format pcm.
const pcmRate = 24000

// longest limits the length of a text's audio. A service that sends more is broken and
// would block the voice forever.
func longest(s realtime.Segment) int64 {
	return audio.SampleRate * int64(20+2*utf8.RuneCountInString(s.Text))
}

// speechRequest is the body of POST /v1/audio/speech, according to the public reference
// (https://platform.openai.com/docs/api-reference/audio/createSpeech).
type speechRequest struct {
	Model          string  `json:"model"`
	Input          string  `json:"input"`
	Voice          string  `json:"voice"`
	ResponseFormat string  `json:"response_format"`
	Speed          float64 `json:"speed,omitempty"`
}

// NewSpeaker returns a Speaker that sends each segment to POST /v1/audio/speech and
// streams the audio as it arrives, as 16-bit PCM at 24 kHz or as WAV.
func NewSpeaker(cfg Config, voice provider.Voice, name string) (Speaker, error) {
	c, err := newClient(cfg)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = voice.Voice
	}
	return func(ctx context.Context, s realtime.Segment, emit func([]int16, int) error) error {
		speed := s.Speed
		if speed == 1 {
			speed = 0
		}
		body, err := json.Marshal(speechRequest{Model: cfg.Model, Input: s.Text, Voice: name, ResponseFormat: "pcm", Speed: speed})
		if err != nil {
			return broken("speech", "the request cannot be written")
		}
		heard := false
		return c.retry(ctx, func(ctx context.Context) (again bool, err error) {
			err = c.post(ctx, "speech", "/audio/speech", "application/json", body, func(res *http.Response) error {
				return play(res.Header.Get("Content-Type"), res.Body, longest(s), func(pcm []int16) error {
					heard = true
					return emit(pcm, audio.SampleRate)
				})
			})
			return !heard, err
		})
	}, nil
}

// play reads the audio of a response.
func play(contentType string, body io.Reader, limit int64, emit func([]int16) error) error {
	in, err := decoder(contentType, bufio.NewReader(body))
	if err != nil {
		return err
	}
	pcm := make([]int16, audio.SampleRate/50)
	for {
		n, err := in.Read(pcm)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if limit -= int64(n); limit < 0 {
			return broken("speech", "the service sends far more audio than the text is long")
		}
		if err := emit(pcm[:n]); err != nil {
			return err
		}
	}
}

// decoder detects the audio format: some services send WAV regardless of the requested
// format, and some send a missing or generic content type.
func decoder(contentType string, body *bufio.Reader) (*wavio.Stream, error) {
	head, err := body.Peek(4)
	if string(head) == "RIFF" {
		in, err := wavio.NewStream(body)
		var format *wavio.FormatError
		if errors.As(err, &format) {
			return nil, broken("speech", "the service sends audio that cannot be read")
		}
		return in, err
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	media, params, _ := mime.ParseMediaType(contentType)
	switch media {
	case "audio/pcm", "audio/x-pcm", "audio/l16", "audio/raw", "audio/wav", "audio/x-wav", "application/octet-stream", "":
	default:
		return nil, broken("speech", "the service does not send the audio as PCM or WAV, which was asked for")
	}
	rate := pcmRate
	if r, err := strconv.Atoi(params["rate"]); err == nil {
		rate = r
	}
	in, err := wavio.NewRaw(body, rate)
	if err != nil {
		return nil, broken("speech", "the service sends audio at a rate that cannot be played")
	}
	return in, nil
}
