// What the window knows of its conversation: the daemon's last snapshot, and what
// its notifications brought since. It is a value, replaced by reduce and by nothing
// else; all that is shown is made from it by present.

import {
  ERRORS,
  type CaptionParams,
  type ErrorCode,
  type ErrorParams,
  type NotificationParams,
  type Role,
  type ServerCapabilities,
  type SessionParams,
  type Snapshot,
  type StateParams,
  type ToolParams,
  type ToolStatus,
  type TranscriptEntry,
  type TranscriptParams,
  type TurnParams,
} from './protocol.gen';

/** How the daemon's process stands. */
export type DaemonPhase = 'off' | 'starting' | 'running' | 'restarting' | 'failed';

/** ProblemCode names a failure: one of the daemon's, or one that the extension sees by itself. */
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

/** MutedBecause is who muted: the user, the lock of the screen, or that a conversation was begun in writing. */
export type MutedBecause = 'user' | 'locked' | 'typed';

/** Problem is a failure that the user is told of, with its cause first. */
export interface Problem {
  readonly code: ProblemCode;
  readonly message: string;
  readonly remediation: string;
  readonly retryable: boolean;
  /** more general failures that followed from it, newest last */
  readonly then: readonly string[];
}

/** Line is an entry of the transcript. */
export interface Line {
  readonly id: number;
  readonly kind: 'speech' | 'tool' | 'divider';
  /** which of the daemon's conversations it belongs to: turn ids begin anew in each */
  readonly conversation: number;
  readonly turnId: string;
  readonly role: Role;
  readonly text: string;
  readonly final: boolean;
  /** of an answer: how many characters of it were heard; undefined while nobody has said */
  readonly heardChars?: number;
  /** of an answer: it was interrupted */
  readonly cutOff?: boolean;
  /** of a question: why it was not answered */
  readonly failed?: ErrorCode;
  /** of a tool call */
  readonly call?: Call;
  /** when it was first seen, milliseconds since the epoch */
  readonly at: number;
}

/** Call is a tool call, with its input as the assistant wrote it. */
export interface Call {
  readonly callId: string;
  readonly name: string;
  readonly status: ToolStatus;
  readonly input?: unknown;
  readonly question?: string;
  readonly destructive: boolean;
}

export interface Model {
  readonly daemon: DaemonPhase;
  /** how often the daemon was started again since the user last started it */
  readonly restarts: number;
  readonly capabilities: ServerCapabilities;
  readonly snapshot: Snapshot | undefined;
  /** the user wants a conversation and the daemon has not begun it yet */
  readonly starting: boolean;
  /** counts the conversations of this window */
  readonly conversation: number;
  readonly lines: readonly Line[];
  readonly nextLine: number;
  /** ids of the turns that began and did not end */
  readonly openTurns: ReadonlySet<string>;
  readonly caption: CaptionParams | undefined;
  /** the call that waits for a yes or no */
  readonly approval: Call | undefined;
  readonly inputs: ReadonlyMap<string, unknown>;
  readonly problem: Problem | undefined;
  readonly notice: NotificationParams | undefined;
  readonly session: SessionParams | undefined;
  readonly muted: boolean;
  readonly mutedBecause: MutedBecause | undefined;
  /** the key to talk is held */
  readonly held: boolean;
  /** the assistant's voice was paused by the user */
  readonly speechPaused: boolean;
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
  openTurns: new Set(),
  caption: undefined,
  approval: undefined,
  inputs: new Map(),
  problem: undefined,
  notice: undefined,
  session: undefined,
  muted: false,
  mutedBecause: undefined,
  held: false,
  speechPaused: false,
  canRetry: false,
};

/** What changes the model. The first group is the daemon's notifications. */
export type Change =
  | { readonly is: 'state'; readonly params: StateParams }
  | { readonly is: 'turn'; readonly params: TurnParams }
  | { readonly is: 'transcript'; readonly params: TranscriptParams; readonly at: number }
  | { readonly is: 'heard'; readonly entries: readonly TranscriptEntry[] }
  | { readonly is: 'caption'; readonly params: CaptionParams }
  | { readonly is: 'tool'; readonly params: ToolParams; readonly at: number }
  | { readonly is: 'session'; readonly params: SessionParams }
  | { readonly is: 'notification'; readonly params: NotificationParams }
  | { readonly is: 'error'; readonly params: ErrorParams }
  // the rest is the window's own
  | { readonly is: 'snapshot'; readonly snapshot: Snapshot }
  | { readonly is: 'daemon'; readonly phase: DaemonPhase; readonly restarts?: number }
  | { readonly is: 'attached'; readonly snapshot: Snapshot; readonly capabilities: ServerCapabilities; readonly at: number; readonly divider?: string }
  | { readonly is: 'starting'; readonly starting: boolean }
  | { readonly is: 'problem'; readonly problem: Omit<Problem, 'then'> }
  | { readonly is: 'dismiss' }
  | { readonly is: 'call'; readonly callId: string; readonly input: unknown }
  | { readonly is: 'muted'; readonly muted: boolean; readonly because?: MutedBecause }
  | { readonly is: 'held'; readonly held: boolean }
  | { readonly is: 'speechPaused'; readonly paused: boolean }
  | { readonly is: 'divider'; readonly text: string; readonly at: number }
  | { readonly is: 'clear' };

