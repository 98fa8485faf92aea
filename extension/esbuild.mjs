// Bundles the extension: what activation needs (extension.js, small), what the
// first use needs (window.js, loaded then), and the panel's page.

import { context, build } from 'esbuild';

const production = process.argv.includes('--production');
const watch = process.argv.includes('--watch');

const shared = { bundle: true, minify: production, sourcemap: production ? false : 'linked', logLevel: 'warning', legalComments: 'none' };

/** What VS Code runs. */
const host = {
  ...shared,
  entryPoints: { extension: 'src/extension.ts', window: 'src/window.ts' },
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

for (const options of [host, page, style]) {
  if (watch) {
    await (await context(options)).watch();
  } else {
    await build(options);
  }
}
