//go:build cgo

package pronounce

/*
#cgo LDFLAGS: -lflite_cmulex -lflite -lm
#include <stdlib.h>
#include <flite/flite.h>
#include <flite/cst_lts.h>

// The tables of the rules have no header.
extern const cst_lts_addr cmu_lts_letter_index[];
extern const cst_lts_model cmu_lts_model[];
extern const char * const cmu_lts_phone_table[];

// Flite fills rules of its own when its lexicon is initialized, for the whole process.
// These are the same, and read-only.
static const cst_lts_rules rules = {
	"cmu", cmu_lts_letter_index, cmu_lts_model, cmu_lts_phone_table, 4, 1, NULL,
};

static cst_val *sound_out(const char *word) { return lts_apply(word, "", &rules); }
*/
import "C"

import "unsafe"

// sounded applies the letter-to-sound rules to a word of lower-case letters. It returns ""
// if they give nothing.
func sounded(word string) string {
	cword := C.CString(word)
	defer C.free(unsafe.Pointer(cword))
	list := C.sound_out(cword)
	if list == nil {
		return ""
	}
	defer C.delete_val(list)
	var phones []string
	for v := (*C.cst_val)(list); v != nil; v = C.val_cdr(v) {
		phones = append(phones, C.GoString(C.val_string(C.val_car(v))))
	}
	return fromPhones(phones)
}
