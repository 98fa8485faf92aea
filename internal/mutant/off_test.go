//go:build !mutants

package mutant

import (
	"errors"
	"strings"
	"testing"
)

// A build without mutants says so, and says which one has them.
func TestAnOrdinaryBuildHasNoMutants(t *testing.T) {
	err := Select("epoch-ignored")
	if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "epoch-ignored") || !strings.Contains(err.Error(), "make debug") {
		t.Errorf("the error does not help: %v", err)
	}
	if n := len(Names()); n != 0 {
		t.Errorf("there are %d names, and no mutant", n)
	}
}
