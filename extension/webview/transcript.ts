// The transcript of both sides.

import type { Strings } from '../src/panelwire';
import type { ShownCall, ShownLine } from '../src/view';
import { el, setText, show } from './dom';
import { icon } from './icons';
import { type Block, blocks, cut } from './markdown';

export class Transcript {
  readonly element: HTMLElement;
  private readonly list: HTMLElement;
  private readonly empty: HTMLElement;
  private readonly newest: HTMLButtonElement;
  private readonly lines = new Map<number, HTMLElement>();
  /** the end is shown, and stays so when something is added */
  private following = true;
  private height = 0;

  constructor(private readonly strings: Strings) {
    // A log that is read at will: the voice already said what would be announced.
    this.list = el('div', { class: 'lines', role: 'log', 'aria-live': 'off', 'aria-label': strings.transcript, tabindex: '0', 'data-testid': 'transcript' });
    this.empty = el('div', { class: 'empty', 'data-testid': 'empty' }, el('p', {}, strings.empty), el('p', {}, strings.emptyMore));
    this.newest = el('button', { type: 'button', class: 'newest', 'data-testid': 'newest', hidden: true }, icon('down'), strings.newest);
    this.newest.addEventListener('click', () => this.toEnd());
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

  /** Puts in place what is new or changed, and takes out what is not to be kept. */
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
      const node = this.make(line);
      const old = this.lines.get(line.id);
      if (old === undefined) {
        this.list.append(node);
      } else {
        old.replaceWith(node);
      }
      this.lines.set(line.id, node);
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

  private make(line: ShownLine): HTMLElement {
    const attributes = { 'data-testid': 'line', 'data-kind': line.kind, 'data-who': line.who, 'data-final': String(line.final) };
    if (line.kind === 'divider') {
      return el('div', { class: 'divider', ...attributes }, el('span', {}, line.text));
    }
    if (line.call !== undefined) {
      return el('div', { class: 'tool', ...attributes }, ...this.call(line.call));
    }
    const time = new Date(line.time);
    const head = el('div', { class: 'who' },
      el('strong', {}, line.name),
      el('time', { datetime: line.time }, time.toLocaleTimeString(document.documentElement.lang, { hour: '2-digit', minute: '2-digit' })),
      ...(line.note === undefined ? [] : [el('span', { class: 'note', 'data-testid': 'line-note' }, line.note)]));
    const text = el('div', { class: 'said', 'data-testid': 'line-text' });
    if (line.who === 'user') {
      setText(text, line.text);
    } else {
      text.append(...this.answer(line));
    }
    return el('article', { class: `speech ${line.who}${line.final ? '' : ' live'}`, ...attributes }, head, text);
  }

  private answer(line: ShownLine): Node[] {
    const heard = line.heard ?? Number.POSITIVE_INFINITY;
    let marked = line.heard === undefined;
    const mark = (): Node[] => {
      if (marked) {
        return [];
      }
      marked = true;
      return [el('span', { class: 'cut', 'data-testid': 'cut' }, el('span', { class: 'sr' }, ` ${this.strings.heard} `))];
    };
    return blocks(line.text).map((block) => this.block(block, heard, mark));
  }

  private block(block: Block, heard: number, mark: () => Node[]): Node {
    if (block.kind === 'fence') {
      const lost = block.start >= heard;
      return el('pre', { class: lost ? 'unheard' : undefined, tabindex: '0', role: 'group', 'aria-label': block.language === '' ? 'code' : block.language },
        ...(lost ? mark() : []), el('code', {}, block.text));
    }
    const parts: Node[] = [];
    for (const piece of block.pieces) {
      const [said, unsaid] = cut(piece, heard);
      const wrap = (text: string, lost: boolean): Node => {
        const tag = piece.kind === 'plain' ? 'span' : piece.kind;
        return el(tag, { class: lost ? 'unheard' : undefined }, text);
      };
      if (said !== '') {
        parts.push(wrap(said, false));
      }
      if (unsaid !== '') {
        parts.push(...mark(), wrap(unsaid, true));
      }
    }
    return block.kind === 'heading' ? el('p', { class: 'heading' }, ...parts)
      : block.kind === 'item' ? el('p', { class: 'item' }, el('span', { class: 'mark', 'aria-hidden': 'true' }, block.mark ?? '•'), el('span', {}, ...parts))
      : el('p', {}, ...parts);
  }

  private call(call: ShownCall): Node[] {
    return [
      icon('tool'),
      el('code', {}, call.name),
      el('span', { class: 'tool-status', 'data-testid': 'tool-status', 'data-status': call.status }, call.statusText),
      ...(call.input === '' ? [] : [el('details', {}, el('summary', {}, this.strings.input), el('pre', { tabindex: '0' }, el('code', {}, call.input)))]),
    ];
  }
}
