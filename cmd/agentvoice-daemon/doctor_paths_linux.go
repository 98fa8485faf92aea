package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// linkedLibraries says from which folders the system loaded the libraries that the program is
// linked to.
func linkedLibraries() []finding {
	loaded, err := os.Open("/proc/self/maps")
	if err != nil {
		return []finding{found("linked libraries", false, "", nil, fault{"the loaded libraries are unknown: " + err.Error(), "mount /proc"})}
	}
	defer loaded.Close()
	return []finding{found("linked libraries", false, listed(loaded), nil, nil)}
}

// listed is the libraries in a file like /proc/self/maps, by folder.
func listed(loaded io.Reader) string {
	libraries := map[string][]string{} // their names, by folder
	for lines := bufio.NewScanner(loaded); lines.Scan(); {
		_, path, ok := strings.Cut(lines.Text(), "/")
		dir, name := filepath.Split("/" + path)
		if ok && strings.Contains(name, ".so") && !slices.Contains(libraries[dir], name) {
			libraries[dir] = append(libraries[dir], name)
		}
	}
	var all []string
	for _, dir := range slices.Sorted(maps.Keys(libraries)) {
		slices.Sort(libraries[dir])
		all = append(all, fmt.Sprintf("%s: %s", filepath.Clean(dir), strings.Join(libraries[dir], " ")))
	}
	return strings.Join(all, "; ")
}
