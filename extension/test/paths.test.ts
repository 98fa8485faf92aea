// A hostile folder against the tools of the editor: links, names that file systems read as others, pipes, and files
// that are replaced while the user is asked. The table of attacks is printed.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { START } from '../src/model';
import { english } from '../src/text';
import { seeded } from './seeded';
import { Position, Range, TokenSource, Uri, WorkspaceEdit, install } from './fakeVscode';

const fake = install();
const { Guard } = require('../src/copilot/guard') as typeof import('../src/copilot/guard');
const { Context } = require('../src/copilot/context') as typeof import('../src/copilot/context');
const { Files } = require('../src/tools/files') as typeof import('../src/tools/files');
const { OwnTools } = require('../src/tools/own') as typeof import('../src/tools/own');
const { workspaceWords } = require('../src/words') as typeof import('../src/words');

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
const posix = { skip: process.platform === 'win32' };
const SECRET = 'hunter2-the-secret';

let base: string;
let root: string;
let tools: InstanceType<typeof OwnTools>;
let guard: InstanceType<typeof Guard>;
let calls = 0;

const inside = (path: string): string => join(root, path);
const put = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'agentvoice-paths-')));
  root = join(base, 'w');
  for (const map of [fake.settings, fake.answers, fake.files, fake.documents, fake.links, fake.pipes, fake.ofWorkspace]) {
    map.clear();
  }
  Object.assign(fake, { disk: true, git: undefined, editor: undefined, problems: [], tasks: [], trusted: true, workspaceName: undefined });
  fake.executed.length = 0;
  fake.textDocuments.length = 0;
  mkdirSync(root);
  fake.folders = [Uri.file(root)];
  guard = new Guard('/home/me/.config/Code/User', () => undefined);
  tools = new OwnTools(new Files(guard), quiet, english);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

interface Called {
  readonly asked: Record<string, unknown>;
  readonly allowed: boolean;
  readonly content: string;
}

/** Calls a tool as a model does, and runs it as if the user allowed it. */
async function call(name: string, input: object, meanwhile?: () => void, callId = `call-${++calls}`): Promise<Called> {
  const { input: asked, allowed } = await tools.prepare(callId, name, input);
  meanwhile?.();
  const { content } = await tools.invoke({ callId, name, input: asked }, new TokenSource().token);
  return { asked: asked as Record<string, unknown>, allowed, content };
}

/** A folder with a secret inside and one outside, and links to both. */
function hostile(): void {
  put(inside('a.ts'), `export const one = 1;\n`);
  put(inside('.env'), `KEY=${SECRET}\n`);
  put(inside('.git/config'), `[remote "origin"]\n\turl = https://me:${SECRET}@example.com/a.git\n`);
  put(inside('.git/HEAD'), 'ref: refs/heads/main\n');
  put(join(base, 'outside/key.txt'), `${SECRET}\n`);
  put(join(base, 'outside/notes.md'), `${SECRET}\n`);
  for (const [name, target] of Object.entries({
    'notes.txt': '.env', 'chain.txt': 'notes.txt', 'readme.md': '.git/config', docs: join(base, 'outside'), 'up.txt': '../outside/key.txt', 'self.txt': 'self.txt',
    'later.txt': join(base, 'outside/later.txt'), repository: '.git', zero: '/dev/zero', home: '..',
  })) {
    symlinkSync(target, inside(name));
  }
  execFileSync('mkfifo', [inside('pipe.txt')]);
}

