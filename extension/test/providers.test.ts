// The services selected in the settings.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hears, keyed, speaks } from '../src/providers';

const read = (set: Record<string, string>) => (name: string) => set[name] ?? '';

test('what hears and what speaks are chosen each by itself', () => {
  for (const [set, ears, voice] of [
    [{}, 'local', 'local'],
    [{ provider: 'openai' }, 'openai', 'local'],
    [{ provider: 'azure' }, 'azure', 'local'],
    [{ provider: 'openai', 'voice.wire': 'realtime' }, 'openai', 'openai'],
    [{ provider: 'azure', 'voice.model': 'our-voice' }, 'azure', 'azure'],
    [{ provider: 'openai', 'voice.endpoint': 'https://gate.example' }, 'openai', 'openai'],
    [{ provider: 'openai', 'voice.provider': 'openai' }, 'openai', 'openai'],
    [{ provider: 'openai', 'hearing.provider': 'local' }, 'local', 'openai'],
    [{ provider: 'openai', 'transcription.language': 'en-GB', locale: 'de' }, 'openai', 'local'],
    [{ provider: 'openai', 'transcription.language': 'ja' }, 'openai', 'openai'],
    [{ provider: 'openai', locale: 'de' }, 'openai', 'openai'],
    [{ provider: 'localai' }, 'localai', 'localai'],
    [{ provider: 'openai', 'voice.provider': 'local' }, 'openai', 'local'],
    [{ 'hearing.provider': 'azure' }, 'azure', 'local'],
  ] as const) {
    assert.deepEqual([hears(read(set)), speaks(read(set))], [ears, voice], JSON.stringify(set));
  }
});

test('a key is for a service that is used', () => {
  assert.deepEqual(keyed(read({ 'voice.provider': 'openai' })), ['openai']);
  assert.deepEqual(keyed(read({ provider: 'openai', 'hearing.provider': 'azure' })), ['openai', 'azure']);
  assert.deepEqual(keyed(read({ provider: 'openai', 'hearing.provider': 'local', 'voice.provider': 'azure' })), ['azure']);
  assert.deepEqual(keyed(read({})), ['openai', 'live', 'azure', 'localai', 'compatible']);
});
