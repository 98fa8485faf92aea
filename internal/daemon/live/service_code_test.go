package live

import (
	"errors"
	"fmt"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// TestCredentialCodesAreKnownToTheCore: the journal would refuse a service's code that
// the core does not know, and it would be shown as an internal error.
func TestCredentialCodesAreKnownToTheCore(t *testing.T) {
	for err, want := range map[error]csm.Code{
		errors.New("no key"): csm.CodeCredentialsMissing,
		fmt.Errorf("mint: %w", &realtime.Error{Code: "authentication"}):  csm.CodeAuthentication,
		fmt.Errorf("mint: %w", &realtime.Error{Code: "teapotOverflown"}): csm.CodeSessionFailed,
	} {
		if got := credentialCode(err); got != want {
			t.Errorf("%v is %s, want %s", err, got, want)
		}
	}
}
