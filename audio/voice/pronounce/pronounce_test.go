package pronounce

import (
	"strings"
	"testing"
)

// written are texts and the words that are spoken. The words are compared, since their
// pronunciations are those of the lists.
var written = []struct{ text, want string }{
	// numbers
	{"0 7 13 21 100 105 999", "zero seven thirteen twenty one one hundred one hundred five nine hundred ninety nine"},
	{"1,234 lines", "one thousand two hundred thirty four lines"},
	{"1000000", "one million"},
	{"2,000,001", "two million one"},
	{"007", "zero zero seven"},
	{"12345678901234567", "one two three four five six seven eight nine zero one two three four five six seven"},
	{"3.14", "three point one four"},
	{".5", "point five"},
	{"-5", "minus five"},
	{"5-10", "five to ten"},
	{"5–10", "five to ten"},
	{"12/15 passed", "twelve out of fifteen passed"},
	{"24/7", "twenty four slash seven"},
	{"1st 2nd 3rd 4th 12th 20th 21st", "first second third fourth twelfth twentieth twenty first"},
	{"the 1990s", "the nineteen nineties"},
	{"in 2024", "in twenty twenty four"},
	{"in 2006", "in two thousand six"},
	{"2024 lines", "two thousand twenty four lines"},
	{"2024-05-01", "May first twenty twenty four"},
	{"10:30, 9:05, 10:00", "ten thirty , nine oh five , ten o'clock"},
	{"1m30s", "one minute thirty seconds"},
	{"1.2.3", "one point two point three"},
	{"v1.26.0", "v one point twenty six point zero"},
	{"Go 1.26", "Go one point twenty six"},
	{"127.0.0.1:8080", "one twenty seven dot zero dot zero dot one eighty eighty"},
	{"port 8080", "port eighty eighty"},
	{"port 443", "port four forty three"},
	{"HTTP 404, error 500", "HTTP four oh four , error five hundred"},
	{"100% of 50 %", "one hundred percent of fifty percent"},
	{"150ms, 1s, 5 MB, 1 GB", "one hundred fifty milliseconds , one second , five megabytes , one gigabyte"},
	{"$5, $5.99, $1, €3 million, $2.5k", "five dollars , five dollars and ninety nine cents , one dollar , three million euros , two point five thousand dollars"},
	{"#5", "number five"},
	{"~20", "about twenty"},
	{"½", "one out of two"},
	// signs
	{"a & b", "a and b"},
	{"x == y", "x equals y"},
	{"x != y && z", "x is not y and z"},
	{"client -> server → disk", "client to server to disk"},
	{"20°C", "twenty degrees C"},
	{"src/main.go", "src slash main dot go"},
	{"*.go", "star dot go"},
	{"@alice", "at alice"},
	{"--verbose", "dash dash verbose"},
	{"https://go.dev/doc", "go dot dev slash doc"},
	{".gitignore", "dot gitignore"},
	// identifiers
	{"parseConfig", "parse config"},
	{"HTTPServer", "HTTP server"},
	{"max_retry_count", "max retry count"},
	{"fix-login-timeout", "fix login timeout"},
	{"main.go:42", "main dot go line forty two"},
	{"sha256 int32 x86 utf8", "sha two fifty six int thirty two x86 utf eight"},
	{"foo(bar)", "foo bar"},
	{"GitHub APIs", "GitHub APIs"},
	{"foo()", "foo"},
	{"`code` and \"quotes\"", "code and quotes"},
	// marks
	{"One. Two! Three? Four… Five", "One . Two ! Three ? Four … Five"},
	{"Wait... what?!", "Wait … what ?"},
	{"the default (30 seconds) applies", "the default , thirty seconds , applies"},
	{"one — two – three - four--five", "one — two — three — four — five"},
	{"One.\n\nTwo.", "One . \n Two ."},
	{"One,\ntwo", "One , two"},
	{"e.g. this, etc.", "e.g. this , etc."},
	{"See No. 5. No.", "See No. five . No ."},
	{"C++ and C#.", "C++ and C# ."},
	// nothing to speak
	{"", ""}, {"🎉 ✅", ""}, {"...", ""}, {"\n\n", ""},
}

