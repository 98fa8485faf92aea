package spoken_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// saidAs returns what is said for a text, as one line.
func saidAs(locale, text string) string {
	return strings.Join(texts(chunk(spoken.Options{Locale: locale}, text)), " ")
}

// badlyRead is what developers write and a voice reads badly, by kind: the text, and what is said
// in English, German and Japanese.
var badlyRead = []struct{ kind, text, en, de, ja string }{
	{"commit", "72a3277cd7abc1234567890abcdef12345678901", "7 2 A 3", "7 2 A 3", "7 2 A 3"},
	{"short commit", "9d8e7f6", "9 D 8 E", "9 D 8 E", "9 D 8 E"},
	{"commit in code", "`git revert 9d8e7f6a`", "git revert 9 D 8 E", "git revert 9 D 8 E", "git revert 9 D 8 E"},
	{"commit of digits in front", "1234567b", "1 2 3 4", "1 2 3 4", "1 2 3 4"},
	{"range of commits", "3f2a9c1..9d8e7f6", "3 F 2 A to 9 D 8 E", "3 F 2 A bis 9 D 8 E", "3 F 2 A から 9 D 8 E"},
	{"digest", "app@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "app@sha256:9 F 8 6", "app@sha256:9 F 8 6", "app@sha256:9 F 8 6"},
	{"UUID", "550e8400-e29b-41d4-a716-446655440000", "5 5 0 E", "5 5 0 E", "5 5 0 E"},
	{"UUID in capitals", "{550E8400-E29B-41D4-A716-446655440000}", "{5 5 0 E}", "{5 5 0 E}", "{5 5 0 E}"},
	{"UUID in code", "`id=550e8400-e29b-41d4-a716-446655440000`", "id equals 5 5 0 E", "id gleich 5 5 0 E", "id イコール 5 5 0 E"},
	{"value of a key", "`AWS_SECRET_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY`", "AWS SECRET KEY equals a token", "AWS SECRET KEY gleich ein Token", "AWS SECRET KEY イコール トークン"},
	{"ULID", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "0 1 A R", "0 1 A R", "0 1 A R"},
	{"opaque id", "6u6JbqKdaQy89ENzLSju", "6 U 6 J", "6 U 6 J", "6 U 6 J"},
	{"opaque id in code", "`6u6JbqKdaQy89ENzLSju`", "6 U 6 J", "6 U 6 J", "6 U 6 J"},
	{"id with a prefix", "cus_NffrFeUfNV2Hib", "cus N F F R", "cus N F F R", "cus N F F R"},
	{"JWT", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U", "a token", "ein Token", "トークン"},
	{"key of GitHub", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "a token", "ein Token", "トークン"},
	{"key of a model", "`sk-proj-abc123DEF456ghi789JKL012mno345`", "a token", "ein Token", "トークン"},
	{"key of AWS", "AKIAIOSFODNN7EXAMPLE", "a token", "ein Token", "トークン"},
	{"Base64", "aGVsbG8gd29ybGQsIHRoaXMgaXMgYSB0ZXN0IQ==", "encoded data", "kodierte Daten", "エンコードされたデータ"},
	{"data URL", "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUA", "encoded data", "kodierte Daten", "エンコードされたデータ"},
	{"address in memory", "0x7ffee4c0a8b0", "hex 7 F F E", "hex 7 F F E", "16進数 7 F F E"},
	{"hexadecimal number", "0xFF", "hex F F", "hex F F", "16進数 F F"},
	{"colour", "#ff8800", "F F 8 8 0 0", "F F 8 8 0 0", "F F 8 8 0 0"},
	{"MAC address", "00:1b:44:11:3a:b7", "a MAC address", "eine MAC-Adresse", "MACアドレス"},
	{"MAC address of Windows", "00-1B-44-11-3A-B7", "a MAC address", "eine MAC-Adresse", "MACアドレス"},
	{"hexadecimal digit", "0x1", "hex 1", "hex 1", "16進数 1"},
	{"IPv6 address", "2001:0db8:85a3:0000:0000:8a2e:0370:7334", "an IPv6 address", "eine IPv6-Adresse", "IPv6アドレス"},
	{"long number", "1732812345678", "a number of 13 digits", "eine Zahl mit 13 Stellen", "13桁の数"},
	{"long fraction", "3.14159265358979", "about 3.1415", "etwa 3.1415", "約 3.1415"},
	{"inexact fraction", "0.30000000000000004", "about 0.3", "etwa 0.3", "約 0.3"},
	{"power of ten", "2.5e-3", "2.5 times 10 to the minus 3", "2.5 mal 10 hoch minus 3", "2.5 かける 10 の マイナス 3"},
	{"power", "2^10", "2 to the 10", "2 hoch 10", "2 の 10"},
	{"square", "x²", "x squared", "x Quadrat", "x の二乗"},
	{"IP address", "192.168.1.1", "192 dot 168 dot 1 dot 1", "192 Punkt 168 Punkt 1 Punkt 1", "192 ドット 168 ドット 1 ドット 1"},
	{"IP address and port", "127.0.0.1:8080", "127 dot 0 dot 0 dot 1 port 8080", "127 Punkt 0 Punkt 0 Punkt 1 Port 8080", "127 ドット 0 ドット 0 ドット 1 ポート 8080"},
	{"network", "10.0.0.0/8", "10 dot 0 dot 0 dot 0 slash 8", "10 Punkt 0 Punkt 0 Punkt 0 Slash 8", "10 ドット 0 ドット 0 ドット 0 スラッシュ 8"},
	{"host and port", "localhost:3000", "localhost port 3000", "localhost Port 3000", "localhost ポート 3000"},
	{"port", ":8080", "port 8080", "Port 8080", "ポート 8080"},
	{"URL with a query", "https://github.com/a/b/issues/2?tab=x#issuecomment-2517", "github dot com", "github Punkt com", "github ドット com"},
	{"URL without a scheme", "github.com/a/b/issues/2?tab=x#c-2517", "github dot com", "github Punkt com", "github ドット com"},
	{"URL with a password", "postgres://ada:s3cret@db.local:5432/app", "db dot local", "db Punkt local", "db ドット local"},
	{"URL of a file", "file:///home/ada/work/app/internal/x.go", "internal slash x dot go", "internal Slash x Punkt go", "internal スラッシュ x ドット go"},
	{"URL in code", "`curl https://api.example.com/v1?k=v`", "curl api dot example dot com", "curl api Punkt example Punkt com", "curl api ドット example ドット com"},
	{"repository by SSH", "git@github.com:ada/app.git", "github dot com", "github Punkt com", "github ドット com"},
	{"e-mail", "ada@example.com", "ada at example dot com", "ada at example Punkt com", "ada アット example ドット com"},
	{"deep path", "/home/me/work/project/internal/daemon/live/playback_test.go:142:7", "live slash playback test dot go line 142", "live Slash playback test Punkt go Zeile 142", "live スラッシュ playback test ドット go 行 142"},
	{"deep path in code", "`cat /home/me/work/app/main.go`", "cat app slash main dot go", "cat app Slash main Punkt go", "cat app スラッシュ main ドット go"},
	{"deep folder", "/usr/local/share/app/icons", "app slash icons", "app Slash icons", "app スラッシュ icons"},
	{"folder", "/usr/local/bin", "slash usr slash local slash bin", "Slash usr Slash local Slash bin", "スラッシュ usr スラッシュ local スラッシュ bin"},
	{"Windows path", `C:\Users\ada\app\main.cs(12,5)`, `app backslash main dot cs line 12`, `app Backslash main Punkt cs Zeile 12`, `app バックスラッシュ main ドット cs 行 12`},
	{"lines of a file", "main.go:42-50", "main dot go lines 42 to 50", "main Punkt go Zeilen 42 bis 50", "main ドット go 行 42 から 50"},
	{"lines by a fragment", "main.go#L42-L50", "main dot go lines 42 to 50", "main Punkt go Zeilen 42 bis 50", "main ドット go 行 42 から 50"},
	{"class of Java", "com.example.billing.InvoiceService", "billing.InvoiceService", "billing.InvoiceService", "billing.InvoiceService"},
	{"version", "v1.2.3", "version 1.2.3", "Version 1.2.3", "バージョン 1.2.3"},
	{"prerelease", "1.26.0-rc.1", "1.26.0 rc 1", "1.26.0 rc 1", "1.26.0 rc 1"},
	{"range of versions", "v1.2.3..v1.4.0", "version 1.2.3 to version 1.4.0", "Version 1.2.3 bis Version 1.4.0", "バージョン 1.2.3 から バージョン 1.4.0"},
	{"caret range", "^1.2.3", "caret 1.2.3", "Caret 1.2.3", "キャレット 1.2.3"},
	{"bounds of a version", ">=1.2,<2.0", "at least 1.2, less than 2.0", "mindestens 1.2, weniger als 2.0", "最小 1.2, 小なり 2.0"},
	{"version of a package", "react@18.2.0", "react at 18.2.0", "react at 18.2.0", "react アット 18.2.0"},
	{"flag", "--no-verify", "dash dash no verify", "minus minus no verify", "ハイフン ハイフン no verify"},
	{"short flag", "-v", "dash v", "minus v", "ハイフン v"},
	{"flag with a value", "--level=3", "dash dash level equals 3", "minus minus level gleich 3", "ハイフン ハイフン level イコール 3"},
	{"arrow", "a -> b", "a to b", "a nach b", "a から b"},
	{"fat arrow", "a => b", "a to b", "a nach b", "a から b"},
	{"unequal", "a != b", "a is not b", "a ungleich b", "a ノットイコール b"},
	{"equal", "a == b", "a equals b", "a gleich b", "a イコール b"},
	{"strictly equal", "a === b", "a strictly equals b", "a strikt gleich b", "a 厳密イコール b"},
	{"logic", "a && b || c", "a and b or c", "a und b oder c", "a かつ b または c"},
	{"at most", "a <= b", "a at most b", "a höchstens b", "a 以下 b"},
	{"operator without blanks", "a!=b", "a is not b", "a ungleich b", "a ノットイコール b"},
	{"assignment", "FOO=bar", "FOO equals bar", "FOO gleich bar", "FOO イコール bar"},
	{"variable", "$HOME", "dollar HOME", "Dollar HOME", "ドル HOME"},
	{"product", "2 * 3", "2 times 3", "2 mal 3", "2 かける 3"},
	{"date", "2026-11-24", "November 24, 2026", "24. November 2026", "2026年11月24日"},
	{"date and time", "2026-11-24T10:15:30Z", "November 24, 2026, 10:15 UTC", "24. November 2026, 10:15 UTC", "2026年11月24日, 10:15 UTC"},
	{"time with a fraction", "10:15:30.123456", "10:15:30", "10:15:30", "10:15:30"},
	{"milliseconds", "16ms", "16 milliseconds", "16 Millisekunden", "16 ミリ秒"},
	{"duration", "2m30s", "2 minutes 30 seconds", "2 Minuten 30 Sekunden", "2 分 30 秒"},
	{"duration in two words", "1h 20m", "1 hour 20 minutes", "1 Stunde 20 Minuten", "1 時間 20 分"},
	{"size", "3.5 GB", "3.5 gigabytes", "3.5 Gigabyte", "3.5 ギガバイト"},
	{"rate", "10 MB/s", "10 megabytes per second", "10 Megabyte pro Sekunde", "10 毎秒メガバイト"},
	{"percentage", "10%", "10 percent", "10 Prozent", "10 パーセント"},
	{"range", "3-5", "3 to 5", "3 bis 5", "3 から 5"},
	{"range with a unit", "10–20%", "10 to 20 percent", "10 bis 20 Prozent", "10 から 20 パーセント"},
	{"range and its unit", "3-5 ms", "3 to 5 milliseconds", "3 bis 5 Millisekunden", "3 から 5 ミリ秒"},
	{"range of amounts", "500ms–2s", "500 milliseconds to 2 seconds", "500 Millisekunden bis 2 Sekunden", "500 ミリ秒 から 2 秒"},
	{"value with a unit", "timeout=30s", "timeout equals 30 seconds", "timeout gleich 30 Sekunden", "timeout イコール 30 秒"},
	{"estimate", "~5 s", "about 5 seconds", "etwa 5 Sekunden", "約 5 秒"},
	{"signed number", "+12", "plus 12", "plus 12", "プラス 12"},
	{"price", "$7.50", "7.50 dollars", "7.50 Dollar", "7.50 ドル"},
	{"price per month", "€18/month", "18 euros per month", "18 Euro pro month", "18 ユーロ 毎 month"},
	{"large price", "$5M", "5 million dollars", "5 Millionen Dollar", "5 百万 ドル"},
	{"keys", "Ctrl+Shift+P", "Control Shift P", "Steuerung Umschalt P", "コントロール シフト P"},
	{"keys of a Mac", "⌘⇧P", "Command Shift P", "Command Umschalt P", "コマンド シフト P"},
	{"keys in HTML", "<kbd>Ctrl</kbd>+<kbd>C</kbd>", "Control C", "Steuerung C", "コントロール C"},
	{"emoji", "x ✅ 🎉👍🏽 y", "x y", "x y", "x y"},
	{"name of an emoji", "x :tada: y :) z", "x y z", "x y z", "x y z"},
	{"rule", "x ------- y", "x y", "x y", "x y"},
	{"box", "└── x │ y", "x y", "x y", "x y"},
	{"camel case", "parseConfigV2", "parse config V2", "parse config V2", "parse config V2"},
	{"constant", "MAX_OPEN_CONNS", "MAX OPEN CONNS", "MAX OPEN CONNS", "MAX OPEN CONNS"},
	{"name of three words", "ReadWriteCloser", "Read write closer", "Read write closer", "Read write closer"},
	{"call", "parseConfig()", "parse config", "parse config", "parse config"},
	{"scope", "std::vector", "std vector", "std vector", "std vector"},
	{"type parameter", "List<string>", "List of string", "List von string", "List の string"},
	{"type parameters", "Map<string, number>", "Map of string, number", "Map von string, number", "Map の string, number"},
	{"comparisons", "a<b && c>d", "a less than b and c greater than d", "a kleiner als b und c größer als d", "a 小なり b かつ c 大なり d"},
	{"block tags", "<details><summary>x</summary>y</details>", "x y", "x y", "x y"},
	{"entities", "a &lt; b &amp; c&nbsp;d", "a less than b and c d", "a kleiner als b und c d", "a 小なり b と c d"},
	{"colours of a terminal", "x \x1b[31merror\x1b[0m y", "x error y", "x error y", "x error y"},
	{"colours in code", "`\\x1b[31merror\\x1b[0m`", "error", "error", "error"},
	{"formula", `$\frac{a}{b}$`, "a formula", "eine Formel", "数式"},
	{"formula without dollars", `\frac{a}{b}`, "a formula", "eine Formel", "数式"},
	{"environment of LaTeX", `\begin{align} a &= b \end{align}`, "a formula", "eine Formel", "数式"},
	{"footnote", "x[^1] y", "x y", "x y", "x y"},
	{"struck out", "~~x~~ y", "x y", "x y", "x y"},
	{"place in a diff", "@@ -1,3 +1,4 @@ x", "x", "x", "x"},
	{"caller in a trace", "com.example.app.UserService.find(UserService.java:42)", "UserService.find (User service dot java line 42)", "UserService.find (User service Punkt java Zeile 42)", "UserService.find (User service ドット java 行 42)"},
	{"place in a trace", "(/home/ada/work/app/index.js:10:15)", "(app slash index dot js line 10)", "(app Slash index Punkt js Zeile 10)", "(app スラッシュ index ドット js 行 10)"},
}

func TestWhatAVoiceReadsBadly(t *testing.T) {
	for _, c := range badlyRead {
		for _, l := range []struct{ locale, format, want string }{
			{"en", "Here is %s for you.", c.en}, {"de", "Hier steht %s für dich.", c.de}, {"ja", "これは %s です。", c.ja},
		} {
			if got, want := saidAs(l.locale, fmt.Sprintf(l.format, c.text)), fmt.Sprintf(l.format, l.want); got != want {
				t.Errorf("%s in %s: said %q, want %q", c.kind, l.locale, got, want)
			}
		}
	}
}

// Text that only looks like what is shortened stays.
func TestWhatStaysAsItIsWritten(t *testing.T) {
	for _, text := range []string{
		"and/or", "read/write/execute", "well-known", "C++", "C#", "UTF-8", "ed25519", "x86_64", "sha256", "base64", "utf8", "24/7", "16:9", "10:30",
		"1,234,567", "4294967296", "deadbeef", "defaced", "facade", "#hashtag", "GitHub", "OpenAI", "TypeScript", "PostgreSQL", "Go 1.26", "HTTP/2", "p95",
		"e.g. this", "i.e. that", "a.b.c", "main.go", "package.json", "3D", "1st", "Well...", "T-shirt", "@ada", "Node.js", "Kubernetes", "internationalization",
	} {
		want := strings.NewReplacer("x86_64", "x86 64").Replace(text)
		if got := saidAs("en", "Here is "+text+" for you."); got != "Here is "+want+" for you." {
			t.Errorf("%q is said %q", text, got)
		}
	}
}

// The reasoning that a model writes into its answer is not spoken, and the rest is.
func TestReasoningIsNotSpoken(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"<think>The user wants X. I should lie.</think>The answer is four.", "The answer is four."},
		{"<think>\nThe first thought.\n\n- a list\n\n```go\nx\n```\n\nThe last.\n</think>\n\nThe answer is four.", "The answer is four."},
		{"<THINKING>So. What now?</THINKING> The answer is four.", "The answer is four."},
		{"<think>It never ends. Not even here.", ""},
		{"The answer is four.\n\n<think>Or is it five? I am not sure.</think>\n\nYes, it is.", "The answer is four. Yes, it is."},
		{"The tag <think> begins it. The answer is four.", "The tag think begins it. The answer is four."},
		{"A `</think>` ends it. The answer is four.", "A less than slash think greater than ends it. The answer is four."},
	} {
		if got := strings.TrimSpace(saidAs("en", c.text)); got != c.want {
			t.Errorf("%q is said %q, want %q", c.text, got, c.want)
		}
		checkTiles(t, c.text, chunk(spoken.Options{}, c.text))
		if whole, bytes := chunk(spoken.Options{}, c.text), chunkBytes(spoken.Options{}, c.text); fmt.Sprint(whole) != fmt.Sprint(bytes) {
			t.Errorf("%q byte by byte is %v", c.text, bytes)
		}
	}
	c := spoken.New(spoken.Options{})
	c.Push("<think>It never ends.")
	c.Flush()
	if got := append(c.Push("The next answer."), c.Flush()...); len(got) != 1 || got[0].Text != "The next answer." {
		t.Errorf("the answer after reasoning is %+v", got)
	}
}

