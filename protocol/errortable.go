package protocol

// The error codes. Names and numbers are fixed: new ones go to the end.
const (
	// Standard codes of JSON-RPC and LSP.
	CodeParseError       ErrorCode = "parseError"
	CodeInvalidRequest   ErrorCode = "invalidRequest"
	CodeMethodNotFound   ErrorCode = "methodNotFound"
	CodeInvalidParams    ErrorCode = "invalidParams"
	CodeInternalError    ErrorCode = "internalError"
	CodeNotInitialized   ErrorCode = "notInitialized"
	CodeRequestCancelled ErrorCode = "requestCancelled"

	// The wire and the state of the conversation.
	CodeConversationActive         ErrorCode = "conversationActive"
	CodeNoConversation             ErrorCode = "noConversation"
	CodeInvalidState               ErrorCode = "invalidState"
	CodeUnsupportedProtocolVersion ErrorCode = "unsupportedProtocolVersion"
	CodeShuttingDown               ErrorCode = "shuttingDown"
	CodeClientGone                 ErrorCode = "clientGone"
	CodeNothingToRetry             ErrorCode = "nothingToRetry"
	CodeTextEmpty                  ErrorCode = "textEmpty"
	CodeQueueFull                  ErrorCode = "queueFull"
	CodeUtteranceLost              ErrorCode = "utteranceLost"
	CodeUtteranceTooLong           ErrorCode = "utteranceTooLong"
	CodeNotUnderstood              ErrorCode = "notUnderstood"
	CodeStartTimeout               ErrorCode = "startTimeout"
	CodeSuspendTimeout             ErrorCode = "suspendTimeout"
	CodeBreakerOpen                ErrorCode = "breakerOpen"
	CodeInvariantViolation         ErrorCode = "invariantViolation"

	// The assistant.
	CodeCopilotTimeout      ErrorCode = "copilotTimeout"
	CodeCopilotStalled      ErrorCode = "copilotStalled"
	CodeCopilotFailed       ErrorCode = "copilotFailed"
	CodeCopilotNotInstalled ErrorCode = "copilotNotInstalled"
	CodeCopilotNoConsent    ErrorCode = "copilotNoConsent"
	CodeCopilotQuota        ErrorCode = "copilotQuota"
	CodeCopilotUnavailable  ErrorCode = "copilotUnavailable"
	CodeCopilotBlocked      ErrorCode = "copilotBlocked"
	CodeCopilotEmpty        ErrorCode = "copilotEmpty"
	CodeModelFailed         ErrorCode = "modelFailed"
	CodeToolSearchFailed    ErrorCode = "toolSearchFailed"
	CodeToolFailed          ErrorCode = "toolFailed"
	CodeToolTimeout         ErrorCode = "toolTimeout"
	CodeToolRounds          ErrorCode = "toolRounds"
	CodeToolUnanswered      ErrorCode = "toolUnanswered"
	CodeCopilotCancelled    ErrorCode = "copilotCancelled"
	CodeAgentMissing        ErrorCode = "agentMissing"
	CodeAgentEnded          ErrorCode = "agentEnded"
	CodeAgentSilent         ErrorCode = "agentSilent"
	CodeAgentSignIn         ErrorCode = "agentSignIn"
	CodeAnswerGap           ErrorCode = "answerGap"
	CodeAnswerCutLength     ErrorCode = "answerCutLength"
	CodeAnswerCutTurns      ErrorCode = "answerCutTurns"
	CodeAnswerCutFilter     ErrorCode = "answerCutFilter"
	CodeAnswerCutOff        ErrorCode = "answerCutOff"
	CodeCallChanged         ErrorCode = "callChanged"
	CodeNoTrustedFolder     ErrorCode = "noTrustedFolder"

	// The session and the connection.
	CodeAuthentication     ErrorCode = "authentication"
	CodeCredentialsMissing ErrorCode = "credentialsMissing"
	CodeSessionFailed      ErrorCode = "sessionFailed"
	CodeSessionExpired     ErrorCode = "sessionExpired"
	CodeConnectionFailed   ErrorCode = "connectionFailed"
	CodeCallRejected       ErrorCode = "callRejected"
	CodeConnectionLost     ErrorCode = "connectionLost"
	CodeConnectTimeout     ErrorCode = "connectTimeout"
	CodeRateLimited        ErrorCode = "rateLimited"
	CodeProtocolError      ErrorCode = "protocolError"
	CodeQuotaExceeded      ErrorCode = "quotaExceeded"
	CodeAccessDenied       ErrorCode = "accessDenied"
	CodeRegionUnsupported  ErrorCode = "regionUnsupported"
	CodeModelUnavailable   ErrorCode = "modelUnavailable"
	CodePipelineFailed     ErrorCode = "pipelineFailed"

	// Devices, recognition and speech.
	CodeDeviceUnavailable  ErrorCode = "deviceUnavailable"
	CodeDeviceLost         ErrorCode = "deviceLost"
	CodeMicrophoneDenied   ErrorCode = "microphoneDenied"
	CodeMicrophoneBusy     ErrorCode = "microphoneBusy"
	CodeMicrophoneTaken    ErrorCode = "microphoneTaken"
	CodeMicrophoneMuted    ErrorCode = "microphoneMuted"
	CodeMicrophoneSilent   ErrorCode = "microphoneSilent"
	CodeMicrophoneClips    ErrorCode = "microphoneClips"
	CodeMicrophoneQuiet    ErrorCode = "microphoneQuiet"
	CodeAudioFailed        ErrorCode = "audioFailed"
	CodeRecognitionFailed  ErrorCode = "recognitionFailed"
	CodeRecognitionTimeout ErrorCode = "recognitionTimeout"
	CodeSpeakerRefused     ErrorCode = "speakerRefused"
	CodeSpeechFailed       ErrorCode = "speechFailed"
	CodeSpeechMismatch     ErrorCode = "speechMismatch"
	CodeVoiceRateLimited   ErrorCode = "voiceRateLimited"
	CodeVoiceOverWebSocket ErrorCode = "voiceOverWebSocket"
	CodeHearsItself        ErrorCode = "hearsItself"
	CodeVoiceReplaced      ErrorCode = "voiceReplaced"
	CodeVoiceLate          ErrorCode = "voiceLate"
	CodeVoiceUnknown       ErrorCode = "voiceUnknown"
	CodeTextOnly           ErrorCode = "textOnly"
	CodeHearingReplaced    ErrorCode = "hearingReplaced"
	CodeTurnEndReplaced    ErrorCode = "turnEndReplaced"
	CodeDetectorReplaced   ErrorCode = "detectorReplaced"
	CodeLanguageUnknown    ErrorCode = "languageUnknown"
	CodeServiceLimited     ErrorCode = "serviceLimited"
	CodeVoiceParaphrases   ErrorCode = "voiceParaphrases"
	CodeHeardRoughly       ErrorCode = "heardRoughly"
	CodeVoiceNotStopped    ErrorCode = "voiceNotStopped"
	CodeWordsLate          ErrorCode = "wordsLate"
	CodeWordsByPipeline    ErrorCode = "wordsByPipeline"
	CodeWordsUnchecked     ErrorCode = "wordsUnchecked"
	CodeVocabularyUnused   ErrorCode = "vocabularyUnused"
	CodeEngineMissing      ErrorCode = "engineMissing"

	// The record of sessions and usage.
	CodeRecordDamaged     ErrorCode = "recordDamaged"
	CodeRecordUnavailable ErrorCode = "recordUnavailable"
	CodeBudgetNearlySpent ErrorCode = "budgetNearlySpent"
	CodeBudgetSpent       ErrorCode = "budgetSpent"
	CodePriceUnknown      ErrorCode = "priceUnknown"

	// Watchers.
	CodeWatchRefused ErrorCode = "watchRefused"
	CodeReadOnly     ErrorCode = "readOnly"
)

