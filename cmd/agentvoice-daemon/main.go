// Command agentvoice-daemon talks with a coding assistant by voice: as an editor's sidecar
// (serve), in a terminal (talk), and with tools to inspect recorded conversations.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"os/user"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/audio/portaudio"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// main does not use os.Exit, which runs the destructors of the C++ libraries under the race
// detector, beneath a model that is still being loaded.
func main() { syscall.Exit(run(os.Args[1:])) }

// Exit statuses (protocol, section 1).
const (
	exitFailed  = 1
	exitMisused = 2
)

// run runs the command line and returns the exit status.
func run(args []string) int {
	prepare()
	ctx, stop := stopOnSignal()
	defer stop()
	root := newRoot()
	root.SetArgs(args)
	err := execute(ctx, root)
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "agentvoice-daemon: "+strings.ReplaceAll(err.Error(), "\n", " "))
	var wrong misuse
	if errors.As(err, &wrong) {
		return exitMisused
	}
	return exitFailed
}

// prepare completes the environment before any thread of a library reads it: the home folder, if
// the program is started without one, and ALSA's configuration, if the system has none.
func prepare() {
	if _, err := os.UserHomeDir(); err != nil {
		if u, err := user.Current(); err == nil && u.HomeDir != "" {
			_ = os.Setenv("HOME", u.HomeDir) // an error leaves it unset
		}
	}
	if path := assets.ALSA(); path != "" {
		portaudio.Configure(path)
	}
}

// stopsWithin is how long a command may take to stop: a conversation has 3 s to end, its agent and its voice
// a few more, and then its record is written.
const stopsWithin = 12 * time.Second

// execute runs the command. One that does not stop when it is told to, since it waits for what may
// never come, is left behind.
func execute(ctx context.Context, root *cobra.Command) error {
	done := make(chan error, 1)
	go func() { done <- root.ExecuteContext(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	stopped := errors.New("stopped before the end; run the command again")
	select {
	case err := <-done:
		if errors.Is(err, context.Canceled) {
			return stopped
		}
		return err
	case <-time.After(stopsWithin):
		return stopped
	}
}

// stopOnSignal returns a context that the first stop signal cancels. A second signal kills the
// process, since the user does not want to wait.
func stopOnSignal() (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, stopSignals...)
	go func() {
		select {
		case <-signals:
		case <-ctx.Done():
		}
		signal.Stop(signals) // before cancelling, so that the next signal kills
		stop()
	}()
	return ctx, stop
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "agentvoice-daemon",
		Short:         "Talk with a coding assistant, hands-free",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
	}
	root.SetVersionTemplate(thisBuild().String() + "\n")
	root.AddCommand(newServe(), newTalk(), newRealtimeServer(), newReplay(), newTimeline(), newGraph(), newExplore(), newDoctor(), newModels(), newBench(), newDevices(), newSessions(), newUsage(), newWatch(), newJournals(), newSettings(), newWords(), newCommands(), newVersion(), newEngine())
	explainMisuse(root)
	addHelp(root)
	return root
}