var mixedRun = regexp.MustCompile(`[0-9A-Za-z]{13,}`)

// checkSayable fails if a voice would read a text badly.
func checkSayable(t interface{ Fatalf(string, ...any) }, source, said string) {
	for _, run := range mixedRun.FindAllString(said, -1) {
		if strings.ContainsAny(run, "0123456789") {
			t.Fatalf("%q is left in %q, said for %q", run, said, source)
		}
	}
	for _, sign := range []string{"&&", "||", "!=", "==", "<=", ">=", "=>", "->", "://", "`", "\x1b", "::", "│", "✅", "</"} {
		if strings.Contains(said, sign) {
			t.Fatalf("%q is left in %q, said for %q", sign, said, source)
		}
	}
}

// anyID generates ids and what else is longer than a voice can read.
func anyID() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		data := rapid.SliceOfN(rapid.Byte(), 4, 64).Draw(t, "data")
		digits := hex.EncodeToString(data)
		switch rapid.IntRange(0, 7).Draw(t, "kind") {
		case 0:
			return digits
		case 1:
			return strings.ToUpper(digits)
		case 2:
			return base64.StdEncoding.EncodeToString(data)
		case 3:
			return base64.RawURLEncoding.EncodeToString(data)
		case 4:
			return rapid.StringMatching(`[A-Za-z0-9]{13,60}`).Draw(t, "id")
		case 5:
			return rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`).Draw(t, "uuid")
		case 6:
			return rapid.StringMatching(`(/[a-z]{2,8}){1,9}/[a-z]{1,8}\.(go|ts|py):[0-9]{1,4}`).Draw(t, "path")
		default:
			return rapid.StringMatching(`(sk|ghp|glpat)[-_][A-Za-z0-9]{24,40}`).Draw(t, "key")
		}
	})
}

// No sentence contains what a voice cannot read, wherever it stands in the answer.
func TestPropertyEverySentenceIsSayable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var answer strings.Builder
		for range rapid.IntRange(1, 8).Draw(t, "words") {
			id := anyID().Draw(t, "id")
			format := rapid.SampledFrom([]string{"%s", "`%s`", "(%s)", "**%s**", "id=%s", "%s,", "`id: %s`", "\"%s\"", "[it](https://example.com/%s)", "https://example.com/%s"}).Draw(t, "form")
			fmt.Fprintf(&answer, "%s "+format, rapid.SampledFrom([]string{"commit", "See", "Datei", "- ", "識別子"}).Draw(t, "word"), id)
			answer.WriteString(rapid.SampledFrom([]string{" ", ". ", "\n", "\n\n", " a && b ", " x!=y -> z "}).Draw(t, "then"))
		}
		locale := rapid.SampledFrom([]string{"en", "de", "ja"}).Draw(t, "locale")
		source := answer.String()
		segments := chunk(spoken.Options{Locale: locale}, source)
		checkTiles(t, source, segments)
		for _, s := range segments {
			checkSayable(t, source[s.Start:s.End], s.Text)
		}
	})
}
