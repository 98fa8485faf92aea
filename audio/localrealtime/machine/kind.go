package machine

import "fmt"

// Kind is the kind of an event.
type Kind uint8

// Event kinds.
const (
	// For the link.
	Opened         Kind = iota // events can be sent to the client
	ConnectTimeout             // the client did not connect in time
	Expired                    // the session reached its time limit
	Fault                      // of the server
	HungUp                     // by either side

	// For the turn.
	Configure   // the session has new settings
	Onset       // turn detection detected a voice
	Voice       // voice detected without turn detection
	Heard       // audio arrived, or will arrive again
	Pause       // turn detection ended the turn
	TooLong     // the turn reached its maximum length
	Stalled     // no audio arrives
	Commit      // by the client
	Clear       // by the client
	IdleTimeout // the user was silent for a long time after an answer

	// For the words of an utterance.
	Partial // text recognised so far
	Final
	WordsFailed

	// For answers and their sound.
	Create       // by the client
	Segment      // a piece is about to be spoken
	Delta        // audio was generated, for events
	Spoken       // all audio of a piece was generated
	Generated    // the speaker is finished with the answer
	Cancel       // by the client; ID 0 means the oldest
	ClearOutput  // by the client, for all answers
	AudioStarted // the first audio is about to be sent
	AudioStopped // the last audio was sent, or there was none

	// For the memory.
	Grown      // the conversation grew
	Changed    // an item of the conversation was changed or deleted
	Summarised // a summary is finished, or failed

	numKinds
)

// Inputs that the tables send each other.
const (
	ask       Kind = numKinds + iota // from the turn: it requests an answer
	begin                            // to an answer: it no longer needs to wait
	mute                             // to an answer: stop sending its audio
	unplay                           // like mute, and notify the client
	interrupt                        // to an answer: interrupted by the user's voice
	committed                        // to the words: their utterance was committed
	dropped                          // to the words: their utterance was dropped
	answering                        // to the turn: an answer was requested
	answered                         // to the turn: all answers are over
	shut                             // to all: the link is over
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

// part is the table that a kind belongs to.
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

// Do is the kind of an action.
type Do uint8

// The actions. Their ids refer to utterances, answers or summaries.
const (
	Greet          Do = iota // session.created
	TellExpired              // the error for the time limit
	TellFault                // the error for the fault
	HangUpWhenSent           // after the client has received it
	HangUp

	OpenUtterance
	TellSpeechStarted
	TellSpeechStopped
	TellTimeout
	CommitUtterance // turn it into an item
	DropUtterance
	ForgetAudio // up to now, and notify the client
	Reconfigure // apply the session's turn detection from here on
	ArmStall
	StopStall
	ArmIdle
	StopIdle
	TellNoModel // no Model can answer
	TellFull    // no room for the server's own answer

	Listen // start recognising an utterance
	EndListening
	TellWords    // send the stable words, if there are new ones
	TellProgress // send the stable words, even if there are none
	KeepWords    // store them in the item
	TellTranscript
	LoseWords
	TellWordsFailed

	TellCreated
	Generate
	Announce // announce its item
	Say      // send its next piece
	TellAudio
	Mark // record where a piece ends in the audio
	Keep // store the Model's text and function calls
	CloseItem
	Finish // send response.done
	Stop   // stop generating, without notifying
	Forget

	TellAudioStarted
	TellAudioStopped
	Kill // drop audio not yet sent
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

// The ends of an answer.
const (
	Completed   End = iota
	Failed          // failure of the Model or the voice
	Cancelled       // by the client
	Interrupted     // by the user's voice
)

func (e End) String() string {
	return [...]string{"completed", "failed", "cancelled", "interrupted"}[e]
}

// Action is an instruction to the caller.
type Action struct {
	Do  Do
	ID  uint32 // the utterance, answer or summary; 0 if not applicable
	End End    // for CloseItem, Finish
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

// String formats the event as a line of a path.
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
