// A control: a button that stays what and where it is in every state.

import type { PanelCommand } from '../src/remedies';
import type { Button } from '../src/view';
import { ARMING, el, h, patch, setAttribute, show } from './dom';
import { icon } from './icons';

export class Control {
  readonly element: HTMLButtonElement;
  /** what the button offered when the pointer went down on it */
  private offered: string | undefined;
  private enabled = true;
  /** runs while it has only just appeared */
  private arming: ReturnType<typeof setTimeout> | undefined;

  /** With words it shows these, else its picture. */
  constructor(command: PanelCommand, run: () => void, private readonly words?: string) {
    this.element = el('button', { type: 'button', class: `control ${testId(command)}`, 'data-testid': testId(command) });
    this.element.addEventListener('pointerdown', () => (this.offered = this.offer()));
    this.element.addEventListener('click', (event) => {
      const offered = event.detail === 0 ? undefined : this.offered; // 0: by the keyboard
      this.offered = undefined;
      // What it offered may have come true since, or may do nothing now.
      if (this.offer() !== '' && (offered === undefined || offered === this.offer())) {
        run();
      }
    });
  }

  /** What a press would do: empty where it does nothing. */
  private offer(): string {
    return this.element.getAttribute('aria-disabled') === 'true' ? '' : `press ${this.element.getAttribute('aria-pressed') ?? ''}`;
  }

  /** Shows the button as it is now; without one it is hidden. */
  update(b: Button | undefined): void {
    if (b !== undefined && this.element.hidden) {
      this.arm(); // it takes the place of another one
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

  /** A disabled button keeps the focus that it has; the Tab key passes it over. */
  private enable(): void {
    setAttribute(this.element, 'aria-disabled', this.enabled && this.arming === undefined ? undefined : 'true');
    setAttribute(this.element, 'tabindex', this.enabled ? undefined : '-1');
  }
}

/** agentvoice.stopSpeaking is stop-speaking for a test. */
function testId(command: string): string {
  return command.replace('agentvoice.', '').replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`);
}
