package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"text/tabwriter"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/record"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session/registry"
)

// newRecorder creates the session recorder, in memory if the user has no data folder.
func newRecorder(log zerolog.Logger) *record.Recorder {
	path, err := assets.Record()
	if err != nil {
		log.Warn().Err(err).Msg("sessions are kept in memory only")
	}
	return record.New(path, log)
}

func newSessions() *cobra.Command {
	var asJSON, path bool
	limit := 20
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List past and running conversations",
		Long: `List past and running conversations, newest first, with time, service and number of
turns. If the daemon crashed, the list shows the state it was in.

The record contains no transcripts. It is a SQLite file that only you can read; --path
prints its path. With agentvoice.privacy.persist=false it is kept in memory.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, err := assets.Record()
			if err != nil {
				return err
			}
			if path {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), file)
				return err
			}
			if limit < 1 {
				return misuse{fmt.Errorf("--limit %d: use a number above 0", limit)}
			}
			list, err := readSessions(cmd.Context(), file, limit)
			if err != nil {
				return err
			}
			return printSessions(cmd.OutOrStdout(), list, asJSON)
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&asJSON, "json", false, "print a JSON array")
	fs.BoolVar(&path, "path", false, "print the path of the record")
	fs.IntVar(&limit, "limit", limit, "maximum number to list")
	return cmd
}

// openRecord opens the record for reading. It returns nil if there is none yet.
func openRecord(ctx context.Context, file string) (*registry.Registry, error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r, err := registry.Open(ctx, registry.Options{Path: file})
	if err == nil && r.Damaged() != "" {
		fmt.Fprintf(os.Stderr, "agentvoice-daemon: the record of past sessions was damaged; the old file is kept as %s\n", r.Damaged())
	}
	return r, err
}

func readSessions(ctx context.Context, file string, limit int) (list []registry.Session, err error) {
	r, err := openRecord(ctx, file)
	if r == nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return r.Sessions(ctx, limit)
}

func printSessions(out io.Writer, list []registry.Session, asJSON bool) error {
	wire := record.Summaries(list).Sessions
	if asJSON {
		return json.NewEncoder(out).Encode(wire)
	}
	if len(wire) == 0 {
		_, err := fmt.Fprintln(out, "no recorded sessions")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STARTED\tLASTED\tSERVICE\tTURNS\tSTATE\tID")
	for _, s := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", s.Started.Local().Format(time.DateTime), lasted(s), s.Provider, s.Turns, outcome(s), s.ID)
	}
	return w.Flush()
}

// lasted is the session's duration, which is unknown after a crash.
func lasted(s registry.Session) string {
	if s.Ended.IsZero() || s.Crashed {
		return "-"
	}
	return s.Ended.Sub(s.Started).Round(time.Second).String()
}

func outcome(s registry.Session) string {
	switch {
	case s.Crashed:
		return fmt.Sprintf("crashed while %v", s.Was)
	case !s.Ended.IsZero():
		return "ended"
	default:
		return string(protocol.SessionState(s.State.String()))
	}
}