test('a hostile folder: what was tried, and what happened', posix, async (t) => {
  hostile();
  const rows: [what: string, happened: string][] = [];
  const tried = (what: string, { content }: Called): void => {
    rows.push([what, content.split('\n')[0]?.replaceAll(base, '') ?? '']);
    assert.ok(!content.includes(SECRET), `${what}: ${content}`);
  };
  const paths = [
    '.env', 'notes.txt', 'chain.txt', 'readme.md', 'docs/key.txt', 'docs/notes.md', 'up.txt', 'self.txt', 'later.txt', 'zero', 'pipe.txt', 'repository/config', 'home/outside/key.txt',
    '.git/config', '.GIT/CONFIG', '.ENV', '.env.', '.env ', '.env::$DATA', '.e\u200bnv', '.ｅｎｖ', '../outside/key.txt', '..\\outside\\key.txt', '.. /outside/key.txt',
    'docs/../../outside/key.txt', `${'x/'.repeat(20)}${'../'.repeat(21)}outside/key.txt`, join(base, 'outside/key.txt'), 'file:///etc/passwd', 'a.ts\0.env',
  ];
  for (const path of paths) {
    for (const [tool, input] of [['editor_read_file', { path }], ['editor_open', { path }], ['editor_read_problems', { path }], ['editor_apply_edit', { path, edits: [{ oldText: SECRET, newText: 'x' }] }]] as const) {
      const shown = fake.executed.length;
      const called = await call(tool, input);
      tried(`${tool} ${JSON.stringify(path)}`, called);
      if (tool === 'editor_read_file' || tool === 'editor_open') {
        assert.match(called.content, /is never read or changed|leads out of the workspace|is not in the workspace|is not there/, `${tool} ${path}`);
        assert.equal(fake.executed.length, shown, `${path} was shown`);
      }
    }
  }
  const listed = await call('editor_list_files', {});
  tried('editor_list_files', listed);
  assert.equal(listed.content, 'a.ts');
  const found = await call('editor_search', { text: SECRET });
  tried('editor_search', found);
  assert.equal(found.content, 'Nothing was found.');
  assert.equal((await call('editor_search', { text: 'one' })).content, 'a.ts:1: export const one = 1;');
  for (const path of ['docs/new.ts', 'later.txt', 'notes.txt', 'repository/hooks/pre-commit', 'home/outside/new.ts']) {
    const made = await call('editor_apply_edit', { path, edits: [{ oldText: '', newText: 'x' }] });
    tried(`create ${path}`, made);
    assert.equal(made.allowed || (made.asked['protected'] as string[] | undefined)?.length === 1, true, path);
  }
  for (const path of ['outside/new.ts', 'outside/later.txt']) {
    assert.throws(() => readFileSync(join(base, path)), `${path} was made outside`);
  }
  assert.match(readFileSync(inside('.env'), 'utf8'), new RegExp(SECRET));
  rows.filter(([what]) => !/^editor_(open|read_problems|apply_edit) /.test(what)).forEach(([what, happened]) => t.diagnostic(`| ${what} | ${happened} |`));
});

test('no path, however it is written, reaches a secret or leads out of the folder', posix, async () => {
  hostile();
  put(inside('src/b.ts'), 'export const two = 2;\n');
  symlinkSync(join(base, 'w'), join(base, 'outside/back'));
  const names = ['docs', 'home', 'w', 'outside', 'back', 'src', 'repository', '.git', 'up.txt', 'notes.txt', 'chain.txt', 'readme.md', 'a.ts', 'b.ts', 'key.txt', 'notes.md', 'config', '.env', 'self.txt', 'pipe.txt', '..', '.', '...', '.. ', '%2e%2e', '..%2f', '‥', '．．', 'a.ts\0', '~', '$HOME', base, root, 'src/b.ts', 'home/w/a.ts', 'docs/back/src/b.ts'];
  const pick = seeded(3_707);
  let read = 0;
  for (let round = 0; round < 1_500; round++) {
    let path = ['', '', '/', './', 'file://', `${root}/`, `${base}/`][pick(7)] ?? '';
    for (let n = 1 + pick(1 + pick(5)); n > 0; n--) {
      path += (names[pick(names.length)] ?? '') + (n === 1 ? '' : ['/', '/', '//', '\\', '/./'][pick(5)]);
    }
    const { content } = await call('editor_read_file', { path });
    assert.ok(!content.includes(SECRET), `${path}: ${content}`);
    read += content.includes('export const') ? 1 : 0;
    const edited = await call('editor_apply_edit', { path, edits: [{ oldText: SECRET, newText: 'x' }] });
    assert.match(edited.content, /never read or changed|not in the|leads out|is not there|is a folder|has no "path"/, path);
  }
  assert.ok(read > 20, `only ${read} paths lead to an ordinary file`);
});

