package secondmodel

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/csmtest"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

// traces returns this build's traces of every scenario and journal of the tree.
func traces(root string) ([]trace, error) {
	var all []trace
	add := func(name string, steps []step) error {
		t, err := read(name, steps)
		all = append(all, t)
		return err
	}
	for _, dir := range []string{"testdata/csm", "testdata/regressions"} {
		scenarios, err := csmtest.Scenarios(os.DirFS(filepath.Join(root, dir)))
		if err != nil {
			return nil, err
		}
		for _, s := range scenarios {
			var steps []step
			for _, st := range csmtest.Happen(s) {
				steps = append(steps, step{st.Envelope.Event, st.After.Phase().String(), st.Effects})
			}
			if err := add(s.Name, steps); err != nil {
				return nil, err
			}
		}
	}
	journals, err := journal.ReadFiles(filepath.Join(root, "testdata/journals"))
	if err != nil {
		return nil, err
	}
	for _, j := range journals {
		steps, err := rerun(j)
		if err != nil {
			return nil, err
		}
		if err := add(filepath.Base(j.Path), steps); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// rerun steps the core through a journal's events, ignoring the recorded results.
func rerun(j *journal.Journal) (steps []step, err error) {
	defer func() {
		if recover() != nil { // caused by a mutant; earlier steps remain valid
			err = nil
		}
	}()
	s := csm.Initial()
	for _, l := range j.Lines {
		if l.Event == "" {
			continue
		}
		env, err := l.Envelope()
		if err != nil {
			return nil, err
		}
		if c, ok := env.Event.(csm.Configure); ok { // missing settings have their defaults
			c.Config = csm.DefaultConfig()
			if err := json.Unmarshal(l.Data, &c); err != nil {
				return nil, fmt.Errorf("%s line %d: %w", j.Path, l.Number, err)
			}
			env.Event = c
		}
		var fx []csm.Effect
		s, fx = csm.Step(s, env)
		steps = append(steps, step{env.Event, s.Phase().String(), fx})
	}
	return steps, nil
}
