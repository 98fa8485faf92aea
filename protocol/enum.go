package protocol

import "reflect"

// Enum is a closed list of strings on the wire.
type Enum struct {
	Type   reflect.Type
	Values []string
}

// Enums lists every closed list of the wire, for generators and for Decode.
var Enums = []Enum{
	enum(States), enum(Substates), enum(Roles), enum(MuteReasons), enum(TurnModes), enum(Causes), enum(SessionStates), enum(ConnectionStates),
	enum(InterruptSources), enum(EndReasons), enum(SuspendReasons), enum(RetryStages), enum(SpeakSources), enum(PlaybackActions),
	enum(TurnEvents), enum(TurnOutcomes), enum(Severities), enum(NotificationKinds), enum(ToolStatuses),
	enum(MessageRoles), enum(CopilotStatuses), enum(AnswerEnds), enum(CredentialKinds), enum(JournalContents), enum(InterruptionStages), enum(WordKinds), enum(EditorCommands),
	enum(Providers), enum(Locales), enum(ErrorCodes),
}

func enum[T ~string](values []T) Enum {
	e := Enum{Type: reflect.TypeFor[T]()}
	for _, v := range values {
		e.Values = append(e.Values, string(v))
	}
	return e
}

var enumValues = func() map[reflect.Type][]string {
	m := make(map[reflect.Type][]string, len(Enums))
	for _, e := range Enums {
		m[e.Type] = e.Values
	}
	return m
}()
