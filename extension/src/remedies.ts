// Buttons that help with a failure. Each runs a command of the extension; the first is the most likely to
// help.

import type { ProblemCode } from './problem';
import type { Translate } from './text';

/** The commands that the panel may run. */
export const PANEL_COMMANDS = [
  'agentvoice.start',
  'agentvoice.end',
  'agentvoice.takeOver',
  'agentvoice.stopSpeaking',
  'agentvoice.toggleMute',
  'agentvoice.pause',
  'agentvoice.pauseSpeech',
  'agentvoice.sendNow',
  'agentvoice.retry',
  'agentvoice.repeat',
  'agentvoice.selectMicrophone',
  'agentvoice.selectSpeaker',
  'agentvoice.selectAssistant',
  'agentvoice.selectTools',
  'agentvoice.installLocalVoice',
  'agentvoice.allowCopilot',
  'agentvoice.installCopilot',
  'agentvoice.manageCopilot',
  'agentvoice.openHelp',
  'agentvoice.microphoneSettings',
  'agentvoice.setKey',
  'agentvoice.restartDaemon',
  'agentvoice.showLog',
  'agentvoice.openSettings',
  'agentvoice.manageTrust',
  'agentvoice.updateExtension',
  'agentvoice.exportDiagnostics',
  'agentvoice.checkSetup',
] as const;

export type PanelCommand = (typeof PANEL_COMMANDS)[number];

/** Remedy is a button. */
export interface Remedy {
  readonly command: PanelCommand;
  readonly title: string;
}

const TITLES = (t: Translate): Partial<Record<PanelCommand, string>> => ({
  'agentvoice.start': t('Start again'),
  'agentvoice.takeOver': t('Use the microphone here'),
  'agentvoice.stopSpeaking': t('Stop'),
  'agentvoice.retry': t('Try again'),
  'agentvoice.selectMicrophone': t('Choose microphone'),
  'agentvoice.selectSpeaker': t('Choose speaker'),
  'agentvoice.selectAssistant': t('Choose assistant'),
  'agentvoice.installLocalVoice': t('Install local voice'),
  'agentvoice.allowCopilot': t('Allow Copilot'),
  'agentvoice.installCopilot': t('Install GitHub Copilot'),
  'agentvoice.manageCopilot': t('View plan'),
  'agentvoice.openHelp': t('Open provider page'),
  'agentvoice.microphoneSettings': t('Open privacy settings'),
  'agentvoice.setKey': t('Store a key'),
  'agentvoice.restartDaemon': t('Restart'),
  'agentvoice.showLog': t('Show log'),
  'agentvoice.openSettings': t('Open settings'),
  'agentvoice.manageTrust': t('Manage trust'),
  'agentvoice.updateExtension': t('Check for updates'),
  'agentvoice.exportDiagnostics': t('Export diagnostics'),
  'agentvoice.checkSetup': t('Check microphone, voice and assistant'),
});

