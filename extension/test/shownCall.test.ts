// A tool call in the panel: its row in words, and all of its members.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowOf } from '../src/callRow';
import { type Member, shownCall } from '../src/shownCall';
import { english } from '../src/text';
import type { Call } from '../src/transcript';
import { seeded } from './seeded';

const call = (name: string, input: unknown, over: Partial<Call> = {}): Call => ({ callId: 'c', name, status: 'completed', destructive: false, input, ...over });
/** A row with code in backticks. */
const row = (...args: Parameters<typeof call>): string => rowOf(call(...args), english).map(({ text, code }) => (code ? `\`${text}\`` : text)).join('');

test('a call that ran says in words what it did, where, and how it ended', () => {
  const tests = { command: 'npm test', folder: '/home/me/api' };
  assert.equal(row('editor_run_tests', tests, { outcome: '3 failed' }), 'Ran `npm test` in api, 3 failed');
  assert.equal(row('editor_run_tests', { ...tests, workspaceFolder: 'the api' }, { outcome: 'passed' }), 'Ran `npm test` in the api, passed');
  assert.equal(row('editor_run_command', { command: 'make' }, { outcome: 'exit code 2' }), 'Ran `make`, exit code 2');
  assert.equal(row('editor_run_task', { task: 'build', command: 'make', folder: '/w' }), 'Ran the task `build`');
  assert.equal(row('editor_apply_edit', { path: 'src/a.ts', edits: [] }), 'Changed `src/a.ts`');
  assert.equal(row('editor_apply_edit', { path: 'src/a.ts', create: true, edits: [] }), 'Created `src/a.ts`');
  assert.equal(row('editor_rename_symbol', { symbol: 'totl', newName: 'total' }), 'Renamed `totl` to `total`');
  assert.equal(row('editor_open', { path: 'a.ts', symbol: 'parse' }), 'Opened `parse`');
  assert.equal(row('editor_go_to_line', { line: 7 }), 'Went to line 7');
  assert.equal(row('editor_search', { text: 'x\n y' }), 'Searched for `x y`');
  assert.equal(row('editor_read_file', { path: 'a.ts' }), 'Read `a.ts`');
  assert.deepEqual(['next_problem', 'read_problems', 'list_files', 'git_status', 'git_diff'].map((name) => row(`editor_${name}`, {})),
    ['Went to the next problem', 'Read the problems', 'Listed the files', 'Read the Git status', 'Read the changes in Git']);
  assert.equal(row('fake_runTests', {}), 'Used the tool fake run tests');
});

test('a call that did not run says so instead', () => {
  const input = { command: 'npm test', folder: '/home/me/api' };
  const rows = (['requested', 'waitingForApproval', 'running', 'failed', 'rejected', 'cancelled'] as const).map((status) => row('editor_run_tests', input, { status }));
  assert.deepEqual(rows, ['Requested', 'Needs approval', 'Running', 'Failed', 'Not allowed', 'Cancelled'].map((s) => `${s}: \`npm test\` in api`));
  assert.equal(row('editor_rename_symbol', { symbol: 'a', newName: 'b' }, { status: 'failed' }), 'Failed: `a` → `b`');
  assert.equal(row('editor_git_status', {}, { status: 'running' }), 'Running: git status');
});

test('what a coding agent calls its tools does not matter: its row is its title, or its command', () => {
  assert.equal(row('editor_apply_edit', { path: 'a.ts' }, { title: 'Edit b.ts', folder: '/w' }), 'Edit b.ts');
  assert.equal(row('execute', {}, { commands: ['go vet'], folder: '/home/me/api' }), 'Ran `go vet` in api');
});

test('a long command is one short line in its row, and the placeholders of a sentence are not those of a name', () => {
  assert.equal(row('editor_run_command', { command: `echo ${'x'.repeat(200)}\nrm -rf .` }).length, 'Ran ``'.length + 81);
  assert.equal(row('editor_rename_symbol', { symbol: '{1}', newName: '{0}' }), 'Renamed `{1}` to `{0}`');
  assert.equal(shownCall(call('editor_read_file', { path: 'a\u202e.ts' }), english).row.at(-1)?.text, 'a\\u{202e}.ts');
});

test('no text of a call is missing from its members, whatever their names are', () => {
  const below = seeded(40);
  const pick = <T>(all: readonly T[]): T => all[below(all.length)] as T;
  const keys = ['oldText', 'newText', 'OldText', 'newtext', 'old', 'new', 'oldPath', 'path', 'command', 'newName'];
  const shown = ({ name, value, diff }: Member): string[] => [name, value, ...(diff ?? []).map(({ text }) => text)];
  for (let i = 0; i < 2000; i++) {
    let n = 0;
    const object = (): Record<string, unknown> => Object.fromEntries(Array.from({ length: 1 + below(5) }, () => [pick(keys), below(10) === 0 ? n++ : `value-${i}-${n++}`]));
    const input: Record<string, unknown> = { ...object(), ...(below(2) === 0 ? { edits: [object(), object()] } : {}) };
    const commands = below(3) === 0 ? [Object.values(input).find((v): v is string => typeof v === 'string') ?? ''] : [];
    const { members } = shownCall(call('edit', input, { commands }), english);
    const all = members.flatMap(shown);
    for (const text of JSON.stringify(input).match(/value-\d+-\d+/g) ?? []) {
      assert.ok(all.includes(text), `${text} of ${JSON.stringify(input)} is not in ${JSON.stringify(members)}`);
    }
    for (const { diff } of members) {
      const marks = (diff ?? []).map(({ is }) => is).filter((is) => is !== 'kept');
      assert.deepEqual(marks, [...marks].sort((a, b) => (a === b ? 0 : a === 'removed' ? -1 : 1)), 'old before new');
    }
  }
});
