// Reads the number of failed tests from the end of what a test runner prints.

/** How the runners say it: their line, and the number in it. */
const SUMMARIES: readonly RegExp[] = [
  /^(?:#|ℹ) fail (\d+)$/m, // node --test
  /^ *Tests:? +(?:\d+ \w+[,|] +)*?(\d+) failed/m, // Jest, Vitest
  /^=* ?(?:.*, )?(\d+) failed\b.* in [\d.]+s/m, // pytest
  /^test result: FAILED\. \d+ passed; (\d+) failed/m, // cargo
  /^ *(\d+) failing$/m, // Mocha
];

/** The number of failed tests; undefined if the output does not say. */
export function failures(output: string): number | undefined {
  for (const summary of SUMMARIES) {
    const all = [...output.matchAll(new RegExp(summary, 'gm'))].map(([, n]) => Number(n));
    const sum = all.reduce((a, b) => a + b, 0);
    if (sum > 0) {
      return sum;
    }
  }
  const go = output.match(/^--- FAIL: /gm)?.length ?? 0; // go test, whose subtests are indented
  return go > 0 ? go : undefined;
}
