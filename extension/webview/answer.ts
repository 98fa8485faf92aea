// Renders an answer's Markdown as descriptions for the page. It never interprets text as HTML.

import type { Nodes, PhrasingContent, RootContent, Table, List } from 'mdast';
import type { Strings } from '../src/panelwire';
import { type Child, type Spec, button, h } from './dom';
import { highlight } from './highlight';
import { icon } from './icons';
import { type Block, FILES_IN_TEXT, type Piece, cut, fileOf, place } from './markdown';

/** Actions of an answer's parts. */
export interface Deeds {
  open(file: string): void;
  copy(text: string): void;
  insert(text: string, language: string): void;
  /** expands or collapses a code block */
  fold(key: string): void;
  /** reads aloud from a source position */
  readFrom(at: number): void;
}

/** Code with more lines is collapsed. */
const LONG = 16;

const colours = new WeakMap<Nodes, Child[]>();

/** Highlighted code, computed once. */
function coloured(code: string, language: string, node: Nodes): Child[] {
  const found = colours.get(node) ?? highlight(code, language);
  colours.set(node, found);
  return found;
}

/** Look holds the state for describing an answer's blocks. */
export class Look {
  /** the stop mark was already placed */
  private marked: boolean;
  /** the block is complete */
  private complete = false;

  constructor(
    private readonly source: string,
    /** text from here on was not heard; Infinity if all was heard or it is unknown; -1 if the voice stopped before this text */
    private readonly heard: number,
    private readonly unfolded: ReadonlySet<string>,
    private readonly strings: Strings,
    private readonly deeds: Deeds,
  ) {
    this.marked = heard < 0;
  }

  /** The last block of an unfinished answer may grow, so its code is highlighted only when complete. */
  blocks(blocks: readonly Block[], final: boolean): Spec[] {
    return blocks.flatMap(({ node, at }, i) => {
      this.complete = final || i < blocks.length - 1;
      const spec = this.block(node, at);
      // An unchanged block looks the same, except for what was heard and which code is collapsed.
      return spec === undefined ? [] : [node.type === 'code' || this.heard !== Number.POSITIVE_INFINITY ? spec : { ...spec, same: node }];
    });
  }

  private block(node: RootContent, at: number): Spec | undefined {
    switch (node.type) {
      case 'paragraph':
        return h('p', { dir: 'auto' }, ...this.inline(node.children, at));
      case 'heading':
        return h('p', { class: `heading level-${node.depth}`, role: 'heading', 'aria-level': String(Math.min(6, node.depth + 2)), dir: 'auto' }, ...this.inline(node.children, at));
      case 'list':
        return this.list(node, at);
      case 'blockquote':
        return h('blockquote', {}, ...this.nested(node.children, at));
      case 'code':
        return this.code(node, at);
      case 'table':
        return this.table(node, at);
      case 'thematicBreak':
        return h('hr', {});
      case 'html':
        return h('p', { class: 'html' }, ...this.text(node.value, node, at));
      case 'footnoteDefinition':
        return h('div', { class: 'footnote' }, h('span', { class: 'muted' }, `[${node.label ?? node.identifier}] `), ...this.nested(node.children, at));
      case 'definition':
        return undefined;
      default:
        return h('p', { dir: 'auto' }, ...this.inline([node as PhrasingContent], at));
    }
  }

  private nested(nodes: readonly RootContent[], at: number): Spec[] {
    return nodes.flatMap((node) => this.block(node, at) ?? []);
  }

  private list(node: List, at: number): Spec {
    const tag = node.ordered === true ? 'ol' : 'ul';
    return h(tag, node.ordered === true && node.start !== null && node.start !== undefined && node.start !== 1 ? { start: String(node.start) } : {},
      ...node.children.map((item) => {
        const task = typeof item.checked === 'boolean';
        return h('li', { class: task ? 'task' : undefined, dir: 'auto' },
          ...(task ? [h('span', { class: 'box', role: 'img', 'aria-label': item.checked === true ? this.strings.taskDone : this.strings.taskOpen }, icon(item.checked === true ? 'check' : 'circle'))] : []),
          ...item.children.flatMap((child): Child[] =>
            child.type === 'paragraph' && node.spread !== true ? [h('span', {}, ...this.inline(child.children, at))] : [this.block(child, at) ?? '']));
      }));
  }

  private table(node: Table, at: number): Spec {
    const [head, ...rows] = node.children;
    const cells = (row: typeof head, tag: 'th' | 'td'): Spec[] => (row?.children ?? []).map((cell, i) =>
      h(tag, { 'data-align': node.align?.[i] ?? undefined, dir: 'auto', ...(tag === 'th' ? { scope: 'col' } : {}) }, ...this.inline(cell.children, at)));
    return h('div', { class: 'table', tabindex: '0', role: 'group', 'aria-label': this.strings.table },
      h('table', {}, h('thead', {}, h('tr', {}, ...cells(head, 'th'))), h('tbody', {}, ...rows.map((row) => h('tr', {}, ...cells(row, 'td'))))));
  }

