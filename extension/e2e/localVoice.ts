// Install Local Voice: the offer, the licences, the progress, a cancel that preserves the download, and
// a model that is usable afterwards. A slow server on this machine provides the models.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createReadStream, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import * as paths from './paths.ts';
import { type World, scenario } from './world.ts';

/** Bytes per chunk and milliseconds between chunks: some seconds for the large file. */
const CHUNK = 64 * 1024;
const PACE = 20;

/** Creates and serves the mirror; records how many bytes of each path were sent. */
async function serve(dir: string): Promise<{ server: Server; sent: Map<string, number> }> {
  const files = join(dir, 'mirror');
  mkdirSync(files);
  const sent = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://mirror').pathname;
    const file = join(files, path);
    if (!existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    const start = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const { size } = statSync(file);
    response.writeHead(start > 0 ? 206 : 200, {
      'content-length': size - start, ...(start > 0 ? { 'content-range': `bytes ${start}-${size - 1}/${size}` } : {}),
    });
    const stream = createReadStream(file, { start, highWaterMark: CHUNK });
    stream.on('data', (chunk) => {
      sent.set(path, (sent.get(path) ?? 0) + chunk.length);
      response.write(chunk);
      stream.pause();
      setTimeout(() => stream.resume(), PACE);
    });
    stream.on('end', () => response.end());
    response.on('close', () => stream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const mirror = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  execFileSync(paths.modelMirror, [mirror, files, join(dir, 'manifest.json'), paths.assets]);
  return { server, sent };
}

/** Runs the command up to the download. */
async function accept(w: World, picture?: string): Promise<void> {
  const { page } = w.window;
  await w.window.command('Agent Voice: Install Local Voice');
  const pick = page.locator('.quick-input-widget');
  await pick.locator('.monaco-list-row').filter({ hasText: 'tone-large' }).click(); // beside what is recommended
  if (picture !== undefined) {
    await w.picture('local-voice', `${picture}-choose`);
  }
  await pick.getByRole('button', { name: 'OK' }).click();
  const dialog = w.window.dialog();
  await dialog.waitFor();
  assert.match(await dialog.innerText(), /tone-large \(13 MB\): OpenRAIL-M/);
  if (picture !== undefined) {
    await w.picture('local-voice', `${picture}-licences`);
  }
  await dialog.locator('.monaco-button').filter({ hasText: 'Accept and Install' }).first().click();
  await w.window.toasts().filter({ hasText: 'Installing local voice' }).waitFor();
}

export function localVoice(): void {
  scenario('Install Local Voice: chosen, licences read, stopped, continued where it was, and installed', async (w) => {
    const { server, sent } = await serve(w.dir);
    try {
      await w.shown();
      const toasts = w.window.toasts();
      await accept(w, '1');
      await toasts.filter({ hasText: /tone-large: \d+ MB of \d+ MB/ }).waitFor();
      await w.picture('local-voice', '2-progress');
      await toasts.filter({ hasText: 'Installing local voice' }).getByRole('button', { name: 'Cancel' }).click();
      await toasts.filter({ hasText: 'The installation was stopped.' }).waitFor();
      await w.picture('local-voice', '3-stopped');
      const before = sent.get('/tone-large/large.bin') ?? 0;
      const { size } = statSync(join(w.dir, 'mirror', 'tone-large', 'large.bin'));
      assert.ok(before > 0 && before < size, `${before} bytes of ${size} were sent`);
      assert.ok(!existsSync(join(w.dir, 'models', 'tone-large')));
      await accept(w);
      await toasts.filter({ hasText: 'The local voice is installed.' }).waitFor({ timeout: 60_000 });
      await w.picture('local-voice', '4-installed');
      assert.ok((sent.get('/tone-large/large.bin') ?? 0) < size + before, 'the second download started over');
      assert.ok(existsSync(join(w.dir, 'models', 'tone-large', 'encoder.onnx')));
    } finally {
      server.close();
      server.closeAllConnections();
      await w.closeWindow(); // its daemon uses the model
      rmSync(join(w.dir, 'models'), { recursive: true, force: true });
    }
  });
}
