// Insert puts code into the text editor that was used last, and says where.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { english } from '../src/text';
import { Document, Position, Range, Uri, install } from './fakeVscode';

const fake = install();
const { Insertion } = require('../src/insert') as typeof import('../src/insert');

interface Editor { document: Document & { isClosed: boolean }; selection: Range; edit: (f: (e: { replace: (range: Range, text: string) => void }) => void) => Promise<boolean> }

/** An editor of a document with two lines, whose cursor is at the start of the second. */
function editor(path: string, { scheme = 'file', writable = true } = {}): Editor {
  const document = Object.assign(new Document(new Uri(scheme, path), 'one\ntwo\n'), { isClosed: false });
  fake.documents.set(path, document);
  const selection = new Range(new Position(1, 0), new Position(1, 0));
  return { document, selection, edit: (f) => (f({ replace: (range, text) => writable && document.replace(range, text) }), Promise.resolve(writable)) };
}

beforeEach(() => {
  fake.executed.length = 0;
  fake.activate(undefined);
  fake.visible = [];
});

test('code goes to the active editor, and its place is said', async () => {
  const a = editor('/w/a.go');
  fake.visible = [editor('/w/b.go'), a];
  fake.activate(a);
  assert.equal(await new Insertion(english).insert('x := 1\n', 'go'), 'Inserted into a.go, line 2.');
  assert.equal(a.document.getText(), 'one\nx := 1\ntwo\n');
});

test('while the settings or the output are in front, it goes to the file that was active before', async () => {
  const a = editor('/w/a.go');
  const output = editor('/log', { scheme: 'output' });
  const insertion = new Insertion(english);
  fake.visible = [output, editor('/w/b.go'), a];
  fake.activate(a);
  fake.activate(output);
  fake.activate(undefined);
  assert.equal(await insertion.insert('x', 'go'), 'Inserted into a.go, line 2.');
  assert.equal(a.document.getText(), 'one\nxtwo\n');
  assert.equal(output.document.getText(), 'one\ntwo\n');
});

test('a file that another tab hides is shown again', async () => {
  const a = editor('/w/a.go');
  fake.activate(a);
  const insertion = new Insertion(english);
  fake.activate(undefined);
  fake.show = () => a;
  assert.equal(await insertion.insert('x', 'go'), 'Inserted into a.go, line 2.');
  assert.deepEqual(fake.executed.filter(([id]) => id === 'show'), [['show', '/w/a.go']]);
});

test('a file that was closed is not opened again', async () => {
  const a = editor('/w/a.go');
  const b = editor('/w/b.go');
  fake.activate(a);
  const insertion = new Insertion(english);
  a.document.isClosed = true;
  fake.visible = [b];
  assert.equal(await insertion.insert('x', 'go'), 'Inserted into b.go, line 2.');
  fake.visible = [];
  assert.equal(await insertion.insert('x', 'go'), 'Inserted into a new file, because none is open.');
});

test('a file that cannot be written is named', async () => {
  fake.activate(editor('/w/a.go', { writable: false }));
  fake.visible = [fake.editor];
  assert.equal(await new Insertion(english).insert('x', 'go'), 'a.go cannot be changed. Copy the code instead.');
});
