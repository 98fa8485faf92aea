// An answer's Markdown: CommonMark and GFM, parsed as it comes. Each piece of text
// knows where in the source it stands, since what is spoken and what was heard are
// places in the source.

import type { RootContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/** Block is a part of an answer, with where its positions count from. */
export interface Block {
  readonly node: RootContent;
  readonly at: number;
}

const EXTENSIONS = { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] };

/** A definition may change what stands before it. */
const DEFINITION = /^ {0,3}\[[^\]\n]+\]:/m;

/**
 * Answer parses a text that grows. Only its last block can change by what is added,
 * so only that is parsed again; the others stay the same values.
 */
export class Answer {
  private source = '';
  private blocks: readonly Block[] = [];

  parse(source: string, final: boolean): readonly Block[] {
    const last = this.blocks.at(-1);
    if (source === this.source && !(final && DEFINITION.test(source))) {
      return this.blocks;
    }
    if (last === undefined || final && DEFINITION.test(source) || !source.startsWith(this.source)) {
      this.blocks = blocksOf(source, 0);
    } else {
      const begin = last.at + (last.node.position?.start.offset ?? 0);
      const from = source.lastIndexOf('\n', begin - 1) + 1; // with its indentation
      this.blocks = [...this.blocks.slice(0, -1), ...blocksOf(source.slice(from), from)];
    }
    this.source = source;
    return this.blocks;
  }
}

function blocksOf(source: string, at: number): Block[] {
  return fromMarkdown(source, EXTENSIONS).children.map((node) => ({ node, at }));
}

/** Piece is a run of text that stands in the source as it is. */
export interface Piece {
  readonly text: string;
  /** where it begins in the source */
  readonly start: number;
}

/**
 * Places a text in its source. Marks, escapes and indentation of the source are not
 * in the text: there it falls into pieces.
 */
export function place(text: string, source: string, from: number, to: number): Piece[] {
  const out: { text: string; start: number }[] = [];
  let at = from;
  for (let i = 0; i < text.length; i++) {
    let next = at;
    while (next < to && source[next] !== text[i]) {
      next++;
    }
    const last = out.at(-1);
    const found = next < to;
    if (last !== undefined && (!found || next === last.start + last.text.length)) {
      last.text += text[i];
    } else {
      out.push({ text: text[i] ?? '', start: found ? next : at });
    }
    at = found ? next + 1 : at;
  }
  return out;
}

/** Cuts a piece at a place in the source: what is before it, and what is not. */
export function cut(piece: Piece, at: number): [before: string, after: string] {
  const i = Math.min(piece.text.length, Math.max(0, at - piece.start));
  return [piece.text.slice(0, i), piece.text.slice(i)];
}

/** Extensions of files that code in a line of text may name without a folder or a line. */
const EXTENSIONS_OF_FILES = /\.(?:c|cc|cpp|cs|css|go|h|hpp|html?|java|js|json|jsx|kt|lua|md|mjs|mod|php|py|rb|rs|sh|sql|sum|swift|toml|ts|tsx|txt|vue|xml|ya?ml)$/i;

const FILE = /^(?:[\w@.~-]*[\\/])*[\w@-][\w@.-]*\.[A-Za-z]\w{0,9}(?::\d+)?(?::\d+)?$/;

/** The file that a piece of code names, as PATH or PATH:LINE; undefined where it names none. */
export function fileOf(code: string): string | undefined {
  if (!FILE.test(code)) {
    return undefined;
  }
  const [path = '', line] = code.split(':');
  if (line === undefined && !/[\\/]/.test(path) && !EXTENSIONS_OF_FILES.test(path)) {
    return undefined;
  }
  return line === undefined ? path : `${path}:${line}`;
}

/** A file with its line, or with its folder, in a sentence. */
export const FILES_IN_TEXT = /(?<![\w@.~:\\/-])(?:(?:[\w@.~-]+\/)+[\w@-][\w@.-]*\.[A-Za-z]\w{0,9}(?::\d+)?|[\w@-][\w@.-]*\.[A-Za-z]\w{0,9}:\d+)(?![\w/])/g;