test('a link to an ordinary file of the workspace is used as that file', posix, async () => {
  put(inside('src/a.ts'), 'export const one = 1;\n');
  symlinkSync('src/a.ts', inside('link.ts'));
  symlinkSync(root, join(base, 'other'));
  const read = await call('editor_read_file', { path: 'link.ts', from: 1 });
  assert.match(read.content, /export const one/);
  assert.deepEqual(read.asked, { path: 'src/a.ts', from: 1 }, 'the question names the file that is read');
  put(inside('b.ts'), 'two\n');
  assert.match((await call('editor_read_file', { path: 'b.ts' }, () => (unlinkSync(inside('b.ts')), symlinkSync('src/a.ts', inside('b.ts'))))).content, /changed while the user was asked/);
  unlinkSync(inside('b.ts'));
  assert.equal((await call('editor_list_files', {})).content, 'a.ts', 'a file is listed once');
  fake.folders = [Uri.file(join(base, 'other'))]; // the workspace itself is opened through a link
  assert.match((await call('editor_read_file', { path: 'src/a.ts' })).content, /export const one/);
  const { asked } = await call('editor_apply_edit', { path: 'link.ts', edits: [{ oldText: '1', newText: '2' }] });
  assert.equal(asked['protected'], undefined);
  assert.equal(readFileSync(inside('src/a.ts'), 'utf8'), 'export const one = 2;\n');
});

test('of several folders, the one that a path names comes first, and a link from one to the other is seen through', posix, async () => {
  mkdirSync(join(base, 'v'));
  fake.folders = [Uri.file(root), Uri.file(join(base, 'v'))];
  const { asked } = await call('editor_apply_edit', { path: 'v/.vscode/a.json', edits: [{ oldText: '', newText: '{}' }] });
  assert.deepEqual(asked['protected'], ['v/.vscode/a.json']);
  put(join(base, 'v/a.ts'), 'two\n');
  symlinkSync(join(base, 'v/a.ts'), inside('a.ts'));
  put(join(base, 'v/.env'), SECRET);
  symlinkSync(join(base, 'v/.env'), inside('b.ts'));
  const read = await call('editor_read_file', { path: 'w/a.ts' });
  assert.match(read.content, /two/);
  assert.deepEqual(read.asked, { path: 'v/a.ts' });
  assert.match((await call('editor_read_file', { path: 'b.ts' })).content, /is never read or changed/);
});

test('a link in a window of another machine is refused, because its target is not known', async () => {
  fake.folders = [new Uri('vscode-remote', '/w')];
  for (const path of ['/w/a.ts', '/w/notes.txt', '/w/docs/key.txt', '/w/docs/deep/key.txt', '/w/pipe.txt', '/w/ENV~1', '/w/voice-words.md']) {
    fake.files.set(path, `${SECRET} one`);
  }
  ['/w/notes.txt', '/w/docs', '/w/voice-words.md'].forEach((path) => fake.links.add(path));
  fake.pipes.add('/w/pipe.txt');
  fake.files.set('/w/a.ts', 'one\n');
  fake.disk = false;
  for (const path of ['notes.txt', 'docs/key.txt', 'docs/deep/key.txt', 'docs/new.ts', 'pipe.txt', 'ENV~1', '.env::$DATA', 'a.ts ', 'NUL', 'src/con.ts']) {
    for (const [tool, input] of [['editor_read_file', { path: path === 'a.ts ' ? 'a.ts /x' : path }], ['editor_apply_edit', { path, edits: [{ oldText: '', newText: 'x' }] }]] as const) {
      if (tool === 'editor_apply_edit' && path === 'a.ts ') {
        continue; // the end of a path is trimmed
      }
      const { content } = await call(tool, input);
      assert.match(content, /is never read or changed/, `${tool} ${path}`);
    }
  }
  assert.equal((await call('editor_search', { text: 'one' })).content, 'a.ts:1: one');
  assert.equal((await call('editor_list_files', {})).content, 'a.ts');
  assert.deepEqual((await workspaceWords(guard)).lists, undefined);
});

