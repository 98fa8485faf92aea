// Working with a screen reader: the offer, and the settings it changes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { english } from '../src/text';
import { install } from './fakeVscode';

const fake = install();
const { ScreenReader } = require('../src/screenReader') as typeof import('../src/screenReader');

/** The settings changed when the user presses a button. */
async function choose(button: string): Promise<Record<string, unknown>> {
  const kept = new Map<string, unknown>();
  const memory = { get: (key: string) => kept.get(key), update: (key: string, value: unknown) => Promise.resolve(void kept.set(key, value)) };
  fake.settings.clear();
  fake.toasts.length = 0;
  fake.press = () => button;
  const reader = new ScreenReader(memory as never, english);
  await reader.seen();
  await reader.seen();
  assert.equal(fake.toasts.length, 1, 'the user is asked once');
  return Object.fromEntries(fake.settings);
}

test('where a screen reader runs, headphones, a key to talk, or the reader in place of the voice are offered once', async () => {
  const tones = { 'agentvoice.cues.enabled': true };
  assert.deepEqual(await choose('I use headphones'), { ...tones, 'agentvoice.voice.silent': false });
  assert.deepEqual(await choose('Hold a key to talk'), { ...tones, 'agentvoice.turnDetection.mode': 'pushToTalk', 'agentvoice.voice.silent': false });
  assert.deepEqual(await choose('Let the screen reader read'), { ...tones, 'agentvoice.turnDetection.mode': 'pushToTalk', 'agentvoice.voice.silent': true });
  assert.deepEqual(await choose('closed'), {});
});
