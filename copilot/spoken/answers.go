package spoken

// Answers are the short answers that a recogniser compares with a sound, as it writes them, in
// groups of one meaning: yes, no, stop, pause ("wait" is apart from "stop"), what asks for nothing,
// and "okay", which may allow what a hum must not.
var Answers = [][]string{
	{"Yes.", "Yes!", "Yes, please.", "Yes, go ahead.", "Yes, do it.", "Yeah.", "Yep.", "Sure.", "Do it.", "Allow it.", "Go ahead."},
	{"No.", "No!", "No, don't.", "Nope.", "Don't.", "Don't do that.", "Deny.", "Deny it.", "No, thanks."},
	{"Stop.", "Stop!", "Stop it.", "Stop that.", "Stop talking.", "Cancel.", "Cancel that.", "Be quiet.", "Enough."},
	{"Wait.", "Wait!", "Hold on.", "Hang on.", "Pause.", "One moment."},
	{"Mm-hmm.", "Uh-huh.", "Mhm.", "Hmm."},
	{"Okay.", "All right.", "Sounds good.", "That's fine."},
}
