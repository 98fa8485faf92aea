// The panel's page. It keeps the last view that the extension sent, and render
// puts it on the page; what the user does goes to the extension as it is.

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
      page = begin(message.strings, message.locale);
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

/** When a label was put on the page, for those who measure. */
function stamp(view: View, _lines: readonly ShownLine[]): void {
  document.body.dataset['seq'] = String(view.seq);
  document.body.dataset['rendered'] = String(Date.now());
}

// VS Code marks the page, also later: no API tells an extension.
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
