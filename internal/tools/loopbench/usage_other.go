//go:build !linux

package main

import "errors"

var errNotAccounted = errors.New("the use of a process is not accounted here")

func used(int) (usage, error) { return usage{}, errNotAccounted }