test('the active file and attachments are judged by the file behind a link', posix, async () => {
  hostile();
  const context = new Context(english, guard);
  const open = (path: string): void => {
    const document = { uri: Uri.file(inside(path)), version: 1, languageId: 'plaintext', getText: () => `KEY=${SECRET}`, offsetAt: () => 0, positionAt: () => new Position(0, 0) };
    fake.editor = { document, selection: { isEmpty: true, start: new Position(0, 0), end: new Position(0, 0), active: new Position(0, 0) } };
  };
  for (const path of ['notes.txt', 'chain.txt', 'self.txt', 'pipe.txt', 'zero']) {
    open(path);
    assert.deepEqual((await context.material()).map((m) => m.key), [], path);
    assert.equal(await context.attachment(Uri.file(inside(path)) as never, undefined), undefined, path);
  }
  assert.equal(await context.attachment(Uri.file(inside('readme.md')) as never, undefined), undefined);
  open('a.ts');
  assert.deepEqual((await context.material()).map((m) => m.key), ['activeFile']);
  fake.disk = false;
  fake.links.add('/w/notes.txt');
  assert.equal(await context.attachment(new Uri('vscode-remote', '/w/notes.txt') as never, undefined), undefined);
});

test('a file that is replaced by a link between the question and the yes is not changed', posix, async () => {
  const edits = [{ oldText: 'one', newText: 'two' }];
  const swaps: [string, () => void][] = [
    ['a.ts', () => (unlinkSync(inside('a.ts')), symlinkSync(join(base, 'target.ts'), inside('a.ts')))],
    ['src/a.ts', () => (renameSync(inside('src'), inside('old')), symlinkSync(join(base, 'outside'), inside('src')))],
    ['b.ts', () => (unlinkSync(inside('b.ts')), symlinkSync('.env', inside('b.ts')))],
  ];
  for (const [path, swap] of swaps) {
    for (const file of [inside(path), join(base, 'target.ts'), join(base, 'outside/a.ts'), inside('.env')]) {
      put(file, 'one\n');
    }
    const { content } = await call('editor_apply_edit', { path, edits }, swap);
    assert.match(content, /leads out of the workspace|is never read or changed|leads elsewhere/, path);
    for (const file of [join(base, 'target.ts'), join(base, 'outside/a.ts'), inside('.env')]) {
      assert.equal(readFileSync(file, 'utf8'), 'one\n', file);
    }
  }
  put(inside('new/x.ts'), '');
  const { content } = await call('editor_apply_edit', { path: 'new/y.ts', edits: [{ oldText: '', newText: 'x' }] }, () => {
    renameSync(inside('new'), inside('moved'));
    symlinkSync(join(base, 'outside'), inside('new'));
  });
  assert.match(content, /leads out of the workspace/);
  assert.throws(() => readFileSync(join(base, 'outside/y.ts')));
});

test('an undo does not write through a link that took the place of the file', posix, async () => {
  put(inside('a.ts'), 'one\n');
  put(join(base, 'target.ts'), 'two\n');
  await call('editor_apply_edit', { path: 'a.ts', edits: [{ oldText: 'one', newText: 'two' }] });
  unlinkSync(inside('a.ts'));
  symlinkSync(join(base, 'target.ts'), inside('a.ts'));
  assert.equal(await tools.command({ command: 'undo' }), undefined);
  assert.equal(readFileSync(join(base, 'target.ts'), 'utf8'), 'two\n');
});

test('a rename that reaches a file through a link changes the file behind it, once', posix, async () => {
  put(inside('a.ts'), 'parse;\n');
  put(inside('.env.ts/b.ts'), 'parse;\n');
  symlinkSync('a.ts', inside('b.ts'));
  symlinkSync(join(base, 'out.ts'), inside('c.ts'));
  put(join(base, 'out.ts'), 'parse;\n');
  const renames = (...paths: string[]): void => void fake.answers.set('vscode.executeDocumentRenameProvider', () => {
    const edit = new WorkspaceEdit();
    paths.forEach((path) => edit.replace(Uri.file(inside(path)), new Range(0, 0, 0, 5), 'read'));
    return Promise.resolve(edit);
  });
  renames('a.ts', 'b.ts');
  assert.match((await call('editor_rename_symbol', { newName: 'read', symbol: 'parse', path: 'a.ts' })).content, /reached by two names/);
  renames('a.ts', 'c.ts');
  assert.match((await call('editor_rename_symbol', { newName: 'read', symbol: 'parse', path: 'a.ts' })).content, /leads out of the workspace/);
  renames('b.ts', '.env.ts/b.ts');
  const { asked } = await call('editor_rename_symbol', { newName: 'read', symbol: 'parse', path: 'b.ts' });
  assert.deepEqual(asked['protected'], ['.env.ts/b.ts']);
  assert.equal(readFileSync(inside('a.ts'), 'utf8'), 'read;\n');
  assert.equal(readFileSync(join(base, 'out.ts'), 'utf8'), 'parse;\n');
});

