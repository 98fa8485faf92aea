package watch

import "github.com/agentvoice/agentvoice-daemon/protocol"

// redact returns the part of a notification that a watcher without words receives, or
// nil for nothing: state names, ids, codes, figures and times. It omits everything that
// somebody said or that an assistant or a tool wrote, the details of failures, and
// unknown notifications.
func redact(locale protocol.Locale, params any) any {
	switch p := params.(type) {
	case protocol.StateParams, protocol.TurnParams, protocol.PausedParams, protocol.Queue,
		protocol.SessionParams, protocol.LevelParams, protocol.Microphone:
		return p
	case protocol.ToolParams:
		return protocol.ToolParams{
			CallID: p.CallID, TurnID: p.TurnID, RequestID: p.RequestID, Status: p.Status,
			Destructive: p.Destructive, Click: p.Click, RetryOf: p.RetryOf,
		}
	case protocol.ErrorParams:
		plain := locale.NewErrorParams(p.Code, p.TurnID)
		plain.HasHelp, plain.RequestID, plain.ExpectedSeq, plain.ReceivedSeq = p.HasHelp, p.RequestID, p.ExpectedSeq, p.ReceivedSeq
		return plain
	case protocol.NotificationParams:
		if p.Code == "" && p.Progress == nil {
			return nil // its message may repeat what was said
		}
		plain := protocol.NotificationParams{Severity: p.Severity, Kind: p.Kind, Code: p.Code, Progress: p.Progress, TurnID: p.TurnID}
		if p.Code != "" {
			plain.Message = p.Code.Spec().Message(locale)
		}
		return plain
	default: // transcripts and captions consist of words
		return nil
	}
}
