// A fake editor: it starts the daemon, records its messages in order, and answers for the assistant.

import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CancellationToken } from 'vscode-jsonrpc/node';
import {
  type ClientCapabilities,
  type CopilotSendParams,
  type CopilotSendResult,
  type DaemonNotifications,
  type InvokeToolParams,
  type InvokeToolResult,
  METHODS,
  PROTOCOL_VERSION,
  type State,
  type StateParams,
} from '../src/protocol.gen';
import { Wire } from '../src/wire';

const root = join(__dirname, '..', '..', '..');
const executable = process.platform === 'win32' ? 'agentvoice-daemon.exe' : 'agentvoice-daemon';
const daemonPath = process.env['AGENTVOICE_DAEMON'] ?? join(root, 'bin', executable);

/** The epoch of virtual time. */
const EPOCH = Date.parse('2025-01-01T00:00:00.000Z');

/** Upper bound of every wait, in milliseconds of real time; no test relies on it to pass. */
const PATIENCE = 120_000;

type Published = {
  [M in keyof DaemonNotifications]: { method: M; params: DaemonNotifications[M] };
}[keyof DaemonNotifications];

/** A transition in the tests' notation: state, virtual milliseconds, cause. */
export type Step = readonly [state: string, at: number, cause: string];

/** Answers one copilot/send. want requests a tool call. */
export type Assistant = (
  params: CopilotSendParams,
  say: (text: string) => Promise<void>,
  token: CancellationToken,
  want: (callId: string, name: string, input: unknown, more?: { destructive?: boolean; allowed?: boolean }) => Promise<void>,
) => Promise<CopilotSendResult>;

/** Runs an approved tool. */
export type Tools = (params: InvokeToolParams, token: CancellationToken) => Promise<InvokeToolResult>;

const noTools: Tools = (params) => Promise.reject(new Error(`${params.name} was not expected to run`));

export const completed: CopilotSendResult = { status: 'completed' };

/** Says a text and completes. */
export const says =
  (...texts: string[]): Assistant =>
  async (_params, say) => {
    for (const text of texts) {
      await say(text);
    }
    return completed;
  };

/** Waits until the daemon cancels its request. A token that was cancelled at creation fires no event. */
export const cancellation = (token: CancellationToken): Promise<void> =>
  new Promise((resolve) => {
    if (token.isCancellationRequested) {
      resolve();
    } else {
      token.onCancellationRequested(() => resolve());
    }
  });

export class Editor {
  readonly published: Published[] = [];
  readonly asked: CopilotSendParams[] = [];
  readonly invoked: InvokeToolParams[] = [];
  private readonly wire: Wire;
  private readonly waiting = new Set<() => void>();
  private log = '';

  private constructor(
    private readonly daemon: ChildProcessWithoutNullStreams,
    assistant: Assistant,
    tools: Tools,
  ) {
    this.wire = new Wire(daemon);
    daemon.stderr.setEncoding('utf8').on('data', (text: string) => (this.log += text));
    const keep = <M extends keyof DaemonNotifications>(method: M): void => {
      this.wire.on(method, (params) => {
        this.published.push({ method, params } as Published);
        this.changed();
      });
    };
    keep('agentvoice.state');
    keep('agentvoice.turn');
    keep('agentvoice.notification');
    keep('agentvoice.transcript');
    keep('agentvoice.caption');
    keep('agentvoice.tool');
    keep('agentvoice.session');
    keep('agentvoice.error');
    this.wire.answer(METHODS.copilotSend, async (params, token) => {
      this.asked.push(params);
      this.changed();
      let seq = 0;
      const say = (text: string): Promise<void> =>
        this.wire.notify(METHODS.copilotDelta, { requestId: params.requestId, seq: seq++, text });
      const want: Parameters<Assistant>[3] = (callId, name, input, more) =>
        this.wire.notify(METHODS.copilotToolCall, { requestId: params.requestId, callId, name, input, ...more });
      return assistant(params, say, token, want);
    });
    this.wire.answer(METHODS.copilotInvokeTool, (params, token) => {
      this.invoked.push(params);
      this.changed();
      return tools(params, token);
    });
    this.wire.onClose(() => this.changed());
    this.wire.listen();
  }

  /** Starts the daemon with a script of testdata/script, and opens the wire. */
  static async open(script: string, assistant: Assistant, tools?: Tools): Promise<Editor> {
    assert.ok(existsSync(daemonPath), `${daemonPath} is missing: build the daemon, or set AGENTVOICE_DAEMON`);
    const args = ['serve', '--stdio', '--headless', '--script', join(root, 'testdata', 'script', script)];
    const daemon = spawn(daemonPath, args, { timeout: 3 * PATIENCE }); // a hanging test leaves no process behind
    const editor = new Editor(daemon, assistant, tools ?? noTools);
    const capabilities: ClientCapabilities = { copilot: true, tools: tools !== undefined };
    const result = await editor.wire.request('initialize', {
      processId: process.pid,
      clientInfo: { name: 'acceptance', version: '1' },
      locale: 'en',
      protocolVersion: PROTOCOL_VERSION,
      capabilities,
    });
    assert.equal(result.snapshot.state, 'idle');
    await editor.wire.notify('initialized');
    return editor;
  }

  get request(): Wire['request'] {
    return this.wire.request.bind(this.wire);
  }

  /** The transitions so far, with their virtual milliseconds. */
  steps(): Step[] {
    return this.states().map((p) => [p.substate ?? p.state, at(p.since), p.cause]);
  }

  states(): StateParams[] {
    return this.all('agentvoice.state');
  }

  all<M extends keyof DaemonNotifications>(method: M): DaemonNotifications[M][] {
    return this.published
      .filter((p) => p.method === method)
      .map((p) => p.params as DaemonNotifications[M]);
  }

  /** Waits until a state was entered for the nth time. */
  entered(state: State, times = 1): Promise<void> {
    return this.until(`${state}, ${times} times`, () => this.states().filter((p) => p.state === state).length >= times);
  }

  /**
   * Waits until a state was entered for the nth time, and everything that the daemon sent
   * before it next waits for this editor has arrived. The daemon reads the request only
   * then.
   */
  async settledIn(state: State, times = 1): Promise<void> {
    await this.entered(state, times);
    await this.request('conversation/state');
  }

  /** Waits until holds returns true; checks after each message of the daemon. */
  async until(what: string, holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve, reject) => {
        const late = setTimeout(() => {
          reject(new Error(`still waiting for ${what}; so far: ${JSON.stringify(this.steps())}; the log: ${this.log}`));
        }, PATIENCE);
        this.waiting.add(() => {
          clearTimeout(late);
          resolve();
        });
      });
    }
  }

  private changed(): void {
    const now = [...this.waiting];
    this.waiting.clear();
    for (const resume of now) {
      resume();
    }
  }

  /** Shuts the daemon down, and expects status 0 and no logged warnings. */
  async close(): Promise<void> {
    const exited = new Promise<number | null>((resolve) => this.daemon.once('exit', resolve));
    await this.wire.request('shutdown');
    await this.wire.notify('exit');
    assert.equal(await exited, 0);
    this.wire.dispose();
  }

  /** For a failed test: kills the daemon. */
  kill(): void {
    this.daemon.kill();
  }
}

/** Converts a time on the wire to virtual milliseconds. */
export function at(timestamp: string): number {
  return Date.parse(timestamp) - EPOCH;
}
