// The package built by `make vsix`: its contents, its size, and that its daemon depends only on
// libraries that every machine has.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { check, platform } from '../../src/daemon/find';
import { english } from '../../src/text';

const vsix = process.env['AGENTVOICE_VSIX'] ?? assert.fail('AGENTVOICE_VSIX names no package: run make vsix');
const target = `${process.platform}-${process.arch}`;
const stage = join(dirname(vsix), target);
const bin = join(stage, 'bin');
const executable = process.platform === 'win32' ? 'agentvoice-daemon.exe' : 'agentvoice-daemon';

/** Maximum compressed size in megabytes, without the models of the local engines and their runtime. */
const BUDGET = 25;
const MODELS = /^extension\/bin\/(assets\/(?!alsa\/)|lib\/libflite_cmu_us_)/;

/** The libraries that every Linux must provide: the C library. */
const SYSTEM = /^(ld-linux-x86-64|ld-linux-aarch64|libc|libm|libpthread|libdl|librt)\.so\.\d+$/;
/** The sound server's library, if installed, or else the package's. */
const SOUND = /^(libasound|libjack|libdb-5\.3)\.so(\.\d+)?$/;

interface Entry { readonly name: string; readonly compressed: number }

/** The central directory of a zip file (APPNOTE 4.3.12). */
function entries(file: string): Entry[] {
  const zip = readFileSync(file);
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  let at = zip.readUInt32LE(end + 16);
  return Array.from({ length: zip.readUInt16LE(end + 10) }, () => {
    const [name, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset)) as [number, number, number];
    const entry = { name: zip.toString('utf8', at + 46, at + 46 + name), compressed: zip.readUInt32LE(at + 20) };
    at += 46 + name + extra + comment;
    return entry;
  });
}

test('the package is for this platform, and holds these files and no others', () => {
  assert.match(basename(vsix), new RegExp(`^agent-voice-${target}-\\d+\\.\\d+\\.\\d+\\.vsix$`));
  const names = entries(vsix).map((e) => e.name).sort();
  const fixed = [
    '[Content_Types].xml', 'extension.vsixmanifest',
    ...['LICENSE.txt', 'THIRD_PARTY.md', 'changelog.md', 'package.json', 'package.nls.de.json', 'package.nls.ja.json', 'package.nls.json', 'readme.md',
      `bin/${executable}`, 'dist/extension.js', 'dist/keeper.js', 'dist/licenses.txt', 'dist/panel.css', 'dist/panel.js', 'dist/window.js',
      'l10n/bundle.l10n.de.json', 'l10n/bundle.l10n.ja.json', 'media/icon.png', 'media/icon.svg',
      ...['control', 'copilot', 'privacy', 'start'].map((name) => `media/walkthrough-${name}.svg`),
      'bin/assets/silero_vad_v6.onnx', 'bin/assets/moonshine-tiny-en/model.json', 'bin/assets/kokoro-82m-int8/model.json'].map((name) => `extension/${name}`),
  ];
  assert.deepEqual(fixed.filter((name) => !names.includes(name)), [], 'missing');
  const engines = /^extension\/bin\/(lib\/(system\/)?[\w.+-]+\.(so(\.\d+)*|dylib)|[\w.+-]+\.dll|assets\/(lib)?(onnxruntime|sherpa-onnx-c-api)[\w.-]*|assets\/(pocketsphinx\/en-us|moonshine-tiny-en|kokoro-82m-int8)\/[\w./-]+|assets\/alsa\/alsa\.conf|licenses\/[\w./+-]+\.txt)$/;
  assert.deepEqual(names.filter((name) => !fixed.includes(name) && !engines.test(name)), [], 'not expected');
});

test(`without the local models the package is smaller than ${BUDGET} MB`, () => {
  const size = entries(vsix).filter((e) => !MODELS.test(e.name)).reduce((sum, e) => sum + e.compressed, 0) / 2 ** 20;
  assert.ok(size <= BUDGET, `${size.toFixed(1)} MB`);
  assert.ok(size > 5, 'the daemon is not in it');
});

test('what is in the package does not tell where it was built', () => {
  const root = join(__dirname, '..', '..', '..', '..');
  for (const name of [join('bin', executable), 'dist/extension.js', 'dist/keeper.js', 'dist/window.js', 'dist/panel.js']) {
    assert.equal(readFileSync(join(stage, name)).includes(root), false, name);
  }
  const manifest = JSON.parse(readFileSync(join(stage, 'package.json'), 'utf8')) as Record<string, unknown>;
  assert.deepEqual(['scripts', 'dependencies', 'devDependencies'].filter((key) => key in manifest), []);
});

