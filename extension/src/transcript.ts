// The transcript: lines of speech and of tool calls, the position of the voice in them, and the call that awaits
// approval. Its functions change the part of the window's model that is the transcript, and keep the rest.

import type { AnswerEnd, CaptionParams, ErrorCode, Role, ToolDiff, ToolParams, ToolStatus, TranscriptEntry, TranscriptParams, TranscriptResult, TurnParams } from './protocol.gen';

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
  /** names the correction, while it can be undone */
  readonly correction?: string;
  /** of an answer: the assistant's name */
  readonly by?: string;
  /** of an answer: the number of characters heard; undefined until reported */
  readonly heardChars?: number;
  /** of an answer: interrupted by the user */
  readonly cutOff?: boolean;
  /** of an answer: why its rest is missing */
  readonly cut?: AnswerEnd;
  /** of a question: why it was not answered */
  readonly failed?: ErrorCode;
  /** of a tool call */
  readonly call?: Call;
  /** of a tool call, and of what the user says before the answer goes on: the answer, and where its text ended at that time, in UTF-16 units */
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
  /** of the whole call */
  readonly hash?: string;
  /** how it ended, in a few words; empty if there is nothing to say */
  readonly outcome?: string;
  /** of a coding agent's call: what the agent says, the files, the changes, and the folder */
  readonly title?: string;
  readonly files?: readonly string[];
  readonly diffs?: readonly ToolDiff[];
  readonly folder?: string;
}

/** Caption is the segment being spoken, and its position in the transcript. */
export interface Caption extends CaptionParams {
  /** id of its line; undefined for text outside of answers, such as a notice */
  readonly line?: number;
  /** its start in that line's text, in UTF-16 units */
  readonly start?: number;
}

/** Transcript is what was said and done in this window, what is spoken now, and what awaits approval. */
export interface Transcript {
  /** numbers the conversations of this window */
  readonly conversation: number;
  readonly lines: readonly Line[];
  /** the id of the next line */
  readonly nextLine: number;
  /** the name of the assistant that answers the current turn */
  readonly answering?: string;
  /** the seq of the last cleared words, which stay cleared */
  readonly clearedSeq: number;
  readonly caption: Caption | undefined;
  /** the call that awaits approval */
  readonly approval: Call | undefined;
}

export const EMPTY: Transcript = { conversation: 0, lines: [], nextLine: 1, clearedSeq: 0, caption: undefined, approval: undefined };

/** Maximum number of transcript entries. */
const KEPT = 400;

/** Whether the lines hold the words that a transcript continues. */
export function hasContinued(m: Transcript, p: TranscriptParams): boolean {
  return p.after === undefined || m.lines.some((l) => l.seq === p.after && l.conversation === m.conversation);
}

/** Rebuilds the live conversation's lines from the daemon's state after the window missed notifications. */
export function rebuild<T extends Transcript>(m: T, { entries, tools }: TranscriptResult, at: number): T {
  const known = m.lines.filter((l) => l.kind === 'speech' && l.conversation === m.conversation);
  const last = Math.max(0, ...known.map((l) => l.seq ?? 0));
  // Turn ids restart with each conversation, so an unknown id is a new turn.
  const another = known.length > 0 && entries.every((e) => e.seq > last) && entries.some((e) => e.turnId === known[0]?.turnId);
  let next: T = another ? { ...m, conversation: m.conversation + 1, lines: m.lines.map((l) => (l.final ? l : { ...l, final: true })) } : m;
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
      turnId: e.turnId, text: e.text, final: e.final || old?.final === true, seq: e.seq, ...recognised(e), ...(e.end === undefined ? {} : { cut: e.end }), ...(e.heardChars === undefined ? {} : { heardChars: e.heardChars }),
    };
    if (old === undefined) {
      const by = e.role === 'assistant' && m.answering !== undefined ? { by: m.answering } : {};
      const line: Line = { kind: 'speech', role: e.role, at, ...words, ...by, id: next.nextLine, conversation: next.conversation };
      next = { ...next, lines: next.lines.toSpliced(place, 0, line), nextLine: next.nextLine + 1 };
      taken.add(line.id);
      place++;
    } else {
      next = { ...next, lines: next.lines.with(i, { ...uncorrected(old), ...words }) };
      taken.add(old.id);
      place = i + 1;
    }
  }
  // Words that the daemon does not have were retracted.
  next = { ...next, lines: next.lines.filter((l) => l.kind !== 'speech' || l.final || l.conversation !== next.conversation || taken.has(l.id)) };
  for (const call of tools ?? []) {
    next = updateCall(next, call, at);
  }
  return { ...next, lines: next.lines.slice(-KEPT) };
}

