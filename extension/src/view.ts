// What the panel and the status bar show, made from the model by one pure
// function, in the user's words. The page decides nothing.

import { type Call, type Line, type Model, type ProblemCode, isActive } from './model';
import type { State, ToolStatus } from './protocol.gen';
import { type PanelCommand, type Remedy, remedies } from './remedies';
import type { Translate } from './text';

/** Tone is the colour and motion of a state. */
export type Tone = 'ready' | 'busy' | 'listening' | 'speaking' | 'paused' | 'problem';

/** Mic says whether the user can be heard. */
export type Mic = 'closed' | 'open' | 'muted' | 'paused' | 'waitsForKey' | 'wake';

/** Button is an action that is possible now. */
export interface Button {
  readonly command: PanelCommand;
  readonly title: string;
  readonly icon: string;
  /** the keybinding, where there is one */
  readonly pressed?: boolean;
}

/** Piece is something of the editor that would be sent with the next question. */
export interface Piece {
  readonly key: ContextKey;
  readonly title: string;
  readonly detail: string;
  readonly on: boolean;
  /** there is something to send */
  readonly present: boolean;
}

export const CONTEXT_KEYS = ['activeFile', 'selection', 'diagnostics', 'workspaceName'] as const;
export type ContextKey = (typeof CONTEXT_KEYS)[number];

/** Surroundings are what the window adds from outside the conversation. */
export interface Surroundings {
  readonly provider: string;
  readonly model: string;
  readonly microphone: string;
  readonly speaker: string;
  readonly pushToTalk: boolean;
  /** the words that begin a conversation; empty where nobody listens for them */
  readonly wakePhrase: string;
  readonly context: readonly Piece[];
  readonly trusted: boolean;
}

/** ShownLine is a line of the transcript as the panel shows it. */
export interface ShownLine {
  readonly id: number;
  readonly kind: Line['kind'];
  readonly who: 'user' | 'assistant' | 'none';
  readonly name: string;
  readonly text: string;
  readonly final: boolean;
  /** of an answer that was interrupted: the characters that were heard */
  readonly heard?: number;
  readonly note?: string;
  readonly call?: ShownCall;
  readonly time: string;
}

/** ShownCall is a tool call as the panel shows it: exactly what would run. */
export interface ShownCall {
  readonly callId: string;
  readonly name: string;
  readonly input: string;
  readonly status: ToolStatus;
  readonly statusText: string;
  readonly question: string;
  readonly destructive: boolean;
}

/** View is all that the panel shows but the lines of the transcript. */
export interface View {
  readonly state: State;
  readonly seq: number;
  readonly tone: Tone;
  /** the sign of the state, for the eye only */
  readonly glyph: string;
  readonly label: string;
  readonly hint: string;
  readonly mic: Mic;
  readonly micText: string;
  readonly active: boolean;
  readonly primary: Button | undefined;
  readonly buttons: readonly Button[];
  readonly hold: { readonly down: boolean } | undefined;
  readonly caption: { readonly text: string; readonly heard: number; readonly audible: boolean } | undefined;
  readonly approval: ShownCall | undefined;
  readonly problem:
    | { readonly code: ProblemCode; readonly message: string; readonly detail: string; readonly remediation: string; readonly then: readonly string[]; readonly remedies: readonly Remedy[] }
    | undefined;
  readonly notice: { readonly message: string; readonly severity: string; readonly progress?: number } | undefined;
  readonly queue: { readonly count: number; readonly text: string };
  readonly facts: Facts;
  readonly context: readonly Piece[];
  readonly contextOff: string;
}

/** Facts are in the panel's last lines. */
export interface Facts {
  readonly provider: string;
  readonly session: string;
  readonly model: string;
  readonly microphone: string;
  readonly speaker: string;
}

/** StatusItem is the status bar's entry. */
export interface StatusItem {
  readonly text: string;
  readonly tooltip: string;
  readonly accessible: string;
  readonly alarm: 'none' | 'warning' | 'error';
}

