// The window's knowledge of its conversation: the daemon's last snapshot and the notifications since. It is
// immutable; only reduce creates a new one, and present renders it.

import {
  ERRORS,
  type CaptionParams,
  type ErrorCode,
  type ErrorParams,
  type Microphone,
  type NotificationParams,
  type Role,
  type ServerCapabilities,
  type PausedParams,
  type Queue,
  type SessionParams,
  type Snapshot,
  type StateParams,
  type ToolParams,
  type ToolStatus,
  type TranscriptEntry,
  type TranscriptParams,
  type TranscriptResult,
  type TurnParams,
} from './protocol.gen';

/** State of the daemon's process. */
export type DaemonPhase = 'off' | 'starting' | 'running' | 'restarting' | 'failed';

/** ProblemCode identifies a failure, reported by the daemon or detected by the extension. */
export type ProblemCode =
  | ErrorCode
  | 'daemonMissing'
  | 'daemonPlatform'
  | 'daemonProtocol'
  | 'daemonBroken'
  | 'daemonGivenUp'
  | 'untrusted'
  | 'noSelection'
  | 'unexpected';

/** Problem is a failure to show to the user, root cause first. */
export interface Problem {
  readonly code: ProblemCode;
  readonly message: string;
  readonly remediation: string;
  readonly retryable: boolean;
  /** the daemon offers a help page */
  readonly hasHelp?: boolean | undefined;
  /** less specific failures that followed from it, newest last */
  readonly then: readonly string[];
}

/** Line is an entry of the transcript. */
export interface Line {
  readonly id: number;
  readonly kind: 'speech' | 'tool' | 'divider';
  /** the conversation that it belongs to: turn ids restart in each */
  readonly conversation: number;
  readonly turnId: string;
  readonly role: Role;
  readonly text: string;
  readonly final: boolean;
  /** of words: the seq of their transcript */
  readonly seq?: number;
  /** of the user's words: the original transcript, if names were corrected */
  readonly recognised?: string;
  /** of an answer: the number of characters heard; undefined until reported */
  readonly heardChars?: number;
  /** of an answer: interrupted by the user */
  readonly cutOff?: boolean;
  /** of a question: why it was not answered */
  readonly failed?: ErrorCode;
  /** of a tool call */
  readonly call?: Call;
  /** of a tool call: the answer that requested it, and the length of its text at that time, in UTF-16 units */
  readonly within?: { readonly line: number; readonly at: number };
  /** when it first appeared, in milliseconds since the epoch */
  readonly at: number;
}

/** Call is a tool call with the input that would run. */
export interface Call {
  readonly callId: string;
  readonly name: string;
  readonly status: ToolStatus;
  readonly input?: unknown;
  readonly question?: string;
  readonly destructive: boolean;
  /** executable texts of the input */
  readonly commands?: readonly string[];
  /** cannot be approved by voice */
  readonly click?: boolean;
}

/** Caption is the segment being spoken, and its position in the transcript. */
export interface Caption extends CaptionParams {
  /** id of its line; undefined for text outside of answers, such as a notice */
  readonly line?: number;
  /** its start in that line's text, in UTF-16 units */
  readonly start?: number;
}

export interface Model {
  readonly daemon: DaemonPhase;
  /** restarts since the user last started the daemon */
  readonly restarts: number;
  readonly capabilities: ServerCapabilities;
  readonly snapshot: Snapshot | undefined;
  /** a conversation was requested but has not started yet */
  readonly starting: boolean;
  /** numbers the conversations of this window */
  readonly conversation: number;
  readonly lines: readonly Line[];
  readonly nextLine: number;
  /** the seq of the last cleared words, which stay cleared */
  readonly clearedSeq: number;
  /** ids of unfinished turns */
  readonly openTurns: ReadonlySet<string>;
  readonly caption: Caption | undefined;
  /** the call that awaits approval */
  readonly approval: Call | undefined;
  readonly problem: Problem | undefined;
  readonly notice: NotificationParams | undefined;
  readonly session: SessionParams | undefined;
  /** the push-to-talk key is held */
  readonly held: boolean;
  readonly canRetry: boolean;
}

export const START: Model = {
  daemon: 'off',
  restarts: 0,
  capabilities: {},
  snapshot: undefined,
  starting: false,
  conversation: 0,
  lines: [],
  nextLine: 1,
  clearedSeq: 0,
  openTurns: new Set(),
  caption: undefined,
  approval: undefined,
  problem: undefined,
  notice: undefined,
  session: undefined,
  held: false,
  canRetry: false,
};