/** The ends of answers whose rest is missing. */
const CUT: ReadonlySet<AnswerEnd | undefined> = new Set<AnswerEnd>(['length', 'turnLimit', 'filter', 'stall', 'interrupted']);

/** Ends a turn: its answer is complete or marked as cut off, and a question without an answer is marked. */
export function endTurn<T extends Transcript>(m: T, p: TurnParams): T {
  const begun = m.lines.some((l) => l.turnId === p.turnId && l.conversation === m.conversation && l.kind === 'speech' && l.role === 'assistant' && l.text !== '');
  // Words spoken meanwhile wait for their own turn, although they arrived in this one.
  const question = m.lines.find((l) => l.turnId === p.turnId && l.conversation === m.conversation && l.kind === 'speech' && l.role === 'user');
  const lines = m.lines.map((l): Line => {
    if (l.turnId !== p.turnId || l.conversation !== m.conversation || l.kind !== 'speech') {
      return l;
    }
    if (l.role === 'assistant') {
      if (p.event === 'turn-interrupted' || p.outcome === 'interrupted') {
        return { ...l, final: true, cutOff: true };
      }
      return CUT.has(p.end) && p.end !== undefined ? { ...l, final: true, cut: p.end } : l.final ? l : { ...l, final: true };
    }
    // Interim words belong to the next turn.
    return p.outcome === 'failed' && l === question && !(begun && CUT.has(p.end)) ? { ...l, final: true, failed: p.code ?? 'internalError' } : l;
  });
  return { ...m, lines: p.outcome === 'answered' && question === undefined ? markAnswered(lines, m.conversation) : lines };
}

/** A turn without words of its own repeats the failed question, which is now answered. */
function markAnswered(lines: readonly Line[], conversation: number): readonly Line[] {
  const i = lines.findLastIndex((l) => l.kind === 'speech' && l.role === 'user' && l.conversation === conversation);
  const line = lines[i];
  if (line?.failed === undefined) {
    return lines;
  }
  const { failed: _, ...answered } = line;
  return lines.with(i, answered);
}

/** Adds words to the transcript. */
export function addWords<T extends Transcript>(m: T, p: TranscriptParams, at: number): T {
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
  if (p.replaces !== undefined) {
    const replaced = m.lines.findIndex((l) => l.seq === p.replaces && l.conversation === m.conversation);
    const line = m.lines[replaced];
    if (line !== undefined) {
      const lines = m.lines.with(replaced, { ...uncorrected(line), text: p.text, seq: p.seq, ...recognised(p) });
      return { ...m, lines: lines.filter((l) => l.id !== old?.id || l.turnId !== line.turnId) }; // the user went on with the line
    }
    if (old?.turnId !== p.turnId) {
      return m;
    }
  }
  if (old !== undefined) {
    return { ...m, lines: m.lines.with(i, { ...old, turnId: p.turnId, text: p.text, final: p.final, seq: p.seq, ...recognised(p) }) };
  }
  if (p.role === 'assistant' && m.lines.some((l) => l.kind === 'speech' && l.conversation === m.conversation && l.turnId === p.turnId && l.role === p.role && l.text === p.text)) {
    return m; // the end of an answer whose turn already ended
  }
  return append(m, { kind: 'speech', turnId: p.turnId, role: p.role, text: p.text, final: p.final, seq: p.seq, at, ...recognised(p), ...(p.role === 'user' ? beside(m) : {}) });
}

/** The place of the last line in an answer that has not gone on since. */
function beside({ lines }: Transcript): Pick<Line, 'within'> {
  const within = lines.at(-1)?.within;
  const answer = lines.find((l) => l.id === within?.line);
  return within !== undefined && answer !== undefined && endOf(answer) === within.at ? { within } : {};
}

/** Where the text of an answer ends: the space after it belongs to what follows. */
function endOf({ text }: Line): number {
  return text.trimEnd().length;
}

function recognised({ heard, correction }: Pick<TranscriptParams, 'heard' | 'correction'>): Pick<Line, 'recognised' | 'correction'> {
  return { ...(heard === undefined ? {} : { recognised: heard }), ...(correction === undefined ? {} : { correction }) };
}

/** A line without what is known of its correction. */
function uncorrected({ recognised: _, correction: __, ...line }: Line): Line {
  return line;
}

/** Records how much of each answer was heard. */
export function markHeard<T extends Transcript>(m: T, entries: readonly TranscriptEntry[]): T {
  return { ...m, lines: entries.reduce((lines, e) => markHeardIn(lines, m.conversation, e), m.lines) };
}

