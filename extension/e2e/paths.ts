// Where things are. The suite is started by `make e2e`, which brings what is named here.

import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const here = import.meta.dirname;

/** The root of the repository. */
export const root = resolve(here, '..', '..');

/** Where screenshots, logs and the table of times go. */
export const out = resolve(process.env['AGENTVOICE_E2E_OUT'] ?? join(root, 'out', 'e2e'));

/** The daemon that was built from this tree, for what needs a daemon of its own. */
export const daemon = join(root, 'bin', 'agentvoice-daemon');

/** The folder of scripts/e2e.sh. */
export const vscodeHome = required('AGENTVOICE_E2E_VSCODE');

/** The packaged extension under test. */
export const vsix = resolve(required('AGENTVOICE_E2E_VSIX'));

/** The packaged stand-in for Copilot. */
export const copilotVsix = resolve(required('AGENTVOICE_E2E_COPILOT_VSIX'));

/** What makes a mirror of models, and where the libraries of the engine are. */
export const modelMirror = join(root, 'out', 'tools', 'modelmirror');
export const assets = required('AGENTVOICE_E2E_ASSETS');

/** Chromium, as the system's packages install it. */
export const chromium = process.env['AGENTVOICE_E2E_CHROMIUM'] ?? '/usr/bin/chromium';

/** Recorded human speech, of the package pocketsphinx-testdata. */
export const speech = '/usr/share/pocketsphinx/test/data';

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') {
    throw new Error(`${name} is not set: run the suite by make e2e`);
  }
  return value;
}

/** A folder under out, made when it is missing. */
export function folder(...names: string[]): string {
  const dir = join(out, ...names);
  mkdirSync(dir, { recursive: true });
  return dir;
}
