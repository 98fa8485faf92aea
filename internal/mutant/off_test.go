//go:build !mutants

package mutant

import (
	"errors"
	"strings"
	"testing"
)

// The error of a build without mutants names the build that has them.
func TestAnOrdinaryBuildHasNoMutants(t *testing.T) {
	err := Select("epoch-ignored")
	if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "epoch-ignored") || !strings.Contains(err.Error(), "make debug") {
		t.Errorf("the error does not help: %v", err)
	}
	if n := len(Names()); n != 0 {
		t.Errorf("%d names in a build without mutants", n)
	}
}
