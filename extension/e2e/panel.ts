// The panel as a user sees it: its elements, and the history of what it showed.

import type { Frame, Locator } from 'playwright-core';
import { until } from './wait.ts';
import type { Window } from './vscode.ts';

/** A displayed text, with the wall clock of the frame that painted it, in milliseconds with fractions. */
export interface Shown {
  at: number;
  text: string;
}

/** What watch stores in the page. */
interface Watched {
  labels: Shown[];
  captions: Shown[];
}

export class Panel {
  readonly frame: Frame;

  private constructor(frame: Frame) {
    this.frame = frame;
  }

  /** Opens the panel from the activity bar, as a new user does. */
  static async open(window: Window): Promise<Panel> {
    await window.page.locator('.activitybar .action-item a[aria-label^="Agent Voice"]').first().click();
    return Panel.find(window);
  }

  /** The panel that is already open, such as after a reload. */
  static async find(window: Window): Promise<Panel> {
    const frame = await window.webview('[data-testid="state-label"]');
    const panel = new Panel(frame);
    await panel.watch();
    return panel;
  }

  get(testId: string): Locator {
    return this.frame.locator(`[data-testid="${testId}"]`);
  }

  /** The button of a command. */
  button(command: string): Locator {
    return this.get('controls').locator(`[data-testid="${command}"]`);
  }

  /** The first remedy of the displayed problem. */
  remedy(command: string): Locator {
    return this.get('problem').locator(`[data-command="agentvoice.${command}"]`);
  }

  /** Waits until the state has the given label. */
  async label(text: string): Promise<void> {
    await this.get('state-label').filter({ hasText: new RegExp(`^${text}$`) }).waitFor();
  }

  /** Ends the conversation with the button. */
  async end(): Promise<void> {
    await this.button('end').click();
    await this.label('Ready');
  }

  /** The lines of one side, oldest first. */
  async lines(who: 'user' | 'assistant'): Promise<string[]> {
    return this.frame.locator(`[data-testid="line"][data-kind="speech"][data-who="${who}"] [data-testid="line-text"]`).allInnerTexts();
  }

  /** The input of the call that awaits approval, as displayed. */
  async members(): Promise<Record<string, unknown>> {
    const shown = await this.get('approval-input').locator('.member').evaluateAll((rows) =>
      rows.map((row) => [(row.querySelector('dt') as HTMLElement).innerText, (row.querySelector('dd') as HTMLElement).innerText] as const));
    return Object.fromEntries(shown.map(([name, value]) => [name, parsed(value)]));
  }

  /** The message of the displayed problem. */
  async problem(): Promise<string> {
    await this.get('problem').waitFor();
    return this.get('problem-message').innerText();
  }

  /** What was displayed since the panel opened. */
  async shown(): Promise<Watched> {
    return this.frame.evaluate(() => (window as unknown as { watched: Watched }).watched);
  }

  /** Waits until a label appears after a time, and returns when. */
  async labelAfter(text: string, at: number): Promise<Shown> {
    return until(`the label ${text}`, async () => (await this.shown()).labels.find((s) => s.at >= at && s.text === text));
  }

  /** Records each label and caption with the time of the frame that painted it. */
  private async watch(): Promise<void> {
    await this.frame.evaluate(() => {
      const watched: Watched = { labels: [], captions: [] };
      Object.assign(window, { watched });
      const keep = (selector: string, list: Shown[]): void => {
        const node = document.querySelector(selector);
        if (node === null) {
          throw new Error(`nothing to watch at ${selector}`);
        }
        new MutationObserver(() => {
          const text = node.textContent ?? '';
          requestAnimationFrame(() => list.push({ at: performance.timeOrigin + performance.now(), text }));
        }).observe(node, { childList: true, characterData: true, subtree: true });
      };
      keep('[data-testid="state-label"]', watched.labels);
      keep('[data-testid="caption"]', watched.captions);
    });
  }
}

/** A field of a call before rendering: texts unchanged, everything else as JSON. */
function parsed(value: string): unknown {
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
