// Workspace information from the editor's Git extension.

import * as vscode from 'vscode';
import { type Files, Refused } from './files';
import { textHoldsSecrets } from './names';

/** Maximum length of a file's diff, in characters. */
const DIFF = 16_000;

interface Change { readonly uri: vscode.Uri; readonly status: number }

interface Repository {
  readonly state: {
    readonly HEAD: { readonly name?: string; readonly ahead?: number; readonly behind?: number } | undefined;
    readonly mergeChanges: readonly Change[];
    readonly indexChanges: readonly Change[];
    readonly workingTreeChanges: readonly Change[];
    readonly untrackedChanges?: readonly Change[];
  };
  diffWithHEAD(path: string): Promise<string>;
}

/** The used part of the extension's API. */
interface Extension {
  getAPI(version: 1): { readonly repositories: readonly Repository[]; getRepository(uri: vscode.Uri): Repository | null };
}

// Values of the extension's Status: deleted in the index and in the folder, and new.
const INDEX_DELETED = 2;
const DELETED = 6;
const UNTRACKED = 7;

function isDeletion({ status }: Change): boolean {
  return status === INDEX_DELETED || status === DELETED;
}

/** The repository of the open file, or else of the first folder. */
export async function git(files: Files): Promise<{ status(): Promise<string>; diff(only: vscode.Uri | undefined): Promise<string> }> {
  const extension = vscode.extensions.getExtension<Extension>('vscode.git');
  const exported = extension === undefined ? undefined : extension.isActive ? extension.exports : await extension.activate();
  let api: ReturnType<Extension['getAPI']> | undefined;
  try {
    api = exported?.getAPI(1);
  } catch {
    api = undefined; // Git is disabled in the settings
  }
  const near = vscode.window.activeTextEditor?.document.uri ?? vscode.workspace.workspaceFolders?.[0]?.uri;
  const repository = (near === undefined ? undefined : api?.getRepository(near)) ?? api?.repositories[0];
  if (repository === undefined) {
    throw new Refused('The workspace has no Git repository, or Git is switched off.');
  }
  const { state } = repository;
  const named = async (title: string, changes: readonly Change[]): Promise<string[]> => {
    const deleted = new Set(changes.filter(isDeletion).map((c) => c.uri.toString()));
    const names = [...new Set((await files.visible(changes.map((c) => c.uri))).map(([uri]) => `${vscode.workspace.asRelativePath(uri)}${deleted.has(uri.toString()) ? ' (deleted)' : ''}`))];
    return names.length === 0 ? [] : [`${title}: ${names.join(', ')}`];
  };
  return {
    status: async () => {
      const lines = [
        `Branch: ${state.HEAD?.name ?? 'none'}${state.HEAD?.ahead ? `, ${state.HEAD.ahead} ahead` : ''}${state.HEAD?.behind ? `, ${state.HEAD.behind} behind` : ''}`,
        ...await named('In conflict', state.mergeChanges),
        ...await named('Staged', state.indexChanges),
        ...await named('Changed', state.workingTreeChanges.filter((c) => c.status !== UNTRACKED)),
        ...await named('New', [...state.workingTreeChanges.filter((c) => c.status === UNTRACKED), ...(state.untrackedChanges ?? [])]),
      ];
      return lines.length === 1 ? `${lines[0] ?? ''}\nNothing is changed.` : lines.join('\n');
    },
    diff: async (only) => {
      const all = [...state.mergeChanges, ...state.indexChanges, ...state.workingTreeChanges].filter((c) => c.status !== UNTRACKED);
      const deleted = new Set(all.filter(isDeletion).map((c) => c.uri.toString()));
      const wanted = only === undefined ? [...new Map(all.map(({ uri }) => [uri.toString(), uri])).values()] : [only];
      const texts: string[] = [];
      for (const [uri] of await files.visible(wanted)) {
        // A deleted file that exists was created again; its contents are read.
        const there = files.document(uri).catch((err: unknown) => (deleted.has(uri.toString()) ? files.gone(uri) : Promise.reject(err)));
        await there.then(async () => {
          const diff = await repository.diffWithHEAD(uri.fsPath);
          if (!textHoldsSecrets(uri.path, diff)) { // which the file held at the last commit
            texts.push(diff.slice(0, DIFF));
          }
        }, (err: unknown) => {
          if (only !== undefined || !(err instanceof Refused)) {
            throw err;
          }
        });
      }
      const text = texts.filter((d) => d !== '').join('\n');
      return text === '' ? 'There are no changes since the last commit.' : text;
    },
  };
}
