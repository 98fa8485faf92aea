package spoken_test

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// An answer asks if one of its last two sentences does.
func TestAsks(t *testing.T) {
	for _, text := range []string{
		"Should I also update the tests?", "Should I also update the tests? Just say so.", "Should I also update the tests? 🙂", "**Should I?**", "It works. (Should I push it?)",
		"Should I update them? Then I would run all 1.5 k of them.", "Shall I?\n\nJust say so.", "Should I use one, e.g. the parser's? See Dr. Smith.", "Which one?\n1. Parser\n2. Lexer",
		"Should I apply this?\n```go\nfmt.Println(1). Then. More.\n```\n", "Soll ich auch die Tests ändern? Sag einfach Bescheid.", "Soll ich z.B. den Parser ändern? Sagen Sie es, bitte!",
		"テストも更新しますか。", "テストも更新しましょうか？一言どうぞ。", "テストも更新しますか。教えてください。", "更新してもよろしいでしょうか", "Really?!", "Should I… push it?",
	} {
		if !spoken.Asks(text) {
			t.Errorf("%q asks nothing", text)
		}
	}
	for _, text := range []string{
		"", "It works.", "Why does it fail? The parser reads past the end. I changed line 40.", "What changed? Two files. Both are tests. 🙂", "The URL is https://a.example/?q=1 now.",
		"Warum? Der Parser liest zu weit. Ich habe es geändert.", "なぜですか。パーサーが間違っていました。直しました。", "Why?\n\nBecause.\n\nDone.", "```\nwhat?\n```\nDone.",
	} {
		if spoken.Asks(text) {
			t.Errorf("%q asks", text)
		}
	}
}
