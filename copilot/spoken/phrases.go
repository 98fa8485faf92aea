package spoken

import "strings"

// The phrases are written as wordsOf returns them: lower case, no apostrophes.

var commands = phrases(map[Command]string{
	CommandStop: `stop|stop it|stop that|stop this|stop talking|stop speaking|stop reading|stop now|be quiet|quiet|keep quiet|silence|hush|
		shut up|enough|thats enough|that is enough|cancel|cancel that|cancel it|cancel this|never mind|nevermind|forget it|forget that|
		forget about it|abort|stop right there`,
	CommandRepeat: `repeat|repeat that|repeat it|repeat this|repeat yourself|say that again|say it again|say again|again|once more|one more time|
		1 more time|come again|pardon|pardon me|beg your pardon|i beg your pardon|what did you say|what was that|what did you just say|
		i didnt catch that|i did not catch that|i didnt get that|i didnt hear that|i didnt hear you|i missed that|read that again|read it again|
		what sorry|sorry what|tell me again`,
	CommandYes: `yes|yeah|yep|yup|ya|sure|sure thing|of course|absolutely|definitely|certainly|affirmative|correct|thats right|that is right|
		thats correct|do it|do that|yes do it|yes do that|yes i do|yes go ahead|yes allow it|go ahead|go for it|approve|approved|approve it|i approve|
		allow|allow it|allow that|accept|accept it|confirm|confirmed|i confirm|yes it is|yes you may|yes you can|you may|yes sure|yes of course`,
	CommandNo: `no|nope|nah|no way|no thanks|no thank you|dont|do not|dont do it|dont do that|do not do it|do not do that|no dont|no do not|
		reject|rejected|reject it|reject that|deny|denied|deny it|decline|decline it|refuse|negative|absolutely not|definitely not|
		of course not|certainly not|not now|id rather not|better not`,
	CommandTryAgain: `try again|try that again|try it again|try this again|try once more|try one more time|try it once more|retry|retry that|retry it|
		give it another try|give it another go|have another go|another try|one more try|do it again|do that again|ask again|ask it again`,
	CommandPause: `pause|pause it|pause that|pause there|hold on|hold it|hang on|wait|wait up|wait a minute|wait a moment|wait a second|wait a sec|
		one moment|one second|one sec|one minute|just a moment|just a second|just a sec|just a minute|just one moment|just one second|a moment|
		give me a moment|give me a second|give me a minute|give me a sec|hold on a second|hold on a moment|hold on a minute|hold on a sec|
		hang on a second|hang on a moment|hang on a minute|hang on a sec`,
	CommandContinue: `continue|continue talking|continue speaking|continue reading|go on|carry on|keep going|keep talking|keep reading|resume|
		proceed|unpause|you can continue|you may continue|you can go on|go on then`,
	CommandSendPhrase: `send|send it|send that|send this|send message|send the message|send my message|send it off|send now|send it now|
		submit|submit it|submit that|submit this`,
})

// backchannels are of up to three words.
var backchannels = list(`mm|mmm|mhm|mmhm|mmhmm|mm hm|mm hmm|mhmm|hm|hmm|hmmm|uh|uhh|uh huh|uhuh|uhhuh|um|umm|er|erm|ah|ahh|aha|oh|ooh|eh|huh|
	okay|ok|okey|o k|okey dokey|alright|all right|right|i see|got it|gotcha|i got it|i understand|understood|makes sense|that makes sense|
	cool|nice|great|good|very good|fine|perfect|awesome|excellent|wonderful|wow|interesting|sounds good|thats good|thats great|fair enough|
	thanks|thank you|thanks a lot|thank you so|oh i see|indeed|exactly|true|well`)

// listeningWords are words of CommandYes that also show attention.
var listeningWords = list(`yes|yeah|yep|yup|ya|sure|absolutely|definitely`)

// leads may come before a command that says more.
var leads = list(`no|nope|yes|yeah|yep|actually|sorry`)

// fillers may stand at both ends of a command.
var fillers = split(`um|umm|uh|uhm|er|erm|ah|oh|hm|hmm|mm|hey|well|so|then|now|just|okay|ok|alright|all right|right|and|but|like|please|
	pretty please|thanks|thank you|copilot|assistant|computer|for me|for a moment|for a second|i said|i say|can you|could you|would you|will you|
	can you please|could you please|would you please|i want you to|id like you to|you can|lets|let us`)

func split(s string) [][]string {
	var out [][]string
	for phrase := range strings.SplitSeq(s, "|") {
		out = append(out, strings.Fields(phrase))
	}
	return out
}

func list(s string) map[string]bool {
	m := map[string]bool{}
	for _, words := range split(s) {
		m[strings.Join(words, " ")] = true
	}
	return m
}

func phrases(byCommand map[Command]string) map[string]Command {
	m := map[string]Command{}
	for cmd, s := range byCommand {
		for phrase := range list(s) {
			m[phrase] = cmd
		}
	}
	return m
}
