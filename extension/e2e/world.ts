// Shared by all scenarios: one VS Code installation, one room, one fake Copilot, and one window at a
// time.

import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BrowserContext, Locator } from 'playwright-core';
import { Copilot } from './copilot.ts';
import { Panel } from './panel.ts';
import * as paths from './paths.ts';
import { type Daemon, daemons, endKeepers } from './processes.ts';
import { Room } from './room.ts';
import { count } from './table.ts';
import { type Said, record } from './voices.ts';
import { Server, Window, launchBrowser } from './vscode.ts';
import { until } from './wait.ts';

/** Timeout of a scenario, in milliseconds, so that a hang does not block the others. */
const SCENARIO = 150_000;

/** How often a user says the same before giving up. */
const REPLIES = 3;

const EXTENSION = 'agentvoice.agent-voice';
export const FAKE = 'agentvoice-test.fake-copilot';

/**
 * The common settings of all scenarios. For manual experiments, AGENTVOICE_E2E_SETTINGS adds
 * settings as JSON.
 */
export const settings: Readonly<Record<string, unknown>> = {
  // Tones would count as speech at the speaker.
  'agentvoice.cues.enabled': false,
  'agentvoice.tools.allowed': ['fake_*'],
  // A plain yes is sufficient in these scenarios.
  'agentvoice.tools.harmless': ['fake_*'],
  // Without words, as by default; for whoever looks into a failed scenario.
  'agentvoice.daemon.arguments': ['--journal', paths.journals],
  ...(JSON.parse(process.env['AGENTVOICE_E2E_SETTINGS'] ?? '{}') as object),
};

export class World {
  readonly dir: string;
  readonly copilot: Copilot;
  readonly server: Server;
  readonly room: Room;
  readonly voices: Record<Said, string>;
  /** the environment of code-server */
  readonly env: Readonly<Record<string, string>>;
  readonly browser: BrowserContext;
  private opened: Window | undefined;
  private shownPanel: Panel | undefined;

  private constructor(dir: string, room: Room, browser: BrowserContext) {
    this.dir = dir;
    this.room = room;
    this.browser = browser;
    for (const name of ['copilot', 'voices', 'cache']) {
      mkdirSync(join(dir, name));
    }
    this.copilot = new Copilot(join(dir, 'copilot'));
    this.voices = record(join(dir, 'voices'));
    // A separate cache folder, so that only what the package contains is available, no model is
    // installed, and no other window on this machine holds the microphone.
    this.env = { ...room.env, ...this.copilot.env, XDG_CACHE_HOME: join(dir, 'cache'), AGENTVOICE_MANIFEST: join(dir, 'manifest.json'), AGENTVOICE_MODELS: join(dir, 'models') };
    this.server = new Server(join(dir, 'vscode'), this.env);
    this.server.configure(settings);
  }

  static async create(): Promise<World> {
    rmSync(paths.out, { recursive: true, force: true });
    paths.folder('journals');
    const dir = mkdtempSync(join(tmpdir(), 'av')); // short, because it contains sockets
    return new World(dir, await Room.open(join(dir, 'room')), await launchBrowser());
  }

  /** Installs both packages and starts VS Code; returns the installer's output. */
  async install(): Promise<string> {
    await this.server.install(paths.copilotVsix);
    return this.server.install(paths.vsix);
  }

  async startServer(): Promise<void> {
    await this.server.start([FAKE]);
  }

  get window(): Window {
    if (this.opened === undefined) {
      throw new Error('no window is open: a scenario before this one failed');
    }
    return this.opened;
  }

  get panel(): Panel {
    if (this.shownPanel === undefined) {
      throw new Error('the panel is not open: a scenario before this one failed');
    }
    return this.shownPanel;
  }

  /** Opens a window. The extension is active once the fake Copilot is. */
  async openWindow(): Promise<Window> {
    await this.closeWindow(); // a window left by a scenario would hold the microphone
    await until('the daemon of the window before to be gone', () => this.daemons().length === 0);
    endKeepers(this.dir); // the next window begins with an empty transcript
    this.copilot.forget();
    this.opened = await Window.open(this.browser, this.server);
    await this.copilot.nth('ready');
    return this.opened;
  }

  async openPanel(): Promise<Panel> {
    this.shownPanel = await Panel.open(this.window);
    return this.shownPanel;
  }

  /** The panel after a window reload. */
  async findPanel(): Promise<Panel> {
    this.shownPanel = await Panel.find(this.window);
    return this.shownPanel;
  }