/** Actions that change the model. The first group is the daemon's notifications. */
export type Change =
  | { readonly is: 'state'; readonly params: StateParams }
  | { readonly is: 'turn'; readonly params: TurnParams }
  | { readonly is: 'transcript'; readonly params: TranscriptParams; readonly at: number }
  | { readonly is: 'heard'; readonly entries: readonly TranscriptEntry[] }
  | { readonly is: 'rebuilt'; readonly transcript: TranscriptResult; readonly at: number }
  | { readonly is: 'caption'; readonly params: CaptionParams }
  | { readonly is: 'tool'; readonly params: ToolParams; readonly at: number }
  | { readonly is: 'paused'; readonly params: PausedParams }
  | { readonly is: 'queue'; readonly params: Queue }
  | { readonly is: 'session'; readonly params: SessionParams }
  | { readonly is: 'notification'; readonly params: NotificationParams }
  | { readonly is: 'microphone'; readonly params: Microphone }
  | { readonly is: 'error'; readonly params: ErrorParams }
  // the others come from the window
  | { readonly is: 'snapshot'; readonly snapshot: Snapshot }
  | { readonly is: 'daemon'; readonly phase: DaemonPhase; readonly restarts?: number }
  | { readonly is: 'attached'; readonly snapshot: Snapshot; readonly capabilities: ServerCapabilities; readonly at: number; readonly divider?: string }
  | { readonly is: 'starting'; readonly starting: boolean }
  | { readonly is: 'problem'; readonly problem: Omit<Problem, 'then'> }
  | { readonly is: 'dismiss' }
  | { readonly is: 'held'; readonly held: boolean }
  | { readonly is: 'divider'; readonly text: string; readonly at: number }
  | { readonly is: 'clear' }
  | { readonly is: 'restored'; readonly lines: readonly Line[]; readonly clearedSeq: number };

/** Maximum number of transcript entries. */
const KEPT = 400;

/** Whether a conversation is running. A failed one can be restarted. */
export function isActive(snapshot: Snapshot | undefined): boolean {
  return snapshot !== undefined && snapshot.state !== 'idle' && snapshot.state !== 'terminating' && snapshot.state !== 'faulted';
}

/** Whether the microphone is open or about to open. */
export function mayHear(m: Model): boolean {
  const mic = m.snapshot?.microphone;
  return m.starting || isActive(m.snapshot) || mic?.open === true || mic?.wake === true;
}

/** Unspecific failures. They do not replace a more specific cause shown before. */
const GENERAL: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'internalError',
  'startTimeout',
  'suspendTimeout',
  'breakerOpen',
  'sessionFailed',
  'connectionFailed',
  'copilotFailed',
  'copilotTimeout',
  'audioFailed',
  'noConversation',
  'daemonGivenUp',
  'daemonBroken',
  'unexpected',
]);

/** Unspecific failures of parts that every conversation needs, so an earlier failed answer is not their cause. */
const MACHINERY: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'startTimeout',
  'suspendTimeout',
  'breakerOpen',
  'sessionFailed',
  'connectionFailed',
  'audioFailed',
  'daemonGivenUp',
  'daemonBroken',
]);

