package daemon

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// helpPages are the providers' pages on which a user can fix a failure.
var helpPages = map[protocol.Provider]map[protocol.ErrorCode]string{
	protocol.ProviderOpenAI: {
		protocol.CodeAuthentication:     "https://platform.openai.com/api-keys",
		protocol.CodeCredentialsMissing: "https://platform.openai.com/api-keys",
		protocol.CodeAccessDenied:       "https://platform.openai.com/api-keys",
		protocol.CodeQuotaExceeded:      "https://platform.openai.com/settings/organization/billing/overview",
		protocol.CodeRateLimited:        "https://platform.openai.com/settings/organization/limits",
		protocol.CodeRegionUnsupported:  "https://platform.openai.com/docs/supported-countries",
		protocol.CodeModelUnavailable:   "https://platform.openai.com/docs/models",
	},
	protocol.ProviderAzure: {
		protocol.CodeAuthentication:     "https://portal.azure.com/",
		protocol.CodeCredentialsMissing: "https://portal.azure.com/",
		protocol.CodeAccessDenied:       "https://portal.azure.com/",
		protocol.CodeQuotaExceeded:      "https://portal.azure.com/",
		protocol.CodeRateLimited:        "https://learn.microsoft.com/azure/ai-services/openai/quotas-limits",
		protocol.CodeModelUnavailable:   "https://ai.azure.com/",
	},
}

// HelpPage returns the help page for a failure from the recognition provider, or else
// from the speech provider. It is "" if neither has one.
func HelpPage(code protocol.ErrorCode, set protocol.Settings) string {
	return cmp.Or(pageOf(code, set.Hears(), set.HearingEndpoint()), pageOf(code, set.Speaks(), set.VoiceEndpoint()))
}

// pageOf returns a provider's help page for a failure. A third-party service that
// speaks OpenAI's protocol has no page.
func pageOf(code protocol.ErrorCode, p protocol.Provider, endpoint string) string {
	if u, err := url.Parse(endpoint); p == protocol.ProviderOpenAI && endpoint != "" &&
		(err != nil || u.Hostname() != "openai.com" && !strings.HasSuffix(u.Hostname(), ".openai.com")) {
		return ""
	}
	return helpPages[p][code]
}