function markHeardIn(lines: readonly Line[], conversation: number, e: TranscriptEntry): readonly Line[] {
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
export function locateCaption(m: Transcript, p: CaptionParams): Caption {
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

/** What identifies a call besides its name and input, as far as it is known. */
function besides({ hash, title, files, diffs, folder, outcome }: Pick<Call, 'hash' | 'title' | 'files' | 'diffs' | 'folder' | 'outcome'>): Partial<Call> {
  return {
    ...(hash === undefined ? {} : { hash }), ...(title === undefined ? {} : { title }), ...(files === undefined ? {} : { files }),
    ...(diffs === undefined ? {} : { diffs }), ...(folder === undefined ? {} : { folder }),
    ...(outcome === undefined ? {} : { outcome }),
  };
}

/** Adds or updates a tool call. */
export function updateCall<T extends Transcript>(m: T, p: ToolParams, at: number): T {
  // Models reuse their ids: a call that is requested after one of its id has ended is another one.
  const before = m.lines.findLast((l) => l.call?.callId === p.callId && l.conversation === m.conversation && !(l.final && p.status === 'requested'));
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
    ...besides(before?.call ?? {}),
    ...besides(p),
  };
  const over = p.status !== 'requested' && p.status !== 'waitingForApproval' && p.status !== 'running';
  const approval = p.status === 'waitingForApproval' ? call : m.approval?.callId === p.callId ? undefined : m.approval;
  if (before !== undefined) {
    return { ...m, approval, lines: m.lines.map((l) => (l === before ? { ...l, call, final: over } : l)) };
  }
  const answer = m.lines.findLast((l) => l.kind === 'speech' && l.role === 'assistant' && l.turnId === p.turnId && l.conversation === m.conversation);
  const within = answer === undefined ? {} : { within: { line: answer.id, at: endOf(answer) } };
  return { ...append(m, { kind: 'tool', turnId: p.turnId, role: 'assistant', text: p.name, final: over, call, ...within, at }), approval };
}

/** Says how the latest call with an id ended. */
export function withOutcome<T extends Transcript>(m: T, callId: string, outcome: string): T {
  const i = m.lines.findLastIndex((l) => l.call?.callId === callId && l.conversation === m.conversation);
  const line = m.lines[i];
  return line?.call === undefined ? m : { ...m, lines: m.lines.with(i, { ...line, call: { ...line.call, outcome } }) };
}

/** Removes lines that are complete. */
export function clear<T extends Transcript>(m: T): T {
  return {
    ...m,
    lines: m.lines.filter((l) => !l.final && l.conversation === m.conversation),
    clearedSeq: Math.max(m.clearedSeq, ...m.lines.map((l) => (l.final && l.conversation === m.conversation ? (l.seq ?? 0) : 0))),
  };
}

/** Restores cleared lines. */
export function restore<T extends Transcript>(m: T, lines: readonly Line[], clearedSeq: number): T {
  const ids = new Set(m.lines.map((l) => l.id));
  return { ...m, lines: [...lines.filter((l) => !ids.has(l.id)), ...m.lines].sort((a, b) => a.id - b.id).slice(-KEPT), clearedSeq };
}

/** Puts the lines of this window before it was loaded again above what was said since. Ids and conversations of theirs are below zero. */
export function reload<T extends Transcript>(m: T, before: readonly Line[], divider: string, at: number): T {
  const last = before.at(-1);
  if (last === undefined) {
    return m;
  }
  const id = (n: number): number => n - last.id - 2;
  const lines = before.map((l): Line => ({
    ...l, id: id(l.id), conversation: l.conversation - last.conversation - 1, final: true,
    ...(l.within === undefined ? {} : { within: { ...l.within, line: id(l.within.line) } }),
    ...(l.final ? {} : l.call !== undefined ? { call: { ...l.call, status: 'cancelled' as const } } : l.role === 'assistant' ? { cutOff: true } : {}),
  }));
  const end: Line = { id: -1, kind: 'divider', conversation: -1, turnId: '', role: 'assistant', text: divider, final: true, at };
  return { ...m, lines: [...lines, end, ...m.lines].slice(-KEPT) };
}

/** Adds a line that separates conversations. */
export function addDivider<T extends Transcript>(m: T, text: string, at: number): T {
  return append(m, { kind: 'divider', turnId: '', role: 'assistant', text, final: true, at });
}

function append<T extends Transcript>(m: T, line: Omit<Line, 'id' | 'conversation'>): T {
  const by = line.role === 'assistant' && m.answering !== undefined ? { by: m.answering } : {};
  const lines = [...m.lines, { ...line, ...by, id: m.nextLine, conversation: m.conversation }];
  return { ...m, lines: lines.slice(-KEPT), nextLine: m.nextLine + 1 };
}
