// A proxy between the extension and the daemon: it forwards every byte, records each message
// with its time, and lets a test advance the virtual time of a headless daemon.
//
// It starts in place of the daemon, through the script that Tap.install writes:
//
//   node tap.ts CONFIG serve --stdio ...
//
// Other commands, such as version, go straight to the daemon.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { until } from './wait.ts';

interface Config {
  daemon: string;
  /** Arguments added to `serve --stdio`. */
  args: string[];
  record: string;
  socket: string;
}

interface Message {
  id?: string | number;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: unknown;
}

/** A forwarded message; at is the wall clock in milliseconds, with fractions. */
export interface Passed {
  at: number;
  from: 'daemon' | 'editor';
  message: Message;
}

const now = (): number => performance.timeOrigin + performance.now();

/** The test's side. */
export class Tap {
  /** The executable that replaces the daemon. */
  readonly path: string;
  private readonly config: Config;
  private readonly passed: Passed[] = [];
  private read = 0;

  private constructor(path: string, config: Config) {
    this.path = path;
    this.config = config;
  }

  /** Writes the executable and its files into dir. */
  static install(dir: string, daemon: string, args: string[]): Tap {
    const config: Config = { daemon, args, record: join(dir, 'tap.jsonl'), socket: join(dir, 't') };
    writeFileSync(config.record, '');
    writeFileSync(join(dir, 'tap.json'), JSON.stringify(config));
    const path = join(dir, 'agentvoice-daemon');
    writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${import.meta.filename}' '${join(dir, 'tap.json')}' "$@"\n`);
    chmodSync(path, 0o755);
    return new Tap(path, config);
  }

  /** All messages so far, in order. Keeps those that were already read. */
  messages(): readonly Passed[] {
    const text = readFileSync(this.config.record, 'utf8');
    const end = text.lastIndexOf('\n') + 1;
    for (const line of text.slice(this.read, end).split('\n')) {
      if (line !== '') {
        this.passed.push(JSON.parse(line) as Passed);
      }
    }
    this.read = end;
    return this.passed;
  }

  /** The messages of one name. */
  of(method: string): Passed[] {
    return this.messages().filter((p) => p.message.method === method);
  }

  /** Sends the running daemon a request that the extension never sends, and returns the response. */
  async ask(method: string, params?: unknown): Promise<Message> {
    return JSON.parse(await this.send({ id: `tap-${randomUUID()}`, method, params })) as Message;
  }

  /** Sends a message, and returns the text of the response; empty for a notification. */
  private send(message: Message): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = createConnection(this.config.socket, () => socket.write(`${JSON.stringify(message)}\n`));
      let text = '';
      socket.setEncoding('utf8').on('data', (data: string) => (text += data));
      socket.once('end', () => resolve(text));
      socket.once('error', reject);
    });
  }

  /**
   * Advances virtual time, and returns when everything due was published. The window's
   * heartbeats come in real time, and would be late.
   */
  async advance(ms: number): Promise<void> {
    await this.send({ method: 'client/heartbeat' });
    const answer = await this.ask('headless/advance', { ms });
    if (answer.error !== undefined) {
      throw new Error(`the daemon does not advance: ${JSON.stringify(answer.error)}`);
    }
  }

  /** Waits until the daemon has published a state. */
  async state(name: string, after = 0): Promise<Passed> {
    return until(`the daemon to say ${name}`, () =>
      this.of('agentvoice.state').slice(after).find((p) => (p.message.params as { state: string }).state === name),
    );
  }
}

/** Extracts messages with Content-Length headers from a byte stream. */
class Frames {
  private buffer: Buffer = Buffer.alloc(0);

  /** The complete messages, each with its bytes. */
  *take(data: Buffer): Generator<{ message: Message; bytes: Buffer }> {
    this.buffer = Buffer.concat([this.buffer, data]);
    for (;;) {
      const end = this.buffer.indexOf('\r\n\r\n');
      if (end < 0) {
        return;
      }
      const length = Number(/content-length: *(\d+)/i.exec(this.buffer.toString('latin1', 0, end))?.[1]);
      if (this.buffer.length < end + 4 + length) {
        return;
      }
      const bytes = this.buffer.subarray(0, end + 4 + length);
      this.buffer = this.buffer.subarray(bytes.length);
      yield { message: JSON.parse(bytes.toString('utf8', end + 4)) as Message, bytes };
    }
  }
}

function serve(config: Config, args: string[]): void {
  const daemon = spawn(config.daemon, [...args, ...config.args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<string, (answer: Message) => void>();
  const keep = (from: Passed['from'], message: Message): void =>
    appendFileSync(config.record, `${JSON.stringify({ at: now(), from, message } satisfies Passed)}\n`);

  // Responses to requests from the socket return there.
  const asks = createServer((socket) => {
    let text = '';
    socket.setEncoding('utf8').on('data', (data: string) => {
      text += data;
      if (!text.endsWith('\n')) {
        return;
      }
      const message = JSON.parse(text) as Message;
      const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
      daemon.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
      daemon.stdin.write(body);
      if (message.id === undefined) {
        socket.end();
      } else {
        waiting.set(String(message.id), (answer) => socket.end(JSON.stringify(answer)));
      }
    });
    socket.on('error', () => undefined); // the requesting test is gone
  });
  // A killed tap leaves its socket behind.
  rmSync(config.socket, { force: true });
  asks.listen(config.socket);

  const toDaemon = new Frames();
  process.stdin.on('data', (data: Buffer) => {
    for (const { message, bytes } of toDaemon.take(data)) {
      keep('editor', message);
      daemon.stdin.write(bytes);
    }
  });
  process.stdin.on('end', () => daemon.stdin.end());
  daemon.stdin.on('error', () => undefined); // the exit handler below reports it

  const toEditor = new Frames();
  daemon.stdout.on('data', (data: Buffer) => {
    for (const { message, bytes } of toEditor.take(data)) {
      const asked = typeof message.id === 'string' && message.method === undefined ? waiting.get(message.id) : undefined;
      if (asked !== undefined) {
        waiting.delete(String(message.id));
        asked(message);
        continue;
      }
      keep('daemon', message); // record before the extension can receive it, so that latencies are never underestimated
      process.stdout.write(bytes);
    }
  });
  daemon.once('exit', (code, signal) => process.exit(code ?? (signal === null ? 0 : 1)));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => daemon.kill(signal));
  }
}

if (process.argv[1] === import.meta.filename) {
  const [file, ...args] = process.argv.slice(2);
  const config = JSON.parse(readFileSync(file ?? '', 'utf8')) as Config;
  if (args[0] === 'serve') {
    serve(config, args);
  } else {
    spawn(config.daemon, args, { stdio: 'inherit' }).once('exit', (code) => process.exit(code ?? 1));
  }
}
