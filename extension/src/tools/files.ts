// Decides which files the tools may access: files of the workspace, except those that must not be sent
// (copilot/guard.ts).

import { realpath } from 'node:fs/promises';
import { posix } from 'node:path';
import * as vscode from 'vscode';
import { type Guard, hasPrivateKey } from '../copilot/guard';

/** Refused tells the model why a tool does not run. */
export class Refused extends Error {}

const NEVER = 'is never read or changed: it may hold secrets or is excluded in the settings';

export class Files {
  constructor(private readonly guard: Pick<Guard, 'always' | 'look' | 'withheld' | 'ignoredOf'>) {}

  /** Resolves a path from the model, which may not exist. It must be in the workspace and accessible. */
  async uri(path: string): Promise<vscode.Uri> {
    const folders = vscode.workspace.workspaceFolders ?? [];
    if (folders.length === 0) {
      throw new Refused('No folder is open.');
    }
    const wanted = posix.normalize(path.trim().replaceAll('\\', '/'));
    const candidates = folders.flatMap((folder) => inside(folder, wanted, folders.length > 1));
    const uri = (await firstThatIs(candidates)) ?? candidates[0];
    if (uri === undefined) {
      throw new Refused(`${path} is not in the workspace.`);
    }
    if (this.guard.always(uri) !== undefined) {
      throw new Refused(`${path} ${NEVER}.`);
    }
    await staysInside(uri, path);
    return uri;
  }

  /** The text of a file as shown in the editor, including unsaved changes. */
  async document(uri: vscode.Uri): Promise<vscode.TextDocument> {
    const path = vscode.workspace.asRelativePath(uri);
    let document: vscode.TextDocument;
    try {
      document = await vscode.workspace.openTextDocument(uri);
    } catch {
      throw new Refused(`${path} is not there, or is not a text file.`);
    }
    await this.guard.look(uri);
    if (this.guard.withheld(document) !== undefined || hasPrivateKey(document.getText())) {
      throw new Refused(`${path} ${NEVER}.`);
    }
    return document;
  }

  async read(path: string): Promise<vscode.TextDocument> {
    return this.document(await this.uri(path));
  }

  /** The accessible files that match a pattern, and whether there are more. */
  async find(pattern: string, limit: number): Promise<{ uris: vscode.Uri[]; more: boolean }> {
    if (pattern.split(/[\\/]/).includes('..') || posix.isAbsolute(pattern)) {
      throw new Refused(`The pattern ${pattern} leads out of the workspace.`);
    }
    const found = await vscode.workspace.findFiles(pattern, hidden(), limit + 1);
    const seen = found.filter((uri) => this.guard.always(uri) === undefined);
    const ignored = await this.guard.ignoredOf(seen);
    const uris = seen.filter((uri) => !ignored.has(uri.toString())).sort((a, b) => (a.path < b.path ? -1 : 1));
    return { uris: uris.slice(0, limit), more: found.length > limit };
  }

  /** Whether a file may be mentioned. */
  mayName(uri: vscode.Uri): boolean {
    return vscode.workspace.getWorkspaceFolder(uri) !== undefined && this.guard.always(uri) === undefined;
  }
}

/** The candidate locations of a path in a workspace folder. */
function inside(folder: vscode.WorkspaceFolder, wanted: string, several: boolean): vscode.Uri[] {
  const root = folder.uri.path.replace(/\/$/, '');
  const drive = /^[A-Za-z]:/.test(wanted) ? `/${wanted}` : wanted;
  if (posix.isAbsolute(drive)) {
    return drive.startsWith(`${root}/`) ? [vscode.Uri.joinPath(folder.uri, drive.slice(root.length + 1))] : [];
  }
  if (wanted === '..' || wanted.startsWith('../') || wanted === '.' || wanted === '') {
    return [];
  }
  const [first, ...rest] = wanted.split('/');
  const named = several && first === folder.name && rest.length > 0 ? [vscode.Uri.joinPath(folder.uri, rest.join('/'))] : [];
  return [...named, vscode.Uri.joinPath(folder.uri, wanted)];
}

async function firstThatIs(uris: readonly vscode.Uri[]): Promise<vscode.Uri | undefined> {
  for (const uri of uris) {
    try {
      await vscode.workspace.fs.stat(uri);
      return uri;
    } catch {
      // try the next one
    }
  }
  return undefined;
}

/** Rejects a link that leads outside the workspace. A missing file is located by its folder. */
async function staysInside(uri: vscode.Uri, path: string): Promise<void> {
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  if (folder === undefined) {
    throw new Refused(`${path} is not in the workspace.`);
  }
  if (uri.scheme !== 'file' || folder.uri.scheme !== 'file') {
    return; // on a remote machine, whose links cannot be resolved here
  }
  const root = await realpath(folder.uri.fsPath);
  for (let at = uri; at.path.length >= folder.uri.path.length; at = vscode.Uri.joinPath(at, '..')) {
    let real: string;
    try {
      real = await realpath(at.fsPath);
    } catch {
      continue;
    }
    if (real !== root && !real.startsWith(root.replace(/[\\/]$/, '') + (root.includes('\\') ? '\\' : '/'))) {
      throw new Refused(`${path} leads out of the workspace.`);
    }
    return;
  }
}

/** The globs that the editor hides in its explorer and search. */
function hidden(): string {
  const globs = ['files', 'search'].flatMap((section) =>
    Object.entries(vscode.workspace.getConfiguration(section).get<Record<string, unknown>>('exclude', {})).filter(([, on]) => on === true).map(([glob]) => glob));
  return `{${[...new Set(globs), '**/.git'].join(',')}}`;
}
