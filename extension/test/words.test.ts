// The workspace names that are sent to the daemon.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Uri, install } from './fakeVscode';

const fake = install();
const { workspaceWords } = require('../src/words.js') as typeof import('../src/words');

/** A URI in the fake's format. */
const at = (scheme: string, path: string): Uri => new Uri(scheme, path);

const open = { withheld: () => undefined, look: () => Promise.resolve() };
const secret = { withheld: () => 'secret' as const, look: () => Promise.resolve() };

test('local folders are read by the daemon, and the open file comes first', async () => {
  fake.folders = [at('file', '/w')];
  fake.editor = { document: { uri: { path: '/w/main.go', toString: () => 'file:///w/main.go' } } };
  fake.answers.set('vscode.executeDocumentSymbolProvider', () =>
    Promise.resolve([{ name: 'parseConfigV2', children: [{ name: 'verbose', children: [] }] }, { name: '(*Loader).Load', children: [] }]));
  assert.deepEqual(await workspaceWords(open), {
    folders: ['/w'],
    names: ['main.go', 'parseConfigV2', 'verbose', 'Load'].map((text) => ({ text, kind: 'open' })),
  });
  assert.deepEqual(await workspaceWords(secret), { folders: ['/w'] }, 'a file with secrets is not looked at');
});

test('of a remote workspace the names of files and the list are sent', async () => {
  fake.folders = [at('vscode-remote', '/w')];
  fake.editor = undefined;
  fake.files.set('/w/view.ts', 'const shown = 1;').set('/w/voice-words.md', '- pgvector');
  assert.deepEqual(await workspaceWords(open), {
    names: ['view.ts', 'voice-words.md'].map((text) => ({ text, kind: 'file' })),
    lists: ['- pgvector'],
  });
});

test('a list of a remote workspace has a limit, and so has their number', async () => {
  fake.folders = [at('vscode-remote', '/w')];
  fake.editor = undefined;
  fake.files.clear();
  fake.read.length = 0;
  fake.files.set('/w/voice-words.md', `- pgvector\n${'x'.repeat(64 * 1024)}`);
  const told: string[] = [];
  const { lists } = await workspaceWords(open, (text) => told.push(text));
  assert.equal(lists, undefined, 'a list beyond the limit is not sent');
  assert.deepEqual(fake.read, [], 'nor read, however long it is');
  assert.deepEqual(told, ['voice-words.md of a remote folder is longer than 64 KB and was not read']);
  fake.files.set('/w/voice-words.md', `- pgvector\n${'x'.repeat(64 * 1024 - 11)}`);
  assert.equal((await workspaceWords(open)).lists?.[0]?.length, 64 * 1024);
  fake.folders = Array.from({ length: 20 }, (_, i) => at('vscode-remote', `/w${i}`));
  fake.folders.forEach(({ path }) => fake.files.set(`${path}/voice-words.md`, `- ${path}`));
  assert.equal((await workspaceWords(open)).lists?.length, 8);
  fake.files.clear();
});

test('nothing of a workspace that is not trusted, or where the user does not want it', async () => {
  fake.trusted = false;
  assert.deepEqual(await workspaceWords(open), {});
  fake.trusted = true;
  fake.settings.set('agentvoice.words.workspace', false);
  assert.deepEqual(await workspaceWords(open), {});
});
