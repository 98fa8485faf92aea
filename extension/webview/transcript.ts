// The transcript of both sides, and what follows its end: tool approvals, queued questions and
// other speech.

import type { Strings } from '../src/panelwire';
import type { ShownCall } from '../src/shownCall';
import type { ShownLine, View } from '../src/view';
import { type Deeds, Look } from './answer';
import { type Child, type Spec, button, el, h, render, show } from './dom';
import { icon } from './icons';
import { Answer } from './markdown';
import { SpokenMarks, placeOfClick, wordAt } from './spoken';

/** A line that follows the previous one after a longer gap shows its time, in milliseconds. */
const PAUSE = 5 * 60_000;

/** Actions of lines. */
export type LineDeeds = Omit<Deeds, 'fold' | 'readFrom'> & { read(text: string): void; undoCorrection(correction: string): void };

interface Kept {
  readonly node: HTMLElement;
  line: ShownLine;
  readonly answer: Answer;
  /** code blocks that the user expanded */
  readonly unfolded: Set<string>;
  /** it starts a section of the transcript and shows its time */
  readonly timed: boolean;
}

export class Transcript {
  readonly element: HTMLElement;
  private readonly scroller: HTMLElement;
  private readonly log: HTMLElement;
  private readonly newest: HTMLElement;
  private readonly lines = new Map<number, Kept>();
  private readonly marks = new SpokenMarks();
  private spoken: View['spoken'];
  private last = 0;
  /** scrolled to the end, and stays there as content is added */
  private following = true;
  private top = 0;

  /** The trailing elements follow the lines. */
  constructor(private readonly strings: Strings, private readonly deeds: LineDeeds, private readonly welcome: HTMLElement, ...end: HTMLElement[]) {
    // Not a live region: the voice has already said what would be announced.
    this.log = el('div', { class: 'log', role: 'log', 'aria-live': 'off', 'aria-label': strings.transcript });
    this.newest = render(button({ class: 'newest', 'data-testid': 'newest', hidden: true }, () => this.toEnd(), icon('down'), strings.newest));
    this.scroller = el('div', { class: 'lines', role: 'region', 'aria-label': strings.transcript, tabindex: '0', 'data-testid': 'transcript' }, welcome, this.log, ...end);
    this.scroller.addEventListener('scroll', () => {
      // Only the user scrolls up; added content and a smaller height do not.
      const { scrollTop } = this.scroller;
      this.following = this.atEnd() || (this.following && scrollTop >= this.top);
      this.top = scrollTop;
      show(this.newest, !this.following);
    });
    this.scroller.addEventListener('keydown', (event) => {
      const target = event.target as HTMLElement;
      if (event.key === 'Enter' && target.matches('a[role="link"]')) {
        target.click();
      }
    });
    this.log.addEventListener('click', (event) => this.clicked(event.target as HTMLElement));
    const resized = new ResizeObserver(() => this.following && this.toEnd());
    for (const part of [this.scroller, welcome, this.log, ...end]) {
      resized.observe(part);
    }
    this.element = el('div', { class: 'transcript' }, this.scroller, this.newest);
  }

  get empty(): boolean {
    return this.lines.size === 0;
  }

  /** Updates new and changed lines in place, and removes lines that are not kept. */
  render(lines: readonly ShownLine[], keep: readonly number[] | undefined, spoken: View['spoken']): void {
    if (keep !== undefined) {
      const wanted = new Set(keep);
      for (const [id, { node }] of this.lines) {
        if (!wanted.has(id)) {
          node.remove();
          this.lines.delete(id);
        }
      }
    }
    for (const line of lines) {
      this.put(line);
    }
    this.order(keep ?? []);
    const changed = spoken?.line !== this.spoken?.line || spoken?.from !== this.spoken?.from || spoken?.to !== this.spoken?.to;
    this.spoken = spoken;
    if (changed || lines.some((l) => l.id === spoken?.line)) {
      this.marks.show(spoken === undefined ? undefined : this.lines.get(spoken.line)?.node, spoken?.from ?? 0, spoken?.to ?? 0);
      if (changed) {
        this.lines.forEach(({ node }, id) => node.classList.toggle('now', id === spoken?.line));
      }
    }
  }

  /** Shows the end, and keeps showing it as content is added. */
  toEnd(): void {
    this.following = true;
    // Without lines, the welcome page shows from its top.
    this.scroller.scrollTop = this.empty && !this.welcome.hidden ? 0 : this.scroller.scrollHeight;
    show(this.newest, false);
  }

  private atEnd(): boolean {
    return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight < 24;
  }

  /** Moves only nodes that are out of place, because a moved line loses its focus. */
  private order(ids: readonly number[]): void {
    let at = this.log.firstChild;
    for (const id of ids) {
      const node = this.lines.get(id)?.node;
      if (node === at) {
        at = at?.nextSibling ?? null;
      } else if (node !== undefined) {
        this.log.insertBefore(node, at);
      }
    }
  }

