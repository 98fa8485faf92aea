package daemon

import (
	"cmp"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// commandWords are the phrases about voice commands.
type commandWords struct {
	speeds       string // requested speed out of range
	newVoice     string // its name
	oneVoice     string // it cannot be switched
	noWake       string // no way to wake it is set up
	editorFailed string
	unused       string // user phrases that have no effect
	onlyNames    string // the number of replacements in the lists of a workspace
	summarise    string // request to the assistant for a summary
	asHeard      string // request to the assistant with the words as heard
	uncorrected  string // the correction was undone
	canSay       string // introduces the list of commands
	nothingDone  string
	done         string // the number of tool calls
	one          string // a tool and its outcome
	on           string // a tool and its object
	outcomes     map[protocol.ToolStatus]string
}

var voiceWords = map[protocol.Locale]commandWords{
	protocol.English: {
		speeds: "I can speak at a speed from 0.5 to 3.", noWake: "The wake phrase is off, so nothing would wake me. You can turn it on in the settings.",
		newVoice:     "I am %s now. Say 'another voice' for the next one.",
		oneVoice:     "The voice cannot be changed here; choose one in the settings, under Voice Name.",
		editorFailed: "The editor could not do that.", unused: "Some of your voice commands have no effect: %s",
		onlyNames: "Replacements in this workspace's voice-words.md are ignored (%d): only your own list can replace words. Put them into voice-words.md in your home folder, or into the setting agentvoice.vocabulary.",
		summarise: "Sum up your last answer in one or two short sentences, to be read aloud.",
		asHeard:   "Correction: I said “%s”, word for word. Please answer that instead.", uncorrected: "The correction is undone.",
		canSay: "You can say: ", nothingDone: "I have not used any tools in this conversation.", done: "I used tools %d times.", one: "%s: %s.", on: "%s on %s",
		outcomes: map[protocol.ToolStatus]string{
			protocol.ToolRequested: "asked for", protocol.ToolWaiting: "needs your approval", protocol.ToolRunning: "still running", protocol.ToolRejected: "not allowed",
			protocol.ToolCompleted: "done", protocol.ToolFailed: "failed", protocol.ToolCancelled: "cancelled",
		},
	},
	protocol.German: {
		speeds: "Ich kann mit einem Tempo von 0,5 bis 3 sprechen.", noWake: "Das Weckwort ist aus, also würde mich nichts wecken. Sie können es in den Einstellungen einschalten.",
		newVoice:     "Ich bin jetzt %s. Sagen Sie „andere Stimme“ für die nächste.",
		oneVoice:     "Die Stimme lässt sich hier nicht wechseln; wählen Sie eine in den Einstellungen, unter Voice Name.",
		editorFailed: "Der Editor konnte das nicht ausführen.", unused: "Einige Ihrer Sprachbefehle haben keine Wirkung: %s",
		onlyNames: "Ersetzungen in voice-words.md dieses Arbeitsbereichs werden ignoriert (%d): Nur Ihre eigene Liste kann Wörter ersetzen. Tragen Sie sie in voice-words.md in Ihrem Benutzerordner oder in die Einstellung agentvoice.vocabulary ein.",
		summarise: "Fasse deine letzte Antwort in ein oder zwei kurzen Sätzen zum Vorlesen zusammen.",
		asHeard:   "Korrektur: Ich habe wörtlich gesagt: „%s“. Bitte antworte stattdessen darauf.", uncorrected: "Die Korrektur ist zurückgenommen.",
		canSay: "Sie können sagen: ", nothingDone: "Ich habe in diesem Gespräch keine Werkzeuge benutzt.", done: "Ich habe %d-mal Werkzeuge benutzt.", one: "%s: %s.", on: "%s für %s",
		outcomes: map[protocol.ToolStatus]string{
			protocol.ToolRequested: "angefragt", protocol.ToolWaiting: "braucht Ihre Zustimmung", protocol.ToolRunning: "läuft noch", protocol.ToolRejected: "nicht erlaubt",
			protocol.ToolCompleted: "erledigt", protocol.ToolFailed: "fehlgeschlagen", protocol.ToolCancelled: "abgebrochen",
		},
	},
	protocol.Japanese: {
		speeds: "速さは 0.5 から 3 まで選べます。", noWake: "起動フレーズがオフなので、呼び戻せなくなります。設定でオンにできます。",
		newVoice:     "%sです。次の声は「別の声にして」で選べます。",
		oneVoice:     "ここでは声を変えられません。設定の Voice Name で選んでください。",
		editorFailed: "エディターで実行できませんでした。", unused: "一部の音声コマンドは無効です: %s",
		onlyNames: "このワークスペースの voice-words.md にある置き換えは無視されます (%d 件)。単語を置き換えられるのは自分のリストだけです。ホーム フォルダーの voice-words.md か、設定 agentvoice.vocabulary に書いてください。",
		summarise: "最後の回答を、読み上げ用に短い一、二文で要約してください。",
		asHeard:   "訂正します。「%s」と、この言葉どおりに言いました。こちらに答えてください。", uncorrected: "修正を取り消しました。",
		canSay: "次のように言えます。", nothingDone: "この会話ではツールを使っていません。", done: "ツールを %d 回使いました。", one: "%s: %s。", on: "%s (%s)",
		outcomes: map[protocol.ToolStatus]string{
			protocol.ToolRequested: "要求済み", protocol.ToolWaiting: "承認待ち", protocol.ToolRunning: "実行中", protocol.ToolRejected: "不許可",
			protocol.ToolCompleted: "完了", protocol.ToolFailed: "失敗", protocol.ToolCancelled: "取り消し",
		},
	},
}

// examples fill the slots of phrases; the defaults are main.go and 42.
var examples = map[spoken.Command]string{
	spoken.CommandSpeed: "2", spoken.CommandSwitchMode: "plan", spoken.CommandSwitchModel: "mini", spoken.CommandSwitchAssistant: "Copilot", spoken.CommandOpenSession: "2",
}

// example returns the first phrase of a command, with its slots filled.
func example(e spoken.Entry) string {
	return strings.NewReplacer("{number}", cmp.Or(examples[e.Command], "42"), "{name}", cmp.Or(examples[e.Command], "main.go")).Replace(e.Phrases[0])
}

// help lists the available commands, each with its first phrase.
func (d *Daemon) help() string {
	var say []string
	for _, e := range spoken.Entries(string(d.locale())) {
		switch {
		case e.Command.Editor() && d.cfg.Editor == nil, e.Command == spoken.CommandUnmute:
		case e.Command == spoken.CommandSendPhrase && d.conversationSettings().TurnDetection.Mode != protocol.TurnPhrase:
		case e.Command.Agent() && d.agentAction(e.Command, "") == nil:
		default:
			say = append(say, example(e))
		}
	}
	words := questions[d.locale()]
	return voiceWords[d.locale()].canSay + words.list(say) + "."
}
