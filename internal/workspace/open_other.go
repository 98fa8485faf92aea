//go:build !unix

package workspace

// nonBlocking is 0: a folder of Windows contains no pipes, and os.Root refuses the names of
// devices.
const nonBlocking = 0
