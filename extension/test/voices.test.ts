// The command that chooses a voice, with a program that prints what the daemon would.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { type FakeList, install } from './fakeVscode';

const fake = install();
const extension = require('../src/extension') as typeof import('../src/extension');
const root = join(__dirname, '..', '..');
const daemon = process.env['AGENTVOICE_DAEMON'] ?? join(root, '..', 'bin', 'agentvoice-daemon');
const dir = mkdtempSync(join(tmpdir(), 'agentvoice-voices-'));
const program = join(dir, 'daemon');
const memento = { get: () => undefined, update: () => Promise.resolve() };

before(() => {
  const speakers = [{ name: 'af_heart', about: 'American, female', default: true }, { name: 'am_michael', about: 'American, male', default: false }, { name: 'bf_emma', default: false }];
  writeFileSync(join(dir, 'list.json'), JSON.stringify(speakers));
  writeFileSync(program, `#!/bin/sh
case "$1 $2 $*" in
"models voices "*--json*) echo "$*" >"${dir}/listed"; exec cat "${dir}/list.json" ;;
"models voices "*bf_emma) echo 'agentvoice-daemon: no speaker' >&2; exit 1 ;;
"models voices "*) echo "$*" >>"${dir}/heard"; exec sleep 60 ;;
*) exec "${daemon}" "$@" ;;
esac
`);
  chmodSync(program, 0o755);
  extension.activate({
    subscriptions: [] as { dispose(): void }[], extensionUri: { path: root }, extensionPath: root, extension: { id: 'agentvoice.agent-voice', packageJSON: {} },
    globalStorageUri: { path: '/user/User/globalStorage/agentvoice.agent-voice' }, globalState: memento, workspaceState: memento,
    languageModelAccessInformation: { canSendRequest: () => true, onDidChange: () => ({ dispose: () => undefined }) },
    secrets: { get: () => Promise.resolve(undefined), store: () => Promise.resolve(), delete: () => Promise.resolve() },
  } as never);
});

after(async () => {
  await extension.deactivate();
  rmSync(dir, { recursive: true, force: true });
});

beforeEach(() => {
  fake.toasts.length = fake.executed.length = 0;
  fake.settings.clear();
  fake.settings.set('agentvoice.daemon.path', program);
  fake.list = undefined;
  fake.press = () => 'closed';
  rmSync(join(dir, 'heard'), { force: true });
});

const heard = (): string[] => (existsSync(join(dir, 'heard')) ? readFileSync(join(dir, 'heard'), 'utf8').trim().split('\n') : []);

async function until(is: () => boolean): Promise<void> {
  for (const limit = Date.now() + 30_000; !is(); await new Promise((r) => setTimeout(r, 10))) {
    assert.ok(Date.now() < limit, is.toString());
  }
}

async function opened(): Promise<{ list: FakeList; done: Promise<unknown> }> {
  const done = Promise.resolve(fake.commands.get('agentvoice.selectVoice')?.());
  await until(() => fake.list !== undefined);
  return { list: fake.list as FakeList, done };
}

test('speakers are heard where the user moves to, and the accepted one is written', { timeout: 120_000 }, async () => {
  fake.settings.set('agentvoice.voice.engine', 'natural');
  fake.settings.set('agentvoice.audio.outputDevice', 'headset');
  const { list, done } = await opened();
  assert.deepEqual(list.items.map((i) => [i.label, i.description, i.buttons?.length]), [['$(check) af_heart', 'American, female', 1], ['am_michael', 'American, male', 1], ['bf_emma', '', 1]]);
  assert.equal(readFileSync(join(dir, 'listed'), 'utf8').trim(), 'models voices --voice-engine natural --models  --json');
  assert.equal(list.busy, false, 'the list opens in silence');
  list.move(1);
  await until(() => heard().length === 1);
  list.button.fire({ item: list.items[0] });
  await until(() => heard().length === 2);
  assert.deepEqual(heard().map((line) => line.replace('models voices --voice-engine natural --models  --audio-out headset ', '')), ['am_michael', 'af_heart']);
  assert.equal(list.busy, true);
  list.accepted.fire();
  await done;
  assert.equal(fake.settings.get('agentvoice.voice.name'), 'am_michael');
  assert.deepEqual(fake.toasts, []);
});

test('a sample that fails is told, and a dismissed list changes nothing', { timeout: 120_000 }, async () => {
  fake.settings.set('agentvoice.voice.name', 'am_michael');
  const { list, done } = await opened();
  assert.deepEqual(list.items.map((i) => i.label), ['af_heart', '$(check) am_michael', 'bf_emma']);
  list.move(2);
  await until(() => fake.toasts.length === 1);
  assert.equal(fake.toasts[0], 'bf_emma cannot be heard: agentvoice-daemon: no speaker');
  assert.equal(list.busy, false);
  list.hide();
  await done;
  assert.equal(fake.settings.get('agentvoice.voice.name'), 'am_michael');
});

test('the voice of a service is a matter of the settings', { timeout: 120_000 }, async () => {
  fake.settings.set('agentvoice.voice.provider', 'openai');
  fake.press = (_message, buttons) => buttons[0];
  await fake.commands.get('agentvoice.selectVoice')?.();
  assert.equal(fake.list, undefined);
  assert.deepEqual(fake.executed.at(-1), ['workbench.action.openSettings', 'agentvoice.voice.name']);
});

test('a list that cannot be read, and settings that cannot be written, are told', { timeout: 120_000 }, async () => {
  const { list, done } = await opened();
  fake.unwritable = true;
  list.accepted.fire();
  await done;
  fake.unwritable = false;
  assert.equal(fake.toasts.at(-1), 'The voice was not changed: the settings could not be written.');
  writeFileSync(join(dir, 'list.json'), 'not JSON');
  await fake.commands.get('agentvoice.selectVoice')?.();
  assert.equal(fake.toasts.at(-1), 'The voices cannot be listed. Try again. See the log for details.');
});
