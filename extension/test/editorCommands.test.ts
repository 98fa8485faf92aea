// Editor actions for voice commands, and their messages on failure.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Uri, install } from './fakeVscode';
import { type Model, START } from '../src/model';
import type { EditorCommandParams } from '../src/protocol.gen';

const fake = install();
const { editorCommand } = require('../src/editorCommands.js') as typeof import('../src/editorCommands');

const document = (path: string, lineCount: number): { uri: Uri; lineCount: number } => ({ uri: new Uri('vscode-remote', path), lineCount });

/** Runs a command; returns what was executed and the spoken message. */
async function run(params: EditorCommandParams, model: Model = START): Promise<[executed: unknown[][], problem: string | undefined]> {
  fake.executed.length = 0;
  const { problem } = await editorCommand(params, model);
  return [[...fake.executed], problem];
}

test('without an open file there is nothing to scroll, undo or go to', async () => {
  fake.editor = undefined;
  for (const command of ['undo', 'scrollUp', 'scrollDown', 'nextProblem', 'previousProblem', 'goToLine'] as const) {
    assert.deepEqual(await run({ command, number: 3 }), [[], 'No file is open.'], command);
  }
});

test('what is done in the open file has its focus', async () => {
  fake.problems = [{ severity: 0, message: 'broken', range: { start: { line: 3 } } }];
  for (const [command, ...executed] of [
    ['undo', 'undo'],
    ['scrollUp', 'editorScroll', { to: 'up', by: 'halfPage', revealCursor: false }],
    ['scrollDown', 'editorScroll', { to: 'down', by: 'halfPage', revealCursor: false }],
    ['nextProblem', 'editor.action.marker.next'],
    ['previousProblem', 'editor.action.marker.prev'],
  ] as const) {
    fake.editor = { document: document('/w/main.go', 300) };
    assert.deepEqual(await run({ command }), [[['show', '/w/main.go'], executed], undefined], command);
  }
});

test('a file without problems has no next one', async () => {
  fake.problems = [];
  fake.editor = { document: document('/w/main.go', 300) };
  assert.deepEqual(await run({ command: 'nextProblem' }), [[], 'There are no problems in this file.']);
});

test('a line has to be there', async () => {
  fake.editor = { document: document('/w/main.go', 300) };
  assert.deepEqual(await run({ command: 'goToLine', number: 301 }), [[], 'This file has 300 lines.']);
  assert.deepEqual(await run({ command: 'goToLine', number: 300 }), [[['show', '/w/main.go']], undefined]);
  assert.deepEqual({ ...(fake.editor as { selection: { active: object } }).selection.active }, { line: 299, character: 0 });
});

test('the first of the names that exists is opened, at its line', async () => {
  fake.files.set('/w/internal/parser.go', 'package parser').set('/w/other/deep/parser.go', '').set('/w/myparser.go', '');
  fake.documents.set('/w/internal/parser.go', document('/w/internal/parser.go', 50) as never);
  assert.deepEqual(await run({ command: 'openFile', names: ['f.close', './internal/parser.go:42'] }), [[['show', '/w/internal/parser.go'], ['show', '/w/internal/parser.go']], undefined]);
  assert.deepEqual(await run({ command: 'openFile', names: ['parser.go'] }), [[['show', '/w/internal/parser.go']], undefined]);
  assert.deepEqual(await run({ command: 'openFile', names: ['parser.go:99'] }), [[['show', '/w/internal/parser.go']], 'This file has 50 lines.']);
  fake.pipes.add('/w/internal/pipe.go');
  fake.files.set('/w/internal/pipe.go', '');
  assert.deepEqual(await run({ command: 'openFile', names: ['pipe.go'] }), [[], 'There is no file pipe.go here.']);
  assert.deepEqual(await run({ command: 'openFile', names: ['lexer.go'] }), [[], 'There is no file lexer.go here.']);
  assert.deepEqual(await run({ command: 'openFile', names: ['*', '../../etc/passwd'] }), [[], 'None of these files is here.']);
});

test('the first remedy is that of the problem that is shown', async () => {
  assert.deepEqual(await run({ command: 'fixIt' }), [[], 'There is nothing I can fix.']);
  const problem = { code: 'deviceLost', message: '', remediation: '', retryable: true } as Model['problem'];
  assert.deepEqual(await run({ command: 'fixIt' }, { ...START, problem }), [[['agentvoice.selectMicrophone']], undefined]);
});

test('a voice is kept in the settings', async () => {
  assert.deepEqual(await run({ command: 'keepVoice', names: ['bf_emma'] }), [[], undefined]);
  assert.equal(fake.settings.get('agentvoice.voice.name'), 'bf_emma');
  fake.unwritable = true;
  assert.deepEqual(await run({ command: 'keepVoice', names: ['bm_george'] }), [[], 'The settings could not be written, so this voice is used only for now.']);
  fake.unwritable = false;
});

test('an assistant that was chosen by voice is kept, and Copilot is asked about only when it is that one', async () => {
  assert.deepEqual(await run({ command: 'keepAssistant', names: ['acp:codex-acp'] }), [[], undefined]);
  assert.equal(fake.settings.get('agentvoice.agent'), 'acp:codex-acp');
  assert.deepEqual(await run({ command: 'keepAssistant', names: ['copilot'] }), [[['agentvoice.allowCopilot']], undefined]);
  assert.equal(fake.settings.has('agentvoice.agent'), false);
  fake.unwritable = true;
  assert.deepEqual(await run({ command: 'keepAssistant', names: ['offline'] }), [[], 'The settings could not be written, so this assistant is used only for now.']);
  fake.unwritable = false;
});

test('settings, microphones and tests need no open file', async () => {
  fake.editor = undefined;
  assert.deepEqual(await run({ command: 'openSettings' }), [[['agentvoice.openSettings']], undefined]);
  assert.deepEqual(await run({ command: 'chooseMicrophone' }), [[['agentvoice.selectMicrophone']], undefined]);
  fake.answers.set('vscode.testing.getControllersWithTests', () => Promise.resolve(['go']));
  assert.deepEqual(await run({ command: 'runTests' }), [[['vscode.testing.getControllersWithTests'], ['testing.runAll']], undefined]);
});

test('tests that the editor does not know are for the assistant', async () => {
  for (const answer of [() => Promise.resolve([]), () => Promise.resolve(undefined), () => Promise.reject(new Error('command not found'))]) {
    fake.answers.set('vscode.testing.getControllersWithTests', answer);
    fake.executed.length = 0;
    assert.deepEqual(await editorCommand({ command: 'runTests' }, START), { toAssistant: true });
    assert.deepEqual(fake.executed, [['vscode.testing.getControllersWithTests']]);
  }
});
