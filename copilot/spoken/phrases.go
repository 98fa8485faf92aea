package spoken

import "strings"

// The phrases are written as wordsOf returns them: lower case, no apostrophes.
// English, German and Japanese are looked for at once: people mix them, and no
// phrase of one means something else in another.

var commands = phrases(map[Command]string{
	CommandStop: `stop|stop it|stop that|stop this|stop talking|stop speaking|stop reading|stop now|be quiet|quiet|keep quiet|silence|hush|
		shut up|enough|thats enough|that is enough|cancel|cancel that|cancel it|cancel this|never mind|nevermind|forget it|forget that|
		forget about it|abort|stop right there|
		stopp|halt|hör auf|hör auf zu reden|sei still|ruhe|genug|das reicht|abbrechen|brich ab|vergiss es|
		止めて|止めてください|やめて|やめてください|止まって|ストップ|黙って|静かにして|もういい|もういいです`,
	CommandRepeat: `repeat|repeat that|repeat it|repeat this|repeat yourself|say that again|say it again|say again|again|once more|one more time|
		1 more time|come again|pardon|pardon me|beg your pardon|i beg your pardon|what did you say|what was that|what did you just say|
		i didnt catch that|i did not catch that|i didnt get that|i didnt hear that|i didnt hear you|i missed that|read that again|read it again|
		what sorry|sorry what|tell me again`,
	CommandYes: `yes|yeah|yep|yup|ya|sure|sure thing|of course|absolutely|definitely|certainly|affirmative|correct|thats right|that is right|
		thats correct|do it|do that|yes do it|yes do that|yes i do|yes go ahead|yes allow it|go ahead|go for it|approve|approved|approve it|i approve|
		allow|allow it|allow that|accept|accept it|confirm|confirmed|i confirm|yes it is|yes you may|yes you can|you may|yes sure|yes of course|
		ja|jawohl|jap|jep|ja bitte|ja gern|ja gerne|gern|gerne|ja klar|klar|na klar|natürlich|ja natürlich|selbstverständlich|einverstanden|in ordnung|
		mach das|mach es|tu das|tu es|ja mach das|ja mach es|ja tu das|ja tu es|du darfst|ja du darfst|sie dürfen|ja sie dürfen|erlaubt|ja erlaubt|genehmigt|
		はい|ええ|うん|お願いします|はい お願いします|はいお願いします|どうぞ|はい どうぞ|いいですよ|はい いいですよ|いいよ|もちろん|もちろんです|許可します|はい 許可します`,
	CommandNo: `no|nope|nah|no way|no thanks|no thank you|dont|do not|dont do it|dont do that|do not do it|do not do that|no dont|no do not|
		reject|rejected|reject it|reject that|deny|denied|deny it|decline|decline it|refuse|negative|absolutely not|definitely not|
		of course not|certainly not|not now|id rather not|better not|
		nein|nee|nö|nein danke|auf keinen fall|lieber nicht|nein lieber nicht|bloß nicht|nicht|nein nicht|nicht jetzt|mach das nicht|tu das nicht|
		lass das|nein lass das|abgelehnt|ich lehne ab|
		いいえ|いや|いやです|だめ|だめです|ダメ|ダメです|駄目|駄目です|しないで|しないでください|いいえ しないでください|許可しません|いいえ 許可しません|結構です|いいえ 結構です`,
	CommandTryAgain: `try again|try that again|try it again|try this again|try once more|try one more time|try it once more|retry|retry that|retry it|
		give it another try|give it another go|have another go|another try|one more try|do it again|do that again|ask again|ask it again`,
	CommandPause: `pause|pause it|pause that|pause there|hold on|hold it|hang on|wait|wait up|wait a minute|wait a moment|wait a second|wait a sec|
		one moment|one second|one sec|one minute|just a moment|just a second|just a sec|just a minute|just one moment|just one second|a moment|
		give me a moment|give me a second|give me a minute|give me a sec|hold on a second|hold on a moment|hold on a minute|hold on a sec|
		hang on a second|hang on a moment|hang on a minute|hang on a sec|
		warte|warte mal|warte kurz|warte einen moment|warte einen augenblick|warten sie|warten sie kurz|warten sie einen moment|moment|moment mal|
		einen moment|einen moment mal|kleinen moment|augenblick|einen augenblick|sekunde|eine sekunde|pausiere|pausieren|
		待って|待ってください|ちょっと待って|ちょっと待ってください|少し待って|少し待ってください|少々お待ちください|一時停止|一時停止して|一時停止してください|ポーズ`,
	CommandContinue: `continue|continue talking|continue speaking|continue reading|go on|carry on|keep going|keep talking|keep reading|resume|
		proceed|unpause|you can continue|you may continue|you can go on|go on then|
		weiter|weitermachen|mach weiter|machen sie weiter|geh weiter|weitersprechen|sprich weiter|sprechen sie weiter|rede weiter|red weiter|
		weiterlesen|lies weiter|lesen sie weiter|fortfahren|fahr fort|fahre fort|fahren sie fort|fortsetzen|
		続けて|続けてください|続きを|続きをお願いします|続きを読んで|続きを読んでください|再開|再開して|再開してください`,
	CommandSendPhrase: `send|send it|send that|send this|send message|send the message|send my message|send it off|send now|send it now|
		submit|submit it|submit that|submit this|
		abschicken|absenden|senden|schick es ab|schick das ab|送信|送信して|送信してください|送って|送ってください`,
})

// backchannels are of up to three words.
var backchannels = list(`mm|mmm|mhm|mmhm|mmhmm|mm hm|mm hmm|mhmm|hm|hmm|hmmm|uh|uhh|uh huh|uhuh|uhhuh|um|umm|er|erm|ah|ahh|aha|oh|ooh|eh|huh|
	okay|ok|okey|o k|okey dokey|alright|all right|right|i see|got it|gotcha|i got it|i understand|understood|makes sense|that makes sense|
	cool|nice|great|good|very good|fine|perfect|awesome|excellent|wonderful|wow|interesting|sounds good|thats good|thats great|fair enough|
	ha|hah|haha|hahaha|heh|hehe|hihi|
	thanks|thank you|thanks a lot|thank you so|oh i see|indeed|exactly|true|well|
	ach so|achso|verstehe|alles klar|genau|なるほど|へえ|ふうん|ふーん|そうですか|そうなんですか`)

// listeningWords are words of CommandYes that also show attention.
var listeningWords = list(`yes|yeah|yep|yup|ya|sure|absolutely|definitely|ja|jap|jep|klar|はい|ええ|うん`)

// leads may come before a command that says more.
var leads = list(`no|nope|yes|yeah|yep|actually|sorry|nein|ja`)

// fillers may stand at both ends of a command.
var fillers = split(`um|umm|uh|uhm|er|erm|ah|oh|hm|hmm|mm|hey|well|so|then|now|just|okay|ok|alright|all right|right|and|but|like|please|
	pretty please|thanks|thank you|bitte|danke|copilot|assistant|computer|for me|for a moment|for a second|i said|i say|can you|could you|would you|will you|
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
