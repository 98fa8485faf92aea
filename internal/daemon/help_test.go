package daemon

import (
	"net/url"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Only the original providers have help pages, and all pages use https.
func TestHelpPages(t *testing.T) {
	for provider, pages := range helpPages {
		for code, page := range pages {
			u, err := url.Parse(page)
			if err != nil || u.Scheme != "https" || u.Host == "" || !code.Known() {
				t.Errorf("%s for %s: %q", provider, code, page)
			}
		}
	}
	ears, voice := protocol.DefaultSettings(), protocol.DefaultSettings()
	ears.Hearing.Provider = protocol.ProviderOpenAI
	voice.Provider, voice.Hearing.Provider, voice.Voice.Provider = protocol.ProviderAzure, protocol.ProviderLocal, protocol.ProviderOpenAI
	voice.Endpoint = "https://x.openai.azure.com" // of an unused provider
	for role, set := range map[string]protocol.Settings{"hears": ears, "speaks": voice} {
		if page, want := HelpPage(protocol.CodeQuotaExceeded, set), helpPages[protocol.ProviderOpenAI][protocol.CodeQuotaExceeded]; page != want {
			t.Errorf("OpenAI %s, and the page is %q, want %q", role, page, want)
		}
	}
	voice.Voice.Endpoint = "http://127.0.0.1:8080"
	if page := HelpPage(protocol.CodeQuotaExceeded, voice); page != "" {
		t.Errorf("a voice on this machine has the page %q", page)
	}
	for _, c := range []struct {
		provider protocol.Provider
		endpoint string
		code     protocol.ErrorCode
		has      bool
	}{
		{protocol.ProviderOpenAI, "", protocol.CodeQuotaExceeded, true},
		{protocol.ProviderOpenAI, "https://eu.api.openai.com", protocol.CodeQuotaExceeded, true},
		{protocol.ProviderOpenAI, "https://api.openai.com.example.net", protocol.CodeQuotaExceeded, false},
		{protocol.ProviderOpenAI, "http://127.0.0.1:8080", protocol.CodeQuotaExceeded, false},
		{protocol.ProviderOpenAI, "", protocol.CodeDeviceLost, false},
		{protocol.ProviderAzure, "https://x.openai.azure.com", protocol.CodeAuthentication, true},
		{protocol.ProviderLocalAI, "http://nas:8080", protocol.CodeAuthentication, false},
		{protocol.ProviderLocal, "", protocol.CodeAuthentication, false},
	} {
		set := protocol.DefaultSettings()
		set.Provider, set.Endpoint = c.provider, c.endpoint
		if page := HelpPage(c.code, set); (page != "") != c.has {
			t.Errorf("%s at %q has page %q for %s", c.provider, c.endpoint, page, c.code)
		}
	}
}
