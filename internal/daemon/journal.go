package daemon

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// JournalHeader begins the journal of a daemon with these settings.
func JournalHeader(build string, c journal.Content, started time.Time, speed float64, s protocol.Settings) journal.Header {
	return journal.Header{Build: build, Content: c, Started: started, Speed: speed}.Configured(coreConfig(s))
}
