// Selects the daemon to start (the one in the setting, or else the bundled one), and checks that it matches
// this machine and this extension.

import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { PROTOCOL_VERSION } from '../protocol.gen';
import type { Translate } from '../text';

/** Unusable says why the daemon cannot start, and how to fix it. */
export class Unusable extends Error {
  override readonly name = 'Unusable';
  constructor(
    readonly code: 'daemonMissing' | 'daemonPlatform' | 'daemonProtocol' | 'daemonBroken',
    message: string,
    readonly remediation: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Version is the output of `agentvoice-daemon version --json`. */
export interface Version {
  readonly version: string;
  readonly protocolVersion: string;
  readonly platform: string;
}

/** Timeout of `version`, in milliseconds: it only prints, but the first start reads the whole file. */
const PATIENCE = 15_000;

const PLATFORMS: Readonly<Record<string, string>> = { win32: 'windows', darwin: 'darwin', linux: 'linux' };
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64', arm: 'arm', ia32: '386' };

/** The platform in Go's notation, such as linux/amd64. */
export function platform(os: string = process.platform, arch: string = process.arch): string {
  return `${PLATFORMS[os] ?? os}/${ARCHITECTURES[arch] ?? arch}`;
}

/** The daemon's path, and whether the user chose it. */
export interface Source {
  readonly path: string;
  readonly chosen: boolean;
}

/** The daemon to start: from the setting, or else from the extension's folder. */
export function sourceOf(setting: string, extensionPath: string, os: string = process.platform): Source {
  const wanted = setting.trim();
  if (wanted === '') {
    return { path: join(extensionPath, 'bin', os === 'win32' ? 'agentvoice-daemon.exe' : 'agentvoice-daemon'), chosen: false };
  }
  const expanded = wanted === '~' || wanted.startsWith('~/') ? join(homedir(), wanted.slice(1)) : wanted;
  return { path: expanded, chosen: true };
}

/** Runs a program and returns its output. */
export type Run = (path: string, args: readonly string[]) => Promise<string>;

export const run: Run = (path, args) =>
  new Promise((resolve, reject) => {
    execFile(path, [...args], { timeout: PATIENCE, windowsHide: true }, (err, stdout) => (err ? reject(err) : resolve(stdout)));
  });

/** Checks that the daemon exists, runs on this machine and speaks this extension's protocol. */
export async function check(source: Source, t: Translate, ask: Run = run, here: string = platform()): Promise<Version> {
  if (source.chosen && !isAbsolute(source.path)) {
    throw new Unusable(
      'daemonMissing',
      t('agentvoice.daemon.path is not an absolute path.'),
      t('Correct the setting, or leave it empty to use the daemon that comes with the extension.'),
    );
  }
  await present(source, t);
  let version: Version;
  try {
    version = parse(await ask(source.path, ['version', '--json']));
  } catch (err) {
    throw unable(source, here, t, err);
  }
  if (version.platform !== here) {
    throw otherPlatform(version.platform, here, t);
  }
  if (major(version.protocolVersion) !== major(PROTOCOL_VERSION)) {
    throw new Unusable(
      'daemonProtocol',
      t('The daemon ({0}) speaks version {1} of the protocol, this extension speaks {2}.', version.version, version.protocolVersion, PROTOCOL_VERSION),
      source.chosen
        ? t('Update the one that is older, or leave agentvoice.daemon.path empty to use the daemon that comes with the extension.')
        : t('Reinstall the extension: its files are of different versions.'),
    );
  }
  return version;
}

async function present(source: Source, t: Translate): Promise<void> {
  try {
    await access(source.path, process.platform === 'win32' ? constants.F_OK : constants.X_OK);
  } catch (err) {
    throw new Unusable(
      'daemonMissing',
      source.chosen ? t('agentvoice.daemon.path does not point to a program.') : t('This package has no daemon for this machine.'),
      source.chosen
        ? t('Correct the setting, or leave it empty to use the daemon that comes with the extension.')
        : t('Install the package for your platform, or build the daemon and set agentvoice.daemon.path.'),
      { cause: err },
    );
  }
}

/** A program for another platform cannot even print its version. */
function unable(source: Source, here: string, t: Translate, err: unknown): Unusable {
  const code = typeof err === 'object' && err !== null && 'code' in err ? String(err.code) : '';
  if (code === 'ENOEXEC' || code === 'EFTYPE' || code === 'UNKNOWN') {
    return otherPlatform('?', here, t);
  }
  return new Unusable(
    'daemonBroken',
    t('The daemon does not start.'),
    source.chosen ? t('Check agentvoice.daemon.path. See the log for details.') : t('Reinstall the extension. See the log for details.'),
    { cause: err },
  );
}

function otherPlatform(theirs: string, here: string, t: Translate): Unusable {
  return new Unusable(
    'daemonPlatform',
    theirs === '?' ? t('The daemon was not built for this machine ({0}).', here) : t('The daemon was built for {0}, but this machine is {1}.', theirs, here),
    t('Install the package for your platform.'),
  );
}

function parse(text: string): Version {
  const value: unknown = JSON.parse(text);
  if (typeof value === 'object' && value !== null && 'version' in value && 'protocolVersion' in value && 'platform' in value) {
    return { version: String(value.version), protocolVersion: String(value.protocolVersion), platform: String(value.platform) };
  }
  throw new Error('version --json did not name version, protocolVersion and platform');
}

/** The part of a version that must match. */
export function major(version: string): string {
  return version.split('.', 1)[0] ?? '';
}