  private put(line: ShownLine): void {
    const kept = this.lines.get(line.id);
    if (kept !== undefined) {
      kept.line = line;
      render(this.spec(kept), kept.node);
      return;
    }
    const at = Date.parse(line.time);
    const made: Omit<Kept, 'node'> = { line, answer: new Answer(), unfolded: new Set(), timed: line.kind === 'speech' && at - this.last > PAUSE };
    this.last = at;
    const node = render(this.spec(made));
    this.log.append(node);
    this.lines.set(line.id, { ...made, node });
  }

  private spec(kept: Omit<Kept, 'node'>): Spec {
    const { line, timed } = kept;
    const { strings } = this;
    const attributes = { 'data-testid': 'line', 'data-kind': line.kind, 'data-who': line.who, 'data-final': String(line.final), 'data-line': String(line.id) };
    if (line.kind === 'divider') {
      return h('div', { class: 'divider', ...attributes }, h('span', {}, line.text));
    }
    if (line.call !== undefined) {
      // While the call awaits approval, the approval shows it.
      return h('div', { class: 'tool', ...attributes, hidden: line.call.status === 'waitingForApproval' }, ...this.call(line.call));
    }
    const mine = line.who === 'user';
    return h('article', { class: `speech ${line.who}${line.final ? '' : ' live'}`, ...attributes },
      ...(timed ? [h('time', { key: 'time', datetime: line.time }, clock(line.time))] : []),
      h('span', { key: 'who', class: 'sr' }, line.name),
      h('div', { key: 'said', class: 'said', 'data-testid': 'line-text', dir: mine ? 'auto' : undefined }, ...(mine ? [line.text] : this.answer(kept))),
      ...(line.note === undefined ? [] : [h('span', { key: 'note', class: 'note', 'data-testid': 'line-note' }, line.note)]),
      ...(line.correction === undefined ? [] : [this.undo(line.correction)]),
      ...(mine || !line.final || line.text === '' ? [] : [h('div', { key: 'acts', class: 'acts' },
        this.act('speaker', strings.readAloud, 'read', () => this.read(kept.line, 0)),
        this.act('copy', strings.copyAnswer, 'copy', () => this.deeds.copy(kept.line.text)))]));
  }

  private undo(correction: string): Spec {
    const { undo, undoCorrection } = this.strings;
    return button({ key: 'undo', class: 'undo', 'data-testid': 'undo-correction', title: undoCorrection }, () => this.deeds.undoCorrection(correction), undo);
  }

  private act(picture: string, title: string, name: string, run: () => void): Spec {
    return button({ class: 'quiet', 'data-testid': `answer-${name}`, 'aria-label': title, title }, run, icon(picture));
  }

  private answer({ line, answer, unfolded }: Omit<Kept, 'node'>): Spec[] {
    const { id, text } = line;
    const deeds: Deeds = {
      ...this.deeds,
      readFrom: (at) => this.read(line, at),
      fold: (key) => {
        unfolded.delete(key) || unfolded.add(key);
        const kept = this.lines.get(id);
        if (kept !== undefined) {
          render(this.spec(kept), kept.node);
        }
      },
    };
    return new Look(text, line.heard ?? Number.POSITIVE_INFINITY, unfolded, this.strings, deeds).blocks(answer.parse(text, line.final), line.final);
  }

  /** A click on unheard text, or in the answer being spoken, reads from that word. */
  private clicked(target: HTMLElement): void {
    const line = target.closest<HTMLElement>('[data-line]');
    const kept = this.lines.get(Number(line?.dataset['line']));
    if (kept === undefined || target.closest('a, button') !== null || (target.closest('.unheard') === null && this.spoken?.line !== kept.line.id)) {
      return;
    }
    const at = placeOfClick();
    if (at !== undefined) {
      this.read(kept.line, wordAt(kept.line.text, at));
    }
  }

  /** Reads an answer to its end, from a position in one of its parts. */
  private read(line: ShownLine, at: number): void {
    const rest = [...this.lines.values()].filter(({ line: l }) => l.id > line.id && Math.floor(l.id) === Math.floor(line.id));
    this.deeds.read([line.text.slice(at), ...rest.map((kept) => kept.line.text)].join(''));
  }

  private call(call: ShownCall): Child[] {
    return [
      icon('tool'),
      h('span', { class: 'tool-status', 'data-testid': 'tool-status', 'data-status': call.status, 'data-tool': call.name }, ...call.row.map((part) => (part.code ? h('code', {}, part.text) : h('span', {}, part.text)))),
      ...(call.input === '' ? [] : [h('details', {}, h('summary', {}, this.strings.input), h('pre', { tabindex: '0' }, h('code', {}, call.input)))]),
    ];
  }
}

function clock(time: string): string {
  return new Date(time).toLocaleTimeString(document.documentElement.lang, { hour: 'numeric', minute: '2-digit' });
}

