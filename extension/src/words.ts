// Names that the user may say: the sources for the daemon, and the names that only the editor knows.
// Untrusted workspaces contribute nothing.

import * as vscode from 'vscode';
import type { WorkspaceWord, WorkspaceWordsParams } from './protocol.gen';
import type { Guard } from './copilot/guard';
import { within } from './tools/links';

/** Maximum number of file names taken from a remote workspace. */
const FILES = 2_000;
/** Maximum number of symbols taken from the open file. */
const SYMBOLS = 500;
const LIST = 'voice-words.md';
/** Maximum length of a list in bytes, and number of lists, as in the daemon. */
const LIST_BYTES = 64 * 1024;
const LISTS = 8;

/** Workspace names for the daemon, which reads local folders itself. */
export async function workspaceWords(guard: Pick<Guard, 'withheld' | 'look'>, warn: (text: string) => void = () => undefined): Promise<WorkspaceWordsParams> {
  if (!vscode.workspace.isTrusted || !vscode.workspace.getConfiguration('agentvoice').get('words.workspace', true)) {
    return {};
  }
  const folders = vscode.workspace.workspaceFolders ?? [];
  const here = vscode.env.remoteName === undefined;
  const local = folders.filter((f) => here && f.uri.scheme === 'file');
  const remote = folders.filter((f) => !local.includes(f));
  const names = await openFile(guard);
  const lists: string[] = [];
  if (remote.length > 0) {
    const files = await vscode.workspace.findFiles('**/*', undefined, FILES);
    names.push(...[...new Set(files.map((f) => base(f)))].map((text): WorkspaceWord => ({ text, kind: 'file' })));
    for (const { uri } of remote.slice(0, LISTS)) {
      const text = await read(vscode.Uri.joinPath(uri, LIST), warn);
      if (text !== undefined) {
        lists.push(text);
      }
    }
  }
  return {
    ...(local.length === 0 ? {} : { folders: local.map((f) => f.uri.fsPath) }),
    ...(names.length === 0 ? {} : { names }),
    ...(lists.length === 0 ? {} : { lists }),
  };
}

/** The open file and its symbols. */
async function openFile(guard: Pick<Guard, 'withheld' | 'look'>): Promise<WorkspaceWord[]> {
  const document = vscode.window.activeTextEditor?.document;
  if (document === undefined) {
    return [];
  }
  await guard.look(document.uri);
  if (guard.withheld(document) !== undefined) {
    return [];
  }
  const found: string[] = [base(document.uri)];
  try {
    const symbols = await vscode.commands.executeCommand<vscode.DocumentSymbol[] | undefined>('vscode.executeDocumentSymbolProvider', document.uri);
    collect(symbols ?? [], found);
  } catch {
    // no symbol provider
  }
  return found.map((text) => ({ text, kind: 'open' }));
}

function collect(symbols: readonly vscode.DocumentSymbol[], found: string[]): void {
  for (const s of symbols) {
    if (found.length > SYMBOLS) {
      return;
    }
    const name = /^[\w$.-]+/.exec(s.name.replace(/^\(\*?\w+\)\.?/, ''))?.[0];
    if (name !== undefined) {
      found.push(name);
    }
    collect(s.children ?? [], found);
  }
}

/** A list. A file can only be read whole, so one that is too long is not read at all. */
async function read(uri: vscode.Uri, warn: (text: string) => void): Promise<string | undefined> {
  try {
    const file = await within(uri);
    if (typeof file === 'string') {
      return undefined;
    }
    const { size } = await vscode.workspace.fs.stat(file);
    if (size > LIST_BYTES) {
      warn(`${LIST} of a remote folder is longer than ${LIST_BYTES / 1024} KB and was not read`);
      return undefined;
    }
    return new TextDecoder().decode((await vscode.workspace.fs.readFile(file)).slice(0, LIST_BYTES));
  } catch {
    return undefined; // most workspaces have no such file
  }
}

function base(uri: vscode.Uri): string {
  return uri.path.slice(uri.path.lastIndexOf('/') + 1);
}