const TONES: Record<State, Tone> = {
  idle: 'ready',
  preparing: 'busy',
  listening: 'listening',
  processing: 'busy',
  waitingForCopilot: 'busy',
  speaking: 'speaking',
  interrupted: 'listening',
  suspended: 'paused',
  faulted: 'problem',
  terminating: 'busy',
};

/** The label as the daemon made it, before there is a daemon in the editor's own words. */
export function labelOf(m: Model, t: Translate): { glyph: string; label: string } {
  const whole = m.daemon === 'failed' ? `▲ ${t('Not available')}`
    : m.daemon === 'restarting' ? `⋯ ${t('Restarting')}`
    : m.starting && !isActive(m.snapshot) ? `⋯ ${t('Starting')}`
    : (m.snapshot?.localizedLabel ?? `○ ${t('Ready')}`);
  const [glyph = '', ...words] = whole.split(' ');
  return words.length === 0 ? { glyph: '', label: whole } : { glyph, label: words.join(' ') };
}

/** What the states of 002 say to eye and ear. */
export function present(m: Model, around: Surroundings, t: Translate): View {
  const state: State = m.snapshot?.state ?? 'idle';
  const active = isActive(m.snapshot);
  const mic = micOf(m, around);
  const busy = m.starting || m.daemon === 'starting' || m.daemon === 'restarting';
  return {
    state,
    seq: m.snapshot?.seq ?? 0,
    tone: m.daemon === 'failed' ? 'problem' : busy && !active ? 'busy' : TONES[state],
    ...labelOf(m, t),
    hint: hintOf(m, around, mic, t),
    mic,
    micText: micText(mic, m, around, t),
    active,
    primary: active ? undefined : primaryOf(m, t),
    buttons: active ? buttonsOf(m, t) : state === 'faulted' ? [{ command: 'agentvoice.end', title: t('End'), icon: 'end' }] : [],
    hold: active && around.pushToTalk ? { down: m.held } : undefined,
    caption:
      m.caption === undefined || m.caption.text === ''
        ? undefined
        : { text: m.caption.text, heard: m.caption.heardChars, audible: state === 'speaking' && !m.speechPaused },
    approval: m.approval === undefined ? undefined : shownCall(m.approval, t),
    problem:
      m.problem === undefined
        ? undefined
        : {
            code: m.problem.code,
            ...parts(m.problem.message),
            remediation: m.problem.remediation,
            then: m.problem.then,
            remedies: remedies(m.problem.code, m.canRetry, t),
          },
    notice: noticeOf(m),
    queue: queueOf(m, t),
    facts: factsOf(m, around, t),
    context: around.context.filter((p) => p.present),
    contextOff: around.trusted ? '' : t('This workspace is not trusted: nothing of it is sent.'),
  };
}

/** The daemon's messages name the particulars in brackets behind the sentence. */
function parts(message: string): { message: string; detail: string } {
  const m = /^(.*?[.!?。])\s*[(（](.*)[)）]\s*$/s.exec(message);
  return { message: m?.[1] ?? message, detail: m?.[2] ?? '' };
}

function micOf(m: Model, around: Surroundings): Mic {
  switch (m.snapshot?.state) {
    case 'listening':
    case 'processing':
    case 'waitingForCopilot':
    case 'speaking':
    case 'interrupted':
      return m.muted ? 'muted' : around.pushToTalk && !m.held ? 'waitsForKey' : 'open';
    case 'suspended':
      return 'paused';
    case 'idle':
      return around.wakePhrase === '' ? 'closed' : 'wake';
    default:
      return 'closed';
  }
}

function micText(mic: Mic, m: Model, around: Surroundings, t: Translate): string {
  switch (mic) {
    case 'open':
      return t('Microphone is on');
    case 'muted':
      return m.mutedBecause === 'locked' ? t('Muted: the screen was locked') : t('Microphone is muted');
    case 'waitsForKey':
      return t('Microphone waits for the key');
    case 'paused':
      return t('Microphone is paused');
    case 'wake':
      return t('Microphone listens for “{0}”', around.wakePhrase);
    default:
      return t('Microphone is off');
  }
}

