package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

var errNotAccounted = errors.New("process accounting is not supported on this system")

// used returns the resources used so far by a process and its children, such as speech engines.
func used(pid int) (usage, error) {
	u, err := usedAlone(pid)
	if err != nil {
		return u, err
	}
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return u, err
	}
	for _, list := range lists {
		children, _ := os.ReadFile(list) // fails if the thread has ended
		for child := range strings.FieldsSeq(string(children)) {
			id, err := strconv.Atoi(child)
			if err != nil {
				return u, err
			}
			if c, err := used(id); err == nil { // it may have ended
				u.cpu, u.wakeups, u.memory = u.cpu+c.cpu, u.wakeups+c.wakeups, u.memory+c.memory
			}
		}
	}
	return u, nil
}

func usedAlone(pid int) (u usage, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || len(threads) == 0 {
		return u, errors.Join(err, fmt.Errorf("process %d has exited", pid))
	}
	for _, thread := range threads {
		sched, err := os.ReadFile(filepath.Join(thread, "schedstat"))
		if err != nil {
			return u, errNotAccounted
		}
		ns, err := strconv.ParseInt(strings.Fields(string(sched))[0], 10, 64)
		if err != nil {
			return u, err
		}
		u.cpu += time.Duration(ns)
		switches, err := field(filepath.Join(thread, "status"), "voluntary_ctxt_switches:")
		if err != nil {
			return u, err
		}
		u.wakeups += switches
	}
	kib, err := field(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:")
	u.memory = kib * 1024
	return u, err
}

// field returns a number from a file of the form "name value".
func field(path, name string) (int64, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			return strconv.ParseInt(f[1], 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", path, name)
}
