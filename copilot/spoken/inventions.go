package spoken

import "strings"

// Recognisers write sentences of subtitles for a cough, a key stroke or an empty room.
var (
	// inventions are those that somebody may also say to an assistant.
	inventions = phrases(`you|bye|bye bye|see you next time|bis zum nächsten mal|tschüss|おやすみなさい`)
	// subtitles are those that only a video would say.
	subtitles = phrases(`thank you for watching|thanks for watching|thank you so much for watching|thank you very much for watching|thank you all for watching
		thanks for watching this video|thank you for watching this video|thank you for watching the video|thanks for watching and see you in the next video
		please subscribe|please subscribe to my channel|subscribe to my channel|please like and subscribe|like and subscribe|dont forget to subscribe
		dont forget to like and subscribe|see you in the next video|ill see you in the next video|subtitles by the amara org community|transcribed by otter ai
		vielen dank fürs zuschauen|danke fürs zuschauen|vielen dank für das zuschauen|danke für das zuschauen|vielen dank fürs zusehen|bis zum nächsten video
		untertitel der amara org community|untertitel im auftrag des zdf|untertitel im auftrag des zdf für funk|untertitelung des zdf|untertitelung im auftrag des zdf
		ご視聴ありがとうございました|ご視聴ありがとうございます|ご視聴いただきありがとうございます|ご視聴いただきありがとうございました|最後までご視聴ありがとうございました
		最後までご視聴いただきありがとうございます|チャンネル登録お願いします|チャンネル登録をお願いします|チャンネル登録よろしくお願いします|高評価とチャンネル登録お願いします`)
)

// Invented reports whether a transcript is nothing but such an invention.
func Invented(text string) bool { return inventions[sentenceWords(text)] || Subtitles(text) }

// Subtitles reports whether a transcript consists of sentences of subtitles.
func Subtitles(text string) bool {
	if subtitles[sentenceWords(text)] {
		return true
	}
	sentences := sentencesOf(text)
	for _, s := range sentences {
		if !subtitles[sentenceWords(s)] {
			return false
		}
	}
	return len(sentences) > 0
}

// sentenceWords returns the words of a sentence without a year at its end.
func sentenceWords(text string) string {
	words := wordsOf(text)
	if last := len(words) - 1; last > 0 && strings.Trim(words[last], "0123456789") == "" {
		words = words[:last]
	}
	return strings.Join(words, " ")
}

// phrases returns the phrases of lines.
func phrases(lines string) map[string]bool {
	m := map[string]bool{}
	for line := range strings.Lines(lines) {
		for phrase := range strings.SplitSeq(strings.TrimSpace(line), "|") {
			m[phrase] = true
		}
	}
	return m
}
