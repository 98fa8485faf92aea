// The editor's built-in tools: what a language model may call without an extension that contributes it. The
// daemon asks the user about each call, so the editor opens no dialog.

import * as vscode from 'vscode';
import type { EditorCommandParams, EditorCommandResult, InvokeToolParams, InvokeToolResult, ToolSpec } from '../protocol.gen';
import { listed } from '../copilot/tools';
import type { Log } from '../daemon/sidecar';
import { localFolders } from '../folders';
import type { Model } from '../model';
import type { Translate } from '../text';
import { keyOf } from './calls';
import { Changes } from './changes';
import { editing } from './editing';
import { CHANGED, type Files, Refused } from './files';
import { reading } from './reading';
import { running } from './running';
import { Input, type Own, type Token } from './tool';

/** Prepared is a call as reported to the daemon. */
export interface Prepared {
  readonly input: unknown;
  readonly allowed: boolean;
}

/** Maximum length of a result, in characters. */
const RESULT = 32_000;
/** Maximum number of remembered calls. */
const KEPT = 100;

export class OwnTools {
  private readonly tools: ReadonlyMap<string, Own>;
  private readonly changes: Changes;
  /** the keys of the latest calls with an id */
  private readonly latest = new Map<string, string>();
  /** reasons for calls that are refused without asking the user, by their keys */
  private readonly refused = new Map<string, string>();

  private approval: Model['approval'];

  constructor(
    private readonly files: Files,
    private readonly log: Log,
    t: Translate,
    private readonly onOutcome: (callId: string, outcome: string) => void = () => undefined,
  ) {
    this.changes = new Changes(t, files);
    this.tools = new Map([...reading(files), ...editing(files, this.changes), ...running(files, t)].map((tool) => [tool.name, tool]));
  }

  has(name: string): boolean {
    return this.tools.has(name);
  }

  /** The tools that the settings allow the model to call. */
  specs(): ToolSpec[] {
    const wanted = settings().get('tools.editor', 'all');
    return [...this.tools.values()].filter((tool) => wanted === 'all' || (wanted === 'read' && tool.readOnly)).filter((tool) => tool.here !== true || localFolders().length > 0).map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: { type: 'object', properties: tool.properties, required: tool.required ?? [], additionalProperties: false },
      destructive: tool.destructive === true,
    }));
  }

  /** Prepares a call for approval. Calls that the settings allow, or that will be refused, need no approval. */
  async prepare(callId: string, name: string, input: unknown): Promise<Prepared> {
    const tool = this.tools.get(name);
    if (tool?.prepare === undefined) {
      const file = tool === undefined ? undefined : await this.elsewhere(input).catch(() => undefined); // refused when it is read
      return { input: file === undefined ? input : { ...inputOf(input).all, path: file }, allowed: tool?.readOnly === true && listed(name, settings().get<string[]>('tools.withoutQuestion', [])) };
    }
    this.refused.delete(keyOf(callId, input)); // of an earlier call
    try {
      const prepared = await tool.prepare(callId, inputOf(input));
      keep(this.latest, callId, keyOf(callId, prepared));
      return { input: prepared, allowed: false };
    } catch (err) {
      keep(this.refused, keyOf(callId, input), this.reason(name, err).content);
      return { input, allowed: true };
    }
  }

  /** Runs an approved call. */
  async invoke({ callId, name, input }: Omit<InvokeToolParams, 'hash'>, token: Token): Promise<InvokeToolResult> {
    const refused = this.refused.get(keyOf(callId, input));
    const tool = this.tools.get(name);
    if (refused !== undefined || tool === undefined) {
      return { content: refused ?? 'There is no such tool.', refused: true };
    }
    if (!this.specs().some((spec) => spec.name === name)) {
      return { content: 'This tool is not allowed any more.', refused: true };
    }
    try {
      if (tool.prepare === undefined && (await this.elsewhere(input)) !== undefined) {
        throw new Refused(CHANGED); // the path became a link
      }
      const result = await tool.run(callId, inputOf(input), token);
      const { content, outcome } = typeof result === 'string' ? { content: result, outcome: '' } : result;
      this.onOutcome(callId, outcome);
      return { content: content.slice(0, RESULT) };
    } catch (err) {
      return this.reason(name, err);
    } finally {
      await this.changes.settle(keyOf(callId, input));
    }
  }

  /** The path of the file that a reading tool would read, if it is not the path of its input. */
  private async elsewhere(input: unknown): Promise<string | undefined> {
    const path = inputOf(input).text('path').trim();
    return path === '' ? undefined : this.files.elsewhere(path);
  }

  /** After a refusal the model continues; anything else is a tool failure. */
  private reason(name: string, err: unknown): InvokeToolResult {
    const message = err instanceof Error ? err.message : String(err);
    if (err instanceof Refused) {
      return { content: message, refused: true };
    }
    this.log.warn(`the tool ${name} failed`);
    return { content: message, isError: true };
  }

  /** Shows the change that awaits approval, and hides one that was decided. */
  follow({ approval }: Pick<Model, 'approval'>): void {
    this.approval = approval;
    const call = approval === undefined ? undefined : this.keyOf(approval.callId, approval.input);
    void this.changes.follow(call, async () => {
      const tool = this.tools.get(approval?.name ?? '');
      if (approval !== undefined && tool?.changes === true) { // a retried call
        await this.prepare(approval.callId, tool.name, approval.input);
      }
    }).catch(() => this.log.warn('the diff of a change could not be shown'));
  }

  /** The key of a call. Without its input, it is the latest one with its id. */
  private keyOf(callId: string, input: unknown): string {
    return input === undefined ? (this.latest.get(callId) ?? callId) : keyOf(callId, input);
  }

  /** Runs a voice command that concerns a change made by these tools. */
  async command({ command, names }: EditorCommandParams): Promise<EditorCommandResult | undefined> {
    switch (command) {
      case 'showChange':
        return this.changes.show(this.keyOf(names?.[0] ?? '', this.asked(names?.[0])));
      case 'undo':
        return this.changes.undo();
      default:
        return undefined;
    }
  }

  /** The input of the call that awaits approval, if that has an id. */
  private asked(callId: string | undefined): unknown {
    return this.approval?.callId === callId ? this.approval?.input : undefined;
  }

  dispose(): void {
    this.changes.dispose();
  }
}

/** Adds to a map that keeps a limited number of entries. */
function keep(map: Map<string, string>, key: string, value: string): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= KEPT) {
      break;
    }
    map.delete(oldest);
  }
}

function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration('agentvoice');
}

function inputOf(input: unknown): Input {
  return new Input(typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {});
}
