package daemon

import "github.com/agentvoice/agentvoice-daemon/protocol"

// agentWords are the phrases about the modes, models and sessions of the current
// adapter.
type agentWords struct {
	modes, now  string // the modes, and the current one
	noModes     string // the agent has no modes
	noMode      string // unknown mode name, and the available modes
	modeSet     string
	unaskedMode string // asks for a yes
	modeKept    string

	models        string
	noModels      string
	noModel       string // unknown model name, and the available models
	modelSet      string
	modelsInPanel string // only the editor knows the models

	sessions   string
	untitled   string // a session without a title
	noSessions string
	noSession  string // unknown session name or number, and how many sessions exist
	sessionSet string

	assistants   string // those that can answer
	offline      string // the name of the offline assistant
	notInstalled string // an agent
	switched     string // who answers from the next message on
	knowsWords   string
	knowsNothing string

	busy, failed  string
	mayActUnasked string
}

var agentTexts = map[protocol.Locale]agentWords{
	protocol.English: {
		modes: "The modes are %s.", now: " Now it is %s.", noModes: "The agent has no modes.", noMode: "There is no mode “%s”. The modes are %s.",
		modeSet: "The mode is %s now.", unaskedMode: "In the mode %s the agent acts without asking you. Shall I switch to it? Please say yes or no.", modeKept: "The mode stays as it is.",
		models: "The models are %s.", noModels: "The assistant does not list its models.", noModel: "There is no model “%s”, or several. The models are %s.",
		modelSet: "From the next request on, the model %s answers.", modelsInPanel: "The editor has the list of models. Please choose one in the panel.",
		sessions: "The earlier sessions are: %s.", untitled: "untitled", noSessions: "The agent lists no earlier sessions for this folder.",
		noSession: "There is no session %s. There are %d.", sessionSet: "Continuing the session “%s”.",
		assistants: "The assistants are %s.", offline: "offline", notInstalled: "%s is not installed.",
		switched: "From your next message on, %s answers.", knowsWords: " It gets what was said so far, but not what was read or changed meanwhile.", knowsNothing: " It does not know what was said before.",
		busy: "The agent is busy. Say stop first.", failed: "The agent could not do that.",
		mayActUnasked: "%s may act without asking you. Its own settings decide.",
	},
	protocol.German: {
		modes: "Die Modi sind %s.", now: " Aktiv ist %s.", noModes: "Der Agent hat keine Modi.", noMode: "Es gibt keinen Modus „%s“. Die Modi sind %s.",
		modeSet: "Der Modus ist jetzt %s.", unaskedMode: "Im Modus %s handelt der Agent, ohne Sie zu fragen. Soll ich umschalten? Bitte sagen Sie ja oder nein.", modeKept: "Der Modus bleibt, wie er ist.",
		models: "Die Modelle sind %s.", noModels: "Der Assistent nennt seine Modelle nicht.", noModel: "Zu „%s“ passt kein Modell, oder es passen mehrere. Die Modelle sind %s.",
		modelSet: "Ab der nächsten Anfrage antwortet das Modell %s.", modelsInPanel: "Die Liste der Modelle hat der Editor. Bitte wählen Sie eines in der Ansicht aus.",
		sessions: "Die früheren Sitzungen sind: %s.", untitled: "ohne Titel", noSessions: "Der Agent kennt für diesen Ordner keine früheren Sitzungen.",
		noSession: "Es gibt keine Sitzung %s, insgesamt nur %d.", sessionSet: "Die Sitzung „%s“ wird fortgesetzt.",
		assistants: "Die Assistenten sind %s.", offline: "offline", notInstalled: "%s ist nicht installiert.",
		switched: "Ab Ihrer nächsten Nachricht antwortet %s.", knowsWords: " Der Assistent erhält, was bisher gesagt wurde, aber nicht, was dabei gelesen oder geändert wurde.", knowsNothing: " Was vorher gesagt wurde, ist dann nicht bekannt.",
		busy: "Der Agent ist beschäftigt. Sagen Sie zuerst „Stopp“.", failed: "Der Agent konnte das nicht ausführen.",
		mayActUnasked: "%s kann handeln, ohne Sie zu fragen. Das legen seine eigenen Einstellungen fest.",
	},
	protocol.Japanese: {
		modes: "モードは %s です。", now: "現在は %s です。", noModes: "このエージェントにモードはありません。", noMode: "「%s」というモードはありません。モードは %s です。",
		modeSet: "モードを %s にしました。", unaskedMode: "モード %s では、エージェントは確認なしで操作を実行します。切り替えますか。「はい」か「いいえ」でお答えください。", modeKept: "モードはそのままです。",
		models: "モデルは %s です。", noModels: "このアシスタントのモデルの一覧は取得できません。", noModel: "「%s」に一致するモデルがないか、複数あります。モデルは %s です。",
		modelSet: "次の質問からモデル %s が回答します。", modelsInPanel: "モデルの一覧はエディターにあります。パネルで選んでください。",
		sessions: "以前のセッションは、%s です。", untitled: "無題", noSessions: "このフォルダーには、エージェントの以前のセッションがありません。",
		noSession: "セッション %s はありません。全部で %d 件です。", sessionSet: "セッション「%s」を続けます。",
		assistants: "アシスタントは %s です。", offline: "オフライン", notInstalled: "%s はインストールされていません。",
		switched: "次のメッセージから %s が回答します。", knowsWords: "これまでの会話は引き継がれますが、その間に読み取られた内容や変更は引き継がれません。", knowsNothing: "これまでの会話は引き継がれません。",
		busy: "エージェントは作業中です。先に「止めて」と言ってください。", failed: "エージェントは実行できませんでした。",
		mayActUnasked: "%s は、エージェント側の設定により、確認なしで操作を実行することがあります。",
	},
}

// modeSynonyms groups mode names, as NameKey returns them, with what people call them.
var modeSynonyms = [][]string{
	{"plan", "planning", "planung", "planen", "プラン", "計画"},
	{"default", "standard", "normal", "normalen", "normaler", "標準", "通常", "デフォルト"},
	{"readonly", "reading", "lesen", "nur lesen", "lese", "読み取り専用", "読み取り"},
	{"autoedit", "auto", "automatic", "automatik", "automatischen", "自動", "自動編集"},
}
