package main

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// scriptedProxy is an HTTP proxy that notes what it is asked to connect to or to forward. All of it goes to
// the same service.
type scriptedProxy struct {
	*httptest.Server
	service *scriptedService
	mu      sync.Mutex
	asked   []string // in order
}

func newProxy(t *testing.T, service *scriptedService) *scriptedProxy {
	t.Helper()
	p := &scriptedProxy{service: service}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *scriptedProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+r.Host)
	p.mu.Unlock()
	if r.Method != http.MethodConnect {
		p.service.ServeHTTP(w, r)
		return
	}
	service, err := net.Dial("tcp", p.service.Listener.Addr().String())
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	client, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(service, client); _ = service.Close() }()
	_, _ = io.Copy(client, service)
	_ = client.Close()
}

// seen returns what was asked, each once.
func (p *scriptedProxy) seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(p.asked)))
}

// scriptedService serves /v1/models as OpenAI documents it. The end of a model is JSON, or a status.
type scriptedService struct {
	*httptest.Server
	key  string            // "" if it needs none
	ends map[string]string // by model
	mu   sync.Mutex
	got  []string // paths, with a star if there was a key
}

func newService(t *testing.T, key string, ends map[string]string) *scriptedService {
	t.Helper()
	s := &scriptedService{key: key, ends: ends}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

// paths returns what was asked for.
func (s *scriptedService) paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

func (s *scriptedService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	given := r.Header.Get("Authorization")
	s.mu.Lock()
	s.got = append(s.got, r.URL.Path+map[bool]string{true: "*"}[given != ""])
	s.mu.Unlock()
	model, one := strings.CutPrefix(r.URL.Path, "/v1/models/")
	end, known := s.ends[model]
	status := 0
	_, _ = fmt.Sscan(end, &status)
	switch {
	case s.key != "" && given != "Bearer "+s.key:
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == "/v1/models":
		var list []string
		for id := range s.ends {
			list = append(list, fmt.Sprintf(`{"id": %q, "object": "model"}`, id))
		}
		fmt.Fprintf(w, `{"object": "list", "data": [%s]}`, strings.Join(list, ","))
	case !one || !known:
		w.WriteHeader(http.StatusNotFound)
	case status != 0:
		w.WriteHeader(status)
	default:
		fmt.Fprintf(w, `{"id": %q, "object": "model", "created": 1, "owned_by": "openai", "shutdown_date": %s}`, model, end)
	}
}

// trusting returns transports that take a service's certificate for that of every host.
func trusting(set protocol.Settings, s *scriptedService) transports {
	t := transportsOf(set)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	for _, of := range []*http.Transport{t.voice, t.chat} {
		of.TLSClientConfig.RootCAs, of.TLSClientConfig.ServerName = roots, "example.com"
	}
	return t
}

// environmentProxy sets the proxy of the environment.
func environmentProxy(t *testing.T, url string) {
	t.Helper()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
		t.Setenv(name, url)
		t.Setenv(strings.ToLower(name), url)
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
}

var today = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// hostedFlags are --provider openai --agent openai.
func hostedFlags(t *testing.T, changed map[string]string) (*doctorFlags, protocol.Settings) {
	t.Helper()
	all := map[string]string{
		"agentvoice.provider": "openai", "agentvoice.turnDetection.mode": "server",
		"agentvoice.transcription.model": "gpt-4o-mini-transcribe", "agentvoice.voice.model": "gpt-4o-mini-tts",
	}
	for name, value := range changed {
		all[name] = value
	}
	return &doctorFlags{assistantFlags: assistantFlags{agent: "openai", model: "gpt-6-luna"}}, with(t, all)
}

// Voice services are asked through the proxy of the settings, the assistant through that of the
// environment, as in a conversation. OpenAI says when it ends a model: what is sooner than in the table
// or missing there is told, and a model that it says nothing of keeps the date of the table.
func TestDoctorAsksThroughTheProxies(t *testing.T) {
	t.Setenv(envOpenAI, "the-key")
	service := newService(t, "the-key", map[string]string{
		"gpt-realtime-2.1-mini": `"2026-12-24"`, "gpt-4o-mini-transcribe": `"2027-02-01"`, "gpt-4o-mini-tts": "500", "gpt-6-luna": `"2027-06-30"`,
	})
	voice, chat := newProxy(t, service), newProxy(t, service)
	environmentProxy(t, chat.URL)
	f, set := hostedFlags(t, map[string]string{"agentvoice.network.proxy": voice.URL})
	all := f.examineServices(t.Context(), set, trusting(set, service), today)
	wants(t, all, "credentials", true, "a key for openai")
	wants(t, all, "provider", true, "api.openai.com through the proxy "+voice.Listener.Addr().String())
	wants(t, all, "agent", true, "openai at api.openai.com through the proxy "+chat.Listener.Addr().String()+", with the key in OPENAI_API_KEY, model gpt-6-luna")
	models := slices.DeleteFunc(slices.Clone(all), func(f finding) bool { return f.Check != "model" })
	if len(models) != 4 {
		t.Fatalf("%d models: %v", len(models), models)
	}
	wants(t, models[0:], "model", false, "gpt-realtime-2.1-mini: OpenAI ends it on 2026-12-24; set agentvoice.model to another model")
	wants(t, models[1:], "model", true, "gpt-4o-mini-transcribe", "OpenAI ends it on 2027-02-01")
	wants(t, models[2:], "model", false, "gpt-4o-mini-tts: OpenAI ends it on 2027-01-06")
	wants(t, models[3:], "model", true, "gpt-6-luna: $0.1 in and $0.5 out for a million tokens of text (as of ", "OpenAI ends it on 2027-06-30")
	if seen := voice.seen(); !slices.Equal(seen, []string{"CONNECT api.openai.com:443"}) {
		t.Errorf("the proxy of the settings was asked for %q", seen)
	}
	if seen := chat.seen(); !slices.Equal(seen, []string{"CONNECT api.openai.com:443"}) {
		t.Errorf("the proxy of the environment was asked for %q", seen)
	}
	want := []string{"/v1", "/v1/models/gpt-realtime-2.1-mini*", "/v1/models/gpt-4o-mini-transcribe*", "/v1/models/gpt-4o-mini-tts*", "/v1/models/gpt-6-luna*", "/v1", "/v1/models*"}
	if !slices.Equal(service.paths(), want) {
		t.Errorf("asked for %q, want %q", service.paths(), want)
	}
	if err := failures(all); err != nil {
		t.Error(err)
	}
}

// That OpenAI does not answer is a note beside what the table says, whatever the reason.
func TestDoctorDoesNotFailWithoutTheDates(t *testing.T) {
	for end, want := range map[string]string{
		"null": "", `"2027-03-01"`: "", `"soon"`: "(its answer does not describe a model)", "500": "(status 500)", "404": "(it does not have this model, or the key may not use it)",
	} {
		t.Setenv(envOpenAI, "the-key")
		service := newService(t, "the-key", map[string]string{"gpt-realtime-2.1-mini": "null", "gpt-4o-mini-transcribe": end, "gpt-4o-mini-tts": "null"})
		f, set := hostedFlags(t, map[string]string{"agentvoice.network.proxy": newProxy(t, service).URL})
		f.agent = "offline"
		all := f.examineServices(t.Context(), set, trusting(set, service), today)
		ears := slices.IndexFunc(all, func(f finding) bool { return strings.HasPrefix(f.Detail, "gpt-4o-mini-transcribe") })
		if got := wants(t, all[ears:], "model", true, "; OpenAI ends it on 2027-02-26", want); strings.Contains(got.Detail, "asking") != (want != "") {
			t.Errorf("%s: %s", end, got.Detail)
		}
		t.Setenv(envOpenAI, "")
		f.keyFile = filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(f.keyFile, []byte("another\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		all = f.examineServices(t.Context(), set, trusting(set, service), today)
		wants(t, all, "model", true, "gpt-realtime-2.1-mini", "; asking OpenAI for its end failed (it rejected the key)")
	}
}

// A key goes to OpenAI only, and nothing is asked without one.
func TestDoctorKeepsTheKey(t *testing.T) {
	service := newService(t, "", map[string]string{"gpt-realtime-2.1-mini": "null"})
	proxy := newProxy(t, service)
	t.Setenv(envOpenAI, "")
	f, set := hostedFlags(t, map[string]string{"agentvoice.network.proxy": proxy.URL})
	all := f.examineServices(t.Context(), set, trusting(set, service), today)
	wants(t, all, "credentials", false, "no key for openai; set OPENAI_API_KEY")
	wants(t, all, "agent", false, "--agent openai: no key for OpenAI; set OPENAI_API_KEY")
	if !slices.Equal(service.paths(), []string{"/v1"}) {
		t.Errorf("without a key: %q", service.paths())
	}
	t.Setenv(envOpenAI, "the-key")
	f, set = hostedFlags(t, map[string]string{"agentvoice.network.proxy": proxy.URL, "agentvoice.endpoint": "https://gateway.example/v1"})
	f.agent = "offline"
	all = f.examineServices(t.Context(), set, trusting(set, service), today)
	wants(t, all, "provider", true, "gateway.example through the proxy")
	if !slices.Equal(service.paths(), []string{"/v1", "/v1"}) {
		t.Errorf("of another service: %q", service.paths())
	}
}

// What does not work is said with the proxy in question, and what to do.
func TestDoctorNamesTheProxyThatFails(t *testing.T) {
	t.Setenv(envOpenAI, "the-key")
	service := newService(t, "the-key", nil)
	dead, refusing := newProxy(t, service), httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusProxyAuthRequired) }))
	t.Cleanup(refusing.Close)
	dead.Close()
	environmentProxy(t, refusing.URL)
	f, set := hostedFlags(t, map[string]string{"agentvoice.network.proxy": dead.URL})
	all := f.examineServices(t.Context(), set, trusting(set, service), today)
	for check, words := range map[string][]string{
		"provider": {"cannot reach api.openai.com through the proxy " + dead.Listener.Addr().String() + " (", "connection refused", "; check agentvoice.network.proxy and --endpoint"},
		"agent":    {"cannot reach api.openai.com through the proxy " + refusing.Listener.Addr().String() + " (Proxy Authentication Required); check HTTPS_PROXY and --agent-endpoint"},
	} {
		if got := wants(t, all, check, false, words...); !got.Needed || got.Fix == "" {
			t.Errorf("%+v", got)
		}
	}
	wants(t, all, "model", true, "gpt-realtime-2.1-mini", "; asking OpenAI for its end failed (")
	f.agent = "offline"
	all = f.examineServices(t.Context(), with(t, map[string]string{"agentvoice.provider": "compatible", "agentvoice.endpoint": "http://speech.example"}), transportsOf(protocol.Settings{}), today)
	wants(t, all, "provider", false, "cannot reach speech.example through the proxy "+refusing.Listener.Addr().String()+" (Proxy Authentication Required); check HTTP_PROXY and --endpoint")
}

