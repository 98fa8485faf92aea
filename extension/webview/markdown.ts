// An answer's Markdown: CommonMark and GFM, parsed as it streams. Each piece of text knows its
// source position, because spoken and heard ranges are source positions.

import type { RootContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/** Block is a part of an answer, with the origin of its positions. */
export interface Block {
  readonly node: RootContent;
  readonly at: number;
}

const EXTENSIONS = { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] };

/** A definition may change earlier text. */
const DEFINITION = /^ {0,3}\[[^\]\n]+\]:/m;

/**
 * Answer parses a growing text. Added text can only change the last block, so only that is parsed
 * again; the other blocks keep their identity.
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
      const from = source.lastIndexOf('\n', begin - 1) + 1; // including its indentation
      this.blocks = [...this.blocks.slice(0, -1), ...blocksOf(source.slice(from), from)];
    }
    this.source = source;
    return this.blocks;
  }
}

function blocksOf(source: string, at: number): Block[] {
  return fromMarkdown(source, EXTENSIONS).children.map((node) => ({ node, at }));
}

/** Piece is a run of text that is identical in the source. */
export interface Piece {
  readonly text: string;
  /** its start in the source */
  readonly start: number;
}

/**
 * Maps a text to its source. The text lacks the source's markers, escapes and indentation, so they
 * split it into pieces.
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

/** Splits a piece at a source position. */
export function cut(piece: Piece, at: number): [before: string, after: string] {
  const i = Math.min(piece.text.length, Math.max(0, at - piece.start));
  return [piece.text.slice(0, i), piece.text.slice(i)];
}

/** File extensions that inline code may name without a folder or a line. */
const EXTENSIONS_OF_FILES = /\.(?:c|cc|cpp|cs|css|go|h|hpp|html?|java|js|json|jsx|kt|lua|md|mjs|mod|php|py|rb|rs|sh|sql|sum|swift|toml|ts|tsx|txt|vue|xml|ya?ml)$/i;

const FILE = /^(?:[\w@.~-]*[\\/])*[\w@-][\w@.-]*\.[A-Za-z]\w{0,9}(?::\d+)?(?::\d+)?$/;

/** The file that inline code names, as PATH or PATH:LINE; undefined if it names none. */
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

/** A file with a line or folder, within a sentence. */
export const FILES_IN_TEXT = /(?<![\w@.~:\\/-])(?:(?:[\w@.~-]+\/)+[\w@-][\w@.-]*\.[A-Za-z]\w{0,9}(?::\d+)?|[\w@-][\w@.-]*\.[A-Za-z]\w{0,9}:\d+)(?![\w/])/g;
