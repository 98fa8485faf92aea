// The transcript in the order in which it happened. The daemon has an answer as one
// text, however many tools were called in it: here it is cut where each call came.

import type { Line } from './model';

/** Part is a line, or what of an answer came between two calls. */
export interface Part {
  readonly line: Line;
  /** that of the line for its first part */
  readonly id: number;
  /** where it begins and ends in the line's text, in UTF-16 units */
  readonly from: number;
  readonly to: number;
  /** nothing of the line follows */
  readonly last: boolean;
}

/** Ids of parts are between those of lines; more parts than that are shown as one. */
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
    // What follows a call begins a paragraph; a call behind all that was said cuts nothing.
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
    // Calls at the same place stand together, before what follows them.
    const more = lines.slice(i + 1).some((l) => l.within?.line === of?.id && l.within?.at === line.within?.at);
    if (of !== undefined && next > 0 && next !== shown.get(of.id) && !more) {
      shown.set(of.id, next);
      out.push(part(of, next));
    }
  }
  known.set(lines, out);
  return out;
}

/** The place of a line's text as one of a part. */
export function placeIn(lines: readonly Line[], id: number, at: number): { readonly id: number; readonly from: number } | undefined {
  return inOrder(lines).findLast((p) => p.line.id === id && p.from <= at);
}
