// What a command of a package manager runs: the scripts of package.json. "npm test" names them, and the call that the
// user approves holds their text, so that they cannot change in between.

import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Files } from './files';

/** Scripts maps the names of scripts to their commands. */
export type Scripts = Readonly<Record<string, string>>;

/** Maximum length of a file that is read to learn what runs, in bytes. */
const LONGEST = 1024 * 1024;
/** Scripts of which each is run before and after the one that is named. */
const HOOKS = ['pre', '', 'post'] as const;
/** Names of commands that run a script without the word "run". */
const BARE: ReadonlySet<string> = new Set(['test', 't', 'tst', 'start', 'stop', 'restart']);
const INSTALL = ['install', 'prepublish', 'prepare'];
/** Scripts that other commands run. */
const OTHERS: ReadonlyMap<string, readonly string[]> = new Map([
  ...['install', 'i', 'in', 'ci', 'clean-install', 'add'].map((name): [string, string[]] => [name, INSTALL]),
  ['install-test', [...INSTALL, 'test']],
  ['it', [...INSTALL, 'test']],
  ['publish', ['publish', 'publishOnly', 'prepare', 'pack']],
  ['pack', ['prepare', 'pack']],
  ['version', ['version']],
]);
const MANAGERS = /(?:^|[\s;&|(])(npm|pnpm|yarn|bun)(?:\.cmd)?((?:\s+-[^\s]+)*)\s+([^\s;&|()<>]+)(?:\s+([^\s;&|()<>]+))?/g;

/**
 * The scripts that a command line runs, with those before and after them; undefined if it runs none, and unknown if
 * package.json cannot be read.
 */
export async function packageScripts(files: Pick<Files, 'reach'>, line: string, folder: string): Promise<Scripts | undefined | 'unknown'> {
  const names: string[] = [];
  for (const [, manager, , word = '', next = ''] of line.matchAll(MANAGERS)) {
    if (word === 'run' || word === 'run-script' || word === 'rum' || word === 'urn') {
      names.push(next);
    } else if (BARE.has(word)) {
      names.push(word === 't' || word === 'tst' ? 'test' : word);
    } else if (OTHERS.has(word)) {
      names.push(...(OTHERS.get(word) ?? []));
    } else if (manager === 'yarn' || manager === 'pnpm' || manager === 'bun') {
      names.push(word);
    }
  }
  if (/(^|[\s;&|(])(yarn|bun)(\.cmd)?\s*($|[;&|)])/.test(line)) {
    names.push(...INSTALL); // without a word, they install
  }
  if (names.length === 0) {
    return undefined;
  }
  const all = await manifestScripts(files, folder);
  if (all === 'unknown') {
    return all;
  }
  const found = names.flatMap((name) => HOOKS.map((hook) => hook + name)).filter((name) => all.has(name));
  return found.length === 0 ? undefined : Object.fromEntries(found.map((name) => [name, all.get(name) ?? '']));
}

/** The scripts of a folder's package.json. */
async function manifestScripts(files: Pick<Files, 'reach'>, folder: string): Promise<ReadonlyMap<string, string> | 'unknown'> {
  let text: string | undefined;
  try {
    text = await textOf(files, vscode.Uri.file(join(folder, 'package.json')));
  } catch {
    return 'unknown';
  }
  try {
    const { scripts } = JSON.parse(text ?? '{}') as { scripts?: unknown };
    return new Map(Object.entries(typeof scripts === 'object' && scripts !== null ? scripts : {}).map(([name, script]) => [name, String(script)]));
  } catch {
    return 'unknown';
  }
}

/** The text of a file of the workspace; undefined if it is missing. It rejects if the file must not be read. */
export async function textOf(files: Pick<Files, 'reach'>, uri: vscode.Uri): Promise<string | undefined> {
  const file = await files.reach(uri);
  try {
    if ((await vscode.workspace.fs.stat(file)).size > LONGEST) {
      return '';
    }
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  } catch {
    return undefined;
  }
}
