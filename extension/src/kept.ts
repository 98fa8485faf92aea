// Keeps the transcript while the window is loaded again. It stays in memory, in a program of its own; on disk only
// with a setting, because the state that VS Code keeps for an extension or a page is a file.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
/** Delay of writing to disk after a change, in milliseconds. */
const SOON = 1_000;

interface Holder {
  readonly path: string;
  readonly token: string;
}

export class KeptTranscript {
  private lines: readonly Line[] = [];
  private stored: readonly Line[] = [];
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
    return text === '' ? [] : (JSON.parse(text) as readonly Line[]);
  }

  /** The transcript may have changed, or the setting. */
  changed(lines: readonly Line[]): void {
    this.lines = lines;
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
    if (!this.onDisk() && this.lines.length > 0) {
      try {
        await this.memory.update(HELD, await hold(this.program, JSON.stringify(this.lines)));
      } catch (err) {
        this.log.warn(`the transcript is not kept for the next window: ${err instanceof Error ? err.message : String(err)}`);
      }
    }
  }
}

/** Starts the program that holds a text. */
async function hold(program: string, text: string): Promise<Holder> {
  const token = randomBytes(32).toString('hex');
  const path = process.platform === 'win32' ? `\\\\.\\pipe\\agentvoice-${randomBytes(16).toString('hex')}` : join(mkdtempSync(join(tmpdir(), 'agentvoice-')), 'text');
  const keeper = spawn(process.execPath, [program, path, String(HOLD)], {
    detached: true, windowsHide: true, stdio: ['pipe', 'pipe', 'ignore'], env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
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
  return { path, token };
}

/** The text that is held; empty if it is no more. */
function ask({ path, token }: Holder): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = createConnection(path, () => socket.write(token));
    socket.setEncoding('utf8').on('data', (part: string) => (text += part));
    socket.once('error', () => (text = ''));
    socket.once('close', () => resolve(text));
  });
}
