// Package git reads the repository of the folder that the user opened, with the program git.
// Whoever made the repository may be hostile: its configuration and attributes can name programs
// (filters, a file system monitor, hooks, pagers, external diffs, credential helpers), and its
// files can be links and pipes.
//
// # Model
//
// git never sees the repository's own git folder as such. Each command gets a git folder of its
// own, made for it and removed after it: the head, the branches and the excludes of the
// repository, copied by package workspace, and a configuration that has only the values of a
// short list (how names and line ends are stored). The objects and the index of the repository
// are read in place. So no program that the repository names is configured, whatever its
// settings are called, and an attribute that asks for a filter finds none.
//
// The environment is cleaned of variables that direct git. A command has a deadline, a limit of
// output and of memory for one object, does not prompt, fetch or lock, and ends with all that it
// started.
//
// Without filters, a file that a filter stores in another form (Git LFS) counts as changed once it
// was touched.
//
// A file .git that leads out of its folder, as those of worktrees and submodules do, is followed
// only if the place that it leads to names that folder.
//
// # The caller's loop
//
//	r, err := git.Find(ctx, dir)
//	defer r.Close()
//	names, err := r.Files(ctx)
//
// # Invariants
//
//   - No program but git runs.
//   - Nothing of the repository is written.
//   - There is no way to run any other git command; a test of internal/archtest keeps other
//     packages from running git.
package git
