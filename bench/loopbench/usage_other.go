//go:build !linux

package main

import "errors"

var errNotAccounted = errors.New("process accounting is not supported on this system")

func used(int) (usage, error) { return usage{}, errNotAccounted }