/** How many entries of the transcript are kept. */
const KEPT = 400;

/** Whether there is a conversation that works. One that failed can be started anew. */
export function isActive(snapshot: Snapshot | undefined): boolean {
  return snapshot !== undefined && snapshot.state !== 'idle' && snapshot.state !== 'terminating' && snapshot.state !== 'faulted';
}

/** Codes that say only that something failed. They do not hide a cause that was named before them. */
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

/** Those of them that are of what every conversation needs: no answer that failed before is their cause. */
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
    case 'caption':
      return { ...m, caption: change.params };
    case 'tool':
      return called(m, change.params, change.at);
    case 'session':
      return { ...m, session: change.params };
    case 'notification':
      return noticed(m, change.params);
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
    case 'call':
      return withInput(m, change.callId, change.input);
    case 'muted':
      return { ...m, muted: change.muted, mutedBecause: change.muted ? (change.because ?? 'user') : undefined };
    case 'held':
      return { ...m, held: change.held };
    case 'speechPaused':
      return { ...m, speechPaused: change.paused };
    case 'divider':
      return divided(m, change.text, change.at);
    case 'clear':
      return { ...m, lines: m.lines.filter((l) => !l.final && l.conversation === m.conversation) };
  }
}

/** What is said about a failure is shown as one, with what helps. */
function noticed(m: Model, p: NotificationParams): Model {
  if (p.snapshot !== undefined) {
    return { ...m, snapshot: p.snapshot };
  }
  if (p.code === undefined || p.severity === 'info') {
    return { ...m, notice: p };
  }
  const known = m.problem?.code === p.code ? m.problem : undefined; // of agentvoice.error, which says more
  const problem = { code: p.code, message: known?.message ?? p.message, remediation: known?.remediation ?? '', retryable: ERRORS[p.code].retryable };
  return { ...m, problem: withProblem(m.problem, problem) };
}

/** What is not true any more when the daemon is gone. */
const GONE = {
  snapshot: undefined,
  session: undefined,
  caption: undefined,
  approval: undefined,
  held: false,
  speechPaused: false,
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
    inputs: new Map(),
    // What was under way when the daemon went will not go on.
    lines: m.lines.map((l) => (l.final ? l : { ...l, final: true, cutOff: l.role === 'assistant' })),
  };
  return c.divider !== undefined && m.lines.length > 0 ? divided(next, c.divider, c.at) : next;
}

/** An answer to a request may come behind the notification of a later step. */
function newer(now: Snapshot | undefined, then: Snapshot): Snapshot {
  return now !== undefined && now.seq > then.seq ? now : then;
}

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
    metadata: {
      sessionId: p.metadata.sessionId ?? before?.metadata.sessionId ?? '',
      ...(p.metadata.reason === undefined ? {} : { reason: p.metadata.reason }),
      ...(p.metadata.pendingActions === undefined ? {} : { pendingActions: p.metadata.pendingActions }),
      ...(p.metadata.retryCount === undefined ? {} : { retryCount: p.metadata.retryCount }),
    },
    session: before?.session ?? { state: 'inactive' },
    connection: before?.connection ?? { state: 'disconnected', epoch: 0 },
    ...(substate === undefined ? {} : { substate }),
    ...(turnId === undefined ? {} : { turnId }),
  };
  const begins = before?.state === 'idle' && state === 'preparing';
  const over = state === 'idle' || state === 'terminating';
  return {
    ...m,
    snapshot,
    conversation: begins ? m.conversation + 1 : m.conversation,
    starting: false, // any transition answers a start
    speechPaused: m.speechPaused && state === 'interrupted' ? m.speechPaused : state === 'speaking' ? false : m.speechPaused,
    caption: state === 'speaking' || state === 'interrupted' ? m.caption : undefined,
    approval: over ? undefined : m.approval,
    held: over ? false : m.held,
    canRetry: over ? false : m.canRetry,
    lines: state === 'idle' && m.lines.some((l) => !l.final) ? m.lines.map((l) => (l.final ? l : { ...l, final: true })) : m.lines,
    notice: begins ? undefined : m.notice,
    // A conversation that works is the end of what kept it from working; a
    // failed answer is shown until the next question.
    problem: works(state, p.cause, m.problem) ? undefined : m.problem,
  };
}

