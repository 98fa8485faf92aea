// Package workspace reads the folder that the user opened. Whoever wrote its files may be
// hostile: a link can lead to a private file or to a device, a named pipe can block its reader
// for ever, and a file or a folder can be larger than memory.
//
// # Model
//
// A Folder opens files below one folder. Links are followed as long as the target is a regular
// file inside the folder. Files are opened without blocking, and what was opened is checked, not
// the name, so that a file cannot be replaced in between. Every read has a limit, and so have all
// reads of one Folder together.
//
// # The caller's loop
//
//	f, err := workspace.Open(dir)
//	defer f.Close()
//	text, err := f.Read("voice-words.md", 64<<10) // or f.Head, for the beginning of a long file
//	err = f.Walk(ctx, ".", workspace.Limits{Entries: 20_000, Depth: 32}, visit)
//
// ReadFile reads a file of the user's own, such as one in the home folder: it may be a link to
// any place, but it is regular and has a limit too.
//
// # Invariants
//
//   - Nothing but regular files and folders is ever read, and no open blocks.
//   - No file outside of the folder is opened, whatever is linked, moved or replaced meanwhile.
//     A hard link cannot be told from the file: a folder on the same file system can contain one to
//     a file that its author can read.
//   - Walk follows no link, and passes no name with characters that do not show.
//   - Errors contain no path.
//
// A test of internal/archtest keeps other packages from opening files of a workspace.
package workspace
