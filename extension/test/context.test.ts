// Editor content for a question: it is displayed, can be switched off, and is never taken from an
// untrusted workspace.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { english } from '../src/text';
import { Uri, install } from './fakeVscode';

const fake = install();
const { Context } = require('../src/copilot/context') as typeof import('../src/copilot/context');

const { Guard, hasPrivateKey, holdsSecrets } = require('../src/copilot/guard') as typeof import('../src/copilot/guard');

let told = 0;
const context = (): InstanceType<typeof Context> => new Context(english, new Guard('/home/me/.config/Code/User', () => void told++));
/** One turn of the event loop, to complete pending work. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const TEXT = 'one\ntwo\nthree\n';
const at = (line: number, offset: number) => ({ line, offset });

/** An editor with a file of three lines, the second one selected. */
function editor(scheme: string, path = '/w/list.txt', whole = TEXT): unknown {
  const start = at(1, 4);
  const end = at(1, 7);
  return {
    selection: { isEmpty: false, start, end, active: end },
    document: {
      uri: new Uri(scheme, path),
      version: 1,
      languageId: 'plaintext',
      getText: (range: { start: { offset: number }; end: { offset: number } }) => whole.slice(range.start.offset, range.end.offset),
      offsetAt: (p: { offset: number }) => p.offset,
      positionAt: (offset: number) => at(0, Math.min(offset, whole.length)),
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
  fake.git = undefined;
});

test('what is shown is what is sent', async () => {
  const c = context();
  assert.deepEqual(c.pieces().map((p) => [p.key, p.detail, p.on, p.present]), [
    ['activeFile', 'list.txt', true, true],
    ['selection', '1 line', true, true],
    ['diagnostics', '2 problems', true, true],
    ['workspaceName', 'parser', true, true],
  ]);
  const sent = new Map((await c.material()).map((m) => [m.key, m]));
  assert.deepEqual([...sent.keys()].sort(), ['activeFile', 'diagnostics', 'selection', 'workspaceName']);
  assert.equal(sent.get('selection')?.text, 'two');
  assert.equal(sent.get('diagnostics')?.text, 'Error, line 1: Missing comma.\nWarning, line 3: Unused.');
  assert.deepEqual([sent.get('activeFile')?.text, sent.get('activeFile')?.focus], [TEXT, 7]);
});

test('each piece is switched off for the window, or by its setting, and then it is not sent', async () => {
  for (const key of ['activeFile', 'selection', 'diagnostics', 'workspaceName'] as const) {
    const c = context();
    c.set(key, false);
    assert.equal((await c.material()).some((m) => m.key === key), false, key);
    assert.equal((await c.material()).length, 3);
    c.reset();
    assert.equal((await c.material()).length, 4);
    fake.settings.set(`agentvoice.context.${key}`, false);
    assert.equal((await c.material()).some((m) => m.key === key), false, `${key} by its setting`);
    fake.settings.clear();
  }
});

test('in a workspace that is not trusted nothing is sent, whatever is switched on', async () => {
  fake.trusted = false;
  assert.deepEqual((await context().material()), []);
});

test('what is no document of the user is not sent, such as the output of a program', async () => {
  fake.editor = editor('output');
  assert.deepEqual((await context().material()).map((m) => m.key), ['workspaceName']);
  fake.editor = undefined;
  fake.workspaceName = undefined;
  assert.deepEqual((await context().material()), []);
});

test('a file of 400 kB is read around the cursor only, and once for all rounds of a question', async () => {
  const whole = Array.from({ length: 20_000 }, (_x, i) => `line ${i} of the file`).join('\n');
  const e = editor('file', '/w/big.txt', whole) as { selection: { start: object; end: object; active: object }; document: { getText: (r: unknown) => string } };
  const cursor = at(0, 200_000);
  Object.assign(e.selection, { isEmpty: true, start: cursor, end: cursor, active: cursor });
  let read = 0;
  const getText = e.document.getText;
  e.document.getText = (r) => {
    const text = getText(r);
    read += text.length;
    return text;
  };
  fake.editor = e;
  const c = context();
  for (let round = 0; round < 3; round++) {
    const file = (await c.material()).find((m) => m.key === 'activeFile');
    assert.equal(file?.text.slice(file.focus), whole.slice(200_000, 216_000));
  }
  assert.equal(read, 32_000);
  Object.assign(e.document, { version: 2 });
  await c.material();
  assert.equal(read, 64_000, 'what was edited is read again');
});

test('all of a file selected is not sent whole', async () => {
  const whole = 'x'.repeat(400_000);
  const e = editor('file', '/w/big.txt', whole) as { selection: object };
  Object.assign(e.selection, { start: at(0, 0), end: at(0, 400_000) });
  fake.editor = e;
  assert.equal((await context().material()).find((m) => m.key === 'selection')?.text.length, 32_000);
});

test('files that hold secrets are known by their names, and code about secrets is none', () => {
  const secret = ['.env', '.env.local', '.env.production', 'prod.env', '.envrc', 'server.pem', 'tls.key', 'cert.p12', 'id_rsa', 'id_ed25519', 'deploy_rsa', '.npmrc', '.netrc', '_netrc',
    '.pypirc', '.git-credentials', '.pgpass', 'credentials', 'credentials.json', 'aws-credentials.csv', 'secrets.yaml', 'app.secrets.json', 'client_secret_1.json', 'service-account-x.json',
    'prod.tfvars', 'terraform.tfstate', 'kubeconfig', 'passwords.txt', 'vault.kdbx', '.ssh/config', '.aws/config', '.docker/config.json', 'x/.gnupg/pubring', 'dist.env', 'ID_RSA', 'auth-token.json'];
  const harmless = ['main.go', 'env.go', '.env.example', 'secrets.go', 'credentials.test.ts', 'id_rsa.pub', 'keys.ts', 'key.md', 'package.json', 'tokens.json', 'monkey', 'environment.ts', 'config.json',
    '.docker/Dockerfile', 'secrets.sample.yaml', 'design-tokens.json', 'settings.json'];
  assert.deepEqual(secret.filter((f) => !holdsSecrets(`/w/${f}`)), []);
  assert.deepEqual(harmless.filter((f) => holdsSecrets(`/w/${f}`)), []);
  assert.equal(holdsSecrets('C:\\w\\.env'), true);
  assert.equal(hasPrivateKey('x\n-----BEGIN OPENSSH PRIVATE KEY-----\nabc'), true);
  assert.equal(hasPrivateKey('-----BEGIN CERTIFICATE-----'), false);
});

test('secrets, the user\'s settings and what the editor excludes are never sent, nor their selection and problems, and the panel says so', async () => {
  fake.settings.set('files.exclude', { '**/.git': true, '**/node_modules': true, '**/*.js': { when: '$(basename).ts' } });
  fake.settings.set('search.exclude', { 'out/**': true, '**/*.min.css': true, '**/*.off': false });
  const withheld: [scheme: string, path: string][] = [
    ['file', '/w/.env'], ['vscode-userdata', '/User/settings.json'], ['file', '/home/me/.config/Code/User/mcp.json'], ['file', '/w/node_modules/a/index.js'], ['file', '/w/out/app.js'],
    ['file', '/w/deep/site.min.css'],
  ];
  for (const [scheme, path] of withheld) {
    fake.editor = editor(scheme, path);
    const c = context();
    assert.deepEqual((await c.material()).map((m) => m.key), ['workspaceName'], path);
    const [file, selection, problems] = c.pieces();
    if (scheme === 'file') {
      assert.match(file?.detail ?? '', /never sent/, path);
    }
    assert.deepEqual([file?.on && file.present, selection?.present, problems?.present], [false, false, false], path);
  }
  for (const path of ['/w/a.off', '/w/src/a.js', '/w/outer/a.txt']) {
    fake.editor = editor('file', path);
    assert.equal((await context().material()).length, 4, path);
  }
  fake.editor = editor('file', '/w/notes.txt', '-----BEGIN PRIVATE KEY-----\nabc');
  assert.equal((await context().material()).some((m) => m.text.includes('PRIVATE KEY')), false);
});

test('what Git ignores is not sent, as far as the editor\'s Git tells', async () => {
  const git = (isActive: boolean, checkIgnore?: (paths: string[]) => Promise<Set<string>>) =>
    ({ isActive, exports: { getAPI: () => ({ getRepository: () => ({ ...(checkIgnore === undefined ? {} : { checkIgnore }) }) }) } });
  const ignores = (paths: string[]): Promise<Set<string>> => Promise.resolve(new Set(paths.filter((p) => p === '/w/list.txt')));
  const sent = async (): Promise<number> => (await context().material()).length;
  fake.git = git(true, ignores);
  const c = context();
  assert.equal((await c.material()).length, 1);
  assert.match(c.pieces()[0]?.detail ?? '', /never sent/);
  const before = told;
  const fresh = context();
  fresh.pieces();
  await turn();
  assert.deepEqual([told, fresh.pieces()[0]?.on], [before + 1, false], 'the panel hears of it when it is known');
  fake.settings.set('search.useIgnoreFiles', false);
  assert.equal(await sent(), 4);
  fake.settings.clear();
  for (const other of [git(false, ignores), git(true), git(true, () => Promise.reject(new Error('no repository'))), undefined]) {
    fake.git = other;
    assert.equal(await sent(), 4);
  }
});

test('what is attached in the Chat view is read, bounded, and never a secret', async () => {
  const document = (text: string) => ({ getText: (r: { start: { offset: number }; end: { offset: number } }) => text.slice(r.start.offset, r.end.offset), offsetAt: (p: { offset: number }) => p.offset, positionAt: (offset: number) => at(0, Math.min(offset, text.length)) });
  fake.documents.set('/w/a.go', document('package a'));
  fake.documents.set('/w/.env', document('KEY=1'));
  fake.documents.set('/w/big.go', document('x'.repeat(90_000)));
  const c = context();
  assert.deepEqual(await c.attachment(Uri.file('/w/a.go') as never, undefined), { key: 'attached', title: 'Attached file a.go', text: 'package a' });
  assert.deepEqual(await c.attachment(Uri.file('/w/a.go') as never, { start: at(1, 2), end: at(1, 5) } as never), { key: 'attached', title: 'Attached file a.go, from line 2', text: 'cka' });
  assert.equal(await c.attachment(Uri.file('/w/.env') as never, undefined), undefined);
  assert.equal(await c.attachment(Uri.file('/w/folder') as never, undefined), undefined);
  assert.equal((await c.attachment(Uri.file('/w/big.go') as never, undefined))?.text.length, 32_000);
  fake.trusted = false;
  assert.equal(await c.attachment(Uri.file('/w/a.go') as never, undefined), undefined);
});
