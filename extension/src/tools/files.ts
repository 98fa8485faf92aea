// The one gate of the tools: which files they may read, name and change. These are the files of the workspace, except
// those that must not be sent (copilot/guard.ts). It decides by the file behind all links (links.ts).

import { posix } from 'node:path';
import * as vscode from 'vscode';
import type { Guard } from '../copilot/guard';
import { activeFolder } from '../folders';
import { Known, type Unreachable, within } from './links';
import { changesWhatActs, fold, textHoldsSecrets } from './names';

/** Refused tells the model why a tool does not run. */
export class Refused extends Error {}

/** The refusal of a call that does something else by now than the user was asked about. */
export const CHANGED = 'What this call does changed while the user was asked, so nothing was changed or run. Call the tool again: the user is asked again.';

const NEVER = 'is never read or changed: it may hold secrets or is excluded in the settings';
const UNREACHABLE: Readonly<Record<Unreachable, string>> = {
  outside: 'leads out of the workspace',
  unknown: 'is never read or changed: it is a link, or a name that some file systems read as another, and what is behind it is not known',
  special: 'is never read or changed: it is not a file',
};
/** The largest file that the editor opens for an extension, in bytes. */
const LARGEST = 50 * 1024 * 1024;
/** Number of files that are looked at together. */
const TOGETHER = 64;

export class Files {
  constructor(private readonly guard: Pick<Guard, 'always' | 'look' | 'withheld' | 'ignoredOf' | 'excludes'>) {}

  /** Resolves a path from the model, which may not exist. It must be in the workspace and accessible. */
  async uri(path: string): Promise<vscode.Uri> {
    return this.reach(await named(path), path);
  }

  /** The path of the file behind a link, for a path that leads to another file of the workspace. */
  async elsewhere(path: string): Promise<string | undefined> {
    const uri = await named(path);
    const file = await this.reach(uri, path);
    return file.toString() === uri.toString() ? undefined : pathOf(file);
  }

  /** The file behind a path of the workspace, which may not exist. Every access goes through here. */
  async reach(uri: vscode.Uri, path = vscode.workspace.asRelativePath(uri)): Promise<vscode.Uri> {
    const found = await this.behind(uri);
    if (typeof found === 'string') {
      throw new Refused(`${path} ${found === 'never' ? NEVER : UNREACHABLE[found]}.`);
    }
    return found;
  }

  private async behind(uri: vscode.Uri, known?: Known): Promise<vscode.Uri | Unreachable | 'never'> {
    if (this.guard.always(uri) !== undefined) {
      return 'never';
    }
    const target = await within(uri, known);
    return typeof target === 'string' ? target : this.guard.always(target) !== undefined ? 'never' : target;
  }

  /** The text of a file as shown in the editor, including unsaved changes. */
  async document(uri: vscode.Uri): Promise<vscode.TextDocument> {
    const path = vscode.workspace.asRelativePath(uri);
    const file = await this.reach(uri);
    let document: vscode.TextDocument;
    try {
      document = await vscode.workspace.openTextDocument(file);
    } catch {
      throw new Refused(`${path} ${await whyNotOpen(file)}.`);
    }
    await this.allows(document);
    if (textHoldsSecrets(file.path, document.getText())) {
      throw new Refused(`${path} ${NEVER}.`);
    }
    await this.stays(file);
    return document;
  }

  /** The path of a file that was deleted, whose former text may be read. */
  async gone(uri: vscode.Uri): Promise<vscode.Uri> {
    const file = await this.reach(uri);
    await this.allows({ uri: file, languageId: '' } as vscode.TextDocument);
    return file;
  }

  /** Refuses a document that the settings or Git exclude. */
  private async allows(document: vscode.TextDocument): Promise<void> {
    await this.guard.look(document.uri);
    if (this.guard.withheld(document) !== undefined) {
      throw new Refused(`${vscode.workspace.asRelativePath(document.uri)} ${NEVER}.`);
    }
  }

  async read(path: string): Promise<vscode.TextDocument> {
    return this.document(await this.uri(path));
  }

  /** Refuses a file that something else took the place of since it was reached. */
  async stays(file: vscode.Uri): Promise<void> {
    if ((await this.reach(file)).toString() !== file.toString()) {
      throw new Refused(`${vscode.workspace.asRelativePath(file)} leads elsewhere now. Nothing was read or changed.`);
    }
  }

  /** The accessible files that match a pattern, and whether there are more. */
  async find(pattern: string, limit: number): Promise<{ uris: vscode.Uri[]; more: boolean }> {
    if (pattern.split(/[\\/]/).includes('..') || posix.isAbsolute(pattern)) {
      throw new Refused(`The pattern ${pattern} leads out of the workspace.`);
    }
    const found = await vscode.workspace.findFiles(pattern, hidden(), limit + 1);
    const seen = new Map((await this.visible(found)).map(([uri, file]) => [file.toString(), { uri, file }]));
    const files = [...seen.values()].filter(({ uri, file }) => !ofGit(file) && (file.path === uri.path || !this.guard.excludes(file))).map(({ file }) => file);
    const ignored = await this.guard.ignoredOf(files);
    const uris = files.filter((uri) => !ignored.has(uri.toString())).sort((a, b) => (a.path < b.path ? -1 : 1));
    return { uris: uris.slice(0, limit), more: found.length > limit };
  }

