//go:build !cgo

package main

import "errors"

func record(string, string) error {
	return errors.New("recording needs the speech engines; build with cgo")
}
