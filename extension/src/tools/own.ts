// The tools of the editor's own: what a language model may ask for without an
// extension that contributes it. The daemon asks the user about each call, so no
// dialog of the editor opens.

import * as vscode from 'vscode';
import type { EditorCommandParams, EditorCommandResult, InvokeToolParams, InvokeToolResult, ToolSpec } from '../protocol.gen';
import { listed } from '../copilot/tools';
import type { Log } from '../daemon/sidecar';
import type { Model } from '../model';
import type { Translate } from '../text';
import { Changes } from './changes';
import { editing } from './editing';
import { type Files, Refused } from './files';
import { reading } from './reading';
import { running } from './running';

/** What the daemon passes for a call that may be taken back. */
export interface Token {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(f: () => void): { dispose(): void };
}

/** The members of a call's input; the model need not keep to the schema. */
export class Input {
  constructor(readonly all: Readonly<Record<string, unknown>>) {}

  text(name: string): string {
    const value = this.all[name];
    return typeof value === 'string' ? value : '';
  }

  /** A text that the call cannot do without. */
  required(name: string): string {
    const value = this.text(name).trim();
    if (value === '') {
      throw new Refused(`The input has no "${name}".`);
    }
    return value;
  }

  number(name: string): number | undefined {
    const value = this.all[name];
    return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;
  }

  flag(name: string): boolean {
    return this.all[name] === true;
  }
}

/** Own is a tool. What it cannot do it says by a Refused, for the model. */
export interface Own {
  readonly name: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  /** It changes nothing and runs nothing. */
  readonly readOnly?: true;
  /** What it does may be irreversible: a plain yes is not enough. */
  readonly destructive?: true;
  /** It changes files, which the editor shows while the user is asked. */
  readonly changes?: true;
  /** What the user is asked about: the input with all that the call depends on. */
  prepare?(callId: string, input: Input): Promise<object>;
  run(callId: string, input: Input, token: Token): Promise<string>;
}

/** Prepared is a call as the daemon is told of it. */
export interface Prepared {
  readonly input: unknown;
  readonly allowed: boolean;
}

/** The longest result, in characters. */
const RESULT = 32_000;
/** How many calls are kept that will be refused. */
const KEPT = 100;

export class OwnTools {
  private readonly tools: ReadonlyMap<string, Own>;
  private readonly changes: Changes;
  /** why calls are refused that the user is not asked about */
  private readonly refused = new Map<string, string>();

  constructor(
    files: Files,
    private readonly log: Log,
    t: Translate,
  ) {
    this.changes = new Changes(t);
    this.tools = new Map([...reading(files), ...editing(files, this.changes), ...running()].map((tool) => [tool.name, tool]));
  }

  has(name: string): boolean {
    return this.tools.has(name);
  }

  /** Those that the settings let the model ask for. */
  specs(): ToolSpec[] {
    const wanted = settings().get('tools.editor', 'all');
    return [...this.tools.values()].filter((tool) => wanted === 'all' || (wanted === 'read' && tool.readOnly)).map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: { type: 'object', properties: tool.properties, required: tool.required ?? [], additionalProperties: false },
      destructive: tool.destructive === true,
    }));
  }

  /** A call as the user is asked about it. Nobody is asked about one that the settings allow, or that will be refused. */
  async prepare(callId: string, name: string, input: unknown): Promise<Prepared> {
    const tool = this.tools.get(name);
    if (tool?.prepare === undefined) {
      return { input, allowed: tool?.readOnly === true && listed(name, settings().get<string[]>('tools.withoutQuestion', [])) };
    }
    try {
      return { input: await tool.prepare(callId, inputOf(input)), allowed: false };
    } catch (err) {
      this.refused.set(callId, this.reason(name, err).content);
      for (const oldest of this.refused.keys()) {
        if (this.refused.size <= KEPT) {
          break;
        }
        this.refused.delete(oldest);
      }
      return { input, allowed: true };
    }
  }

  /** Carries out a call that the user allowed. */
  async invoke({ callId, name, input }: InvokeToolParams, token: Token): Promise<InvokeToolResult> {
    const refused = this.refused.get(callId);
    const tool = this.tools.get(name);
    if (refused !== undefined || tool === undefined) {
      return { content: refused ?? 'There is no such tool.' };
    }
    if (!this.specs().some((spec) => spec.name === name)) {
      return { content: 'This tool is not allowed any more.' };
    }
    try {
      return { content: (await tool.run(callId, inputOf(input), token)).slice(0, RESULT) };
    } catch (err) {
      return this.reason(name, err);
    } finally {
      await this.changes.settle(callId);
    }
  }

  /** A refusal is a result, so that the model continues; anything else is a failure of the tool. */
  private reason(name: string, err: unknown): InvokeToolResult {
    const message = err instanceof Error ? err.message : String(err);
    if (err instanceof Refused) {
      return { content: message };
    }
    this.log.warn(`the tool ${name} failed`);
    return { content: message, isError: true };
  }

  /** Shows the change that the user is asked about, and hides one that was decided on. */
  follow({ approval }: Pick<Model, 'approval'>): void {
    void this.changes.follow(approval?.callId, async () => {
      const tool = this.tools.get(approval?.name ?? '');
      if (approval !== undefined && tool?.changes === true) { // a call that is tried again
        await this.prepare(approval.callId, tool.name, approval.input);
      }
    }).catch(() => this.log.warn('the diff of a change could not be shown'));
  }

  /** Does what a voice command asks for, where it is about a change of these tools. */
  async command({ command, names }: EditorCommandParams): Promise<EditorCommandResult | undefined> {
    switch (command) {
      case 'showChange':
        return this.changes.show(names?.[0] ?? '');
      case 'undo':
        return this.changes.undo();
      default:
        return undefined;
    }
  }

  dispose(): void {
    this.changes.dispose();
  }
}

function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration('agentvoice');
}

function inputOf(input: unknown): Input {
  return new Input(typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {});
}
