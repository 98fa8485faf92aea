// What is never sent with a question, whatever is enabled: files with secrets, the user's settings, files that the
// editor excludes, and links to any of these.

import { realpath } from 'node:fs/promises';
import * as vscode from 'vscode';
import { targetOf } from '../tools/links';
import { holdsSecrets } from '../tools/names';

export { hasPrivateKey, holdsSecrets } from '../tools/names';

/** Withheld is the reason why a document is not sent; link means that what is behind a link is not known. */
export type Withheld = 'secret' | 'settings' | 'excluded' | 'link';

/** The used part of the Git extension's API. */
interface Git {
  getAPI(version: 1): { getRepository(uri: vscode.Uri): { checkIgnore?(paths: string[]): Promise<Set<string>> } | null };
}

export class Guard {
  /** what look found: about the path, and about the file behind its links */
  private readonly looked = new Map<string, { path?: Withheld | undefined; file?: Withheld | undefined }>();
  /** the user settings folder behind all links */
  private settings: Promise<string> | undefined;

  /** userFolder is the editor's user settings folder. */
  constructor(
    private readonly userFolder: string,
    private readonly onChange: () => void,
  ) {}

  /** Why a document is not sent, as far as known without asking Git and the file system. */
  withheld(document: vscode.TextDocument): Withheld | undefined {
    const { uri } = document;
    const key = uri.toString();
    if (!this.looked.has(key)) {
      this.looked.set(key, {});
      void this.look(uri);
    }
    return this.always(uri) ?? (this.excludes(uri, document.languageId) ? 'excluded' : this.found(key));
  }

  /** Why a document is never sent, even if the user attached it, as far as its path says. */
  always({ scheme, path }: vscode.Uri): Withheld | undefined {
    return scheme === 'vscode-userdata' || below(path, this.userFolder) ? 'settings' : holdsSecrets(path) ? 'secret' : undefined;
  }

  /** Why a document is never sent, even if the user attached it. It follows links. */
  async never(uri: vscode.Uri): Promise<Withheld | undefined> {
    const target = await targetOf(uri);
    if (typeof target === 'string') {
      return this.always(uri) ?? 'link';
    }
    this.settings ??= realpath(this.userFolder).catch(() => this.userFolder);
    return this.always(uri) ?? this.always(target) ?? (below(target.path, await this.settings) ? 'settings' : undefined);
  }

  /** Whether the editor hides a file in its explorer or search. */
  excludes(uri: vscode.Uri, languageId = ''): boolean {
    return excluded({ uri, languageId } as vscode.TextDocument);
  }

  /** The URIs of those files that Git ignores. */
  async ignoredOf(uris: readonly vscode.Uri[]): Promise<ReadonlySet<string>> {
    const out = new Set<string>();
    const git = vscode.extensions.getExtension<Git>('vscode.git');
    const first = uris.find((uri) => uri.scheme === 'file');
    if (first === undefined || git?.isActive !== true || !vscode.workspace.getConfiguration('search', first).get('useIgnoreFiles', true)) {
      return out;
    }
    try {
      const api = git.exports.getAPI(1);
      for (const repository of new Set(uris.map((uri) => api.getRepository(uri)))) {
        const files = uris.filter((uri) => uri.scheme === 'file' && api.getRepository(uri) === repository);
        const ignored = await repository?.checkIgnore?.(files.map((uri) => uri.fsPath));
        files.filter((uri) => ignored?.has(uri.fsPath)).forEach((uri) => out.add(uri.toString()));
      }
    } catch {
      // Git is disabled
    }
    return out;
  }

  /** Asks Git whether it ignores a file, and the file system where the file leads. Await this before sending a file. */
  async look(uri: vscode.Uri): Promise<void> {
    const learn = (found: { path?: Withheld | undefined; file?: Withheld | undefined }): void => {
      const key = uri.toString();
      const before = this.found(key);
      this.looked.set(key, { ...this.looked.get(key), ...found });
      if (this.found(key) !== before) {
        this.onChange();
      }
    };
    await Promise.all([
      ignored(uri).then((path) => learn({ path })),
      this.behind(uri).then((file) => learn({ file })),
    ]);
  }

  private found(key: string): Withheld | undefined {
    const { path, file } = this.looked.get(key) ?? {};
    return file ?? path;
  }

  /** Why the file behind a link is not sent. */
  private async behind(uri: vscode.Uri): Promise<Withheld | undefined> {
    const never = await this.never(uri);
    const target = never === undefined ? await targetOf(uri) : uri;
    return never ?? (typeof target === 'string' ? 'link' : target.path === uri.path ? undefined : this.excludes(target) ? 'excluded' : ignored(target));
  }
}

/** Whether Git ignores a file, and the settings follow Git. */
async function ignored(uri: vscode.Uri): Promise<Withheld | undefined> {
  return vscode.workspace.getConfiguration('search', uri).get('useIgnoreFiles', true) && (await isIgnored(uri)) ? 'excluded' : undefined;
}

/** Whether a path is in a folder, compared without case. */
function below(path: string, folder: string): boolean {
  return comparable(path).startsWith(`${comparable(folder).replace(/\/$/, '')}/`);
}

/** A path as the most lenient file system compares it. */
function comparable(path: string): string {
  const slashed = path.replaceAll('\\', '/').toLowerCase();
  return slashed.startsWith('/') ? slashed : `/${slashed}`;
}

/** Whether the editor hides a document in its explorer or search. */
function excluded(document: vscode.TextDocument): boolean {
  const folder = vscode.workspace.getWorkspaceFolder(document.uri);
  const globs = [['files', 'exclude'], ['search', 'exclude']].flatMap(([section = '', name = '']) =>
    Object.entries(vscode.workspace.getConfiguration(section, document.uri).get<Record<string, unknown>>(name, {})));
  // A condition such as "hide the .js beside its .ts" only reduces clutter, so only true excludes.
  return globs.some(([glob, on]) => on === true && [glob, `${glob}/**`].some((pattern) =>
    vscode.languages.match({ pattern: folder === undefined ? pattern : new vscode.RelativePattern(folder, pattern) }, document) > 0));
}

async function isIgnored(uri: vscode.Uri): Promise<boolean> {
  try {
    const git = vscode.extensions.getExtension<Git>('vscode.git');
    const repository = uri.scheme === 'file' && git?.isActive === true ? git.exports.getAPI(1).getRepository(uri) : null;
    return ((await repository?.checkIgnore?.([uri.fsPath]))?.size ?? 0) > 0;
  } catch {
    return false; // Git is disabled, or does not know the file
  }
}
