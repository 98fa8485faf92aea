// The dock at the bottom of the panel: the state, the microphone with its level, the controls, the
// text field, and who answers. Positions are the same in every state.

import type { FromPage, Strings } from '../src/panelwire';
import type { PanelCommand } from '../src/remedies';
import type { Button, Piece, View } from '../src/view';
import { Control } from './control';
import { type Spec, button, el, h, patch, setAttribute, setText, show } from './dom';
import { icon } from './icons';
import { Wave } from './wave';

/** Controls that share a position: at most one of them is enabled. The first visible one takes over the focus of a hidden one. */
const PLACES: readonly (readonly PanelCommand[])[] = [
  ['agentvoice.toggleMute'],
  ['agentvoice.start', 'agentvoice.stopSpeaking', 'agentvoice.retry'],
  ['agentvoice.pause', 'agentvoice.pauseSpeech', 'agentvoice.start'],
  ['agentvoice.end'],
];

export class Dock {
  readonly element: HTMLElement;
  private view: View | undefined;

  private readonly state = el('p', { class: 'state', role: 'status', 'aria-live': 'polite', 'aria-atomic': 'true', 'data-testid': 'state' });
  private readonly glyph = el('span', { class: 'glyph', 'aria-hidden': 'true', 'data-testid': 'state-glyph' });
  private readonly label = el('span', { class: 'label', 'data-testid': 'state-label' });
  private readonly hint = el('p', { class: 'hint', 'data-testid': 'hint' });
  private readonly micText = el('span', { class: 'sr', role: 'status', 'aria-live': 'polite', 'data-testid': 'mic-text' });
  private readonly wave = new Wave();
  private readonly mic: HTMLElement;
  private readonly controls: HTMLElement;
  private readonly known = new Map<PanelCommand, Control>();
  private readonly hold: HTMLButtonElement;
  private readonly holdText = el('span', { class: 'text' });
  private readonly context = el('div', { class: 'context', role: 'group', 'data-testid': 'context' });
  private readonly facts = el('dl', { class: 'facts', 'data-testid': 'facts' });
  private readonly session = el('span', { class: 'text', 'data-testid': 'session' });
  private readonly more: HTMLDetailsElement;

  private readonly input: HTMLTextAreaElement;
  /** a message that was put back */
  private unsent = '';

  constructor(private readonly strings: Strings, private readonly send: (message: FromPage) => void) {
    this.input = el('textarea', { rows: '1', class: 'input', 'data-testid': 'composer', placeholder: strings.composer, 'aria-label': strings.composer });
    this.state.append(this.glyph, this.label);
    this.mic = el('div', { class: 'mic', 'data-testid': 'mic' }, this.micText, this.wave.element);
    this.controls = el('div', { class: 'controls', role: 'toolbar', 'aria-label': strings.controls, 'data-testid': 'controls' });
    for (const command of ['agentvoice.toggleMute', 'agentvoice.start', 'agentvoice.stopSpeaking', 'agentvoice.retry', 'agentvoice.pause', 'agentvoice.pauseSpeech', 'agentvoice.end'] as const) {
      const control = new Control(command, () => this.run(command), command === 'agentvoice.start' ? strings.start : undefined);
      this.known.set(command, control);
      this.controls.append(control.element);
    }
    this.hold = this.holdButton();
    this.context.setAttribute('aria-label', strings.context);
    this.more = this.details();
    this.element = el('footer', { class: 'dock', 'data-testid': 'dock' },
      this.hold,
      el('div', { class: 'status' }, this.state, this.hint, this.mic),
      this.context,
      el('div', { class: 'bar' }, this.composer(), this.controls, this.more));
  }

  private run(command: PanelCommand): void {
    this.send({ type: 'run', command });
  }

  render(view: View): void {
    this.view = view;
    setAttribute(this.state, 'data-state', view.state);
    setText(this.glyph, view.glyph);
    setText(this.label, view.label);
    setText(this.hint, view.hint);
    setAttribute(this.hint, 'title', view.hint === '' ? undefined : view.hint); // for truncated text
    setAttribute(this.mic, 'data-mic', view.mic);
    setText(this.micText, view.micText);
    // Tones already announce it. A screen reader would speak at each change into an open
    // microphone.
    setAttribute(this.state, 'aria-live', view.tones && document.body.classList.contains('vscode-using-screen-reader') ? 'off' : 'polite');
    if (view.mic !== 'open' && view.tone !== 'speaking') {
      this.wave.clear();
    }
    this.renderControls(view);
    this.renderContext(view);
    this.renderFacts(view);
    if (view.unsent !== this.unsent && this.input.value === '') {
      this.input.value = view.unsent;
    }
    this.unsent = view.unsent;
  }

  /** Levels of both voices; shows the one that is speaking. */
  level(input: number, output: number): void {
    if (this.view?.tone === 'speaking') {
      this.wave.add(output);
    } else if (this.view?.mic === 'open') {
      this.wave.add(input);
    }
  }