// Errors lists every error of the wire: code, number, whether a retry may succeed, then
// what happened, what to do, and what is said aloud, each in English, German and
// Japanese. Numbers of this protocol start at -32000 and skip those of LSP and
// vscode-jsonrpc (-32001, -32002, and -32096 to -32099).
var Errors = []ErrorSpec{
	{CodeParseError, -32700, false,
		words{"The message is not JSON.", "Die Nachricht ist kein JSON.", "メッセージが JSON ではありません。"},
		words{"Send UTF-8 JSON whose length in bytes is that of Content-Length.", "Senden Sie UTF-8-JSON, dessen Länge in Bytes Content-Length entspricht.", "Content-Length と同じバイト数の UTF-8 の JSON を送ってください。"},
		words{}},
	{CodeInvalidRequest, -32600, false,
		words{"The message is not a JSON-RPC request.", "Die Nachricht ist keine Anfrage.", "メッセージがリクエストではありません。"},
		words{"Send one JSON-RPC 2.0 object of at most 16 MiB at a time, no batches.", "Senden Sie jeweils ein JSON-RPC-2.0-Objekt von höchstens 16 MiB, keine Stapel.", "16 MiB 以下の JSON-RPC 2.0 オブジェクトを一つずつ送ってください。バッチは使えません。"},
		words{}},
	{CodeMethodNotFound, -32601, false,
		words{"Unknown method.", "Diese Methode gibt es nicht.", "そのメソッドはありません。"},
		words{"Use a method of this protocol, or update the daemon.", "Verwenden Sie eine Methode des Protokolls oder aktualisieren Sie den Daemon.", "プロトコルにあるメソッドを使うか、デーモンを更新してください。"},
		words{}},
	{CodeInvalidParams, -32602, false,
		words{"Invalid params.", "Die Parameter sind ungültig.", "パラメーターが正しくありません。"},
		words{"Fix the named fields and send the request again.", "Korrigieren Sie die genannten Felder und senden Sie die Anfrage noch einmal.", "示されたフィールドを直して、もう一度送ってください。"},
		words{}},
	{CodeInternalError, -32603, true,
		words{"Something went wrong inside Agent Voice.", "In Agent Voice ist etwas schiefgegangen.", "Agent Voice の内部で問題が発生しました。"},
		words{"Try again. If it happens again, report it with the diagnostics report.", "Versuchen Sie es noch einmal. Melden Sie es mit dem Diagnosebericht, falls es erneut auftritt.", "もう一度お試しください。繰り返す場合は、診断レポートを添えて報告してください。"},
		words{"Something went wrong on my side. Please try again.", "Bei mir ist etwas schiefgegangen. Bitte versuchen Sie es noch einmal.", "問題が発生しました。もう一度お試しください。"}},
	{CodeNotInitialized, -32002, false,
		words{"The daemon is not initialized.", "Der Daemon ist noch nicht initialisiert.", "デーモンが初期化されていません。"},
		words{"Send initialize first and wait for the result.", "Senden Sie zuerst initialize und warten Sie die Antwort ab.", "先に initialize を送り、応答を待ってください。"},
		words{}},
	{CodeRequestCancelled, -32800, true,
		words{"The request was cancelled.", "Die Anfrage wurde abgebrochen.", "リクエストは取り消されました。"},
		words{"Send it again if you still need it.", "Senden Sie sie noch einmal, falls sie noch gebraucht wird.", "まだ必要であれば、もう一度送ってください。"},
		words{}},
	{CodeConversationActive, -32000, false,
		words{"A conversation is already active.", "Ein Gespräch läuft bereits.", "すでに会話中です。"},
		words{"End the active conversation before you start another one.", "Beenden Sie das laufende Gespräch, bevor Sie ein neues beginnen.", "新しい会話を始める前に、現在の会話を終了してください。"},
		words{"We are already talking.", "Wir sind schon im Gespräch.", "すでに会話中です。"}},
	{CodeNoConversation, -32003, false,
		words{"There is no conversation.", "Es gibt kein laufendes Gespräch.", "会話が始まっていません。"},
		words{"Start a conversation first.", "Beginnen Sie zuerst ein Gespräch.", "先に会話を始めてください。"},
		words{"We have not started yet.", "Wir haben noch nicht angefangen.", "まだ会話が始まっていません。"}},
	{CodeInvalidState, -32004, true,
		words{"This is not possible in the current state.", "Das ist im jetzigen Zustand nicht möglich.", "今の状態ではできません。"},
		words{"Wait for the state that allows it, then try again.", "Warten Sie auf einen Zustand, der es erlaubt, und versuchen Sie es dann noch einmal.", "可能な状態になるまで待ってから、もう一度お試しください。"},
		words{"I cannot do that right now.", "Das kann ich gerade nicht.", "今はできません。"}},
	{CodeUnsupportedProtocolVersion, -32005, false,
		words{"The extension and the daemon have incompatible versions.", "Die Versionen von Editor-Erweiterung und Daemon passen nicht zusammen.", "エディター拡張機能とデーモンのバージョンが合いません。"},
		words{"Update the older one.", "Aktualisieren Sie den älteren der beiden Teile.", "古いほうを更新してください。"},
		words{}},
	{CodeShuttingDown, -32006, false,
		words{"The daemon is shutting down.", "Der Daemon wird gerade beendet.", "デーモンを終了しています。"},
		words{"Start a new daemon.", "Starten Sie einen neuen Daemon.", "新しいデーモンを起動してください。"},
		words{}},
	{CodeClientGone, -32007, false,
		words{"The editor window was closed.", "Das Editorfenster wurde geschlossen.", "エディターのウィンドウがなくなりました。"},
		words{"Open the editor again and start a new conversation.", "Öffnen Sie den Editor wieder und beginnen Sie ein neues Gespräch.", "エディターを開き直して、新しい会話を始めてください。"},
		words{"I can no longer reach the editor, so I stop here.", "Ich erreiche den Editor nicht mehr und höre deshalb auf.", "エディターに接続できないため、終了します。"}},
	{CodeNothingToRetry, -32008, false,
		words{"There is nothing to retry.", "Es gibt nichts zu wiederholen.", "やり直すものがありません。"},
		words{"Ask a question first.", "Stellen Sie zuerst eine Frage.", "先に質問してください。"},
		words{"There is nothing to retry.", "Es gibt nichts zu wiederholen.", "やり直すものがありません。"}},
	{CodeTextEmpty, -32009, false,
		words{"The text has no words.", "Der Text enthält keine Wörter.", "テキストに言葉がありません。"},
		words{"Send a text with at least one word.", "Senden Sie einen Text mit mindestens einem Wort.", "一つ以上の言葉を含むテキストを送ってください。"},
		words{"There is nothing to read.", "Es gibt nichts vorzulesen.", "読み上げるものがありません。"}},
	{CodeQueueFull, -32010, true,
		words{"Too many questions are waiting.", "Es warten zu viele Fragen.", "待っている質問が多すぎます。"},
		words{"Wait for an answer, or interrupt, then ask again.", "Warten Sie eine Antwort ab oder unterbrechen Sie, und fragen Sie dann noch einmal.", "回答を待つか中断してから、もう一度質問してください。"},
		words{"One moment. I still have questions to answer.", "Einen Moment. Ich habe noch offene Fragen.", "少しお待ちください。まだ回答していない質問があります。"}},
	{CodeUtteranceLost, -32011, true,
		words{"What you said was lost.", "Ihre Äußerung ist verloren gegangen.", "発話が失われました。"},
		words{"Say it again.", "Sagen Sie es noch einmal.", "もう一度言ってください。"},
		words{"I lost what you said. Please say it again.", "Das ist mir verloren gegangen. Bitte sagen Sie es noch einmal.", "聞き逃しました。もう一度お願いします。"}},
	{CodeUtteranceTooLong, -32093, true,
		words{"You spoke for half an hour without an end, so nothing of it was sent.", "Sie haben eine halbe Stunde ohne Ende gesprochen, deshalb wurde nichts davon gesendet.", "30分間途切れずに話されたため、何も送信されませんでした。"},
		words{"Say it in parts.", "Sagen Sie es in Teilen.", "分けて話してください。"},
		words{"That was too long for me, and I sent nothing of it. Please say it in parts.", "Das war mir zu lang, und ich habe nichts davon gesendet. Bitte sagen Sie es in Teilen.", "長すぎたため、何も送信していません。分けてお話しください。"}},
	{CodeNotUnderstood, -32092, true,
		words{"What you said was not understood.", "Ihre Äußerung wurde nicht verstanden.", "発話を聞き取れませんでした。"},
		words{"Say it again.", "Sagen Sie es noch einmal.", "もう一度言ってください。"},
		words{"I did not understand that. Please say it again.", "Das habe ich nicht verstanden. Bitte sagen Sie es noch einmal.", "聞き取れませんでした。もう一度お願いします。"}},
	{CodeStartTimeout, -32012, true,
		words{"The conversation did not start in time.", "Das Gespräch ist nicht rechtzeitig zustande gekommen.", "時間内に会話を開始できませんでした。"},
		words{"Start it again. If it happens again, run doctor.", "Starten Sie es noch einmal. Führen Sie doctor aus, falls es erneut auftritt.", "もう一度開始してください。繰り返す場合は doctor を実行してください。"},
		words{"I could not start in time. Please try again.", "Ich konnte nicht rechtzeitig anfangen. Bitte versuchen Sie es noch einmal.", "開始できませんでした。もう一度お試しください。"}},
	{CodeSuspendTimeout, -32013, true,
		words{"The conversation was paused for too long.", "Das Gespräch war zu lange angehalten.", "会話の一時停止が長すぎました。"},
		words{"Start the conversation again.", "Beginnen Sie das Gespräch noch einmal.", "会話をもう一度始めてください。"},
		words{"We were paused for too long. Please start again.", "Wir waren zu lange angehalten. Bitte beginnen Sie noch einmal.", "一時停止が長すぎました。もう一度始めてください。"}},
	{CodeBreakerOpen, -32014, true,
		words{"The conversation failed several times in a row.", "Das Gespräch ist mehrmals hintereinander gescheitert.", "会話が続けて失敗しました。"},
		words{"Wait a minute, or start again now. Run doctor to find the cause.", "Warten Sie eine Minute oder beginnen Sie jetzt noch einmal. Mit doctor finden Sie die Ursache.", "1 分ほど待つか、もう一度開始してください。原因は doctor で調べられます。"},
		words{"This keeps failing. I will pause for a moment.", "Das scheitert immer wieder. Ich mache eine kurze Pause.", "失敗が続いています。少し休みます。"}},
	{CodeInvariantViolation, -32015, false,
		words{"Agent Voice reached an invalid state and stopped.", "Agent Voice war in einem unmöglichen Zustand und hat angehalten.", "Agent Voice がありえない状態になったため、停止しました。"},
		words{"Start a new conversation, and report this with the journal.", "Beginnen Sie ein neues Gespräch und melden Sie dies mit dem Journal.", "新しい会話を始め、ジャーナルを添えて報告してください。"},
		words{"Something went wrong on my side, so I stopped. Please start again.", "Bei mir ist etwas schiefgegangen, ich habe angehalten. Bitte beginnen Sie noch einmal.", "問題が発生したため停止しました。もう一度始めてください。"}},
	{CodeCopilotTimeout, -32016, true,
		words{"{agent} did not answer in time.", "{agent} hat nicht rechtzeitig geantwortet.", "{agent} が時間内に応答しませんでした。"},
		words{"Try again, or ask something shorter.", "Versuchen Sie es noch einmal oder stellen Sie eine kürzere Frage.", "もう一度試すか、短い質問にしてください。"},
		words{"{agent} is taking too long. You can try again.", "{agent} braucht zu lange. Sie können es noch einmal versuchen.", "{agent} の応答に時間がかかっています。もう一度お試しください。"}},
	{CodeCopilotStalled, -32017, true,
		words{"{agent} stopped in the middle of its answer.", "{agent} hat mitten in der Antwort aufgehört.", "{agent} の回答が途中で止まりました。"},
		words{"Ask again.", "Fragen Sie noch einmal.", "もう一度質問してください。"},
		words{"The answer stopped halfway. You can try again.", "Die Antwort brach mittendrin ab. Sie können es noch einmal versuchen.", "回答が途中で止まりました。もう一度お試しください。"}},
	{CodeCopilotFailed, -32018, true,
		words{"{agent} could not answer.", "{agent} konnte nicht antworten.", "{agent} が回答できませんでした。"},
		words{"Try again.", "Versuchen Sie es noch einmal.", "もう一度お試しください。"},
		words{"{agent} could not answer. You can try again.", "{agent} konnte nicht antworten. Sie können es noch einmal versuchen.", "{agent} が回答できませんでした。もう一度お試しください。"}},
	{CodeCopilotNotInstalled, -32019, false,
		words{"GitHub Copilot is not installed in this editor.", "GitHub Copilot ist in diesem Editor nicht installiert.", "このエディターに GitHub Copilot がインストールされていません。"},
		words{"Install GitHub Copilot and sign in.", "Installieren Sie GitHub Copilot und melden Sie sich an.", "GitHub Copilot をインストールしてサインインしてください。"},
		words{"Copilot is not installed here.", "Copilot ist hier nicht installiert.", "Copilot がインストールされていません。"}},
	{CodeCopilotNoConsent, -32020, false,
		words{"Agent Voice may not use Copilot yet.", "Agent Voice darf Copilot noch nicht verwenden.", "Agent Voice はまだ Copilot の使用を許可されていません。"},
		words{"Allow it in the editor's dialog, then ask again.", "Erlauben Sie es im Dialog des Editors und fragen Sie dann noch einmal.", "エディターのダイアログで許可してから、もう一度質問してください。"},
		words{"I need your permission to use Copilot. Please look at the editor.", "Ich brauche Ihre Erlaubnis, Copilot zu verwenden. Bitte schauen Sie in den Editor.", "Copilot を使うには許可が必要です。エディターを確認してください。"}},
	{CodeCopilotQuota, -32021, false,
		words{"The {agent} quota is used up.", "Das {agent}-Kontingent ist aufgebraucht.", "{agent} の利用枠を使い切りました。"},
		words{"Wait until it resets, select another model, or upgrade your plan.", "Warten Sie, bis es erneuert wird, wählen Sie ein anderes Modell oder ändern Sie den Tarif.", "更新を待つか、別のモデルを選ぶか、プランを変更してください。"},
		words{"The {agent} quota is used up for now.", "Das {agent}-Kontingent ist im Moment aufgebraucht.", "{agent} の利用枠を使い切りました。"}},
	{CodeCopilotUnavailable, -32022, true,
		words{"{agent} is unreachable.", "{agent} ist nicht erreichbar.", "{agent} に接続できません。"},
		words{"Check the network, the address and the selected model, then try again.", "Prüfen Sie das Netzwerk, die Adresse und das gewählte Modell und versuchen Sie es dann noch einmal.", "ネットワーク、アドレス、選択中のモデルを確認して、もう一度お試しください。"},
		words{"I cannot reach {agent} right now. You can try again.", "Ich erreiche {agent} gerade nicht. Sie können es noch einmal versuchen.", "今は {agent} に接続できません。もう一度お試しください。"}},
	{CodeCopilotBlocked, -32023, false,
		words{"{agent} declined to answer this.", "{agent} hat die Antwort darauf abgelehnt.", "{agent} がこの質問への回答を拒否しました。"},
		words{"Rephrase your question.", "Fragen Sie anders.", "別の聞き方でお試しください。"},
		words{"{agent} declined to answer that. Please rephrase it.", "{agent} wollte darauf nicht antworten. Bitte fragen Sie anders.", "その質問には回答できないようです。別の聞き方でお試しください。"}},
	{CodeCopilotEmpty, -32024, true,
		words{"{agent} gave an empty answer.", "{agent} hat eine leere Antwort gegeben.", "{agent} の回答が空でした。"},
		words{"Ask again.", "Fragen Sie noch einmal.", "もう一度質問してください。"},
		words{"I got an empty answer. You can try again.", "Die Antwort war leer. Sie können es noch einmal versuchen.", "回答が空でした。もう一度お試しください。"}},
	{CodeAgentMissing, -32068, false,
		words{"The coding agent cannot be started.", "Der Coding-Agent lässt sich nicht starten.", "コーディング エージェントを起動できません。"},
		words{"Install the agent named in agentvoice.agent, or choose another one. doctor lists the installed agents.", "Installieren Sie den Agenten aus agentvoice.agent oder nennen Sie einen anderen. doctor zeigt die installierten.", "agentvoice.agent のエージェントをインストールするか、別のものを指定してください。インストール済みのものは doctor で確認できます。"},
		words{"I cannot start the coding agent. Please check that it is installed.", "Ich kann den Coding-Agenten nicht starten. Bitte prüfen Sie, ob er installiert ist.", "エージェントを起動できません。インストールされているか確認してください。"}},
	{CodeAgentEnded, -32069, true,
		words{"The coding agent ended unexpectedly.", "Der Coding-Agent hat sich unerwartet beendet.", "コーディング エージェントが予期せず終了しました。"},
		words{"Ask again: the agent is restarted. First check what it has already changed.", "Fragen Sie noch einmal, der Agent startet dann neu. Prüfen Sie vorher, was er schon geändert hat.", "もう一度質問するとエージェントが再起動します。先に、すでに変更された内容を確認してください。"},
		words{"The coding agent stopped unexpectedly. Ask again, and I will restart it.", "Der Coding-Agent hat sich beendet. Fragen Sie noch einmal, dann starte ich ihn neu.", "エージェントが終了しました。もう一度質問すると、再起動します。"}},
	{CodeAgentSilent, -32070, true,
		words{"The coding agent does not respond.", "Der Coding-Agent reagiert nicht.", "コーディング エージェントが応答しません。"},
		words{"Check that the agent is signed in and that the network works, then ask again.", "Prüfen Sie die Anmeldung des Agenten und das Netzwerk und fragen Sie dann noch einmal.", "エージェントのサインインとネットワークを確認して、もう一度質問してください。"},
		words{"The coding agent does not respond. Please check that it is signed in.", "Der Coding-Agent reagiert nicht. Bitte prüfen Sie, ob er angemeldet ist.", "エージェントが応答しません。サインインしているか確認してください。"}},
	{CodeAgentSignIn, -32071, false,
		words{"The coding agent is not signed in.", "Der Coding-Agent ist nicht angemeldet.", "コーディング エージェントがサインインしていません。"},
		words{"Run the agent's own command in a terminal and sign in there, then ask again. doctor names the command.", "Starten Sie den Agenten in einem Terminal und melden Sie sich dort an, fragen Sie dann noch einmal. doctor nennt den Befehl.", "ターミナルでエージェントのコマンドを実行してサインインし、もう一度質問してください。コマンドは doctor で確認できます。"},
		words{"The coding agent is not signed in. Please sign in to it in a terminal.", "Der Coding-Agent ist nicht angemeldet. Bitte melden Sie sich im Terminal an.", "エージェントがサインインしていません。ターミナルでサインインしてください。"}},
	{CodeModelFailed, -32044, true,
		words{"The model could not be loaded.", "Das Modell konnte nicht geladen werden.", "モデルを読み込めませんでした。"},
		words{"Choose another model, or try again.", "Wählen Sie ein anderes Modell oder versuchen Sie es noch einmal.", "別のモデルを選ぶか、もう一度お試しください。"},
		words{"I could not load the model. You can try again or choose another one.", "Das Modell ließ sich nicht laden. Sie können es noch einmal versuchen.", "モデルを読み込めませんでした。もう一度試すか、別のモデルを選んでください。"}},
	{CodeToolSearchFailed, -32045, true,
		words{"The tools for the answer could not be found.", "Die Werkzeuge für die Antwort konnten nicht gefunden werden.", "回答に使うツールを見つけられませんでした。"},
		words{"Try again.", "Versuchen Sie es noch einmal.", "もう一度お試しください。"},
		words{"I could not find the tools for that. You can try again.", "Ich konnte die Werkzeuge dafür nicht finden. Sie können es noch einmal versuchen.", "そのためのツールが見つかりませんでした。もう一度お試しください。"}},
	{CodeToolFailed, -32046, true,
		words{"The tool failed.", "Das Werkzeug ist gescheitert.", "ツールの実行に失敗しました。"},
		words{"Check the tool's message in the panel, then try again or rephrase your request.", "Sehen Sie die Meldung des Werkzeugs in der Ansicht an und versuchen Sie es noch einmal oder fragen Sie anders.", "パネルでツールのメッセージを確認し、もう一度試すか、別の聞き方でお試しください。"},
		words{"The tool failed. You can try again.", "Das Werkzeug ist gescheitert. Sie können es noch einmal versuchen.", "ツールの実行に失敗しました。もう一度お試しください。"}},
	{CodeToolTimeout, -32047, true,
		words{"The tool took too long.", "Das Werkzeug hat zu lange gebraucht.", "ツールの実行に時間がかかりすぎました。"},
		words{"Check whether the tool is still running before you try again.", "Prüfen Sie, ob das Werkzeug noch läuft, bevor Sie es noch einmal versuchen.", "もう一度試す前に、ツールがまだ動いていないか確認してください。"},
		words{"The tool took too long. It may still be running.", "Das Werkzeug hat zu lange gebraucht. Vielleicht läuft es noch.", "ツールの実行に時間がかかりすぎました。まだ動いているかもしれません。"}},
	{CodeToolRounds, -32048, true,
		words{"The assistant called too many tools for one answer.", "Der Assistent wollte für eine Antwort zu oft Werkzeuge benutzen.", "一つの回答でツールの呼び出しが多すぎました。"},
		words{"Ask for less at a time.", "Fragen Sie nach weniger auf einmal.", "一度に頼む内容を減らしてください。"},
		words{"That took too many steps. Please ask for less at a time.", "Das waren zu viele Schritte. Bitte fragen Sie nach weniger auf einmal.", "手順が多すぎました。一度に頼む内容を減らしてください。"}},
	{CodeToolUnanswered, -32049, true,
		words{"The tool was not approved in time, so it did not run.", "Das Werkzeug wurde nicht rechtzeitig freigegeben und deshalb nicht ausgeführt.", "ツールの実行を許可するかどうかの返事がなかったため、実行しませんでした。"},
		words{"Ask again if you still want it.", "Fragen Sie noch einmal, wenn Sie es noch möchten.", "必要であれば、もう一度頼んでください。"},
		words{"I did not hear an answer, so I did not run it.", "Ich habe keine Antwort gehört und es deshalb nicht ausgeführt.", "返事がなかったので、実行しませんでした。"}},
	{CodeCallChanged, -32077, true,
		words{"The call is not the one that was shown.", "Der Aufruf ist nicht der, der gezeigt wurde.", "この呼び出しは、表示されたものと違います。"},
		words{"Look at the call again and decide then. It was not run.", "Sehen Sie sich den Aufruf noch einmal an und entscheiden Sie dann. Er wurde nicht ausgeführt.", "呼び出しをもう一度確認してから決めてください。実行はされていません。"},
		words{"The call has changed, so I did not run it.", "Der Aufruf hat sich geändert, deshalb habe ich ihn nicht ausgeführt.", "呼び出しが変わったため、実行しませんでした。"}},
	{CodeNoTrustedFolder, -32078, false,
		words{"The coding agent has no trusted folder to work in.", "Der Coding-Agent hat keinen vertrauenswürdigen Ordner, in dem er arbeiten kann.", "コーディング エージェントが作業できる、信頼されたフォルダーがありません。"},
		words{"Open a folder and trust it, or choose another assistant in agentvoice.agent.", "Öffnen Sie einen Ordner und vertrauen Sie ihm, oder wählen Sie in agentvoice.agent einen anderen Assistenten.", "フォルダーを開いて信頼するか、agentvoice.agent で別のアシスタントを選んでください。"},
		words{"The coding agent has no trusted folder to work in.", "Der Coding-Agent hat keinen vertrauenswürdigen Ordner.", "エージェントが作業できる、信頼されたフォルダーがありません。"}},
	{CodeCopilotCancelled, -32025, true,
		words{"The request to {agent} was cancelled.", "Die Anfrage an {agent} wurde abgebrochen.", "{agent} へのリクエストは取り消されました。"},
		words{"Ask again if you still want an answer.", "Fragen Sie noch einmal, wenn Sie noch eine Antwort möchten.", "回答が必要であれば、もう一度質問してください。"},
		words{"That was cancelled.", "Das wurde abgebrochen.", "取り消されました。"}},
	{CodeAnswerGap, -32052, true,
		words{"Part of the answer was lost between the editor and the daemon.", "Ein Teil der Antwort ging zwischen Editor und Daemon verloren.", "エディターとデーモンの間で回答の一部が失われました。"},
		words{"Ask again. If it happens again, report it: the editor must number copilot/delta from 0 without gaps.", "Fragen Sie noch einmal. Melden Sie es, falls es erneut auftritt: Der Editor muss copilot/delta ab 0 lückenlos nummerieren.", "もう一度質問してください。繰り返す場合は報告してください。エディターは copilot/delta に 0 から順に番号を付ける必要があります。"},
		words{}},
	{CodeAnswerCutLength, -32073, true,
		words{"The answer was cut off at the length limit of {agent}.", "Die Antwort wurde an der Längengrenze von {agent} abgeschnitten.", "回答が {agent} の長さの上限で途切れました。"},
		words{"Ask for the rest, or ask for less at a time.", "Fragen Sie nach dem Rest oder nach weniger auf einmal.", "続きを頼むか、一度に頼む内容を減らしてください。"},
		words{"The answer was cut off at its length limit. Say continue for the rest.", "Die Antwort wurde abgeschnitten, weil sie zu lang war. Sagen Sie „weiter“ für den Rest.", "回答が長さの上限で途切れました。続きは「続けて」と言ってください。"}},
	{CodeAnswerCutTurns, -32074, true,
		words{"{agent} stopped at its limit of steps for one question.", "{agent} hat an der Grenze der Schritte für eine Frage aufgehört.", "{agent} は一つの質問の手順の上限で止まりました。"},
		words{"Ask {agent} to continue, or ask for less at a time.", "Bitten Sie {agent} weiterzumachen oder fragen Sie nach weniger auf einmal.", "{agent} に続きを頼むか、一度に頼む内容を減らしてください。"},
		words{"I was cut off at my limit of steps. Say continue to go on.", "Die Grenze der Schritte ist erreicht. Sagen Sie „weiter“ für den Rest.", "手順の上限で止まったため、まだ完了していません。続けるには「続けて」と言ってください。"}},
	{CodeAnswerCutFilter, -32075, false,
		words{"A content filter cut off the answer.", "Ein Inhaltsfilter hat die Antwort abgeschnitten.", "コンテンツ フィルターにより回答が途切れました。"},
		words{"Rephrase your question.", "Fragen Sie anders.", "別の聞き方でお試しください。"},
		words{"The rest of the answer was cut off by a content filter. Please rephrase your question.", "Ein Inhaltsfilter hat den Rest der Antwort abgeschnitten. Bitte fragen Sie anders.", "コンテンツ フィルターにより回答が途切れました。別の聞き方でお試しください。"}},
	{CodeAnswerCutOff, -32076, true,
		words{"The answer of {agent} broke off before its end.", "Die Antwort von {agent} brach vor dem Ende ab.", "{agent} の回答が途中で途切れました。"},
		words{"Ask for the rest, or try again.", "Fragen Sie nach dem Rest oder versuchen Sie es noch einmal.", "続きを頼むか、もう一度お試しください。"},
		words{"The answer was cut off before its end. You can try again.", "Die Antwort wurde vor dem Ende abgeschnitten. Sie können es noch einmal versuchen.", "回答が途中で途切れました。もう一度お試しください。"}},
	{CodeAuthentication, -32026, false,
		words{"The service rejected the credentials.", "Der Dienst hat die Zugangsdaten nicht angenommen.", "サービスに認証情報が受け付けられませんでした。"},
		words{"Enter a valid key or sign in again, then start a new conversation.", "Geben Sie einen gültigen Schlüssel ein oder melden Sie sich neu an, und beginnen Sie dann ein neues Gespräch.", "有効なキーを入力するかサインインし直してから、新しい会話を始めてください。"},
		words{"The service rejected the key. Please check it.", "Der Dienst hat den Schlüssel nicht angenommen. Bitte prüfen Sie ihn.", "サービスにキーが受け付けられませんでした。キーを確認してください。"}},
	{CodeCredentialsMissing, -32027, false,
		words{"No credentials for the service.", "Es gibt keine Zugangsdaten für den Dienst.", "サービスの認証情報がありません。"},
		words{"Store a key for the provider, or set agentvoice.provider to local, which needs no key.", "Hinterlegen Sie einen Schlüssel für den Anbieter oder setzen Sie agentvoice.provider auf local, das keinen braucht.", "プロバイダーのキーを保存するか、キーの要らない local を agentvoice.provider に設定してください。"},
		words{"I have no key for the voice service yet.", "Ich habe noch keinen Schlüssel für den Sprachdienst.", "音声サービスのキーがまだありません。"}},
	{CodeSessionFailed, -32028, true,
		words{"The session with the voice service failed.", "Die Sitzung mit dem Sprachdienst ist gescheitert.", "音声サービスとのセッションが失敗しました。"},
		words{"Start the conversation again.", "Beginnen Sie das Gespräch noch einmal.", "会話をもう一度始めてください。"},
		words{"The voice service failed. Please start again.", "Der Sprachdienst ist ausgefallen. Bitte beginnen Sie noch einmal.", "音声サービスで問題が発生しました。もう一度始めてください。"}},
	{CodeSessionExpired, -32029, true,
		words{"The session with the voice service has expired.", "Die Sitzung mit dem Sprachdienst ist abgelaufen.", "音声サービスとのセッションの期限が切れました。"},
		words{"Start the conversation again.", "Beginnen Sie das Gespräch noch einmal.", "会話をもう一度始めてください。"},
		words{"Our session has expired. Please start again.", "Unsere Sitzung ist abgelaufen. Bitte beginnen Sie noch einmal.", "セッションの期限が切れました。もう一度始めてください。"}},
	{CodeConnectionFailed, -32030, true,
		words{"The voice service is unreachable.", "Der Sprachdienst ist nicht erreichbar.", "音声サービスに接続できません。"},
		words{"Check the network and agentvoice.endpoint, then start again.", "Prüfen Sie das Netzwerk und agentvoice.endpoint und beginnen Sie dann noch einmal.", "ネットワークと agentvoice.endpoint を確認して、もう一度始めてください。"},
		words{"I cannot reach the voice service.", "Ich erreiche den Sprachdienst nicht.", "音声サービスに接続できません。"}},
	{CodeCallRejected, -32088, false,
		words{"The voice service rejected the connection.", "Der Sprachdienst hat die Verbindung abgelehnt.", "音声サービスに接続を拒否されました。"},
		words{"Check agentvoice.endpoint, agentvoice.provider and the model in the settings, then start again.", "Prüfen Sie in den Einstellungen agentvoice.endpoint, agentvoice.provider und das Modell und beginnen Sie dann noch einmal.", "設定の agentvoice.endpoint、agentvoice.provider とモデルを確認して、もう一度始めてください。"},
		words{"The voice service rejected the connection. Please check its address.", "Der Sprachdienst lehnt die Verbindung ab. Bitte prüfen Sie seine Adresse.", "音声サービスに接続を拒否されました。アドレスを確認してください。"}},
	{CodeConnectionLost, -32031, true,
		words{"The connection to the voice service was lost.", "Die Verbindung zum Sprachdienst ist abgebrochen.", "音声サービスとの接続が切れました。"},
		words{"Wait for it to come back; the conversation resumes automatically.", "Warten Sie, bis sie wieder da ist; das Gespräch geht von selbst weiter.", "接続が戻るまでお待ちください。会話は自動的に再開します。"},
		words{"I lost the connection. One moment.", "Die Verbindung ist abgebrochen. Einen Moment.", "接続が切れました。少しお待ちください。"}},
	{CodeConnectTimeout, -32032, true,
		words{"The voice service did not connect in time.", "Der Sprachdienst hat sich nicht rechtzeitig verbunden.", "音声サービスに時間内に接続できませんでした。"},
		words{"Check that the firewall lets UDP, or TCP on port 443, through to the service, then start again.", "Prüfen Sie, ob die Firewall UDP oder TCP auf Port 443 zum Dienst durchlässt, und beginnen Sie dann noch einmal.", "ファイアウォールがサービスへの UDP、または TCP ポート 443 を通すか確認して、もう一度始めてください。"},
		words{"The connection takes too long. Please try again.", "Die Verbindung dauert zu lange. Bitte versuchen Sie es noch einmal.", "接続に時間がかかっています。もう一度お試しください。"}},
	{CodeRateLimited, -32033, true,
		words{"Rate limit reached.", "Das Anfragelimit ist erreicht.", "レート制限に達しました。"},
		words{"Wait a moment, then try again.", "Warten Sie einen Moment und versuchen Sie es dann noch einmal.", "少し待ってから、もう一度お試しください。"},
		words{"The service is busy. Please wait a moment.", "Der Dienst ist ausgelastet. Bitte warten Sie einen Moment.", "サービスが混み合っています。少しお待ちください。"}},
	{CodeProtocolError, -32034, false,
		words{"Agent Voice does not understand the service's response.", "Der Dienst hat auf eine Weise geantwortet, die Agent Voice nicht versteht.", "サービスの応答を Agent Voice が理解できませんでした。"},
		words{"Check agentvoice.provider and agentvoice.endpoint, or update Agent Voice.", "Prüfen Sie agentvoice.provider und agentvoice.endpoint, oder aktualisieren Sie Agent Voice.", "agentvoice.provider と agentvoice.endpoint を確認するか、Agent Voice を更新してください。"},
		words{"I did not understand the voice service.", "Ich habe den Sprachdienst nicht verstanden.", "音声サービスの応答を理解できませんでした。"}},
	{CodeQuotaExceeded, -32053, false,
		words{"The quota of the service is used up.", "Das Kontingent beim Dienst ist aufgebraucht.", "サービスの利用枠を使い切りました。"},
		words{"Check the plan and billing at the provider, then start again.", "Prüfen Sie Tarif und Abrechnung beim Anbieter und beginnen Sie dann noch einmal.", "プロバイダーのプランと支払い情報を確認して、もう一度始めてください。"},
		words{"The quota of the service is used up. Please check the billing at the provider.", "Das Kontingent beim Dienst ist aufgebraucht. Bitte prüfen Sie die Abrechnung.", "サービスの利用枠を使い切りました。プロバイダーの支払い情報を確認してください。"}},
	{CodeAccessDenied, -32054, false,
		words{"The service denied access.", "Der Dienst hat den Zugriff verweigert.", "サービスにアクセスを拒否されました。"},
		words{"Check the permissions of the key, and whether the provider restricts your network.", "Prüfen Sie die Berechtigungen des Schlüssels und ob der Anbieter Ihr Netzwerk einschränkt.", "キーの権限と、プロバイダー側のネットワーク制限を確認してください。"},
		words{"The service denied access. Please check the permissions of the key.", "Der Dienst hat den Zugriff verweigert. Bitte prüfen Sie die Berechtigungen des Schlüssels.", "サービスにアクセスを拒否されました。キーの権限を確認してください。"}},
	{CodeRegionUnsupported, -32055, false,
		words{"The service is not available in your country or region.", "Der Dienst ist in Ihrem Land oder Ihrer Region nicht verfügbar.", "お住まいの国または地域ではサービスを利用できません。"},
		words{"Choose another provider; agentvoice.provider local works without a network.", "Wählen Sie einen anderen Anbieter; agentvoice.provider local funktioniert ohne Netzwerk.", "別のプロバイダーを選んでください。agentvoice.provider を local にすると、ネットワークなしで使えます。"},
		words{"The service is not available in your region.", "Der Dienst ist in Ihrer Region nicht verfügbar.", "お住まいの地域ではサービスを利用できません。"}},
	{CodeModelUnavailable, -32056, false,
		words{"The model is not available.", "Das Modell ist nicht verfügbar.", "モデルを利用できません。"},
		words{"Select another model, or check its name or deployment in the settings and that the key may use it.", "Wählen Sie ein anderes Modell, oder prüfen Sie in den Einstellungen seinen Namen oder seine Bereitstellung und ob der Schlüssel es verwenden darf.", "別のモデルを選ぶか、設定のモデル名またはデプロイ名と、キーの権限を確認してください。"},
		words{"The model is not available. Please select another one.", "Das Modell ist nicht verfügbar. Bitte wählen Sie ein anderes.", "モデルを利用できません。別のモデルを選んでください。"}},
	{CodePipelineFailed, -32105, false,
		words{"The server cannot load a model of its pipeline.", "Der Server kann ein Modell seiner Pipeline nicht laden.", "サーバーがパイプラインのモデルを読み込めません。"},
		words{"See the server's log for the model, install it or correct the pipeline's file there, then start again.", "Das Protokoll des Servers nennt das Modell: Installieren Sie es dort oder korrigieren Sie die Datei der Pipeline und beginnen Sie dann noch einmal.", "サーバーのログでモデルを確認し、サーバー側でインストールするかパイプラインのファイルを直して、もう一度始めてください。"},
		words{"The server cannot load one of its models. Please see its log.", "Der Server kann eines seiner Modelle nicht laden. Bitte sehen Sie in sein Protokoll.", "サーバーがモデルを読み込めません。サーバーのログを確認してください。"}},
	{CodeDeviceUnavailable, -32035, true,
		words{"The audio device cannot be opened.", "Das Audiogerät lässt sich nicht öffnen.", "オーディオデバイスを開けません。"},
		words{"Connect it, close other programs that use it, or select another one.", "Schließen Sie es an, beenden Sie andere Programme, die es verwenden, oder wählen Sie ein anderes.", "接続を確認し、使用中の他のプログラムを閉じるか、別のデバイスを選んでください。"},
		words{"I cannot open the audio device.", "Ich kann das Audiogerät nicht öffnen.", "オーディオデバイスを開けません。"}},
	{CodeDeviceLost, -32036, true,
		words{"The audio device was disconnected.", "Das Audiogerät wurde getrennt.", "オーディオデバイスが切断されました。"},
		words{"Reconnect it, or select another one; the conversation resumes automatically.", "Schließen Sie es wieder an oder wählen Sie ein anderes; das Gespräch geht von selbst weiter.", "接続し直すか、別のデバイスを選んでください。会話は自動的に再開します。"},
		words{"The audio device was disconnected for a moment.", "Das Audiogerät war kurz nicht da.", "オーディオデバイスが一時的に切断されました。"}},
	{CodeMicrophoneDenied, -32037, false,
		words{"Agent Voice does not have permission to use the microphone.", "Agent Voice darf das Mikrofon nicht verwenden.", "Agent Voice はマイクの使用を許可されていません。"},
		words{"Allow it in the privacy settings of the system, then start again.", "Erlauben Sie es in den Datenschutzeinstellungen des Systems und beginnen Sie dann noch einmal.", "システムのプライバシー設定で許可してから、もう一度始めてください。"},
		words{"I am not allowed to use the microphone.", "Ich darf das Mikrofon nicht verwenden.", "マイクの使用が許可されていません。"}},
	{CodeMicrophoneBusy, -32050, true,
		words{"Another window is already listening.", "Ein anderes Fenster hört bereits zu.", "別のウィンドウがすでに聞き取り中です。"},
		words{"End the conversation there, or take the microphone over here.", "Beenden Sie das Gespräch dort, oder übernehmen Sie das Mikrofon hier.", "そのウィンドウの会話を終了するか、ここでマイクを引き継いでください。"},
		words{"Another window has the microphone.", "Ein anderes Fenster hat das Mikrofon.", "別のウィンドウがマイクを使用しています。"}},
	{CodeMicrophoneTaken, -32051, false,
		words{"Another window took over the microphone.", "Ein anderes Fenster hat das Mikrofon übernommen.", "別のウィンドウがマイクを引き継ぎました。"},
		words{"Take it over here to get it back.", "Übernehmen Sie es hier, um es zurückzuholen.", "取り戻すには、ここでマイクを引き継いでください。"},
		words{"Another window took over the microphone.", "Ein anderes Fenster hat das Mikrofon übernommen.", "別のウィンドウがマイクを引き継ぎました。"}},
	{CodeMicrophoneMuted, -32100, true,
		words{"The microphone is muted in the system's sound settings. You cannot be heard.", "Das Mikrofon ist in den Toneinstellungen des Systems stummgeschaltet. Sie sind nicht zu hören.", "マイクはシステムのサウンド設定でミュートされています。声は届いていません。"},
		words{"Unmute it there, or select another microphone.", "Heben Sie die Stummschaltung dort auf oder wählen Sie ein anderes Mikrofon.", "そこでミュートを解除するか、別のマイクを選んでください。"},
		words{"Your microphone is muted in the sound settings, so I cannot hear you.", "Ihr Mikrofon ist in den Toneinstellungen stummgeschaltet, deshalb höre ich Sie nicht.", "マイクがサウンド設定でミュートされているため、声が聞こえません。"}},
	{CodeMicrophoneSilent, -32101, true,
		words{"The microphone delivers no sound, not even noise. You cannot be heard.", "Das Mikrofon liefert keinen Ton, nicht einmal Rauschen. Sie sind nicht zu hören.", "マイクから音がまったく届いていません。声は届いていません。"},
		words{"Check the mute switch on the microphone, its level in the system's sound settings and the permission to use it, or select another one.", "Prüfen Sie den Stummschalter am Mikrofon, seinen Pegel in den Toneinstellungen des Systems und die Erlaubnis, es zu verwenden, oder wählen Sie ein anderes.", "マイクのミュートスイッチ、システムのサウンド設定の入力レベル、使用の許可を確認するか、別のマイクを選んでください。"},
		words{"No sound comes from your microphone. It may be muted.", "Von Ihrem Mikrofon kommt kein Ton. Vielleicht ist es stummgeschaltet.", "マイクから音が届いていません。ミュートされているかもしれません。"}},
	{CodeMicrophoneClips, -32102, true,
		words{"The microphone is too loud and distorts your voice.", "Das Mikrofon ist zu laut und verzerrt Ihre Stimme.", "マイクの入力が大きすぎて、声が歪んでいます。"},
		words{"Lower the input level in the system's sound settings, turn off microphone boost, or move away from it.", "Senken Sie den Eingangspegel in den Toneinstellungen des Systems, schalten Sie die Mikrofonverstärkung aus oder gehen Sie weiter weg.", "システムのサウンド設定で入力レベルを下げるか、マイクブーストを切るか、マイクから離れてください。"},
		words{"Your microphone is too loud and distorts your voice. Please lower its level.", "Ihr Mikrofon ist zu laut und verzerrt Ihre Stimme. Bitte senken Sie seinen Pegel.", "マイクの入力が大きすぎて声が歪んでいます。入力レベルを下げてください。"}},
	{CodeMicrophoneQuiet, -32103, true,
		words{"Your voice is too quiet in the microphone to be recognised.", "Ihre Stimme ist im Mikrofon zu leise, um erkannt zu werden.", "マイクに届く声が小さすぎて、認識できません。"},
		words{"Raise the input level in the system's sound settings, move closer, or select another microphone.", "Erhöhen Sie den Eingangspegel in den Toneinstellungen des Systems, gehen Sie näher heran oder wählen Sie ein anderes Mikrofon.", "システムのサウンド設定で入力レベルを上げるか、マイクに近づくか、別のマイクを選んでください。"},
		words{"Your microphone is too quiet. Please raise its level or move closer.", "Ihr Mikrofon ist zu leise. Bitte erhöhen Sie seinen Pegel oder gehen Sie näher heran.", "マイクの音が小さすぎます。入力レベルを上げるか、近づいてください。"}},
	{CodeAudioFailed, -32038, true,
		words{"Audio failed.", "Die Audioverarbeitung ist ausgefallen.", "オーディオで問題が発生しました。"},
		words{"Start again. If it happens again, run doctor.", "Beginnen Sie noch einmal. Führen Sie doctor aus, falls es erneut auftritt.", "もう一度始めてください。繰り返す場合は doctor を実行してください。"},
		words{"There is a problem with the audio.", "Es gibt ein Problem mit dem Ton.", "音声に問題が発生しました。"}},
	{CodeRecognitionFailed, -32039, true,
		words{"Your speech was not recognised.", "Die Wörter wurden nicht erkannt.", "言葉を認識できませんでした。"},
		words{"Say it again, closer to the microphone.", "Sagen Sie es noch einmal, näher am Mikrofon.", "マイクに近づいて、もう一度言ってください。"},
		words{"I did not understand that. Please say it again.", "Das habe ich nicht verstanden. Bitte sagen Sie es noch einmal.", "聞き取れませんでした。もう一度お願いします。"}},
	{CodeRecognitionTimeout, -32040, true,
		words{"Speech recognition took too long.", "Das Erkennen der Wörter hat zu lange gedauert.", "言葉の認識に時間がかかりすぎました。"},
		words{"Say it again.", "Sagen Sie es noch einmal.", "もう一度言ってください。"},
		words{"I did not catch that. Please say it again.", "Das habe ich nicht mitbekommen. Bitte sagen Sie es noch einmal.", "聞き取れませんでした。もう一度お願いします。"}},
	{CodeSpeakerRefused, -32107, false,
		words{"The service does not accept this voice, so what was said is not carried out.", "Der Dienst akzeptiert diese Stimme nicht, deshalb wird das Gesagte nicht ausgeführt.", "この声はサービスに認められていないため、発話は実行されません。"},
		words{"If it was you, register your voice at the server, or raise the threshold of its voice recognition.", "Wenn Sie es waren, registrieren Sie Ihre Stimme beim Server oder erhöhen Sie den Schwellenwert seiner Stimmerkennung.", "ご本人の声であれば、サーバーに声を登録するか、話者認識のしきい値を上げてください。"},
		words{"The service does not accept this voice.", "Der Dienst akzeptiert diese Stimme nicht.", "この声はサービスに認められていません。"}},
	{CodeSpeechFailed, -32041, true,
		words{"The answer could not be spoken.", "Die Antwort konnte nicht gesprochen werden.", "回答を読み上げられませんでした。"},
		words{"Read the answer in the panel.", "Lesen Sie die Antwort im Panel.", "回答はパネルで読めます。"},
		words{"I cannot say this aloud. Please read it in the panel.", "Das kann ich nicht vorlesen. Bitte lesen Sie es im Panel.", "読み上げられません。パネルで読んでください。"}},
	{CodeSpeechMismatch, -32042, true,
		words{"The voice said something other than the answer.", "Die Stimme hat etwas anderes gesagt als die Antwort.", "音声が回答と違うことを話しました。"},
		words{"If this machine has a voice, it says the rest. The text is in the panel. Set agentvoice.voice.provider to local for a voice that reads word for word.", "Hat dieser Rechner eine Stimme, so sagt sie den Rest. Der Text steht im Panel. Stellen Sie agentvoice.voice.provider auf local für eine Stimme, die Wort für Wort liest.", "このマシンに音声があれば、残りはそれが読み上げます。内容はパネルにあります。そのまま読む音声にするには agentvoice.voice.provider を local にしてください。"},
		words{"I misread that. The text is in the panel.", "Da habe ich mich verlesen. Der Text steht im Panel.", "読み間違えました。内容はパネルにあります。"}},
	{CodeVoiceRateLimited, -32057, false,
		words{"The voice service cannot speak at this speed.", "Der Sprachdienst kann nicht mit dieser Geschwindigkeit sprechen.", "音声サービスはこの速度で話せません。"},
		words{"Set agentvoice.voice.rate to a speed that the service supports, or use the provider local.", "Stellen Sie agentvoice.voice.rate auf einen Wert, den der Dienst kann, oder verwenden Sie den Anbieter local.", "agentvoice.voice.rate をサービスが対応する値にするか、プロバイダー local を使ってください。"},
		words{"I cannot speak at that speed here.", "In dieser Geschwindigkeit kann ich hier nicht sprechen.", "ここではその速度で話せません。"}},
	{CodeHearsItself, -32058, true,
		words{"The microphone picks up the assistant, and the echo cannot be cancelled right now. You cannot interrupt by voice while the assistant speaks.", "Das Mikrofon hört den Assistenten, und das Echo lässt sich gerade nicht entfernen. Solange der Assistent spricht, kann er nicht durch Sprechen unterbrochen werden.", "マイクがアシスタントの声を拾っており、今はエコーを除去できません。アシスタントが話している間は、声で割り込めません。"},
		words{"Interrupt with the button or a key, turn the speaker down, or use headphones.", "Unterbrechen Sie mit der Schaltfläche oder der Taste, stellen Sie den Lautsprecher leiser oder verwenden Sie Kopfhörer.", "ボタンかキーで割り込むか、スピーカーの音量を下げるか、ヘッドホンを使ってください。"},
		words{"I can hear myself. While I speak, please interrupt me with the button or a key.", "Ich höre mich selbst. Bitte unterbrechen Sie mich mit der Schaltfläche oder der Taste.", "自分の声が聞こえています。話している間は、ボタンかキーで割り込んでください。"}},
	{CodeVoiceReplaced, -32060, true,
		words{"The voice failed and was replaced by another one.", "Die Stimme ist ausgefallen; ab jetzt spricht eine andere.", "音声が使えなくなったため、別の声で読み上げます。"},
		words{"Check agentvoice.voice and the service, then start again.", "Prüfen Sie agentvoice.voice und den Dienst und beginnen Sie dann noch einmal.", "agentvoice.voice の設定とサービスを確認して、もう一度始めてください。"},
		words{"My voice failed, so I am using another one.", "Meine Stimme ist ausgefallen, deshalb spreche ich mit einer anderen.", "音声が使えなくなったため、別の声でお話しします。"}},
	{CodeTextOnly, -32094, true,
		words{"No microphone or speaker can be used, so the conversation is in writing.", "Es ist kein Mikrofon oder Lautsprecher nutzbar, deshalb läuft das Gespräch schriftlich.", "マイクまたはスピーカーを使えないため、会話は文字だけになります。"},
		words{"Connect a microphone and a speaker, then start the conversation again.", "Schließen Sie Mikrofon und Lautsprecher an und beginnen Sie das Gespräch noch einmal.", "マイクとスピーカーを接続して、会話をもう一度始めてください。"},
		words{"I can only answer in writing.", "Ich kann nur schriftlich antworten.", "文字でのみお答えできます。"}},
	{CodeVoiceLate, -32090, true,
		words{"The voice is too slow on this machine right now; a faster one speaks.", "Die Stimme ist auf diesem Rechner gerade zu langsam; eine schnellere spricht.", "この声は今このコンピューターでは遅すぎるため、より速い声で読み上げます。"},
		words{"Close other programs, or set agentvoice.voice.engine to fast.", "Schließen Sie andere Programme oder stellen Sie agentvoice.voice.engine auf fast.", "ほかのプログラムを閉じるか、agentvoice.voice.engine を fast にしてください。"},
		words{"This machine is busy, so I speak with a faster voice.", "Dieser Rechner ist beschäftigt, deshalb spreche ich mit einer schnelleren Stimme.", "コンピューターが混み合っているため、より速い声でお話しします。"}},
	{CodeVoiceUnknown, -32095, false,
		words{"The voice of this machine does not have the speaker that agentvoice.voice.name names; its first one speaks.", "Die Stimme dieses Rechners kennt den Sprecher in agentvoice.voice.name nicht; ihr erster spricht.", "agentvoice.voice.name に指定された話者は、このコンピューターの音声にはありません。最初の話者で読み上げます。"},
		words{"Choose one of agentvoice-daemon models voices, or empty agentvoice.voice.name.", "Wählen Sie einen Sprecher aus agentvoice-daemon models voices oder leeren Sie agentvoice.voice.name.", "agentvoice-daemon models voices に表示される話者を選ぶか、agentvoice.voice.name を空にしてください。"},
		words{"I do not have the voice that you chose, so I use another one.", "Die gewählte Stimme habe ich nicht, deshalb spreche ich mit einer anderen.", "選ばれた声が見つからないため、別の声でお話しします。"}},
	{CodeHearingReplaced, -32061, true,
		words{"Recognition failed and was replaced by a simpler engine. Check the transcript.", "Die Erkennung ist ausgefallen und wurde durch eine einfachere ersetzt. Prüfen Sie die Mitschrift.", "音声認識が使えなくなったため、簡易エンジンで聞き取りました。文字起こしを確認してください。"},
		words{"Check agentvoice.hearing and the service or model; run doctor.", "Prüfen Sie agentvoice.hearing und den Dienst oder das Modell; führen Sie doctor aus.", "agentvoice.hearing の設定と、サービスまたはモデルを確認してください。doctor も利用できます。"},
		words{"I am using simpler speech recognition, so please check the transcript.", "Ich verwende eine einfachere Spracherkennung, bitte prüfen Sie die Mitschrift.", "簡易エンジンで聞き取っています。文字起こしを確認してください。"}},
	{CodeVoiceOverWebSocket, -32087, true,
		words{"The network blocks UDP. The voice uses a WebSocket, and latency may be higher.", "Das Netzwerk blockiert UDP. Die Sprachverbindung läuft über einen WebSocket, die Latenz kann höher sein.", "ネットワークが UDP をブロックしています。音声には WebSocket を使用するため、遅延が大きくなることがあります。"},
		words{"No action needed. Let UDP, or TCP on port 443, through to the service, or set agentvoice.network.turnServers.", "Sie müssen nichts tun. Die Latenz sinkt, wenn Sie UDP oder TCP auf Port 443 zum Dienst durchlassen oder agentvoice.network.turnServers setzen.", "対応は不要です。改善するには、サービスへの UDP またはポート 443 の TCP を許可するか、agentvoice.network.turnServers を設定してください。"},
		words{"This network blocks UDP, so I may answer a little later than usual.", "Dieses Netzwerk blockiert UDP, deshalb antworte ich vielleicht etwas später als sonst.", "このネットワークは UDP をブロックしているため、お返事が少し遅れることがあります。"}},
	{CodeServiceLimited, -32062, false,
		words{"The selected services do not support every feature.", "Die gewählten Dienste zum Hören und Sprechen können nicht alles.", "選択した聞き取りと発話のサービスには、できないことがあります。"},
		words{"No action needed. Other choices in agentvoice.hearing and agentvoice.voice support more.", "Sie müssen nichts tun. Andere Einstellungen von agentvoice.hearing und agentvoice.voice können mehr.", "対応は不要です。agentvoice.hearing と agentvoice.voice の設定を変えると、できることが増えます。"},
		words{"The selected services do not support every feature.", "Die gewählten Dienste können nicht alles.", "選択したサービスには、できないことがあります。"}},
	{CodeVoiceParaphrases, -32063, false,
		words{"The voice may paraphrase the answer.", "Die Stimme gibt die Antwort vielleicht mit anderen Worten wieder.", "音声が回答と違う言葉で話すことがあります。"},
		words{"Set agentvoice.voice.provider to local.", "Stellen Sie agentvoice.voice.provider auf local.", "agentvoice.voice.provider を local にしてください。"},
		words{"The voice may paraphrase the answer.", "Die Stimme gibt die Antwort vielleicht mit anderen Worten wieder.", "音声が回答と違う言葉で話すことがあります。"}},
	{CodeHeardRoughly, -32064, false,
		words{"The position of your interruptions is approximate.", "Wo Sie eine Antwort unterbrochen haben, ist nur ungefähr bekannt.", "回答を中断した位置は、おおよそしか分かりません。"},
		words{"Set agentvoice.voice.provider to local.", "Stellen Sie agentvoice.voice.provider auf local.", "agentvoice.voice.provider を local にしてください。"},
		words{"The position of your interruptions is approximate.", "Wo Sie eine Antwort unterbrochen haben, ist nur ungefähr bekannt.", "回答を中断した位置は、おおよそしか分かりません。"}},
	{CodeVoiceNotStopped, -32072, false,
		words{"An interruption stops the answer here only; the service cannot be stopped.", "Eine Unterbrechung stoppt die Antwort nur hier; den Dienst kann man nicht anhalten.", "割り込みはここでの再生だけを止めます。サービス自体は停止できません。"},
		words{"Set agentvoice.provider to openai, for example.", "Stellen Sie agentvoice.provider zum Beispiel auf openai.", "agentvoice.provider を openai などにしてください。"},
		words{"An interruption stops the answer here only; the service cannot be stopped.", "Eine Unterbrechung stoppt die Antwort nur hier; den Dienst kann man nicht anhalten.", "割り込みはここでの再生だけを止めます。サービス自体は停止できません。"}},
	{CodeWordsLate, -32065, false,
		words{"Your words appear after you finish speaking.", "Ihre Wörter erscheinen erst, wenn Sie fertig sind.", "言葉は話し終えてから表示されます。"},
		words{"Set agentvoice.hearing.wire to realtime, if the service supports it.", "Stellen Sie agentvoice.hearing.wire auf realtime, wenn der Dienst eine Sitzung hat.", "サービスにセッションがあれば、agentvoice.hearing.wire を realtime にしてください。"},
		words{"Your words appear after you finish speaking.", "Ihre Wörter erscheinen erst, wenn Sie fertig sind.", "言葉は話し終えてから表示されます。"}},
	{CodeWordsByPipeline, -32106, false,
		words{"Your words appear while you speak only if the server's pipeline streams them.", "Ihre Wörter erscheinen nur dann, während Sie sprechen, wenn die Pipeline des Servers sie fortlaufend sendet.", "話している間に言葉が表示されるのは、サーバーのパイプラインがストリーミングする場合だけです。"},
		words{"Configure the pipeline with semantic_vad and a model that streams.", "Konfigurieren Sie die Pipeline mit semantic_vad und einem Modell, das fortlaufend sendet.", "パイプラインに semantic_vad と、ストリーミングに対応したモデルを設定してください。"},
		words{"Your words appear while you speak only if the server's pipeline streams them.", "Ihre Wörter erscheinen beim Sprechen nur, wenn die Pipeline des Servers sie streamt.", "話している間に言葉が表示されるのは、サーバーのパイプラインがストリーミングする場合だけです。"}},
	{CodeWordsUnchecked, -32066, false,
		words{"The service reports no confidence for your words.", "Der Dienst meldet nicht, wie sicher er Ihre Worte erkannt hat.", "サービスは、聞き取った言葉の確からしさを示しません。"},
		words{"Check the transcript before you approve anything.", "Lesen Sie, was verstanden wurde, bevor Sie etwas zustimmen.", "何かに同意する前に、聞き取られた内容を確認してください。"},
		words{"The service reports no confidence for your words.", "Der Dienst meldet nicht, wie sicher er Ihre Worte erkannt hat.", "サービスは、聞き取った言葉の確からしさを示しません。"}},
	{CodeVocabularyUnused, -32067, false,
		words{"The service does not accept names and technical terms.", "Der Dienst nimmt keine Namen und Fachwörter entgegen.", "サービスは、名前や専門用語の指定に対応していません。"},
		words{"Leave agentvoice.transcription.prompt empty, or choose another service.", "Lassen Sie agentvoice.transcription.prompt leer, oder wählen Sie einen anderen Dienst.", "agentvoice.transcription.prompt を空にするか、別のサービスを選んでください。"},
		words{"The service does not accept names and technical terms.", "Der Dienst nimmt keine Namen und Fachwörter entgegen.", "サービスは、名前や専門用語の指定に対応していません。"}},
	{CodeEngineMissing, -32043, false,
		words{"A speech engine or model is missing.", "Eine Sprach-Engine oder ein Modell fehlt.", "音声エンジンまたはモデルがありません。"},
		words{"Run doctor, which names the package to install.", "Führen Sie doctor aus: Es nennt das Paket, das sie enthält.", "doctor を実行すると、必要なパッケージが分かります。"},
		words{"A speech engine is missing on this machine.", "Auf diesem Rechner fehlt eine Sprach-Engine.", "このマシンに音声エンジンがありません。"}},
	{CodeRecordDamaged, -32080, false,
		words{"The record of past sessions was damaged. A new one was started, and the old file was kept.", "Die Aufzeichnung früherer Sitzungen war beschädigt. Eine neue wurde begonnen, die alte Datei wurde behalten.", "過去のセッションの記録が破損していました。新しい記録を開始し、古いファイルは保存しました。"},
		words{"No action needed. Delete the old file when you no longer need it.", "Sie müssen nichts tun. Löschen Sie die alte Datei, wenn Sie sie nicht brauchen.", "対応は不要です。古いファイルは、不要であれば削除してください。"},
		words{"The record of past sessions was damaged, so I started a new one.", "Die Aufzeichnung früherer Sitzungen war beschädigt; ich habe eine neue begonnen.", "過去のセッションの記録が破損していたため、新しい記録を開始しました。"}},
	{CodeRecordUnavailable, -32081, true,
		words{"Sessions cannot be recorded on disk. They are kept in memory until the daemon exits.", "Sitzungen können nicht auf der Platte aufgezeichnet werden. Sie bleiben im Arbeitsspeicher, bis der Daemon endet.", "セッションをディスクに記録できません。デーモンが終了するまでメモリに保持します。"},
		words{"Check free disk space and the permissions of the record's folder (sessions --path), then restart the daemon.", "Prüfen Sie den freien Platz und die Rechte des Ordners der Aufzeichnung (sessions --path) und starten Sie den Daemon dann neu.", "記録フォルダー（sessions --path）の空き容量と権限を確認して、デーモンを再起動してください。"},
		words{"I cannot record sessions on disk. Our conversation continues.", "Ich kann Sitzungen nicht auf der Platte aufzeichnen. Unser Gespräch geht weiter.", "セッションをディスクに記録できません。会話は続けられます。"}},
	{CodeBudgetNearlySpent, -32082, false,
		words{"Your budget is nearly spent.", "Ihr Budget ist fast aufgebraucht.", "予算の残りがわずかです。"},
		words{"No action needed. The conversation ends when the budget is spent; agentvoice.budget.day and agentvoice.budget.month set it.", "Sie müssen nichts tun. Das Gespräch endet, wenn das Budget aufgebraucht ist; agentvoice.budget.day und agentvoice.budget.month legen es fest.", "対応は不要です。予算を使い切ると会話は終了します。予算は agentvoice.budget.day と agentvoice.budget.month で設定します。"},
		words{"Your budget is nearly spent.", "Ihr Budget ist fast aufgebraucht.", "予算の残りがわずかです。"}},
	{CodeBudgetSpent, -32083, false,
		words{"Your budget is spent, so the conversation ended.", "Ihr Budget ist aufgebraucht, deshalb wurde das Gespräch beendet.", "予算を使い切ったため、会話を終了しました。"},
		words{"Raise agentvoice.budget.day or agentvoice.budget.month, or use the provider local, which is free.", "Erhöhen Sie agentvoice.budget.day oder agentvoice.budget.month, oder verwenden Sie den kostenlosen Anbieter local.", "agentvoice.budget.day または agentvoice.budget.month を引き上げるか、無料のプロバイダー local を使用してください。"},
		words{"Your budget is spent.", "Ihr Budget ist aufgebraucht.", "予算を使い切りました。"}},
	{CodePriceUnknown, -32104, false,
		words{"The model is not used: a budget is set, and agentvoice.budget.prices has no price for it.", "Das Modell wird nicht verwendet: Ein Budget ist gesetzt, und in agentvoice.budget.prices fehlt sein Preis.", "予算が設定されていますが、モデルの価格が agentvoice.budget.prices にないため、このモデルは使用しません。"},
		words{"Give its price in agentvoice.budget.prices, use another model, or set agentvoice.budget.day and agentvoice.budget.month to 0.", "Geben Sie seinen Preis in agentvoice.budget.prices an, verwenden Sie ein anderes Modell oder setzen Sie agentvoice.budget.day und agentvoice.budget.month auf 0.", "agentvoice.budget.prices に価格を指定するか、別のモデルを使うか、agentvoice.budget.day と agentvoice.budget.month を 0 にしてください。"},
		words{"I do not know what this model costs, so I do not use it.", "Ich weiß nicht, was dieses Modell kostet, deshalb verwende ich es nicht.", "このモデルの価格が分からないため、使用しません。"}},
	{CodeTurnEndReplaced, -32084, true,
		words{"The end-of-turn model failed. Turns now end by words and pauses.", "Das Modell für das Ende Ihrer Äußerung ist ausgefallen. Wörter und Pausen entscheiden stattdessen.", "発話の終わりを判定するモデルが使えなくなりました。代わりに言葉と間で判定します。"},
		words{"Install or import the model again; run doctor.", "Installieren oder importieren Sie das Modell noch einmal; führen Sie doctor aus.", "モデルをもう一度インストールまたはインポートしてください。doctor も利用できます。"},
		words{"I may wait a little longer before I answer.", "Ich warte vielleicht etwas länger, bevor ich antworte.", "お返事まで少し長くお待ちいただくことがあります。"}},
	{CodeDetectorReplaced, -32091, true,
		words{"The voice detector failed and was replaced by a simpler one, which takes more noises for speech.", "Die Erkennung, ob jemand spricht, ist ausgefallen und wurde durch eine einfachere ersetzt, die mehr Geräusche für Sprache hält.", "発話の検出が使えなくなったため、簡易な方式に切り替えました。雑音を発話と間違えることが増えます。"},
		words{"Install the program or its models again; run doctor, which says what is missing.", "Installieren Sie das Programm oder seine Modelle noch einmal; doctor sagt, was fehlt.", "プログラムまたはモデルをもう一度インストールしてください。doctor を実行すると、足りないものが分かります。"},
		words{"My voice detector failed, so a noise may interrupt me.", "Ich erkenne nicht mehr so genau, wer spricht; ein Geräusch kann mich unterbrechen.", "発話の検出が簡易になったため、雑音で話が止まることがあります。"}},
	{CodeLanguageUnknown, -32089, false,
		words{"The recogniser of this machine does not understand your language.", "Die Erkennung dieses Rechners versteht Ihre Sprache nicht.", "このコンピューターの音声認識は、あなたの言語に対応していません。"},
		words{"Install the model that is named with Agent Voice: Install Local Voice, or models install and its name; if none is named, choose a service in agentvoice.provider. If you speak English, set agentvoice.transcription.language to en.", "Installieren Sie das genannte Modell mit „Agent Voice: Lokale Stimme installieren“ oder mit models install und seinem Namen; ist keines genannt, wählen Sie einen Dienst in agentvoice.provider. Wenn Sie Englisch sprechen, stellen Sie agentvoice.transcription.language auf en.", "示されたモデルを「Agent Voice: ローカル音声をインストール」、または models install とモデル名でインストールしてください。モデルが示されていない場合は、agentvoice.provider でサービスを選んでください。英語で話す場合は、agentvoice.transcription.language を en にしてください。"},
		words{"I do not understand your language yet. Please install a model for it.", "Ich verstehe Ihre Sprache noch nicht. Bitte installieren Sie ein Modell dafür.", "まだあなたの言語を聞き取れません。対応するモデルをインストールしてください。"}},
	{CodeWatchRefused, -32085, false,
		words{"The daemon refused the watcher.", "Der Daemon hat den Beobachter abgelehnt.", "デーモンが監視クライアントを拒否しました。"},
		words{"Use the token in the daemon's file, and request words only if agentvoice.privacy.watch is words.", "Verwenden Sie das Token aus der Datei des Daemons, und verlangen Sie Wörter nur, wenn agentvoice.privacy.watch auf words steht.", "デーモンのファイルにあるトークンを使用してください。言葉を要求できるのは、agentvoice.privacy.watch が words の場合だけです。"},
		words{}},
	{CodeReadOnly, -32086, false,
		words{"A watcher cannot change the conversation.", "Ein Beobachter kann das Gespräch nicht ändern.", "監視クライアントは会話を変更できません。"},
		words{"Use the editor or terminal that runs the conversation.", "Verwenden Sie den Editor oder das Terminal, in dem das Gespräch läuft.", "会話を行っているエディターまたはターミナルを使用してください。"},
		words{}},
}
