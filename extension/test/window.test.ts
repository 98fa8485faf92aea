// The window with the real daemon, as the extension starts it: the displayed microphone state while the
// screen is locked, and after a reload.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, test } from 'node:test';
import { HELD } from '../src/held';
import { type Document, install } from './fakeVscode';

const fake = install();
const extension = require('../src/extension') as typeof import('../src/extension');
const root = join(__dirname, '..', '..');

const dir = mkdtempSync(join(tmpdir(), 'agentvoice-window-'));
after(async () => {
  await extension.deactivate(); // after a failure
  rmSync(dir, { recursive: true, force: true });
});
const bus = (locked: boolean): void =>
  writeFileSync(join(dir, 'gdbus'), `#!/bin/sh\ncase "$*" in *call*LockedHint*) echo "(<${locked}>,)";; *call*) exit 1;; *) exec sleep 60;; esac\n`);
bus(true);
chmodSync(join(dir, 'gdbus'), 0o755);
process.env['PATH'] = dir + delimiter + (process.env['PATH'] ?? '');
writeFileSync(join(dir, 'script.txt'), '');
mkdirSync(join(dir, 'dist'));
for (const name of ['panel.js', 'panel.css']) {
  writeFileSync(join(dir, 'dist', name), '');
}
writeFileSync(join(dir, 'dist', 'keeper.js'), readFileSync(join(__dirname, '..', 'src', 'keeper.js')));

const remembered = new Map<string, unknown>();
const memento = { get: (key: string) => remembered.get(key), update: (key: string, value: unknown) => Promise.resolve(void remembered.set(key, value)) };
const context = () => ({
  subscriptions: [] as { dispose(): void }[],
  extensionUri: { path: root },
  extensionPath: dir,
  extension: { id: 'agentvoice.agent-voice', packageJSON: {} },
  globalStorageUri: { path: '/user/User/globalStorage/agentvoice.agent-voice' },
  languageModelAccessInformation: { canSendRequest: () => true, onDidChange: () => ({ dispose: () => undefined }) },
  globalState: { get: () => undefined, update: () => Promise.resolve() },
  workspaceState: memento,
  secrets: { get: () => Promise.resolve(undefined), store: () => Promise.resolve(), delete: () => Promise.resolve() },
});

fake.settings.set('agentvoice.copilot.mode', 'chatView');
fake.settings.set('agentvoice.daemon.path', process.env['AGENTVOICE_DAEMON'] ?? join(root, '..', 'bin', 'agentvoice-daemon'));
fake.settings.set('agentvoice.daemon.arguments', ['--headless', '--script', join(dir, 'script.txt')]);

const run = (command: string): unknown => fake.commands.get(`agentvoice.${command}`)?.();
const label = (): string => (fake.statusItems.at(-1)?.accessibilityInformation as { label: string } | undefined)?.label ?? '';
const contextKey = (name: string): unknown => fake.executed.findLast(([id, key]) => id === 'setContext' && key === `agentvoice.${name}`)?.[2];

