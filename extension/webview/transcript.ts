// The transcript of both sides.

import type { Strings } from '../src/panelwire';
import type { ShownCall, ShownLine } from '../src/view';
import { type Child, type Spec, button, el, h, render, show } from './dom';
import { icon } from './icons';
import { type Block, blocks, cut } from './markdown';

export class Transcript {
  readonly element: HTMLElement;
  private readonly list: HTMLElement;
  private readonly empty: HTMLElement;
  private readonly newest: HTMLElement;
  private readonly lines = new Map<number, HTMLElement>();
  /** the end is shown, and stays so when something is added */
  private following = true;
  private height = 0;

  constructor(private readonly strings: Strings) {
    // A log that is read at will: the voice already said what would be announced.
    this.list = el('div', { class: 'lines', role: 'log', 'aria-live': 'off', 'aria-label': strings.transcript, tabindex: '0', 'data-testid': 'transcript' });
    this.empty = el('div', { class: 'empty', 'data-testid': 'empty' }, el('p', {}, strings.empty), el('p', {}, strings.emptyMore));
    this.newest = render(button({ class: 'newest', 'data-testid': 'newest', hidden: true }, () => this.toEnd(), icon('down'), strings.newest));
    this.list.addEventListener('scroll', () => {
      // Only the user scrolls away: a smaller height alone does not.
      this.following = this.atEnd() || (this.following && this.list.clientHeight !== this.height);
      this.height = this.list.clientHeight;
      show(this.newest, !this.following);
    });
    this.list.append(this.empty);
    new ResizeObserver(() => this.following && this.toEnd()).observe(this.list); // what appears beside it takes of its height
    this.element = el('section', { class: 'transcript', 'aria-label': strings.transcript }, this.list, this.newest);
  }

  /** Updates what is new or changed in its place, and takes out what is not to be kept. */
  render(lines: readonly ShownLine[], keep: readonly number[] | undefined): void {
    if (keep !== undefined) {
      const wanted = new Set(keep);
      for (const [id, node] of this.lines) {
        if (!wanted.has(id)) {
          node.remove();
          this.lines.delete(id);
        }
      }
    }
    for (const line of lines) {
      const old = this.lines.get(line.id);
      const node = render(this.spec(line), old);
      if (old === undefined) {
        this.list.append(node);
        this.lines.set(line.id, node);
      }
    }
    show(this.empty, this.lines.size === 0);
    if (this.following && (lines.length > 0 || keep !== undefined)) {
      this.toEnd();
    }
  }

  private atEnd(): boolean {
    return this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < 24;
  }

  private toEnd(): void {
    this.following = true;
    this.list.scrollTop = this.list.scrollHeight;
    show(this.newest, false);
  }

  private spec(line: ShownLine): Spec {
    const attributes = { 'data-testid': 'line', 'data-kind': line.kind, 'data-who': line.who, 'data-final': String(line.final) };
    if (line.kind === 'divider') {
      return h('div', { class: 'divider', ...attributes }, h('span', {}, line.text));
    }
    if (line.call !== undefined) {
      return h('div', { class: 'tool', ...attributes }, ...this.call(line.call));
    }
    const time = new Date(line.time);
    const head = h('div', { class: 'who' },
      h('strong', {}, line.name),
      h('time', { datetime: line.time }, time.toLocaleTimeString(document.documentElement.lang, { hour: '2-digit', minute: '2-digit' })),
      ...(line.note === undefined ? [] : [h('span', { class: 'note', 'data-testid': 'line-note' }, line.note)]));
    const text = h('div', { class: 'said', 'data-testid': 'line-text' }, ...(line.who === 'user' ? [line.text] : this.answer(line)));
    return h('article', { class: `speech ${line.who}${line.final ? '' : ' live'}`, ...attributes }, head, text);
  }

  private answer(line: ShownLine): Spec[] {
    const heard = line.heard ?? Number.POSITIVE_INFINITY;
    let marked = line.heard === undefined;
    const mark = (): Spec[] => {
      if (marked) {
        return [];
      }
      marked = true;
      return [h('span', { key: 'cut', class: 'cut', 'data-testid': 'cut' }, h('span', { class: 'sr' }, ` ${this.strings.heard} `))];
    };
    return blocks(line.text).map((block) => this.block(block, heard, mark));
  }

  private block(block: Block, heard: number, mark: () => Spec[]): Spec {
    if (block.kind === 'fence') {
      const lost = block.start >= heard;
      return h('pre', { class: lost ? 'unheard' : undefined, tabindex: '0', role: 'group', 'aria-label': block.language === '' ? 'code' : block.language },
        ...(lost ? mark() : []), h('code', {}, block.text));
    }
    const parts: Spec[] = [];
    for (const piece of block.pieces) {
      const [said, unsaid] = cut(piece, heard);
      const wrap = (text: string, lost: boolean): Spec =>
        h(piece.kind === 'plain' ? 'span' : piece.kind, {
          key: `${piece.kind} ${piece.start}${lost && said !== '' ? ' unheard' : ''}`, // its place in the source, which a cut does not move
          class: lost ? 'unheard' : undefined,
        }, text);
      if (said !== '') {
        parts.push(wrap(said, false));
      }
      if (unsaid !== '') {
        parts.push(...mark(), wrap(unsaid, true));
      }
    }
    return block.kind === 'heading' ? h('p', { class: 'heading' }, ...parts)
      : block.kind === 'item' ? h('p', { class: 'item' }, h('span', { class: 'mark', 'aria-hidden': 'true' }, block.mark ?? '•'), h('span', {}, ...parts))
      : h('p', {}, ...parts);
  }

  private call(call: ShownCall): Child[] {
    return [
      icon('tool'),
      h('code', {}, call.name),
      h('span', { class: 'tool-status', 'data-testid': 'tool-status', 'data-status': call.status }, call.statusText),
      ...(call.input === '' ? [] : [h('details', {}, h('summary', {}, this.strings.input), h('pre', { tabindex: '0' }, h('code', {}, call.input)))]),
    ];
  }
}
