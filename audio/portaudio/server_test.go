package portaudio

import (
	"slices"
	"testing"
)

func TestServerAddresses(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want [][2]string
	}{
		{map[string]string{"PULSE_SERVER": "unix:/a/b"}, [][2]string{{"unix", "/a/b"}}},
		{map[string]string{"PULSE_SERVER": "{0123}unix:/a/b /c tcp:host tcp6:[::1]:9 other"}, [][2]string{
			{"unix", "/a/b"}, {"unix", "/c"}, {"tcp", "host:4713"}, {"tcp6", "[::1]:9"}, {"tcp", "other:4713"}}},
		{map[string]string{"PULSE_RUNTIME_PATH": "/p", "XDG_RUNTIME_DIR": "/x"}, [][2]string{{"unix", "/p/native"}}},
		{map[string]string{"XDG_RUNTIME_DIR": "/x"}, [][2]string{{"unix", "/x/pulse/native"}}},
		{nil, [][2]string{{"unix", "/run/user/7/pulse/native"}}},
	} {
		got := serverAddresses(func(name string) string { return c.env[name] }, 7)
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.env, got, c.want)
		}
	}
}

// TestTagsRejectMalformedAnswers: truncated answers and unexpected types give an error at any
// position, without a panic.
func TestTagsRejectMalformedAnswers(t *testing.T) {
	w := new(tagWriter).u32(1).text("name").text("Its name")
	w.b = append(w.b, tagSpec, 3, 2, 0, 0, 0xbb, 0x80, tagMap, 2, 1, 2)
	w.u32(noIndex)
	w.b = append(w.b, tagVolume, 1, 0, 0, 0, 0, tagFalse)
	w.u32(noIndex)
	w.b = append(w.b, tagNoText, tagUsec, 0, 0, 0, 0, 0, 0, 0, 0)
	w.text("driver").u32(0)
	r := &tagReader{rest: w.b}
	d, monitor := r.device(capture)
	if r.err != nil || len(r.rest) > 0 || monitor || d.ID != "pulse:name" || d.Name != "Its name" || d.Inputs != 2 || d.SampleRate != 48000 {
		t.Fatalf("%+v, %v, %d bytes left", d, r.err, len(r.rest))
	}
	for n := range w.b {
		r := &tagReader{rest: slices.Clone(w.b[:n])}
		if r.device(capture); r.err == nil {
			t.Errorf("accepted %d bytes of %d", n, len(w.b))
		}
	}
	for i := range w.b {
		b := slices.Clone(w.b)
		b[i] ^= 0xff
		(&tagReader{rest: b}).device(playback)
	}
}