async function until(what: string): Promise<void> {
  for (const limit = Date.now() + 120_000; !label().includes(what); ) {
    assert.ok(Date.now() < limit, `still waiting for “${what}”; the status bar says: ${label()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('a conversation that begins on a locked screen is muted, also after the window is loaded again', { timeout: 300_000 }, async () => {
  extension.activate(context() as never);
  await run('start');
  await until('Muted, Muted: the screen was locked');
  assert.equal(contextKey('muted'), true);
  await extension.deactivate();

  bus(false);
  extension.activate(context() as never);
  await run('start');
  await until('Muted, Muted: the screen was locked');
  await run('toggleMute');
  await until('Microphone is on');
  assert.equal(contextKey('muted'), false);
  await extension.deactivate();
});

test('a screen that is locked while only the wake phrase is listened for mutes it, and the command unmutes it', { timeout: 300_000 }, async () => {
  bus(true);
  fake.settings.set('agentvoice.wake.enabled', true);
  extension.activate(context() as never);
  await until('Muted: the screen was locked');
  assert.deepEqual([contextKey('muted'), contextKey('wake'), contextKey('active')], [true, false, false]);
  bus(false);
  await run('toggleMute');
  await until('Microphone listens for');
  assert.deepEqual([contextKey('muted'), contextKey('wake')], [false, true]);
  await extension.deactivate();
});

/** The panel's view of the window, and its messages. */
interface Shown {
  readonly state: string;
  readonly problem?: { readonly message: string };
  readonly unsent: string;
}

/** Opens the panel; until waits for a view. */
function openPanel(): { send(message: unknown): void; until(holds: (view: Shown) => boolean): Promise<void> } {
  const early: unknown[] = []; // a page loads for longer than the extension takes to listen to it
  let send: (message: unknown) => void = (message) => early.push(message);
  let last: Shown | undefined;
  (fake.views.get('agentvoice.panel') as { resolveWebviewView(view: unknown): void }).resolveWebviewView({
    visible: true,
    onDidDispose: () => ({ dispose: () => undefined }),
    webview: {
      postMessage: ({ view }: { view?: Shown }) => {
        last = view ?? last;
        fake.executed.push(['postMessage', view?.state]);
        return Promise.resolve(true);
      },
      onDidReceiveMessage: (listener: typeof send) => {
        send = listener;
        early.forEach(listener);
        return { dispose: () => undefined };
      },
    },
  });
  send({ type: 'ready' });
  return {
    send: (message) => send(message),
    until: async (holds) => {
      for (const limit = Date.now() + 20_000; last === undefined || !holds(last); ) {
        assert.ok(Date.now() < limit, `the panel shows ${JSON.stringify(last)}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
  };
}

test('each state reaches the panel before the context keys, which re-evaluate menus', { timeout: 300_000 }, async () => {
  fake.settings.delete('agentvoice.wake.enabled');
  extension.activate(context() as never);
  const panel = openPanel();
  await panel.until((view) => view.state === 'idle');
  fake.executed.length = 0; // the first keys were set before there was a panel
  await run('start');
  await until('Listening');
  await run('end');
  await until('Agent Voice: Ready');
  const shown = fake.executed.flatMap(([id, key, value]) => (id === 'postMessage' ? [`panel ${String(key)}`] : key === 'agentvoice.active' ? [`active ${String(value)}`] : []));
  const begin = shown.indexOf('active true');
  const end = shown.indexOf('active false');
  assert.ok(begin > 0 && end > begin, shown.join(', '));
  assert.match(shown[begin - 1] ?? '', /^panel/, shown.join(', '));
  assert.match(shown[end - 1] ?? '', /^panel (terminating|idle)$/, shown.join(', ')); // neither is active
  await extension.deactivate();
});

test('what fails for the panel is shown', { timeout: 300_000 }, async () => {
  fake.settings.delete('agentvoice.wake.enabled');
  extension.activate(context() as never);
  const panel = openPanel();
  fake.press = () => 'Hold a key to talk';
  fake.unwritable = true;
  panel.send({ type: 'screenReader' });
  await panel.until((view) => view.problem?.message === 'Something unexpected happened.');
  fake.unwritable = false;
  await extension.deactivate();
});

test('a typed message that cannot be sent is kept, and gone once it is sent', { timeout: 300_000 }, async () => {
  const path = fake.settings.get('agentvoice.daemon.path');
  fake.settings.set('agentvoice.daemon.path', join(dir, 'missing'));
  extension.activate(context() as never);
  const panel = openPanel();
  panel.send({ type: 'say', text: 'what does it do' });
  await panel.until((view) => view.problem !== undefined && view.unsent === 'what does it do');
  fake.settings.set('agentvoice.daemon.path', path);
  panel.send({ type: 'say', text: 'what does it do' });
  await panel.until((view) => view.problem === undefined && view.unsent === '');
  await until('Microphone is muted');
  await extension.deactivate();
});

/** Exports the transcript until it has a text. */
async function exported(text: RegExp): Promise<string> {
  for (const limit = Date.now() + 20_000; ; ) {
    fake.editor = undefined;
    await run('exportTranscript');
    const content = (fake.editor as { document: Document } | undefined)?.document.getText() ?? '';
    fake.editor = undefined;
    if (text.test(content)) {
      return content;
    }
    assert.ok(Date.now() < limit, `the transcript is ${content}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('what was said is shown after the window is loaded again, and nothing of it was written to disk', { timeout: 300_000 }, async () => {
  extension.activate(context() as never);
  openPanel().send({ type: 'say', text: 'what does it do' });
  await exported(/what does it do/);
  await extension.deactivate();
  assert.doesNotMatch(JSON.stringify([...remembered]), /what does it do/);
  const held = remembered.get(HELD);
  assert.ok(held !== undefined);
  extension.activate(context() as never);
  await exported(/what does it do[^]*Before this window was opened/);
  assert.notDeepEqual(remembered.get(HELD), held, 'it is held once');
  await extension.deactivate();
});

test('where a coding agent answers, the editor is not asked for a model, and none is missed', { timeout: 300_000 }, async () => {
  fake.settings.delete('agentvoice.copilot.mode');
  let sent = 0;
  const model = { id: 'm', name: 'M', vendor: 'copilot', family: 'f', maxInputTokens: 1000, countTokens: () => Promise.resolve(1), sendRequest: () => Promise.reject(new Error(`refused ${++sent}`)) };
  for (const [agent, models, asks] of [['', [model], 1], ['offline', [model], 0], ['offline', [], 0]] as const) {
    sent = 0;
    fake.settings.set('agentvoice.agent', agent);
    fake.models = [...models];
    extension.activate(context() as never);
    const panel = openPanel();
    void run('start');
    await until('Listening');
    await panel.until((view) => view.state === 'listening' && view.problem === undefined);
    assert.equal(sent, asks, `${agent} with ${models.length} models`);
    await extension.deactivate();
  }
  fake.settings.delete('agentvoice.agent');
  fake.models = [];
});
