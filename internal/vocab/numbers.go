package vocab

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxDigits limits the digits of a number.
const maxDigits = 5

// numbered holds the words that a number follows, and codes those before "code" that
// make it such a word.
var (
	numbered = set("port localhost line version error status")
	codes    = set("error status exit return response")
)

// counting holds the words before a numbered word that make the number count something
// else: "in one line two things", "each version three people".
var counting = set("a an one each every any no another single per this that same")

// The number words of English.
var (
	ones  = valued(0, 1, digits[:])
	teens = valued(10, 1, strings.Fields("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"))
	tens  = valued(20, 10, strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety"))
	ohs   = set("oh o")      // zeros inside a number
	dots  = set("point dot") // separate the parts of a version
)

func valued(first, step int, words []string) map[string]int {
	out := map[string]int{}
	for i, w := range words {
		out[w] = first + i*step
	}
	return out
}

// spokenNumbers returns the changes that write spoken numbers in digits: "port eighty eighty"
// is "port 8080". Such a number follows a word like port, and cannot mean anything else.
func spokenNumbers(text string, said []word) (out []change) {
	for i, w := range said {
		if !numbered[w.text] && (w.text != "code" || i == 0 || !codes[said[i-1].text]) || i > 0 && counting[said[i-1].text] {
			continue
		}
		if n := grouped(text, said, i+1); n != "" && w.text != "version" {
			out = append(out, change{i + 1, i + 2, n})
			continue
		}
		parts := numberAfter(text, said, i)
		end := i + 1
		for n := len(parts); n > 0; end++ {
			n -= len(said[end].parts)
		}
		c, certain := change{from: i + 1, to: end}, false
		switch w.text {
		case "version":
			c.written, certain = version(parts)
		case "port", "localhost":
			c.written, certain = inDigits(parts), true
			if len(c.written) < 2 { // "port two of them" is about something else
				continue
			}
		default:
			c.written = inDigits(parts)
			certain = len(groups(parts)) == 1 || slices.Contains(parts, "hundred") || slices.Contains(parts, "thousand") || slices.ContainsFunc(parts, isOh)
		}
		certain = certain && len(parts) > 1 && !slices.Contains(parts, "and")
		if c.written == "" || !certain && !ends(text, said, i, end) || goesOn(text, said, end) {
			continue
		}
		if w.text == "localhost" {
			c.from, c.written = i, text[w.from:w.to]+":"+c.written
		}
		out = append(out, c)
	}
	return out
}

// thousands is a number as some recognisers write it.
var thousands = regexp.MustCompile(`^[0-9]{1,2},[0-9]{3}$`)

// grouped returns the digits of said[i] without the comma of thousands, or "" if it has none:
// "port 5,432" is port 5432.
func grouped(text string, said []word, i int) string {
	if i == len(said) || !adjacent(text, said, i-1) {
		return ""
	}
	if n := text[said[i].from:said[i].to]; thousands.MatchString(n) {
		return strings.Replace(n, ",", "", 1)
	}
	return ""
}

// goesOn reports whether a number goes on with a digit after a comma, as some recognisers write
// digits that are said one by one: "error four, O, four".
func goesOn(text string, said []word, end int) bool {
	if end == len(said) || !strings.HasPrefix(text[said[end-1].to:], ",") {
		return false
	}
	_, digit := ones[said[end].text]
	return digit || ohs[said[end].text]
}

// numberAfter returns the number words that directly follow said[cue].
func numberAfter(text string, said []word, cue int) (parts []string) {
	sizes := []int{0}
	for i := cue + 1; i < len(said) && adjacent(text, said, i-1) && numeric(said[i].parts, parts, said[cue].text == "version"); i++ {
		parts = append(parts, said[i].parts...)
		sizes = append(sizes, len(parts))
	}
	for n := len(sizes) - 1; n > 0 && dangles(parts[:sizes[n]]); n-- {
		parts = parts[:sizes[n-1]]
	}
	return parts
}

// adjacent reports whether only space separates said[i] from the following word.
func adjacent(text string, said []word, i int) bool {
	return strings.TrimSpace(text[said[i].to:said[i+1].from]) == ""
}

// numeric reports whether words continue a number.
func numeric(words, before []string, version bool) bool {
	for _, w := range words {
		_, one := ones[w]
		_, teen := teens[w]
		_, ten := tens[w]
		last := ""
		if len(before) > 0 {
			last = before[len(before)-1]
		}
		scale := w == "hundred" || w == "thousand" || w == "and" && (last == "hundred" || last == "thousand")
		if !one && !teen && !ten && !scale && !ohs[w] && !(version && dots[w]) {
			return false
		}
		before = append(before[:len(before):len(before)], w)
	}
	return true
}

// dangles reports whether the last of the words is not part of the number: "line two
// hundred and then", "line forty oh no".
func dangles(parts []string) bool {
	last, before := parts[len(parts)-1], parts[:len(parts)-1]
	return last == "and" || dots[last] ||
		ohs[last] && !slices.ContainsFunc(before, isOh) && (len(before) == 0 || !dots[before[len(before)-1]])
}

func isOh(w string) bool { return ohs[w] || w == "zero" }

// ends reports whether what follows the number cannot be what it counts: the end of the
// phrase or a function word. "the line one" may also go on: "the line one writes".
func ends(text string, said []word, cue, end int) bool {
	if end == len(said) || !adjacent(text, said, end-1) {
		return true
	}
	return little[said[end].text] && (said[end-1].text != "one" || cue == 0 || said[cue-1].text != "the")
}

// version returns the number of a version, and whether it has several parts, which
// nothing else has. Its parts are read as one number each: what "one twenty one" means
// is unknown.
func version(parts []string) (written string, several bool) {
	var out []string
	for len(parts) > 0 {
		n := slices.IndexFunc(parts, func(w string) bool { return dots[w] })
		if n < 0 {
			n = len(parts)
		}
		part := inDigits(parts[:n])
		if g := groups(parts[:n]); part == "" && len(g) == 1 { // "oh" alone
			part = g[0]
		} else if len(g) > 1 || part == "" {
			return "", false
		}
		out, parts = append(out, part), parts[min(n+1, len(parts)):]
	}
	return strings.Join(out, "."), len(out) > 1
}

// inDigits returns number words in digits, or "" if they are not a number: "fifty four
// thirty two" is 5432, "three thousand" 3000, "sixty five thousand five thirty five" 65535.
func inDigits(words []string) string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "and" })
	if at := slices.Index(words, "thousand"); at >= 0 {
		return scaled(words[:at], words[at+1:], 3)
	}
	if at := slices.Index(words, "hundred"); at >= 0 {
		return scaled(words[:at], words[at+1:], 2)
	}
	g := groups(words)
	if n := strings.Join(g, ""); len(g) > 0 && len(n) <= maxDigits && !ohs[words[0]] {
		return n
	}
	return ""
}

// scaled returns the digits of a number of thousands or hundreds, and of less than one.
func scaled(many, rest []string, zeros int) string {
	g := groups(many)
	if len(g) != 1 || g[0] == "0" || ohs[many[0]] {
		return ""
	}
	less := ""
	if len(rest) > 0 {
		less = inDigits(rest)
		single := len(groups(rest)) == 1 || slices.Contains(rest, "hundred")
		if less == "" || less[0] == '0' || len(less) > zeros || !single && len(less) < zeros || slices.Contains(rest, "thousand") || zeros == 2 && !single {
			return ""
		}
	}
	return g[0] + strings.Repeat("0", zeros-len(less)) + less
}

// groups returns number words below a hundred as digits, those that are read as one
// number together: "fifty four" is 54. It returns nil if there are other words.
func groups(words []string) (out []string) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		n, known := ones[w]
		if v, teen := teens[w]; teen {
			n, known = v, true
		} else if v, ten := tens[w]; ten {
			n, known = v, true
			if i+1 < len(words) && ones[words[i+1]] > 0 {
				i++
				n += ones[words[i]]
			}
		}
		if !known && !ohs[w] {
			return nil
		}
		out = append(out, strconv.Itoa(n))
	}
	return out
}
