package machine

import "fmt"

// Kind is what an event is.
type Kind uint8

// The kinds of events.
const (
	// To the link.
	Opened         Kind = iota // the client can be sent events
	ConnectTimeout             // and could not be in time
	Expired                    // the session reached its limit
	Fault                      // of the server
	HungUp                     // by anybody

	// To the turn.
	Configure   // the session has new settings
	Onset       // turn detection heard a voice
	Voice       // there is one, and no turn detection
	Heard       // audio came, or will come again
	Pause       // turn detection ended the turn
	TooLong     // the turn is as long as it may be
	Stalled     // no audio comes
	Commit      // by the client
	Clear       // by the client
	IdleTimeout // the user was silent for long after an answer

	// To the words of an utterance.
	Partial // what was understood so far
	Final
	WordsFailed

	// To answers and their sound.
	Create       // by the client
	Segment      // a piece is about to be spoken
	Delta        // audio of it is made, for events
	Spoken       // all audio of a piece is made
	Generated    // the speaker is through with it
	Cancel       // by the client; ID 0 is the oldest
	ClearOutput  // by the client, of all
	AudioStarted // the first of it is about to be sent
	AudioStopped // the last of it was sent, or there was none

	// To the memory.
	Grown      // the conversation
	Changed    // an item of it was changed or deleted
	Summarised // a summary is there, or failed

	numKinds
)

// What the tables tell one another.
const (
	ask       Kind = numKinds + iota // of the turn: it wants an answer
	begin                            // of an answer that need not wait any more
	mute                             // of an answer: nothing more of it goes out
	unplay                           // and the client is told
	interrupt                        // of an answer: by the user's voice
	committed                        // of an utterance
	dropped                          // of an utterance
	answering                        // to the turn: an answer was asked for
	answered                         // to the turn: all answers are over
	shut                             // the link is over
)

var kindNames = [...]string{
	"opened", "connectTimeout", "expired", "fault", "hungUp",
	"configure", "onset", "voice", "heard", "pause", "tooLong", "stalled", "commit", "clear", "idleTimeout",
	"partial", "final", "wordsFailed",
	"create", "segment", "delta", "spoken", "generated", "cancel", "clearOutput", "audioStarted", "audioStopped",
	"grown", "changed", "summarised",
	"ask", "begin", "mute", "unplay", "interrupt", "committed", "dropped", "answering", "answered", "shut",
}

func (k Kind) String() string { return kindNames[k] }

// part is the table that a kind is for.
type part uint8

const (
	ofLink part = iota
	ofTurn
	ofWords
	ofAnswers
	ofMemory
)

func (k Kind) of() part {
	switch {
	case k <= HungUp:
		return ofLink
	case k <= IdleTimeout:
		return ofTurn
	case k <= WordsFailed:
		return ofWords
	case k <= AudioStopped:
		return ofAnswers
	default:
		return ofMemory
	}
}

// Do is what an action does.
type Do uint8

// The actions. Their numbers are utterances, answers or summaries.
const (
	Greet          Do = iota // session.created
	TellExpired              // the error of the limit
	TellFault                // the error of the server
	HangUpWhenSent           // when the client has it
	HangUp

	OpenUtterance
	TellSpeechStarted
	TellSpeechStopped
	TellTimeout
	CommitUtterance // it becomes an item
	DropUtterance
	ForgetAudio // up to now, and tell so
	Reconfigure // detect turns by the session from here on
	ArmStall
	StopStall
	ArmIdle
	StopIdle
	TellNoModel // that could answer
	TellFull    // the server's own answer is one too many

	Listen // to an utterance
	EndListening
	TellWords    // those that will stay, where there are more
	TellProgress // and where there are not
	KeepWords    // in the item
	TellTranscript
	LoseWords
	TellWordsFailed

	TellCreated
	Generate
	Announce // its item
	Say      // its next piece
	TellAudio
	Mark // where a piece ends in the audio
	Keep // what the Model wrote and calls
	CloseItem
	Finish // response.done
	Stop   // its making, without a word
	Forget

	TellAudioStarted
	TellAudioStopped
	Kill // what was not sent yet
	TellAudioCleared
	Truncate // to what was heard

	Summarise
	KeepSummary
	ForgetSummary
	StopSummary

	NumActions
)

var doNames = [NumActions]string{
	"greet", "tellExpired", "tellFault", "hangUpWhenSent", "hangUp",
	"openUtterance", "tellSpeechStarted", "tellSpeechStopped", "tellTimeout", "commitUtterance", "dropUtterance", "forgetAudio",
	"reconfigure", "armStall", "stopStall", "armIdle", "stopIdle", "tellNoModel", "tellFull",
	"listen", "endListening", "tellWords", "tellProgress", "keepWords", "tellTranscript", "loseWords", "tellWordsFailed",
	"tellCreated", "generate", "announce", "say", "tellAudio", "mark", "keep", "closeItem", "finish", "stop", "forget",
	"tellAudioStarted", "tellAudioStopped", "kill", "tellAudioCleared", "truncate",
	"summarise", "keepSummary", "forgetSummary", "stopSummary",
}

func (d Do) String() string { return doNames[d] }

// End is how an answer ends.
type End uint8

// The ends.
const (
	Completed   End = iota
	Failed          // the Model or the voice
	Cancelled       // by the client
	Interrupted     // by the user's voice
)

func (e End) String() string {
	return [...]string{"completed", "failed", "cancelled", "interrupted"}[e]
}

// Action is what the caller has to do.
type Action struct {
	Do  Do
	ID  uint32 // the utterance, the answer or the summary; 0 for none
	End End    // CloseItem, Finish
}

func (a Action) String() string {
	switch {
	case a.Do == Finish || a.Do == CloseItem:
		return fmt.Sprintf("%v %d %v", a.Do, a.ID, a.End)
	case a.ID != 0:
		return fmt.Sprintf("%v %d", a.Do, a.ID)
	}
	return a.Do.String()
}

// String is the event as a line of a path.
func (e Event) String() string {
	text := e.Kind.String()
	if e.ID != 0 {
		text += fmt.Sprintf(" %d", e.ID)
	}
	for _, f := range []struct {
		set  bool
		text string
	}{{e.OK, " ok"}, {e.Apart, " apart"}, {e.Size > 0, fmt.Sprintf(" size %d", e.Size)}, {e.Kind == Configure, fmt.Sprintf(" %+v", e.Settings)}} {
		if f.set {
			text += f.text
		}
	}
	return text
}