  private code(node: Extract<RootContent, { type: 'code' }>, at: number): Spec {
    const { strings, deeds } = this;
    const start = at + (node.position?.start.offset ?? 0);
    const key = String(start);
    const file = fileOf(node.meta?.trim() ?? '') ?? fileOf(node.lang?.includes(':') === true ? node.lang.slice(node.lang.indexOf(':') + 1) : '');
    const language = node.lang?.split(':')[0] ?? '';
    const lines = node.value.split('\n').length;
    const folded = lines > LONG && !this.unfolded.has(key);
    const lost = start >= this.heard;
    const act = (name: string, title: string, run: () => void): Spec =>
      button({ class: 'quiet', 'data-testid': `code-${name}`, 'aria-label': title, title }, run, icon(name));
    return h('div', { class: lost ? 'code unheard' : 'code', 'data-testid': 'code' },
      h('div', { class: 'bar' },
        file === undefined ? h('span', { class: 'name' }, language) : this.file(file, [file]),
        act('copy', strings.copy, () => deeds.copy(node.value)),
        act('insert', strings.insert, () => deeds.insert(node.value, language))),
      ...(lost ? this.mark() : []),
      h('pre', { class: folded ? 'folded' : undefined, tabindex: '0', role: 'group', 'aria-label': language === '' ? strings.code : language },
        h('code', {}, ...(this.complete && !lost ? coloured(node.value, language, node) : [node.value]))),
      ...(lines > LONG
        ? [button({ key: 'fold', class: 'fold', 'data-testid': 'fold', 'aria-expanded': String(!folded) }, () => deeds.fold(key),
            folded ? strings.showAll.replace('{0}', String(lines)) : strings.showLess)]
        : []));
  }

  private inline(nodes: readonly PhrasingContent[], at: number): Child[] {
    return nodes.flatMap((node): Child[] => {
      switch (node.type) {
        case 'text':
          return this.sentence(this.pieces(node.value, node, at));
        case 'inlineCode': {
          const file = fileOf(node.value);
          const code = h('code', {}, ...this.shown(this.pieces(node.value, node, at)));
          return [file === undefined ? code : this.file(file, [code])];
        }
        case 'strong':
          return [h('strong', {}, ...this.inline(node.children, at))];
        case 'emphasis':
          return [h('em', {}, ...this.inline(node.children, at))];
        case 'delete':
          return [h('del', {}, ...this.inline(node.children, at))];
        case 'break':
          return [h('br', {})];
        case 'link':
          return [this.link(node.url, this.inline(node.children, at))];
        case 'image':
          return [this.link(node.url, [node.alt ?? node.url])];
        case 'footnoteReference':
          return [h('sup', {}, `[${node.label ?? node.identifier}]`)];
        case 'linkReference':
          return this.inline(node.children, at);
        case 'imageReference':
          return [node.alt ?? ''];
        default:
          return this.text('value' in node ? node.value : '', node, at);
      }
    });
  }

  /** The editor opens a web link; any other link names a file. */
  private link(url: string, children: Child[]): Spec {
    if (/^(https?|mailto):/i.test(url)) {
      return h('a', { href: url, title: url }, ...children);
    }
    const [path = '', line] = url.replace(/^file:\/\//, '').split(/#L?|:(?=\d)/);
    let file = path;
    try {
      file = decodeURIComponent(path);
    } catch {
      // malformed escape: use it as written
    }
    return file === '' ? h('span', {}, ...children) : this.file(/^\d+/.test(line ?? '') ? `${file}:${parseInt(line ?? '', 10)}` : file, children);
  }

  private file(file: string, children: Child[]): Spec {
    return { ...h('a', { class: 'file', role: 'link', tabindex: '0', title: this.strings.open.replace('{0}', file), 'data-testid': 'file', 'data-file': file }, ...children), onClick: () => this.deeds.open(file) };
  }

  private pieces(value: string, node: Nodes, at: number): Piece[] {
    const { start, end } = node.position ?? {};
    if (start?.offset === undefined || end?.offset === undefined) {
      return place(value, this.source, this.behind, this.source.length);
    }
    const from = at + start.offset + (node.type === 'inlineCode' ? 1 : 0);
    const found = place(value, this.source, from, at + end.offset);
    this.behind = at + end.offset;
    return found;
  }

  /** end of the last text with a position; text without a position follows it */
  private behind = 0;

  private text(value: string, node: Nodes, at: number): Child[] {
    return this.shown(this.pieces(value, node, at));
  }

  /** Text, with file names as links. */
  private sentence(pieces: readonly Piece[]): Child[] {
    return pieces.flatMap((piece) => {
      const out: Child[] = [];
      let from = 0;
      for (const m of piece.text.matchAll(FILES_IN_TEXT)) {
        out.push(...this.shown([{ text: piece.text.slice(from, m.index), start: piece.start + from }]));
        out.push(this.file(m[0], this.shown([{ text: m[0], start: piece.start + m.index }])));
        from = m.index + m[0].length;
      }
      out.push(...this.shown([{ text: piece.text.slice(from), start: piece.start + from }]));
      return out;
    });
  }

  /** Pieces with their source positions, split where the voice stopped. */
  private shown(pieces: readonly Piece[]): Child[] {
    return pieces.flatMap((piece) => {
      const [said, lost] = cut(piece, this.heard);
      const out: Child[] = [];
      if (said !== '') {
        out.push(h('span', { key: `at ${piece.start}`, 'data-at': String(piece.start) }, said));
      }
      if (lost !== '') {
        const start = piece.start + said.length;
        out.push(...this.mark(), h('span', { key: `lost ${piece.start}`, class: 'unheard', 'data-at': String(start) }, lost));
      }
      return out;
    });
  }

  /** Marks where the voice stopped with a button that reads on from there. */
  private mark(): Spec[] {
    if (this.marked) {
      return [];
    }
    this.marked = true;
    const { heard, strings, deeds } = this;
    return [button({ key: 'cut', class: 'cut', 'data-testid': 'cut', title: strings.readOn, 'aria-label': `${strings.heard}. ${strings.readOn}` }, () => deeds.readFrom(heard), icon('play'))];
  }
}
