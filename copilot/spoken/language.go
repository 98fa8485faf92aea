package spoken

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// language holds the locale-specific data: the words of notices and the abbreviations
// after which a full stop does not end a sentence. The maps are read-only after
// initialisation.
type language struct {
	vocabulary

	never map[string]bool // a word always follows: "Dr."
	maybe map[string]bool // ends a sentence if a new one begins: "etc."
	count map[string]bool // a number follows: "No. 5"
	// ordinals is set if a number with a full stop is an ordinal, so that a following
	// capital does not start a sentence (German "am 3. Mai").
	ordinals bool

	block      func(lang string, lines int) string
	table      func(rows int, columns []string) string
	code       string // replaces a code span too long to speak
	image      string
	todo, done string
	at, dot    string
	formula    string            // replaces a formula too long to speak
	power      string            // between a base and its exponent
	of         string            // before the parameter of a type
	marks      map[string]string // spoken forms of pictures in table cells
	line       string            // before a line number
	bare       map[string]string // spoken forms of code spans without words
	to         string            // for an arrow

	diff    func(files []string, added, removed int) string
	units   map[string]unit // after a number
	signs   map[rune]string // spoken forms of signs
	version string          // before a version number
	number  string          // for #
}

func languageOf(locale string) *language {
	base, _, _ := strings.Cut(strings.ToLower(locale), "-")
	switch base, _, _ = strings.Cut(base, "_"); base {
	case "de":
		return german
	case "ja":
		return japanese
	}
	return english
}

// period decides whether a full stop between word and a blank ends a sentence.
func (l *language) period(word string) (end, deferred ending) {
	key := strings.ToLower(word)
	switch {
	case l.never[key], utf8.RuneCountInString(key) == 1 && unicode.IsLetter(firstRune(key)):
		return endNone, endNone // also initials: "J. Smith"
	case l.count[key]:
		return endPeriod, awaitNonDigit
	case l.maybe[key], initials(key):
		return endPeriod, awaitUpper
	case strings.IndexFunc(key, unicode.IsLetter) < 0:
		if l.ordinals {
			return endNone, endNone
		}
		return endPeriod, awaitUpper
	}
	return endPeriod, endNone
}

