// The keys in the terminal: what the package adds to the terminal's list, and what the user with a list of their own is told.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { english } from '../src/text';
import { SKIPPED, install } from './fakeVscode';

const fake = install();
const { KEYED, tellOfTerminalKeys } = require('../src/terminalKeys') as typeof import('../src/terminalKeys');
const { contributes } = JSON.parse(readFileSync(join(__dirname, '..', '..', 'package.json'), 'utf8')) as {
  contributes: { keybindings: { command: string }[]; configurationDefaults: Record<string, unknown> };
};

/** What the user is told in two windows with these settings, and what the clipboard holds afterwards. */
async function told(settings: Record<string, unknown>, press?: string): Promise<{ toasts: readonly string[]; copied: string }> {
  const kept = new Map<string, unknown>();
  const memory = { get: (key: string) => kept.get(key), update: (key: string, value: unknown) => Promise.resolve(void kept.set(key, value)) };
  Object.entries(settings).forEach(([name, value]) => fake.settings.set(name, value));
  fake.toasts.length = 0;
  fake.copied = '';
  fake.press = () => press ?? 'closed';
  await tellOfTerminalKeys(memory as never, english);
  await tellOfTerminalKeys(memory as never, english);
  return { toasts: [...fake.toasts], copied: fake.copied };
}

test('every command with a key is handled by the editor while a terminal has the focus', () => {
  assert.deepEqual(contributes.configurationDefaults, { [SKIPPED]: contributes.keybindings.map((k) => k.command) });
  assert.deepEqual(KEYED, contributes.keybindings.map((k) => k.command));
});

test('with the default list nothing is said, nor where the user decided', async () => {
  assert.deepEqual((await told({})).toasts, []);
  assert.deepEqual((await told({ [SKIPPED]: ['workbench.action.quickOpen', ...KEYED] })).toasts, []);
  assert.deepEqual((await told({ [SKIPPED]: KEYED.map((command) => `-${command}`) })).toasts, []);
  assert.deepEqual((await told({ [SKIPPED]: ['x'], 'terminal.integrated.sendKeybindingsToShell': true })).toasts, []);
  fake.settings.delete('terminal.integrated.sendKeybindingsToShell');
});

test('a list of the user\'s own in its place is named once, with what to add', async () => {
  const line = KEYED.slice(1).map((command) => `"${command}"`).join(', ');
  const { toasts, copied } = await told({ [SKIPPED]: ['workbench.action.quickOpen', 'agentvoice.toggle'] }, 'Copy');
  assert.equal(toasts.length, 1);
  assert.ok(toasts[0]?.includes(SKIPPED) && toasts[0].endsWith(line), toasts[0]);
  assert.equal(copied, line);
});
