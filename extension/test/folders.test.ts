// The folders that are offered to coding agents.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Uri, install } from './fakeVscode';

const fake = install();
const { openFolders, placeOfFolders } = require('../src/folders') as typeof import('../src/folders');

test('the open folders of this machine, their trust, and the one of the open file', () => {
  const paths = (): unknown => openFolders().folders.map((f) => [f.path, f.trusted]);
  fake.folders = [];
  assert.deepEqual(openFolders(), { folders: [] });
  assert.equal(placeOfFolders(), 'none');
  fake.folders = [new Uri('vscode-remote', '/b')];
  assert.equal(placeOfFolders(), 'remote');
  fake.folders = [Uri.file('/a'), new Uri('vscode-remote', '/b'), Uri.file('/c')];
  fake.trusted = true;
  assert.deepEqual(paths(), [['/a', true], ['/c', true]]);
  assert.equal(placeOfFolders(), 'here');
  assert.equal(openFolders().active, undefined);
  for (const [file, active] of [[Uri.file('/c/x.ts'), '/c'], [new Uri('vscode-remote', '/b/x.ts'), undefined], [Uri.file('/elsewhere/x.ts'), undefined]] as const) {
    fake.editor = { document: { uri: file } } as never;
    assert.equal(openFolders().active, active);
  }
  fake.trusted = false;
  fake.settings.set('agentvoice.words.workspace', false);
  assert.deepEqual(paths(), [['/a', false], ['/c', false]]);
  fake.trusted = true;
  fake.settings.clear();
});
