package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, platform and protocol version",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(thisBuild())
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), thisBuild())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// build identifies this build.
type build struct {
	Version         string `json:"version"`
	ProtocolVersion string `json:"protocolVersion"`
	JournalFormat   int    `json:"journalFormat"`
	Platform        string `json:"platform"`
	Go              string `json:"go"`
}

func thisBuild() build {
	return build{version(), protocol.Version, journal.Version, runtime.GOOS + "/" + runtime.GOARCH, runtime.Version()}
}

func (b build) String() string {
	return fmt.Sprintf("agentvoice-daemon %s, protocol %s, journal format %d, %s, %s", b.Version, b.ProtocolVersion, b.JournalFormat, b.Platform, b.Go)
}

// release is the version of the package that this build is for; the linker sets it.
var release string

// version is that of the package, or the module version, or the VCS revision of the build.
func version() string {
	if release != "" {
		return "v" + release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			commit = s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+"
		}
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	if commit == "" {
		return "devel"
	}
	return "devel-" + commit + dirty
}
