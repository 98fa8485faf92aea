package spoken_test

import (
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

func TestClassifyCommands(t *testing.T) {
	tests := map[spoken.Command][]string{
		spoken.CommandStop: {"stop", "Stop!", "STOP.", "stop stop stop", "okay, stop", "please stop", "Um, could you please stop talking?", "never mind",
			"No, stop.", "that's enough", "That’s enough, thanks.", "just stop now", "cancel that please", "Shut up!", "actually, never mind"},
		spoken.CommandRepeat: {"repeat", "Repeat that, please.", "could you say that again?", "say again", "What did you say?", "one more time", "Pardon?",
			"sorry, what was that", "I didn't catch that", "again please"},
		spoken.CommandYes: {"yes", "Yes.", "yes, yes", "Yeah!", "yep", "sure", "Yes, please.", "go ahead", "do it", "okay do it", "Um, sure, why not?", "Um, yes", "of course", "yes, thank you",
			"fine by me", "yes, you can", "do so", "yeah, okay", "yes, thanks"},
		spoken.CommandNo:         {"no", "No!", "no no no", "Nope.", "no, thanks", "No thank you", "don't", "Please don't do it.", "reject it", "no, don't"},
		spoken.CommandTryAgain:   {"try again", "Try that again, please.", "retry", "okay, try again", "Can you try again?", "do it again"},
		spoken.CommandPause:      {"pause", "wait", "Wait, wait!", "hold on", "hang on a second", "no wait", "just a moment please", "One moment."},
		spoken.CommandContinue:   {"continue", "go on", "please go on", "Okay, continue.", "keep going", "carry on", "resume"},
		spoken.CommandSendPhrase: {"send it", "Send.", "please send it", "send that now", "submit", "okay send it"},
	}
	for cmd, texts := range tests {
		for _, text := range texts {
			if got := spoken.Classify(text); got.Class != spoken.UtteranceCommand || got.Command != cmd {
				t.Errorf("%q: got %+v, want the command %s", text, got, cmd)
			}
		}
	}
}

func TestClassifyOtherLanguages(t *testing.T) {
	for cmd, texts := range map[spoken.Command][]string{
		spoken.CommandStop:       {"Stopp!", "Halt.", "Hör auf zu reden!", "Bitte sei still", "nein, stopp", "止めて。", "ストップ", "もういいです。"},
		spoken.CommandYes:        {"Ja.", "ja, bitte", "Ja, gerne!", "Na klar.", "Mach das.", "ja ja", "はい。", "von mir aus", "ja, von mir aus", "ja, nur zu", "はい、お願いします。", "どうぞ", "もちろんです"},
		spoken.CommandNo:         {"Nein.", "nein, nein", "Nein danke.", "Auf keinen Fall!", "Bitte nicht.", "いいえ。", "だめです。", "しないでください"},
		spoken.CommandSendPhrase: {"Abschicken.", "bitte abschicken", "送信"},
		spoken.CommandPause:      {"Warte mal.", "Moment, bitte!", "Einen Moment.", "nein, warte", "待って。", "ちょっと待ってください。", "一時停止"},
		spoken.CommandContinue:   {"Weiter.", "bitte weiter", "Mach weiter!", "Fahr fort.", "続けて。", "続けてください", "再開"},
	} {
		for _, text := range texts {
			if got := spoken.Classify(text); got.Class != spoken.UtteranceCommand || got.Command != cmd {
				t.Errorf("%q: got %+v, want the command %s", text, got, cmd)
			}
		}
	}
	for text, want := range map[string]spoken.UtteranceClass{
		"ach so": spoken.UtteranceBackchannel, "なるほど": spoken.UtteranceBackchannel,
		"Ja, aber erst die Tests": spoken.UtteranceContent, "nein, die andere Datei": spoken.UtteranceContent,
		"Halte den Server an": spoken.UtteranceContent, "Warte auf den Server": spoken.UtteranceContent, "mach mit dem Parser weiter": spoken.UtteranceContent, "はい、でもテストから": spoken.UtteranceContent,
	} {
		if got := spoken.Classify(text); got.Class != want {
			t.Errorf("%q: got %+v, want %s", text, got, want)
		}
	}
}

func TestClassifyOthers(t *testing.T) {
	tests := map[spoken.UtteranceClass][]string{
		spoken.UtteranceEmpty: {"", "   ", "...", "?!", "[noise]", "(coughs)", "<unk> [BLANK_AUDIO]", "*sighs*", "\n", "🎉", "the", "and the", "but"},
		spoken.UtteranceBackchannel: {"mm-hm", "Mm-hmm.", "mhm", "uh huh", "Uh-huh!", "I see", "oh, I see", "got it", "hmm",
			"um", "thank you", "that's great", "mm", "ha ha ha", "Haha!"},
		spoken.UtteranceContent: {"stop the server", "Stop the test and run it again", "repeat the last command in the shell", "yes the second one", "no the other file",
			"try again with the flag set", "pause the container", "continue the loop after an error", "send it to the staging server", "what is the time",
			"okay so what does this function do", "cancel the build", "wait for the server", "go on line five", "don't stop", "do not continue",
			"I see an error in main", "right click the file", "again and again it fails", "the stop", "no problem with that", "stop continue", "hello", "yes, but", "Sure, but um", "no, but", "ja, aber", "yes and",
			"yes, can you", "yes, let us", "yes, just", "ja, könnten Sie", "continue, but", "okay, go on and",
			strings.Repeat("stop ", 40)},
	}
	for class, texts := range tests {
		for _, text := range texts {
			if got := spoken.Classify(text); got != (spoken.Utterance{Class: class}) {
				t.Errorf("%q: got %+v, want %s", text, got, class)
			}
		}
	}
}

func TestClassifyAgreement(t *testing.T) {
	for text, want := range map[string]bool{
		"okay": true, "Okay, okay.": true, "ok": true, "O.K.": true, "right": true, "Alright.": true, "okay great": true, "mm-hm, okay": true, "That’s fine.": true,
		"alles klar": true, "了解です": true, "right, okay": true, "yes, exactly": true, "Yes, perfect.": true, "yeah, I see": true, "Yes, got it.": true, "exactly, yes": true, "yeah yeah, I see": true,
		"sure, sounds good": true, "ja, genau": true, "Ja, alles klar.": true, "ja, verstehe": true, "はい、わかりました。": true, "はいわかりました": true, "うん、なるほど": true,
		"no, I see": false, "yes, the second one": false, "yes, I see an error": false, "great, do it": false, "mm-hm": false, "I see": false, "yes": false, "okay, the other one": false,
	} {
		if got := spoken.Classify(text); got.Agrees != want || want && got.Class != spoken.UtteranceBackchannel {
			t.Errorf("%q: got %+v, want %v", text, got, want)
		}
	}
}

// Case, punctuation and politeness never change the meaning.
func FuzzClassify(f *testing.F) {
	for _, s := range []string{"stop", "say that again", "mm-hm", "stop the server", "[noise]", "don’t", "no, wait"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := spoken.Classify(text)
		if (got.Class == spoken.UtteranceCommand) != (got.Command != "") {
			t.Fatalf("%q: %+v", text, got)
		}
		for _, r := range text {
			if r > 127 || strings.ContainsRune("[]()<>*", r) {
				return // other scripts have different case folding, and brackets hide words
			}
		}
		for _, same := range []string{strings.ToUpper(text), "  " + text + " . ", strings.ReplaceAll(text, " ", ", ")} {
			if other := spoken.Classify(same); other != got {
				t.Fatalf("%q is %+v, %q is %+v", text, got, same, other)
			}
		}
		if got.Class == spoken.UtteranceCommand && got.Command != spoken.CommandNo {
			if polite := spoken.Classify("please " + text); polite.Command != got.Command && len(strings.Fields(text)) < 8 {
				t.Fatalf("%q is %+v, with please %+v", text, got, polite)
			}
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		spoken.Classify("Could you please say that again?")
		spoken.Classify("Why does the parser test fail on an empty file?")
	}
}
