// The tests' side of the fake Copilot: its answers, and what it was asked.

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './wait.ts';

/** A piece of an answer, after a delay: words, a tool call, a failure, or a gate that stays closed until the test opens it. */
export type Part =
  | { text: string; afterMs?: number }
  | { gate: string; afterMs?: number }
  | { tool: string; input: unknown; afterMs?: number }
  | { fail: 'quota' | 'notFound' | 'noPermissions' | 'other'; afterMs?: number };

/** An answer to a question that contains `when`, or to any; with afterTool, to a tool result. */
export interface Reply {
  when?: string;
  afterTool?: boolean;
  parts: Part[];
}

export interface Message {
  role: 'user' | 'assistant';
  text: string;
  calls?: { callId: string; name: string; input: unknown }[];
  results?: { callId: string; text: string }[];
}

/** An entry of the record; at is the wall clock in milliseconds. */
export type Entry = { at: number } & (
  | { kind: 'ready'; version: string }
  | { kind: 'request'; id: number; model: string; tools: string[]; messages: Message[] }
  | { kind: 'delta'; id: number; text: string }
  | { kind: 'answered'; id: number }
  | { kind: 'cancelled'; id: number }
  | { kind: 'failed'; id: number; code: string }
  | { kind: 'tool'; input: unknown }
  | { kind: 'models'; models: string[] }
  | { kind: 'settings' }
  | { kind: 'chat'; prompt: string }
  | { kind: 'chatAnswered'; prompt: string }
  | { kind: 'chatCancelled'; prompt: string }
);

type Kind = Entry['kind'];
export type EntryOf<K extends Kind> = Extract<Entry, { kind: K }>;

export class Copilot {
  readonly env: Record<string, string>;
  private readonly dir: string;
  private models: string[] = ['large'];
  /** what offersNone took away */
  private kept: string[] = [];
  private replies: Reply[] = [];
  private chat: Part[] | undefined;
  private settings = { generation: 0, values: {} as Readonly<Record<string, unknown>> };
  private mark = 0;

  constructor(dir: string) {
    this.dir = dir;
    this.env = { AGENTVOICE_E2E_COPILOT: dir };
    writeFileSync(join(dir, 'record.jsonl'), '');
    this.write();
  }

  /** Sets the answers from now on. */
  answers(...replies: Reply[]): void {
    this.replies = replies;
    this.write();
  }

  /** Sets the Chat view's answers from now on; without parts, it repeats the question. */
  chats(...parts: Part[]): void {
    this.chat = parts.length === 0 ? undefined : parts;
    this.write();
  }

  /** Removes the models, as if Copilot were not installed, or restores them. */
  async offers(...models: string[]): Promise<void> {
    this.models = models;
    const before = this.all('models').length;
    this.write();
    await until('Copilot to change its models', () => this.all('models').length > before);
  }

  /** Has no models in the windows that open from now on. */
  offersNone(): void {
    this.kept = this.models;
    this.models = [];
    this.write();
  }

  /** Has the models again that offersNone took away. */
  offersAgain(): void {
    this.models = this.kept;
    this.write();
  }

  /** Applies user settings in the open window; null restores a default. */
  async configure(values: Readonly<Record<string, unknown>>): Promise<void> {
    const before = this.all('settings').length;
    this.settings = { generation: this.settings.generation + 1, values };
    this.write();
    await until('the settings to be taken over', () => this.all('settings').length > before);
  }

  /** Opens an answer's gate. A gate stays open. */
  open(gate: string): void {
    writeFileSync(join(this.dir, `gate-${gate}`), '');
  }

  close(gate: string): void {
    rmSync(join(this.dir, `gate-${gate}`));
  }

  /** Clears the record. */
  forget(): void {
    this.mark = this.lines().length;
  }

  /** The entries recorded since forget, in order. */
  entries(): Entry[] {
    return this.lines()
      .slice(this.mark)
      .map((line) => JSON.parse(line) as Entry);
  }

  all<K extends Kind>(kind: K): EntryOf<K>[] {
    return this.entries().filter((e): e is EntryOf<K> => e.kind === kind);
  }

  /** Waits for the nth entry of a kind since forget. */
  nth<K extends Kind>(kind: K, n = 1): Promise<EntryOf<K>> {
    return until(`entry ${n} of the kind ${kind} at Copilot`, () => this.all(kind)[n - 1]);
  }

  private lines(): string[] {
    const text = readFileSync(join(this.dir, 'record.jsonl'), 'utf8');
    return text.slice(0, text.lastIndexOf('\n') + 1).split('\n').slice(0, -1);
  }

  private write(): void {
    const file = join(this.dir, 'script.json');
    writeFileSync(`${file}.new`, JSON.stringify({ models: this.models, replies: this.replies, chat: this.chat, settings: this.settings }));
    renameSync(`${file}.new`, file);
  }
}

/** The user's last words in a request. */
export function question(request: EntryOf<'request'>): string {
  return (request.messages.at(-1)?.text ?? '').replace(DICTATED, '');
}

/** Whether the model was told that the words were dictated. */
export function dictated(request: EntryOf<'request'>): boolean {
  return DICTATED.test(request.messages.at(-1)?.text ?? '');
}

const DICTATED = /\n\n\[The words above were dictated\. [^\]]*\]$/;
