// No file of the extension imports itself through others, not even for a type: a file can then be read, and tested,
// with what it imports and nothing else.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const root = join(__dirname, '..', '..');

/** The files of a folder with the files that each imports, also by import type, import() and require(). */
function imports(folder: string): Map<string, string[]> {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts')).map((file) => join(folder, file));
  return new Map(files.map((file) => [file, [...readFileSync(join(root, file), 'utf8').matchAll(/(?:\bfrom|\bimport|\bimport\(|\brequire\()\s*'(\.[^']*)'/g)]
    .map(([, name = '']) => join(dirname(file), name.replace(/\.js$/, '')) + '.ts')
    .filter((target) => existsSync(join(root, target)))]));
}

/** Returns the first import cycle through a file, or undefined. */
function circleFrom(start: string, of: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const seen = new Set<string>();
  const ways: string[][] = [[start]];
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    for (const next of of.get(way.at(-1) ?? '') ?? []) {
      if (next === start) {
        return [...way, next];
      }
      if (!seen.has(next)) {
        seen.add(next);
        ways.push([...way, next]);
      }
    }
  }
  return undefined;
}

test('a circle is found, however long it is', () => {
  assert.deepEqual(circleFrom('a', new Map([['a', ['x', 'b']], ['b', ['c']], ['c', ['a']], ['x', ['c']]])), ['a', 'x', 'c', 'a']);
  assert.equal(circleFrom('a', new Map([['a', ['b']], ['b', ['c']], ['c', ['b']]])), undefined);
});

test('no file imports itself through others', () => {
  const of = new Map(['src', 'webview'].flatMap((folder) => [...imports(folder)]));
  assert.ok(of.size > 60 && [...of.values()].flat().length > 150, 'the walk is broken');
  const circles = [...of.keys()].map((file) => circleFrom(file, of)).filter((circle) => circle !== undefined);
  assert.deepEqual(circles.map((circle) => circle.join(' -> ')), [], 'give what both need a file of its own');
});
