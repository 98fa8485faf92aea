package explore

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// WriteScenario writes a violation's events as text, one per line with its time.
func WriteScenario(w io.Writer, v *Violation) error {
	if _, err := fmt.Fprintf(w, "# %v\n", v); err != nil {
		return err
	}
	for _, e := range v.Steps {
		data, err := json.Marshal(e.Event)
		if err != nil {
			return fmt.Errorf("event %d (%v): %w", e.Seq, csm.KindOf(e.Event), err)
		}
		if _, err := fmt.Fprintf(w, "at %dms event %v %s\n", e.At.Milliseconds(), csm.KindOf(e.Event), data); err != nil {
			return err
		}
	}
	return nil
}
