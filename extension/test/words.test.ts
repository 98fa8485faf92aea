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

test('nothing of a workspace that is not trusted, or where the user does not want it', async () => {
  fake.trusted = false;
  assert.deepEqual(await workspaceWords(open), {});
  fake.trusted = true;
  fake.settings.set('agentvoice.words.workspace', false);
  assert.deepEqual(await workspaceWords(open), {});
});