  /** Those files that may be mentioned, each with the file behind it. */
  async visible(uris: readonly vscode.Uri[]): Promise<[uri: vscode.Uri, file: vscode.Uri][]> {
    const known = new Known();
    const out: [vscode.Uri, vscode.Uri][] = [];
    for (let i = 0; i < uris.length; i += TOGETHER) {
      const some = uris.slice(i, i + TOGETHER);
      const files = await Promise.all(some.map((uri) => this.behind(uri, known)));
      some.forEach((uri, at) => {
        const file = files[at];
        if (file !== undefined && typeof file !== 'string') {
          out.push([uri, file]);
        }
      });
    }
    return out;
  }

  /** The path of a file below its workspace folder, if a change of it needs a click. */
  protected(file: vscode.Uri, before: string | undefined, after: string): string | undefined {
    const folder = vscode.workspace.getWorkspaceFolder(file)?.uri.path.replace(/\/$/, '') ?? '';
    const path = file.path.slice(folder.length + 1);
    return changesWhatActs(path, folder, before, after) ? pathOf(file) : undefined;
  }
}

/** Whether a file belongs to Git, which a search leaves out. */
function ofGit(file: vscode.Uri): boolean {
  return file.path.split('/').some((name) => fold(name) === '.git');
}

/** Why the editor does not open a file as text. */
async function whyNotOpen(file: vscode.Uri): Promise<string> {
  try {
    const { type, size } = await vscode.workspace.fs.stat(file);
    return (type & vscode.FileType.Directory) !== 0 ? 'is a folder'
      : size > LARGEST ? `is too large: it has ${Math.ceil(size / 1024 / 1024)} MB, and at most ${LARGEST / 1024 / 1024} MB can be opened`
      : 'is not a text file';
  } catch {
    return 'is not there';
  }
}

/** The place that a path from the model names. With several folders open, that of the open file comes first. */
async function named(path: string): Promise<vscode.Uri> {
  const active = activeFolder()?.uri.toString();
  const all = vscode.workspace.workspaceFolders ?? [];
  const folders = [...all.filter(({ uri }) => uri.toString() === active), ...all.filter(({ uri }) => uri.toString() !== active)];
  if (folders.length === 0) {
    throw new Refused('No folder is open.');
  }
  const wanted = posix.normalize(path.trim().replaceAll('\\', '/'));
  const [first, ...rest] = wanted.split('/');
  const byName = folders.length === 1 || rest.length === 0 ? [] : folders.filter((folder) => folder.name === first).flatMap((folder) => inside(folder, rest.join('/')));
  const candidates = [...byName, ...folders.flatMap((folder) => inside(folder, wanted))];
  const uri = (await firstThatIs(candidates)) ?? candidates[0];
  if (uri === undefined) {
    throw new Refused(`${path} is not in the workspace.`);
  }
  return uri;
}

/** The path of a file below its workspace folder, after the folder's name if there are several. */
function pathOf(file: vscode.Uri): string {
  const folder = vscode.workspace.getWorkspaceFolder(file);
  const path = file.path.slice((folder?.uri.path.replace(/\/$/, '') ?? '').length + 1);
  return folder !== undefined && (vscode.workspace.workspaceFolders?.length ?? 0) > 1 ? `${folder.name}/${path}` : path;
}

/** The candidate locations of a path in a workspace folder. */
function inside(folder: vscode.WorkspaceFolder, wanted: string): vscode.Uri[] {
  if (wanted.split('/').some((name) => /^[. ]+$/.test(name)) || wanted === '') {
    return []; // Windows reads ".. " as the folder above
  }
  const root = folder.uri.path.replace(/\/$/, '');
  const path = /^[A-Za-z]:/.test(wanted) ? `/${wanted}` : wanted;
  if (posix.isAbsolute(path)) {
    return path.length > root.length + 1 && ofDrive(path).startsWith(`${ofDrive(root)}/`) ? [vscode.Uri.joinPath(folder.uri, path.slice(root.length + 1))] : [];
  }
  return [vscode.Uri.joinPath(folder.uri, wanted)];
}

/** A path with its drive in lower case, if it has one: Windows has one drive C, and VS Code writes it as c. */
function ofDrive(path: string): string {
  return path.replace(/^\/[A-Za-z](?=:)/, (letter) => letter.toLowerCase());
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

/** The globs that the editor hides in its explorer and search. */
function hidden(): string {
  const globs = ['files', 'search'].flatMap((section) =>
    Object.entries(vscode.workspace.getConfiguration(section).get<Record<string, unknown>>('exclude', {})).filter(([, on]) => on === true).map(([glob]) => glob));
  return `{${[...new Set(globs), '**/.git'].join(',')}}`;
}
