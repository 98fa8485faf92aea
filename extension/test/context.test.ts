// What of the editor goes with a question: it is shown, can be switched off, and
// does not leave a workspace that is not trusted.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { english } from '../src/text';
import { install } from './fakeVscode';

const fake = install();
const { Context } = require('../src/copilot/context') as typeof import('../src/copilot/context');

const TEXT = 'one\ntwo\nthree\n';
const at = (line: number, offset: number) => ({ line, offset });

/** An editor on a file of three lines, with the second selected. */
function editor(scheme: string): unknown {
  const start = at(1, 4);
  const end = at(1, 7);
  return {
    selection: { isEmpty: false, start, end, active: end },
    document: {
      uri: { scheme, path: '/w/list.txt' },
      languageId: 'plaintext',
      getText: (range: { start: { offset: number }; end: { offset: number } }) => TEXT.slice(range.start.offset, range.end.offset),
      offsetAt: (p: { offset: number }) => p.offset,
      positionAt: (offset: number) => at(0, Math.min(offset, TEXT.length)),
    },
  };
}

beforeEach(() => {
  fake.editor = editor('file');
  fake.problems = [
    { severity: 1, message: 'Unused.', range: { start: { line: 2 } } },
    { severity: 0, message: 'Missing comma.', range: { start: { line: 0 } } },
  ];
  fake.workspaceName = 'parser';
  fake.trusted = true;
  fake.settings.clear();
});

test('what is shown is what is sent', () => {
  const c = new Context(english);
  assert.deepEqual(c.pieces().map((p) => [p.key, p.detail, p.on, p.present]), [
    ['activeFile', 'list.txt', true, true],
    ['selection', '1 line', true, true],
    ['diagnostics', '2 problems', true, true],
    ['workspaceName', 'parser', true, true],
  ]);
  const sent = new Map(c.material().map((m) => [m.key, m]));
  assert.deepEqual([...sent.keys()].sort(), ['activeFile', 'diagnostics', 'selection', 'workspaceName']);
  assert.equal(sent.get('selection')?.text, 'two');
  assert.equal(sent.get('diagnostics')?.text, 'Error, line 1: Missing comma.\nWarning, line 3: Unused.');
  assert.deepEqual([sent.get('activeFile')?.text, sent.get('activeFile')?.focus], [TEXT, 7]);
});

test('each piece is switched off for the window, or by its setting, and then it is not sent', () => {
  for (const key of ['activeFile', 'selection', 'diagnostics', 'workspaceName'] as const) {
    const c = new Context(english);
    c.set(key, false);
    assert.equal(c.material().some((m) => m.key === key), false, key);
    assert.equal(c.material().length, 3);
    c.reset();
    assert.equal(c.material().length, 4);
    fake.settings.set(`agentvoice.context.${key}`, false);
    assert.equal(c.material().some((m) => m.key === key), false, `${key} by its setting`);
    fake.settings.clear();
  }
});

test('in a workspace that is not trusted nothing is sent, whatever is switched on', () => {
  fake.trusted = false;
  assert.deepEqual(new Context(english).material(), []);
});

test('what is no document of the user is not sent, such as the output of a program', () => {
  fake.editor = editor('output');
  assert.deepEqual(new Context(english).material().map((m) => m.key), ['workspaceName']);
  fake.editor = undefined;
  fake.workspaceName = undefined;
  assert.deepEqual(new Context(english).material(), []);
});
