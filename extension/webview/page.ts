// The page and its one render function.

import type { FromPage, Strings } from '../src/panelwire';
import type { PanelCommand } from '../src/remedies';
import type { Piece, ShownCall, ShownLine, View } from '../src/view';
import { el, replace, setAttribute, setText, show } from './dom';
import { icon } from './icons';
import { blocks, cut } from './markdown';
import { Transcript } from './transcript';

export class Page {
  private readonly send: (message: FromPage) => void;
  private view: View | undefined;

  private readonly state = el('p', { class: 'state', role: 'status', 'aria-live': 'polite', 'aria-atomic': 'true', 'data-testid': 'state' });
  private readonly glyph = el('span', { class: 'glyph', 'aria-hidden': 'true', 'data-testid': 'state-glyph' });
  private readonly label = el('span', { class: 'label', 'data-testid': 'state-label' });
  private readonly hint = el('p', { class: 'hint', 'data-testid': 'hint' });
  private readonly orb = el('div', { class: 'orb', 'aria-hidden': 'true' }, el('span', { class: 'halo' }), el('span', { class: 'core' }));
  private readonly mic = el('div', { class: 'mic', 'data-testid': 'mic' });
  private readonly micIcon = el('span', { class: 'mic-icon', 'aria-hidden': 'true' });
  private readonly micText = el('span', { class: 'mic-text', role: 'status', 'aria-live': 'polite', 'data-testid': 'mic-text' });
  private readonly meter: HTMLElement;
  private readonly meterFill = el('span', { class: 'fill' });
  private readonly stage: HTMLElement;
  private readonly controls: HTMLElement;
  private readonly hold: HTMLButtonElement;
  private readonly problem = el('section', { class: 'problem', role: 'alert', 'aria-live': 'assertive', 'data-testid': 'problem', hidden: true });
  private readonly notice = el('p', { class: 'notice', role: 'status', 'data-testid': 'notice', hidden: true });
  private readonly approval: HTMLElement;
  private readonly caption: HTMLElement;
  private readonly captionHeard = el('span', { class: 'heard', 'data-testid': 'caption-heard' });
  private readonly captionRest = el('span', { class: 'rest', 'data-testid': 'caption-rest' });
  private readonly queue = el('p', { class: 'queue', role: 'status', 'data-testid': 'queue', hidden: true });
  private readonly transcript: Transcript;
  private readonly context = el('div', { class: 'context', role: 'group', 'data-testid': 'context' });
  private readonly facts = el('dl', { class: 'facts', 'data-testid': 'facts' });
  private readonly factsLine = el('span', { class: 'facts-line', 'data-testid': 'session' });

