// Command modelmirror creates a model mirror for the end-to-end tests:
//
//	modelmirror URL FOLDER MANIFEST LIBRARIES
//
// See package internal/testutil/modelmirror.
package main

import (
	"fmt"
	"os"

	"github.com/agentvoice/agentvoice-daemon/internal/testutil/modelmirror"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: modelmirror URL FOLDER MANIFEST LIBRARIES")
		os.Exit(2)
	}
	if err := modelmirror.Write(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "modelmirror:", err)
		os.Exit(1)
	}
}
