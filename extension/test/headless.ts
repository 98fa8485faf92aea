// A window's conversation with the real daemon and a scripted world: helpers to drive it and wait for
// it.

import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Conversation } from '../src/conversation';
import type { AnswerStream, Assistant } from '../src/copilot/assistant';
import type { Clock } from '../src/daemon/sidecar';
import type { Model } from '../src/model';
import type { Configuration, CopilotSendParams, CopilotSendResult, EditorCommandParams, InvokeToolParams, InvokeToolResult, Microphone, MuteReason, State } from '../src/protocol.gen';
import { english } from '../src/text';
import { type Sent, record } from './trace';

const root = join(__dirname, '..', '..', '..');
const daemonPath = process.env['AGENTVOICE_DAEMON'] ?? join(root, 'bin', 'agentvoice-daemon');

/** Upper bound of every wait, in milliseconds of real time; no test relies on it to pass. */
const PATIENCE = 120_000;

/** Answers one attempt. */
export type Answer = (params: CopilotSendParams, out: AnswerStream, token: Parameters<Assistant['send']>[2]) => Promise<CopilotSendResult>;

export const says = (text: string): Answer => (_params, out) => {
  out.text(text);
  return Promise.resolve({ status: 'completed' });
};

export class Desk {
  readonly conversation: Conversation;
  readonly asked: CopilotSendParams[] = [];
  readonly invoked: InvokeToolParams[] = [];
  readonly daemons: ChildProcessWithoutNullStreams[] = [];
  readonly shown: Model[] = [];
  /** what the daemons sent */
  readonly trace: Sent[] = [];
  readonly opened: string[] = [];
  readonly commanded: EditorCommandParams[] = [];
  configuration: Configuration = {};
  /** The window's stored mute state. */
  kept: MuteReason | undefined;
  private readonly dir = mkdtempSync(join(tmpdir(), 'agentvoice-desk-'));
  private readonly log: string[] = [];
  private readonly looks = new Set<(m: Model) => void>();

  constructor(script: string, public answer: Answer = says('It reads tokens.'), muted?: MuteReason) {
    this.kept = muted;
    const file = join(this.dir, 'script.txt');
    writeFileSync(file, script);
    const note = (line: string): void => void this.log.push(line);
    this.conversation = new Conversation({
      launch: () => this.launch(file),
      configuration: () => this.configuration,
      locale: 'en',
      client: { name: 'test', version: '1' },
      assistant: {
        send: (params, out, token) => {
          this.asked.push(params);
          return this.answer(params, out, token);
        },
        invoke: (params): Promise<InvokeToolResult> => {
          this.invoked.push(params);
          return Promise.resolve({ content: 'done' });
        },
        tools: () => [{ name: 'runTests', description: 'Runs the tests.', destructive: false }],
        forget: () => undefined,
      },
      secret: () => Promise.reject(new Error('none')),
      openExternal: (url) => {
        this.opened.push(url);
        return Promise.resolve();
      },
      command: (params) => {
        this.commanded.push(params);
        this.looks.forEach((look) => look(this.model)); // the model may not change
        return Promise.resolve({});
      },
      windowLives: () => Promise.resolve(true),
      muted,
      keepMuted: (by) => (this.kept = by),
      log: { info: note, warn: note, error: note, debug: note },
      t: english,
      clock: quick,
    });
    this.conversation.onChange((m) => this.shown.push(m));
  }

  private async launch(file: string): Promise<ChildProcessWithoutNullStreams> {
    const daemon = spawn(daemonPath, ['serve', '--stdio', '--headless', '--script', file], { timeout: 3 * PATIENCE });
    this.daemons.push(daemon);
    record(daemon, this.trace);
    await new Promise((resolve, reject) => daemon.once('spawn', resolve).once('error', reject));
    return daemon;
  }

  get model(): Model {
    return this.conversation.model;
  }

  /** The displayed states, without repetitions. */
  states(): State[] {
    const all = this.shown.flatMap((m) => (m.snapshot === undefined ? [] : [{ state: m.snapshot.state, seq: m.snapshot.seq, c: m.conversation }]));
    return all.filter((s, i) => s.seq !== all[i - 1]?.seq || s.c !== all[i - 1]?.c).map((s) => s.state);
  }

  /** Waits until the model satisfies a condition. */
  async until(what: string, holds: (m: Model) => boolean): Promise<void> {
    if (holds(this.model)) {
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => {
        stop();
        reject(new Error(`still waiting for ${what}; so far: ${this.states().join(' ')}; the log: ${this.log.join('\n')}`));
      }, PATIENCE);
      const look = (m: Model): void => {
        if (holds(m)) {
          clearTimeout(late);
          stop();
          resolve();
        }
      };
      const unlisten = this.conversation.onChange(look);
      const stop = (): void => {
        unlisten();
        this.looks.delete(look);
      };
      this.looks.add(look);
    });
  }

  state(state: State): Promise<void> {
    return this.until(state, (m) => m.snapshot?.state === state);
  }

  /** Advances virtual time. */
  async advance(ms: number): Promise<void> {
    await this.conversation.ask((wire) => wire.request('headless/advance', { ms }));
  }

  /** Waits until everything that the daemon sent so far has arrived. */
  async settled(): Promise<void> {
    await this.conversation.ask((wire) => wire.request('conversation/state'));
  }

  /** The microphone state reported by the daemon. */
  async microphone(): Promise<Microphone | undefined> {
    return (await this.conversation.ask((wire) => wire.request('conversation/state')))?.microphone;
  }

  async close(): Promise<void> {
    await this.conversation.close();
    for (const daemon of this.daemons) {
      assert.ok(daemon.exitCode !== null || daemon.signalCode !== null, 'a daemon is left behind');
    }
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Real time, but restarts happen without delay. */
const quick: Clock = {
  now: () => Date.now(),
  after: (ms, f) => {
    const timer = setTimeout(f, ms < 1_000 ? 0 : ms);
    return () => clearTimeout(timer);
  },
};