  constructor(
    body: HTMLElement,
    private readonly strings: Strings,
    send: (message: FromPage) => void,
  ) {
    this.send = send;
    this.state.append(this.glyph, this.label);
    this.meter = el('span', { class: 'meter', 'aria-hidden': 'true', 'data-testid': 'level' }, this.meterFill);
    this.mic.append(this.micIcon, this.micText, this.meter);
    this.stage = el('section', { class: 'stage', 'data-testid': 'stage' },
      el('div', { class: 'headline' }, this.orb, el('div', { class: 'words' }, this.state, this.hint)),
      this.mic);
    this.controls = el('div', { class: 'controls', role: 'toolbar', 'aria-label': strings.controls, 'data-testid': 'controls' });
    this.hold = this.holdButton();
    this.approval = el('section', { class: 'approval', 'data-testid': 'approval', 'aria-label': strings.approvalTitle, hidden: true });
    this.caption = el('p', { class: 'caption', 'data-testid': 'caption', 'aria-label': strings.caption, role: 'group', hidden: true },
      this.captionHeard, this.captionRest);
    this.transcript = new Transcript(strings);
    this.context.setAttribute('aria-label', strings.context);
    body.replaceChildren(
      el('main', { 'aria-label': strings.region },
        this.stage, this.controls, this.hold, this.problem, this.notice, this.approval, this.caption,
        this.transcript.element, this.queue,
        el('footer', { class: 'foot' }, this.composer(), this.context,
          el('details', { class: 'more', 'data-testid': 'details' },
            el('summary', { title: strings.details }, this.factsLine), this.facts))),
    );
    body.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.view?.active === true) {
        this.run('agentvoice.stopSpeaking');
      }
    });
  }

  private run(command: PanelCommand): void {
    this.send({ type: 'run', command });
  }

  /** Puts a view on the page. Whatever was there before, the page is the same afterwards. */
  render(view: View, lines: readonly ShownLine[], keep: readonly number[] | undefined): void {
    this.view = view;
    const body = this.state.ownerDocument.body;
    body.dataset['tone'] = view.tone;
    body.dataset['state'] = view.state;
    this.renderState(view);
    this.renderControls(view);
    this.renderProblem(view);
    this.renderApproval(view.approval);
    this.renderCaption(view);
    this.transcript.render(lines, keep);
    setText(this.queue, view.queue.text);
    show(this.queue, view.queue.count > 0);
    this.renderContext(view);
    this.renderFacts(view);
  }

  private renderState(view: View): void {
    setAttribute(this.stage, 'data-tone', view.tone);
    setAttribute(this.state, 'data-state', view.state);
    setText(this.glyph, view.glyph);
    setText(this.label, view.label);
    setText(this.hint, view.hint);
    setAttribute(this.mic, 'data-mic', view.mic);
    setText(this.micText, view.micText);
    const picture = view.mic === 'muted' || view.mic === 'closed' ? 'mic-off' : view.mic === 'paused' ? 'pause' : 'mic';
    replace(this.micIcon, picture, () => [icon(picture)]);
    if (view.mic !== 'open') {
      this.level(0, 0);
    }
  }

  private renderControls(view: View): void {
    const list = view.primary === undefined ? view.buttons : [view.primary, ...view.buttons];
    const key = JSON.stringify([view.primary !== undefined, list]);
    const had = this.controls.contains(document.activeElement) ? document.activeElement?.getAttribute('data-testid') : undefined;
    const changed = replace(this.controls, key, () =>
      list.map((b) => {
        const button = el('button', {
          type: 'button',
          class: view.primary === b ? 'primary' : b.command === 'agentvoice.end' ? 'secondary end' : 'secondary',
          'data-testid': testId(b.command),
          'aria-pressed': b.pressed === undefined ? undefined : String(b.pressed),
          title: b.title,
        }, icon(b.icon), el('span', { class: 'text' }, b.title));
        button.addEventListener('click', () => this.run(b.command));
        return button;
      }));
    if (changed && had !== undefined) { // focus does not get lost with a button that is gone
      const same = [...this.controls.querySelectorAll('button')].find((b) => b.dataset['testid'] === had);
      (same ?? this.controls.querySelector('button'))?.focus();
    }
    show(this.hold, view.hold !== undefined);
    setAttribute(this.hold, 'aria-pressed', String(view.hold?.down === true));
    const text = this.hold.querySelector('.text');
    if (text !== null) {
      setText(text, view.hold?.down === true ? this.strings.holding : this.strings.holdToTalk);
    }
  }

  private holdButton(): HTMLButtonElement {
    const button = el('button', { type: 'button', class: 'hold', 'data-testid': 'hold', hidden: true }, icon('mic'),
      el('span', { class: 'text' }, this.strings.holdToTalk));
    const hold = (down: boolean) => (event: Event): void => {
      event.preventDefault();
      this.send({ type: 'hold', down });
    };
    const isKey = (e: KeyboardEvent): boolean => e.key === ' ' || e.key === 'Enter';
    button.addEventListener('pointerdown', (e) => {
      button.setPointerCapture(e.pointerId);
      hold(true)(e);
      button.focus();
    });
    button.addEventListener('pointerup', hold(false));
    button.addEventListener('pointercancel', hold(false));
    button.addEventListener('keydown', (e) => isKey(e) && !e.repeat && hold(true)(e));
    button.addEventListener('keyup', (e) => isKey(e) && hold(false)(e));
    button.addEventListener('blur', () => this.view?.hold?.down === true && this.send({ type: 'hold', down: false }));
    button.addEventListener('contextmenu', (e) => e.preventDefault());
    return button;
  }

  private renderProblem(view: View): void {
    const { problem, notice } = view;
    show(this.problem, problem !== undefined);
    replace(this.problem, problem === undefined ? '' : JSON.stringify(problem), () => {
      if (problem === undefined) {
        return [];
      }
      const dismiss = el('button', { type: 'button', class: 'quiet', 'data-testid': 'dismiss', 'aria-label': this.strings.dismiss, title: this.strings.dismiss }, icon('close'));
      dismiss.addEventListener('click', () => this.send({ type: 'dismiss' }));
      return [
        el('div', { class: 'title' }, icon('warning'), el('h2', { 'data-testid': 'problem-message' }, problem.message), dismiss),
        ...(problem.detail === '' ? [] : [el('p', { class: 'detail', 'data-testid': 'problem-detail' }, problem.detail)]),
        ...(problem.remediation === '' ? [] : [el('p', { 'data-testid': 'problem-remediation' }, problem.remediation)]),
        ...problem.then.map((text) => el('p', { class: 'then' }, text)),
        el('div', { class: 'actions' }, ...problem.remedies.map((r, i) => {
          const button = el('button', { type: 'button', class: i === 0 ? 'primary' : 'secondary', 'data-testid': 'remedy', 'data-command': r.command }, r.title);
          button.addEventListener('click', () => this.run(r.command));
          return button;
        })),
      ];
    });
    show(this.notice, notice !== undefined && problem === undefined);
    setAttribute(this.notice, 'data-severity', notice?.severity);
    setText(this.notice, notice === undefined ? '' : notice.progress === undefined ? notice.message : `${notice.message} ${Math.round(notice.progress * 100)} %`);
  }

  private renderApproval(call: ShownCall | undefined): void {
    show(this.approval, call !== undefined);
    replace(this.approval, call === undefined ? '' : JSON.stringify(call), () => {
      if (call === undefined) {
        return [];
      }
      const answer = (approved: boolean, text: string, name: string, kind: string): HTMLButtonElement => {
        const button = el('button', { type: 'button', class: kind, 'data-testid': name }, text);
        button.addEventListener('click', () => this.send({ type: 'approve', callId: call.callId, approved }));
        return button;
      };
      const { strings } = this;
      return [
        el('div', { class: 'title' }, icon('tool'), el('h2', {}, strings.approvalTitle)),
        el('p', { class: 'question', role: 'status', 'data-testid': 'approval-question' }, call.question),
        el('p', { class: 'call', 'data-testid': 'approval-name' }, el('code', {}, call.name)),
        call.input === ''
          ? el('p', { class: 'muted' }, strings.noInput)
          : el('pre', { class: 'input', tabindex: '0', role: 'group', 'aria-label': strings.input, 'data-testid': 'approval-input' }, el('code', {}, call.input)),
        ...(call.destructive ? [el('p', { class: 'careful', 'data-testid': 'approval-destructive' }, icon('warning'), strings.destructive)] : []),
        el('div', { class: 'actions' },
          answer(true, strings.allow, 'approve', 'primary'),
          answer(false, strings.reject, 'reject', 'secondary'),
          el('span', { class: 'muted' }, strings.approvalOnce)),
      ];
    });
  }

  /**
   * What is being said. While it can be heard it is no live region where a screen
   * reader runs: two voices would say the same at once.
   */
  private renderCaption(view: View): void {
    const { caption } = view;
    const reader = document.body.classList.contains('vscode-using-screen-reader');
    const quiet = caption?.audible === true && reader;
    setAttribute(this.caption, 'aria-live', quiet ? 'off' : 'polite');
    show(this.caption, caption !== undefined);
    const text = caption?.text ?? '';
    const heard = [...text].slice(0, caption?.heard ?? 0).join('').length;
    const said = (piece: string): string => piece.replace(/\s+/g, ' ');
    const pieces = blocks(text).flatMap((b) => (b.kind === 'fence' ? [] : b.pieces)).map((p) => cut(p, heard));
    setText(this.captionHeard, said(pieces.map(([before]) => before).join('')));
    setText(this.captionRest, said(pieces.map(([, after]) => after).join('')));
  }

  private composer(): HTMLElement {
    const input = el('textarea', { rows: '1', class: 'input', 'data-testid': 'composer', placeholder: this.strings.composer, 'aria-label': this.strings.composer });
    const button = el('button', { type: 'submit', class: 'quiet', 'data-testid': 'send', 'aria-label': this.strings.send, title: this.strings.send }, icon('send'));
    const form = el('form', { class: 'composer' }, input, button);
    const say = (): void => {
      const text = input.value.trim();
      input.value = ''; // first: what was sent cannot be sent twice
      if (text !== '') {
        this.send({ type: 'say', text });
      }
    };
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      say();
    });
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        say();
      }
    });
    return form;
  }

  private renderContext(view: View): void {
    const chip = (p: Piece): HTMLElement => {
      const button = el('button', {
        type: 'button', class: p.on && p.present ? 'chip on' : 'chip', 'data-testid': `context-${p.key}`, 'aria-pressed': String(p.on),
        'aria-label': `${p.title}: ${p.detail}, ${p.on && p.present ? this.strings.contextOn : this.strings.contextOff}`, title: `${p.title}: ${p.detail}`,
      }, icon(p.key), el('span', { class: 'text' }, p.detail));
      button.addEventListener('click', () => this.send({ type: 'context', key: p.key, on: !p.on }));
      return button;
    };
    const focused = document.activeElement?.getAttribute('data-testid');
    const changed = replace(this.context, JSON.stringify([view.context, view.contextOff]), () => [
      el('span', { class: 'context-title' }, view.contextOff !== '' ? view.contextOff : view.context.length === 0 ? this.strings.contextNone : this.strings.context),
      ...(view.contextOff === '' ? view.context.map(chip) : []),
    ]);
    if (changed && focused?.startsWith('context-') === true) {
      this.context.querySelector<HTMLElement>(`[data-testid="${focused}"]`)?.focus();
    }
  }

  private renderFacts(view: View): void {
    const { facts } = view;
    const { strings } = this;
    setText(this.factsLine, [facts.provider, facts.session, facts.model].filter((f) => f !== '').join(' · '));
    const rows: [name: string, value: string, picture: string, test: string, command: PanelCommand][] = [
      [strings.microphone, facts.microphone, 'mic', 'microphone', 'agentvoice.selectMicrophone'],
      [strings.speaker, facts.speaker, 'speaker', 'speaker', 'agentvoice.selectSpeaker'],
      [strings.model, facts.model, 'spark', 'model', 'agentvoice.selectModel'],
      [strings.service, facts.provider, 'cloud', 'provider', 'agentvoice.openSettings'],
    ];
    replace(this.facts, JSON.stringify(rows), () =>
      rows.map(([name, value, picture, test, command]) => {
        const button = el('button', { type: 'button', class: 'fact', 'data-testid': test, 'aria-label': `${name}: ${value}` }, icon(picture), el('span', { class: 'text' }, value));
        button.addEventListener('click', () => this.run(command));
        return el('div', {}, el('dt', {}, name), el('dd', {}, button));
      }));
  }

  /** Levels of both voices, 0 to 1, as a share of full scale: shown on a scale of decibels, as ears do. */
  level(input: number, output: number): void {
    const muted = this.view?.mic !== 'open';
    const heard = muted ? 0 : loudness(input);
    this.meterFill.style.setProperty('--level', heard.toFixed(3));
    this.orb.style.setProperty('--level', Math.max(heard, this.view?.tone === 'speaking' ? loudness(output) : 0).toFixed(3));
  }
}

/** 0 at -54 dB of full scale and below, 1 at -6 dB. */
function loudness(level: number): number {
  return level <= 0 ? 0 : Math.min(1, Math.max(0, (20 * Math.log10(level) + 54) / 48));
}

/** agentvoice.stopSpeaking is stop-speaking for a test. */
function testId(command: string): string {
  return command.replace('agentvoice.', '').replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`);
}
