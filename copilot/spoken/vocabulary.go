package spoken

import (
	"strconv"
	"strings"
)

// vocabulary holds the words for what is written in signs: ids, operators, dates and amounts.
type vocabulary struct {
	token   string // replaces a key, a password or a session
	encoded string // replaces Base64
	mac     string
	ipv6    string
	hex     string // before a hexadecimal number
	port    string
	lines   string
	digits  func(n int) string // replaces a number of many digits

	plus, minus string
	about       string // before a rounded number
	until       string // between the ends of a range
	per         string
	perFirst    bool // the words of a quotient are in the reverse order
	thousand    string
	multiples   map[string]string // after a price
	periods     map[string]unit
	bounds      map[string]string // before a version or a limit
	date        func(year string, month, day int) string

	operators map[string]string // of two or three characters
	symbols   map[rune]string
	glyphs    map[rune]string // anywhere in a text
	keys      map[string]string
}

// wordsFor parses rows of a sign and what is said for it.
func wordsFor(rows string) map[string]string {
	m := map[string]string{}
	for row := range strings.SplitSeq(rows, "\n") {
		for pair := range strings.SplitSeq(row, "  ") {
			if sign, said, found := strings.Cut(strings.TrimSpace(pair), " "); found {
				m[sign] = said
			}
		}
	}
	return m
}

// runesFor is wordsFor for single characters.
func runesFor(rows string) map[rune]string {
	m := map[rune]string{}
	for sign, said := range wordsFor(rows) {
		m[firstRune(sign)] = said
	}
	return m
}

var months = strings.Fields("January February March April May June July August September October November December")

var monate = strings.Fields("Januar Februar März April Mai Juni Juli August September Oktober November Dezember")

var englishWords = vocabulary{
	token: "a token", encoded: "encoded data", mac: "a MAC address", ipv6: "an IPv6 address", hex: "hex", port: "port", lines: "lines",
	digits: func(n int) string { return "a number of " + strconv.Itoa(n) + " digits" },
	plus:   "plus", minus: "minus", about: "about", until: "to", per: "per", thousand: "thousand",
	multiples: map[string]string{"K": "thousand", "M": "million", "B": "billion"},
	periods: units("h hour hours|min minute minutes|m minute minutes|s second seconds|ms millisecond milliseconds|µs microsecond microseconds|" +
		"us microsecond microseconds|ns nanosecond nanoseconds|d day days"),
	bounds: wordsFor("^ caret  ~> tilde  ~= about  ~ tilde  >= at least  <= at most  == equals  = equals  != not  < less than  > more than"),
	date: func(year string, month, day int) string {
		return months[month-1] + " " + strconv.Itoa(day) + ", " + year
	},
	operators: wordsFor("=== strictly equals  !== is strictly not  == equals  != is not  <= at most  >= at least  && and  || or  -> arrow  => arrow  := is" +
		"  ++ plus plus  += plus equals  -= minus equals  *= times equals  <- arrow  =~ matches  ?? or else  <=> compared to  >> greater greater  << less less"),
	symbols: runesFor("/ slash  \\ backslash  = equals  + plus  * star  < less than  > greater than  @ at  # hash  $ dollar  % percent" +
		"  & and  | pipe  ~ tilde  ^ caret  - dash"),
	glyphs: runesFor("⌘ Command  ⇧ Shift  ⌥ Option  ⌃ Control  ⏎ Enter  ↵ Enter  ⇥ Tab  ⌫ Backspace  ⎋ Escape  ² squared  ³ cubed" +
		"  ½ one half  ¼ one quarter  ¾ three quarters  ∈ in  ∑ the sum of  ∀ for all  ∃ there is  ∧ and  ∨ or  ¬ not  ∩ and  ∪ or"),
	keys: wordsFor("ctrl Control  cmd Command  alt Alt  opt Option  option Option  shift Shift  meta Meta  super Super  win Windows  control Control" +
		"  command Command  strg Control  esc Escape  del Delete"),
}

