package fields

import "testing"

func TestEmpty(t *testing.T) {
	if n := len(splitFields(",,")); n < 2 {
		t.Errorf("got %d fields", n)
	}
}

func TestLastField(t *testing.T) {
	if n := len(splitFields("one,two,three")); n != 3 {
		t.Errorf("got %d fields, want 3", n)
	}
}
