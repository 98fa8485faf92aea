// A real VS Code: code-server on the loopback interface, displayed in Chromium.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type BrowserContext, type Frame, type Locator, type Page, chromium } from 'playwright-core';
import * as paths from './paths.ts';
import { PATIENCE, until } from './wait.ts';

const entry = join(paths.vscodeHome, 'code-server', 'out', 'node', 'entry.js');
const node = join(paths.vscodeHome, 'node', 'bin', 'node');

/**
 * Settings that a browser needs and a desktop does not: without the first, an extension of
 * kind "ui" has no host to run in and is silently not loaded.
 */
const userSettings = {
  'remote.extensionKind': { 'agentvoice.agent-voice': ['workspace'] },
  'workbench.startupEditor': 'none',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'typescript.disableAutomaticTypeAcquisition': true, // it would run npm beside the test
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'security.workspace.trust.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.enableExperiments': false,
  'chat.setupFromDialog': false,
  'window.commandCenter': false,
  'workbench.editor.useModal': 'off',
  'git.enabled': false,
  'extensions.ignoreRecommendations': true,
};

/** The workspace's files. No language server runs for them. */
const PARSER = `package table

// fields splits a line at its commas.
func fields(line string) []string {
	var out []string
	start := 0
	for i, c := range line {
		if c == ',' {
			out = append(out, line[start:i])
			start = i + 1
		}
	}
	return out
}
`;

/** Own is how an installation differs from the others. */
interface Own {
  /** the folder of installed extensions, which two installations can share */
  readonly extensions?: string;
  /** whether the editor asks if a folder is trusted */
  readonly trust?: true;
  /** a folder of programs, first in the PATH; the editor then does not ask a login shell for another PATH */
  readonly programs?: string;
}

/** An installation: settings, extensions and its own workspace, in one folder. */
export class Server {
  readonly workspace: string;
  private readonly dir: string;
  private readonly env: NodeJS.ProcessEnv;
  private process: ChildProcess | undefined;
  private port = 0;

  private readonly own: Own;

  constructor(dir: string, env: Record<string, string>, own: Own = {}) {
    this.dir = dir;
    this.own = own;
    this.workspace = join(dir, 'workspace');
    // No gallery: no network requests.
    this.env = { ...process.env, ...env, EXTENSIONS_GALLERY: '{"serviceUrl": ""}', ...(own.programs === undefined ? {} : { VSCODE_CLI: '1' }), PATH: `${own.programs === undefined ? '' : `${own.programs}:`}${join(paths.vscodeHome, 'node', 'bin')}:${process.env['PATH'] ?? ''}` };
    for (const name of ['workspace', 'extensions', 'data/User']) {
      mkdirSync(join(dir, name), { recursive: true });
    }
    writeFileSync(join(dir, 'config.yaml'), '');
    writeFileSync(join(this.workspace, 'parser.go'), PARSER);
    this.configure({});
  }

  /** Installs a packaged extension, as a user does by hand; returns the output. */
  async install(vsix: string): Promise<string> {
    const { stdout, stderr } = await promisify(execFile)(node, [entry, ...this.common(), '--install-extension', vsix, '--force'], {
      env: this.env, timeout: PATIENCE,
    });
    return stdout + stderr;
  }

  /** The user settings for the next window: those that the suite needs, plus these. */
  configure(settings: Record<string, unknown>): void {
    writeFileSync(this.file('data/User/settings.json'), JSON.stringify({ ...userSettings, ...settings }, null, 2));
  }

