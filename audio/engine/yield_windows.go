package engine

import "golang.org/x/sys/windows"

// yield lowers the priority of this process, so that whoever listens to the microphone
// comes first.
func yield() {
	_ = windows.SetPriorityClass(windows.CurrentProcess(), windows.BELOW_NORMAL_PRIORITY_CLASS)
}
