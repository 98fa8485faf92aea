package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/rs/zerolog"
	"github.com/sourcegraph/jsonrpc2"
	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/record"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/watch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// watchers lets other local programs follow this daemon; nil if the user has no runtime
// folder.
func watchers(r *record.Recorder, name string, log zerolog.Logger) daemon.Watchers {
	folder, err := assets.Watch()
	if err != nil {
		log.Warn().Err(err).Msg("watching is unavailable")
		return nil
	}
	return watch.New(watch.Config{
		Folder: folder, ID: r.ID(), Name: name, Version: version(), Sessions: r.Sessions, Usage: r.Usage, Log: log,
	})
}

// watchFlags are the flags of watch.
type watchFlags struct {
	list, asJSON bool
	verbose      bool
	plain        bool
	pid          int
	session      string
	follow       protocol.WatchParams
}

func newWatch() *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Follow a running conversation, read-only",
		Long: `Follow a running daemon of an editor or of talk: one line per change, until the daemon
exits. If several are running, choose one with --pid or --session.

States, turns and failures are shown, but transcripts only with --words, which requires
agentvoice.privacy.watch=words in that daemon's settings; "off" hides the daemon.
Watching never changes or slows the conversation.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := assets.Watch()
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), folder, os.Stdout)
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&f.list, "list", false, "list the running daemons")
	fs.IntVar(&f.pid, "pid", 0, "follow the daemon with this process id")
	fs.StringVar(&f.session, "session", "", "follow the daemon of this session id (see sessions)")
	fs.BoolVar(&f.follow.Words, "words", false, "also show transcripts, if the daemon's user allows it")
	fs.BoolVar(&f.follow.Levels, "levels", false, "with --json, also print audio levels")
	fs.BoolVar(&f.verbose, "verbose", false, "show the cause and turn of each state")
	fs.BoolVar(&f.plain, "plain", false, plainUsage)
	fs.BoolVar(&f.asJSON, "json", false, "print JSON lines: the snapshot, then each notification")
	return cmd
}

func (f *watchFlags) run(ctx context.Context, folder string, out *os.File) error {
	if f.follow.Levels && !f.asJSON {
		return misuse{errors.New("--levels requires --json; on a terminal the status line shows the levels")}
	}
	if f.pid < 0 {
		return misuse{fmt.Errorf("--pid %d: use a process id above 0; --list shows them", f.pid)}
	}
	cards, err := watch.List(folder)
	if err != nil {
		return err
	}
	if f.list {
		return printDaemons(out, cards, f.asJSON)
	}
	card, err := f.choose(cards)
	if err != nil {
		return err
	}
	to := newScreen(out, f.plain)
	f.follow.Levels = f.follow.Levels || to.live && !f.asJSON
	c, err := watch.Dial(ctx, folder, card, f.follow)
	if err != nil {
		return refusal(err)
	}
	defer func() { _ = c.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	if f.asJSON {
		err = followJSON(c, out)
	} else {
		err = newWatchView(to, f.verbose).follow(ctx, c, card)
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.Is(err, watch.ErrEnded), errors.Is(err, watch.ErrOff):
		if f.asJSON {
			return nil
		}
		_, err = fmt.Fprintf(out, "%v: %v\n", card, err)
		return err
	case errors.Is(err, watch.ErrCrashed):
		return fmt.Errorf("%v: %w; see `agentvoice-daemon sessions` for what it did", card, err)
	default:
		return err
	}
}

// choose returns the daemon to follow.
func (f *watchFlags) choose(cards []watch.Card) (watch.Card, error) {
	var fit []watch.Card
	for _, c := range cards {
		owner, _, _ := strings.Cut(f.session, "-")
		if (f.pid == 0 || c.PID == f.pid) && (f.session == "" || c.ID == owner) {
			fit = append(fit, c)
		}
	}
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) > 1:
		var names []string
		for _, c := range fit {
			names = append(names, c.String())
		}
		return watch.Card{}, misuse{fmt.Errorf("several daemons are running: %s; choose one with --pid", strings.Join(names, ", "))}
	case f.session != "":
		return watch.Card{}, fmt.Errorf("no running daemon has session %s; `agentvoice-daemon sessions` lists past ones", f.session)
	case f.pid != 0:
		return watch.Card{}, fmt.Errorf("no daemon has process id %d; list daemons with --list", f.pid)
	default:
		return watch.Card{}, errors.New("no daemon to follow; start a conversation, and check that agentvoice.privacy.watch is not off")
	}
}

// refusal turns the daemon's error reply into an error with its remedy.
func refusal(err error) error {
	var answer *jsonrpc2.Error
	if !errors.As(err, &answer) {
		return err
	}
	data, _ := protocol.DataOf(answer) // the remedy is optional
	return fmt.Errorf("%s %s", answer.Message, data.Remediation)
}

func printDaemons(out io.Writer, cards []watch.Card, asJSON bool) error {
	if asJSON {
		list := []map[string]any{}
		for _, c := range cards { // omit the token
			list = append(list, map[string]any{"id": c.ID, "pid": c.PID, "name": c.Name, "started": c.Started})
		}
		return json.NewEncoder(out).Encode(list)
	}
	if len(cards) == 0 {
		_, err := fmt.Fprintln(out, "no daemons to follow")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STARTED\tPROCESS\tOF\tSESSIONS")
	for _, c := range cards {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s-*\n", c.Started.Local().Format(time.DateTime), c.PID, c.Name, c.ID)
	}
	return w.Flush()
}

func followJSON(c *watch.Client, out io.Writer) error {
	lines := json.NewEncoder(out)
	err := lines.Encode(map[string]any{"snapshot": c.Snapshot})
	for err == nil {
		var m watch.Message
		if m, err = c.Next(); err == nil {
			err = lines.Encode(m)
		}
	}
	return err
}