/** Whether a transition shows that what the problem kept from working works again. */
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
  // What was said meanwhile waits for its own turn, though it came in this one.
  const question = m.lines.find((l) => l.turnId === p.turnId && l.conversation === m.conversation && l.kind === 'speech' && l.role === 'user');
  const lines = m.lines.map((l): Line => {
    if (l.turnId !== p.turnId || l.conversation !== m.conversation || l.kind !== 'speech') {
      return l;
    }
    if (l.role === 'assistant') {
      const cut = p.event === 'turn-interrupted' || p.outcome === 'interrupted';
      return cut ? { ...l, final: true, cutOff: true } : l.final ? l : { ...l, final: true };
    }
    // Words that are still coming are of what comes next.
    return failed && l === question ? { ...l, final: true, failed: p.code ?? 'internalError' } : l;
  });
  return { ...m, lines, openTurns, canRetry: failed || (m.canRetry && p.outcome !== 'answered') };
}

/** The problem of an answer is over with the next question; one of the machinery stays until it works. */
function cleared(problem: Problem | undefined): Problem | undefined {
  return problem !== undefined && ofAnswer(problem.code) ? undefined : problem;
}

function ofAnswer(code: ProblemCode): boolean {
  return /^(copilot|tool|recognition|speech|utterance|text|queue|model|nothing|noSelection|invalid)/.test(code);
}

function said(m: Model, p: TranscriptParams, at: number): Model {
  // Words that interrupt belong to the turn that they interrupt until they are
  // known to be a question: there is one microphone, so it is the same line.
  const i = m.lines.findLastIndex(
    (l) => l.kind === 'speech' && l.conversation === m.conversation && (l.turnId === p.turnId || p.role === 'user') && l.role === p.role && !l.final,
  );
  const old = m.lines[i];
  if (old !== undefined) {
    return { ...m, lines: m.lines.with(i, { ...old, turnId: p.turnId, text: p.text, final: p.final }) };
  }
  const known = m.lines.findLastIndex(
    (l) => l.kind === 'speech' && l.conversation === m.conversation && l.turnId === p.turnId && l.role === p.role && l.text === p.text,
  );
  if (known >= 0) {
    return m; // the end of an answer whose turn was over before
  }
  return added(m, { kind: 'speech', turnId: p.turnId, role: p.role, text: p.text, final: p.final, at });
}

function heard(lines: readonly Line[], conversation: number, e: TranscriptEntry): readonly Line[] {
  const i = lines.findLastIndex(
    (l) => l.kind === 'speech' && l.conversation === conversation && l.turnId === e.turnId && l.role === e.role && l.text === e.text,
  );
  const old = lines[i];
  return old === undefined || e.heardChars === undefined || old.heardChars === e.heardChars ? lines : lines.with(i, { ...old, heardChars: e.heardChars });
}

const WAITS: ReadonlySet<ToolStatus> = new Set<ToolStatus>(['waitingForApproval']);

function called(m: Model, p: ToolParams, at: number): Model {
  const before = m.lines.find((l) => l.call?.callId === p.callId && l.conversation === m.conversation);
  const input = before?.call?.input ?? m.inputs.get(p.callId);
  const question = p.question ?? before?.call?.question;
  const call: Call = {
    callId: p.callId,
    name: p.name,
    status: p.status,
    destructive: p.destructive ?? before?.call?.destructive ?? false,
    ...(input === undefined ? {} : { input }),
    ...(question === undefined ? {} : { question }),
  };
  const over = p.status !== 'requested' && p.status !== 'waitingForApproval' && p.status !== 'running';
  const approval = WAITS.has(p.status) ? call : m.approval?.callId === p.callId ? undefined : m.approval;
  if (before !== undefined) {
    return { ...m, approval, lines: m.lines.map((l) => (l === before ? { ...l, call, final: over } : l)) };
  }
  return { ...added(m, { kind: 'tool', turnId: p.turnId, role: 'assistant', text: p.name, final: over, call, at }), approval };
}

function withInput(m: Model, callId: string, input: unknown): Model {
  return { ...m, inputs: new Map(m.inputs).set(callId, input) };
}

function divided(m: Model, text: string, at: number): Model {
  return added(m, { kind: 'divider', turnId: '', role: 'assistant', text, final: true, at });
}

function added(m: Model, line: Omit<Line, 'id' | 'conversation'>): Model {
  const lines = [...m.lines, { ...line, id: m.nextLine, conversation: m.conversation }];
  return { ...m, lines: lines.slice(-KEPT), nextLine: m.nextLine + 1 };
}

/** The cause stays in front: what only says that something failed is put behind it. */
function withProblem(before: Problem | undefined, now: Omit<Problem, 'then'>): Problem {
  if (before !== undefined && before.code === now.code) {
    return { ...before, message: now.message, remediation: now.remediation };
  }
  const unrelated = before !== undefined && ofAnswer(before.code) && MACHINERY.has(now.code);
  if (before !== undefined && GENERAL.has(now.code) && !GENERAL.has(before.code) && !unrelated) {
    return before.then.includes(now.message) ? before : { ...before, then: [...before.then, now.message] };
  }
  return { code: now.code, message: now.message, remediation: now.remediation, retryable: now.retryable, then: [] };
}
