// A muted user stays muted, and the panel shows the daemon's microphone state: each test compares the
// panel with the running daemon.

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { watchLock } from '../src/lock';
import { mayHear } from '../src/model';
import type { MuteReason } from '../src/protocol.gen';
import { english } from '../src/text';
import { type View, present } from '../src/view';
import { Desk } from './headless';

const scene = (name: string, script: string, play: (d: Desk) => Promise<void>, muted?: MuteReason): void =>
  void test(name, async () => {
    const desk = new Desk(script, undefined, muted);
    try {
      await play(desk);
    } finally {
      await desk.close();
    }
  });

const view = (d: Desk): View =>
  present(d.model, { provider: 'local', model: '', microphone: '', speaker: '', context: [], trusted: true }, english);

/** The daemon is muted, and the panel shows it. */
const muted = async (d: Desk, by: MuteReason = 'user'): Promise<void> => {
  const mic = await d.microphone();
  assert.deepEqual([mic?.muted, mic?.mutedBy], [true, by], 'the daemon');
  assert.deepEqual(d.model.snapshot?.microphone, mic);
  assert.equal(view(d).mic, 'muted');
  assert.ok(view(d).buttons.some((b) => b.command === 'agentvoice.toggleMute' && b.title === 'Unmute' && b.enabled), 'there is a button to unmute');
};

/** No snapshot of a daemon after the first had an open microphone. */
const neverHeard = (d: Desk, from: number): void =>
  assert.deepEqual(d.shown.slice(from).filter((m) => m.snapshot !== undefined && !m.snapshot.microphone.muted).map((m) => m.snapshot?.microphone), []);

scene('mute survives Agent Voice: Restart', '', async (d) => {
  await d.conversation.start();
  await d.state('listening');
  await d.conversation.mute(true);
  const from = d.shown.length;
  await d.conversation.restart();
  await d.until('a conversation of the next daemon', (m) => d.daemons.length === 2 && m.snapshot?.state === 'listening');
  await muted(d);
  neverHeard(d, from);
});

scene('mute survives a restart without a conversation, and with the wake phrase', '', async (d) => {
  d.configuration = { 'agentvoice.wake.enabled': true };
  await d.conversation.toggleMute();
  await muted(d);
  const from = d.shown.length;
  await d.conversation.restart();
  await muted(d);
  assert.equal((await d.microphone())?.open, false, 'muted, the device is not opened for the phrase');
  neverHeard(d, from);
});

scene('mute survives a crash', '', async (d) => {
  await d.conversation.start();
  await d.state('listening');
  await d.conversation.mute(true);
  const from = d.shown.length;
  d.daemons[0]?.kill('SIGKILL');
  await d.until('a new conversation', (m) => d.daemons.length === 2 && m.snapshot?.state === 'listening');
  await muted(d);
  neverHeard(d, from);
});

scene('mute survives that the daemon is given up, and nothing is called muted meanwhile', '', async (d) => {
  await d.conversation.start();
  await d.conversation.mute(true);
  for (let n = 1; d.model.daemon !== 'failed'; n++) {
    d.daemons.at(-1)?.kill('SIGKILL');
    await d.until('what comes of it', (m) => m.daemon === 'failed' || (d.daemons.length > n && m.daemon === 'running'));
  }
  assert.equal(view(d).mic, 'closed');
  const from = d.shown.length;
  await d.conversation.restart();
  await muted(d);
  neverHeard(d, from);
});

scene('mute survives that the window is loaded again', '', async (d) => {
  await d.conversation.start();
  await d.state('listening');
  await muted(d);
  neverHeard(d, 0);
  await d.conversation.toggleMute();
  assert.equal(d.kept, undefined);
  assert.equal(view(d).mic, 'open');
  await d.conversation.toggleMute();
  assert.equal(d.kept, 'user');
}, 'user');

scene('muted while the wake phrase is on: it is not called listening, and can be unmuted', `
await client/heartbeat
await client/heartbeat
wake
`, async (d) => {
  d.configuration = { 'agentvoice.wake.enabled': true };
  await d.conversation.ask(() => Promise.resolve());
  await d.settled();
  assert.equal(view(d).mic, 'wake');
  assert.equal(mayHear(d.model), true, 'lock-mute watches');
  await d.conversation.toggleMute();
  await muted(d);
  assert.equal(view(d).hint, 'Unmute to start with “okay copilot”.');
  await d.conversation.toggleMute();
  assert.equal(view(d).mic, 'wake');
  await d.conversation.wire?.notify('client/heartbeat');
  await d.conversation.wire?.notify('client/heartbeat');
  await d.state('listening');
  assert.equal(view(d).mic, 'open');
  await d.conversation.toggleMute();
  await d.conversation.end();
  await d.state('idle');
  await muted(d);
});

