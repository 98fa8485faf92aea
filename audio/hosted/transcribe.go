package hosted

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
)

// Limits of a transcription.
const (
	maxText     = 1 << 20          // of a response, in bytes
	patience    = 30 * time.Second // for an utterance, including retries, and an eighth of its length
	listenStall = 20 * time.Second // for a response: on a slow machine a model takes longer than the utterance
)

// TranscriberConfig configures a transcription service.
type TranscriberConfig struct {
	Config
	Hearing provider.Hearing
	// Language returns an ISO 639-1 code, or "" for automatic detection. Vocabulary
	// returns names and terms that the user is likely to say, and Keywords the same as a list; they
	// are called for each utterance and may be nil.
	Language   func() string
	Vocabulary func() string
	Keywords   func() []string
	// Instead recognises an utterance if the service fails, and Report receives the
	// failure. Instead is nil if there is no other recogniser.
	Instead hearing.Factory
	Report  func(error)
}

// Transcriber recognises speech with one request per utterance, POST
// /v1/audio/transcriptions, or with one stream per utterance, vLLM's /v1/realtime, where the
// Hearing's wire is that of a session.
type Transcriber struct {
	cfg    TranscriberConfig
	client *client

	mu     sync.Mutex
	ctx    context.Context // of the pending requests
	cancel context.CancelFunc
}

// NewTranscriber creates a Transcriber. It fails if the configuration is not usable.
func NewTranscriber(cfg TranscriberConfig) (*Transcriber, error) {
	if cfg.Stall <= 0 {
		cfg.Stall = listenStall
	}
	c, err := newClient(cfg.Config)
	if err != nil {
		return nil, err
	}
	t := &Transcriber{cfg: cfg, client: c}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t, nil
}

// Cancel immediately closes the pending requests. Their utterances fail.
func (t *Transcriber) Cancel() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cancel()
	t.ctx, t.cancel = context.WithCancel(context.Background())
}

// Recognizer is an hearing.Factory.
func (t *Transcriber) Recognizer() (hearing.Recognizer, error) { return &recognizer{t: t}, nil }

// recognizer keeps the audio of an utterance in memory until its transcript arrives.
type recognizer struct {
	t      *Transcriber
	pcm    []int16
	stream *stream // of the utterance; nil without one
	active bool
	closed bool
}

// Start implements hearing.Recognizer.
func (r *recognizer) Start() error {
	if r.closed {
		return hearing.ErrClosed
	}
	r.forget()
	r.active = true
	if r.t.cfg.Hearing.Wire == provider.Realtime {
		r.stream = r.t.stream(r.t.context())
	}
	return nil
}

// Write implements hearing.Recognizer. If an utterance is too long, only its beginning is
// recognised.
func (r *recognizer) Write(pcm []int16) error {
	switch {
	case r.closed:
		return hearing.ErrClosed
	case !r.active:
		return hearing.ErrNoUtterance
	}
	pcm = pcm[:min(len(pcm), hearing.LongestUtterance-len(r.pcm))]
	r.pcm = audio.AppendWiped(r.pcm, pcm)
	if r.stream != nil {
		r.stream.write(pcm)
	}
	return nil
}

// Partial implements hearing.Recognizer. It is empty without a stream, because there are no
// results before Finish.
func (r *recognizer) Partial() string {
	if r.stream == nil {
		return ""
	}
	return r.stream.partial()
}

// Finish implements hearing.Recognizer.
func (r *recognizer) Finish() (hearing.Result, error) { return r.FinishStreaming(func(string) {}) }

// FinishStreaming implements hearing.Streamer.
func (r *recognizer) FinishStreaming(partial func(string)) (hearing.Result, error) {
	switch {
	case r.closed:
		return hearing.Result{}, hearing.ErrClosed
	case !r.active:
		return hearing.Result{}, hearing.ErrNoUtterance
	}
	defer r.forget()
	if len(r.pcm) == 0 {
		return hearing.Result{}, nil
	}
	ctx := r.t.context()
	said := ""
	result, err := r.t.transcribe(ctx, r.pcm, r.stream, func(words string, again bool) {
		if again {
			said = ""
		}
		said += words
		partial(said)
	})
	if err == nil || ctx.Err() != nil || r.t.cfg.Instead == nil {
		return result, err
	}
	r.t.cfg.Report(err)
	return instead(r.t.cfg.Instead, r.pcm)
}

// Close implements hearing.Recognizer.
func (r *recognizer) Close() error {
	r.forget()
	r.closed = true
	return nil
}

// forget wipes the audio.
func (r *recognizer) forget() {
	if r.stream != nil {
		r.stream.close()
	}
	clear(r.pcm)
	r.pcm, r.stream, r.active = nil, nil, false
}

// instead recognises an utterance with another engine.
func instead(of hearing.Factory, pcm []int16) (hearing.Result, error) {
	engine, err := of()
	if err != nil {
		return hearing.Result{}, err
	}
	defer func() { _ = engine.Close() }() // the result matters, not this error
	if err := engine.Start(); err != nil {
		return hearing.Result{}, err
	}
	if err := engine.Write(pcm); err != nil {
		return hearing.Result{}, err
	}
	return engine.Finish()
}

// context returns the context of the pending requests.
func (t *Transcriber) context() context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ctx
}

