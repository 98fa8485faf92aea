// Scenarios about the daemon's lifetime: settings that change while it runs, its crash, a window reload
// and a closed window.

import assert from 'node:assert/strict';
import { question } from './copilot.ts';
import { time } from './table.ts';
import { until } from './wait.ts';
import { type World, conversation } from './world.ts';

/** Maximum time between closing a window and the exit of its daemon, in milliseconds. */
const GONE = 5000;

/** A spoken question and its answer; checks that it was asked once, with the displayed words. */
async function converse(w: World, answer: string): Promise<void> {
  w.copilot.answers({ parts: [{ text: answer }] });
  w.copilot.forget();
  await w.panel.label('Listening');
  await w.say('question');
  const request = await w.copilot.nth('request');
  assert.ok(question(request).endsWith((await w.panel.lines('user')).at(-1) ?? '-'), question(request));
  await until('the answer', async () => (await w.panel.lines('assistant')).at(-1) === answer);
  await w.panel.label('Listening');
  assert.equal(w.copilot.all('request').length, 1);
}

/** A typed question whose turn ends with a label. */
async function turn(w: World, label: string): Promise<void> {
  const begin = Date.now();
  await w.panel.get('composer').fill('And now?');
  await w.panel.get('composer').press('Enter');
  await w.panel.labelAfter(label, begin);
}

export function lifecycle(): void {
  conversation('settings that change while it listens take effect, and one that is not allowed is named', async (w) => {
    const { pid } = await w.daemon();
    w.copilot.answers({ parts: [{ text: 'Ja.' }] });
    await w.copilot.configure({ 'agentvoice.locale': 'de' });
    await turn(w, 'Hört zu');
    w.copilot.answers({ parts: [{ text: 'Yes.' }] });
    await w.copilot.configure({ 'agentvoice.locale': null });
    await turn(w, 'Listening');
    await w.copilot.configure({ 'agentvoice.voice.rate': 9 });
    await until('the setting to be named', async () => (await w.panel.get('problem').isVisible()) && /rate/.test(await w.panel.get('problem').innerText()));
    await w.copilot.configure({ 'agentvoice.voice.rate': null });
    await w.panel.get('dismiss').click();
    assert.deepEqual(w.daemons().map((d) => d.pid), [pid], 'the daemon stayed the same');
  });

  conversation('the daemon is killed: it is started again, the old transcript stays, and the next question arrives once', async (w) => {
    await w.panel.label('Listening');
    const before = await w.panel.lines('user');
    const { pid } = await w.daemon();
    const killed = Date.now();
    process.kill(pid, 'SIGKILL');
    const again = await until('another daemon', () => w.daemons().find((d) => d.pid !== pid));
    const listening = await w.panel.labelAfter('Listening', killed);
    time('SIGKILL to Listening again', listening.at - killed);
    assert.notEqual(again.pid, pid);
    assert.equal(w.daemons().length, 1);
    assert.deepEqual((await w.panel.lines('user')).slice(0, before.length), before);
    await w.panel.frame.locator('[data-kind="divider"]').waitFor();
    await w.picture('windows', 'restarted');
    await converse(w, 'As before.');
  });

  conversation('a daemon that dies over and over is given up, and the button starts it again', async (w) => {
    const killed = new Set<number>();
    await until('it to be given up', async () => {
      for (const { pid } of w.daemons().filter((d) => !killed.has(d.pid))) {
        killed.add(pid);
        process.kill(pid, 'SIGKILL');
      }
      return (await w.panel.get('state-label').innerText()) === 'Not available';
    });
    assert.ok(killed.size <= 5, `${killed.size} daemons were started`);
    assert.deepEqual(w.daemons(), []);
    await w.panel.problem();
    await w.picture('windows', 'given-up');
    await w.panel.remedy('restartDaemon').click();
    await w.panel.label('Ready');
    await w.start();
    await converse(w, 'Here again.');
  });

  conversation('the window is loaded again: the panel comes back with its transcript, and there is one daemon at most', async (w) => {
    const { pid } = await w.daemon();
    const before = await w.panel.lines('user');
    assert.ok(before.length > 0);
    const begin = performance.now();
    w.copilot.forget();
    await w.window.reload();
    await w.copilot.nth('ready');
    const panel = await w.findPanel();
    await panel.label('Ready');
    time('reload to the panel', performance.now() - begin);
    await until('the old daemon to be gone', () => w.daemons().every((d) => d.pid !== pid));
    assert.equal(await w.window.toasts().count(), 0);
    await until('the transcript of before', async () => (await panel.lines('user')).join() === before.join());
    await w.picture('windows', 'reloaded');
    await w.start();
    assert.equal(w.daemons().length, 1);
    await converse(w, 'After the reload.');
  });

  conversation('the window is closed: its daemon is gone within 5 s', async (w) => {
    const { pid } = await w.daemon();
    const closed = Date.now();
    await w.closeWindow();
    await until('the daemon to be gone', () => w.daemons().every((d) => d.pid !== pid));
    const took = Date.now() - closed;
    time('window closed to daemon gone', took);
    assert.ok(took < GONE, `it took ${took} ms`);
  });
}