function hintOf(m: Model, around: Surroundings, mic: Mic, t: Translate): string {
  if (m.daemon === 'failed') {
    return '';
  }
  if (m.approval !== undefined) {
    return m.approval.destructive ? t('Name the action, or click.') : t('Say yes or no, or click.');
  }
  switch (m.snapshot?.state) {
    case undefined:
    case 'idle':
      return m.starting || m.daemon === 'starting' || m.daemon === 'restarting' ? t('One moment.')
        : mic === 'wake' ? t('Say “{0}”, or press Start.', around.wakePhrase)
        : t('Press Start, then just speak.');
    case 'listening':
      return mic === 'muted' ? t('You cannot be heard.')
        : around.pushToTalk ? t('Hold the button while you speak.')
        : t('Speak, take your time.');
    case 'processing':
    case 'waitingForCopilot':
      return t('Say stop to drop the question.');
    case 'speaking':
      return m.speechPaused ? t('The voice is paused.')
        : mic === 'muted' ? t('You cannot be heard.')
        : around.pushToTalk ? '' : t('Just speak to interrupt.');
    case 'suspended':
      return m.snapshot.metadata.reason === 'user' ? t('You paused the conversation.') : t('It goes on by itself.');
    case 'faulted':
      return t('It tries again by itself, or start again now.');
    default:
      return '';
  }
}

function primaryOf(m: Model, t: Translate): Button {
  // It can always be pressed: a start that hangs or failed is tried anew.
  return m.starting || m.daemon === 'starting' || m.daemon === 'restarting'
    ? { command: 'agentvoice.start', title: t('Starting…'), icon: 'mic' }
    : { command: 'agentvoice.start', title: m.snapshot?.state === 'faulted' ? t('Start again') : t('Start conversation'), icon: 'mic' };
}

function buttonsOf(m: Model, t: Translate): Button[] {
  const state = m.snapshot?.state;
  const suspended = state === 'suspended';
  const busy = state === 'speaking' || state === 'processing' || state === 'waitingForCopilot' || state === 'interrupted';
  const list: Button[] = [];
  if (!suspended) {
    list.push({
      command: 'agentvoice.toggleMute',
      title: m.muted ? t('Unmute') : t('Mute'),
      icon: m.muted ? 'mic-off' : 'mic',
      pressed: m.muted,
    });
  }
  if (busy) {
    list.push({ command: 'agentvoice.stopSpeaking', title: t('Stop'), icon: 'stop' });
  }
  if (state === 'speaking' || m.speechPaused) {
    list.push({
      command: 'agentvoice.pauseSpeech',
      title: m.speechPaused ? t('Continue') : t('Hold on'),
      icon: m.speechPaused ? 'play' : 'pause',
      pressed: m.speechPaused,
    });
  } else if (!busy) {
    list.push({
      command: 'agentvoice.pause',
      title: suspended ? t('Continue') : t('Pause'),
      icon: suspended ? 'play' : 'pause',
      pressed: suspended,
    });
  }
  if (m.canRetry && !busy) {
    list.push({ command: 'agentvoice.retry', title: t('Try again'), icon: 'retry' });
  }
  list.push({ command: 'agentvoice.end', title: t('End'), icon: 'end' });
  return list;
}

function noticeOf(m: Model): View['notice'] {
  const n = m.notice;
  if (n === undefined || n.kind === 'resync' || (n.code !== undefined && n.code === m.problem?.code) || n.progress === 1) {
    return undefined;
  }
  return n.progress === undefined
    ? { message: n.message, severity: n.severity }
    : { message: n.message, severity: n.severity, progress: n.progress };
}

function queueOf(m: Model, t: Translate): View['queue'] {
  const count = m.snapshot?.queue.count ?? 0;
  return { count, text: count === 0 ? '' : count === 1 ? t('1 question waits for its turn') : t('{0} questions wait for their turn', count) };
}

