// Package audioapi serves OpenAI's audio endpoints with local engines, for tests and
// benchmarks: POST /v1/audio/speech and POST /v1/audio/transcriptions, and vLLM's /v1/realtime, according to the
// public references. It rejects everything outside the reference, to detect clients that
// deviate from it.
package audioapi

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
)

// speechRate is the sample rate of the format pcm.
const speechRate = 24000

// Server is the service.
type Server struct {
	Recognizer  hearing.Factory
	Synthesizer voice.Factory
	Key         string // "" accepts every key
	KeyHeader   string // header of the key; "" for a bearer token

	mu       sync.Mutex
	requests []Request
}

// Request is a client request.
type Request struct {
	Path   string
	Fields map[string]string // body fields, as text
	Text   string            // recognised text
}

// Requests returns the requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Handler serves the endpoints.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/audio/speech", s.speech)
	mux.HandleFunc("POST /v1/audio/transcriptions", s.transcription)
	mux.HandleFunc("GET /v1/realtime", s.realtime)
	mux.HandleFunc("POST /openai/v1/audio/speech", s.speech)
	mux.HandleFunc("POST /openai/v1/audio/transcriptions", s.transcription)
	return mux
}

func (s *Server) note(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
}

// authorized checks the key.
func (s *Server) authorized(w http.ResponseWriter, r *http.Request) bool {
	given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if s.KeyHeader != "" {
		given = r.Header.Get(s.KeyHeader)
	}
	if s.Key == "" || given == s.Key {
		return true
	}
	refuse(w, http.StatusUnauthorized, "invalid_api_key", "the key is wrong")
	return false
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": message, "type": "invalid_request_error", "code": code}})
}

// speech streams synthesised audio.
func (s *Server) speech(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	var in struct {
		Model          string  `json:"model"`
		Input          string  `json:"input"`
		Voice          string  `json:"voice"`
		ResponseFormat string  `json:"response_format"`
		Speed          float64 `json:"speed"`
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil || in.Model == "" || in.Input == "" || in.Voice == "" || len(in.Input) > 4096 ||
		in.Speed != 0 && (in.Speed < 0.25 || in.Speed > 4) || in.ResponseFormat != "pcm" {
		refuse(w, http.StatusBadRequest, "invalid_value", "the body is not as the reference has it")
		return
	}
	s.note(Request{Path: r.URL.Path, Fields: map[string]string{"model": in.Model, "input": in.Input, "voice": in.Voice, "speed": fmt.Sprint(in.Speed)}})
	synth, err := s.Synthesizer()
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, "engine", "no engine")
		return
	}
	defer func() { _ = synth.Close() }()
	if in.Speed != 0 {
		synth.SetRate(in.Speed)
	}
	w.Header().Set("Content-Type", "audio/pcm")
	var convert *audio.Resampler
	send := func(pcm []int16) error {
		if err := binary.Write(w, binary.LittleEndian, pcm); err != nil {
			return err
		}
		return http.NewResponseController(w).Flush()
	}
	err = synth.Speak(r.Context(), voice.DefaultVoice, in.Input, func(pcm []int16, rate int) (err error) {
		if convert == nil {
			if convert, err = audio.NewResampler(rate, speechRate); err != nil {
				return err
			}
		}
		return send(convert.Process(nil, pcm))
	})
	if err == nil && convert != nil {
		err = send(convert.Flush(nil))
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// maxUpload is the limit of the reference.
const maxUpload = 25 << 20

// transcription recognises one file.
func (s *Server) transcription(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxUpload)
	file, _, err := r.FormFile("file")
	if err != nil {
		refuse(w, http.StatusBadRequest, "missing_file", "there is no file")
		return
	}
	defer func() { _ = file.Close() }()
	fields := map[string]string{}
	for name, values := range r.MultipartForm.Value {
		fields[name] = strings.Join(values, ",")
	}
	known := []string{"model", "language", "prompt", "response_format", "stream", "include[]", "temperature"}
	for name := range maps.Keys(fields) {
		if !slices.Contains(known, name) {
			refuse(w, http.StatusBadRequest, "unknown_parameter", name)
			return
		}
	}
	result, err := s.recognise(file)
	if err != nil || fields["model"] == "" || fields["response_format"] != "json" {
		refuse(w, http.StatusBadRequest, "invalid_value", "the body is not as the reference has it")
		return
	}
	s.note(Request{Path: r.URL.Path, Fields: fields, Text: result.Text})
	if fields["stream"] == "true" {
		stream(w, result.Text)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"text": result.Text})
}

// stream sends a text word by word.
func stream(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i, word := range strings.Fields(text) {
		if i > 0 {
			word = " " + word
		}
		event(w, map[string]any{"type": "transcript.text.delta", "delta": word})
	}
	event(w, map[string]any{"type": "transcript.text.done", "text": text, "logprobs": []map[string]any{{"token": text, "logprob": -0.1}}})
}

func event(w http.ResponseWriter, of map[string]any) {
	b, err := json.Marshal(of)
	if err != nil {
		panic(err) // strings can always be marshalled
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", b)
	_ = http.NewResponseController(w).Flush()
}

func (s *Server) recognise(file io.Reader) (result hearing.Result, err error) {
	in, err := wavio.NewStream(file)
	if err != nil {
		return result, err
	}
	engine, err := s.Recognizer()
	if err != nil {
		return result, err
	}
	defer func() { _ = engine.Close() }()
	low, err := audio.NewResampler(audio.SampleRate, hearing.SampleRate)
	if err != nil {
		return result, err
	}
	if err := engine.Start(); err != nil {
		return result, err
	}
	pcm := make([]int16, audio.SampleRate/10)
	for {
		n, err := in.Read(pcm)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = engine.Write(low.Process(nil, pcm[:n]))
		}
		if err != nil {
			return result, err
		}
	}
	return engine.Finish()
}
