package pronounce

import "testing"

func TestBritish(t *testing.T) {
	for american, want := range map[string]string{
		"kˈæʃ": "kˈaʃ", "lˈɪntəɹ": "lˈɪntə", "pˈɑɹsəɹ": "pˈɑːsə", "ɹˈipO": "ɹˈiːpQ", "ˈɛɹəɹ": "ˈɛɹə", "sˈɪɹiəlˌIz": "sˈɪɹiəlˌIz", "mˈɛɾədˌAɾə": "mˈɛtədˌAtə", "ɡˈui": "ɡˈuːi",
	} {
		if got := british(american); got != want {
			t.Errorf("%s is %s, want %s", american, got, want)
		}
	}
}

func TestPhonesBecomeSymbols(t *testing.T) {
	for _, tt := range []struct {
		phones []string
		want   string
	}{
		{[]string{"f", "r", "aa1", "b", "n", "ax0", "k", "ey2", "t"}, "fɹˈɑbnəkˌAt"},
		{[]string{"ah0", "b", "er1", "jh"}, "əbˈɜɹʤ"},
		{[]string{"k", "ae", "t"}, "kˈæt"}, // no stress given
		{nil, ""},
	} {
		if got := fromPhones(tt.phones); got != tt.want {
			t.Errorf("%v is %s, want %s", tt.phones, got, tt.want)
		}
	}
}