export function reduce(m: Model, change: Change): Model {
  switch (change.is) {
    case 'state':
      return moved(m, change.params);
    case 'turn':
      return turned(m, change.params);
    case 'transcript':
      return said(m, change.params, change.at);
    case 'heard':
      return { ...m, lines: change.entries.reduce((lines, e) => heard(lines, m.conversation, e), m.lines) };
    case 'rebuilt':
      return rebuilt(m, change.transcript, change.at);
    case 'caption':
      return { ...m, caption: captioned(m, change.params) };
    case 'tool':
      return called(m, change.params, change.at);
    case 'paused':
      return m.snapshot === undefined ? m : { ...m, snapshot: pausedBy(m.snapshot, change.params) };
    case 'queue':
      return m.snapshot === undefined ? m : { ...m, snapshot: { ...m.snapshot, queue: change.params } };
    case 'session':
      return { ...m, session: change.params };
    case 'notification':
      return noticed(m, change.params);
    case 'microphone':
      return m.snapshot === undefined ? m : { ...m, snapshot: { ...m.snapshot, microphone: newerMicrophone(m.snapshot.microphone, change.params) } };
    case 'error':
      return { ...m, problem: withProblem(m.problem, change.params), starting: false };
    case 'snapshot':
      return { ...m, snapshot: newer(m.snapshot, change.snapshot) };
    case 'daemon':
      return change.phase === 'running'
        ? { ...m, daemon: 'running' }
        : { ...m, ...GONE, daemon: change.phase, restarts: change.restarts ?? m.restarts };
    case 'attached':
      return attached(m, change);
    case 'starting':
      return change.starting
        ? { ...m, starting: true, problem: undefined, notice: undefined }
        : { ...m, starting: false };
    case 'problem':
      return { ...m, problem: withProblem(m.problem, change.problem), starting: false };
    case 'dismiss':
      return { ...m, problem: undefined, notice: undefined };
    case 'held':
      return { ...m, held: change.held };
    case 'divider':
      return divided(m, change.text, change.at);
    case 'clear':
      return {
        ...m,
        lines: m.lines.filter((l) => !l.final && l.conversation === m.conversation),
        clearedSeq: Math.max(m.clearedSeq, ...m.lines.map((l) => (l.final && l.conversation === m.conversation ? (l.seq ?? 0) : 0))),
      };
    case 'restored': {
      const ids = new Set(m.lines.map((l) => l.id));
      return { ...m, lines: [...change.lines.filter((l) => !ids.has(l.id)), ...m.lines].sort((a, b) => a.id - b.id).slice(-KEPT), clearedSeq: change.clearedSeq };
    }
  }
}

/** Merges everything known about a failure into one problem with its remedies. */
function noticed(m: Model, p: NotificationParams): Model {
  if (p.snapshot !== undefined) {
    return resynced(m, p.snapshot);
  }
  if (p.code === undefined || p.severity === 'info') {
    return { ...m, notice: p };
  }
  const known = m.problem?.code === p.code ? m.problem : undefined; // from agentvoice.error, which has more details
  const problem = { code: p.code, message: known?.message ?? p.message, remediation: known?.remediation ?? '', retryable: ERRORS[p.code].retryable };
  return { ...m, problem: withProblem(m.problem, problem) };
}

/** The window missed notifications: drops what contradicts the snapshot. 'rebuilt' restores the text. */
function resynced(m: Model, snapshot: Snapshot): Model {
  const over = !isActive(snapshot);
  const pending = snapshot.metadata.pendingActions ?? [];
  return {
    ...m,
    snapshot,
    starting: false,
    caption: snapshot.state === 'speaking' || snapshot.state === 'interrupted' ? m.caption : undefined,
    approval: m.approval !== undefined && pending.includes(m.approval.callId) ? m.approval : undefined,
    openTurns: new Set(snapshot.turnId === undefined ? [] : [snapshot.turnId]),
    held: over ? false : m.held,
    canRetry: over ? false : m.canRetry,
  };
}

/** Whether the lines hold the words that a transcript continues. */
export function hasContinued(m: Model, p: TranscriptParams): boolean {
  return p.after === undefined || m.lines.some((l) => l.seq === p.after && l.conversation === m.conversation);
}

/** Rebuilds the live conversation's lines from the daemon's state after the window missed notifications. */
function rebuilt(m: Model, { entries, tools }: TranscriptResult, at: number): Model {
  const known = m.lines.filter((l) => l.kind === 'speech' && l.conversation === m.conversation);
  const last = Math.max(0, ...known.map((l) => l.seq ?? 0));
  // Turn ids restart with each conversation, so an unknown id is a new turn.
  const another = known.length > 0 && entries.every((e) => e.seq > last) && entries.some((e) => e.turnId === known[0]?.turnId);
  let next: Model = another ? { ...m, conversation: m.conversation + 1, lines: m.lines.map((l) => (l.final ? l : { ...l, final: true })) } : m;
  const taken = new Set<number>();
  let place = another || known.length === 0 ? next.lines.length : 0; // insertion index for new lines
  for (const e of entries.filter((e) => e.seq > m.clearedSeq)) {
    const i = next.lines.findIndex(
      (l) =>
        l.kind === 'speech' && l.conversation === next.conversation && l.role === e.role && !taken.has(l.id)
        && (l.turnId === e.turnId || (!l.final && e.role === 'user')),
    );
    const old = next.lines[i];
    const words = {
      turnId: e.turnId, text: e.text, final: e.final || old?.final === true, seq: e.seq, ...recognised(e), ...(e.heardChars === undefined ? {} : { heardChars: e.heardChars }),
    };
    if (old === undefined) {
      const line: Line = { kind: 'speech', role: e.role, at, ...words, id: next.nextLine, conversation: next.conversation };
      next = { ...next, lines: next.lines.toSpliced(place, 0, line), nextLine: next.nextLine + 1 };
      taken.add(line.id);
      place++;
    } else {
      next = { ...next, lines: next.lines.with(i, { ...old, ...words }) };
      taken.add(old.id);
      place = i + 1;
    }
  }
  // Words that the daemon does not have were retracted.
  next = { ...next, lines: next.lines.filter((l) => l.kind !== 'speech' || l.final || l.conversation !== next.conversation || taken.has(l.id)) };
  for (const call of tools ?? []) {
    next = called(next, call, at);
  }
  return { ...next, lines: next.lines.slice(-KEPT) };
}

