// Paths. Start the suite with `make e2e`, which provides these files.

import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const here = import.meta.dirname;

/** The root of the repository. */
export const root = resolve(here, '..', '..');

/** Folder of screenshots, logs and the table of times. */
export const out = resolve(process.env['AGENTVOICE_E2E_OUT'] ?? join(root, 'out', 'e2e'));

/** Folder of the daemons' journals; the final slash makes it one for --journal. */
export const journals = `${join(out, 'journals')}/`;

/** The daemon built from this tree, for tests that start their own. */
export const daemon = join(root, 'bin', 'agentvoice-daemon');

/** The working folder of scripts/e2e.sh. */
export const vscodeHome = required('AGENTVOICE_E2E_VSCODE');

/** The packaged extension under test. */
export const vsix = resolve(required('AGENTVOICE_E2E_VSIX'));

/** The packaged fake Copilot. */
export const copilotVsix = resolve(required('AGENTVOICE_E2E_COPILOT_VSIX'));

/** The tool that creates a mirror of models, and the engine's libraries. */
export const modelMirror = join(root, 'out', 'tools', 'modelmirror');
export const assets = required('AGENTVOICE_E2E_ASSETS');

/** Chromium from the system's packages. */
export const chromium = process.env['AGENTVOICE_E2E_CHROMIUM'] ?? '/usr/bin/chromium';

/** Recorded human speech from the package pocketsphinx-testdata. */
export const speech = '/usr/share/pocketsphinx/test/data';

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') {
    throw new Error(`${name} is not set: run the suite by make e2e`);
  }
  return value;
}

/** A folder under out, created if missing. */
export function folder(...names: string[]): string {
  const dir = join(out, ...names);
  mkdirSync(dir, { recursive: true });
  return dir;
}
