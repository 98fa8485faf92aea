// The table of steps and times at the end of each run, also saved as out/e2e/times.json.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { out } from './paths.ts';

interface Row {
  what: string;
  ms: number;
  note: string;
}

const rows: Row[] = [];
const counts = new Map<string, number>();

/** Adds a row. */
export function time(what: string, ms: number, note = ''): void {
  rows.push({ what, ms: Math.round(ms * 10) / 10, note });
}

/** Adds one to a number below the table. */
export function count(what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

/** Adds a row with its target, both in milliseconds. It is informational: wall-clock times depend on the load of the machine. */
export function budget(what: string, ms: number, most: number, note = ''): void {
  time(what, ms, [`${ms < most ? 'within' : 'OVER'} the budget of ${most} ms`, note].filter((n) => n !== '').join('; '));
}

/** Runs step, records its duration, and returns its result. */
export async function timed<T>(what: string, step: () => Promise<T>, note = ''): Promise<T> {
  const begin = performance.now();
  const result = await step();
  time(what, performance.now() - begin, note);
  return result;
}

/** The value below which a fraction of the values lies, by nearest rank. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

/** Prints the table, and saves it next to the screenshots. */
export function print(): void {
  writeFileSync(join(out, 'times.json'), JSON.stringify(rows, null, 2) + '\n');
  const width = Math.max(...rows.map((r) => r.what.length));
  console.log('');
  for (const { what, ms, note } of rows) {
    const shown = ms < 1000 ? `${ms.toFixed(1)} ms` : `${(ms / 1000).toFixed(2)} s`;
    console.log(`${what.padEnd(width)}  ${shown.padStart(10)}  ${note}`.trimEnd());
  }
  for (const [what, n] of counts) {
    console.log(`${what}: ${n}`);
  }
}