/** Clears state that is invalid once the daemon is gone. */
const GONE = {
  snapshot: undefined,
  session: undefined,
  caption: undefined,
  approval: undefined,
  held: false,
  canRetry: false,
  openTurns: new Set<string>(),
} as const;

function attached(m: Model, c: Change & { is: 'attached' }): Model {
  const next: Model = {
    ...m,
    ...GONE,
    daemon: 'running',
    snapshot: c.snapshot,
    capabilities: c.capabilities,
    conversation: m.conversation + 1,
    clearedSeq: 0,
    // Work in progress ended with the daemon.
    lines: m.lines.map((l) => (l.final ? l : { ...l, final: true, cutOff: l.role === 'assistant' })),
  };
  return c.divider !== undefined && m.lines.length > 0 ? divided(next, c.divider, c.at) : next;
}

/** The response to a request may arrive after the notification of a later step. */
function newer(now: Snapshot | undefined, then: Snapshot): Snapshot {
  if (now === undefined) {
    return then;
  }
  return { ...(now.seq > then.seq ? now : then), microphone: newerMicrophone(now.microphone, then.microphone) };
}

function pausedBy(snapshot: Snapshot, p: PausedParams): Snapshot {
  return { ...snapshot, localizedLabel: p.localizedLabel, paused: { conversation: p.conversation, voice: p.voice } };
}

function newerMicrophone(now: Microphone, then: Microphone): Microphone {
  return now.seq > then.seq ? now : then;
}

/** The microphone before the first report of a daemon. */
const UNKNOWN: Microphone = { open: false, muted: false, wake: false, mode: 'automatic', seq: -1 };

function moved(m: Model, p: StateParams): Model {
  const { previousState, substate, turnId, since, localizedLabel, queue, seq, state } = p;
  const before = m.snapshot;
  const snapshot: Snapshot = {
    state,
    previousState,
    since,
    localizedLabel,
    queue,
    seq,
    paused: before?.paused ?? { conversation: false, voice: false }, // a notification of a change follows
    metadata: {
      sessionId: p.metadata.sessionId ?? before?.metadata.sessionId ?? '',
      ...(p.metadata.reason === undefined ? {} : { reason: p.metadata.reason }),
      ...(p.metadata.pendingActions === undefined ? {} : { pendingActions: p.metadata.pendingActions }),
      ...(p.metadata.retryCount === undefined ? {} : { retryCount: p.metadata.retryCount }),
    },
    session: before?.session ?? { state: 'inactive' },
    connection: before?.connection ?? { state: 'disconnected', epoch: 0 },
    microphone: before?.microphone ?? UNKNOWN,
    ...(substate === undefined ? {} : { substate }),
    ...(turnId === undefined ? {} : { turnId }),
  };
  const begins = before?.state === 'idle' && state === 'preparing';
  const over = state === 'idle' || state === 'terminating';
  return {
    ...m,
    snapshot,
    conversation: begins ? m.conversation + 1 : m.conversation,
    starting: false, // any transition ends a pending start
    caption: state === 'speaking' || state === 'interrupted' ? m.caption : undefined,
    approval: over ? undefined : m.approval,
    held: over ? false : m.held,
    canRetry: over ? false : m.canRetry,
    lines: state === 'idle' && m.lines.some((l) => !l.final) ? m.lines.map((l) => (l.final ? l : { ...l, final: true })) : m.lines,
    notice: begins ? undefined : m.notice,
    // A working conversation resolves what prevented it; a failed answer stays until the next question.
    problem: works(state, p.cause, m.problem) ? undefined : interrupts(p) ? cleared(m.problem) : m.problem,
  };
}

/** Whether a different problem blocks the conversation: it replaces the one of the last failed answer. */
function interrupts(p: StateParams): boolean {
  return p.state === 'suspended' && p.metadata.reason !== 'user';
}

