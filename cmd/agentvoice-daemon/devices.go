package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/audio/portaudio"
)

func newDevices() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List the audio devices, for --audio-in and --audio-out",
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := portaudio.Devices()
			if err != nil {
				return err
			}
			return printDevices(cmd.OutOrStdout(), list, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// printDevices lists the devices. It returns an error if there are none.
func printDevices(out io.Writer, list []portaudio.Device, asJSON bool) error {
	noDevice := errors.New("no audio devices found; connect one, start the sound server, or use wav:FILE")
	if asJSON {
		if len(list) == 0 {
			_, err := fmt.Fprintln(out, "[]")
			return errors.Join(err, noDevice)
		}
		return json.NewEncoder(out).Encode(list)
	}
	if len(list) == 0 {
		return noDevice
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tIN\tOUT\tHZ\tDEFAULT")
	for _, d := range list {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%.0f\t%s\n", d.ID, d.Name, d.Inputs, d.Outputs, d.SampleRate, defaults(d))
	}
	return w.Flush()
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
