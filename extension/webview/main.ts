// The panel's page. It renders the last view that the extension sent, and forwards the user's
// actions unchanged.

import type { FromPage, Strings, ToPage } from '../src/panelwire';
import type { ShownLine, View } from '../src/view';
import { Page } from './page';

interface Api {
  postMessage(message: FromPage): void;
}

declare function acquireVsCodeApi(): Api;

const api = acquireVsCodeApi();
const send = (message: FromPage): void => api.postMessage(message);
let page: Page | undefined;

window.addEventListener('message', (event: MessageEvent<ToPage>) => {
  const message = event.data;
  switch (message.type) {
    case 'init':
      page ??= begin(message.strings, message.locale); // it is also the answer to ready
      break;
    case 'view':
      page?.render(message.view, message.lines, message.keep);
      stamp(message.view, message.lines);
      break;
    case 'level':
      page?.level(message.input, message.output);
      break;
  }
});

function begin(strings: Strings, locale: string): Page {
  document.documentElement.lang = locale;
  return new Page(document.body, strings, send);
}

/** Marks when a label was rendered, for measurements. */
function stamp(view: View, _lines: readonly ShownLine[]): void {
  document.body.dataset['seq'] = String(view.seq);
  document.body.dataset['rendered'] = String(Date.now());
}

// VS Code sets this class, possibly later; no API reports it to an extension.
let reader = false;
function lookForReader(): void {
  const now = document.body.classList.contains('vscode-using-screen-reader');
  if (now && !reader) {
    send({ type: 'screenReader' });
  }
  reader = now;
}

new MutationObserver(lookForReader).observe(document.body, { attributes: true, attributeFilter: ['class'] });
send({ type: 'ready' });
lookForReader();
