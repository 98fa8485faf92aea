package headless

import "testing"

// anAnswer is heard to the end; repeatOver asks for a repetition while it is spoken.
const (
	anAnswer = `
		await state listening
		auto speech 50ms 1s
		say "explain the parser"
		copilot.delta "It reads tokens and builds a tree."
		copilot.done
	`
	repeatOver = anAnswer + `
		after 500ms
		vad.start
		after 300ms
		vad.end
		stt.final "repeat that"
	`
)

// untilSpoken and untilCut are the states that these scripts pass through.
var (
	untilSpoken = []string{"preparing@0", "listening@0", "processing@0", "waitingForCopilot@0", "processing@0", "speaking@50"}
	untilCut    = append(untilSpoken[:len(untilSpoken):len(untilSpoken)], "interrupted@500", "listening@750")
)

func TestRepeatThatSaysTheLastAnswerAgain(t *testing.T) {
	plays(t, anAnswer+`
		after 3s
		say "Could you repeat that, please?"
		after 3s
	`, append(untilSpoken[:len(untilSpoken):len(untilSpoken)], "listening@1050", "speaking@3050", "listening@4050")...)
}

func TestRepeatThatInTheMiddleOfTheAnswer(t *testing.T) {
	plays(t, repeatOver+"after 3s", append(untilCut[:len(untilCut):len(untilCut)], "speaking@850", "listening@1850")...)
}

// A "repeat that" before any answer goes to the assistant, and a deferred one is
// cancelled by what is said next.
func TestRepeatThatWhereItIsSomethingElse(t *testing.T) {
	t.Run("before an answer", func(t *testing.T) {
		plays(t, `
			await state listening
			say "repeat that"
			after 1s
		`, "preparing@0", "listening@0", "processing@0", "waitingForCopilot@0")
	})
	t.Run("taken back by what is said next", func(t *testing.T) {
		plays(t, repeatOver+`
			vad.start
			after 300ms
			vad.end
			stt.final "no, explain the lexer"
			after 1s
		`, append(untilCut[:len(untilCut):len(untilCut)], "processing@1100", "waitingForCopilot@1100")...)
	})
}
