package sherpa

import "golang.org/x/sys/windows"

func openLibrary(path string) (uintptr, error) {
	// Search the library's own folder for its dependencies.
	h, err := windows.LoadLibraryEx(path, 0, windows.LOAD_WITH_ALTERED_SEARCH_PATH)
	return uintptr(h), err
}

func symbol(library uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(library), name)
}
