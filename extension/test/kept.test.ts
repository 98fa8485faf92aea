// The transcript while its window is loaded again: in memory by default, on disk only with the setting.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { HELD } from '../src/held';
import { KeptTranscript, STORED } from '../src/kept';
import { type Model, START, reduce } from '../src/model';
import { english } from '../src/text';
import type { Line } from '../src/transcript';
import { shownLines } from '../src/view';
import { recorded, replay } from './trace';

const program = join(__dirname, '..', 'src', 'keeper.js');
const log = { info: () => undefined, warn: assert.fail, error: () => undefined, debug: () => undefined };

/** The state of a workspace, which the editor writes to disk. */
class Disk {
  readonly kept = new Map<string, unknown>();
  onDisk = false;
  /** the window is closing, and nothing is written any more */
  closing = false;
  get = <T>(key: string): T | undefined => this.kept.get(key) as T | undefined;
  update = (key: string, value: unknown): Promise<void> => Promise.resolve(this.closing ? undefined : void (value === undefined ? this.kept.delete(key) : this.kept.set(key, value)));
  window(): KeptTranscript {
    return new KeptTranscript(this, program, () => this.onDisk, log);
  }
  get text(): string {
    return JSON.stringify([...this.kept]);
  }
}

const said = (text: string, id = 1): Line => ({ id, kind: 'speech', conversation: 1, turnId: 't', role: 'user', text, final: true, at: 0 });

test('a window that is loaded again has its transcript, and nothing that was said is on disk', async () => {
  const disk = new Disk();
  const lines = [said('a secret'), said('ü'.repeat(200_000), 2)];
  const window = disk.window();
  window.changed(lines);
  disk.closing = true;
  const closed = window.close();
  disk.closing = false;
  assert.deepEqual([...disk.kept.keys()], [HELD]);
  assert.doesNotMatch(disk.text, /secret/);
  assert.deepEqual(await disk.window().take(), lines, 'it is there before the window before has ended');
  await closed;
  assert.deepEqual(await disk.window().take(), [], 'once');
  assert.deepEqual([...disk.kept.keys()], []);
});

test('the program that holds the text deletes nothing but its own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kept-'));
  writeFileSync(join(folder, 'theirs'), '');
  const run = (...args: string[]): number | null => spawnSync(process.execPath, [program, ...args], { cwd: folder, input: '', timeout: 20_000 }).status;
  assert.equal(run(join(folder, 'text'), '200'), 0);
  assert.notEqual(run(), 0);
  assert.deepEqual(readdirSync(folder), ['theirs']);
  rmSync(folder, { recursive: true });
});

test('another program that finds the place does not get the text without the token', async () => {
  const disk = new Disk();
  const window = disk.window();
  window.changed([said('a secret')]);
  await window.close();
  const { path, token } = disk.get<{ path: string; token: string }>(HELD) ?? assert.fail();
  await disk.update(HELD, { path, token: token.replace(/./g, '0') });
  assert.deepEqual(await disk.window().take(), []);
  await disk.update(HELD, { path, token });
  assert.equal((await disk.window().take()).length, 1);
});

test('a transcript that is not held any more is empty, and the window does not wait long for it', async () => {
  const disk = new Disk();
  disk.window().changed([said('gone')]);
  assert.deepEqual(await disk.window().take(), []);
});

test('an empty transcript starts no program', async () => {
  const disk = new Disk();
  await disk.window().close();
  assert.deepEqual([...disk.kept.keys()], []);
});

test('with the setting the transcript is on disk, and gone from it when the setting is', async () => {
  const disk = new Disk();
  disk.onDisk = true;
  const window = disk.window();
  window.changed([said('kept')]);
  await window.close();
  assert.deepEqual([...disk.kept.keys()], [STORED]);
  assert.deepEqual((await disk.window().take()).map((l) => l.text), ['kept']);
  const next = disk.window();
  next.changed([]);
  await next.close();
  assert.deepEqual([...disk.kept.keys()], [], 'a transcript that was cleared is not kept');

  const off = disk.window();
  off.changed([said('kept')]);
  await off.close();
  disk.onDisk = false;
  assert.deepEqual(await disk.window().take(), []);
  assert.deepEqual([...disk.kept.keys()], []);
});

test('lines of before are above the new conversation and in their order; what was unfinished has ended', async () => {
  const before = await replay(recorded('calls-after-text'));
  const open: Line = { ...said('It reads', 99), role: 'assistant', final: false };
  const texts = (m: Model): string[] => shownLines(english)(m.lines).map((l) => l.note ?? l.call?.status ?? l.text.trim());
  let m = reduce(START, { is: 'transcript', at: 0, params: { turnId: 't', role: 'user', text: 'new', final: true, seq: 1 } });
  m = reduce(m, { is: 'reloaded', lines: [...before.lines, open], divider: 'Reloaded.', at: 0 });
  assert.deepEqual(texts(m), ['do the tests pass', 'I look.', 'completed', 'yes please', 'completed', 'yes please', 'All done.', 'Interrupted', 'Reloaded.', 'new']);
  m = reduce(START, { is: 'reloaded', lines: m.lines, divider: 'Again.', at: 0 });
  assert.deepEqual(texts(m).slice(-3), ['Reloaded.', 'new', 'Again.']);
  assert.equal(new Set(m.lines.map((l) => l.id)).size, m.lines.length);
  assert.ok(m.lines.every((l) => l.id < 0 && l.conversation < 0));
});
