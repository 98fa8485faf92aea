package realtime

import (
	"strings"
	"unicode"
)

// Number words in the languages most common in answers. For a missing language, a
// number read aloud only causes a false mismatch, which is counted and logged.
var numberWords = func() map[string]int {
	m := map[string]int{}
	for n, words := range map[int]string{
		0:   "zero oh null zéro cero 〇 零",
		1:   "one first a an eins ein eine erst un une premier première uno una 一",
		2:   "two second twice zwei zweit deux dos due 二",
		3:   "three third drei dritt trois tres tre 三",
		4:   "four vier quatre cuatro quattro 四",
		5:   "five fifth fif fünf cinq cinco cinque 五",
		6:   "six sechs sechst seis sei 六",
		7:   "seven sieben sieb sept siete sette 七",
		8:   "eight eighth eigh acht huit ocho otto 八",
		9:   "nine ninth nin neun neuf nueve nove 九",
		10:  "ten zehn dix diez dieci 十",
		11:  "eleven elf onze once undici",
		12:  "twelve twelfth zwölf douze doce dodici",
		13:  "thirteen dreizehn treize trece tredici",
		14:  "fourteen vierzehn quatorze catorce quattordici",
		15:  "fifteen fünfzehn quinze quince quindici",
		16:  "sixteen sechzehn seize dieciséis sedici",
		17:  "seventeen siebzehn diecisiete diciassette",
		18:  "eighteen achtzehn dieciocho diciotto",
		19:  "nineteen neunzehn diecinueve diciannove",
		20:  "twenty twentieth zwanzig vingt vingts veinte veinti venti vent",
		30:  "thirty thirtieth dreissig trente treinta trenta trent",
		40:  "forty fortieth vierzig quarante cuarenta quaranta quarant",
		50:  "fifty fiftieth fünfzig cinquante cincuenta cinquanta cinquant",
		60:  "sixty sixtieth sechzig soixante sesenta sessanta sessant",
		70:  "seventy seventieth siebzig setenta settanta settant",
		80:  "eighty eightieth achtzig ochenta ottanta ottant",
		90:  "ninety ninetieth neunzig noventa novanta novant",
		1e2: "hundred hundert cent cents cien ciento cientos cento 百", 1e3: "thousand tausend mille mil mila 千", 1e4: "万",
		1e6: "million millions millionen mille millón millones milione milioni", 1e8: "億",
		1e9: "billion billions milliarde milliarden milliard miliardo mil",
	} {
		for _, w := range strings.Fields(words) {
			if _, taken := m[w]; !taken {
				m[w] = n
			}
		}
	}
	m["mille"], m["mil"] = 1e3, 1e3
	return m
}()

// symbolWords are read for symbols, and for signs in or next to a number.
var symbolWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`and und et y e point punkt dot comma komma virgule coma virgola minus plus percent prozent pour por
		ciento per dollar dollars euro euros cent cents pound pounds pfund degree degrees grad slash dash hyphen underscore equals at hash
		oclock uhr am pm 点 パーセント ドル 円 第 の`) {
		m[w] = true
	}
	return m
}()

// abbreviations maps abbreviations to how they are read.
var abbreviations = map[string]string{
	"eg": "for example", "ie": "that is", "etc": "et cetera", "vs": "versus", "dr": "doctor", "mr": "mister", "mrs": "missus",
	"approx": "approximately", "ok": "okay", "max": "maximum", "min": "minimum",
	"ms": "milliseconds", "millisecond": "milliseconds", "kb": "kilobytes", "mb": "megabytes", "gb": "gigabytes", "km": "kilometers", "kg": "kilograms",
	"zb": "zum beispiel", "dh": "das heisst", "usw": "und so weiter", "bzw": "beziehungsweise", "ca": "circa", "ggf": "gegebenenfalls",
}

// isNumber reports whether a word is written in digits.
func isNumber(word string) bool {
	return word != "" && unicode.IsDigit(rune(word[0])) || len(word) > 1 && unicode.IsDigit([]rune(word)[0])
}

// longestCompound limits the search in a word; in all these languages the longest
// number up to a million has fewer letters.
const longestCompound = 64

// spells reports whether a word spells a part of a number, given as the values of its parts: one word of
// it, or all of it in a language that writes numbers as one word.
func spells(word string, of map[int]bool) bool {
	if word == "" || len(word) > longestCompound {
		return false
	}
	var reached [longestCompound + 1]bool // by number words from the beginning, in bytes
	reached[0] = true
	for from := range len(word) {
		if !reached[from] {
			continue
		}
		if from > 0 && ordinalEndings[word[from:]] {
			return true
		}
		for end := from + 1; end <= len(word); end++ {
			n, known := numberWords[word[from:end]]
			if known && of[n] || from > 0 && word[from:end] == "und" {
				reached[end] = true
			}
		}
	}
	return reached[len(word)]
}

// ordinalEndings follow the word of a number.
var ordinalEndings = map[string]bool{
	"th": true, "te": true, "ten": true, "ter": true, "tes": true, "ste": true, "sten": true, "ster": true, "stes": true, "ième": true, "s": true,
}

// parts returns the values whose words may occur when a number in digits is read: as a
// number, in pairs like a year, or digit by digit.
func parts(digits string) map[int]bool {
	of := map[int]bool{}
	d := []rune(digits)
	value := func(i int) int { return int(d[i] - '0') }
	for i := range d {
		if d[i] < '0' || d[i] > '9' {
			continue
		}
		of[value(i)], of[value(i)*10] = true, true
		if i+1 == len(d) || d[i+1] < '0' || d[i+1] > '9' {
			continue
		}
		pair := value(i)*10 + value(i+1)
		of[10] = true
		if pair <= 19 {
			of[pair] = true
		}
		if pair >= 70 { // as in French, 60 + 10 and 4 * 20
			of[60], of[4], of[20], of[10+value(i+1)] = true, true, true, true
		}
	}
	for _, power := range []struct{ length, value int }{{3, 1e2}, {4, 1e3}, {5, 1e4}, {7, 1e6}, {9, 1e8}, {10, 1e9}} {
		if len(d) >= power.length {
			of[power.value] = true
			of[1] = of[1] || power.length == 3 // one hundred
		}
	}
	return of
}
