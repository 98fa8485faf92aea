//go:build cgo && linux

package heap

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
static void trim(void) { malloc_trim(0); }

// By default there are eight arenas per processor. Threads leave a model's last pieces in
// each, which keep what is around them: 10 MB more stays after some conversations.
__attribute__((constructor)) static void few_arenas(void) { mallopt(M_ARENA_MAX, 2); }
#else
static void trim(void) {}
#endif
*/
import "C"

// trim is for glibc, which keeps the memory of a freed model in its arenas.
func trim() { C.trim() }
