// A control: a button that keeps its identity and position in every state.

import type { PanelCommand } from '../src/remedies';
import type { Button } from '../src/view';
import { ARMING, el, h, patch, setAttribute, show } from './dom';
import { icon } from './icons';

export class Control {
  readonly element: HTMLButtonElement;
  /** the action that the button offered on pointerdown */
  private offered: string | undefined;
  private enabled = true;
  /** active while the button has just appeared */
  private arming: ReturnType<typeof setTimeout> | undefined;

  /** Shows words if given, else its icon. */
  constructor(command: PanelCommand, run: () => void, private readonly words?: string) {
    this.element = el('button', { type: 'button', class: `control ${testId(command)}`, 'data-testid': testId(command) });
    this.element.addEventListener('pointerdown', () => (this.offered = this.offer()));
    this.element.addEventListener('click', (event) => {
      const offered = event.detail === 0 ? undefined : this.offered; // 0: activated by keyboard
      this.offered = undefined;
      // Since pointerdown, the action may already have happened or become unavailable.
      if (this.offer() !== '' && (offered === undefined || offered === this.offer())) {
        run();
      }
    });
  }

  /** The action of a press; empty if disabled. */
  private offer(): string {
    return this.element.getAttribute('aria-disabled') === 'true' ? '' : `press ${this.element.getAttribute('aria-pressed') ?? ''}`;
  }

  /** Shows the button's current state, or hides it if undefined. */
  update(b: Button | undefined): void {
    if (b !== undefined && this.element.hidden) {
      this.arm(); // it replaces another button
    }
    show(this.element, b !== undefined);
    this.enabled = b?.enabled === true;
    this.enable();
    if (b !== undefined) {
      setAttribute(this.element, 'aria-pressed', b.pressed === undefined ? undefined : String(b.pressed));
      setAttribute(this.element, 'title', b.title);
      setAttribute(this.element, 'aria-label', b.title);
      patch(this.element, this.words === undefined ? [icon(b.icon)] : [h('span', { class: 'text' }, this.words)]);
    }
  }

  get shown(): boolean {
    return !this.element.hidden;
  }

  private arm(): void {
    clearTimeout(this.arming);
    this.arming = setTimeout(() => {
      this.arming = undefined;
      this.enable();
    }, ARMING);
  }

  /** A disabled button keeps its focus, but the Tab key skips it. */
  private enable(): void {
    setAttribute(this.element, 'aria-disabled', this.enabled && this.arming === undefined ? undefined : 'true');
    setAttribute(this.element, 'tabindex', this.enabled ? undefined : '-1');
  }
}

/** Test id of a command: agentvoice.stopSpeaking becomes stop-speaking. */
function testId(command: string): string {
  return command.replace('agentvoice.', '').replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`);
}
