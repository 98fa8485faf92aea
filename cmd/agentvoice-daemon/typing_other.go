//go:build !linux && !darwin

package main

import "os"

// hideTyping does nothing: the next status line covers what is typed.
func hideTyping(*os.File) (show func()) { return func() {} }
