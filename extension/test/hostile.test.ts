// A repository that attacks whoever opens it, against the tools of the editor. The repository and the table of what
// is tried and must happen are those of the daemon's tests (testdata/hostile).

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { english } from '../src/text';
import { TokenSource, Uri, install } from './fakeVscode';

const fake = install();
const { Guard } = require('../src/copilot/guard') as typeof import('../src/copilot/guard');
const { Files } = require('../src/tools/files') as typeof import('../src/tools/files');
const { OwnTools } = require('../src/tools/own') as typeof import('../src/tools/own');
const { openFolders } = require('../src/folders') as typeof import('../src/folders');
const { workspaceWords } = require('../src/words') as typeof import('../src/words');

/** What the extension does about a row of the table. */
interface Cell {
  readonly happens: string;
  readonly tool?: string;
  readonly input?: object;
  readonly file?: string;
  readonly says?: readonly string[];
}

const tree = join(__dirname, '../../..');
const table = JSON.parse(readFileSync(join(tree, 'testdata/hostile/table.json'), 'utf8')) as { what: string; extension: Cell }[];
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
const posix = { skip: process.platform === 'win32' };
const SECRET = 'hunter2-the-secret';

let base: string;
let root: string;
let tools: InstanceType<typeof OwnTools>;
let calls = 0;
/** the tools that change and run nothing */
let reading: ReadonlySet<string>;

before(() => {
  if (posix.skip) {
    return;
  }
  base = realpathSync(mkdtempSync(join(tmpdir(), 'agentvoice-hostile-')));
  root = join(base, 'w');
  const out = join(base, 'out');
  [root, out].forEach((dir) => mkdirSync(dir));
  const canary = join(base, 'canary');
  writeFileSync(canary, `#!/bin/sh\necho "$0" >>"${join(base, 'ran')}"\nexec cat\n`);
  chmodSync(canary, 0o755);
  execFileSync('sh', ['-e', join(tree, 'testdata/hostile/lay.sh')], { cwd: root, env: { ...process.env, OUT: out, CANARY: canary, GIT_CONFIG_GLOBAL: '/dev/null' } });
  const { tasks } = JSON.parse(readFileSync(join(root, '.vscode/tasks.json'), 'utf8')) as { tasks: { label: string; command: string; args?: string[]; options?: object }[] };
  Object.assign(fake, {
    disk: true,
    folders: [Uri.file(root)],
    git: {
      isActive: true,
      exports: { getAPI: () => ({ repositories: [], getRepository: () => ({ state: { HEAD: { name: 'main' }, mergeChanges: [], indexChanges: [], workingTreeChanges: [{ uri: Uri.file(join(root, 'main.go')), status: 5 }] } }) }) },
    },
    // As the editor describes them.
    tasks: tasks.map(({ label, command, args, options }) => ({ name: label, source: 'Workspace', definition: { type: 'shell' }, scope: { uri: Uri.file(root), name: 'w', index: 0 }, execution: { command, args, options } })),
  });
  fake.settings.set('tasks.tasks', tasks);
  tools = new OwnTools(new Files(new Guard('/home/me/.config/Code/User', () => undefined)), quiet, english);
  fake.settings.set('agentvoice.tools.editor', 'read');
  reading = new Set(tools.specs().map(({ name }) => name));
  fake.settings.delete('agentvoice.tools.editor');
});
after(() => {
  if (!posix.skip) {
    rmSync(base, { recursive: true, force: true });
  }
});

/** What the tools do with a call before anybody is asked, and what is said about it: the result, or the call that is asked about. */
async function tried({ tool = '', input = {} }: Cell): Promise<{ happens: string; says: string }> {
  const callId = `call-${++calls}`;
  const { input: asked, allowed } = await tools.prepare(callId, tool, input);
  if (!allowed && !reading.has(tool)) {
    const { click, protected: guarded } = asked as { click?: boolean; protected?: string[] };
    return { happens: click === true || guarded !== undefined ? 'asked, by a click' : 'asked, by voice', says: JSON.stringify(asked) };
  }
  const { content, refused } = await tools.invoke({ callId, name: tool, input: asked }, new TokenSource().token);
  return { happens: refused === true ? 'refused' : content === 'Nothing was found.' ? 'found nothing' : tool === 'editor_git_status' ? 'runs nothing itself' : 'given', says: content };
}

/** The rows that are not about a call. */
const OTHERS: Readonly<Record<string, (cell: Cell) => Promise<void> | void>> = {
  'offered as not trusted': () => {
    fake.trusted = false;
    assert.deepEqual(openFolders().folders.map(({ trusted }) => trusted), [false]);
    fake.trusted = true;
  },
  'left to the daemon': async () => {
    assert.deepEqual(await workspaceWords({ withheld: () => undefined, look: () => Promise.resolve() }), { folders: [root] });
  },
  'not applied': ({ file = '' }) => {
    const { contributes } = JSON.parse(readFileSync(join(tree, 'extension/package.json'), 'utf8')) as { contributes: { configuration: { properties: Record<string, { scope?: string }> } | { properties: Record<string, { scope?: string }> }[] } };
    const known = Object.assign({}, ...[contributes.configuration].flat().map(({ properties }) => properties)) as Record<string, { scope?: string }>;
    const set = Object.keys(JSON.parse(readFileSync(join(root, file), 'utf8')) as object);
    assert.ok(set.length > 10);
    // VS Code applies settings of this scope from the user's file only.
    set.forEach((name) => assert.equal(known[name]?.scope, 'application', name));
  },
};

test('a repository that attacks: what was tried with the tools of the editor, and what happened', posix, async (t) => {
  for (const { what, extension: cell } of table) {
    const other = OTHERS[cell.happens];
    if (other !== undefined) {
      await other(cell);
      t.diagnostic(`| ${what} | ${cell.happens} |`);
      continue;
    }
    const { happens, says } = await tried(cell);
    t.diagnostic(`| ${what} | ${happens}: ${(says.split('\n')[0] ?? '').replaceAll(base, '')} |`);
    assert.equal(happens, cell.happens, `${what}: ${says}`);
    cell.says?.forEach((part) => assert.ok(says.includes(part), `${what}: ${says} does not contain ${part}`));
    assert.ok(!says.includes(SECRET), `${what}: ${says}`);
  }
  assert.ok(!existsSync(join(base, 'ran')), 'a program of the repository ran');
  assert.deepEqual(fake.terminals, []);
  assert.ok(!fake.read.some((path) => /\.env$|\/out\/|pipe\.go$|zero/.test(path)), fake.read.join());
});
