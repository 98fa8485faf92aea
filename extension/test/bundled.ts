// The page's sources, bundled as in the package.

import { join } from 'node:path';
import { buildSync } from 'esbuild';

/** Bundles a module of webview/ as a script, or to be required. */
export function bundled(name: string, format: 'iife' | 'cjs' = 'iife'): string {
  return buildSync({
    entryPoints: [join(__dirname, '..', '..', 'webview', name)], bundle: true, write: false, format, target: 'es2022', platform: 'browser', conditions: ['worker'], loader: { '.svg': 'text' },
  }).outputFiles[0]!.text;
}