/** Remedies by error code. Codes for misuse of the wire are bugs of the extension, and offer a report. */
const HELPS: Record<ProblemCode, readonly PanelCommand[]> = {
  parseError: ['agentvoice.restartDaemon', 'agentvoice.exportDiagnostics'],
  invalidRequest: ['agentvoice.restartDaemon', 'agentvoice.exportDiagnostics'],
  methodNotFound: ['agentvoice.updateExtension'],
  invalidParams: ['agentvoice.openSettings'],
  internalError: ['agentvoice.start', 'agentvoice.exportDiagnostics'],
  notInitialized: ['agentvoice.restartDaemon', 'agentvoice.exportDiagnostics'],
  requestCancelled: [],
  conversationActive: [],
  noConversation: ['agentvoice.start'],
  invalidState: [],
  unsupportedProtocolVersion: ['agentvoice.updateExtension', 'agentvoice.openSettings'],
  shuttingDown: ['agentvoice.restartDaemon'],
  clientGone: ['agentvoice.start'],
  nothingToRetry: [],
  textEmpty: [],
  queueFull: ['agentvoice.stopSpeaking'],
  utteranceLost: [],
  utteranceTooLong: [],
  notUnderstood: [],
  startTimeout: ['agentvoice.start', 'agentvoice.showLog'],
  suspendTimeout: ['agentvoice.start'],
  breakerOpen: ['agentvoice.start', 'agentvoice.showLog'],
  invariantViolation: ['agentvoice.start', 'agentvoice.exportDiagnostics'],
  copilotTimeout: ['agentvoice.retry'],
  copilotStalled: ['agentvoice.retry'],
  copilotFailed: ['agentvoice.retry', 'agentvoice.showLog'],
  copilotNotInstalled: ['agentvoice.selectAssistant', 'agentvoice.installCopilot'],
  copilotNoConsent: ['agentvoice.allowCopilot', 'agentvoice.selectAssistant'],
  copilotQuota: ['agentvoice.selectAssistant', 'agentvoice.manageCopilot'],
  copilotUnavailable: ['agentvoice.retry', 'agentvoice.selectAssistant'],
  copilotBlocked: [],
  copilotEmpty: ['agentvoice.retry'],
  modelFailed: ['agentvoice.selectAssistant'],
  agentMissing: ['agentvoice.selectAssistant'],
  agentEnded: ['agentvoice.retry', 'agentvoice.showLog'],
  agentSilent: ['agentvoice.retry', 'agentvoice.showLog'],
  agentSignIn: ['agentvoice.selectAssistant'],
  toolSearchFailed: ['agentvoice.retry'],
  toolFailed: ['agentvoice.retry'],
  toolTimeout: ['agentvoice.retry'],
  toolRounds: [],
  toolUnanswered: ['agentvoice.retry'],
  copilotCancelled: ['agentvoice.retry'],
  answerGap: ['agentvoice.retry'],
  answerCutLength: [],
  answerCutTurns: [],
  answerCutFilter: [],
  answerCutOff: ['agentvoice.retry'],
  authentication: ['agentvoice.setKey', 'agentvoice.openHelp', 'agentvoice.openSettings'],
  credentialsMissing: ['agentvoice.setKey', 'agentvoice.openHelp', 'agentvoice.openSettings'],
  sessionFailed: ['agentvoice.start', 'agentvoice.showLog'],
  sessionExpired: ['agentvoice.start'],
  connectionFailed: ['agentvoice.start', 'agentvoice.openSettings'],
  callRejected: ['agentvoice.openSettings', 'agentvoice.start'],
  connectionLost: [],
  connectTimeout: ['agentvoice.start', 'agentvoice.openSettings'],
  rateLimited: ['agentvoice.retry', 'agentvoice.openHelp'],
  quotaExceeded: ['agentvoice.openHelp', 'agentvoice.openSettings'],
  accessDenied: ['agentvoice.setKey', 'agentvoice.openHelp', 'agentvoice.openSettings'],
  regionUnsupported: ['agentvoice.openHelp', 'agentvoice.openSettings'],
  modelUnavailable: ['agentvoice.openHelp', 'agentvoice.openSettings'],
  pipelineFailed: ['agentvoice.start', 'agentvoice.openSettings'],
  protocolError: ['agentvoice.openSettings', 'agentvoice.showLog'],
  deviceUnavailable: ['agentvoice.selectMicrophone', 'agentvoice.start'],
  deviceLost: ['agentvoice.selectMicrophone', 'agentvoice.selectSpeaker'],
  microphoneDenied: ['agentvoice.microphoneSettings', 'agentvoice.start'],
  microphoneBusy: ['agentvoice.takeOver'],
  microphoneTaken: ['agentvoice.takeOver'],
  microphoneMuted: ['agentvoice.selectMicrophone'],
  microphoneSilent: ['agentvoice.selectMicrophone'],
  microphoneClips: ['agentvoice.selectMicrophone'],
  microphoneQuiet: ['agentvoice.selectMicrophone'],
  audioFailed: ['agentvoice.start', 'agentvoice.selectMicrophone'],
  recognitionFailed: [],
  recognitionTimeout: [],
  speakerRefused: [],
  speechFailed: [],
  speechMismatch: [],
  voiceRateLimited: ['agentvoice.openSettings'],
  voiceOverWebSocket: ['agentvoice.openSettings'],
  hearsItself: [],
  hearingReplaced: ['agentvoice.openSettings', 'agentvoice.showLog'],
  turnEndReplaced: ['agentvoice.openSettings', 'agentvoice.showLog'],
  detectorReplaced: ['agentvoice.checkSetup', 'agentvoice.showLog'],
  languageUnknown: ['agentvoice.installLocalVoice', 'agentvoice.openSettings'],
  serviceLimited: ['agentvoice.openSettings'],
  voiceParaphrases: ['agentvoice.openSettings'],
  heardRoughly: ['agentvoice.openSettings'],
  callChanged: [],
  noTrustedFolder: ['agentvoice.manageTrust', 'agentvoice.selectAssistant'],
  voiceNotStopped: ['agentvoice.openSettings'],
  wordsLate: ['agentvoice.openSettings'],
  wordsByPipeline: [],
  wordsUnchecked: [],
  vocabularyUnused: ['agentvoice.openSettings'],
  voiceLate: ['agentvoice.openSettings'],
  voiceUnknown: ['agentvoice.openSettings'],
  textOnly: ['agentvoice.selectMicrophone'],
  voiceReplaced: ['agentvoice.openSettings', 'agentvoice.showLog'],
  engineMissing: ['agentvoice.installLocalVoice', 'agentvoice.showLog', 'agentvoice.openSettings'],
  budgetNearlySpent: ['agentvoice.openSettings'],
  budgetSpent: ['agentvoice.openSettings'],
  priceUnknown: ['agentvoice.openSettings'],
  watchRefused: [],
  readOnly: [],
  recordDamaged: [],
  recordUnavailable: ['agentvoice.showLog', 'agentvoice.restartDaemon'],
  daemonMissing: ['agentvoice.openSettings', 'agentvoice.showLog'],
  daemonPlatform: ['agentvoice.updateExtension', 'agentvoice.openSettings'],
  daemonProtocol: ['agentvoice.updateExtension', 'agentvoice.openSettings'],
  daemonBroken: ['agentvoice.restartDaemon', 'agentvoice.showLog'],
  daemonGivenUp: ['agentvoice.restartDaemon', 'agentvoice.showLog'],
  untrusted: ['agentvoice.manageTrust'],
  noSelection: [],
  unexpected: ['agentvoice.showLog', 'agentvoice.exportDiagnostics'],
};

/** System settings page for microphone access; Linux has none. */
export function microphoneSettings(platform: string): string | undefined {
  return platform === 'darwin' ? 'x-apple.systempreferences:com.apple.preference.security?Privacy_Microphone'
    : platform === 'win32' ? 'ms-settings:privacy-microphone'
    : undefined;
}

/** Whether a page that the daemon wants to open is allowed: only https URLs. */
export function mayOpen(url: string): boolean {
  try {
    const { protocol, username, password } = new URL(url);
    return protocol === 'https:' && username === '' && password === '';
  } catch {
    return false;
  }
}

/** The buttons for a failure. Retrying requires something to retry, and a provider page requires a page. */
export function remedies(code: ProblemCode, canRetry: boolean, t: Translate, platform = '', hasHelp = false): Remedy[] {
  const titles = TITLES(t);
  return HELPS[code]
    .filter((command) => (command !== 'agentvoice.retry' || canRetry) && (command !== 'agentvoice.openHelp' || hasHelp))
    .map((command) => (command === 'agentvoice.microphoneSettings' && microphoneSettings(platform) === undefined ? 'agentvoice.selectMicrophone' : command))
    .map((command) => ({ command, title: titles[command] ?? command }));
}
