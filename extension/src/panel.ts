// The view in the side bar: provides the page's frame, sends it views as the model changes, and forwards the
// user's actions.

import { randomBytes } from 'node:crypto';
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

  /** Something changed. Changes caused by one message of the daemon are sent together. */
  changed(): void {
    if (this.ready && !this.scheduled) {
      this.scheduled = true;
      queueMicrotask(() => {
        this.scheduled = false;
        this.flush();
      });
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

/** Content security policy: only the page's own style and script. */
export function html(nonce: string, source: string, script: string, style: string, title: string): string {
  const policy = [
    "default-src 'none'",
    `style-src ${source}`,
    `script-src 'nonce-${nonce}'`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title.replace(/[<&]/g, '')}</title>
<link rel="stylesheet" href="${style}">
</head>
<body>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>
`;
}

/** Fills a view with the panel's page; the result disposes of it. */
export function fill(view: vscode.WebviewView, extensionUri: vscode.Uri, feed: Feed): vscode.Disposable {
  const { webview } = view;
  const dist = vscode.Uri.joinPath(extensionUri, 'dist');
  webview.options = { enableScripts: true, localResourceRoots: [dist] };
  const page = new Page((message) => void webview.postMessage(message), feed);
  const parts: vscode.Disposable[] = [
    webview.onDidReceiveMessage((message: FromPage) => {
      if (message.type === 'ready') {
        page.loaded();
      } else {
        feed.received(message);
      }
    }),
    { dispose: feed.onChange(() => page.changed()) },
    { dispose: feed.onLevel((input, output) => view.visible && page.level(input, output)) },
  ];
  webview.html = html(
    randomBytes(16).toString('base64'),
    webview.cspSource,
    webview.asWebviewUri(vscode.Uri.joinPath(dist, 'panel.js')).toString(),
    webview.asWebviewUri(vscode.Uri.joinPath(dist, 'panel.css')).toString(),
    'Agent Voice',
  );
  return vscode.Disposable.from(...parts);
}
