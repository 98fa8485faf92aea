// What a path's names say: which files hold secrets, and which are protected because a program or an agent acts
// on them unasked. Names are compared as the most lenient file system does, on every system.

/** Names of files with secrets, and of folders made for them. */
const SECRET_FILES: readonly RegExp[] = [
  /^\.env(\..+)?$/, /\.env$/, /^\.envrc$/,
  /\.(pem|key|p8|p12|pfx|ppk|jks|keystore|kdbx?|der|asc|gpg|age|ovpn|agekey|kubeconfig|secrets?|credentials?)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?([.-].+)?$/, /_(rsa|dsa|ecdsa|ed25519)$/,
  /^\.?(npmrc|pypirc|netrc|yarnrc(\.yml)?|dockercfg|pgpass|my\.cnf|mylogin\.cnf|htpasswd|s3cfg|boto|git-credentials|vault-token|terraformrc)$/, /^_netrc$/,
  /^\.[\w-]*_history$/,
  /^(service[._-]?account|application_default_credentials|client_secret|msal_token_cache|accesstokens).*\.(json|bin)$/,
  /\.tfvars(\.json)?$/, /\.tfstate(\.backup)?$/, /^kubeconfig$/, /^(local\.settings|appsettings\..+\.local)\.json$/,
];
const SECRET_FOLDERS: ReadonlySet<string> = new Set(['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.gcloud', '.password-store', '.secrets']);
/** Sample and template files contain no secrets. */
const HARMLESS = /[._-](example|sample|template|dist|schema)(\.(json|ya?ml|toml|properties|ini))?$|\.pub$/;
const SECRET_WORD = /(^|[._-])(credentials?|secrets?|passwords?|passwd|shadow|(auth|access)[._-]?tokens?)([._-]|$)/;
/** Code and prose mention secrets more often than they contain them, so their names are not evidence. */
const CODE = /\.(tsx?|jsx?|[mc][jt]s|py|go|rs|java|kts?|cs|c|cc|cpp|h|hpp|rb|php|swift|scala|md|rst|html|s?css|vue|svelte)$/;

/** A short name that Windows gives to a longer one, such as GIT~1 to .git. */
const SHORT = /^[^~]{1,6}~\d{1,6}(\.[^.]{0,3})?$/;
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

/** Kinds of files that do nothing until a program that somebody started reads them: code, prose and data. */
const ORDINARY = new RegExp(`\\.(${[
  '[mc]?[jt]sx?|vue|svelte|astro|html?|s?css|sass|less|graphql|gql|proto|sql|wat',
  'go|rs|pyi?|rb|php|java|kts?|scala|cs|fs|vb|c|h|cc|cpp|cxx|hh|hpp|mm?|swift|dart|lua|r|jl|exs?|erl|hrl|hs|mli?|clj[cs]?|elm|zig|nim|sol|pl|pm|tcl|awk',
  'sh|bash|zsh|ps1|bat|cmd',
  'md|mdx|rst|adoc|txt|tex|json[c5l]?|ya?ml|toml|xml|csv|tsv|svg|po|snap|golden|diff|patch|log',
].join('|')})$`);
const ORDINARY_NAMES = /^(readme|licen[cs]e|changelog|authors|contributors|copying|notice|todo|news|\.editorconfig|\.gitkeep|\.keep|\.prettierignore|\.eslintignore)$/;

/** Folders whose files start by themselves, or are programs that other files call by name. */
const ACTING_FOLDERS: ReadonlySet<string> = new Set([
  'node_modules', 'site-packages', 'githooks', 'git-hooks', 'husky', 'autostart', 'startup', 'launchagents', 'launchdaemons', 'systemd', 'cron.d', 'init.d', 'profile.d',
]);
/** Folders that protect what is in them even if the workspace itself is in one. */
const OUTER = /^\.(git|vscode|idea|ssh|husky|githooks|devcontainer)$/;

/**
 * Files of ordinary kinds whose content an editor, a shell, Git, a build tool, CI or an agent acts on. Ordinary
 * source code is not among them: it runs when somebody runs it.
 */
const ACTING_FILES: readonly RegExp[] = [
  // JavaScript: manifests, locks, and configuration that is code
  /^(package-lock|npm-shrinkwrap|lerna|nx|turbo|rush|angular|project|workspace|deno|jsr|import_?map|bower|component|vercel|netlify|firebase|now|tslint|nodemon|app)\.jsonc?$/,
  /^(pnpm-lock|pnpm-workspace|lefthook|lefthook-local)\.(ya?ml|toml|json)$/, /^[tj]sconfig(\..+)?\.json$/, /^(bunfig|netlify|mise|hugo)\.toml$/,
  /\.(config|conf|setup)\.([mc]?[jt]sx?|json|ya?ml|toml)$/, /rc\.([mc]?[jt]s|json|ya?ml|toml)$/, /^(gulpfile|gruntfile|jakefile|setuptests)\b.*\.[mc]?[jt]s$/,
  // Python
  /^(setup|conftest|noxfile|fabfile|dodo|tasks|conanfile|sitecustomize|usercustomize|__pypackages__|wscript)\.py$/, /^pyproject\.toml$/, /^(.+[._-])?(requirements|constraints)([._-].+)?\.txt$/, /^environment\.ya?ml$/,
  // Rust, Go, JVM, .NET and others
  /^(cargo|rust-toolchain|rust-analyzer|rustfmt|clippy|gradle.*|libs\.versions|fpm|alr)\.toml$/, /^build\.(rs|zig|xml|sh|ps1|bat|cmd|jl)$/, /^rust-project\.json$/,
  /^(pom|ivy|ivysettings|settings|maven-.*|extensions)\.xml$/, /\.gradle\.kts$/, /^(mvnw|gradlew)\.(bat|cmd)$/,
  /^(global|launchsettings|dotnet-tools|nuget|project\.assets|omnisharp)\.(json|xml)$/,
  /^(composer|vcpkg|cmakepresets|cmakeuserpresets|compile_commands)\.json$/, /^cmakelists\.txt$/, /^conanfile\.txt$/, /^(mix|rebar)\.exs?$/, /^package\.(swift|yaml)$/, /^(pubspec|stack|skaffold|serverless|snapcraft|galaxy)\.ya?ml$/, /^setup\.hs$/, /^(xmake|premake\d*)\.lua$/,
  // builds, containers and CI
  /^(gnu)?makefile\b/, /\.mk$/, /^(justfile|taskfile|dockerfile|containerfile|jenkinsfile|vagrantfile|rakefile|gemfile|procfile|tiltfile|earthfile|brewfile)\b/, /^(docker-)?compose\b.*\.ya?ml$/,
  /pipelines?([._-].+)?\.ya?ml$/, /^\.?(appveyor|buildspec|cloudbuild|wercker|codemagic|circle|shippable|travis|drone|bitrise|semaphore|woodpecker|action|render|fly|app|codeship-.+|gitlab-ci.*)\.(ya?ml|toml)$/,
  // shells
  /profile\.ps1$/, /^(autoexec|startup|bashrc|zshrc|profile|bash_profile)\.(bat|cmd|sh|bash|zsh|ps1)$/,
  // instructions to agents, and the servers that they start
  /^(claude|agents?|gemini|qwen|warp|codex|crush|junie|conventions|skill|copilot-instructions)(\.local|\.override)?\.md$/, /\.(instructions|prompt|agent|chatmode)\.md$/, /^\.?mcp(_config|-config|\.config)?\.(json|ya?ml|toml)$/,
];

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
