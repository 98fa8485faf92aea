package main

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/headless"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// The answer to a recording that is over is spoken to its end, although nobody says
// "continue".
func TestTalkContinuesALongAnswerAfterTheRecording(t *testing.T) {
	script, err := headless.Parse(`
		auto speech 50ms 7s
		await state listening
		say "tell me a story"
		copilot.delta "This is the first of many sentences in a long answer. "
		copilot.delta "This is the second of many sentences in a long answer. "
		copilot.delta "This is the third of many sentences in a long answer. "
		copilot.delta "This is the fourth of many sentences in a long answer. "
		copilot.delta "This is the fifth of many sentences in a long answer."
		copilot.done
	`)
	if err != nil {
		t.Fatal(err)
	}
	s := headless.New(script, &dispatch.Virtual{}, daemon.Config{
		Settings: protocol.DefaultSettings(), Verify: true, Log: zerolog.Nop(), Notify: func(string, any) {},
	})
	defer s.Stop() //nolint:errcheck // the test is over
	settle := func() {
		if err := s.Settle(); err != nil {
			t.Fatal(err)
		}
	}
	settle()
	s.Daemon().Post(csm.UserStart{})
	s.Saw(protocol.MethodStart)
	settle()
	s.Advance(time.Minute)
	if !s.Daemon().State().VoicePaused {
		t.Fatalf("a long answer does not pause: %v", s.Daemon().State().Phase())
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	quiet := make(chan struct{})
	go func() {
		awaitQuiet(ctx, s.Daemon(), 20)
		close(quiet)
	}()
	for done := false; !done; {
		select {
		case <-quiet:
			done = true
		case <-time.After(time.Millisecond):
			s.Advance(20 * time.Millisecond)
		}
	}
	if ctx.Err() != nil || s.Daemon().State().Phase() != csm.PhaseListening {
		t.Errorf("the answer was not finished: %v", s.Daemon().State().Phase())
	}
}
