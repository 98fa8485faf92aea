//go:build cgo

package portaudio

// #include <stdlib.h>
import "C"

import (
	"fmt"
	"os"
	"strings"
	"unsafe"
)

// configuration keeps a file open for as long as the process runs.
var configuration *os.File

// Configure names the file with ALSA's configuration. It must be called before any other
// thread reads the environment, that is, when the program starts. Child processes do not
// inherit it.
//
// ALSA's library takes the name as a list of names separated by spaces and colons. A file
// whose name has one is therefore named by its descriptor.
func Configure(path string) {
	if strings.ContainsAny(path, " :") {
		if f, err := os.Open(path); err == nil {
			configuration, path = f, fmt.Sprintf("/proc/self/fd/%d", f.Fd())
		}
	}
	name, value := C.CString("ALSA_CONFIG_PATH"), C.CString(path)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(value))
	C.setenv(name, value, 1)
}