  async start(proposals: string[]): Promise<void> {
    this.port = await freePort();
    const log = createWriteStream(this.file('code-server.log'), { flags: 'a' });
    this.process = spawn(
      node,
      [
        entry, ...this.common(), '--bind-addr', `127.0.0.1:${this.port}`, '--auth', 'none',
        '--disable-telemetry', '--disable-update-check', ...(this.own.trust ? [] : ['--disable-workspace-trust']), '--disable-getting-started-override',
        '--reconnection-grace-time', '2', ...proposals.flatMap((id) => ['--enable-proposed-api', id]), this.workspace,
      ],
      { env: this.env, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
    );
    this.process.stdout?.pipe(log);
    this.process.stderr?.pipe(log);
    await until('code-server', async () => {
      if (this.process?.exitCode !== null) {
        throw new Error(`code-server ended: ${readFileSync(this.file('code-server.log'), 'utf8')}`);
      }
      return fetch(this.url()).then((r) => r.ok).catch(() => false);
    });
  }

  /** The address of a window with a folder, or with the folders of a .code-workspace file. */
  url(opened = this.workspace): string {
    return `http://127.0.0.1:${this.port}/?${opened.endsWith('.code-workspace') ? 'workspace' : 'folder'}=${encodeURIComponent(opened)}`;
  }

  file(name: string): string {
    return join(this.dir, name);
  }

  /** Stops code-server and its child processes. */
  async stop(): Promise<void> {
    const child = this.process;
    if (child?.pid === undefined || child.exitCode !== null) {
      return;
    }
    const ended = new Promise((resolve) => child.once('exit', resolve));
    process.kill(-child.pid, 'SIGTERM');
    const late = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), 5000);
    await ended;
    clearTimeout(late);
  }

  private common(): string[] {
    return ['--config', this.file('config.yaml'), '--user-data-dir', this.file('data'), '--extensions-dir', this.own.extensions ?? this.file('extensions')];
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A browser with one profile: editor state, such as a consent, is shared by all windows. */
export async function launchBrowser(): Promise<BrowserContext> {
  if (!existsSync(paths.chromium)) {
    throw new Error(`${paths.chromium} is missing: run scripts/setup.sh --e2e, or set AGENTVOICE_E2E_CHROMIUM`);
  }
  const browser = await chromium.launch({
    executablePath: paths.chromium,
    headless: true,
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--force-color-profile=srgb',
    ],
  });
  return browser.newContext({ viewport: { width: 1400, height: 900 } });
}

/** A window of VS Code. */
export class Window {
  readonly page: Page;

  private constructor(page: Page) {
    this.page = page;
  }

  /** Opens a window on a server's workspace, or on something else, and waits for the workbench. */
  static async open(context: BrowserContext, server: Server, opened = server.workspace): Promise<Window> {
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    const window = new Window(page);
    await page.goto(server.url(opened), { waitUntil: 'domcontentloaded' });
    await window.ready();
    return window;
  }

  async ready(): Promise<void> {
    await this.page.locator('.monaco-workbench .statusbar-item').first().waitFor();
  }

  async reload(): Promise<void> {
    await this.page.reload({ waitUntil: 'domcontentloaded' });
    await this.ready();
  }

  /** Runs a command by its title in the command palette. */
  async command(title: string): Promise<void> {
    await this.page.keyboard.press('F1');
    const input = this.page.locator('.quick-input-widget input').first();
    await input.waitFor();
    await input.fill(`>${title}`);
    await this.page
      .locator('.quick-input-list .monaco-list-row')
      .filter({ hasText: title })
      .first()
      .click();
  }

  /** Opens a file of the workspace by its name. */
  async openFile(name: string): Promise<void> {
    await this.page.keyboard.press('Control+P');
    const input = this.page.locator('.quick-input-widget input').first();
    await input.waitFor();
    await input.fill(name);
    await this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: name }).first().click();
    await this.page.locator('.editor-instance .view-line').first().waitFor();
  }

  /** Drags the edge of the side bar, until the side bar has a width in CSS pixels. */
  async sideBar(width: number): Promise<void> {
    const { mouse } = this.page;
    const bar = await this.page.locator('.part.sidebar').boundingBox();
    if (bar === null) {
      throw new Error('no side bar is shown');
    }
    const y = bar.y + bar.height / 2;
    await mouse.move(bar.x + bar.width, y);
    await mouse.down();
    await mouse.move(bar.x + width, y, { steps: 3 });
    await mouse.up();
    await mouse.move(bar.x + 900, 600); // keeps tooltips out of the screenshots
    await until(`a side bar of ${width} px`, async () => Math.abs(((await this.page.locator('.part.sidebar').boundingBox())?.width ?? 0) - width) <= 2);
  }

  /** The frame of a webview that contains the selector. */
  async webview(selector: string): Promise<Frame> {
    return until(`a webview with ${selector}`, async () => {
      for (const frame of this.page.frames()) {
        if (frame === this.page.mainFrame() || frame.isDetached()) {
          continue;
        }
        const found = await frame.locator(selector).count().catch(() => 0);
        if (found > 0) {
          return frame;
        }
      }
      return undefined;
    });
  }

  /** A modal dialog of the workbench. */
  dialog(): Locator {
    return this.page.locator('.monaco-dialog-box');
  }

  /** Answers the open dialog. */
  async answer(button: 'Allow' | 'Cancel'): Promise<void> {
    const dialog = this.dialog();
    await dialog.locator('.monaco-button').filter({ hasText: button }).first().click();
    await dialog.waitFor({ state: 'hidden' });
  }

  toasts(): Locator {
    return this.page.locator('.notification-toast');
  }

  async close(): Promise<void> {
    await this.page.close();
  }
}
