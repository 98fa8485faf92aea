// The panel's page in a DOM, for tests.

import assert from 'node:assert/strict';
import type { Element, HTMLElement, Range, Window } from 'happy-dom' with { 'resolution-mode': 'import' };
import { type Model, START } from '../src/model';
import type { FromPage, ToPage } from '../src/panelwire';
import type { Snapshot, State } from '../src/protocol.gen';
import { strings } from '../src/strings';
import { english } from '../src/text';
import type { Line } from '../src/transcript';
import { type Surroundings, present, shownLines } from '../src/view';
import { bundled } from './bundled';

/** The script of the page, as in the package. */
export const source = bundled('main.ts');

/** A window without context. */
export const around: Surroundings = {
  provider: 'local', model: 'Model', microphone: 'Mic', speaker: 'Speaker', context: [], trusted: true,
};

/** A model in a state. */
export const inState = (state: State, over: Partial<Model> = {}, snapshot: Partial<Snapshot> = {}): Model => ({
  ...START,
  daemon: 'running',
  snapshot: {
    state, since: '', metadata: { sessionId: '' }, localizedLabel: `● ${state}`, queue: { count: 0, ids: [] }, paused: { conversation: false, voice: false }, session: { state: 'ready' },
    connection: { state: 'open', epoch: 1 }, microphone: { open: true, muted: false, wake: false, mode: 'automatic', seq: 1 }, seq: 3, ...snapshot,
  },
  ...over,
});

export const MUTED: Partial<Snapshot> = { microphone: { open: true, muted: true, mutedBy: 'user', wake: false, mode: 'automatic', seq: 2 } };

/** A line of the transcript. */
export const line = (over: Partial<Line>): Line => ({
  id: 1, kind: 'speech', conversation: 1, turnId: 't', role: 'assistant', text: '', final: false, at: 0, ...over,
});

/** The page, with the messages it sent. */
export class Panel {
  readonly sent: FromPage[] = [];
  /** highlighted text, by name of the highlight */
  readonly marks = new Map<string, Set<Range>>();
  private readonly timers: (() => void)[] = [];
  private readonly shown = shownLines(english);

  private constructor(readonly window: Window) {
    const globals = {
      window, document: window.document, Node: window.Node, ResizeObserver: window.ResizeObserver, DOMParser: window.DOMParser, MutationObserver: window.MutationObserver,
      CSS: { highlights: this.marks }, Highlight: Set,
      setTimeout: (f: () => void) => this.timers.push(f), clearTimeout: () => undefined,
      acquireVsCodeApi: () => ({ postMessage: (message: FromPage) => this.sent.push(message) }),
    };
    const run = new Function(...Object.keys(globals), source) as (...globals: unknown[]) => void;
    run(...Object.values(globals));
    this.post({ type: 'init', strings: strings(english), locale: 'en' });
    this.sent.length = 0;
  }

  static async open(): Promise<Panel> {
    const { Window } = await import('happy-dom');
    return new Panel(new Window());
  }

  post(data: ToPage): void {
    this.window.dispatchEvent(new this.window.MessageEvent('message', { data }));
  }

  show(model: Model, surroundings: Surroundings = around): void {
    this.post({ type: 'view', view: present(model, surroundings, english), lines: this.shown(model.lines) });
  }

  /** Waits until new elements accept presses. */
  elapse(): void {
    this.timers.splice(0).forEach((f) => f());
  }

  get(testId: string): HTMLElement {
    const found = this.window.document.querySelector(`[data-testid="${testId}"]`);
    assert.ok(found, `there is no ${testId}`);
    return found as HTMLElement;
  }

  all(selector: string): HTMLElement[] {
    return [...this.window.document.querySelectorAll(selector)] as HTMLElement[];
  }

  /** The text under a highlight. */
  marked(name: string): string {
    return [...(this.marks.get(name) ?? [])].map((r) => r.toString()).join('');
  }

  buttons(): Element[] {
    return [...this.get('controls').querySelectorAll('button')];
  }

  press(node: Element): void {
    node.dispatchEvent(new this.window.PointerEvent('pointerdown', { bubbles: true }));
  }

  release(node: Element): void {
    if (node.isConnected) { // a browser cannot click a removed node
      node.dispatchEvent(new this.window.MouseEvent('click', { bubbles: true, detail: 1 }));
    }
  }

  click(node: Element): void {
    this.press(node);
    this.release(node);
  }
}