function factsOf(m: Model, around: Surroundings, t: Translate): Facts {
  const provider = m.session?.provider ?? around.provider;
  const names: Record<string, string> = {
    local: t('On this machine'),
    openai: 'OpenAI',
    azure: 'Azure OpenAI',
    localai: 'LocalAI',
  };
  const lost = m.snapshot?.state === 'suspended' && m.snapshot.metadata.reason === 'connection';
  const session =
    m.session?.renewing === true ? t('being renewed')
    : lost ? t('reconnecting')
    : isActive(m.snapshot) ? t('connected')
    : t('not connected');
  return { provider: names[provider] ?? provider, session, model: around.model, microphone: around.microphone, speaker: around.speaker };
}

/** Makes lines as they are shown, each once: lines are values, and most stay as they are. */
export function shownLines(t: Translate): (lines: readonly Line[]) => ShownLine[] {
  const known = new WeakMap<Line, ShownLine>();
  return (lines) =>
    lines.map((l) => {
      const shown = known.get(l) ?? shownLine(l, t);
      known.set(l, shown);
      return shown;
    });
}

/** A line as it is shown. */
export function shownLine(l: Line, t: Translate): ShownLine {
  const characters = [...l.text]; // the daemon counts characters, a string in JavaScript is of halves of them
  const cut = l.cutOff === true && (l.heardChars === undefined || l.heardChars < characters.length);
  const note =
    l.failed !== undefined ? t('Not answered')
    : !cut ? undefined
    : l.heardChars === 0 ? t('Not heard')
    : t('Interrupted');
  return {
    id: l.id,
    kind: l.kind,
    who: l.kind === 'divider' ? 'none' : l.role,
    name: l.role === 'user' ? t('You') : t('Copilot'),
    text: l.text,
    final: l.final,
    time: new Date(l.at).toISOString(),
    ...(cut && l.heardChars !== undefined ? { heard: wordEnd(l.text, characters.slice(0, l.heardChars).join('').length) } : {}),
    ...(note === undefined ? {} : { note }),
    ...(l.call === undefined ? {} : { call: shownCall(l.call, t) }),
  };
}

/** The mark is not put into a word: one that was begun is shown as heard. */
function wordEnd(text: string, at: number): number {
  if (at === 0 || !/[\p{L}\p{N}]$/u.test(text.slice(0, at))) {
    return at;
  }
  // Scripts without spaces have words of their own, and are cut where the voice was.
  return at + (/^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}'’_-]*/u.exec(text.slice(at))?.[0].length ?? 0);
}

function shownCall(call: Call, t: Translate): ShownCall {
  const texts: Record<ToolStatus, string> = {
    requested: t('Wanted'),
    waitingForApproval: t('Waits for you'),
    running: t('Runs'),
    completed: t('Done'),
    failed: t('Failed'),
    rejected: t('Not allowed'),
    cancelled: t('Cancelled'),
  };
  return {
    callId: call.callId,
    name: call.name,
    input: call.input === undefined ? '' : typeof call.input === 'string' ? call.input : JSON.stringify(call.input, null, 2),
    status: call.status,
    statusText: texts[call.status],
    question: call.question ?? '',
    destructive: call.destructive,
  };
}

const STATUS_ICONS: Record<Mic, string> = {
  closed: '$(mic)',
  open: '$(mic-filled)',
  muted: '$(mute)',
  paused: '$(debug-pause)',
  waitsForKey: '$(mic)',
  wake: '$(mic-filled)',
};

/** The status bar's entry. */
export function statusOf(m: Model, around: Surroundings, t: Translate): StatusItem {
  const view = present(m, around, t);
  const idle = !view.active && view.tone === 'ready';
  const what = view.approval !== undefined ? t('Allow {0}?', view.approval.name) : view.label;
  const icon = view.tone === 'problem' ? '$(warning)' : view.tone === 'busy' && !view.active ? '$(loading~spin)' : STATUS_ICONS[view.mic];
  const parts = [`Agent Voice: ${what}`, view.micText, ...(view.problem === undefined ? [] : [view.problem.message])];
  return {
    text: idle ? `${icon} Agent Voice` : `${icon} ${what}`,
    tooltip: [...parts, view.active ? t('Click to show the conversation.') : t('Click to start a conversation.')].join('\n'),
    accessible: parts.join(', '),
    alarm: view.tone === 'problem' ? 'error' : view.approval !== undefined ? 'warning' : 'none',
  };
}