// initials reports whether a word consists of single letters and full stops, such as U.S
// or a.m.
func initials(word string) bool {
	if !strings.Contains(word, ".") {
		return false
	}
	for part := range strings.SplitSeq(word, ".") {
		if utf8.RuneCountInString(part) != 1 {
			return false
		}
	}
	return true
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

var english = &language{
	vocabulary: englishWords,
	never:      set("dr mr mrs ms prof st mt rev gen col sgt capt lt hon pres vs v.s e.g eg i.e ie cf viz ca approx resp incl"),
	maybe:      set("etc al inc ltd co corp jr sr ph.d dept est min max avg"),
	count:      set("no nos fig figs sec eq p pp vol ch art ver"),
	block: func(lang string, lines int) string {
		return article(lang) + " block of " + plural(lines, "line", "lines") + ", in the panel."
	},
	table: func(rows int, columns []string) string {
		s := "A table of " + plural(rows, "row", "rows")
		if len(columns) > 0 {
			s += " with the columns " + enumerate(columns, "and")
		}
		return s + ", in the panel."
	},
	code: "some code", image: "an image", todo: "To do: ", done: "Done: ", at: "at", dot: "dot", to: "to",
	formula: "a formula", power: "to the", of: "of", line: "line", marks: checkMarks("yes", "no"),
	bare: map[string]string{"[]": "brackets", "{}": "braces", "()": "parentheses", `""`: "quotes", "''": "quotes",
		";": "semicolon", ":": "colon", ",": "comma", "!": "exclamation mark", "?": "question mark"},
	diff: func(files []string, added, removed int) string {
		s := "A diff"
		if len(files) > 0 {
			s += " of " + enumerate(files, "and")
		}
		return s + ", " + plural(added, "line", "lines") + " added and " + strconv.Itoa(removed) + " removed, in the panel."
	},
	version: "version", number: "number",
	units: units("B byte bytes|kB kilobyte kilobytes|KB kilobyte kilobytes|MB megabyte megabytes|GB gigabyte gigabytes|TB terabyte terabytes|" +
		"KiB kibibyte kibibytes|MiB mebibyte mebibytes|GiB gibibyte gibibytes|TiB tebibyte tebibytes|ns nanosecond nanoseconds|" +
		"µs microsecond microseconds|us microsecond microseconds|ms millisecond milliseconds|s second seconds|min minute minutes|h hour hours|" +
		"Hz hertz hertz|kHz kilohertz kilohertz|MHz megahertz megahertz|GHz gigahertz gigahertz|px pixel pixels|% percent percent|" +
		"km kilometre kilometres|cm centimetre centimetres|mm millimetre millimetres|kg kilogram kilograms|°C degree_Celsius degrees_Celsius|" +
		"°F degree_Fahrenheit degrees_Fahrenheit|dB decibel decibels|× times times|€ euro euros|$ dollar dollars|£ pound pounds|¥ yen yen"),
	signs: map[rune]string{'≥': "at least", '≤': "at most", '≠': "is not", '≈': "about", '×': "times", '±': "plus or minus", '&': "and", '÷': "divided by", '§': "section", '∞': "infinity", '√': "the root of"},
}

var german = &language{
	vocabulary: germanWords,
	never:      set("dr hr fr prof st z.b bzw d.h u.a ggf ca vgl evtl inkl bspw sog o.g u.u i.d.r v.a z.t"),
	maybe:      set("usw etc u.s.w ag co max min"),
	count:      set("nr abb s kap bd abs art"), ordinals: true,
	block: func(lang string, lines int) string {
		if lang == "" {
			lang = "Code"
		}
		return "Ein " + lang + "-Block mit " + plural(lines, "Zeile", "Zeilen") + ", im Fenster."
	},
	table: func(rows int, columns []string) string {
		s := "Eine Tabelle mit " + plural(rows, "Zeile", "Zeilen")
		if len(columns) > 0 {
			s += " und den Spalten " + enumerate(columns, "und")
		}
		return s + ", im Fenster."
	},
	code: "etwas Code", image: "ein Bild", todo: "Offen: ", done: "Erledigt: ", at: "at", dot: "Punkt", to: "nach",
	formula: "eine Formel", power: "hoch", of: "von", line: "Zeile", marks: checkMarks("ja", "nein"),
	bare: map[string]string{"[]": "eckige Klammern", "{}": "geschweifte Klammern", "()": "runde Klammern", `""`: "Anführungszeichen",
		"''": "Anführungszeichen", ";": "Semikolon", ":": "Doppelpunkt", ",": "Komma", "!": "Ausrufezeichen", "?": "Fragezeichen"},
	diff: func(files []string, added, removed int) string {
		s := "Ein Diff"
		if len(files) > 0 {
			s += " von " + enumerate(files, "und")
		}
		return s + ", " + plural(added, "Zeile", "Zeilen") + " hinzugefügt und " + strconv.Itoa(removed) + " entfernt, im Fenster."
	},
	version: "Version", number: "Nummer",
	units: units("B Byte Byte|kB Kilobyte Kilobyte|KB Kilobyte Kilobyte|MB Megabyte Megabyte|GB Gigabyte Gigabyte|TB Terabyte Terabyte|" +
		"KiB Kibibyte Kibibyte|MiB Mebibyte Mebibyte|GiB Gibibyte Gibibyte|ns Nanosekunde Nanosekunden|µs Mikrosekunde Mikrosekunden|" +
		"ms Millisekunde Millisekunden|s Sekunde Sekunden|min Minute Minuten|h Stunde Stunden|Hz Hertz Hertz|kHz Kilohertz Kilohertz|" +
		"MHz Megahertz Megahertz|GHz Gigahertz Gigahertz|px Pixel Pixel|% Prozent Prozent|km Kilometer Kilometer|cm Zentimeter Zentimeter|" +
		"mm Millimeter Millimeter|kg Kilogramm Kilogramm|°C Grad_Celsius Grad_Celsius|dB Dezibel Dezibel|× mal mal|€ Euro Euro|$ Dollar Dollar|£ Pfund Pfund|¥ Yen Yen"),
	signs: map[rune]string{'≥': "mindestens", '≤': "höchstens", '≠': "ungleich", '≈': "etwa", '×': "mal", '±': "plus minus", '&': "und", '÷': "geteilt durch", '§': "Paragraf", '∞': "unendlich", '√': "Wurzel aus"},
}

var japanese = &language{
	vocabulary: japaneseWords,
	never:      english.never, maybe: english.maybe, count: english.count,
	block: func(lang string, lines int) string {
		if lang == "" {
			lang = "コード"
		}
		return lang + "のブロックが" + strconv.Itoa(lines) + "行あります。パネルに表示しています。"
	},
	table: func(rows int, columns []string) string {
		s := strconv.Itoa(rows) + "行の表です。"
		if len(columns) > 0 {
			s += "列は" + strings.Join(columns, "、") + "です。"
		}
		return s + "パネルに表示しています。"
	},
	diff: func(files []string, added, removed int) string {
		s := ""
		if len(files) > 0 {
			s = strings.Join(files, "と") + "の"
		}
		return s + "差分です。" + strconv.Itoa(added) + "行追加、" + strconv.Itoa(removed) + "行削除。パネルに表示しています。"
	},
	code: "コード", image: "画像", todo: "未完了: ", done: "完了: ", at: "アット", dot: "ドット", to: "から",
	formula: "数式", power: "の", of: "の", line: "行", marks: checkMarks("はい", "いいえ"), version: "バージョン", number: "番号",
	bare: map[string]string{"[]": "角括弧", "{}": "波括弧", "()": "丸括弧", `""`: "引用符", "''": "引用符",
		";": "セミコロン", ":": "コロン", ",": "カンマ", "!": "感嘆符", "?": "疑問符"},
	units: units("B バイト バイト|kB キロバイト キロバイト|KB キロバイト キロバイト|MB メガバイト メガバイト|GB ギガバイト ギガバイト|ms ミリ秒 ミリ秒|s 秒 秒|% パーセント パーセント|px ピクセル ピクセル|Hz ヘルツ ヘルツ|kHz キロヘルツ キロヘルツ|MHz メガヘルツ メガヘルツ|GHz ギガヘルツ ギガヘルツ|× 倍 倍|€ ユーロ ユーロ|$ ドル ドル|£ ポンド ポンド|¥ 円 円|" +
		"ns ナノ秒 ナノ秒|µs マイクロ秒 マイクロ秒|min 分 分|h 時間 時間|km キロメートル キロメートル|TB テラバイト テラバイト|KiB キビバイト キビバイト|MiB メビバイト メビバイト|GiB ギビバイト ギビバイト"),
	signs: map[rune]string{'≥': "以上", '≤': "以下", '≠': "ノットイコール", '≈': "約", '×': "かける", '±': "プラスマイナス", '&': "と", '∞': "無限"},
}

// units parses rows of a unit with its singular and plural.
func units(rows string) map[string]unit {
	m := map[string]unit{}
	for row := range strings.SplitSeq(rows, "|") {
		f := strings.Fields(row)
		m[f[0]] = unit{strings.ReplaceAll(f[1], "_", " "), strings.ReplaceAll(f[2], "_", " ")}
	}
	return m
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// article puts "a" or "an" before the name of a programming language.
func article(lang string) string {
	switch {
	case lang == "":
		return "A code"
	case lang == "HTML", lang == "XML", lang == "SVG", strings.ContainsRune("AEIO", firstRune(lang)):
		return "An " + lang
	}
	return "A " + lang
}

func enumerate(words []string, and string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + and + " " + words[len(words)-1]
}

// languageNames gives the spoken names of fence info strings that differ from them.
var languageNames = map[string]string{
	"go": "Go", "golang": "Go", "js": "JavaScript", "javascript": "JavaScript", "jsx": "JavaScript",
	"ts": "TypeScript", "typescript": "TypeScript", "tsx": "TypeScript", "py": "Python", "python": "Python",
	"sh": "shell", "bash": "shell", "zsh": "shell", "shell": "shell", "console": "shell", "powershell": "PowerShell", "ps1": "PowerShell",
	"json": "JSON", "jsonc": "JSON", "yaml": "YAML", "yml": "YAML", "toml": "TOML", "ini": "INI", "xml": "XML",
	"sql": "SQL", "html": "HTML", "svg": "SVG", "css": "CSS", "scss": "SCSS", "rs": "Rust", "rust": "Rust", "c": "C", "h": "C",
	"cpp": "C++", "c++": "C++", "cc": "C++", "cs": "C#", "csharp": "C#", "java": "Java", "kt": "Kotlin", "kotlin": "Kotlin",
	"swift": "Swift", "rb": "Ruby", "ruby": "Ruby", "php": "PHP", "lua": "Lua", "md": "Markdown", "markdown": "Markdown",
	"diff": "diff", "patch": "diff", "dockerfile": "Dockerfile", "docker": "Dockerfile", "make": "Makefile", "makefile": "Makefile",
	"proto": "Protobuf", "graphql": "GraphQL", "hcl": "HCL", "tf": "Terraform", "mermaid": "Mermaid",
	"text": "", "txt": "", "plain": "", "plaintext": "", "output": "",
}

// languageName returns the spoken name of a fence's info string, or "" if it should not
// be spoken.
func languageName(info string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(info), " ")
	word = strings.Trim(strings.ToLower(word), "{}.")
	if name, known := languageNames[word]; known {
		return name
	}
	for _, r := range word {
		if !unicode.IsLetter(r) {
			return ""
		}
	}
	if len(word) > 20 {
		return ""
	}
	return word
}