var germanWords = vocabulary{
	token: "ein Token", encoded: "kodierte Daten", mac: "eine MAC-Adresse", ipv6: "eine IPv6-Adresse", hex: "hex", port: "Port", lines: "Zeilen",
	digits: func(n int) string { return "eine Zahl mit " + strconv.Itoa(n) + " Stellen" },
	plus:   "plus", minus: "minus", about: "etwa", until: "bis", per: "pro", thousand: "Tausend",
	multiples: map[string]string{"K": "Tausend", "M": "Millionen", "B": "Milliarden"},
	periods: units("h Stunde Stunden|min Minute Minuten|m Minute Minuten|s Sekunde Sekunden|ms Millisekunde Millisekunden|µs Mikrosekunde Mikrosekunden|" +
		"us Mikrosekunde Mikrosekunden|ns Nanosekunde Nanosekunden|d Tag Tage"),
	bounds: wordsFor("^ Caret  ~> Tilde  ~= etwa  ~ Tilde  >= mindestens  <= höchstens  == gleich  = gleich  != nicht  < weniger als  > mehr als"),
	date: func(year string, month, day int) string {
		return strconv.Itoa(day) + ". " + monate[month-1] + " " + year
	},
	operators: wordsFor("=== strikt gleich  !== strikt ungleich  == gleich  != ungleich  <= höchstens  >= mindestens  && und  || oder  -> Pfeil  => Pfeil  := ist" +
		"  ++ plus plus  += plus gleich  -= minus gleich  *= mal gleich  <- Pfeil  =~ passt auf  ?? sonst  <=> verglichen mit  >> größer größer  << kleiner kleiner"),
	symbols: runesFor("/ Slash  \\ Backslash  = gleich  + plus  * Stern  < kleiner als  > größer als  @ at  # Raute  $ Dollar  % Prozent" +
		"  & und  | Pipe  ~ Tilde  ^ Caret  - minus"),
	glyphs: runesFor("⌘ Command  ⇧ Umschalt  ⌥ Option  ⌃ Steuerung  ⏎ Enter  ↵ Enter  ⇥ Tab  ⌫ Rücktaste  ⎋ Escape  ² Quadrat  ³ hoch drei" +
		"  ½ ein halb  ¼ ein Viertel  ¾ drei Viertel  ∈ in  ∑ Summe über  ∀ für alle  ∃ es gibt  ∧ und  ∨ oder  ¬ nicht  ∩ geschnitten mit  ∪ vereinigt mit"),
	keys: wordsFor("ctrl Steuerung  strg Steuerung  control Steuerung  cmd Command  command Command  alt Alt  opt Option  option Option  shift Umschalt" +
		"  umschalt Umschalt  meta Meta  super Super  win Windows  esc Escape  entf Entfernen  del Entfernen"),
}

var japaneseWords = vocabulary{
	token: "トークン", encoded: "エンコードされたデータ", mac: "MACアドレス", ipv6: "IPv6アドレス", hex: "16進数", port: "ポート", lines: "行",
	digits: func(n int) string { return strconv.Itoa(n) + "桁の数" },
	plus:   "プラス", minus: "マイナス", about: "約", until: "から", per: "毎", perFirst: true, thousand: "キロ",
	multiples: map[string]string{"K": "千", "M": "百万", "B": "十億"},
	periods:   units("h 時間 時間|min 分 分|m 分 分|s 秒 秒|ms ミリ秒 ミリ秒|µs マイクロ秒 マイクロ秒|us マイクロ秒 マイクロ秒|ns ナノ秒 ナノ秒|d 日 日"),
	bounds:    wordsFor("^ キャレット  ~> チルダ  ~= 約  ~ チルダ  >= 最小  <= 最大  == イコール  = イコール  != ノットイコール  < 小なり  > 大なり"),
	date: func(year string, month, day int) string {
		return year + "年" + strconv.Itoa(month) + "月" + strconv.Itoa(day) + "日"
	},
	operators: wordsFor("=== 厳密イコール  !== 厳密ノットイコール  == イコール  != ノットイコール  <= 以下  >= 以上  && かつ  || または  -> アロー  => アロー  := コロンイコール" +
		"  ++ プラスプラス  += プラスイコール  -= マイナスイコール  *= かけるイコール  <- アロー  =~ マッチ  ?? または  <=> 比較  >> 大なり大なり  << 小なり小なり"),
	symbols: runesFor("/ スラッシュ  \\ バックスラッシュ  = イコール  + プラス  * アスタリスク  < 小なり  > 大なり  @ アット  # シャープ  $ ドル  % パーセント" +
		"  & アンド  | パイプ  ~ チルダ  ^ キャレット  - ハイフン"),
	glyphs: runesFor("⌘ コマンド  ⇧ シフト  ⌥ オプション  ⌃ コントロール  ⏎ エンター  ↵ エンター  ⇥ タブ  ⌫ バックスペース  ⎋ エスケープ  ² の二乗  ³ の三乗" +
		"  ½ 二分の一  ¼ 四分の一  ¾ 四分の三  ∈ 属する  ∑ 総和  ∀ すべての  ∃ 存在する  ∧ かつ  ∨ または  ¬ ノット  ∩ 共通部分  ∪ 和集合"),
	keys: wordsFor("ctrl コントロール  control コントロール  cmd コマンド  command コマンド  alt オルト  opt オプション  option オプション  shift シフト" +
		"  meta メタ  super スーパー  win ウィンドウズ  esc エスケープ  del デリート"),
}
