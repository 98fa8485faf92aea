// The command that installs a local voice, with the real daemon and a model server that breaks off and
// hangs. Where an installation succeeds, a program prints what the daemon would.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { TokenSource, install } from './fakeVscode';

const fake = install();
const extension = require('../src/extension') as typeof import('../src/extension');
const { Meter } = require('../src/localVoice') as typeof import('../src/localVoice');
const root = join(__dirname, '..', '..');
const daemon = process.env['AGENTVOICE_DAEMON'] ?? join(root, '..', 'bin', 'agentvoice-daemon');

const dir = mkdtempSync(join(tmpdir(), 'agentvoice-voice-'));
const content = Buffer.alloc(400_000, 'not a model');
const ranges: string[] = [];
let answer: (req: IncomingMessage, res: ServerResponse, n: number) => boolean = () => false;

const server = createServer((req, res) => {
  ranges.push(req.headers.range ?? '');
  if (answer(req, res, ranges.length)) {
    return;
  }
  const from = Number(/bytes=(\d+)-/.exec(req.headers.range ?? '')?.[1] ?? 0);
  res.writeHead(from > 0 ? 206 : 200, { 'content-length': content.length - from, ...(from > 0 ? { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` } : {}) });
  res.end(content.subarray(from));
});

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const file = { path: 'model.onnx', size: content.length, sha256: createHash('sha256').update(content).digest('hex') };
  const model = {
    name: 'tone', title: 'Tone language', kind: 'nemo-ctc', parts: { model: 'model.onnx', tokens: 'model.onnx' }, languages: ['en'],
    licence: { name: 'OpenRAIL-M', url: 'https://example.org/licence' }, machine: 'small', figures: [{ what: 'word error rate', value: '1 %', source: 'a test' }], sources: [base], files: [file],
  };
  const manifest = { engine: { version: '', licence: { name: '', url: '' }, packages: [] }, models: [model] };
  writeFileSync(join(dir, 'manifest.json'), JSON.stringify(manifest));
  writeFileSync(join(dir, 'script.txt'), '');
  Object.assign(process.env, { AGENTVOICE_MANIFEST: join(dir, 'manifest.json'), AGENTVOICE_MODELS: join(dir, 'models') });
  fake.settings.set('agentvoice.daemon.arguments', ['--headless', '--script', join(dir, 'script.txt')]);
  extension.activate(context() as never);
});

after(async () => {
  await extension.deactivate();
  server.closeAllConnections();
  server.close();
  rmSync(dir, { recursive: true, force: true });
});

const memento = { get: () => undefined, update: () => Promise.resolve() };
const context = () => ({
  subscriptions: [] as { dispose(): void }[], extensionUri: { path: root }, extensionPath: root, extension: { id: 'agentvoice.agent-voice', packageJSON: {} },
  globalStorageUri: { path: '/user/User/globalStorage/agentvoice.agent-voice' }, globalState: memento, workspaceState: memento,
  languageModelAccessInformation: { canSendRequest: () => true, onDidChange: () => ({ dispose: () => undefined }) },
  secrets: { get: () => Promise.resolve(undefined), store: () => Promise.resolve(), delete: () => Promise.resolve() },
});

let listed: readonly { label: string; description?: string; detail?: string; picked?: boolean }[] = [];
let details: string[] = [];
let licence: 'Accept and Install' | 'closed' = 'closed';

beforeEach(() => {
  rmSync(join(dir, 'models'), { recursive: true, force: true });
  ranges.length = fake.toasts.length = fake.opened.length = fake.progress.steps.length = 0;
  fake.progress.token = new TokenSource();
  answer = () => false;
  details = [];
  licence = 'Accept and Install';
  fake.settings.set('agentvoice.daemon.path', daemon);
  fake.pick = (items) => ((listed = items), items.filter((i) => (i as { picked?: boolean }).picked));
  fake.press = (message, _buttons, detail) => {
    if (message === 'Do you accept these licences?') {
      details.push(detail);
      return licence === 'closed' || details.length % 2 === 0 ? licence : 'Open Licences';
    }
    return 'closed';
  };
});

const program = join(dir, 'daemon'); // lists and installs what the tests write to files
const run = (): unknown => fake.commands.get('agentvoice.installLocalVoice')?.();

test('what is recommended is chosen, and nothing is downloaded before the licences were accepted', { timeout: 300_000 }, async () => {
  licence = 'closed';
  await run();
  // The default models are on the machine of some tests.
  assert.deepEqual(listed.filter((m) => !m.label.startsWith('$(check)')).map(({ label, description, detail, picked }) => ({ label, description, detail, picked })), [
    { label: 'tone', description: 'hears, 1 MB, OpenRAIL-M', detail: 'Tone language · en · word error rate: 1 % (a test)', picked: true },
  ]);
  assert.deepEqual(details, ['tone (1 MB): OpenRAIL-M\nhttps://example.org/licence']);
  licence = 'Accept and Install';
  fake.pick = () => undefined; // the user dismisses the list
  await run();
  assert.equal(details.length, 1);
  assert.deepEqual(ranges, []);
  assert.ok(!existsSync(join(dir, 'models')));
});

test('a cut download goes on, shows its progress, and a model that does not work is told with what to do', { timeout: 300_000 }, async () => {
  answer = (_req, res, n) => {
    if (n > 1) {
      return false;
    }
    res.writeHead(200, { 'content-length': content.length });
    res.write(content.subarray(0, 100_000), () => res.destroy());
    return true;
  };
  await run();
  assert.equal(fake.opened.length, 1, 'the licence was opened');
  assert.deepEqual(details.length, 2, 'and asked about again');
  assert.deepEqual(ranges, ['', 'bytes=100000-']);
  const steps = fake.progress.steps;
  assert.equal(Math.round(steps.reduce((sum, s) => sum + (s.increment ?? 0), 0)), 100);
  assert.match(steps.at(-1)?.message ?? '', /^tone: 1 MB of 1 MB$/);
  assert.match(fake.toasts.at(-1) ?? '', /^The local voice was not installed: tone is installed but does not work: .{1,600}; /);
});

test('a cancelled download is continued by the next one', { timeout: 300_000 }, async () => {
  answer = (_req, res, n) => {
    if (n > 1) {
      return false;
    }
    res.writeHead(200, { 'content-length': content.length });
    res.write(content.subarray(0, 150_000), () => setTimeout(() => fake.progress.token.cancel(), 300));
    return true;
  };
  await run();
  assert.equal(fake.toasts.at(-1), 'The installation was stopped. The next one continues where it was.');
  fake.progress.token = new TokenSource();
  details = [];
  await run();
  assert.deepEqual(ranges, ['', 'bytes=150000-']);
});

test('an installation that succeeds starts the daemon again, so that it is used', { timeout: 300_000 }, async () => {
  const entry = (name: string, installed: boolean) => ({ name, bytes: 2e6, licence: { name: 'MIT', url: 'https://example.org/mit' }, installed, recommended: true, byEngine: true, mustAccept: name === 'engine' });
  writeFileSync(join(dir, 'list.json'), JSON.stringify({ engine: entry('engine', false), models: [entry('a', false), entry('b', true)] }));
  writeFileSync(join(dir, 'lines'), [
    { event: 'licence', name: 'engine' }, { event: 'progress', name: 'engine', done: 1e6, total: 2e6 }, { event: 'installed', name: 'engine' },
    { event: 'note', name: 'a', message: 'trying again' }, { event: 'progress', name: 'a', done: 2e6, total: 2e6 }, { event: 'installed', name: 'a' },
  ].map((l) => JSON.stringify(l)).join('\n'));
  writeFileSync(program, `#!/bin/sh
case "$1 $2" in
"models list") exec cat "${dir}/list.json" ;;
"models install") echo "$*" >"${dir}/asked"; exec cat "${dir}/lines" ;;
"serve --stdio") echo served >>"${dir}/served"; exec "${daemon}" "$@" ;;
*) exec "${daemon}" "$@" ;;
esac
`);
  chmodSync(program, 0o755);
  fake.settings.set('agentvoice.daemon.path', program);
  await run();
  assert.ok(!existsSync(join(dir, 'served')), 'a daemon that does not run is not started');
  await fake.commands.get('agentvoice.restartDaemon')?.();
  await run();
  assert.equal(fake.toasts.at(-1), 'The local voice is installed.');
  assert.deepEqual(fake.progress.steps.map((s) => s.increment), [25, 50, 25, 50]);
  assert.equal(readFileSync(join(dir, 'served'), 'utf8'), 'served\nserved\n');
  assert.equal(readFileSync(join(dir, 'asked'), 'utf8').trim(), 'models install --json --accept-licence engine a');
});

test('a permissive licence is not asked about, and a model that needs no engine comes without it', { timeout: 300_000 }, async () => {
  const entry = (name: string) => ({ name, bytes: 2e6, licence: { name: 'Apache-2.0', url: 'https://example.org/apache' }, installed: false, recommended: true, byEngine: false, mustAccept: false });
  writeFileSync(join(dir, 'list.json'), JSON.stringify({ engine: { ...entry('engine'), mustAccept: true }, models: [entry('a')] }));
  writeFileSync(join(dir, 'lines'), JSON.stringify({ event: 'installed', name: 'a' }));
  fake.settings.set('agentvoice.daemon.path', program);
  await run();
  assert.deepEqual(details, []);
  assert.equal(readFileSync(join(dir, 'asked'), 'utf8').trim(), 'models install --json --accept-licence a');
});

test('a daemon that is not there is told', { timeout: 300_000 }, async () => {
  fake.settings.set('agentvoice.daemon.path', join(dir, 'nothing'));
  await run();
  assert.match(fake.toasts.at(-1) ?? '', /^agentvoice.daemon.path does not point to a program\. Correct the setting/);
});

test('the bar never goes back', () => {
  const meter = new Meter([{ name: 'a', bytes: 100, installed: false, recommended: true }, { name: 'b', bytes: 300, installed: false, recommended: true }]);
  const steps = [{ name: 'a', done: 50 }, { name: 'a', done: 20 }, { name: 'a', done: 100 }, { name: 'b', done: 300 }, { name: 'b', done: 900 }].map((l) => meter.advance(l));
  assert.deepEqual(steps, [12.5, 0, 12.5, 75, 0]);
});
