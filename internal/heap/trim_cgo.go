//go:build cgo && linux

package heap

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
static void trim(void) { malloc_trim(0); }
#else
static void trim(void) {}
#endif
*/
import "C"

// trim is for glibc, which keeps the memory of a freed model in its arenas.
func trim() { C.trim() }
