// What the names of a path say: secrets, and files that something acts on unasked. Properties are tried on paths made
// from a seed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ambiguous, changesWhatActs, fold, holdsSecrets, isProtected, textHoldsSecrets } from '../src/tools/names';
import { seeded } from './seeded';

/** Files that a program or an agent acts on unasked. */
const PROTECTED = [
  '.git/config', '.git/hooks/pre-commit', '.git', 'sub/.git', 'sub/.git/hooks/post-checkout', '.gitattributes', '.gitmodules', '.gitignore', '.vscode/tasks.json', '.vscode/settings.json',
  '.husky/pre-commit', '.githooks/pre-push', 'githooks/pre-push', '.github/workflows/ci.yml', '.gitlab-ci.yml', '.circleci/config.yml', 'azure-pipelines.yml', 'Jenkinsfile', 'bitbucket-pipelines.yml',
  '.bashrc', '.profile', '.zshenv', '.envrc', '.npmrc', '.yarnrc', '.yarnrc.yml', '.pnp.cjs', '.pnpmfile.cjs', 'Microsoft.PowerShell_profile.ps1', 'config.fish',
  'pyproject.toml', 'setup.py', 'setup.cfg', 'conftest.py', 'tox.ini', 'requirements.txt', 'requirements-dev.txt', 'Makefile', 'GNUmakefile', 'rules.mk', 'build.rs', 'Cargo.toml', '.cargo/config.toml', 'go.mod', 'go.work',
  '.mvn/jvm.config', 'pom.xml', 'build.gradle', 'build.gradle.kts', 'gradle/wrapper/gradle-wrapper.properties', 'gradlew', 'mvnw.cmd', 'a.csproj', 'Directory.Build.props', 'CMakeLists.txt', 'Dockerfile', 'docker-compose.yml', 'compose.override.yaml',
  '.devcontainer/devcontainer.json', '.idea/workspace.xml', 'a.code-workspace', '.mcp.json', 'mcp.json', 'CLAUDE.md', 'AGENTS.md', 'sub/agents.md', '.github/copilot-instructions.md', 'x.instructions.md', '.cursorrules',
  'eslint.config.js', 'vite.config.ts', '.eslintrc.js', 'tsconfig.json', 'package-lock.json', 'pnpm-lock.yaml', 'node_modules/a/index.js', 'composer.json', 'Gemfile', 'Rakefile', 'lefthook.yml', 'justfile', 'Taskfile.yml', 'program', 'a.exe', 'a.lnk',
];
/** Files of a developer's day. */
const ORDINARY = [
  'a.ts', 'src/main.go', 'src/lib.rs', 'src/app.py', 'README.md', 'LICENSE', 'docs/guide.md', 'notes.txt', 'data/prices.json', 'src/hooks/useName.ts', 'test/parser.test.ts', 'parser_test.go', 'styles/site.css', 'index.html', 'db/schema.sql', 'i18n/de.yaml',
  'src/profile.ts', 'src/startup.py', 'src/config.ts', 'scripts/deploy.sh', 'src/App.tsx', 'lib/a.b.c.js', 'src/package.ts', 'a/b/c/d/e/f.java', 'ブログ.md', '.editorconfig',
];
const SECRETS = ['.env', '.env.local', 'a/.env', '.npmrc', '.netrc', '.ssh/config', 'id_rsa', 'key.pem', '.aws/credentials', '.git-credentials', '.pypirc', '.docker/config.json', '.bash_history', '.config/gh/hosts.yml', 'secrets.yml'];

test('what something acts on unasked is protected, and what a developer changes all day is not', () => {
  assert.deepEqual(PROTECTED.filter((path) => !isProtected(path)), []);
  assert.deepEqual(ORDINARY.filter((path) => isProtected(path)), []);
  assert.equal(isProtected('pre-commit.sh', '/home/me/a/.git/hooks'), true, 'in a workspace that is a folder of Git');
  assert.equal(isProtected('a.ts', '/home/me/.worktrees/a'), false);
});

/** The ways in which a file system may read a name as another one. */
const DISGUISES: readonly ((name: string, pick: (below: number) => number) => string)[] = [
  (name) => name.toUpperCase(),
  (name, pick) => [...name].map((c) => (pick(2) === 0 ? c.toUpperCase() : c)).join(''),
  (name) => `${name}.`,
  (name) => `${name} . `,
  (name) => `${name}::$DATA`,
  (name) => `${name}:stream`,
  (name, pick) => {
    const at = pick(name.length + 1);
    return name.slice(0, at) + ['\u200b', '\u200d', '\u00ad', '\ufeff', '\u2060', '\u180e', '\u3164'][pick(7)] + name.slice(at);
  },
  (name) => [...name].map((c) => (/[!-~]/.test(c) && c !== '/' ? String.fromCharCode(c.charCodeAt(0) + 0xfee0) : c)).join(''), // full width
  (name) => name.replace('s', 'ſ').replace('k', '\u212a'),
  (name) => name.normalize('NFD'),
];

