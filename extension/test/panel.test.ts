// What the panel's page receives, and what it may load.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { START, type Model, reduce } from '../src/model';
import type { Line } from '../src/transcript';
import type { ToPage } from '../src/panelwire';
import { strings } from '../src/strings';
import { english } from '../src/text';
import { present, shownLines } from '../src/view';
import { install } from './fakeVscode';

install();
const { Page, connect } = require('../src/panel') as typeof import('../src/panel');
const { html } = require('../src/panelPage') as typeof import('../src/panelPage');

const around = { provider: 'local', model: '', microphone: '', speaker: '', context: [], trusted: true };

/** A page that records its messages. */
class Recorder {
  model: Model = START;
  readonly sent: ToPage[] = [];
  readonly page: InstanceType<typeof Page>;

  constructor() {
    const shown = shownLines(english);
    this.page = new Page((message) => this.sent.push(message), {
      init: () => ({ type: 'init', strings: strings(english), locale: 'en' }),
      view: () => present(this.model, around, english),
      lines: () => shown(this.model.lines),
      onChange: () => () => undefined,
      onLevel: () => () => undefined,
      received: () => undefined,
    });
  }

  say(turnId: string, text: string, final = true): void {
    this.model = reduce(this.model, { is: 'transcript', at: 0, params: { turnId, role: 'user', text, final, seq: 1 } });
    this.page.changed();
  }

  views(): Extract<ToPage, { type: 'view' }>[] {
    return this.sent.filter((m) => m.type === 'view');
  }
}

/** The time within which changes are sent together has passed. */
const turn = (): void => mock.timers.tick(5);
mock.timers.enable({ apis: ['setTimeout'] });

test('a page is sent nothing before it is there, then all, and all again when it was loaded again', () => {
  const r = new Recorder();
  r.say('turn-1', 'one');
  turn();
  assert.equal(r.sent.length, 0);
  r.page.loaded();
  assert.deepEqual(r.sent.map((m) => m.type), ['init', 'view']);
  r.page.loaded();
  assert.deepEqual(r.views().map((v) => v.lines.map((l) => l.text)), [['one'], ['one']]);
});

test('a view is sent its contents at once, and again whenever its page asks', () => {
  const sent: string[] = [];
  let ask: (message: { type: 'ready' }) => void = () => assert.fail('nobody listens to the page');
  const webview = {
    postMessage: (message: ToPage) => sent.push(message.type),
    onDidReceiveMessage: (listener: typeof ask) => (ask = listener, { dispose: () => undefined }),
  };
  connect({ visible: true, webview } as never, {
    init: () => ({ type: 'init', strings: strings(english), locale: 'en' }), view: () => present(START, around, english), lines: () => [],
    onChange: () => () => undefined, onLevel: () => () => undefined, received: () => undefined,
  });
  assert.deepEqual(sent, ['init', 'view']);
  ask({ type: 'ready' });
  assert.deepEqual(sent, ['init', 'view', 'init', 'view']);
});

test('the changes of 5 ms are sent together, only what changed, and nothing where nothing did', () => {
  const r = new Recorder();
  r.page.loaded();
  r.say('turn-1', 'one');
  r.say('turn-2', 'two', false);
  mock.timers.tick(4);
  r.say('turn-2', 'two and', false);
  assert.equal(r.views().length, 1);
  mock.timers.tick(1);
  assert.deepEqual(r.views().slice(1).map((v) => v.lines.map((l) => l.text)), [['one', 'two and']]);
  r.say('turn-2', 'two and three');
  turn();
  assert.deepEqual(r.views().at(-1)?.lines.map((l) => l.text), ['two and three']);
  const before = r.sent.length;
  r.page.changed();
  turn();
  assert.equal(r.sent.length, before);
});

test('lines that are gone are named by what is left', () => {
  const r = new Recorder();
  r.page.loaded();
  r.say('turn-1', 'one');
  r.say('turn-2', 'two', false);
  turn();
  r.model = reduce(r.model, { is: 'clear' });
  r.page.changed();
  turn();
  const last = r.views().at(-1);
  assert.deepEqual([last?.lines, last?.keep], [[], [r.model.lines[0]?.id]]);
});

test('lines that come back between others are sent with the order of all', () => {
  const r = new Recorder();
  r.page.loaded();
  r.say('turn-1', 'one');
  turn();
  const { lines, clearedSeq } = r.model;
  r.model = reduce(r.model, { is: 'clear' });
  r.say('turn-2', 'two');
  turn();
  r.model = reduce(r.model, { is: 'restored', lines, clearedSeq });
  r.page.changed();
  turn();
  const last = r.views().at(-1);
  assert.deepEqual([last?.lines.map((l) => l.text), last?.keep], [['one'], r.model.lines.map((l) => l.id)]);
});

test('a line that does not change is the same value, however often it is asked for', () => {
  const shown = shownLines(english);
  const line: Line = { id: 1, kind: 'speech', conversation: 1, turnId: 't', role: 'user', text: 'x', final: true, at: 0 };
  assert.equal(shown([line])[0], shown([line])[0]);
});

test('the page runs its own script and nothing else', () => {
  const page = html('NONCE', 'run("<!--")', 'body { margin: 0 }');
  const policy = /Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1];
  assert.equal(policy, "default-src 'none'; style-src 'nonce-NONCE'; script-src 'nonce-NONCE'");
  assert.deepEqual(page.match(/<(?:script|style|link)\b[^>]*>[^<]*/g), ['<style nonce="NONCE">body { margin: 0 }', '<script nonce="NONCE">run("\\x3C!--")']);
});
