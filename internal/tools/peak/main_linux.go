// Command peak runs a command and prints the most memory that one of its processes took:
//
//	peak -limit 300 -- out/fuzz.test -test.fuzz FuzzRead
//
// The exit status is that of the command, or 1 if the memory exceeds the limit.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

func main() {
	limit := flag.Int64("limit", 0, "memory at most, in `MB`")
	flag.Parse()
	if flag.NArg() == 0 || *limit <= 0 {
		fmt.Fprintln(os.Stderr, "peak: give a limit and a command: peak -limit MB -- COMMAND")
		os.Exit(2)
	}
	cmd := exec.Command(flag.Arg(0), flag.Args()[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		fmt.Fprintln(os.Stderr, "peak:", err)
		os.Exit(1)
	}
	// The kernel's value is the largest of the command and of the processes that it waited for.
	took := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	fmt.Printf("memory: %d MB\n", took)
	switch {
	case failed != nil:
		os.Exit(failed.ExitCode())
	case took > *limit:
		fmt.Fprintf(os.Stderr, "peak: %d MB are more than %d MB\n", took, *limit)
		os.Exit(1)
	}
}