test('a call that reuses the id of another one neither changes its diff nor takes its result', posix, async () => {
  put(inside('a.ts'), 'one\n');
  put(inside('b.ts'), 'one\n');
  const edit = (path: string): object => ({ path, edits: [{ oldText: 'one', newText: 'two' }] });
  const first = await tools.prepare('same', 'editor_apply_edit', edit('a.ts'));
  await tools.prepare('same', 'editor_apply_edit', edit('b.ts'));
  await tools.prepare('same', 'editor_apply_edit', edit('missing.ts'));
  tools.follow({ ...START, approval: { callId: 'same', name: 'editor_apply_edit', status: 'waitingForApproval', destructive: false, input: first.input } as never });
  await new Promise(setImmediate);
  assert.deepEqual(fake.executed.filter(([command]) => command === 'vscode.diff').map(([, left]) => (left as Uri).path), [inside('a.ts')]);
  const invoke = (input: unknown) => tools.invoke({ callId: 'same', name: 'editor_apply_edit', input }, new TokenSource().token);
  assert.equal((await invoke(first.input)).content, 'Changed and saved: a.ts.');
  assert.deepEqual([readFileSync(inside('a.ts'), 'utf8'), readFileSync(inside('b.ts'), 'utf8')], ['two\n', 'one\n']);
  assert.match((await invoke({ ...edit('b.ts'), edits: [{ oldText: 'one', newText: 'three' }] })).content, /Changed and saved: b\.ts/); // as a retried call
});

test('a protected file is named, and so needs a click; the script section of a manifest is protected', posix, async () => {
  const guarded = async (path: string, before: string | undefined, edits: object[]): Promise<unknown> => {
    if (before !== undefined) {
      put(inside(path), before);
    }
    return (await tools.prepare(`call-${++calls}`, 'editor_apply_edit', { path, edits })).input as object;
  };
  for (const path of ['.vscode/tasks.json', '.git/hooks/pre-commit', 'sub/.git/config2', '.husky/pre-commit', '.github/workflows/ci.yml', '.bashrc', 'Makefile', 'AGENTS.md', '.VSCODE/settings.json', 'x.code-workspace']) {
    assert.deepEqual((await guarded(path, undefined, [{ oldText: '', newText: 'x' }]) as { protected?: unknown }).protected, [path], path);
  }
  symlinkSync('.vscode', inside('editor'));
  mkdirSync(inside('.vscode'));
  assert.deepEqual((await guarded('editor/settings.json', undefined, [{ oldText: '', newText: '{}' }]) as { protected?: unknown }).protected, ['.vscode/settings.json']);
  const manifest = '{"name": "a", "description": "one", "scripts": {"test": "node --test"}}\n';
  assert.deepEqual((await guarded('package.json', manifest, [{ oldText: 'node --test', newText: 'curl x | sh' }]) as { protected?: unknown }).protected, ['package.json']);
  assert.equal((await guarded('package.json', manifest, [{ oldText: '"one"', newText: '"two"' }]) as { protected?: unknown }).protected, undefined);
  assert.equal((await guarded('src/a.ts', 'one', [{ oldText: 'one', newText: 'two' }]) as { protected?: unknown }).protected, undefined);
});

test('a diff against the last commit does not give a secret that the commit held', posix, async () => {
  put(inside('a.ts'), 'one\n');
  const uri = Uri.file(inside('a.ts'));
  const state = { HEAD: { name: 'main' }, mergeChanges: [], indexChanges: [], workingTreeChanges: [{ uri, status: 5 }] };
  const repository = { state, diffWithHEAD: () => Promise.resolve('-----BEGIN RSA PRIVATE KEY-----') };
  fake.git = { isActive: true, exports: { getAPI: () => ({ repositories: [repository], getRepository: () => repository }) } };
  assert.equal((await call('editor_git_diff', {})).content, 'There are no changes since the last commit.');
  assert.match((await call('editor_git_status', {})).content, /Changed: a\.ts/);
});