func TestReadsWrittenText(t *testing.T) {
	d := dictionary(t, American)
	for _, tt := range written {
		var words []string
		for _, i := range d.read(tt.text) {
			words = append(words, i.text)
		}
		if got := strings.Join(words, " "); got != tt.want {
			t.Errorf("%q is read as\n\t%q, want\n\t%q", tt.text, got, tt.want)
		}
	}
}

func TestPronounces(t *testing.T) {
	for _, tt := range []struct {
		variant    Variant
		text, want string
	}{
		{American, "One change is not committed.", "wˈʌn ʧˈAnʤ ɪz nˌɑt kəmˈɪɾᵻd."},
		{American, "parsers", "pˈɑɹsəɹz"},
		{American, "API", "ˌApˌiˈI"},
		{American, "APIs", "ˌApˌiˈIz"},
		{American, "URL's", "jˌuˌɑɹˈɛlz"},
		{American, "npm", "ˌɛnpˌiˈɛm"},
		{American, "JSON", "ʤˈAsˌɑn"},
		{American, "XKCD", "ˌɛkskˌAsˌidˈi"},
		{American, "SELECT", "səlˈɛkt"},
		{American, "kubectl", "kjˈub kəntɹˈOl"},
		// endings
		{American, "linters", "lˈɪntəɹz"},
		{American, "mutexes", "mjˈutˌɛksᵻz"},
		{American, "rebased", "ɹibˈAst"},
		{American, "linted", "lˈɪntᵻd"},
		{American, "goroutine's", "ɡˈOɹutˌinz"},
		{American, "unmarshaled", "ʌnmˈɑɹʃᵊld"},
		{American, "reindexing", "ɹˌiˈɪndɛksɪŋ"},
		{American, "codebase", "kˈOdbˌAs"},
		{American, "webhook", "wˈɛb hˈʊk"},
		// neighbours
		{American, "the apple, the pear", "ði ˈæpᵊl, ðə pˈɛɹ"},
		{American, "a test", "ɐ tˈɛst"},
		{American, "A test. Option A.", "ɐ tˈɛst. ˈɑpʃən ˈA."},
		{American, "to open, to close", "tʊ ˈOpᵊn, tə klˈOz"},
		{American, "Close the file.", "klˈOz ðə fˈIl."},
		{American, "It is close.", "ˌɪt ɪz klˈOs."},
		{American, "Read it. I have read it.", "ɹˈid ɪt. ˌI hæv ɹˈɛd ɪt."},
		{American, "They live here. It is live.", "ðˌA lˈɪv hˈɪɹ. ˌɪt ɪz lˈIv."},
		{American, "Record the use of it.", "ɹəkˈɔɹd ðə jˈus ʌv ɪt."},
		{American, "A record to use.", "ɐ ɹˈɛkəɹd tə jˈuz."},
		{American, "plan B of 3", "plˈæn bˈi ʌv θɹˈi"},
		{British, "The parser reads the cache.", "ðə pˈɑːsə ɹˈiːdz ðə kˈaʃ."},
		{British, "linter", "lˈɪntə"},
		{British, "config", "kˈɒnfˌɪɡ"},
		{British, "repo", "ɹˈiːpQ"},
	} {
		if got := dictionary(t, tt.variant).Phonemes(tt.text); got != tt.want {
			t.Errorf("%q is %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestTokensPointToTheText checks which part of the text each token stands for.
func TestTokensPointToTheText(t *testing.T) {
	text := "Öffne parseConfig, line 42; $5."
	var got []string
	for _, tok := range dictionary(t, American).Tokens(text) {
		got = append(got, text[tok.Start:tok.End])
	}
	if want := "Öffne|parse|Config|,|line|42|42|;|5|5|."; strings.Join(got, "|") != want {
		t.Errorf("%s, want %s", strings.Join(got, "|"), want)
	}
}
