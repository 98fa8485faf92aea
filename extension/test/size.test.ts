// The size limit that internal/archtest sets for Go files, for the files of the extension.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const LINES = 600;
const root = join(__dirname, '..', '..');

test('no written file has more than 600 lines', () => {
  const files = ['src', 'webview', 'test', 'e2e']
    .flatMap((dir) => readdirSync(join(root, dir), { recursive: true, encoding: 'utf8' }).map((file) => join(dir, file)))
    .filter((file) => /\.(ts|mjs|js|css)$/.test(file) && !file.endsWith('.gen.ts') && !file.includes('node_modules'));
  assert.ok(files.length > 100, `found ${files.length} files; the walk is broken`);
  const long = files
    .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n').length - 1 }))
    .filter(({ lines }) => lines > LINES);
  assert.deepEqual(long, [], 'split these files');
});
