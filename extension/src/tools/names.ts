// What a path's names say: which files hold secrets, and which are protected because a program or an agent acts
// on them unasked. Names are compared as the most lenient file system does, on every system.

import { ACTING_FILES, ACTING_FOLDERS, CODE, HARMLESS, ORDINARY, ORDINARY_NAMES, OUTER, SECRET_FILES, SECRET_FOLDERS, SECRET_WORD, SHORT } from './protected.gen';

/** Names of devices on Windows, with any extension. */
const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/;

/**
 * A name reduced to what file systems compare: no case, compatible characters as one, without characters that do
 * not show, streams, and dots and spaces at the end.
 */
export function fold(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}|\p{C}/gu, '')
    .toLowerCase().toUpperCase().toLowerCase() // also joins letters that share only an upper case
    .normalize('NFKC')
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '');
}

function folded(path: string): string[] {
  return path.split(/[\\/]/).filter((part) => part !== '').map(fold);
}

/** Whether a path names a file with secrets. */
export function holdsSecrets(path: string): boolean {
  const parts = folded(path);
  const name = parts.pop() ?? '';
  if (parts.some((p) => SECRET_FOLDERS.has(p)) || (name === 'config.json' && parts.at(-1) === '.docker') || (name === 'hosts.yml' && parts.at(-1) === 'gh')) {
    return true;
  }
  return !HARMLESS.test(name) && (SECRET_FILES.some((r) => r.test(name)) || (SECRET_WORD.test(name) && !CODE.test(name)));
}

/** Whether a text contains a private key, whatever the file name. */
export function hasPrivateKey(text: string): boolean {
  return /-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----/.test(text);
}

/** Whether the text of a file holds a secret: a private key, or a password or token in the configuration of Git. */
export function textHoldsSecrets(path: string, text: string): boolean {
  if (hasPrivateKey(text)) {
    return true;
  }
  const parts = folded(path);
  const ofGit = parts.includes('.git') || ['.gitmodules', '.gitconfig', 'gitconfig'].includes(parts.at(-1) ?? '') || /^\s*\[(remote|credential|http|url|submodule)\b/im.test(text);
  return ofGit && /:\/\/([^\s/@:"']*:[^\s/@"']+|[^\s/@:"']{20,})@|^\s*extraheader\s*=|\b(password|passwd|token|secret)\s*=|authorization\s*:/im.test(text);
}

/** Whether a file system may read a path's names as other ones, which only that file system knows. */
export function ambiguous(path: string): boolean {
  return path.split(/[\\/]/).some((name) => name !== '' && (/[:\p{C}]|[. ]$/u.test(name) || SHORT.test(name) || DEVICE.test(name.toLowerCase())));
}

/**
 * Whether a program or an agent acts on a file without being asked, so that a change of it needs a click. folder is
 * the workspace folder's path, and path the file's below it. A kind of file that is not known is protected.
 */
export function isProtected(path: string, folder = ''): boolean {
  const parts = path.split(/[\\/]/).map(fold);
  const name = parts.at(-1) ?? '';
  return (!ORDINARY.test(name) && !ORDINARY_NAMES.test(name))
    || parts.some((part, i) => part === '' || ACTING_FOLDERS.has(part) || (part.startsWith('.') && !(i === parts.length - 1 && ORDINARY_NAMES.test(part))))
    || parts.some((part) => SHORT.test(part))
    || ACTING_FILES.some((r) => r.test(name))
    || folded(folder).some((part) => OUTER.test(part));
}

/** Fields of package.json that describe the package, and start nothing. */
const DESCRIPTIVE: ReadonlySet<string> = new Set([
  'name', 'version', 'description', 'keywords', 'homepage', 'bugs', 'license', 'author', 'contributors', 'maintainers', 'funding', 'repository', 'private', 'displayName', 'categories',
]);

/** Whether a change of a file needs a click: of a protected file, or of more of package.json than describes it. */
export function changesWhatActs(path: string, folder: string, before: string | undefined, after: string): boolean {
  if (fold(path.split(/[\\/]/).at(-1) ?? '') !== 'package.json' || isProtected(path, folder)) {
    return isProtected(path, folder);
  }
  const [old, now] = [fieldsOf(before ?? '{}'), fieldsOf(after)];
  if (old === undefined || now === undefined) {
    return true;
  }
  return [...new Set([...old.keys(), ...now.keys()])].some((key) => !DESCRIPTIVE.has(key) && old.get(key) !== now.get(key));
}

/** The fields of a manifest, each as JSON; undefined if it is not an object. */
function fieldsOf(manifest: string): Map<string, string> | undefined {
  try {
    const value: unknown = JSON.parse(manifest);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? new Map(Object.entries(value).map(([key, field]) => [key, JSON.stringify(field)]))
      : undefined;
  } catch {
    return undefined;
  }
}
