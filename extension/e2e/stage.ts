// The panel with a headless daemon, whose world a script plays and whose virtual time the test advances.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as paths from './paths.ts';
import { type Passed, Tap } from './tap.ts';
import { until } from './wait.ts';
import { type World, settings } from './world.ts';

/** The initial theme of a window. */
export const DARK = 'Default Dark Modern';

/** A script waits here until the test requests the history, which the extension never does. */
export const GATE = 'await conversation/history';

/** The panel with a headless daemon. */
export class Stage {
  readonly tap: Tap;
  private readonly w: World;

  private constructor(w: World, tap: Tap) {
    this.w = w;
    this.tap = tap;
  }

  /** Opens a window whose daemon plays a script. */
  static async open(w: World, name: string, script: string): Promise<Stage> {
    const dir = join(w.dir, name);
    mkdirSync(dir);
    writeFileSync(join(dir, 'script.txt'), script);
    const tap = Tap.install(dir, paths.daemon, ['--headless', '--script', join(dir, 'script.txt')]);
    await w.closeWindow(); // a window that is open at the change may pass its settings on to the next one
    // A long answer does not pause: settled compares the panel with the daemon's states, and a pause of the voice is none.
    w.server.configure({ ...settings, 'agentvoice.daemon.path': tap.path, 'agentvoice.speech.moreAfterMs': 0, 'workbench.colorTheme': DARK });
    await w.openWindow();
    await w.openPanel();
    return new Stage(w, tap);
  }

  /** Lets the script continue. */
  async next(): Promise<void> {
    await this.tap.ask('conversation/history');
  }

  /** Advances time until the panel shows a label. */
  async reach(label: string): Promise<void> {
    await until(`the label ${label}`, async () => {
      await this.settled();
      if ((await this.w.panel.get('state-label').innerText()) === label) {
        return true;
      }
      await this.advance();
      return false;
    });
  }

  /**
   * Advances some time, but not while the daemon awaits an answer or the panel lags behind:
   * deadlines use the same time, and would expire.
   */
  async advance(): Promise<void> {
    await this.settled();
    const messages = this.tap.messages();
    const answered = new Set(messages.filter((m) => m.from === 'editor' && m.message.method === undefined).map((m) => m.message.id));
    if (messages.every((m) => m.from === 'editor' || m.message.method === undefined || m.message.id === undefined || answered.has(m.message.id))) {
      await this.tap.advance(500);
    }
  }

  /** Waits until the panel shows the daemon's last published state, which may change meanwhile. */
  async settled(): Promise<void> {
    await until('the label of the last state', async () => {
      const label = labelOf(this.tap.of('agentvoice.state').at(-1));
      const shown = await this.w.panel.get('state-label').innerText();
      return label === undefined || shown === label || (shown === 'Muted' && label === 'Listening');
    });
  }
}

/** The label of a state without its icon, as the panel shows it. */
export function labelOf(state: Passed | undefined): string | undefined {
  return state === undefined ? undefined : (state.message.params as { localizedLabel: string }).localizedLabel.replace(/^\S+ /, '');
}
