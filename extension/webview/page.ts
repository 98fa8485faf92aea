// The page and its single render function.

import type { FromPage, Strings } from '../src/panelwire';
import type { PanelCommand } from '../src/remedies';
import type { ShownLine, View } from '../src/view';
import { Approval } from './approval';
import { Dock } from './dock';
import { button, el, h, patch, setAttribute, setText, show } from './dom';
import { icon } from './icons';
import { Transcript } from './transcript';
import { Welcome } from './welcome';

export class Page {
  private view: View | undefined;
  private readonly problem = el('section', { class: 'problem', role: 'alert', 'aria-live': 'assertive', 'data-testid': 'problem', hidden: true });
  private readonly notice = el('p', { class: 'notice', role: 'status', 'data-testid': 'notice', hidden: true });
  private readonly approval: Approval;
  private readonly caption: HTMLElement;
  private readonly queue = el('p', { class: 'queue', role: 'status', 'data-testid': 'queue', hidden: true });
  private readonly done = el('p', { class: 'sr', role: 'status', 'aria-live': 'polite', 'data-testid': 'done' });
  private readonly welcome: Welcome;
  private readonly transcript: Transcript;
  private readonly dock: Dock;

  constructor(
    private readonly body: HTMLElement,
    private readonly strings: Strings,
    private readonly send: (message: FromPage) => void,
  ) {
    const run = (command: PanelCommand): void => this.run(command);
    this.approval = new Approval(strings, ({ callId, hash }, approved) => send({ type: 'approve', callId, hash, approved }));
    this.caption = el('p', { class: 'caption', 'data-testid': 'caption', 'aria-label': strings.caption, role: 'group', hidden: true });
    this.welcome = new Welcome(strings, run);
    this.transcript = new Transcript(strings, {
      open: (file) => send({ type: 'open', file }),
      copy: (text) => {
        send({ type: 'copy', text });
        this.done.textContent = ''; // so that a repeated message is announced again
        this.done.textContent = strings.copied;
      },
      insert: (text, language) => send({ type: 'insert', text, language }),
      read: (text) => send({ type: 'read', text }),
      undoCorrection: (correction) => send({ type: 'undoCorrection', correction }),
    }, this.welcome.element, this.caption, this.queue, this.approval.element);
    this.dock = new Dock(strings, send);
    body.replaceChildren(el('main', { 'aria-label': strings.region }, this.transcript.element, this.notice, this.problem, this.dock.element, this.done));
    body.addEventListener('keydown', (event) => {
      const composing = event.isComposing || event.keyCode === 229; // Escape cancels an input method's composition
      if (event.key === 'Escape' && !composing && this.view?.active === true) {
        this.run('agentvoice.stopSpeaking');
      }
    });
  }

  private run(command: PanelCommand): void {
    this.send({ type: 'run', command });
  }

  /** Renders a view. The result does not depend on what was rendered before. */
  render(view: View, lines: readonly ShownLine[], keep: readonly number[] | undefined): void {
    this.view = view;
    const { dataset } = this.body;
    dataset['tone'] = view.approval === undefined ? view.tone : 'asking';
    dataset['state'] = view.state;
    dataset['mic'] = view.mic;
    this.dock.render(view);
    this.renderProblem(view);
    this.renderCaption(view);
    setText(this.queue, view.queue.text);
    show(this.queue, view.queue.count > 0);
    const asks = this.approval.render(view.approval);
    this.transcript.render(lines, keep, view.spoken);
    this.welcome.render(view, this.transcript.empty && view.approval === undefined);
    if (asks) {
      this.transcript.toEnd(); // show an approval wherever the user has scrolled
    }
  }

  private renderProblem(view: View): void {
    const { problem, notice } = view;
    show(this.problem, problem !== undefined);
    patch(this.problem, problem === undefined ? [] : [
      h('div', { class: 'title' }, icon('warning'), h('h2', { 'data-testid': 'problem-message' }, problem.message),
        button({ class: 'quiet', 'data-testid': 'dismiss', 'aria-label': this.strings.dismiss, title: this.strings.dismiss },
          () => this.send({ type: 'dismiss' }), icon('close'))),
      ...(problem.detail === '' ? [] : [h('p', { key: 'detail', class: 'detail', 'data-testid': 'problem-detail' }, problem.detail)]),
      ...(problem.remediation === '' ? [] : [h('p', { key: 'remediation', 'data-testid': 'problem-remediation' }, problem.remediation)]),
      ...problem.then.map((text) => h('p', { class: 'then' }, text)),
      h('div', { key: 'actions', class: 'actions' }, ...problem.remedies.map((r, i) =>
        button({ key: r.command, class: i === 0 ? 'primary' : 'link', 'data-testid': 'remedy', 'data-command': r.command }, () => this.run(r.command), r.title))),
    ]);
    show(this.notice, notice !== undefined);
    setAttribute(this.notice, 'data-severity', notice?.severity);
    setText(this.notice, notice === undefined ? '' : notice.progress === undefined ? notice.message : `${notice.message} ${Math.round(notice.progress * 100)} %`);
  }

  /**
   * The spoken text: visible if the transcript does not contain it, else only for screen readers.
   * With a screen reader it is not a live region while the voice speaks, because both voices would
   * say the same at once. Without a voice, the reader announces it.
   */
  private renderCaption({ caption }: View): void {
    const reader = this.body.classList.contains('vscode-using-screen-reader');
    setAttribute(this.caption, 'aria-live', caption?.audible === true && reader ? 'off' : 'polite');
    setAttribute(this.caption, 'class', caption?.apart === true ? 'caption' : 'caption sr');
    show(this.caption, caption !== undefined);
    setText(this.caption, caption?.text.replace(/\s+/g, ' ') ?? '');
  }

  level(input: number, output: number): void {
    this.dock.level(input, output);
  }
}
