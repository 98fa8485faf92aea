// An answer's Markdown: source positions of its texts, and incremental parsing that equals parsing at
// once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundled } from './bundled';

interface Piece { readonly text: string; readonly start: number }
interface Block { readonly node: { readonly type: string; readonly position?: { readonly start: { readonly offset: number } } }; readonly at: number }
interface Markdown {
  readonly Answer: new () => { parse(source: string, final: boolean): readonly Block[] };
  place(text: string, source: string, from: number, to: number): Piece[];
  cut(piece: Piece, at: number): [string, string];
  fileOf(code: string): string | undefined;
  readonly FILES_IN_TEXT: RegExp;
}

const exported: { exports: unknown } = { exports: {} };
new Function('module', 'exports', bundled('markdown.ts', 'cjs'))(exported, exported.exports);
const { Answer, place, cut, fileOf, FILES_IN_TEXT } = exported.exports as Markdown;

const SOURCE = '# Title\nUse `push` **now**:\nsoon.\n\n- one\n- two\n\n  more\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```ts\na();\n\nb();\n```\n> said\n\nEnd *here*.';

/** The kind of a block, without positions. */
const shape = (blocks: readonly Block[]): string => JSON.stringify(blocks.map((b) => b.node), (key, value: unknown) => (key === 'position' ? undefined : value));

test('a text that grows by any pieces ends as the same blocks as the whole of it', () => {
  const whole = new Answer().parse(SOURCE, true);
  assert.deepEqual(whole.map((b) => b.node.type), ['heading', 'paragraph', 'list', 'table', 'code', 'blockquote', 'paragraph']);
  for (const step of [1, 2, 3, 7, 19]) {
    const answer = new Answer();
    for (let n = step; n < SOURCE.length; n += step) {
      answer.parse(SOURCE.slice(0, n), false);
    }
    const grown = answer.parse(SOURCE, true);
    assert.equal(shape(grown), shape(whole), `by ${step}`);
    const begins = (blocks: readonly Block[]): number[] => blocks.map((b) => b.at + (b.node.position?.start.offset ?? 0));
    assert.deepEqual(begins(grown), begins(whole), `by ${step}`);
  }
});

test('only the last block of a text that grows is parsed again', () => {
  const answer = new Answer();
  const before = answer.parse('One.\n\nTwo.\n\nThr', false);
  const after = answer.parse('One.\n\nTwo.\n\nThree.', false);
  assert.ok(after[0] === before[0] && after[1] === before[1] && after[2] !== before[2]);
});

test('a definition that comes last changes what stands before it', () => {
  const answer = new Answer();
  answer.parse('See [the page][1].\n\n', false);
  assert.match(shape(answer.parse('See [the page][1].\n\n[1]: https://example.com', true)), /linkReference/);
});

test('a text knows its place in the source, also where marks, escapes and indentation are left out', () => {
  for (const [text, source] of [['stops at', 'stops at'], ['a*b c', 'a\\*b c'], ['one\ntwo', 'one\n   two'], ['R&D now', 'R&amp;D now']] as const) {
    const pieces = place(text, source, 0, source.length);
    assert.equal(pieces.map((p) => p.text).join(''), text);
    for (const p of pieces) {
      assert.equal(source.slice(p.start, p.start + p.text.length), p.text);
    }
  }
});

test('a piece is cut where the voice stopped', () => {
  const piece = { text: 'hello', start: 10 };
  assert.deepEqual([cut(piece, 12), cut(piece, 4), cut(piece, 99)], [['he', 'llo'], ['', 'hello'], ['hello', '']]);
});

test('names of files are known from other words and code', () => {
  assert.deepEqual(['parser.go', 'src/a/parser.go:12:3', 'x.unknown:7', '../lib/y.zig'].map(fileOf), ['parser.go', 'src/a/parser.go:12', 'x.unknown:7', '../lib/y.zig']);
  assert.deepEqual(['fmt.Println', 'e.g', 'a b.go', 'https://example.com/a.go', '1.5', 'out = 1'].map(fileOf), [undefined, undefined, undefined, undefined, undefined, undefined]);
  assert.deepEqual('In src/table/table.go and parser.go:7, e.g. https://example.com/x.go:1 at 12:30.'.match(FILES_IN_TEXT), ['src/table/table.go', 'parser.go:7']);
});