test('no disguise of a name makes a protected file ordinary, or a secret readable', () => {
  const pick = seeded(20_261_129);
  for (let round = 0; round < 20_000; round++) {
    const hide = (path: string): string => {
      const names = path.split('/');
      for (let n = 1 + pick(2); n > 0; n--) {
        const i = pick(names.length);
        names[i] = DISGUISES[pick(DISGUISES.length)]?.(names[i] ?? '', pick) ?? '';
      }
      return (pick(3) === 0 ? 'sub/' : '') + names.join(pick(4) === 0 ? '\\' : '/');
    };
    const guarded = hide(PROTECTED[pick(PROTECTED.length)] ?? '');
    assert.ok(isProtected(guarded), JSON.stringify(guarded));
    const secret = hide(SECRETS[pick(SECRETS.length)] ?? '');
    assert.ok(holdsSecrets(secret), JSON.stringify(secret));
  }
});

test('each disguise is one that a file system sees through', () => {
  const pick = seeded(7);
  for (const name of ['.git', '.vscode', '.env', 'tasks.json']) {
    for (const disguise of DISGUISES) {
      assert.equal(fold(disguise(name, pick)), name, disguise.toString());
    }
  }
  for (const name of ['GIT~1', 'ENV~1', 'PACKAG~1.JSO', 'CON', 'nul.txt', 'a.ts.', 'a.ts ', 'a:b', 'a\u202eb', 'com1.log']) {
    assert.ok(ambiguous(`src/${name}/x.ts`), name);
  }
  for (const path of ['src/a.ts', 'a.b/c d.txt', 'a~b.ts', 'console.ts', 'ブログ.md', 'null.ts']) {
    assert.ok(!ambiguous(path), path);
  }
  for (const path of ['GIT~1/hooks/pre-commit', 'VSCODE~1/tasks.json', 'PACKAG~1.JSO']) {
    assert.ok(isProtected(path), path);
  }
});

test('of a manifest only what describes the package may change without a click', () => {
  const before = { name: 'a', version: '1.0.0', scripts: { test: 'x' }, dependencies: { a: '^1' } };
  const changed = (now: object): boolean => changesWhatActs('package.json', '', JSON.stringify(before), JSON.stringify(now));
  assert.equal(changed({ ...before, version: '1.0.1', description: 'd' }), false);
  for (const [key, value] of Object.entries({
    scripts: { test: 'y' }, dependencies: { a: 'file:../evil' }, bin: './x', husky: {}, 'lint-staged': { '*': 'x' }, main: 'y.js', type: 'module', pnpm: {}, workspaces: ['x'], packageManager: 'x@1', jest: { globalSetup: './x' }, unknown: 1,
  })) {
    assert.equal(changed({ ...before, [key]: value }), true, key);
  }
  const { scripts: _scripts, ...without } = before;
  assert.equal(changed(without), true);
  assert.equal(changesWhatActs('package.json', '', JSON.stringify(before), '{"scripts": '), true);
  assert.equal(changesWhatActs('Package.JSON', '', undefined, '{"scripts": {"test": "x"}}'), true);
  assert.equal(changesWhatActs('.vscode/package.json', '', '{}', '{}'), true);
});

test('a password or token in the configuration of Git is a secret', () => {
  for (const line of ['url = https://me:pass@example.com/a.git', 'url = https://ghp_abcdefghijklmnopqrstuvwx@github.com/a', '\textraheader = AUTHORIZATION: basic x', 'password = x', 'url = https://x-access-token:abc@github.com/a']) {
    assert.ok(textHoldsSecrets('/w/.git/config', `[remote "origin"]\n\t${line}\n`), line);
    assert.ok(textHoldsSecrets('/w/copy.txt', `[remote "origin"]\n\t${line}\n`), line);
  }
  for (const line of ['url = https://github.com/a/b.git', 'url = git@github.com:a/b.git', 'url = ssh://git@github.com/a/b']) {
    assert.ok(!textHoldsSecrets('/w/.git/config', `[remote "origin"]\n\t${line}\n`), line);
  }
  assert.ok(!textHoldsSecrets('/w/a.ts', 'const password = read();'));
});
