// Where a path leads: the file behind all links. On this machine the file system resolves them. Elsewhere the editor
// says only that something is a link, so what is behind one is not known.

import { lstat, realpath, stat } from 'node:fs/promises';
import * as local from 'node:path';
import * as vscode from 'vscode';
import { ambiguous } from './names';

/**
 * Unreachable says why a path leads to no file that may be accessed: outside of the workspace, to something
 * that cannot be known, or to a device, a pipe or a socket.
 */
export type Unreachable = 'outside' | 'unknown' | 'special';

/** Known remembers, during one search, where the workspace's folders are, and which remote paths are links. */
export class Known {
  private readonly roots = new Map<string, Promise<string | undefined>>();
  readonly remote = new Map<string, Promise<Unreachable | undefined>>();

  /** The path of a folder of this machine behind all links; undefined if it is missing. */
  root(path: string): Promise<string | undefined> {
    const root = this.roots.get(path) ?? realpath(path).catch(() => undefined);
    this.roots.set(path, root);
    return root;
  }
}

/** The file behind a path, wherever that is. Files that are missing count: they are found by their folder. */
export async function targetOf(uri: vscode.Uri, known = new Known()): Promise<vscode.Uri | Unreachable> {
  if (uri.scheme === 'untitled') {
    return uri;
  }
  const file = uri.scheme === 'vscode-notebook-cell' ? ofCell(uri) : uri;
  const problem = file.scheme === 'file' ? undefined : await remote(file, '/', known);
  if (problem !== undefined) {
    return problem;
  }
  const real = file.scheme === 'file' ? await resolved(file.fsPath) : undefined;
  return real === undefined ? file : 'path' in real ? vscode.Uri.file(real.path) : real.problem;
}

/** The file behind a path, as a path of the workspace without links. */
export async function within(uri: vscode.Uri, known = new Known()): Promise<vscode.Uri | Unreachable> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (uri.scheme !== 'file') {
    const folder = folders.find((f) => f.uri.scheme === uri.scheme && uri.path.startsWith(slash(f.uri.path)));
    if (folder === undefined) {
      return 'outside';
    }
    return ambiguous(uri.path.slice(slash(folder.uri.path).length)) ? 'unknown' : (await remote(uri, folder.uri.path, known)) ?? uri;
  }
  const real = await resolved(uri.fsPath);
  if ('problem' in real) {
    return real.problem;
  }
  for (const folder of folders.filter((f) => f.uri.scheme === 'file')) {
    const root = await known.root(folder.uri.fsPath);
    const below = root === undefined ? '' : local.relative(root, real.path);
    if (below !== '' && below !== '..' && !below.startsWith(`..${local.sep}`) && !local.isAbsolute(below)) {
      return vscode.Uri.joinPath(folder.uri, ...below.split(local.sep));
    }
  }
  return 'outside';
}

/** Resolves a path of this machine. What is missing at its end keeps its names. */
async function resolved(path: string): Promise<{ path: string } | { problem: Unreachable }> {
  if (path.includes('\0')) {
    return { problem: 'unknown' };
  }
  const missing: string[] = [];
  for (let at = path; ; at = local.dirname(at)) {
    const real = await realpath(at).catch(() => undefined);
    if (real !== undefined) {
      // A short name that exists was resolved to the long one.
      if (process.platform === 'win32' && (ambiguous(path.slice(local.parse(path).root.length).replaceAll('~', '')) || ambiguous(missing.join('/')))) {
        return { problem: 'unknown' };
      }
      if (missing.length > 0) {
        return { path: local.join(real, ...missing) };
      }
      const found = await stat(real).catch(() => undefined);
      return found === undefined ? { problem: 'unknown' } : found.isFile() || found.isDirectory() ? { path: real } : { problem: 'special' };
    }
    if (!(await isMissing(at)) || local.dirname(at) === at) {
      return { problem: 'unknown' }; // a link without a target, a loop, or a folder without permission
    }
    missing.unshift(local.basename(at));
  }
}

async function isMissing(path: string): Promise<boolean> {
  return lstat(path).then(() => false, (err: unknown) => ['ENOENT', 'ENOTDIR'].includes((err as NodeJS.ErrnoException).code ?? ''));
}

/** Whether a file of another machine is known to have no link on the way from a folder. */
async function remote(uri: vscode.Uri, folder: string, known: Known): Promise<Unreachable | undefined> {
  const root = folder.replace(/\/$/, '');
  for (let at = uri; at.path.length > root.length && at.path !== '/'; at = vscode.Uri.joinPath(at, '..')) {
    const key = at.toString();
    const verdict = known.remote.get(key) ?? look(at);
    known.remote.set(key, verdict);
    const problem = await verdict;
    if (problem !== undefined) {
      return problem;
    }
  }
  return undefined;
}

async function look(uri: vscode.Uri): Promise<Unreachable | undefined> {
  try {
    const { type } = await vscode.workspace.fs.stat(uri);
    return (type & vscode.FileType.SymbolicLink) !== 0 ? 'unknown' : type === 0 ? 'special' : undefined;
  } catch (err) {
    const { code } = err as { code?: unknown };
    return code === 'NoPermissions' || code === 'Unavailable' ? 'unknown' : undefined; // it is missing
  }
}

/** The file of a notebook's cell. */
function ofCell({ authority, path }: vscode.Uri): vscode.Uri {
  return vscode.Uri.from({ scheme: authority === '' || authority === undefined ? 'file' : 'vscode-remote', authority, path, query: '' });
}

function slash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}