/** Whether a transition shows that the problem is resolved. */
function works(state: Snapshot['state'], cause: string, problem: Problem | undefined): boolean {
  return (state === 'listening' && cause === 'audio.ready' && problem?.code.startsWith('copilot') !== true)
    || (cause === 'device.restored' && problem?.code === 'deviceLost');
}

function turned(m: Model, p: TurnParams): Model {
  if (p.event === 'turn-started') {
    return { ...m, openTurns: new Set(m.openTurns).add(p.turnId), canRetry: false, problem: cleared(m.problem), notice: undefined };
  }
  const openTurns = new Set(m.openTurns);
  openTurns.delete(p.turnId);
  const failed = p.outcome === 'failed';
  // Words spoken meanwhile wait for their own turn, although they arrived in this one.
  const question = m.lines.find((l) => l.turnId === p.turnId && l.conversation === m.conversation && l.kind === 'speech' && l.role === 'user');
  const lines = m.lines.map((l): Line => {
    if (l.turnId !== p.turnId || l.conversation !== m.conversation || l.kind !== 'speech') {
      return l;
    }
    if (l.role === 'assistant') {
      const cut = p.event === 'turn-interrupted' || p.outcome === 'interrupted';
      return cut ? { ...l, final: true, cutOff: true } : l.final ? l : { ...l, final: true };
    }
    // Interim words belong to the next turn.
    return failed && l === question ? { ...l, final: true, failed: p.code ?? 'internalError' } : l;
  });
  if (p.outcome === 'answered') {
    return { ...m, lines: question === undefined ? retried(lines, m.conversation) : lines, openTurns, canRetry: false, problem: keptFromAnswer(m.problem) ? undefined : m.problem };
  }
  return { ...m, lines, openTurns, canRetry: failed || m.canRetry };
}

/** A turn without words of its own repeats the failed question, which is now answered. */
function retried(lines: readonly Line[], conversation: number): readonly Line[] {
  const i = lines.findLastIndex((l) => l.kind === 'speech' && l.role === 'user' && l.conversation === conversation);
  const line = lines[i];
  if (line?.failed === undefined) {
    return lines;
  }
  const { failed: _, ...answered } = line;
  return lines.with(i, answered);
}

/** Whether an answer shows that the problem is resolved, such as an exhausted quota. A tool or voice problem describes what that answer lacks, so it stays. */
function keptFromAnswer(problem: Problem | undefined): boolean {
  return problem !== undefined && /^(copilot|answer|rateLimited)/.test(problem.code);
}

/** The next question clears an answer's problem; an infrastructure problem stays until the part works. */
function cleared(problem: Problem | undefined): Problem | undefined {
  return problem !== undefined && ofAnswer(problem.code) ? undefined : problem;
}

function ofAnswer(code: ProblemCode): boolean {
  return /^(copilot|answer|rateLimited|tool|recognition|speech|utterance|text|queue|model|nothing|noSelection|invalid)/.test(code);
}

function said(m: Model, p: TranscriptParams, at: number): Model {
  // Interrupting words stay in the interrupted turn until they prove to be a question. With one microphone,
  // they are the same line.
  const i = m.lines.findLastIndex(
    (l) => l.kind === 'speech' && l.conversation === m.conversation && (l.turnId === p.turnId || p.role === 'user') && l.role === p.role && !l.final,
  );
  const old = m.lines[i];
  if (p.after !== undefined) {
    // The notification has only the new text: if its predecessor is missing, request all of it.
    return old?.seq === p.after ? { ...m, lines: m.lines.with(i, { ...old, text: old.text + p.text, seq: p.seq }) } : m;
  }
  if (old !== undefined) {
    return { ...m, lines: m.lines.with(i, { ...old, turnId: p.turnId, text: p.text, final: p.final, seq: p.seq, ...recognised(p) }) };
  }
  const known = m.lines.findLastIndex(
    (l) => l.kind === 'speech' && l.conversation === m.conversation && l.turnId === p.turnId && l.role === p.role && l.text === p.text,
  );
  if (known >= 0) {
    return m; // the end of an answer whose turn already ended
  }
  return added(m, { kind: 'speech', turnId: p.turnId, role: p.role, text: p.text, final: p.final, seq: p.seq, at, ...recognised(p) });
}

function recognised({ heard }: { readonly heard?: string }): { recognised?: string } {
  return heard === undefined ? {} : { recognised: heard };
}

