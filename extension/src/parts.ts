// The transcript in chronological order. The daemon sends an answer as one text, however many tools it
// called; this splits it where each call, and what the user said to it, happened.

import type { Line } from './transcript';

/** Part is a line, or the part of an answer between two calls. */
export interface Part {
  readonly line: Line;
  /** the line's id for its first part */
  readonly id: number;
  /** its range in the line's text, in UTF-16 units */
  readonly from: number;
  readonly to: number;
  /** the last part of the line */
  readonly last: boolean;
}

/** Ids of parts lie between those of lines; a longer answer shows its remaining parts as one. */
const MOST = 1000;

const known = new WeakMap<readonly Line[], Part[]>();

/** The parts of a transcript. */
export function inOrder(lines: readonly Line[]): readonly Part[] {
  const before = known.get(lines);
  if (before !== undefined) {
    return before;
  }
  const answers = new Map(lines.filter((l) => l.kind === 'speech' && l.role === 'assistant').map((l) => [l.id, l]));
  const cuts = new Map<number, number[]>();
  for (const { within } of lines) {
    const text = within === undefined ? '' : (answers.get(within.line)?.text ?? '');
    const at = cuts.get(within?.line ?? 0) ?? [];
    // Text after a call starts a paragraph; a call after all text does not split it.
    if (within !== undefined && at.length < MOST - 1 && text.slice(at.at(-1) ?? 0, within.at).trim() !== '' && text.slice(within.at).trim() !== '') {
      cuts.set(within.line, [...at, within.at]);
    }
  }
  const part = (line: Line, n: number): Part => {
    const at = cuts.get(line.id) ?? [];
    return { line, id: line.id + n / MOST, from: at[n - 1] ?? 0, to: at[n] ?? line.text.length, last: n === at.length };
  };
  const shown = new Map<number, number>();
  const out: Part[] = [];
  for (const [i, line] of lines.entries()) {
    out.push(part(line, 0));
    const of = answers.get(line.within?.line ?? 0);
    const next = of === undefined ? -1 : (cuts.get(of.id) ?? []).indexOf(line.within?.at ?? -1) + 1;
    // Calls at the same position stay together, before the text that follows.
    const more = lines.slice(i + 1).some((l) => l.within?.line === of?.id && l.within?.at === line.within?.at);
    if (of !== undefined && next > 0 && next !== shown.get(of.id) && !more) {
      shown.set(of.id, next);
      out.push(part(of, next));
    }
  }
  known.set(lines, out);
  return out;
}

/** Converts a position in a line's text to one in a part. */
export function placeIn(lines: readonly Line[], id: number, at: number): { readonly id: number; readonly from: number } | undefined {
  return inOrder(lines).findLast((p) => p.line.id === id && p.from <= at);
}
