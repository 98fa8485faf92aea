package daemon

import (
	"net/url"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// helpPages are the providers' pages where a user can do something about a
// failure.
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

// HelpPage is the page of the provider that helps with a failure, "" where there
// is none, such as for a service that only speaks the protocol of the provider.
func HelpPage(code protocol.ErrorCode, set protocol.Settings) string {
	if u, err := url.Parse(set.Endpoint); set.Provider == protocol.ProviderOpenAI && set.Endpoint != "" &&
		(err != nil || u.Hostname() != "openai.com" && !strings.HasSuffix(u.Hostname(), ".openai.com")) {
		return ""
	}
	return helpPages[set.Provider][code]
}