function heard(lines: readonly Line[], conversation: number, e: TranscriptEntry): readonly Line[] {
  const i = lines.findLastIndex(
    (l) => l.kind === 'speech' && l.conversation === conversation && l.turnId === e.turnId && l.role === e.role && l.text === e.text,
  );
  const old = lines[i];
  return old === undefined || e.heardChars === undefined || old.heardChars === e.heardChars ? lines : lines.with(i, { ...old, heardChars: e.heardChars });
}

/**
 * Finds the segment in the transcript, searching after the previous segment, so that a
 * repeated sentence is found where it is spoken.
 */
function captioned(m: Model, p: CaptionParams): Caption {
  const before = m.caption;
  if (before !== undefined && before.turnId === p.turnId && before.text === p.text && p.heardChars > 0) {
    return { ...before, heardChars: p.heardChars };
  }
  const words = p.text.trim();
  if (words === '') {
    return p;
  }
  const lead = p.text.length - p.text.trimStart().length;
  const answers = m.lines.filter((l) => l.kind === 'speech' && l.role === 'assistant' && l.conversation === m.conversation);
  const behind = before?.turnId === p.turnId ? before : undefined;
  const ofTurn = answers.filter((l) => l.turnId === p.turnId && l.id >= (behind?.line ?? 0));
  // A repeated answer is spoken in a turn of its own.
  for (const l of [...ofTurn, ...answers.toReversed()]) {
    const from = behind?.line === l.id ? (behind.start ?? 0) + behind.text.trimEnd().length : 0;
    const at = l.text.indexOf(words, from);
    if (at >= 0) {
      return { ...p, line: l.id, start: Math.max(0, at - lead) };
    }
  }
  return p;
}

const WAITS: ReadonlySet<ToolStatus> = new Set<ToolStatus>(['waitingForApproval']);

function called(m: Model, p: ToolParams, at: number): Model {
  const before = m.lines.find((l) => l.call?.callId === p.callId && l.conversation === m.conversation);
  const input: unknown = p.input ?? before?.call?.input;
  const commands = p.commands ?? before?.call?.commands;
  const question = p.question ?? before?.call?.question;
  const call: Call = {
    callId: p.callId,
    name: p.name,
    status: p.status,
    destructive: p.destructive ?? before?.call?.destructive ?? false,
    ...(input === undefined ? {} : { input }),
    ...(question === undefined ? {} : { question }),
    ...(commands === undefined ? {} : { commands }),
    ...(p.click === true || before?.call?.click === true ? { click: true } : {}),
  };
  const over = p.status !== 'requested' && p.status !== 'waitingForApproval' && p.status !== 'running';
  const approval = WAITS.has(p.status) ? call : m.approval?.callId === p.callId ? undefined : m.approval;
  if (before !== undefined) {
    return { ...m, approval, lines: m.lines.map((l) => (l === before ? { ...l, call, final: over } : l)) };
  }
  const answer = m.lines.findLast((l) => l.kind === 'speech' && l.role === 'assistant' && l.turnId === p.turnId && l.conversation === m.conversation);
  const within = answer === undefined ? {} : { within: { line: answer.id, at: answer.text.length } };
  return { ...added(m, { kind: 'tool', turnId: p.turnId, role: 'assistant', text: p.name, final: over, call, ...within, at }), approval };
}

function divided(m: Model, text: string, at: number): Model {
  return added(m, { kind: 'divider', turnId: '', role: 'assistant', text, final: true, at });
}

function added(m: Model, line: Omit<Line, 'id' | 'conversation'>): Model {
  const lines = [...m.lines, { ...line, id: m.nextLine, conversation: m.conversation }];
  return { ...m, lines: lines.slice(-KEPT), nextLine: m.nextLine + 1 };
}

/** Keeps the root cause in front and appends less specific failures. */
function withProblem(before: Problem | undefined, now: Omit<Problem, 'then'>): Problem {
  if (before !== undefined && before.code === now.code) {
    return { ...before, ...helped(now), message: now.message, remediation: now.remediation };
  }
  const unrelated = before !== undefined && ofAnswer(before.code) && MACHINERY.has(now.code);
  if (before !== undefined && GENERAL.has(now.code) && !GENERAL.has(before.code) && !unrelated) {
    return before.then.includes(now.message) ? before : { ...before, then: [...before.then, now.message] };
  }
  return { code: now.code, ...helped(now), message: now.message, remediation: now.remediation, retryable: now.retryable, then: [] };
}

const helped = (p: Omit<Problem, 'then'>): { hasHelp?: true } => (p.hasHelp === true ? { hasHelp: true } : {});