  private renderControls(view: View): void {
    const focused = document.activeElement;
    const by = (command: PanelCommand): Button | undefined => view.buttons.find((b) => b.command === command);
    const enabled = (command: PanelCommand): boolean => by(command)?.enabled === true;
    const starts = view.primary !== undefined;
    const retries = enabled('agentvoice.retry') && !enabled('agentvoice.stopSpeaking');
    const voice = enabled('agentvoice.pauseSpeech');
    const hidden = new Set<PanelCommand>([
      ...(starts ? ['agentvoice.stopSpeaking', 'agentvoice.retry', 'agentvoice.pause', 'agentvoice.pauseSpeech'] as const : []),
      retries ? 'agentvoice.stopSpeaking' : 'agentvoice.retry',
      voice ? 'agentvoice.pause' : 'agentvoice.pauseSpeech',
    ]);
    for (const [command, control] of this.known) {
      const wanted = command === 'agentvoice.start' ? view.primary : hidden.has(command) ? undefined : by(command);
      control.update(wanted);
    }
    for (const place of PLACES) {
      const of = place.map((command) => this.known.get(command));
      if (of.some((c) => c?.element === focused && !c?.shown)) {
        of.find((c) => c?.shown === true)?.element.focus();
        break;
      }
    }
    show(this.hold, view.hold !== undefined);
    setText(this.holdText, view.hold?.down === true ? this.strings.holding : this.strings.holdToTalk);
    setAttribute(this.hold, 'aria-pressed', String(view.hold?.down === true));
  }

  private holdButton(): HTMLButtonElement {
    const node = el('button', { type: 'button', class: 'hold', 'data-testid': 'hold', hidden: true }, icon('mic').make(), this.holdText);
    const hold = (down: boolean) => (event: Event): void => {
      event.preventDefault();
      this.send({ type: 'hold', down });
    };
    const isKey = (e: KeyboardEvent): boolean => e.key === ' ' || e.key === 'Enter';
    node.addEventListener('pointerdown', (e) => {
      node.setPointerCapture(e.pointerId);
      hold(true)(e);
      node.focus();
    });
    node.addEventListener('pointerup', hold(false));
    node.addEventListener('pointercancel', hold(false));
    node.addEventListener('keydown', (e) => isKey(e) && !e.repeat && hold(true)(e));
    node.addEventListener('keyup', (e) => isKey(e) && hold(false)(e));
    node.addEventListener('blur', () => this.view?.hold?.down === true && this.send({ type: 'hold', down: false }));
    node.addEventListener('contextmenu', (e) => e.preventDefault());
    return node;
  }

  private composer(): HTMLElement {
    const { input } = this;
    const submit = el('button', { type: 'submit', class: 'quiet', 'data-testid': 'send', 'aria-label': this.strings.send, title: this.strings.send }, icon('send').make());
    const form = el('form', { class: 'composer' }, input, submit);
    const say = (): void => {
      const text = input.value.trim();
      input.value = ''; // first, to prevent sending it twice
      this.unsent = '';
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
    const none = view.contextOff !== '' ? view.contextOff : view.context.length === 0 ? this.strings.contextNone : '';
    patch(this.context, none === '' ? view.context.map(chip) : [h('span', { key: 'none', class: 'muted text', title: none }, none)]);
  }

  /** Who answers, with devices and services behind it. */
  private details(): HTMLDetailsElement {
    const summary = el('summary', { class: 'chip', 'data-testid': 'answers', title: this.strings.details }, icon('spark').make(), this.session, icon('more').make());
    const more = el('details', { class: 'more', 'data-testid': 'details' }, summary, this.facts);
    more.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && more.open) {
        event.stopPropagation(); // it closes this menu, and does not stop speech
        more.open = false;
        summary.focus();
      }
    });
    more.addEventListener('focusout', (event) => {
      if (event.relatedTarget !== null && !more.contains(event.relatedTarget as Node)) {
        more.open = false;
      }
    });
    return more;
  }

  private renderFacts(view: View): void {
    const { facts } = view;
    const { strings } = this;
    setText(this.session, facts.model);
    const rows: [name: string, value: string, picture: string, test: string, command: PanelCommand][] = [
      [strings.microphone, facts.microphone, 'mic', 'microphone', 'agentvoice.selectMicrophone'],
      [strings.speaker, facts.speaker, 'speaker', 'speaker', 'agentvoice.selectSpeaker'],
      [strings.assistant, facts.model, 'spark', 'model', 'agentvoice.selectAssistant'],
      [strings.service, `${facts.provider}, ${facts.session}`, 'cloud', 'provider', 'agentvoice.openSettings'],
    ];
    patch(this.facts, rows.map(([name, value, picture, test, command]) =>
      h('div', {}, h('dt', {}, name),
        h('dd', {}, button({ class: 'fact', 'data-testid': test, 'aria-label': `${name}: ${value}` }, () => this.run(command), icon(picture), h('span', { class: 'text' }, value))))));
  }
}
