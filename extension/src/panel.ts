// The view in the side bar: sends its page views as the model changes, and forwards the user's actions.

import * as vscode from 'vscode';
import type { FromPage, ToPage } from './panelwire';
import type { ShownLine, View } from './view';

/** The id of the view in package.json. */
export const PANEL = 'agentvoice.panel';

/** Feed provides the page's contents. */
export interface Feed {
  init(): ToPage & { type: 'init' };
  view(): View;
  /** All lines; unchanged lines keep their identity. */
  lines(): readonly ShownLine[];
  /** Registers f for possible changes of the view or lines. */
  onChange(f: () => void): () => void;
  onLevel(f: (input: number, output: number) => void): () => void;
  /** An action of the user on the page. */
  received(message: Exclude<FromPage, { type: 'ready' }>): void;
}

/**
 * The time, in milliseconds, within which the messages about a transition arrive. Sent one by one they make the page
 * paint a frame for each, and the label waits for the earlier frames.
 */
const TOGETHER = 5;

/** Page sends a page what it does not have yet. */
export class Page {
  private sentLines = new Map<number, ShownLine>();
  private sentView = '';
  private ready = false;
  private scheduled = false;

  constructor(
    private readonly post: (message: ToPage) => void,
    private readonly feed: Feed,
  ) {}

  /** The page was loaded or reloaded, and is empty. */
  loaded(): void {
    this.ready = true;
    this.sentLines = new Map();
    this.sentView = '';
    this.post(this.feed.init());
    this.flush();
  }

  /** Something changed. The daemon's messages about one transition are shown together. */
  changed(): void {
    if (this.ready && !this.scheduled) {
      this.scheduled = true;
      setTimeout(() => {
        this.scheduled = false;
        this.flush();
      }, TOGETHER);
    }
  }

  level(input: number, output: number): void {
    if (this.ready) {
      this.post({ type: 'level', input, output });
    }
  }

  private flush(): void {
    const view = this.feed.view();
    const lines = this.feed.lines();
    const fresh = lines.filter((l) => this.sentLines.get(l.id) !== l);
    const first = lines.findIndex((l) => !this.sentLines.has(l.id));
    const between = first >= 0 && lines.slice(first).some((l) => this.sentLines.has(l.id)); // cleared or missed lines reappeared
    const gone = this.sentLines.size + fresh.filter((l) => !this.sentLines.has(l.id)).length !== lines.length;
    const text = JSON.stringify(view);
    if (text === this.sentView && fresh.length === 0 && !gone) {
      return;
    }
    this.sentView = text;
    this.sentLines = new Map(lines.map((l) => [l.id, l]));
    this.post({ type: 'view', view, lines: fresh, ...(gone || between ? { keep: lines.map((l) => l.id) } : {}) });
  }
}

/** Connects the panel's page in a view with the feed; the result disconnects it. */
export function connect(view: vscode.WebviewView, feed: Feed): vscode.Disposable {
  const { webview } = view;
  const page = new Page((message) => void webview.postMessage(message), feed);
  page.loaded(); // VS Code keeps it until the page is there, which is sooner than when the page could ask
  return vscode.Disposable.from(
    webview.onDidReceiveMessage((message: FromPage) => {
      if (message.type === 'ready') {
        page.loaded();
      } else {
        feed.received(message);
      }
    }),
    { dispose: feed.onChange(() => page.changed()) },
    { dispose: feed.onLevel((input, output) => view.visible && page.level(input, output)) },
  );
}
