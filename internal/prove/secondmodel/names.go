package secondmodel

// events maps the model's numbers to events.
var events = []string{
	"user.start", "user.stop", "user.interrupt", "user.commit", "user.text", "user.retry", "user.approve", "user.model", "user.speak", "user.playback",
	"suspend", "resume", "configure",
	"session.ready", "session.failed", "session.expiring", "session.renewal", "session.renewed", "session.closed",
	"audio.primed", "audio.ready", "audio.failed", "device.lost", "device.restored", "audio.closed",
	"conn.ready", "conn.lost", "conn.failed", "conn.closed",
	"vad.start", "vad.pause", "vad.resume", "vad.end", "stt.partial", "stt.final", "stt.failed",
	"model.progress", "model.ready", "model.failed", "tools.found",
	"copilot.request", "copilot.delta", "copilot.segment", "copilot.toolCall", "copilot.done", "tool.done", "history.summarised",
	"tts.bufferReady", "tts.cursor", "tts.played", "tts.drained", "tts.flushed", "tts.failed", "timer", "queue.next", "fatal", "reset",
}

// timers maps the model's numbers to deadlines.
var timers = []string{
	"start", "prepare", "utterance", "final", "response", "stall", "cancel", "speech", "interrupt", "suspend", "fault", "terminate",
	"pause", "search", "approval", "tool", "model", "summary", "renewal", "confirm", "revoke",
}
