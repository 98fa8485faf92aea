package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/audio/portaudio"
)

func newDevices() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List the audio devices, for --audio-in and --audio-out",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := portaudio.Devices()
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(list)
			}
			if len(list) == 0 {
				return fmt.Errorf("there is no audio device; plug one in, start the sound server, or use wav:FILE")
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tNAME\tIN\tOUT\tHZ\tDEFAULT")
			for _, d := range list {
				fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%.0f\t%s\n", d.ID, d.Name, d.Inputs, d.Outputs, d.SampleRate, defaults(d))
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func defaults(d portaudio.Device) string {
	switch {
	case d.DefaultInput && d.DefaultOutput:
		return "in, out"
	case d.DefaultInput:
		return "in"
	case d.DefaultOutput:
		return "out"
	default:
		return ""
	}
}
