// The contents of the panel and the status bar, computed from the model by one pure function, in the user's
// language. The page makes no decisions.

import { cutNote } from './cut';
import { type Mic, isDeaf, micText, phraseOf } from './mic';
import { type Model, isActive } from './model';
import { type Part, inOrder, placeIn } from './parts';
import type { ProblemCode } from './problem';
import type { State } from './protocol.gen';
import { type PanelCommand, type Remedy, remedies } from './remedies';
import type { Translate } from './text';
import { type ShownCall, shownCall } from './shownCall';
import type { Line } from './transcript';

/** Tone is the colour and motion of a state. */
export type Tone = 'ready' | 'busy' | 'listening' | 'speaking' | 'paused' | 'problem';

/** Button is an action. It keeps its position in every state. */
export interface Button {
  readonly command: PanelCommand;
  readonly title: string;
  readonly icon: string;
  /** the action is available now */
  readonly enabled: boolean;
  /** state of a toggle */
  readonly pressed?: boolean;
}

/** Piece is editor content that would be sent with the next question. */
export interface Piece {
  readonly key: ContextKey;
  readonly title: string;
  readonly detail: string;
  readonly on: boolean;
  /** there is content to send */
  readonly present: boolean;
}

export const CONTEXT_KEYS = ['activeFile', 'selection', 'diagnostics', 'workspaceName'] as const;
export type ContextKey = (typeof CONTEXT_KEYS)[number];

/** Check is a component that a conversation needs, and whether it works. */
export interface Check {
  readonly key: 'microphone' | 'voice' | 'assistant';
  readonly title: string;
  readonly detail: string;
  /** undefined until it was checked */
  readonly state: 'works' | 'unknown' | 'missing';
  /** the command that selects another one */
  readonly command: PanelCommand;
}

/** Surroundings are the window's facts from outside the conversation. */
export interface Surroundings {
  readonly provider: string;
  readonly model: string;
  readonly microphone: string;
  readonly speaker: string;
  readonly context: readonly Piece[];
  readonly trusted: boolean;
  /** where the open folders are */
  readonly place?: 'here' | 'remote' | 'none';
  /** states are announced by tones, and no voice speaks */
  readonly tones?: boolean;
  readonly silent?: boolean;
  /** the name of who answers instead of the editor's assistant; empty if that one does */
  readonly agent?: string;
  /** of the editor's model */
  readonly vendor?: string;
  /** the results of the setup check */
  readonly found?: { readonly microphone?: boolean; readonly voice?: boolean; readonly assistant?: boolean };
  /** the shortcut that starts a conversation, as the editor displays it */
  readonly startKey?: string;
  /** process.platform */
  readonly platform?: string;
  /** a typed message that could not be sent */
  readonly unsent?: string;
}

/** ShownLine is a line of the transcript as the panel shows it. */
export interface ShownLine {
  readonly id: number;
  readonly kind: Line['kind'];
  readonly who: 'user' | 'assistant' | 'none';
  readonly name: string;
  readonly text: string;
  readonly final: boolean;
  /** of an interrupted answer: how much the user heard, in UTF-16 units; -1 if the voice stopped before this line */
  readonly heard?: number;
  readonly note?: string;
  /** names the correction of the user's words, which can be undone */
  readonly correction?: string;
  readonly call?: ShownCall;
  readonly time: string;
}

/** View is everything that the panel shows except the transcript's lines. */
export interface View {
  readonly state: State;
  readonly seq: number;
  readonly tone: Tone;
  /** the icon of the state; decorative */
  readonly glyph: string;
  readonly label: string;
  readonly hint: string;
  readonly mic: Mic;
  readonly micText: string;
  /** states are announced by tones */
  readonly tones: boolean;
  readonly active: boolean;
  /** starts a conversation if none is running */
  readonly primary: Button | undefined;
  /** the same buttons in the same order in every state */
  readonly buttons: readonly Button[];
  readonly hold: { readonly down: boolean } | undefined;
  /** the segment being spoken: its range in a line of the transcript, in UTF-16 units; the text before it was heard */
  readonly spoken: { readonly line: number; readonly from: number; readonly to: number } | undefined;
  /** its text, shown separately if it is in no line and not the question of the approval */
  readonly caption: { readonly text: string; readonly heard: number; readonly audible: boolean; readonly apart: boolean } | undefined;
  readonly approval: ShownCall | undefined;
  readonly problem:
    | { readonly code: ProblemCode; readonly message: string; readonly detail: string; readonly remediation: string; readonly then: readonly string[]; readonly remedies: readonly Remedy[] }
    | undefined;
  readonly notice: { readonly message: string; readonly severity: string; readonly progress?: number } | undefined;
  readonly queue: { readonly count: number; readonly text: string };
  readonly facts: Facts;
  readonly context: readonly Piece[];
  readonly contextOff: string;
  /** what the assistant cannot do in this window; empty if nothing is left out */
  readonly limits: string;
  /** what a conversation needs, shown before the first one */
  readonly checks: readonly Check[];
  /** who answers */
  readonly assistant: string;
  readonly startKey: string;
  /** a typed message that could not be sent, for the composer */
  readonly unsent: string;
}

