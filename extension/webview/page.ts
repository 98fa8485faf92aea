// The page and its one render function.

import type { FromPage, Strings } from '../src/panelwire';
import type { PanelCommand } from '../src/remedies';
import type { Piece, ShownCall, ShownLine, View } from '../src/view';
import { Control } from './control';
import { type Spec, arm, button, el, h, patch, setAttribute, setText, show } from './dom';
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
  private readonly start = new Control('agentvoice.start', () => this.run('agentvoice.start'));
  private readonly others = new Map<PanelCommand, Control>();
  private readonly hold: HTMLButtonElement;
  private readonly holdText = el('span', { class: 'text' });
  private readonly problem = el('section', { class: 'problem', role: 'alert', 'aria-live': 'assertive', 'data-testid': 'problem', hidden: true });
  private readonly notice = el('p', { class: 'notice', role: 'status', 'data-testid': 'notice', hidden: true });
  private readonly approval: HTMLElement;
  /** the call whose card is shown */
  private asked = '';
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
    this.controls.append(this.start.element);
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
      const composing = event.isComposing || event.keyCode === 229; // Escape takes back what an input method offers
      if (event.key === 'Escape' && !composing && this.view?.active === true) {
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
    setAttribute(this.hint, 'title', view.hint === '' ? undefined : view.hint); // where it is cut
    setAttribute(this.mic, 'data-mic', view.mic);
    setText(this.micText, view.micText);
    const picture = view.mic === 'muted' || view.mic === 'closed' || view.mic === 'starting' ? 'mic-off' : view.mic === 'paused' ? 'pause' : 'mic';
    patch(this.micIcon, [icon(picture)]);
    if (view.mic !== 'open') {
      this.level(0, 0);
    }
  }

  private renderControls(view: View): void {
    const focused = document.activeElement;
    const stop = this.control('agentvoice.stopSpeaking');
    this.start.update(view.primary);
    for (const b of view.buttons) {
      const shown = b.command !== 'agentvoice.stopSpeaking' || view.primary === undefined;
      this.control(b.command).update(shown ? b : undefined); // Stop is where Start was
    }
    if (focused === this.start.element && this.start.element.hidden) {
      stop.element.focus();
    } else if (focused === stop.element && stop.element.hidden) {
      this.start.element.focus();
    }
    show(this.hold, view.hold !== undefined);
    setAttribute(this.hold, 'aria-pressed', String(view.hold?.down === true));
    setText(this.holdText, view.hold?.down === true ? this.strings.holding : this.strings.holdToTalk);
  }

  /** The button of a command: made at the first view, in the order there. */
  private control(command: PanelCommand): Control {
    let control = this.others.get(command);
    if (control === undefined) {
      control = new Control(command, () => this.run(command));
      this.others.set(command, control);
      this.controls.append(control.element);
    }
    return control;
  }

  private holdButton(): HTMLButtonElement {
    const button = el('button', { type: 'button', class: 'hold', 'data-testid': 'hold', hidden: true }, icon('mic').make(), this.holdText);
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
    patch(this.problem, problem === undefined ? [] : [
      h('div', { class: 'title' }, icon('warning'), h('h2', { 'data-testid': 'problem-message' }, problem.message),
        button({ class: 'quiet', 'data-testid': 'dismiss', 'aria-label': this.strings.dismiss, title: this.strings.dismiss },
          () => this.send({ type: 'dismiss' }), icon('close'))),
      ...(problem.detail === '' ? [] : [h('p', { key: 'detail', class: 'detail', 'data-testid': 'problem-detail' }, problem.detail)]),
      ...(problem.remediation === '' ? [] : [h('p', { key: 'remediation', 'data-testid': 'problem-remediation' }, problem.remediation)]),
      ...problem.then.map((text) => h('p', { class: 'then' }, text)),
      h('div', { key: 'actions', class: 'actions' }, ...problem.remedies.map((r, i) =>
        button({ key: r.command, class: i === 0 ? 'primary' : 'secondary', 'data-testid': 'remedy', 'data-command': r.command }, () => this.run(r.command), r.title))),
    ]);
    show(this.notice, notice !== undefined && problem === undefined);
    setAttribute(this.notice, 'data-severity', notice?.severity);
    setText(this.notice, notice === undefined ? '' : notice.progress === undefined ? notice.message : `${notice.message} ${Math.round(notice.progress * 100)} %`);
  }

  private renderApproval(call: ShownCall | undefined): void {
    show(this.approval, call !== undefined);
    if (call === undefined) {
      this.asked = '';
      patch(this.approval, []);
      return;
    }
    const { strings } = this;
    // The buttons of another call are other buttons: a press on these is no yes to that.
    const answer = (approved: boolean, text: string, name: string, kind: string): Spec =>
      button({ key: `${name} ${call.callId}`, class: kind, 'data-testid': name }, () => this.send({ type: 'approve', callId: call.callId, approved }), text);
    patch(this.approval, [
      h('div', { class: 'title' }, icon('tool'), h('h2', {}, strings.approvalTitle)),
      h('p', { class: 'question', role: 'status', 'data-testid': 'approval-question' }, call.question),
      h('p', { class: 'call', 'data-testid': 'approval-name' }, h('code', {}, call.name)),
      ...call.commands.map((text, i) =>
        h('pre', { key: `command ${i}`, class: 'command', tabindex: '0', role: 'group', 'aria-label': strings.command, 'data-testid': 'approval-command' }, h('code', {}, text))),
      call.input === ''
        ? h('p', { key: 'none', class: 'muted' }, strings.noInput)
        : h('pre', { key: 'input', class: 'input', tabindex: '0', role: 'group', 'aria-label': strings.input, 'data-testid': 'approval-input' }, h('code', {}, call.input)),
      ...(call.destructive ? [h('p', { key: 'destructive', class: 'careful', 'data-testid': 'approval-destructive' }, icon('warning'), call.click ? strings.click : strings.destructive)] : []),
      h('div', { key: 'actions', class: 'actions' },
        answer(true, strings.allow, 'approve', 'primary'),
        answer(false, strings.reject, 'reject', 'secondary'),
        h('span', { class: 'muted' }, strings.approvalOnce)),
    ]);
    if (this.asked !== call.callId) {
      this.asked = call.callId;
      this.approval.querySelectorAll('.actions button').forEach(arm);
    }
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
    const submit = el('button', { type: 'submit', class: 'quiet', 'data-testid': 'send', 'aria-label': this.strings.send, title: this.strings.send }, icon('send').make());
    const form = el('form', { class: 'composer' }, input, submit);
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
    const chip = (p: Piece): Spec =>
      button({
        key: p.key, class: p.on && p.present ? 'chip on' : 'chip', 'data-testid': `context-${p.key}`, 'aria-pressed': String(p.on),
        'aria-label': `${p.title}: ${p.detail}, ${p.on && p.present ? this.strings.contextOn : this.strings.contextOff}`, title: `${p.title}: ${p.detail}`,
      }, () => this.send({ type: 'context', key: p.key, on: !p.on }), icon(p.key), h('span', { class: 'text' }, p.detail));
    patch(this.context, [
      h('span', { class: 'context-title' }, view.contextOff !== '' ? view.contextOff : view.context.length === 0 ? this.strings.contextNone : this.strings.context),
      ...(view.contextOff === '' ? view.context.map(chip) : []),
    ]);
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
    patch(this.facts, rows.map(([name, value, picture, test, command]) =>
      h('div', {}, h('dt', {}, name),
        h('dd', {}, button({ class: 'fact', 'data-testid': test, 'aria-label': `${name}: ${value}` }, () => this.run(command), icon(picture), h('span', { class: 'text' }, value))))));
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
