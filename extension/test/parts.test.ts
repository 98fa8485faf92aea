// Small parts: a key that is held, a screen that is locked, what Markdown looks like.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HoldKey } from '../src/holdKey';
import { lockOf } from '../src/lock';
import { blocks, cut } from '../webview/markdown';

test('a key is held from its first report until its repetitions stop', () => {
  const seen: boolean[] = [];
  let timer: { ms: number; f: () => void } | undefined;
  const key = new HoldKey((down) => seen.push(down), (ms, f) => {
    timer = { ms, f };
    return () => (timer = undefined);
  });
  key.pressed();
  assert.deepEqual([seen, timer?.ms], [[true], 1000], 'a system may wait long before it repeats');
  key.pressed();
  key.pressed();
  assert.deepEqual([seen, timer?.ms], [[true], 250]);
  timer?.f();
  assert.deepEqual(seen, [true, false]);
  key.release();
  assert.deepEqual(seen, [true, false], 'it was up already');
  key.pressed();
  assert.deepEqual([seen, timer?.ms], [[true, false, true], 1000]);
});

test('what the session\'s bus says about the lock of the screen is understood', () => {
  assert.equal(lockOf("/org/freedesktop/login1/session/_32: org.freedesktop.DBus.Properties.PropertiesChanged ('org.freedesktop.login1.Session', {'LockedHint': <true>}, @as [])"), true);
  assert.equal(lockOf("... {'LockedHint': <false>}"), false);
  assert.equal(lockOf('/org/gnome/ScreenSaver: org.gnome.ScreenSaver.ActiveChanged (true,)'), true);
  assert.equal(lockOf('/org/freedesktop/login1/session/_32: org.freedesktop.login1.Session.Unlock ()'), false);
  assert.equal(lockOf("{'IdleHint': <true>}"), undefined);
});

const shape = (source: string): string[] =>
  blocks(source).map((b) => (b.kind === 'fence' ? `fence ${b.language}: ${b.text}` : `${b.kind}: ${b.pieces.map((p) => (p.kind === 'plain' ? p.text : `<${p.kind} ${p.text}>`)).join('')}`));

test('Markdown is shown as blocks', () => {
  assert.deepEqual(shape('# Title\nUse `push` **now**:\nsoon.\n\n- one\n2. two\n```ts\na();\n\nb();\n```\nEnd *here*.'), [
    'heading: Title',
    'paragraph: Use <code push> <strong now>:\nsoon.',
    'item: one',
    'item: two',
    'fence ts: a();\n\nb();',
    'paragraph: End <em here>.',
  ]);
  assert.deepEqual(shape('```go\nfunc'), ['fence go: func'], 'code that is still coming is code');
  assert.deepEqual(shape('2 * 3 * 4 and a_b_c'), ['paragraph: 2 * 3 * 4 and a_b_c']);
  assert.deepEqual(shape(''), []);
});

test('each piece knows its place in the source, and is cut where the voice stopped', () => {
  const source = 'So **this** is\n\n- it, `now`';
  for (const b of blocks(source)) {
    for (const p of b.kind === 'fence' ? [] : b.pieces) {
      assert.equal(source.slice(p.start, p.start + p.text.length), p.text);
    }
  }
  const piece = { kind: 'plain' as const, text: 'hello', start: 10 };
  assert.deepEqual(cut(piece, 12), ['he', 'llo']);
  assert.deepEqual(cut(piece, 4), ['', 'hello']);
  assert.deepEqual(cut(piece, 99), ['hello', '']);
});
