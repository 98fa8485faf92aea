package headless

import "testing"

const anAnswer = `
	await state listening
	auto speech 50ms 1s
	say "explain the parser"
	copilot.delta "It reads tokens and builds a tree."
	copilot.done
`

func TestRepeatThatSaysTheLastAnswerAgain(t *testing.T) {
	plays(t, anAnswer+`
		after 3s
		say "Could you repeat that, please?"
		after 3s
	`, "preparing@0", "listening@0", "processing@0", "waitingForCopilot@0", "processing@0", "speaking@50", "listening@1050",
		"speaking@3050", "listening@4050")
}

func TestRepeatThatInTheMiddleOfTheAnswer(t *testing.T) {
	plays(t, anAnswer+`
		after 500ms
		vad.start
		after 300ms
		vad.end
		stt.final "repeat that"
		after 3s
	`, "preparing@0", "listening@0", "processing@0", "waitingForCopilot@0", "processing@0", "speaking@50",
		"interrupted@500", "listening@750", "speaking@850", "listening@1850")
}

// Nobody is stopped, and nobody asked, by a wish that means something else.
func TestRepeatThatWhereItIsSomethingElse(t *testing.T) {
	t.Run("before an answer", func(t *testing.T) {
		plays(t, `
			await state listening
			say "repeat that"
			after 1s
		`, "preparing@0", "listening@0", "processing@0", "waitingForCopilot@0")
	})
	t.Run("taken back by what is said next", func(t *testing.T) {
		plays(t, anAnswer+`
			after 500ms
			vad.start
			after 300ms
			vad.end
			stt.final "repeat that"
			vad.start
			after 300ms
			vad.end
			stt.final "no, explain the lexer"
			after 1s
		`, "preparing@0", "listening@0", "processing@0", "waitingForCopilot@0", "processing@0", "speaking@50",
			"interrupted@500", "listening@750", "processing@1100", "waitingForCopilot@1100")
	})
}