scene('a lock while the daemon starts mutes what starts', '', async (d) => {
  const started = d.conversation.start();
  assert.equal(mayHear(d.model), true, 'lock-mute watches');
  await d.conversation.muteForLock();
  await started;
  await d.state('listening');
  await muted(d, 'locked');
  assert.equal(view(d).micText, 'Muted: the screen was locked');
  assert.ok(d.shown.every((m) => m.snapshot?.state !== 'listening' || m.snapshot.microphone.muted), 'it never listened');
  await d.conversation.toggleMute();
  assert.equal(view(d).mic, 'open');
});

scene('a lock while the wake phrase is listened for mutes it, and a restart does not unmute it', '', async (d) => {
  d.configuration = { 'agentvoice.wake.enabled': true };
  await d.conversation.ask(() => Promise.resolve());
  await d.conversation.muteForLock();
  await muted(d, 'locked');
  await d.conversation.restart();
  await muted(d, 'locked');
});

scene('the turn mode that is shown is that of the conversation', '', async (d) => {
  await d.conversation.start();
  await d.state('listening');
  await d.conversation.configure({ 'agentvoice.turnDetection.mode': 'pushToTalk' });
  await d.settled();
  assert.deepEqual([view(d).mic, view(d).hold], ['open', undefined]);
  await d.conversation.end();
  await d.state('idle');
  await d.conversation.start();
  await d.state('listening');
  assert.deepEqual([view(d).mic, view(d).hold], ['waitsForKey', { down: false }]);
});

scene('a setting that changes while the daemon starts is that of the conversation', '', async (d) => {
  const greeted = new Promise<void>((resolve) => {
    Object.defineProperty(d, 'configuration', { get: () => (resolve(), {}) });
  });
  const start = d.conversation.start();
  await greeted;
  await d.conversation.configure({ 'agentvoice.turnDetection.mode': 'pushToTalk' });
  assert.equal(d.conversation.wire, undefined, 'the daemon is not connected yet');
  await start;
  await d.state('listening');
  assert.equal(view(d).mic, 'waitsForKey');
});

/** A fake gdbus that prints what a session bus would report. */
async function withBus(answers: string, f: () => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'agentvoice-bus-'));
  const path = process.env['PATH'];
  writeFileSync(join(dir, 'gdbus'), `#!/bin/sh\n${answers}\n`);
  chmodSync(join(dir, 'gdbus'), 0o755);
  process.env['PATH'] = dir + delimiter + (path ?? '');
  try {
    await f();
  } finally {
    process.env['PATH'] = path;
    rmSync(dir, { recursive: true, force: true });
  }
}

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };

for (const [name, answers] of [
  ['the login manager', 'case "$*" in *call*LockedHint*) echo "(<true>,)";; *call*) exit 1;; *) exec sleep 60;; esac'],
  ['the screen saver', 'case "$*" in *call*LockedHint*) echo "(<false>,)";; *call*gnome*) echo "(true,)";; *call*) exit 1;; *) exec sleep 60;; esac'],
] as const) {
  test(`on Linux a screen that is locked already is noticed, by ${name}`, { timeout: 60_000 }, () =>
    withBus(answers, async () => {
      let stop = (): void => undefined;
      const locked = await new Promise<boolean>((resolve) => (stop = watchLock(resolve, quiet, 'linux')));
      stop();
      assert.equal(locked, true);
    }));
}

test('on Linux a lock after the watch began is noticed', { timeout: 60_000 }, () =>
  withBus('case "$*" in *call*) echo "(false,)";; *ScreenSaver) echo "/x: org.gnome.ScreenSaver.ActiveChanged (true,)"; exec sleep 60;; *) exec sleep 60;; esac', async () => {
    let stop = (): void => undefined;
    const locked = await new Promise<boolean>((resolve) => (stop = watchLock(resolve, quiet, 'linux')));
    stop();
    assert.equal(locked, true);
  }));