test('the script and the style can stand in the page', () => {
  for (const [name, what] of [['panel.js', /<\/script/i], ['panel.css', /<\/style|url\(/i]] as const) {
    assert.equal(what.test(readFileSync(join(stage, 'dist', name), 'utf8')), false, name);
  }
});

test('the daemon of the package is taken by the extension of the package', async () => {
  const version = await check({ path: join(bin, executable), chosen: false }, english);
  assert.equal(version.platform, platform());
  const { version: ours } = JSON.parse(readFileSync(join(stage, 'package.json'), 'utf8')) as { version: string };
  assert.ok(version.version === `v${ours}` || version.version.startsWith(`v${ours}-dev+`), `the package is ${ours}, its daemon ${version.version}`);
});

const home = mkdtempSync(join(tmpdir(), 'agentvoice-vsix-')); // nothing of this machine's is in it
after(() => rmSync(home, { recursive: true, force: true }));
const bare = { HOME: home, PATH: '/usr/bin:/bin' };

if (process.platform === 'linux') {
  test('the libraries of the daemon are in the package, but for an allow-list that every Linux has', () => {
    const lines = execFileSync('ldd', [join(bin, executable)], { env: bare, encoding: 'utf8' }).split('\n');
    const found = lines.flatMap((line) => {
      const m = /^\s*(\S+) => (\S+)/.exec(line);
      return m === null ? [] : [{ name: m[1] ?? '', path: m[2] ?? '' }];
    });
    assert.ok(found.length > 5);
    for (const { name, path } of found) {
      assert.ok(path.startsWith(join(bin, 'lib')) || SYSTEM.test(name) || SOUND.test(name), `${name} is ${path}`);
    }
    // The daemon loads the runtime later, so its dependencies must be present by then.
    const needed = /\(NEEDED\).*\[(.+)\]/g;
    const runtime = execFileSync('readelf', ['-d', join(bin, 'assets', 'libonnxruntime.so.1.32.0')], { encoding: 'utf8' });
    const loaded = new Set(found.map((f) => f.name));
    for (const [, name] of runtime.matchAll(needed)) {
      assert.ok(SYSTEM.test(name ?? '') || loaded.has(name ?? ''), name);
    }
  });

  test('what is given on has its licence beside it', () => {
    const licences = readdirSync(join(bin, 'licenses'), { recursive: true }).map(String);
    for (const name of ['libportaudio2', 'libflite1', 'libpocketsphinx3', 'libasound2', 'libopus0', 'libgfortran5', 'pocketsphinx-en-us', 'moonshine-tiny-en', 'kokoro-82m-int8', 'sherpa-onnx', 'onnxruntime/LICENSE',
      'silero', 'scowl', 'cmudict', 'go', 'github.com/pion/webrtc/v4', 'github.com/qmuntal/stateless', 'modernc.org/sqlite']) {
      assert.ok(licences.includes(`${name}.txt`), name);
    }
    const bundled = readFileSync(join(stage, 'dist', 'licenses.txt'), 'utf8');
    for (const name of ['vscode-jsonrpc', 'mdast-util-from-markdown', 'refractor', '@vscode/codicons']) {
      assert.match(bundled, new RegExp(`^${name} [\\d.]+ \\(`, 'm'));
    }
  });

  interface Finding { check: string; ok: boolean; detail: string }
  const doctor = (env: NodeJS.ProcessEnv, ...args: string[]): Finding[] =>
    JSON.parse(spawnSync(join(bin, executable), ['doctor', '--json', ...args], { env, encoding: 'utf8' }).stdout) as Finding[];

  test('the engines of the package are all there: doctor finds them', () => {
    const report = doctor(bare);
    const ok = new Set(report.filter((c) => c.ok).map((c) => c.check));
    for (const name of ['codec', 'echo cancellation', 'voice detection', 'recognition', 'synthesis', 'wake phrase']) {
      assert.ok(ok.has(name), `${name}: ${JSON.stringify(report)}`);
    }
  });

  test('with an empty environment, and no configuration of ALSA, the daemon finds every file in its package', () => {
    for (const { check: name, ok, detail } of doctor({ ALSA_CONFIG_DIR: stage }, '--paths')) {
      assert.ok(ok, `${name}: ${detail}`);
      assert.ok(name === 'linked libraries' || (detail.startsWith(`${bin}/`) && detail.endsWith(', beside the program')), `${name}: ${detail}`);
    }
  });
}