// transcribe returns what a service recognises: in a stream that has the utterance already, or in a request. add
// receives the words of a streamed answer; again says that they replace the earlier ones. A stream that failed is
// repeated with the whole utterance.
func (t *Transcriber) transcribe(ctx context.Context, pcm []int16, live *stream, add func(words string, again bool)) (result hearing.Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience+time.Duration(len(pcm)/8)*time.Second/hearing.SampleRate)
	defer cancel()
	if live != nil {
		err = t.client.retry(ctx, func(ctx context.Context) (bool, error) {
			if live == nil {
				live = t.stream(ctx)
				live.write(pcm)
			}
			defer live.close()
			result, err = live.finish(ctx, add)
			live = nil
			return true, err
		})
		return result, err
	}
	body, contentType, err := t.form(pcm)
	if err != nil {
		return result, err
	}
	defer clear(body) // it contains the audio
	err = t.client.retry(ctx, func(ctx context.Context) (bool, error) {
		return true, t.client.post(ctx, "transcription", "/audio/transcriptions", contentType, body, func(res *http.Response) (err error) {
			result, err = readTranscript(res, add)
			return err
		})
	})
	return result, err
}

// form builds the body of a request, according to the public reference
// (https://platform.openai.com/docs/api-reference/audio/createTranscription).
func (t *Transcriber) form(pcm []int16) (body []byte, contentType string, err error) {
	fields := [][2]string{{"model", t.cfg.Model}, {"response_format", "json"}}
	if t.cfg.Language != nil {
		name := "language"
		if t.cfg.Hearing.Languages {
			name = "languages[]"
		}
		fields = append(fields, [2]string{name, t.cfg.Language()})
	}
	if t.cfg.Hearing.Vocabulary == provider.Keywords && t.cfg.Keywords != nil {
		for _, word := range t.cfg.Keywords() {
			fields = append(fields, [2]string{"keywords[]", word})
		}
	}
	if t.cfg.Hearing.Vocabulary == provider.Prompt && t.cfg.Vocabulary != nil {
		fields = append(fields, [2]string{"prompt", t.cfg.Vocabulary()})
	}
	if t.cfg.Hearing.Streams {
		fields = append(fields, [2]string{"stream", "true"})
	}
	if t.cfg.Hearing.Logprobs {
		fields = append(fields, [2]string{"include[]", "logprobs"})
	}
	b := bytes.NewBuffer(make([]byte, 0, 2*len(pcm)+8192))
	w := multipart.NewWriter(b)
	for _, f := range fields {
		if f[1] != "" {
			if err := w.WriteField(f[0], f[1]); err != nil {
				return nil, "", err
			}
		}
	}
	file, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="utterance.wav"`}, "Content-Type": {"audio/wav"},
	})
	if err == nil {
		_, err = file.Write(wav(pcm))
	}
	if err == nil {
		err = w.Close()
	}
	return b.Bytes(), w.FormDataContentType(), err
}

// wav encodes an utterance as a WAV file.
func wav(pcm []int16) []byte {
	size := uint32(2 * len(pcm))
	b := append(make([]byte, 0, 44+size), "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, 36+size)
	b = append(b, "WAVEfmt "...)
	for _, v := range []uint32{16, 1 | 1<<16, hearing.SampleRate, 2 * hearing.SampleRate, 2 | 16<<16} { // PCM, mono, 16 bits
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, size)
	for _, s := range pcm {
		b = binary.LittleEndian.AppendUint16(b, uint16(s))
	}
	return b
}

// transcript is a response, or one event of a streamed response.
type transcript struct {
	Type     string               `json:"type"`
	Delta    string               `json:"delta"`
	Text     *string              `json:"text"`
	Logprobs []realtime.TokenProb `json:"logprobs"`
	Choices  []struct {           // vLLM's streaming format
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"`
}

func (t transcript) result() hearing.Result {
	r := hearing.Result{Text: strings.TrimSpace(*t.Text)}
	r.Probs = realtime.WordProbs(r.Text, t.Logprobs)
	return r
}

// readTranscript reads a response, complete or streamed.
func readTranscript(res *http.Response, add func(words string, again bool)) (result hearing.Result, err error) {
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	in := io.LimitReader(res.Body, maxText)
	switch media {
	case "text/event-stream":
		return readStream(in, add)
	case "application/json", "":
	default:
		return result, broken("transcription", "the service does not answer in JSON, which was asked for")
	}
	answer, err := io.ReadAll(in)
	if err != nil {
		return result, err
	}
	var t transcript
	if json.Unmarshal(answer, &t) != nil || t.Text == nil {
		return result, broken("transcription", "the answer has no text")
	}
	return t.result(), nil
}

// readStream reads events up to the one that contains the whole text, or to the end of
// a stream without one, such as vLLM's.
func readStream(in io.Reader, add func(words string, again bool)) (result hearing.Result, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxText)
	text, again := "", true
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok {
			continue
		}
		if data = strings.TrimSpace(data); data == "[DONE]" {
			return hearing.Result{Text: strings.TrimSpace(text)}, nil
		}
		var t transcript
		switch err := json.Unmarshal([]byte(data), &t); {
		case err != nil, len(t.Error) > 0 && string(t.Error) != "null":
			return result, broken("transcription", "the service failed within its answer")
		case t.Type == "transcript.text.done" && t.Text != nil:
			return t.result(), nil
		}
		for _, c := range t.Choices {
			t.Delta += c.Delta.Content
		}
		if t.Delta != "" {
			text += t.Delta
			add(t.Delta, again)
			again = false
		}
	}
	if err := lines.Err(); err != nil {
		return result, err
	}
	return result, broken("transcription", "the answer has no end")
}
