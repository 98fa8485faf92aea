// The editor's built-in tools: what they may access, what needs approval, and what they do.

import assert from 'node:assert/strict';
import { mkdtempSync, mkdirSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { START } from '../src/model';
import { english } from '../src/text';
import { Document, Position, Range, TabInputTextDiff, TokenSource, Uri, WorkspaceEdit, install } from './fakeVscode';

const fake = install();
const { Guard } = require('../src/copilot/guard') as typeof import('../src/copilot/guard');
const { Files } = require('../src/tools/files') as typeof import('../src/tools/files');
const { OwnTools } = require('../src/tools/own') as typeof import('../src/tools/own');
const { edited } = require('../src/tools/editing') as typeof import('../src/tools/editing');
const { difference } = require('../src/tools/changes') as typeof import('../src/tools/changes');
const { plain } = require('../src/tools/shell') as typeof import('../src/tools/shell');
const { failures } = require('../src/tools/testOutput') as typeof import('../src/tools/testOutput');

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
const root = realpathSync(mkdtempSync(join(tmpdir(), 'agentvoice-tools-')));
after(() => rmSync(root, { recursive: true, force: true }));

let tools: InstanceType<typeof OwnTools>;
let calls = 0;
/** what the tools said of their calls, in a few words */
const outcomes: string[] = [];

beforeEach(() => {
  fake.settings.clear();
  fake.answers.clear();
  fake.executed.length = 0;
  fake.files.clear();
  fake.documents.clear();
  fake.tabs.length = 0;
  fake.terminals.length = outcomes.length = fake.textDocuments.length = 0;
  fake.disk = false;
  fake.tasks = [];
  fake.problems = [];
  fake.git = undefined;
  fake.editor = undefined;
  fake.folders = [new Uri('vscode-remote', '/w')];
  tools = new OwnTools(new Files(new Guard('/home/me/.config/Code/User', () => undefined)), quiet, english, (_callId, outcome) => void outcomes.push(outcome));
});

/** Adds a file to the workspace. */
function file(path: string, text: string): Document {
  const document = new Document(new Uri('vscode-remote', path), text);
  fake.documents.set(path, document);
  fake.files.set(path, text);
  return document;
}

/** Calls a tool as a model does, and runs it as if approved. */
async function call(name: string, input: object, meanwhile?: (callId: string) => Promise<void>): Promise<{ asked: unknown; allowed: boolean; content: string; isError: boolean | undefined; refused: boolean }> {
  const callId = `call-${++calls}`;
  const { input: asked, allowed } = await tools.prepare(callId, name, input);
  await meanwhile?.(callId);
  const { content, isError, refused } = await tools.invoke({ callId, name, input: asked }, new TokenSource().token);
  return { asked, allowed, content, isError, refused: refused === true };
}

const text = async (name: string, input: object): Promise<string> => (await call(name, input)).content;

test('the settings say which tools are offered, and only reading ones pass without a question', async () => {
  const names = (): string[] => tools.specs().map((spec) => spec.name);
  assert.equal(names().length, 13);
  assert.ok(!names().includes('editor_run_command'), 'no folder is of this machine');
  fake.folders = [Uri.file('/w')];
  assert.equal(names().length, 14);
  assert.deepEqual(tools.specs().filter((spec) => spec.destructive).map((spec) => spec.name), ['editor_run_task', 'editor_run_command']);
  assert.equal((await tools.prepare('a', 'editor_read_file', {})).allowed, false);
  fake.settings.set('agentvoice.tools.withoutQuestion', ['editor_*']);
  assert.equal((await tools.prepare('b', 'editor_read_file', {})).allowed, true);
  assert.equal((await tools.prepare('c', 'editor_run_command', { command: 'ls' })).allowed, false);
  fake.settings.set('agentvoice.tools.editor', 'read');
  assert.ok(names().includes('editor_search') && !names().includes('editor_apply_edit'));
  assert.match((await tools.invoke({ callId: 'd', name: 'editor_run_command', input: { command: 'ls' } }, new TokenSource().token)).content, /not allowed any more/);
  fake.settings.set('agentvoice.tools.editor', 'none');
  assert.deepEqual(names(), []);
});

test('a file is read in parts, and what may hold secrets is not', async () => {
  file('/w/src/a.ts', Array.from({ length: 900 }, (_, i) => `line ${i + 1}`).join('\n'));
  assert.match(await text('editor_read_file', { path: 'src/a.ts', from: 2, to: 3 }), /lines 2 to 3 of 900:\nline 2\nline 3\n$/);
  assert.match(await text('editor_read_file', { path: 'src/a.ts' }), /lines 1 to 400 of 900:/);
  file('/w/.env', 'KEY=1');
  file('/w/key.txt', '-----BEGIN RSA PRIVATE KEY-----\n');
  for (const path of ['.env', 'key.txt']) {
    assert.match(await text('editor_read_file', { path }), /is never read or changed/, path);
  }
  fake.settings.set('files.exclude', { '**/gen/**': true });
  file('/w/gen/x.ts', 'generated');
  assert.match(await text('editor_read_file', { path: 'gen/x.ts' }), /is never read or changed/);
  assert.match(await text('editor_read_file', { path: 'nowhere.ts' }), /is not there/);
});

test('no path leads out of the workspace', async () => {
  file('/etc/passwd', 'root');
  for (const path of ['../etc/passwd', '/etc/passwd', 'src/../../etc/passwd', '..\\etc\\passwd', '', '.']) {
    const { content } = await call('editor_read_file', { path });
    assert.match(content, /is not in the workspace|has no "path"/, path);
  }
  assert.match(await text('editor_list_files', { pattern: '../**' }), /leads out of the workspace/);
});

test('a drive of Windows is the same in both cases, and with or without a slash before it', async () => {
  for (const folder of ['/c:/w', '/C:/w']) {
    fake.folders = [new Uri('vscode-remote', folder)];
    file(`${folder}/src/a.ts`, 'drive');
    for (const path of ['C:\\w\\src\\a.ts', 'c:/w/src/a.ts', '/c:/w/src/a.ts', '/C:/w/src/a.ts']) {
      assert.match(await text('editor_read_file', { path }), /drive$/, `${path} in ${folder}`);
    }
    for (const path of ['D:\\w\\src\\a.ts', 'C:\\W\\src\\a.ts', 'C:\\w', 'C:\\w\\..\\x']) {
      assert.match(await text('editor_read_file', { path }), /is not in the workspace/, `${path} in ${folder}`);
    }
  }
});

test('a link that leads out of the workspace is refused', { skip: process.platform === 'win32' }, async () => {
  mkdirSync(join(root, 'w'));
  writeFileSync(join(root, 'outside.txt'), 'outside');
  symlinkSync(join(root, 'outside.txt'), join(root, 'w', 'link.txt'));
  writeFileSync(join(root, 'w', 'own.txt'), 'own');
  fake.folders = [Uri.file(join(root, 'w'))];
  for (const name of ['link.txt', 'own.txt', 'new.txt']) {
    fake.documents.set(join(root, 'w', name), new Document(Uri.file(join(root, 'w', name)), name));
  }
  assert.match(await text('editor_read_file', { path: 'link.txt' }), /leads out of the workspace/);
  assert.match(await text('editor_read_file', { path: 'own.txt' }), /own\.txt$/m);
  assert.match(await text('editor_read_file', { path: 'new.txt' }), /new\.txt$/m);
});

test('a search names the lines, and leaves out what may not be seen', async () => {
  file('/w/a.ts', 'one\nparse(text)\n');
  file('/w/b.ts', 'Parse again');
  file('/w/id_rsa', 'parse');
  assert.equal(await text('editor_search', { text: 'parse' }), 'a.ts:2: parse(text)');
  assert.equal(await text('editor_search', { text: 'parse', ignoreCase: true }), 'a.ts:2: parse(text)\nb.ts:1: Parse again');
  assert.equal(await text('editor_search', { text: 'missing' }), 'Nothing was found.');
  assert.equal(await text('editor_list_files', {}), 'a.ts\nb.ts');
});

test('the tools go where a voice command goes', async () => {
  const document = file('/w/a.ts', 'one\ntwo\nthree');
  fake.editor = { document, selection: { active: new Position(1, 0) } };
  assert.equal(await text('editor_go_to_line', { line: 9 }), 'This file has 3 lines.');
  assert.match(await text('editor_open', { path: 'a.ts', line: 3 }), /^The cursor is in line \d of a\.ts\.$/);
  assert.equal(await text('editor_next_problem', {}), 'There are no problems in this file.');
});

test('an edit is asked about with its file, shown as a diff, made as it was shown, and taken back', async () => {
  const document = file('/w/src/a.ts', 'const a = 1;\nconst b = 2;\n');
  const edits = [{ oldText: 'b = 2', newText: 'b = 3' }];
  const { asked, allowed, content } = await call('editor_apply_edit', { path: 'src/a.ts', edits, comment: 'x' }, async (callId) => {
    tools.follow({ ...START, approval: { callId, name: 'editor_apply_edit', status: 'waitingForApproval', destructive: false } });
    await new Promise(setImmediate);
    const [name, left, right] = fake.executed.find(([command]) => command === 'vscode.diff') ?? [];
    assert.deepEqual([name, (left as Uri).path, (right as Uri).scheme], ['vscode.diff', '/w/src/a.ts', 'agentvoice-change']);
    fake.tabs.push({ label: 'Proposed change: a.ts', input: new TabInputTextDiff(left as Uri, right as Uri) }, { label: 'a.ts', input: undefined });
    assert.equal(document.getText(), 'const a = 1;\nconst b = 2;\n');
  });
  assert.deepEqual([asked, allowed], [{ path: 'a.ts', edits }, false]);
  assert.equal(content, 'Changed and saved: a.ts.');
  assert.deepEqual([document.getText(), document.saved, fake.tabs.length], ['const a = 1;\nconst b = 3;\n', 1, 1]);
  assert.deepEqual(await tools.command({ command: 'undo' }), {});
  assert.equal(document.getText(), 'const a = 1;\nconst b = 2;\n');
  assert.equal(await tools.command({ command: 'undo' }), undefined);
});

test('an edit that cannot be made is refused without a question', async () => {
  file('/w/a.ts', 'x\nx\n');
  file('/w/.env', 'KEY=1');
  for (const [input, why] of [
    [{ path: 'a.ts', edits: [{ oldText: 'y', newText: '' }] }, /not in the file/],
    [{ path: 'a.ts', edits: [{ oldText: 'x', newText: '' }] }, /more than once/],
    [{ path: 'a.ts', edits: [{ oldText: 'x\nx', newText: '1' }, { oldText: '\nx\n', newText: '2' }] }, /overlap/],
    [{ path: 'a.ts', edits: 'no list' }, /is not a list/],
    [{ path: 'new.ts', edits: [{ oldText: 'x', newText: '' }] }, /is not there/],
    [{ path: '.env', edits: [{ oldText: 'KEY=1', newText: 'KEY=2' }] }, /never read or changed/],
    [{ path: '../a.ts', edits: [{ oldText: '', newText: 'x' }] }, /not in the workspace/],
  ] as const) {
    const { allowed, content, isError } = await call('editor_apply_edit', input);
    assert.deepEqual([allowed, isError], [true, undefined], JSON.stringify(input));
    assert.match(content, why);
  }
});

test('a file that changed after the user saw the diff is left as it is', async () => {
  const document = file('/w/a.ts', 'one\n');
  const { content } = await call('editor_apply_edit', { path: 'a.ts', edits: [{ oldText: 'one', newText: 'two' }] }, async () => document.replace(new Range(0, 0, 0, 0), 'zero '));
  assert.match(content, /has changed since the user saw the change/);
  assert.equal(document.getText(), 'zero one\n');
});

test('a new file is made, and removed again', async () => {
  const { asked } = await call('editor_apply_edit', { path: 'new.ts', edits: [{ oldText: '', newText: 'export {};\n' }] });
  assert.equal((asked as { create?: boolean }).create, true);
  assert.equal((fake.documents.get('/w/new.ts') as Document).getText(), 'export {};\n');
  await tools.command({ command: 'undo' });
  assert.equal(fake.documents.has('/w/new.ts'), false);
});

test('a rename is the language\'s own, of the symbol at the cursor, in every file', async () => {
  const a = file('/w/a.ts', 'export const parse = 1;\n');
  const b = file('/w/b.ts', 'import { parse } from "./a";\nparse;\n');
  fake.editor = { document: a, selection: { active: new Position(0, 15) } };
  fake.answers.set('vscode.executeDocumentRenameProvider', () => {
    const edit = new WorkspaceEdit();
    edit.replace(a.uri, new Range(0, 13, 0, 18), 'read');
    edit.replace(b.uri, new Range(0, 9, 0, 14), 'read');
    edit.replace(b.uri, new Range(1, 0, 1, 5), 'read');
    return Promise.resolve(edit);
  });
  const { asked, content } = await call('editor_rename_symbol', { newName: 'read' });
  assert.deepEqual(asked, { symbol: 'parse', newName: 'read', path: 'a.ts', line: 1, files: ['a.ts', 'b.ts'] });
  assert.equal(content, 'Changed and saved: a.ts, b.ts.');
  assert.deepEqual([a.getText(), b.getText()], ['export const read = 1;\n', 'import { read } from "./a";\nread;\n']);
  await tools.command({ command: 'undo' });
  assert.deepEqual([a.getText(), b.getText()], ['export const parse = 1;\n', 'import { parse } from "./a";\nparse;\n']);
});

test('a rename that reaches a file which may not be changed is refused as a whole', async () => {
  const a = file('/w/a.ts', 'parse;\n');
  fake.answers.set('vscode.executeDocumentRenameProvider', () => {
    const edit = new WorkspaceEdit();
    edit.replace(a.uri, new Range(0, 0, 0, 5), 'read');
    edit.replace(file('/lib/index.d.ts', 'parse;\n').uri, new Range(0, 0, 0, 5), 'read');
    return Promise.resolve(edit);
  });
  const { allowed, content } = await call('editor_rename_symbol', { newName: 'read', symbol: 'parse', path: 'a.ts' });
  assert.equal(allowed, true);
  assert.match(content, /not in the workspace/);
  assert.equal(a.getText(), 'parse;\n');
});

test('the user is asked about the command that runs the tests, and its end and output are the result', { skip: process.platform === 'win32' }, async () => {
  fake.folders = [Uri.file(root)];
  assert.match(await text('editor_run_tests', {}), /not known how the tests/);
  fake.files.set(join(root, 'go.mod'), 'module x');
  assert.deepEqual((await tools.prepare('go', 'editor_run_tests', {})).input, { command: 'go test ./...', folder: root });
  fake.files.set(join(root, 'package.json'), '{"scripts":{"test":"x"}}');
  assert.deepEqual((await tools.prepare('npm', 'editor_run_tests', {})).input, { command: 'npm test', folder: root, scripts: { test: 'x' } });
  fake.tasks = [{ name: 'check', source: 'Workspace', group: { id: 'test' } }, { name: 'other', source: 'npm', group: { id: 'test' } }];
  assert.deepEqual((await tools.prepare('task', 'editor_run_tests', {})).input, { task: 'check', folder: root, click: true });
  const { asked, content } = await call('editor_run_command', { command: 'printf "\\033[31mtwo failed\\033[0m\\n"; pwd; exit 3' });
  assert.deepEqual(asked, { command: 'printf "\\033[31mtwo failed\\033[0m\\n"; pwd; exit 3', folder: root });
  assert.match(content, /^Exit code 3\. It took [\d.]+ s\.\ntwo failed\n/);
  assert.ok(content.includes(root));
  assert.match(fake.terminals[0]?.written ?? '', /^\$ printf/);
});

test('with several folders open, a command runs in the one that the call names, else in that of the open file', { skip: process.platform === 'win32' }, async () => {
  const [a, b, twin] = ['a', 'b', 'deep/b'].map((name) => join(root, 'several', name)) as [string, string, string];
  [a, b, twin].forEach((folder) => mkdirSync(folder, { recursive: true }));
  fake.folders = [Uri.file(a), Uri.file(b)];
  const ranIn = async (input: object): Promise<string> => {
    const { asked, content } = await call('editor_run_command', { command: 'pwd', ...input });
    const { folder } = asked as { folder: string };
    assert.ok(content.endsWith(`\n${folder}\n`), `shown was ${folder}, and it ran: ${content}`);
    return folder;
  };
  assert.equal(await ranIn({}), a);
  assert.equal(await ranIn({ workspaceFolder: 'b' }), b);
  assert.equal(await ranIn({ workspaceFolder: b }), b);
  fake.editor = { document: file(join(b, 'x.ts'), ''), selection: { active: new Position(0, 0) } };
  const { input } = await tools.prepare('moves', 'editor_run_command', { command: 'pwd' });
  assert.deepEqual(input, { command: 'pwd', folder: b, workspaceFolder: 'b' }, 'the call says which folder it is');
  fake.editor = undefined;
  const run = async (asked: unknown): Promise<string> => (await tools.invoke({ callId: 'moves', name: 'editor_run_command', input: asked }, new TokenSource().token)).content;
  assert.ok((await run(input)).endsWith(`\n${b}\n`), 'it runs where it was shown, whatever file is open by then');
  assert.match(await run({ command: 'pwd' }), /Several folders are open/, 'a call that shows no folder runs nowhere');
  assert.match(await run({ command: 'pwd', workspaceFolder: 'b' }), /changed while the user was asked/);
  assert.match(await run({ command: 'pwd', folder: a, workspaceFolder: 'b' }), /changed while the user was asked/);
  for (const name of ['c', '..', '/', root]) {
    const { allowed, content } = await call('editor_run_command', { command: 'pwd', workspaceFolder: name });
    assert.deepEqual([allowed, content], [true, `There is no folder ${name} open on this machine. Open are: a, b.`]);
  }
  fake.folders = [Uri.file(a), Uri.file(b), Uri.file(twin)];
  assert.equal(await ranIn({ workspaceFolder: twin }), twin);
  const { allowed, content } = await call('editor_run_command', { command: 'pwd', workspaceFolder: 'b' });
  assert.deepEqual([allowed, content], [true, `There is no folder b open on this machine. Open are: a, ${b}, ${twin}.`], 'a name of two folders says nothing');
});

test('with several folders open, the tests are those of the folder that the call names', async () => {
  const [a, b] = ['a', 'b'].map((name) => join(root, 'tested', name)) as [string, string];
  [a, b].forEach((folder) => mkdirSync(folder, { recursive: true }));
  fake.folders = [Uri.file(a), Uri.file(b)];
  fake.files.set(join(a, 'go.mod'), 'module x').set(join(b, 'Cargo.toml'), '[package]');
  const asked = async (input: object): Promise<unknown> => (await tools.prepare(`tests-${++calls}`, 'editor_run_tests', input)).input;
  assert.deepEqual(await asked({}), { command: 'go test ./...', folder: a, workspaceFolder: 'a' });
  assert.deepEqual(await asked({ workspaceFolder: 'b' }), { command: 'cargo test', folder: b, workspaceFolder: 'b' });
  const task = (at: string, name: string): object => ({ name, source: 'Workspace', group: { id: 'test' }, scope: { uri: Uri.file(at), name: at.split('/').at(-1), index: 0 } });
  fake.tasks = [task(a, 'check'), task(b, 'verify')];
  assert.deepEqual(await asked({}), { task: 'check', folder: a, click: true, workspaceFolder: 'a' });
  assert.deepEqual(await asked({ workspaceFolder: 'b' }), { task: 'verify', folder: b, click: true, workspaceFolder: 'b' });
  fake.tasks = [task(a, 'same'), task(b, 'same')];
  const named = (input: object): Promise<{ content: string; asked: unknown }> => call('editor_run_task', { task: 'same', ...input });
  assert.match((await named({})).content, /There are 2 tasks same/);
  assert.deepEqual((await named({ workspaceFolder: 'b' })).asked, { task: 'same', folder: b, click: true, workspaceFolder: 'b' });
  fake.tasks = [{ ...task(a, 'everything'), scope: 2 }, task(a, 'check')];
  assert.deepEqual(await asked({}), { task: 'everything', folder: a, click: true });
  assert.deepEqual(await asked({ workspaceFolder: 'a' }), { task: 'check', folder: a, click: true, workspaceFolder: 'a' });
  assert.deepEqual(await asked({ workspaceFolder: 'b' }), { command: 'cargo test', folder: b, workspaceFolder: 'b' });
});

test('a command is stopped with all that it started, and a long output is cut at its beginning', { skip: process.platform === 'win32' }, async () => {
  fake.folders = [Uri.file(root)];
  const source = new TokenSource();
  const running = tools.invoke({ callId: 'stop', name: 'editor_run_command', input: { command: 'echo begun; sleep 60 & sleep 60' } }, source.token);
  while (fake.terminals[0]?.written.includes('begun') !== true) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  source.cancel();
  assert.match((await running).content, /^The command was stopped\./);
  const long = await text('editor_run_command', { command: 'seq 1 20000' });
  assert.match(long, /The end of the output:\n/);
  assert.ok(long.length < 13_000 && long.endsWith('20000\n'), `${long.length}`);
});

test('what is not there, no text, too large or a folder is said as it is, and refused', async () => {
  fake.folders = [Uri.file(join(root, 'kinds'))];
  fake.disk = true;
  mkdirSync(join(root, 'kinds', 'sub'), { recursive: true });
  writeFileSync(join(root, 'kinds', 'picture.png'), 'PNG\0');
  writeFileSync(join(root, 'kinds', 'film.txt'), '');
  truncateSync(join(root, 'kinds', 'film.txt'), 51 * 1024 * 1024 - 1);
  for (const [path, why] of [['nowhere.ts', 'is not there.'], ['picture.png', 'is not a text file.'], ['film.txt', 'is too large: it has 51 MB, and at most 50 MB can be opened.'], ['sub', 'is a folder.']] as const) {
    const { content, refused } = await call('editor_read_file', { path });
    assert.deepEqual([content, refused], [`${path} ${why}`, true]);
  }
});

test('a change that cannot be saved is called so, and nothing runs on the old file', { skip: process.platform === 'win32' }, async () => {
  fake.folders = [Uri.file(root)];
  const files = ['saved.ts', 'unwritable.ts'].map((name) => {
    const document = new Document(Uri.file(join(root, name)), 'const one = 1;\n');
    fake.documents.set(document.uri.path, document);
    fake.textDocuments.push(document);
    return document;
  }) as [Document, Document];
  files[1].unwritable = true;
  const edits = [{ oldText: 'one', newText: 'two' }];
  assert.equal((await call('editor_apply_edit', { path: 'saved.ts', edits })).content, 'Changed and saved: saved.ts.');
  const { content, refused } = await call('editor_apply_edit', { path: 'unwritable.ts', edits });
  assert.match(content, /^Changed, but not saved: unwritable\.ts\. /);
  assert.equal(refused, false);
  const ran = await call('editor_run_command', { command: 'echo ran' });
  assert.match(ran.content, /^Nothing was run, because these files could not be saved.*: unwritable\.ts\./);
  assert.deepEqual([ran.refused, fake.terminals.length], [true, 0]);
  // The user wants no saving before tasks, and is told what ran.
  fake.settings.set('task.saveBeforeRun', 'never');
  assert.match(await text('editor_run_command', { command: 'echo ran' }), /^These files are not saved, so it ran with their old contents: unwritable\.ts\.\nExit code 0\./);
  assert.deepEqual(await tools.command({ command: 'undo' }), {}, 'the disk has the old file already');
  files[0].unwritable = true;
  assert.deepEqual(await tools.command({ command: 'undo' }), { problem: 'The change was undone, but not saved.' });
  assert.deepEqual(files.map((document) => document.getText()), ['const one = 1;\n', 'const one = 1;\n']);
});

test('a file that had unsaved changes is not saved with the change, and that is said', async () => {
  const document = file('/w/a.ts', 'one\n');
  document.isDirty = true;
  assert.match(await text('editor_apply_edit', { path: 'a.ts', edits: [{ oldText: 'one', newText: 'two' }] }), /^Changed, but not saved: a\.ts\./);
});

test('a deleted file is a change: named in the status, and in the diff', async () => {
  fake.folders = [Uri.file(join(root, 'git'))];
  const at = (name: string): Uri => Uri.file(join(root, 'git', name));
  mkdirSync(join(root, 'git'));
  const state = {
    HEAD: { name: 'main' }, mergeChanges: [], indexChanges: [{ uri: at('staged.ts'), status: 2 }],
    workingTreeChanges: [{ uri: at('gone.ts'), status: 6 }, { uri: at('.env'), status: 6 }, { uri: at('key.ts'), status: 6 }],
  };
  const diffWithHEAD = (path: string): Promise<string> => Promise.resolve(path.endsWith('key.ts') ? '-----BEGIN RSA PRIVATE KEY-----' : `-${path.split('/').at(-1)}`);
  fake.git = { isActive: true, exports: { getAPI: () => ({ repositories: [{ state, diffWithHEAD }], getRepository: () => ({ state, diffWithHEAD }) }) } };
  assert.equal(await text('editor_git_status', {}), 'Branch: main\nStaged: staged.ts (deleted)\nChanged: gone.ts (deleted), key.ts (deleted)');
  assert.equal(await text('editor_git_diff', {}), '-staged.ts\n-gone.ts');
  assert.equal(await text('editor_git_diff', { path: 'gone.ts' }), '-gone.ts');
  assert.match(await text('editor_git_diff', { path: 'never.ts' }), /is not there/);
});

test('one terminal shows every command from its first line, and a closed one is replaced', { skip: process.platform === 'win32' }, async () => {
  fake.folders = [Uri.file(root)];
  await text('editor_run_command', { command: 'echo first' });
  await text('editor_run_command', { command: 'echo second' });
  assert.deepEqual(fake.terminals.map(({ written }) => written), ['$ echo first\r\nfirst\r\n\r\nExit code 0.\r\n\r\n$ echo second\r\nsecond\r\n\r\nExit code 0.\r\n\r\n']);
  fake.terminals[0]?.pty.close();
  await text('editor_run_command', { command: 'echo third' });
  assert.deepEqual([fake.terminals.length, fake.terminals[1]?.written.startsWith('$ echo third\r\nthird')], [2, true]);
});

test('with no folder open, or only one of another machine, a command is refused before it is asked about', async () => {
  for (const folders of [[], [new Uri('vscode-remote', '/w')]]) {
    fake.folders = folders;
    for (const [name, input] of [['editor_run_command', { command: 'ls' }], ['editor_run_tests', {}]] as const) {
      const { allowed, content, refused } = await call(name, input);
      assert.deepEqual([allowed, refused], [true, true], name);
      assert.match(content, /^No folder of this machine is open/);
    }
  }
});

test('with several folders open, a file is that of the open file\'s folder, and the call names the folder', async () => {
  fake.folders = [new Uri('vscode-remote', '/front'), new Uri('vscode-remote', '/back')];
  const front = file('/front/a.ts', 'front');
  const back = file('/back/a.ts', 'back');
  for (const [document, folder] of [[front, 'front'], [back, 'back']] as const) {
    fake.editor = { document, selection: { active: new Position(0, 0) } };
    assert.match(await text('editor_read_file', { path: 'a.ts' }), new RegExp(`${folder}$`));
    const { input } = await tools.prepare(`in-${folder}`, 'editor_apply_edit', { path: 'a.ts', edits: [{ oldText: folder, newText: 'x' }] });
    assert.equal((input as { workspaceFolder?: string }).workspaceFolder, folder);
  }
  assert.match(await text('editor_read_file', { path: 'front/a.ts' }), /front$/, 'a path may name the folder');
});

test('what a command and the tests came to is said in a few words', { skip: process.platform === 'win32' }, async () => {
  fake.folders = [Uri.file(root)];
  await call('editor_run_command', { command: 'true' });
  await call('editor_run_command', { command: 'exit 3' });
  for (const script of ['exit 0', 'echo "# fail 2"; exit 1', 'exit 1']) {
    fake.files.set(join(root, 'package.json'), '{"scripts":{"test":"x"}}').set(join(root, 'yarn.lock'), '');
    writeFileSync(join(root, 'yarn'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const path = process.env['PATH'];
    process.env['PATH'] = `${root}:${path ?? ''}`;
    await call('editor_run_tests', {}).finally(() => (process.env['PATH'] = path));
  }
  assert.deepEqual(outcomes, ['', 'exit code 3', 'passed', '2 failed', 'exit code 1']);
});

test('the number of failed tests is read from what the usual runners print', () => {
  assert.equal(failures('# tests 5\n# pass 2\n# fail 3\n'), 3);
  assert.equal(failures('Tests:       1 failed, 2 passed, 3 total'), 1);
  assert.equal(failures('      Tests  2 failed | 5 passed (7)'), 2);
  assert.equal(failures('=== 4 failed, 1 passed in 0.12s ==='), 4);
  assert.equal(failures('test result: FAILED. 1 passed; 2 failed; 0 ignored\n\ntest result: FAILED. 3 passed; 1 failed; 0 ignored'), 3);
  assert.equal(failures('  3 passing\n  2 failing\n'), 2);
  assert.equal(failures('--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n--- FAIL: TestC (0.00s)\nFAIL\n'), 2);
  assert.equal(failures('error: cannot find module'), undefined);
});

test('texts are replaced in the line ends of the file, and only what differs is touched', () => {
  assert.equal(edited('a\r\nb\r\n', [{ oldText: 'a\nb', newText: 'c\nd' }], '\r\n'), 'c\r\nd\r\n');
  assert.equal(edited('ab', [{ oldText: 'b', newText: 'a' }, { oldText: 'a', newText: 'b' }], '\n'), 'ba');
  assert.deepEqual(difference('const a = 1;', 'const b = 1;'), [6, 7, 'b']);
  assert.deepEqual(difference('aaa', 'aa'), [2, 3, '']);
  assert.deepEqual(difference('', 'x'), [0, 0, 'x']);
  assert.equal(plain('\u001b[1;31mred\u001b[0m\r50%\r100%\r\n\u001b]0;title\u0007x'), 'red\n50%\n100%\r\nx');
});
