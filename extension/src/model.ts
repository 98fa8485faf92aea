// The window's knowledge of its conversation: the daemon's last snapshot and the notifications since. It is
// immutable; only reduce creates a new one, and present renders it.

import { type Problem, afterAnswer, afterMicrophone, afterQuestion, afterTransition, withProblem } from './problem';
import {
  ERRORS,
  type CaptionParams,
  type ErrorParams,
  type Microphone,
  type NotificationParams,
  type ServerCapabilities,
  type PausedParams,
  type Queue,
  type SessionParams,
  type Snapshot,
  type StateParams,
  type ToolParams,
  type TranscriptEntry,
  type TranscriptParams,
  type TranscriptResult,
  type TurnParams,
} from './protocol.gen';
import { EMPTY, type Line, type Transcript, addDivider, addWords, clear, endTurn, locateCaption, markHeard, rebuild, reload, restore, updateCall, withOutcome } from './transcript';

/** State of the daemon's process. */
export type DaemonPhase = 'off' | 'starting' | 'running' | 'restarting' | 'failed';

/** Model is everything that the window shows. */
export interface Model extends Transcript {
  readonly daemon: DaemonPhase;
  /** restarts since the user last started the daemon */
  readonly restarts: number;
  readonly capabilities: ServerCapabilities;
  readonly snapshot: Snapshot | undefined;
  /** a conversation was requested but has not started yet */
  readonly starting: boolean;
  /** ids of unfinished turns */
  readonly openTurns: ReadonlySet<string>;
  readonly problem: Problem | undefined;
  readonly notice: NotificationParams | undefined;
  readonly session: SessionParams | undefined;
  /** the push-to-talk key is held */
  readonly held: boolean;
  readonly canRetry: boolean;
  /** the name of the assistant that answers from the next turn on */
  readonly assistant?: string;
}

export const START: Model = {
  ...EMPTY,
  daemon: 'off',
  restarts: 0,
  capabilities: {},
  snapshot: undefined,
  starting: false,
  openTurns: new Set(),
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
  | { readonly is: 'outcome'; readonly callId: string; readonly outcome: string }
  | { readonly is: 'held'; readonly held: boolean }
  | { readonly is: 'assistant'; readonly name: string }
  | { readonly is: 'divider'; readonly text: string; readonly at: number }
  | { readonly is: 'clear' }
  | { readonly is: 'restored'; readonly lines: readonly Line[]; readonly clearedSeq: number }
  | { readonly is: 'reloaded'; readonly lines: readonly Line[]; readonly divider: string; readonly at: number };

/** Whether a conversation is running. A failed one can be restarted. */
export function isActive(snapshot: Snapshot | undefined): boolean {
  return snapshot !== undefined && snapshot.state !== 'idle' && snapshot.state !== 'terminating' && snapshot.state !== 'faulted';
}

/** Whether the microphone is open or about to open. */
export function mayHear(m: Model): boolean {
  const mic = m.snapshot?.microphone;
  return m.starting || isActive(m.snapshot) || mic?.open === true || mic?.wake === true;
}

export function reduce(m: Model, change: Change): Model {
  switch (change.is) {
    case 'state':
      return moved(m, change.params);
    case 'turn':
      return turned(m, change.params);
    case 'transcript':
      return addWords(m, change.params, change.at);
    case 'heard':
      return markHeard(m, change.entries);
    case 'rebuilt':
      return rebuild(m, change.transcript, change.at);
    case 'caption':
      return { ...m, caption: locateCaption(m, change.params) };
    case 'tool':
      return updateCall(m, change.params, change.at);
    case 'paused':
      return m.snapshot === undefined ? m : { ...m, snapshot: pausedBy(m.snapshot, change.params) };
    case 'queue':
      return m.snapshot === undefined ? m : { ...m, snapshot: { ...m.snapshot, queue: change.params } };
    case 'session':
      return { ...m, session: change.params };
    case 'notification':
      return noticed(m, change.params);
    case 'microphone':
      return m.snapshot === undefined ? m : heardBy(m, newerMicrophone(m.snapshot.microphone, change.params), m.snapshot);
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
    case 'outcome':
      return withOutcome(m, change.callId, change.outcome);
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
    case 'assistant':
      return { ...m, assistant: change.name };
    case 'divider':
      return addDivider(m, change.text, change.at);
    case 'clear':
      return clear(m);
    case 'reloaded':
      return reload(m, change.lines, change.divider, change.at);
    case 'restored':
      return restore(m, change.lines, change.clearedSeq);
  }
}

/** Merges everything known about a failure into one problem with its remedies. */
function noticed(m: Model, p: NotificationParams): Model {
  if (p.snapshot !== undefined) {
    return resynced(m, p.snapshot);
  }
  if (p.code === undefined || p.severity === 'info') {
    const over = p.code !== undefined && p.code === m.problem?.code; // a failure that has ended
    return { ...m, notice: p, problem: over ? undefined : m.problem };
  }
  const known = m.problem?.code === p.code ? m.problem : undefined; // from agentvoice.error, which has more details
  const problem = { code: p.code, message: known?.message ?? p.message, remediation: known?.remediation ?? p.remediation ?? '', retryable: ERRORS[p.code].retryable };
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
    lines: m.lines.map((l) => (l.final ? l : { ...l, final: true, cutOff: l.role === 'assistant' })), // work in progress ended with the daemon
  };
  return c.divider !== undefined && m.lines.length > 0 ? addDivider(next, c.divider, c.at) : next;
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

/** The model with a report of the microphone. One without a fault resolves the problem that an earlier fault was. */
function heardBy(m: Model, microphone: Microphone, snapshot: Snapshot): Model {
  return { ...m, snapshot: { ...snapshot, microphone }, problem: afterMicrophone(m.problem, microphone) };
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
    problem: afterTransition(m.problem, p),
  };
}

function turned(m: Model, p: TurnParams): Model {
  if (p.event === 'turn-started') {
    return { ...m, ...(m.assistant === undefined ? {} : { answering: m.assistant }), openTurns: new Set(m.openTurns).add(p.turnId), canRetry: false, problem: afterQuestion(m.problem), notice: undefined };
  }
  const openTurns = new Set(m.openTurns);
  openTurns.delete(p.turnId);
  const next = { ...endTurn(m, p), openTurns };
  return p.outcome === 'answered'
    ? { ...next, canRetry: false, problem: afterAnswer(m.problem) }
    : { ...next, canRetry: p.outcome === 'failed' || m.canRetry };
}