/** Facts describes devices and services. */
export interface Facts {
  readonly provider: string;
  readonly session: string;
  /** the model or agent that answers */
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

/** The daemon's label, or the editor's own text before the daemon runs. */
export function labelOf(m: Model, t: Translate): { glyph: string; label: string } {
  const whole = m.daemon === 'failed' ? `▲ ${t('Not available')}`
    : m.daemon === 'restarting' ? `⋯ ${t('Restarting')}`
    : m.starting && !isActive(m.snapshot) ? `⋯ ${t('Starting')}`
    : m.snapshot?.state === 'listening' && m.snapshot.microphone.muted && m.approval === undefined ? `○ ${t('Muted')}`
    : (m.snapshot?.localizedLabel ?? `○ ${t('Ready')}`);
  const [glyph = '', ...words] = whole.split(' ');
  return words.length === 0 ? { glyph: '', label: whole } : { glyph, label: words.join(' ') };
}

/** How each state of 002 looks and sounds. */
export function present(m: Model, around: Surroundings, t: Translate): View {
  const state: State = m.snapshot?.state ?? 'idle';
  const active = isActive(m.snapshot);
  const mic = micOf(m);
  const busy = m.starting || m.daemon === 'starting' || m.daemon === 'restarting';
  return {
    state,
    seq: m.snapshot?.seq ?? 0,
    tone: m.daemon === 'failed' ? 'problem' : busy && !active ? 'busy' : (state === 'speaking' && voicePaused(m)) || (state === 'listening' && mic === 'muted') ? 'paused' : TONES[state],
    ...labelOf(m, t),
    hint: hintOf(m, mic, t),
    mic,
    micText: micText(mic, m, t),
    tones: around.tones === true,
    active,
    primary: active ? undefined : primaryOf(m, t),
    buttons: buttonsOf(m, t),
    hold: active && waitsForKey(m) ? { down: m.held } : undefined,
    spoken: spokenOf(m),
    caption:
      m.caption === undefined || m.caption.text === ''
        ? undefined
        : {
            text: m.caption.text, heard: m.caption.heardChars, audible: state === 'speaking' && !voicePaused(m) && around.silent !== true,
            apart: m.caption.line === undefined && !asked(m, m.caption.text.trim()),
          },
    approval: m.approval === undefined ? undefined : shownCall(m.approval, t),
    problem:
      m.problem === undefined
        ? undefined
        : {
            code: m.problem.code,
            ...parts(m.problem.message),
            remediation: m.problem.remediation,
            then: m.problem.then,
            remedies: remedies(m.problem.code, m.canRetry, t, around.platform, m.problem.hasHelp),
          },
    notice: noticeOf(m),
    queue: queueOf(m, t),
    facts: factsOf(m, around, t),
    context: around.context.filter((p) => p.present),
    checks: checksOf(m, around, t),
    assistant: assistantOf(around, t),
    startKey: around.startKey ?? '',
    unsent: around.unsent ?? '',
    limits: around.place === 'remote' ? t('Remote window: files can be read and changed, but no commands run there.')
      : around.place === 'none' ? t('No folder is open: there are no files to read or change, and no commands run.') : '',
    contextOff: around.trusted ? '' : t('This workspace is not trusted: nothing from it is sent.'),
  };
}

/** Whether a text is part of a question about a call, which its card shows, or showed until it was decided. */
function asked({ approval, lines }: Model, text: string): boolean {
  return [approval, ...lines.map(({ call }) => call)].some((call) => call?.question?.includes(text));
}

/** The range of the spoken segment in its line. */
function spokenOf({ caption: c, lines }: Model): View['spoken'] {
  if (c?.line === undefined || c.start === undefined) {
    return undefined;
  }
  const heard = [...c.text].slice(0, c.heardChars).join('').length; // the daemon counts code points
  const part = placeIn(lines, c.line, c.start) ?? { id: c.line, from: 0 };
  return { line: part.id, from: c.start + heard - part.from, to: c.start + c.text.length - part.from };
}

/** What a conversation needs. A component named by a failure counts as missing, whatever the check found. */
function checksOf(m: Model, around: Surroundings, t: Translate): Check[] {
  const { found } = around;
  const code = m.problem?.code ?? '';
  const state = (works: boolean | undefined, failed: RegExp): Check['state'] =>
    failed.test(code) ? 'missing' : works === undefined ? 'unknown' : works ? 'works' : 'missing';
  return [
    { key: 'microphone', title: t('Microphone'), detail: around.microphone, state: state(found?.microphone, /^(device|microphone|audio)/), command: 'agentvoice.selectMicrophone' },
    { key: 'voice', title: t('Voice'), detail: providerName(around.provider, t), state: state(found?.voice, /^(daemon|credentials|authentication|engine|speech)/), command: 'agentvoice.openSettings' },
    { key: 'assistant', title: t('Assistant'), detail: answersBy(around), state: state(found?.assistant, /^(copilot|agent)/), command: 'agentvoice.selectAssistant' },
  ];
}

/** The name of who answers: Copilot is one of several vendors of an editor's models. */
export function assistantOf(around: Pick<Surroundings, 'agent' | 'vendor' | 'model'>, t: Translate): string {
  const { agent = '', vendor = 'copilot', model } = around;
  return agent !== '' ? agent : vendor === 'copilot' ? t('Copilot') : model;
}

/** The model or agent that answers. */
function answersBy(around: Surroundings): string {
  return around.agent === undefined || around.agent === '' ? around.model : around.agent;
}

/** The daemon's messages give details in parentheses after the sentence. */
function parts(message: string): { message: string; detail: string } {
  const m = /^(.*?[.!?。])\s*[(（](.*)[)）]\s*$/s.exec(message);
  return { message: m?.[1] ?? message, detail: m?.[2] ?? '' };
}

/** Whether the microphone is open only while the push-to-talk key is held. */
function waitsForKey(m: Model): boolean {
  return m.snapshot?.microphone.mode === 'pushToTalk';
}

/** The daemon's view of the microphone. Without a daemon it is closed and not muted. */
function micOf(m: Model): Mic {
  const { snapshot } = m;
  if (snapshot === undefined) {
    return m.daemon === 'starting' || m.daemon === 'restarting' ? 'starting' : 'closed';
  }
  const { open, muted, wake } = snapshot.microphone;
  return muted ? 'muted'
    : snapshot.state === 'suspended' ? 'paused'
    : wake ? 'wake'
    : !open ? 'closed'
    : waitsForKey(m) && !m.held ? 'waitsForKey' : 'open';
}

function hintOf(m: Model, mic: Mic, t: Translate): string {
  if (m.daemon === 'failed') {
    return '';
  }
  if (m.approval !== undefined && mic === 'muted') {
    return t('Muted, I can’t hear you: click, or unmute.');
  }
  if (m.approval !== undefined) {
    return m.approval.click === true ? t('Click to allow it, or say no.') : m.approval.destructive ? t('Name the action, or click.') : t('Say yes or no, or click.');
  }
  switch (m.snapshot?.state) {
    case undefined:
    case 'idle':
      return m.starting || m.daemon === 'starting' || m.daemon === 'restarting' ? t('One moment.')
        : mic === 'wake' ? t('Say “{0}”, or press Start.', phraseOf(m))
        : mic === 'muted' && phraseOf(m) !== '' ? t('Unmute to start with “{0}”.', phraseOf(m))
        : t('Press Start, then just speak.');
    case 'listening':
      return mic === 'muted' ? t('You’re muted.')
        : isDeaf(m) ? t('You can’t be heard.')
        : waitsForKey(m) ? t('Hold the button while you speak.')
        : t('Go ahead, I’m listening.');
    case 'processing':
    case 'waitingForCopilot':
      return mic === 'muted' ? t('You’re muted.') : t('Say “stop” to cancel.');
    case 'speaking':
      return voicePaused(m) ? t('The voice is paused.')
        : mic === 'muted' ? t('You’re muted.')
        : waitsForKey(m) ? '' : t('Just speak to interrupt.');
    case 'suspended':
      return m.snapshot.paused.conversation ? t('You paused the conversation.') : t('Resumes automatically.');
    case 'faulted':
      return m.snapshot.paused.conversation ? t('You paused the conversation.') : t('Retries automatically, or start again now.');
    default:
      return '';
  }
}

function primaryOf(m: Model, t: Translate): Button {
  // Always enabled, so that a start that hangs or failed can be retried.
  return m.starting || m.daemon === 'starting' || m.daemon === 'restarting'
    ? { command: 'agentvoice.start', title: t('Starting…'), icon: 'mic', enabled: true }
    : { command: 'agentvoice.start', title: m.snapshot?.state === 'faulted' ? t('Start again') : t('Start conversation'), icon: 'mic', enabled: true };
}

/** Whether the user paused the assistant's voice. */
function voicePaused(m: Model): boolean {
  return m.snapshot?.paused.voice === true;
}

/** The actions of a conversation. Buttons are never removed, because the next click would then hit a different one in the same position. */
function buttonsOf(m: Model, t: Translate): Button[] {
  const active = isActive(m.snapshot);
  const state = m.snapshot?.state;
  const suspended = state === 'suspended';
  const busy = state === 'speaking' || state === 'processing' || state === 'waitingForCopilot' || state === 'interrupted';
  const muted = m.snapshot?.microphone.muted === true;
  const paused = voicePaused(m);
  const held = m.snapshot?.paused.conversation === true;
  const speech = active && (state === 'speaking' || paused);
  return [
    { // unmuting is available whenever it is muted, and muting whenever it is listening
      command: 'agentvoice.toggleMute', title: muted ? t('Unmute') : t('Mute'), icon: muted ? 'mic-off' : 'mic',
      enabled: muted || active && !suspended || m.snapshot?.microphone.wake === true, pressed: muted,
    },
    { command: 'agentvoice.stopSpeaking', title: t('Stop'), icon: 'stop', enabled: busy },
    { command: 'agentvoice.end', title: t('End'), icon: 'end', enabled: active || state === 'faulted' },
    {
      command: 'agentvoice.pauseSpeech', title: paused ? t('Continue voice') : t('Pause voice'), icon: paused ? 'speaker' : 'speaker-off',
      enabled: speech, pressed: paused,
    },
    {
      command: 'agentvoice.pause', title: held ? t('Continue') : t('Pause'), icon: held ? 'play' : 'pause',
      enabled: held || active && !busy && !speech, pressed: held,
    },
    { command: 'agentvoice.retry', title: t('Try again'), icon: 'retry', enabled: active && m.canRetry && !busy },
  ];
}

function noticeOf(m: Model): View['notice'] {
  const n = m.notice;
  if (n === undefined || n.kind === 'resync' || (n.code !== undefined && n.code === m.problem?.code) || n.progress === 1 || asked(m, n.message)) { // a question that is asked again
    return undefined;
  }
  return n.progress === undefined
    ? { message: n.message, severity: n.severity }
    : { message: n.message, severity: n.severity, progress: n.progress };
}

function queueOf(m: Model, t: Translate): View['queue'] {
  const count = m.snapshot?.queue.count ?? 0;
  return { count, text: count === 0 ? '' : count === 1 ? t('1 question queued') : t('{0} questions queued', count) };
}

function factsOf(m: Model, around: Surroundings, t: Translate): Facts {
  const provider = m.session?.provider ?? around.provider;
  const lost = m.snapshot?.state === 'suspended' && m.snapshot.metadata.reason === 'connection';
  const session =
    m.session?.renewing === true ? t('being renewed')
    : lost ? t('reconnecting')
    : isActive(m.snapshot) ? t('connected')
    : t('not connected');
  return { provider: providerName(provider, t), session, model: answersBy(around), microphone: around.microphone, speaker: around.speaker };
}

function providerName(provider: string, t: Translate): string {
  const names: Record<string, string> = {
    local: t('On this machine'),
    openai: 'OpenAI',
    live: 'OpenAI Live',
    azure: 'Azure OpenAI',
    localai: 'LocalAI',
  };
  return names[provider] ?? provider;
}

/** Computes the lines to show, once per line: most do not change. */
export function shownLines(t: Translate): (lines: readonly Line[]) => ShownLine[] {
  const known = new WeakMap<Line, ShownLine>();
  const parts = new Map<number, ShownLine>();
  return (lines) =>
    inOrder(lines).map((part) => {
      const shown = known.get(part.line) ?? shownLine(part.line, t);
      known.set(part.line, shown);
      if (part.from === 0 && part.last) {
        return shown;
      }
      const made = shownPart(shown, part);
      const before = parts.get(part.id);
      if (before !== undefined && before.text === made.text && before.final === made.final && before.heard === made.heard && before.note === made.note) {
        return before;
      }
      parts.set(part.id, made);
      return made;
    });
}

/** Part of an answer with its own positions: what was heard of it, and the note at its end. */
function shownPart({ heard, note, ...shown }: ShownLine, { id, from, to, last }: Part): ShownLine {
  return {
    ...shown,
    id,
    text: shown.text.slice(from, to),
    final: shown.final || !last,
    // Mark the point where the voice stopped only once.
    ...(heard === undefined || heard >= to && !last ? {} : { heard: heard < from ? -1 : heard - from }),
    ...(note === undefined || !last ? {} : { note }),
  };
}

/** A line as it is shown. */
export function shownLine(l: Line, t: Translate): ShownLine {
  const characters = [...l.text]; // the daemon counts code points, JavaScript UTF-16 units
  const cut = l.cutOff === true && (l.heardChars === undefined || l.heardChars < characters.length);
  const note =
    l.failed !== undefined ? t('Not answered')
    : l.recognised !== undefined ? t('Heard: {0}', l.recognised)
    : l.cut !== undefined ? cutNote(l.cut, t)
    : !cut ? undefined
    : l.heardChars === 0 ? t('Not heard')
    : t('Interrupted');
  return {
    id: l.id,
    kind: l.kind,
    who: l.kind === 'divider' ? 'none' : l.role,
    name: l.role === 'user' ? t('You') : (l.by ?? t('Copilot')),
    text: l.text,
    final: l.final,
    time: new Date(l.at).toISOString(),
    ...(cut && l.heardChars !== undefined ? { heard: wordEnd(l.text, characters.slice(0, l.heardChars).join('').length) } : {}),
    ...(note === undefined ? {} : { note }),
    ...(l.correction === undefined ? {} : { correction: l.correction }),
    ...(l.call === undefined ? {} : { call: shownCall(l.call, t) }),
  };
}

/** The mark does not split a word: a word that was started counts as heard. */
function wordEnd(text: string, at: number): number {
  if (at === 0 || !/[\p{L}\p{N}]$/u.test(text.slice(0, at))) {
    return at;
  }
  // Scripts without spaces have no word boundary to look for, and are cut where the voice stopped.
  return at + (/^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}'’_-]*/u.exec(text.slice(at))?.[0].length ?? 0);
}

const STATUS_ICONS: Record<Mic, string> = {
  starting: '$(mic)',
  closed: '$(mic)',
  open: '$(mic-filled)',
  muted: '$(mute)',
  paused: '$(debug-pause)',
  waitsForKey: '$(mic)',
  wake: '$(mic-filled)',
};

/** The status bar's entry. */
export function statusOf(view: View, t: Translate): StatusItem {
  const idle = !view.active && view.tone === 'ready';
  const what = view.approval !== undefined ? t('Allow {0}?', view.approval.name) : view.label;
  const icon = view.tone === 'problem' ? '$(warning)' : view.tone === 'busy' && !view.active ? '$(loading~spin)' : STATUS_ICONS[view.mic];
  const parts = [`Agent Voice: ${what}`, view.micText, ...(view.problem === undefined ? [] : [view.problem.message])];
  return {
    text: idle ? `${icon} Agent Voice` : `${icon} ${what}`,
    tooltip: [...parts, t('Assistant: {0}', view.facts.model), view.problem !== undefined ? t('Click to show the problem.') : view.active ? t('Click to end the conversation.') : t('Click to start a conversation.')].join('\n'),
    accessible: parts.join(', '),
    alarm: view.tone === 'problem' ? 'error' : view.approval !== undefined ? 'warning' : 'none',
  };
}
