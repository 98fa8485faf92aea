//go:build cgo

package pronounce

import (
	"sync"
	"testing"
)

// TestUnknownWordsAreSoundedOut checks the letter-to-sound rules, from several goroutines.
func TestUnknownWordsAreSoundedOut(t *testing.T) {
	d := dictionary(t, American)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for word, want := range map[string]string{"frobnicate": "fɹˈɑbnəkət", "zyxwish": "zˈɪkswɪʃ"} {
				if got := d.Phonemes(word); got != want {
					t.Errorf("%s is %s, want %s", word, got, want)
				}
			}
		})
	}
	wg.Wait()
}