// The command line of doctor is that of talk.
func TestDoctorChecksWhatTalkWouldUse(t *testing.T) {
	t.Setenv(envOpenAI, "")
	proxy := newProxy(t, newService(t, "", map[string]string{"llama3.2:latest": "null"}))
	environmentProxy(t, proxy.URL)
	folder := filepath.Join(t.TempDir(), "journals")
	text, err := printed(t, "", "doctor", "--json", "--audio-in", "null", "--audio-out", "null", "--agent", "openai", "--agent-endpoint", "http://chat.example/v1",
		"--agent-model", "llama3.2", "--provider", "compatible", "--endpoint", "http://speech.example", "--journal", folder)
	var all []finding
	if err := errors.Join(err, json.Unmarshal([]byte(text), &all)); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	wants(t, all, "agent", true, "openai at chat.example through the proxy "+proxy.Listener.Addr().String()+", without a key, model llama3.2")
	wants(t, all, "provider", true, "speech.example through the proxy")
	wants(t, all, "journal", true, folder)
	if seen := proxy.seen(); !slices.Equal(seen, []string{"GET chat.example", "GET speech.example"}) {
		t.Errorf("the proxy was asked for %q", seen)
	}
	if _, err := printed(t, "", "doctor", "--agent-endpoint", "http://chat.example/v1"); err == nil || !strings.Contains(err.Error(), "add that") {
		t.Errorf("an address that nothing uses: %v", err)
	}
}

