// The extension as the editor sees it at activation.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { install } from './fakeVscode';

const fake = install();
const extension = require('../src/extension') as typeof import('../src/extension');
const root = join(__dirname, '..', '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  contributes: { commands: { command: string }[]; views: { agentvoice: { id: string; type: string }[] }; chatParticipants: { id: string }[]; languageModelTools: { name: string }[] };
};

const context = {
  subscriptions: [] as { dispose(): void }[],
  extensionUri: { path: root },
  extensionPath: root,
  extension: { id: 'agentvoice.agent-voice', packageJSON: {} },
  globalStorageUri: { path: '/user/User/globalStorage/agentvoice.agent-voice' },
  languageModelAccessInformation: { canSendRequest: () => undefined, onDidChange: () => ({ dispose: () => undefined }) },
  globalState: { get: () => undefined, update: () => Promise.resolve() },
  workspaceState: { get: () => undefined, update: () => Promise.resolve() },
  secrets: { get: () => Promise.resolve(undefined), store: () => Promise.resolve(), delete: () => Promise.resolve() },
};

const loaded = (): boolean => Object.keys(require.cache).some((file) => file.endsWith('/src/window.js'));

// Before any test: anything not registered when activate returns would be missing.
const result: unknown = extension.activate(context as never);

test('view not registered: when activate returns, the view of package.json has its provider, and is a webview', () => {
  const [view] = manifest.contributes.views.agentvoice;
  assert.equal(view?.type, 'webview');
  assert.deepEqual([...fake.views.keys()], [view.id]);
});

test('activation blocked by a toast: it returns at once, shows none and waits for nothing', () => {
  assert.equal(result, undefined, 'a promise could be held up');
  assert.deepEqual(fake.toasts, []);
});

test('activation does nothing but registering: the rest is not even loaded', () => {
  assert.equal(loaded(), false);
  assert.deepEqual(fake.executed, []);
});

test('every command of package.json is registered', () => {
  const missing = manifest.contributes.commands.map((c) => c.command).filter((id) => !fake.commands.has(id));
  assert.deepEqual(missing, []);
  assert.deepEqual(fake.participants, manifest.contributes.chatParticipants.map((p) => p.id));
  assert.deepEqual([...fake.contributed.keys()], manifest.contributes.languageModelTools.map((tool) => tool.name));
});

test('the status item has an id, a name and words for a screen reader, and is shown', () => {
  const [item] = fake.statusItems;
  assert.deepEqual([item?.id, item?.name, item?.shown], ['agentvoice.status', 'Agent Voice', true]);
  assert.deepEqual(item?.accessibilityInformation, { label: 'Agent Voice: Ready', role: 'button' });
});

test('the first use loads the rest: a command runs, and tells the editor its context', async () => {
  await fake.commands.get('agentvoice.clearTranscript')?.();
  assert.equal(loaded(), true);
  const contexts = fake.executed.filter(([id]) => id === 'setContext').map(([, key]) => key);
  assert.ok(contexts.includes('agentvoice.active') && contexts.includes('agentvoice.toolPending'));
});

/** Waits for what is shown a moment later. */
async function eventually(holds: () => boolean, found: () => string): Promise<void> {
  for (let i = 0; i < 200 && !holds(); i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.ok(holds(), found());
}

test('dead Start button: with a daemon that is not there it says so, and is not stuck', async () => {
  fake.settings.set('agentvoice.daemon.path', '/nowhere/agentvoice-daemon');
  await fake.commands.get('agentvoice.start')?.();
  const status = fake.statusItems[0];
  await eventually(() => /\$\(warning\) Not available/.test(status?.text ?? ''), () => String(status?.text));
  assert.deepEqual(status?.accessibilityInformation, {
    label: 'Agent Voice: Not available, Microphone is off, agentvoice.daemon.path does not point to a program.', role: 'button',
  });
  assert.deepEqual(fake.toasts, []);
  const before = fake.executed.length;
  await fake.commands.get('agentvoice.start')?.();
  await eventually(() => fake.executed.length > before, () => 'the second press did nothing');
});

test('deactivation ends in order', async () => {
  await extension.deactivate();
});
