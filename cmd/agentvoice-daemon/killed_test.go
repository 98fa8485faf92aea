//go:build cgo && !race

package main

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// Live daemons are killed at random points of a conversation: the record can be opened,
// all their sessions are inactive with their last state, and those of a running daemon
// are not changed (003, stale session recovery).
func Test003KilledLive(t *testing.T) {
	const kills = 16
	folder := filepath.Join(t.TempDir(), "record")
	alive := startSidecar(t, folder, "")
	alive.call(protocol.MethodStart, "{}", nil)
	alive.state(protocol.StateListening)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range kills {
		s := startSidecar(t, folder, "", "--log-level", "error")
		s.send(protocol.MethodStart, "{}")
		most := 200
		if i%4 > 0 { // in every fourth run it may still be starting
			most = 700
			s.state(protocol.StateListening)
		}
		if i%4 > 1 { // in the second one it listens
			s.send(protocol.MethodSendText, `{"text":"hello"}`)
		}
		if i%4 > 2 { // and in the last one a turn certainly runs
			sessionIs(s, "running")
			most = 200
		}
		time.Sleep(time.Duration(random.IntN(most)) * time.Millisecond)
		s.kill()
		live := 0
		for _, l := range onRecord(t, folder) {
			if l.State != session.Inactive {
				live++
			}
		}
		if live != 1 {
			t.Errorf("seed %d: %d sessions are live after a crash", seed, live)
		}
	}
	was := map[string]int{}
	for _, l := range onRecord(t, folder) {
		if l.Crashed {
			was[l.Was.String()]++
		}
	}
	t.Logf("%d kills; the sessions were %v", kills, was)
	if was["ready"] == 0 || was["running"] == 0 {
		t.Errorf("seed %d: the kills came at too few points: %v", seed, was)
	}
	var r protocol.SessionsResult
	alive.call(protocol.MethodSessions, "null", &r)
	if n := len(r.Sessions); n == 0 || r.Sessions[n-1].State != protocol.SessionReady {
		t.Errorf("the session of the daemon that runs is %+v", r.Sessions)
	}
	alive.end()
	for _, l := range onRecord(t, folder) {
		if l.State != session.Inactive {
			t.Errorf("%+v", l)
		}
	}
}
