// The panel's model after real wire traces. Each conversation is held with the real daemon in virtual time, and its
// recording in test/traces is replayed. AGENTVOICE_TRACES=write records.

import assert from 'node:assert/strict';
import { test as nodeTest } from 'node:test';
import type { Model } from '../src/model';
import { english } from '../src/text';
import { shownLines } from '../src/view';
import { type Answer, Desk } from './headless';
import { recorded, replay } from './trace';

/** What the panel shows, from top to bottom. */
const outline = (m: Model): string[] =>
  shownLines(english)(m.lines).map((l) => (l.call === undefined ? `${l.who}: ${l.text.trim()}` : `${l.call.name} ${l.call.status}`));

/** Holds a conversation until it listens again, and compares the panel with want: then, and after the recorded trace. */
function test(name: string, trace: string, script: string, answer: Answer, want: readonly string[], holds: (m: Model) => boolean): void {
  void nodeTest(name, { timeout: 300_000 }, async () => {
    const desk = new Desk(script, answer);
    try {
      await desk.conversation.start();
      await desk.until('the end', (m) => holds(m) && m.snapshot?.state === 'listening' && m.openTurns.size === 0);
      await desk.settled();
      assert.deepEqual(outline(desk.model), want);
      assert.deepEqual(outline(await replay(recorded(trace, desk.trace))), want, 'the recorded trace');
    } finally {
      await desk.close();
    }
  });
}

const answered = (m: Model): boolean => m.lines.some((l) => l.role === 'assistant' && l.kind === 'speech' && l.final && /done/i.test(l.text));

/** Begins each round with signs of life without words, as a model that thinks does. */
const acts = (first: string): Answer => (params, out) => {
  const round = params.round ?? 0;
  out.text('');
  if (round === 0 && first !== '') {
    out.text(first);
  }
  if (round < 2) {
    out.call(`call-${round}`, 'runTests', { part: round });
    out.text('');
  } else {
    out.text('All done.');
  }
  return Promise.resolve({ status: 'completed' });
};

const TWICE_YES = `
auto speech 0ms 500ms
await state listening
say "do the tests pass"
await answer copilot/send
after 8s
say "yes please"
after 1s
await answer copilot/send
after 8s
say "yes please"
after 1s
await answer copilot/send
after 8s
`;

test('text, calls and what the user says to them are shown in the order in which they happened', 'calls-after-text', TWICE_YES, acts('I look.'), [
  'user: do the tests pass', 'assistant: I look.', 'runTests completed', 'user: yes please', 'runTests completed', 'user: yes please', 'assistant: All done.',
], answered);

test('calls before the first word stand above it, although the model thought before', 'calls-before-text', TWICE_YES, acts(''), [
  'user: do the tests pass', 'runTests completed', 'user: yes please', 'runTests completed', 'user: yes please', 'assistant: All done.',
], answered);

nodeTest('a trace in which a round begins with a blank, as daemons sent it until 0.1: the next call stands before the text', async () => {
  assert.deepEqual(outline(await replay(recorded('blank-round'))), [
    'user: do the tests pass', 'assistant: I look.', 'runTests completed', 'user: yes please', 'runTests completed', 'user: yes please', 'assistant: All done.',
  ]);
});
