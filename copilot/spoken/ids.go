package spoken

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// spelledChars is the number of characters by which an id is said: they tell two ids of an
// answer apart, and the panel shows the whole id.
const spelledChars = 4

// Lengths of runs of letters and digits, in bytes.
const (
	minHexID    = 7  // git abbreviates a commit to seven digits
	minRandomID = 8  // shorter runs are read as they are
	minSecret   = 16 // a key behind a known prefix
	minEncoded  = 32 // longer random text is a token or data, not an id
	maxMixed    = 12 // a longer run of letters and digits is said in parts
	maxDigits   = 10 // a number of more digits is announced
	maxFraction = 6  // a fraction of more digits is rounded down
)

var (
	uuid       = regexp.MustCompile(`[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)
	jwt        = regexp.MustCompile(`eyJ[\w-]{6,}\.[\w-]{6,}(?:\.[\w-]*)*`)
	dataURL    = regexp.MustCompile(`data:[\w./+;=-]*;base64,[\w+/=-]*`)
	macAddress = regexp.MustCompile(`\b[0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){5,}\b`)
	ipv6       = regexp.MustCompile(`(?i)^\[?[0-9a-f]{1,4}:(?:[0-9a-f]{0,4}:){1,6}[0-9a-f]{0,4}(?:/\d+|%\w+)?\]?$`)
	hexNumber  = regexp.MustCompile(`\b0[xX]([0-9a-fA-F]+)\b`)
	secret     = regexp.MustCompile(`\b(?:(?:sk|pk|rk|whsec|gh[opsur]|github_pat|glpat|xox[a-z]|hf|npm|pypi|shpat|dop_v1|ya29|SG)[-_.]|AKIA|ASIA|AIza)[\w.-]{14,}`)
	credential = regexp.MustCompile(`(?i)((?:key|token|secret|passwd|password)["']?[=:]["']?)([\w+/.=-]{12,})`)
	alnum      = regexp.MustCompile(`[0-9A-Za-z]+`)
)

// shortIDs replaces ids in a word: what is left of an id is its first characters, spelled. Of
// a secret nothing is left.
func (l *language) shortIDs(w string) string {
	if len(w) < minHexID && !strings.HasPrefix(w, "0x") {
		return w
	}
	if strings.Contains(w, ";base64,") {
		w = dataURL.ReplaceAllString(w, l.encoded)
	}
	if strings.Contains(w, "eyJ") {
		w = jwt.ReplaceAllString(w, l.token)
	}
	if strings.ContainsAny(w, "0123456789") {
		if m := fraction.FindStringSubmatch(w); m != nil {
			return l.about + " " + rounded(m[1], m[2])
		}
		if strings.IndexByte(w, ':') >= 0 || strings.Count(w, "-") > 4 {
			w = macAddress.ReplaceAllString(w, l.mac)
			if ipv6.MatchString(w) && strings.Count(w, ":") > 3 {
				return l.ipv6
			}
		}
		if m := credential.FindStringSubmatchIndex(w); m != nil && strings.ContainsAny(w[m[4]:m[5]], "0123456789") {
			w = w[:m[4]] + l.token + w[m[5]:]
		}
		w = uuid.ReplaceAllStringFunc(w, spelled)
		w = hexNumber.ReplaceAllStringFunc(w, l.sayHex)
		w = secret.ReplaceAllStringFunc(w, func(s string) string {
			if len(s) < minSecret || strings.IndexByte(s, ' ') >= 0 || !hasRandomRun(s) {
				return s
			}
			return l.token
		})
	}
	if l.isEncoded(w) {
		if strings.ContainsAny(w, "+/=") || len(w) > 4*minEncoded {
			return l.encoded
		}
		return l.token
	}
	return alnum.ReplaceAllStringFunc(w, l.shortRun)
}

// shortRun shortens a run of letters and digits if it is an id.
func (l *language) shortRun(run string) string {
	switch {
	case len(run) > maxDigits && onlyDigits(run):
		return l.digits(len(run))
	case isHexID(run):
		return spelled(run)
	case !looksRandom(run):
		return run
	case len(run) >= minEncoded:
		return l.token
	}
	return spelled(run)
}

// sayHex says a number with the prefix 0x, of at most eight digits as a whole.
func (l *language) sayHex(number string) string {
	digits := number[2:]
	if len(digits) > 2*spelledChars {
		digits = digits[:spelledChars]
	}
	return l.hex + " " + spell(digits)
}

func spelled(id string) string { return spell(id[:spelledChars]) }

// spell separates characters, letters as capitals, so that a voice reads their names.
func spell(chars string) string { return strings.Join(strings.Split(strings.ToUpper(chars), ""), " ") }

// isHexID reports whether a run is a hash or another hexadecimal id: digits among the
// letters a to f, in more than one place or in front.
func isHexID(run string) bool {
	if len(run) < minHexID {
		return false
	}
	upper, lower, digits, changes := 0, 0, 0, 0
	for i := range len(run) {
		switch c := run[i]; {
		case isDigit(c):
			digits++
		case 'a' <= c && c <= 'f':
			lower++
		case 'A' <= c && c <= 'F':
			upper++
		default:
			return false
		}
		if i > 0 && isDigit(run[i]) != isDigit(run[i-1]) {
			changes++
		}
	}
	if digits == 0 || upper+lower == 0 || upper > 0 && lower > 0 && len(run) < minEncoded {
		return false
	}
	return changes > 1 || isDigit(run[0]) && !isExponent(run)
}

// isExponent reports whether a run is a number such as 1000e6.
func isExponent(run string) bool {
	before, after, found := strings.Cut(strings.ToLower(run), "e")
	return found && before != "" && after != "" && len(after) < 4 && isNumber(before) && isNumber(after)
}

// shape describes a run as a name: its pieces are parted at capitals and digits.
type shape struct {
	pieces  int
	numbers int // pieces of digits
	wordy   int // letters in pieces that can be words
	digits  int
	known   int // letters in words of code, and in pieces as long as a word
}

// codeWords are the short words and abbreviations of names in code.
var codeWords = set(`abs add aes all amd and any api app arg arm asc avg bar base bin bit bits blob bool buf byte bytes call case char chars chunk code col
	conf copy core cpu crc crl css ctx data date day days dec def del der des dev dim dir div doc down ecc end enum env err esc etc even exec exp ext fan
	file fill find fix flag float for foo form from func gcm gen get gpu gray group has hash head hex high hmac host html http icon idx img index info init
	input int into item iter json jwt key keys kind lang last left len line link list load lock log long loop low mac main make map max md5 mean mem meta
	min mode mov msg mul name net new next node none not now null num obj odd off old one opt out page pair part pass path pem pixel pkcs png point pool pop
	port pos post pow prev print proc pub push put ram rand range raw read rec ref reg rep req res ret rgb rgba right rng root row rpc rsa rule run same
	seed send seq set sha shape short sign simd size slot sort spec split sql src ssl start stat state step stop str string sub sum svg swap sync sys tab
	table tag tcp temp test text the time tls tmp tmpl tok token top trace tree true two type uint udp uid uri url use user utf uuid val value var vec
	video view wav week wide width with word work write xml xor year yaml zero zip zone`)

func shapeOf(run string) (s shape) {
	for from := 0; from < len(run); {
		to := from + 1
		for to < len(run) && !parts(run, to) {
			to++
		}
		s.pieces++
		piece := run[from:to]
		if isDigit(piece[0]) {
			s.numbers++
			s.digits += len(piece)
		} else if code := isCodeWord(strings.ToLower(piece)); code || isWordy(piece) {
			s.wordy += len(piece)
			if len(piece) > 5 || code {
				s.known += len(piece)
			}
		}
		from = to
	}
	return s
}

// isCodeWord reports whether a piece of a name is a word of code, or two: GCMSHA.
func isCodeWord(piece string) bool {
	for i := range piece {
		if codeWords[piece[i:]] && (i == 0 || codeWords[piece[:i]]) {
			return true
		}
	}
	return false
}

// parts reports whether a new piece of a name begins at position i of a run.
func parts(run string, i int) bool {
	a, b := run[i-1], run[i]
	if isDigit(a) != isDigit(b) {
		return true
	}
	upper := func(c byte) bool { return 'A' <= c && c <= 'Z' }
	return !upper(a) && upper(b) || upper(a) && upper(b) && i+1 < len(run) && 'a' <= run[i+1] && run[i+1] <= 'z'
}

// isWordy reports whether letters can be a word or part of one: at least three, with a vowel
// for each five, and without many consonants or vowels in a row.
func isWordy(piece string) bool {
	vowels, row, open := 0, 0, 0
	for _, c := range strings.ToLower(piece) {
		if strings.ContainsRune("aeiouy", c) {
			vowels, row = vowels+1, 0
			open++
		} else {
			row, open = row+1, 0
		}
		if row > 4 || open > 3 {
			return false
		}
	}
	return len(piece) > 2 && vowels*5 >= len(piece)
}

// looksRandom reports whether a run of letters and digits is an id rather than a name: its
// pieces are too short for words. The thresholds separate random ids from the identifiers of
// this project and of the standard library (TestOwnNamesAreNotIdentifiers).
func looksRandom(run string) bool {
	n := len(run)
	if n < minRandomID {
		return false
	}
	s := shapeOf(run)
	switch {
	case s.pieces == 1 || n == s.digits || 10*s.known >= 3*n:
		return false
	case n < maxMixed:
		return s.numbers > 2 && strings.ToLower(run) != run && strings.ToUpper(run) != run
	case s.numbers == 0: // letters only
		return n > 15 && 10*n < 26*s.pieces && 5*s.wordy < 3*n
	case s.numbers > 2 && n < 8*s.numbers:
		return 4*s.wordy < 3*n
	}
	return 10*n < 27*s.pieces && 5*s.wordy < 3*n || s.numbers > 1 && 2*s.wordy < n
}

// hasRandomRun reports whether a part of a text is an id.
func hasRandomRun(s string) bool {
	for _, run := range alnum.FindAllString(s, -1) {
		if isHexID(run) || looksRandom(run) || len(run) >= minSecret && strings.ContainsAny(run, "0123456789") {
			return true
		}
	}
	return false
}

// isEncoded reports whether a whole word is encoded data, such as Base64: nothing but random
// runs, and signs between them.
func (l *language) isEncoded(w string) bool {
	if len(w) < 2*maxMixed || strings.IndexByte("/~.", w[0]) >= 0 {
		return false
	}
	signs, random, named := 0, 0, 0
	for i := range len(w) {
		if c := w[i]; !isLatin(rune(c)) && !isDigit(c) {
			if strings.IndexByte("+/=_-.", c) < 0 {
				return false
			}
			signs++
		}
	}
	for _, run := range alnum.FindAllString(w, -1) {
		switch s := shapeOf(run); {
		case looksRandom(run):
			random += len(run)
		case s.wordy > 4, s.pieces == 1 && len(run) > 3:
			named += len(run)
		}
	}
	if signs == 0 {
		return random == len(w) && len(w) >= minEncoded && !isHexID(w)
	}
	return random*10 > len(w)*5 && named*5 < random && !strings.HasPrefix(w, "-")
}

// parted separates the letters from the digits of runs that are too long for a voice.
func (l *language) parted(w string) string {
	if len(w) <= maxMixed {
		return w
	}
	return alnum.ReplaceAllStringFunc(w, func(run string) string {
		if s := shapeOf(run); len(run) <= maxMixed || s.digits == 0 || s.digits == len(run) {
			return run
		}
		var pieces []string
		for from, to := 0, 1; to <= len(run); to++ {
			if to == len(run) || parts(run, to) {
				pieces, from = append(pieces, l.shortRun(run[from:to])), to
			}
		}
		return strings.Join(pieces, " ")
	})
}

// isColour reports whether a text is a colour of style sheets, such as #ff8800 or #fff.
func isColour(w string) bool {
	if len(w) != 4 && len(w) != 7 && len(w) != 9 || w[0] != '#' {
		return false
	}
	letters, digits := 0, 0
	for i := 1; i < len(w); i++ {
		switch c := unicode.ToLower(rune(w[i])); {
		case isDigit(w[i]):
			digits++
		case 'a' <= c && c <= 'f':
			letters++
		default:
			return false
		}
	}
	return letters > 0 && (digits > 0 || strings.Count(w, w[1:2]) == len(w)-1)
}

// onlyASCII reports whether a text has no other characters.
func onlyASCII(w string) bool {
	return !strings.ContainsFunc(w, func(r rune) bool { return r >= utf8.RuneSelf })
}