  /**
   * Starts a conversation with the button, and waits for a label. The editor asks for consent
   * again if its window was closed before it had saved the consent.
   */
  async start(label = 'Listening'): Promise<void> {
    await this.panel.button('start').click();
    await until(`the label ${label}`, async () => {
      if (await this.window.dialog().isVisible()) {
        await this.window.answer('Allow');
      }
      return (await this.panel.get('state-label').innerText()) === label;
    });
  }

  /** Ensures a window with the panel, reusing the previous scenario's. */
  async shown(): Promise<Panel> {
    if (this.opened === undefined) {
      this.server.configure(settings);
      await this.openWindow();
    }
    return this.shownPanel ?? this.openPanel();
  }

  /** Ensures a listening conversation, likewise. */
  async listening(): Promise<void> {
    const panel = await this.shown();
    if ((await panel.get('state-label').innerText()) === 'Ready') {
      await this.start();
    }
    await panel.label('Listening');
  }

  async closeWindow(): Promise<void> {
    this.shownPanel = undefined;
    await this.opened?.close();
    this.opened = undefined;
  }

  /** The extension's item in the status bar. */
  status(): Locator {
    return this.window.page.locator(`[id*="${EXTENSION}"].statusbar-item`).first();
  }

  /** The daemons of this world's windows. */
  daemons(): Daemon[] {
    return daemons(this.dir);
  }

  /** The only running daemon. */
  async daemon(): Promise<Daemon> {
    return until('one daemon', () => {
      const running = this.daemons();
      return running.length === 1 ? running[0] : undefined;
    });
  }

  say(what: Said): Promise<void> {
    const file = this.voices[what];
    return this.room.say(file);
  }

  /**
   * Replies to an approval question by voice, and says it again if the product did not understand it and
   * asks again. The local recogniser mishears some; the table shows how often that was needed.
   */
  async reply(what: Said): Promise<void> {
    const approval = this.panel.get('approval');
    const asked = async (): Promise<string> => ((await approval.isVisible()) ? (await this.panel.get('approval-name').allInnerTexts()).join() : '');
    const tool = await asked();
    const ran = this.copilot.all('tool').length;
    for (let times = 1; ; times++) {
      const begin = Date.now();
      await this.say(what);
      await until('the reply to be understood, or the question again', async () => (await asked()) !== tool || this.room.heardSince(begin) > 1000);
      if ((await asked()) !== tool) {
        count(`spoken replies, of which number ${times} was understood`);
        return;
      }
      assert.equal(this.copilot.all('tool').length, ran, 'a reply that was not understood runs nothing');
      assert.ok(times < REPLIES, `"${what}" was not understood ${times} times`);
      await this.panel.label('Waiting for your answer');
    }
  }

  /** A screenshot of the whole window, or of the panel alone, under out/e2e. */
  async picture(...names: string[]): Promise<void> {
    const name = names.pop() ?? 'window';
    await this.window.page.screenshot({ path: join(paths.folder(...names), `${name}.png`) });
  }

  /** The extension's log, for a failed scenario. */
  log(): string {
    const file = join(this.server.file('data'), 'logs');
    return existsSync(file) ? file : '';
  }

  async close(): Promise<void> {
    await this.closeWindow();
    await this.browser.browser()?.close();
    await this.server.stop();
    await this.room.close();
    const logs = this.server.file('data/logs');
    if (existsSync(logs)) {
      cpSync(logs, paths.folder('logs'), { recursive: true });
    }
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** The screenshot and the record show what went wrong. */
  async explain(name: string): Promise<void> {
    if (this.opened !== undefined) {
      await this.picture('failed', name.replace(/[^a-z0-9]+/gi, '-')).catch(() => undefined);
    }
  }
}

let world: World | undefined;

/** The world, created on first use. */
export async function theWorld(): Promise<World> {
  return (world ??= await World.create());
}

/** A named test; a failure takes a screenshot of the window. */
export function scenario(name: string, run: (world: World) => Promise<void>, timeout = SCENARIO): void {
  void test(name, { timeout }, async () => {
    const w = await theWorld();
    try {
      await run(w);
    } catch (err) {
      await w.explain(name);
      await w.closeWindow(); // the next scenario must not start in this one's state
      throw err;
    }
  });
}

/** A scenario in a conversation with the packaged daemon. */
export function conversation(name: string, run: (world: World) => Promise<void>): void {
  scenario(name, async (w) => {
    await w.listening();
    await run(w);
  });
}

/** The contents of a file in the source tree. */
export function treeFile(...names: string[]): string {
  return readFileSync(join(paths.root, ...names), 'utf8');
}