// The model of an assistant is looked for in the list of its server.
func TestDoctorLooksForTheModel(t *testing.T) {
	t.Setenv(envOpenAI, "")
	for _, c := range []struct {
		model, key, path, want string
		needed                 bool
	}{
		{"qwen4", "", "v1", "", true},
		{"llama3.2:latest", "", "v1", "", true},
		{"lama3.2:latest", "", "v1", " does not list the model lama3.2:latest; set --agent-model to one that it has, such as llama3.2:latest", false},
		{"gpt-6", "", "v1", " does not list the model gpt-6; set --agent-model to one that it has, such as llama3.2:latest, qwen4:latest", false},
		{"qwen4", "another", "v1", " does not list its models without a key: the service rejected the key; check it", true},
		{"qwen4", "", "elsewhere", " does not list its models without a key: unknown address or model (status 404); check both", false},
	} {
		service := newService(t, c.key, map[string]string{"llama3.2:latest": "null", "qwen4:latest": "null"})
		proxy := newProxy(t, service)
		environmentProxy(t, proxy.URL)
		f := doctorFlags{assistantFlags: assistantFlags{agent: "openai", model: c.model, endpoint: "http://chat.example/" + c.path}}
		got := f.examineAgent(t.Context(), transportsOf(protocol.Settings{}).chat)
		wants(t, []finding{got}, "agent", c.want == "", c.want)
		if got.Needed != c.needed || c.want != "" && got.Detail != "chat.example through the proxy "+proxy.Listener.Addr().String()+c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
