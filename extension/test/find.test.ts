// Which daemon starts, and the message if none can.

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Run, type Source, Unusable, check, platform, run, sourceOf } from '../src/daemon/find';
import { PROTOCOL_VERSION } from '../src/protocol.gen';
import { english } from '../src/text';

const dir = mkdtempSync(join(tmpdir(), 'agentvoice-find-'));
after(() => rmSync(dir, { recursive: true, force: true }));

const program = join(dir, 'agentvoice-daemon');
writeFileSync(program, '#!/bin/sh\nexit 3\n');
chmodSync(program, 0o755);
const bundled: Source = { path: program, chosen: false };
const chosen: Source = { path: program, chosen: true };

const says = (over: Partial<Record<'version' | 'protocolVersion' | 'platform', string>>): Run => () =>
  Promise.resolve(JSON.stringify({ version: 'v1', protocolVersion: PROTOCOL_VERSION, platform: 'linux/amd64', ...over }));

async function refused(source: Source, ask?: Run): Promise<Unusable> {
  try {
    await check(source, english, ask ?? run, 'linux/amd64');
  } catch (err) {
    assert.ok(err instanceof Unusable, String(err));
    assert.notEqual(err.remediation, '');
    return err;
  }
  return assert.fail('it was taken');
}

test('the daemon of the setting comes first, then the bundled one', () => {
  assert.deepEqual(sourceOf('', '/ext', 'linux'), { path: join('/ext', 'bin', 'agentvoice-daemon'), chosen: false });
  assert.deepEqual(sourceOf('  ', '/ext', 'win32'), { path: join('/ext', 'bin', 'agentvoice-daemon.exe'), chosen: false });
  assert.deepEqual(sourceOf(' /opt/av ', '/ext'), { path: '/opt/av', chosen: true });
  assert.deepEqual(sourceOf('~/av', '/ext'), { path: join(homedir(), 'av'), chosen: true });
});

test('a daemon of this platform and protocol is taken', async () => {
  assert.equal((await check(bundled, english, says({}), 'linux/amd64')).version, 'v1');
  const [majorVersion] = PROTOCOL_VERSION.split('.');
  await check(bundled, english, says({ protocolVersion: `${majorVersion ?? ''}.99` }), 'linux/amd64'); // a different minor version is compatible
});

test('a daemon of another protocol version is refused with both versions', async () => {
  const err = await refused(bundled, says({ protocolVersion: '9.0' }));
  assert.equal(err.code, 'daemonProtocol');
  assert.match(err.message, /9\.0/);
  assert.ok(err.message.includes(PROTOCOL_VERSION));
  assert.match((await refused(chosen, says({ protocolVersion: '9.0' }))).remediation, /agentvoice\.daemon\.path/);
});

test('a daemon of another platform is refused with both', async () => {
  const err = await refused(bundled, says({ platform: 'darwin/arm64' }));
  assert.equal(err.code, 'daemonPlatform');
  assert.match(err.message, /darwin\/arm64.*linux\/amd64/);
  const cannotRun: Run = () => Promise.reject(Object.assign(new Error('spawn ENOEXEC'), { code: 'ENOEXEC' }));
  assert.equal((await refused(bundled, cannotRun)).code, 'daemonPlatform');
});

test('a daemon that is not there is named as missing, by what was asked for', async () => {
  const nowhere = join(dir, 'nowhere');
  const err = await refused({ path: nowhere, chosen: true });
  assert.equal(err.code, 'daemonMissing');
  assert.match(err.message, /agentvoice\.daemon\.path/);
  assert.match((await refused({ path: nowhere, chosen: false })).message, /no daemon for this machine/);
  assert.equal((await refused({ path: 'relative/av', chosen: true })).code, 'daemonMissing');
});

test('a program that fails, or says something else, is broken and not of another platform', async () => {
  assert.equal((await refused(bundled)).code, 'daemonBroken');
  assert.equal((await refused(bundled, () => Promise.resolve('hello'))).code, 'daemonBroken');
  assert.equal((await refused(bundled, () => Promise.resolve('{}'))).code, 'daemonBroken');
});

test('platforms are named as Go names them', () => {
  assert.equal(platform('win32', 'x64'), 'windows/amd64');
  assert.equal(platform('darwin', 'arm64'), 'darwin/arm64');
  assert.equal(platform('linux', 'ia32'), 'linux/386');
});
