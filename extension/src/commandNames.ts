// The names of the commands.

/** The commands in the order of package.json; commands missing there are internal to the panel. */
export const COMMANDS = [
  'start', 'end', 'toggle', 'takeOver', 'holdToTalk', 'stopSpeaking', 'toggleMute', 'pause', 'pauseSpeech', 'sendNow', 'type', 'retry',
  'repeat', 'approve', 'reject', 'readSelection', 'readFromHere', 'selectMicrophone', 'selectSpeaker', 'selectVoice', 'selectAssistant', 'selectTools', 'installLocalVoice', 'setUpScreenReader',
  'allowCopilot', 'setKey', 'removeKey', 'clearTranscript', 'exportTranscript', 'copyTranscript', 'exportDiagnostics', 'restartDaemon', 'showPanel', 'showLog', 'openSettings',
  'openWalkthrough', 'installCopilot', 'manageCopilot', 'openHelp', 'microphoneSettings', 'manageTrust', 'updateExtension', 'statusClicked', 'checkSetup',
] as const;

export type Command = (typeof COMMANDS)[number];
