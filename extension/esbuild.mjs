// Bundles the extension: what activation needs (extension.js, small), what the
// first use needs (window.js, loaded then), the program that holds a transcript
// (keeper.js), and the panel's page.

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { context, build } from 'esbuild';

const production = process.argv.includes('--production');
const watch = process.argv.includes('--watch');

const shared = { bundle: true, minify: production, sourcemap: production ? false : 'linked', logLevel: 'warning', legalComments: 'none', metafile: true };

/** What VS Code runs. */
const host = {
  ...shared,
  entryPoints: { extension: 'src/extension.ts', window: 'src/window.ts', keeper: 'src/keeper.ts' },
  outdir: 'dist',
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  external: ['vscode', './window.js'],
};

/** What the panel's page runs. Its packages take no HTML apart: the names of entities come from their table, not from innerHTML. */
const page = {
  ...shared,
  conditions: ['worker'],
  loader: { '.svg': 'text' },
  entryPoints: { panel: 'webview/main.ts' },
  outdir: 'dist',
  platform: 'browser',
  target: 'es2022',
  format: 'iife',
};

/** The panel's style. */
const style = { ...shared, entryPoints: { panel: 'webview/panel.css' }, outdir: 'dist', sourcemap: false };

/** Writes the licences of the packages that the bundles have parts of. */
function writeLicences(inputs) {
  const folders = new Set(inputs.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []));
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    const files = readdirSync(folder).filter((file) => /^licen[cs]e/i.test(file));
    if (files.length === 0) {
      throw new Error(`${name} has no licence`);
    }
    return [`${name} ${version} (${license})`, ...files.map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim())].join('\n\n');
  });
  writeFileSync('dist/licenses.txt', texts.join(`\n\n${'-'.repeat(80)}\n\n`) + '\n');
}

const inputs = [];
for (const options of [host, page, style]) {
  if (watch) {
    await (await context(options)).watch();
  } else {
    inputs.push(...Object.keys((await build(options)).metafile.inputs));
  }
}
if (!watch) {
  writeLicences(inputs);
}
