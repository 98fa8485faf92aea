// What is never sent with a question, whatever is enabled: files with secrets, the user's settings, and files
// that the editor excludes.

import * as vscode from 'vscode';

/** Withheld is the reason why a document is not sent. */
export type Withheld = 'secret' | 'settings' | 'excluded';

/** Names of files with secrets, and of folders made for them. */
const SECRET_FILES: readonly RegExp[] = [
  /^\.env(\..+)?$/, /\.env$/, /^\.envrc$/,
  /\.(pem|key|p8|p12|pfx|ppk|jks|keystore|kdbx?|der|asc|gpg|age|ovpn|agekey|kubeconfig|secrets?|credentials?)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?([.-].+)?$/, /_(rsa|dsa|ecdsa|ed25519)$/,
  /^\.?(npmrc|pypirc|netrc|yarnrc\.yml|dockercfg|pgpass|my\.cnf|htpasswd|s3cfg|boto|git-credentials|vault-token|terraformrc)$/, /^_netrc$/,
  /^(service[._-]?account|application_default_credentials|client_secret|msal_token_cache|accesstokens).*\.(json|bin)$/,
  /\.tfvars(\.json)?$/, /\.tfstate(\.backup)?$/, /^kubeconfig$/, /^(local\.settings|appsettings\..+\.local)\.json$/,
];
const SECRET_FOLDERS: ReadonlySet<string> = new Set(['.ssh', '.gnupg', '.aws', '.kube', '.gcloud', '.password-store', '.secrets']);
/** Sample and template files contain no secrets. */
const HARMLESS = /[._-](example|sample|template|dist|schema)(\.(json|ya?ml|toml|properties|ini))?$|\.pub$/;
const SECRET_WORD = /(^|[._-])(credentials?|secrets?|passwords?|passwd|shadow|(auth|access)[._-]?tokens?)([._-]|$)/;
/** Code and prose mention secrets more often than they contain them, so their names are not evidence. */
const CODE = /\.(tsx?|jsx?|[mc][jt]s|py|go|rs|java|kts?|cs|c|cc|cpp|h|hpp|rb|php|swift|scala|md|rst|html|s?css|vue|svelte)$/;

/** Whether a path names a file with secrets. */
export function holdsSecrets(path: string): boolean {
  const parts = path.toLowerCase().split(/[\\/]/);
  const name = parts.pop() ?? '';
  if (parts.some((p) => SECRET_FOLDERS.has(p)) || (name === 'config.json' && parts.at(-1) === '.docker')) {
    return true;
  }
  return !HARMLESS.test(name) && (SECRET_FILES.some((r) => r.test(name)) || (SECRET_WORD.test(name) && !CODE.test(name)));
}

/** Whether a text contains a private key, whatever the file name. */
export function hasPrivateKey(text: string): boolean {
  return /-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----/.test(text);
}

/** The used part of the Git extension's API. */
interface Git {
  getAPI(version: 1): { getRepository(uri: vscode.Uri): { checkIgnore?(paths: string[]): Promise<Set<string>> } | null };
}

export class Guard {
  /** cached results of whether Git ignores a file */
  private readonly ignored = new Map<string, boolean>();

  /** userFolder is the editor's user settings folder. */
  constructor(
    private readonly userFolder: string,
    private readonly onChange: () => void,
  ) {}

  /** Why a document is not sent, as far as known without asking Git. */
  withheld(document: vscode.TextDocument): Withheld | undefined {
    const { uri } = document;
    const ignored = this.ignored.get(uri.toString());
    if (ignored === undefined) {
      this.ignored.set(uri.toString(), false);
      void this.look(uri);
    }
    return this.always(uri) ?? (ignored === true || excluded(document) ? 'excluded' : undefined);
  }

  /** Why a document is never sent, even if the user attached it. */
  always(uri: vscode.Uri): Withheld | undefined {
    const { path } = uri;
    if (uri.scheme === 'vscode-userdata' || path.startsWith(`${this.userFolder}/`)) {
      return 'settings';
    }
    return holdsSecrets(path) ? 'secret' : undefined;
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

  /** Asks Git whether it ignores a file. Await this before sending a file. */
  async look(uri: vscode.Uri): Promise<void> {
    const ignored = vscode.workspace.getConfiguration('search', uri).get('useIgnoreFiles', true) && (await isIgnored(uri));
    const before = this.ignored.get(uri.toString()) ?? false;
    this.ignored.set(uri.toString(), ignored);
    if (ignored !== before) {
      this.onChange();
    }
  }
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
