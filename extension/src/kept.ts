// Keeps the transcript while the window is loaded again. It stays in memory, in a program of its own; on disk only
// with a setting, because the state that VS Code keeps for an extension or a page is a file.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Log } from './daemon/sidecar';
import { HELD } from './held';
import type { Line } from './transcript';

/** Memory is the part of the editor's workspace state that is used. It is written to disk. */
export interface Memory {
  get<T>(key: string): T | undefined;
  update(key: string, value: unknown): Thenable<void>;
}

/** Key of the workspace state with the transcript itself. */
export const STORED = 'agentvoice.transcript';

/** How long a transcript is held in memory after its window closed, in milliseconds. */
const HOLD = 60_000;
/** How long the program is waited for, which starts while the window before ends, and how often it is looked for, in milliseconds. */
const APPEARS = 3_000;
const AGAIN = 100;
/** Delay of writing to disk after a change, in milliseconds. */
const SOON = 1_000;

interface Holder {
  readonly path: string;
  readonly token: string;
}

export class KeptTranscript {
  private lines: readonly Line[] = [];
  private stored: readonly Line[] = [];
  /** chosen before the window closes: the state is not written any more while it does */
  private holder: Holder | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** program is keeper.js; onDisk says whether the user allows the transcript on disk. */
  constructor(private readonly memory: Memory, private readonly program: string, private readonly onDisk: () => boolean, private readonly log: Log) {}

  /** The transcript of this window before it was loaded again; empty without one. */
  async take(): Promise<readonly Line[]> {
    const held = this.memory.get<Holder>(HELD);
    if (held !== undefined) {
      await this.memory.update(HELD, undefined);
    }
    const stored = this.memory.get<readonly Line[]>(STORED);
    if (stored !== undefined && !this.onDisk()) {
      await this.memory.update(STORED, undefined);
    }
    if (stored !== undefined && this.onDisk()) {
      return stored;
    }
    const text = held === undefined ? '' : await ask(held);
    try {
      return text === '' ? [] : (JSON.parse(text) as readonly Line[]);
    } catch {
      this.log.warn('the transcript of the window before was cut off');
      return [];
    }
  }

  /** The transcript may have changed, or the setting. */
  changed(lines: readonly Line[]): void {
    this.lines = lines;
    if (this.holder === undefined && lines.length > 0 && !this.onDisk()) {
      this.holder = newHolder();
      void this.memory.update(HELD, this.holder);
    }
    if (this.timer === undefined && (this.onDisk() ? lines !== this.stored : this.stored.length > 0)) {
      this.timer = setTimeout(() => void this.write(), SOON);
    }
  }

  private async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.stored = this.onDisk() ? this.lines : [];
    await this.memory.update(STORED, this.stored.length === 0 ? undefined : this.stored);
  }

  /** The window closes, perhaps to be loaded again. */
  async close(): Promise<void> {
    if (this.onDisk() || this.stored.length > 0) {
      await this.write();
    }
    clearTimeout(this.timer);
    if (this.holder !== undefined && this.lines.length > 0 && !this.onDisk()) {
      try {
        await hold(this.holder, this.program, JSON.stringify(this.lines));
      } catch (err) {
        this.log.warn(`the transcript is not kept for the next window: ${err instanceof Error ? err.message : String(err)}`);
      }
    }
  }
}

function newHolder(): Holder {
  const name = `agentvoice-${randomBytes(16).toString('hex')}`;
  return { path: process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), name, 'text'), token: randomBytes(32).toString('hex') };
}

/** Starts the program that holds a text. */
async function hold({ path, token }: Holder, program: string, text: string): Promise<void> {
  if (process.platform !== 'win32') {
    mkdirSync(dirname(path), { mode: 0o700 });
  }
  const keeper = spawn(process.execPath, [program, path, String(HOLD)], {
    cwd: dirname(process.execPath), detached: true, windowsHide: true, stdio: ['pipe', 'pipe', 'ignore'], env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
  });
  await new Promise<void>((resolve, reject) => {
    keeper.once('error', reject);
    keeper.once('exit', () => reject(new Error('the program that holds it ended')));
    keeper.stdin.once('error', reject);
    keeper.stdin.end(`${token}\n${text}`);
    keeper.stdout.once('end', resolve); // it has the text and can be asked
    keeper.stdout.resume();
  });
  keeper.unref();
}

/** The text that is held, perhaps only soon; empty if it is no more. */
async function ask(holder: Holder): Promise<string> {
  for (const limit = Date.now() + APPEARS; ; await new Promise((resolve) => setTimeout(resolve, AGAIN))) {
    const text = await askOnce(holder);
    if (text !== undefined || Date.now() > limit) {
      return text ?? '';
    }
  }
}

/** The text that is held; empty if it is not given, undefined if there is no such program. */
function askOnce({ path, token }: Holder): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text: string | undefined;
    const socket = createConnection(path, () => {
      text = '';
      socket.write(token);
    });
    socket.setEncoding('utf8').on('data', (part: string) => (text = (text ?? '') + part));
    socket.once('error', () => undefined);
    socket.once('close', () => resolve(text));
  });
}
