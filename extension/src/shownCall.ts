// A tool call as the panel shows it: in words, and exactly what would run.

import { type RowPart, rowOf } from './callRow';
import type { ToolStatus } from './protocol.gen';
import type { Translate } from './text';
import type { Call } from './transcript';

/** ShownCall is a tool call as the panel shows it: exactly what would run. */
export interface ShownCall {
  readonly callId: string;
  /** of the whole call; a click allows only the call that has it */
  readonly hash: string;
  readonly name: string;
  readonly input: string;
  readonly status: ToolStatus;
  /** the call and how it went, in words */
  readonly row: readonly RowPart[];
  readonly question: string;
  readonly destructive: boolean;
  /** the complete texts that would run */
  readonly commands: readonly string[];
  /** cannot be approved by voice */
  readonly click: boolean;
  /** what to say to approve it; empty if only a click can */
  readonly say: string;
  /** every member of the input, and what else belongs to the call, with its value as text */
  readonly members: readonly Member[];
}

/** Member is a named value of a call's input. */
export interface Member {
  readonly name: string;
  readonly value: string;
  /** already shown as one of the commands */
  readonly command: boolean;
  /** of an old text and its replacement, which have no single value: the difference, line by line */
  readonly diff?: readonly DiffLine[];
}

/** DiffLine is a line that is removed, added or kept. */
export interface DiffLine {
  readonly is: 'removed' | 'added' | 'kept';
  readonly text: string;
}

/** A call as it is shown. */
export function shownCall(call: Call, t: Translate): ShownCall {
  return {
    callId: call.callId,
    hash: call.hash ?? '',
    name: call.name,
    input: visible(call.input === undefined ? '' : typeof call.input === 'string' ? call.input : JSON.stringify(call.input, null, 2)),
    status: call.status,
    row: rowOf(call, t).map((part) => ({ ...part, text: visible(part.text) })),
    question: call.question ?? '',
    destructive: call.destructive,
    commands: (call.commands ?? []).map(visible),
    click: call.click === true,
    say: call.click === true ? '' : (/[“„「]([^”“」]+)[”“」]/.exec(call.question ?? '')?.[1] ?? t('yes')),
    members: [...membersOf(call), ...besides(call, t)],
  };
}

/** What belongs to the call of a coding agent besides its input. */
function besides({ diffs, files, folder, title }: Call, t: Translate): Member[] {
  const member = (name: string, value: string): Member => ({ name: visible(name), value: visible(value), command: false });
  return [
    ...(title === undefined ? [] : [member(t('what the agent says'), title)]),
    ...(diffs ?? []).map((d) => (d.oldText === undefined ? member(d.path, d.newText) : difference(d.path, d.oldText, d.newText))),
    ...(files === undefined || files.length === 0 ? [] : [member(t('files'), files.join('\n'))]),
    ...(folder === undefined ? [] : [member(t('folder'), folder)]),
  ];
}

function membersOf({ input, commands, folder }: Call): Member[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return folder === undefined || input === undefined ? [] : [{ name: 'input', value: visible(typeof input === 'string' ? input : JSON.stringify(input, null, 2)), command: false }];
  }
  const member = ([name, value]: Leaf): Member => ({
    name: visible(name),
    value: visible(typeof value === 'string' ? value : isLines(value) ? value.join('\n') : JSON.stringify(value, null, 2) ?? ''),
    command: typeof value === 'string' && commands?.includes(value) === true,
  });
  return groups(Object.entries(input)).flatMap((leaves) => {
    const shown = leaves.map(member);
    return leaves.flatMap(([name, value], i) => {
      const other = partner(leaves, i);
      const [a, b] = [shown[i], shown[other]];
      if (a === undefined || b === undefined || a.command || b.command || partner(leaves, other) !== i) {
        return a ?? []; // of several candidates, only the first two are a pair
      }
      const [before, after] = OLD.test(name) ? [value, leaves[other]?.[1]] : [leaves[other]?.[1], value];
      const [old, fresh] = OLD.test(name) ? [a.name, b.name] : [b.name, a.name];
      // The pair is shown where its first text is.
      return i > other ? [] : difference(`${old} → ${fresh.split(' ').at(-1) ?? ''}`, before as string, after as string);
    });
  });
}

/** A name and its value in the input. */
type Leaf = readonly [name: string, value: unknown];

/** Names of the two texts of an edit. */
const OLD = /(^| )old\w*$/i;
const NEW = /(^| )new\w*$/i;

/** The index of the other half of a replacement, for the half with this name; -1 without one. */
function partner(leaves: readonly Leaf[], at: number): number {
  const [name, text] = leaves[at] ?? ['', undefined];
  const key = (s: string): string => (s.split(' ').at(-1) ?? '').slice(3).toLowerCase();
  const [own, others] = OLD.test(name) ? [OLD, NEW] : [NEW, OLD];
  return own.test(name) && typeof text === 'string' ? leaves.findIndex(([n, value]) => others.test(n) && key(n) === key(name) && typeof value === 'string') : -1;
}

/** An old text and its replacement as removed and added lines, with the lines that both begin and end with. */
function difference(name: string, before: string, after: string): Member {
  const [old, fresh] = [before, after].map((text) => (text === '' ? [] : text.split('\n'))) as [string[], string[]];
  const shorter = Math.min(old.length, fresh.length);
  let from = 0;
  while (from < shorter && old[from] === fresh[from]) {
    from++;
  }
  let end = 0;
  while (end < shorter - from && old.at(-1 - end) === fresh.at(-1 - end)) {
    end++;
  }
  const lines = (is: DiffLine['is'], all: readonly string[]): DiffLine[] => all.map((text) => ({ is, text: visible(text) }));
  return {
    name: visible(name), value: '', command: false,
    diff: [...lines('kept', old.slice(0, from)), ...lines('removed', old.slice(from, old.length - end)), ...lines('added', fresh.slice(from, fresh.length - end)), ...lines('kept', old.slice(old.length - end))],
  };
}

/** Whether a value is a list of texts of one line each, such as file names. */
function isLines(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((v) => typeof v === 'string' && v !== '' && !/[\r\n]/.test(v));
}

/** The members of an input in its order, flattened: those of each object in a list are a group of their own, as in edits 1 oldText. */
function groups(entries: readonly Leaf[]): Leaf[][] {
  const out: Leaf[][] = [[]];
  for (const [name, value] of entries) {
    if (Array.isArray(value) && value.length > 0 && value.every((v) => typeof v === 'object' && v !== null && !Array.isArray(v) && Object.keys(v as object).length > 0)) {
      out.push(...value.map((v: object, i) => Object.entries(v).map(([key, member]): Leaf => [`${name} ${i + 1} ${key}`, member])), []);
    } else {
      out.at(-1)?.push([name, value]);
    }
  }
  return out;
}

/** Shows characters that do not show, or look like a space, as code points, so that the user approves exactly what is visible. */
export function visible(text: string): string {
  return text.replace(/(?![\n\t ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
}
