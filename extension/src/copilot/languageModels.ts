// Copilot through the editor's language model API: one streamed request for each attempt of the daemon,
// cancelled when it is no longer needed.

import * as vscode from 'vscode';
import type { AnswerStream, Assistant } from './assistant';
import type { Log } from '../daemon/sidecar';
import type { CopilotSendParams, CopilotSendResult, ErrorCode, InvokeToolParams, InvokeToolResult, ToolSpec } from '../protocol.gen';
import type { Translate } from '../text';
import type { OwnTools } from '../tools/own';
import { CallChanged, callHash } from './callHash';
import type { Confirming } from './confirming';
import { codeOf, failure, isCancelled } from './errors';
import { Once } from './once';
import { type Material, type Message, compose } from './prompt';
import { type ChatQuestion, earlier } from './questions';
import { listed, offered } from './tools';

/** Maximum length of a forwarded tool result, in characters. */
const RESULT = 200_000;
/** Token limit for models that do not report one. */
const LIMIT = 8_000;
/** Delay after which a call counts as waiting for the user if the editor is known to ask, in milliseconds: calls without a dialog finish sooner. */
const DIALOG = 300;
/** The same if that is unknown: other calls can be slow, too. */
const PERHAPS = 4_000;
/** Interval of progress reports for parts without text, in milliseconds. */
const SIGN = 500;
/** Share of its limit above which the model counts a prompt's tokens itself. */
const NEAR = 0.7;

/** The daemon's cancellation signal for a request. */
type Token = Parameters<Assistant['send']>[2];
type Waits = Parameters<Assistant['invoke']>[2];

/** Consent reports whether the editor lets the extension send requests. */
export type Consent = 'allowed' | 'refused' | 'none';

/** Around is what the adapter needs from the window. */
export interface Around {
  /** Editor content for a question. */
  material(): Promise<Material[]>;
  /** The editor's consent state. It may be true before the user was asked, so only false is reliable. */
  readonly access: vscode.LanguageModelAccessInformation;
  readonly confirming: Confirming;
  readonly own: Pick<OwnTools, 'has' | 'specs' | 'prepare' | 'invoke'>;
  readonly log: Log;
  readonly t: Translate;
  /** The model changed. */
  onModel(): void;
  /** The user granted or revoked consent. */
  onAccess(allowed: boolean): void;
}

export class LanguageModels implements Assistant {
  private readonly answers = new Once<CopilotSendResult>();
  private readonly calls = new Once<InvokeToolResult>();
  private chosen: vscode.LanguageModelChat | undefined;

  /** the last consent state of the selected model */
  private permitted: boolean | undefined;
  /** the model for which the user was last asked */
  private consented: string | undefined;
  private readonly watch: vscode.Disposable;

  constructor(private readonly around: Around) {
    this.watch = around.access.onDidChange(() => {
      const before = this.permitted;
      this.look();
      if (this.permitted !== undefined && this.permitted !== before) {
        around.onAccess(this.permitted);
      }
    });
  }

  /** Whether the user granted access to this model, as far as this window knows. */
  get allowed(): boolean {
    return this.chosen !== undefined && this.consented === this.chosen.id && this.permitted !== false;
  }

  /** Whether the user refused access to a model. */
  refused(model: vscode.LanguageModelChat): boolean {
    return this.around.access.canSendRequest(model) === false;
  }

  dispose(): void {
    this.watch.dispose();
  }

  private look(): void {
    this.permitted = this.chosen === undefined ? undefined : this.around.access.canSendRequest(this.chosen);
  }

  /** The answering model, if known. */
  get model(): vscode.LanguageModelChat | undefined {
    return this.chosen;
  }

  /** A new daemon restarts its request ids. */
  forget(): void {
    this.answers.forget();
    this.calls.forget();
  }

  /** All available models, those of the preferred vendor first. */
  async models(): Promise<vscode.LanguageModelChat[]> {
    const vendor = settings().get('copilot.vendor', 'copilot').trim();
    const ours = await vscode.lm.selectChatModels(vendor === '' ? {} : { vendor });
    return ours.length > 0 || vendor === 'copilot' || vendor === '' ? ours : vscode.lm.selectChatModels({});
  }

  /** The selected model, or else the first available one. */
  async pick(wanted: string): Promise<vscode.LanguageModelChat | undefined> {
    const all = await this.models();
    const named = all.find((m) => m.id === wanted) ?? all.find((m) => m.family === wanted) ?? all.find((m) => m.name === wanted);
    if (wanted !== '' && named === undefined && all.length > 0) {
      this.around.log.warn(`there is no model ${wanted}; ${all[0]?.id ?? ''} is used`);
    }
    const model = named ?? all[0];
    if (model?.id !== this.chosen?.id) {
      this.chosen = model;
      this.look();
      this.around.onModel();
    }
    return model;
  }

  /**
   * Makes the editor ask for consent, if necessary. Call it from a user action. It sends nothing:
   * the request is already cancelled, and the editor checks that only after asking.
   */
  async consent(wanted = settings().get('copilot.model', '')): Promise<Consent> {
    const model = await this.pick(wanted);
    if (model === undefined) {
      return 'none';
    }
    const token = new vscode.CancellationTokenSource();
    token.cancel();
    let code: ErrorCode | undefined;
    try {
      await model.sendRequest([vscode.LanguageModelChatMessage.User('')], { justification: this.justification() }, token.token);
    } catch (err) {
      code = isCancelled(err) ? undefined : codeOf(err);
      this.around.log.debug(`consent: ${code ?? 'given'}`);
    } finally {
      token.dispose();
    }
    this.look();
    const refused = code === 'copilotNoConsent' || this.permitted === false;
    this.consented = refused ? undefined : model.id;
    return refused ? 'refused' : 'allowed';
  }

  private justification(): string {
    return this.around.t('Agent Voice sends what you say, and what the panel shows beside it, to this model, and reads its answer aloud.');
  }

  /** Answers an attempt. A question from the Chat view includes its model, attachments and earlier exchanges. */
  send(params: CopilotSendParams, out: AnswerStream, token: Token, asked?: ChatQuestion): Promise<CopilotSendResult> {
    return this.answers.run(`${params.requestId} ${params.round ?? 0} ${params.attempt}`, () => this.attempt(params, out, token, asked));
  }

  private async attempt(params: CopilotSendParams, out: AnswerStream, token: Token, asked: ChatQuestion | undefined): Promise<CopilotSendResult> {
    const source = new vscode.CancellationTokenSource();
    const link = token.onCancellationRequested(() => source.cancel());
    try {
      const model = asked?.model ?? await this.pick(params.model ?? settings().get('copilot.model', ''));
      if (model === undefined) {
        return { status: 'failed', error: { code: 'copilotNotInstalled', message: '', retryable: false } };
      }
      if (this.around.access.canSendRequest(model) === false) { // avoids a dialog in the middle of a conversation
        return { status: 'failed', error: { code: 'copilotNoConsent', message: '', retryable: false } };
      }
      const messages = await this.prompt(model, params, asked, source.token);
      if (token.isCancellationRequested) {
        return { status: 'cancelled' };
      }
      const tools = (params.tools ?? []).map((spec): vscode.LanguageModelChatTool => ({
        name: spec.name,
        description: spec.description ?? spec.name,
        ...(typeof spec.inputSchema === 'object' && spec.inputSchema !== null ? { inputSchema: spec.inputSchema } : {}),
      }));
      const options = { justification: this.justification(), ...(tools.length === 0 ? {} : { tools }) };
      const response = await model.sendRequest(messages.map(toModel), options, source.token);
      let sign = Number.NEGATIVE_INFINITY;
      for await (const part of response.stream as AsyncIterable<unknown>) {
        if (token.isCancellationRequested) {
          return { status: 'cancelled' };
        }
        if (part instanceof vscode.LanguageModelTextPart) {
          out.text(part.value);
        } else if (part instanceof vscode.LanguageModelToolCallPart) {
          const { input, allowed } = await this.around.own.prepare(part.callId, part.name, part.input);
          this.calls.drop(callKey(part.callId, callHash(part.name, input))); // models reuse their ids
          out.call(part.callId, part.name, input, undefined, allowed);
        }
        // Other parts, such as thinking, show that the model is working.
        if (!(part instanceof vscode.LanguageModelTextPart) && performance.now() - sign >= SIGN) {
          sign = performance.now();
          out.text('');
        }
      }
      // The API does not tell whether the answer is whole.
      return token.isCancellationRequested ? { status: 'cancelled' } : { status: 'completed', end: 'unknown' };
    } catch (err) {
      if (token.isCancellationRequested || isCancelled(err)) {
        return { status: 'cancelled' };
      }
      const error = failure(err);
      this.around.log.warn(`the language model failed: ${error.code}`);
      return { status: 'failed', error };
    } finally {
      link.dispose();
      source.dispose();
    }
  }

  /** The prompt of an attempt. The model counts its tokens only near the limit, and only once. */
  private async prompt(model: vscode.LanguageModelChat, params: CopilotSendParams, asked: ChatQuestion | undefined, token: vscode.CancellationToken): Promise<readonly Message[]> {
    const limit = model.maxInputTokens > 0 ? model.maxInputTokens : LIMIT;
    const said = [...earlier(asked?.history ?? [], params.messages), ...params.messages];
    const material = [...(await this.around.material()), ...(asked?.attached ?? [])];
    const within = (tokens: number): ReturnType<typeof compose> => compose(said, material, settings().get('copilot.instructions', ''), tokens);
    const prompt = within(limit);
    if (prompt.tokens < limit * NEAR) {
      return prompt.messages;
    }
    const text = prompt.messages.flatMap((m) => m.parts.map((p) => (p.is === 'call' ? JSON.stringify(p.input) : p.text))).join('\n');
    const tokens = await model.countTokens(text, token);
    return tokens <= limit ? prompt.messages : within(Math.floor((limit * limit) / tokens * 0.95)).messages;
  }

  tools(): ToolSpec[] {
    if (!vscode.workspace.isTrusted) {
      return [];
    }
    const tools = settings();
    return [...this.around.own.specs(), ...offered(vscode.lm.tools, tools.get<string[]>('tools.allowed', []), tools.get<string[]>('tools.harmless', []), (t) => this.around.confirming.asks(t))];
  }

  invoke(params: InvokeToolParams, token: Token, waits: Waits): Promise<InvokeToolResult> {
    if (callHash(params.name, params.input) !== params.hash) {
      return Promise.reject(new CallChanged());
    }
    return this.calls.run(callKey(params.callId, params.hash), () => this.call(params, token, waits));
  }

  private async call(params: InvokeToolParams, token: Token, waits: Waits): Promise<InvokeToolResult> {
    if (vscode.workspace.isTrusted && this.around.own.has(params.name)) {
      return this.around.own.invoke(params, token);
    }
    if (!vscode.workspace.isTrusted || !listed(params.name, settings().get<string[]>('tools.allowed', []))) {
      return { content: 'This tool is not allowed any more.', isError: true };
    }
    const source = new vscode.CancellationTokenSource();
    const link = token.onCancellationRequested(() => source.cancel());
    const tool = vscode.lm.tools.find((t) => t.name === params.name) ?? params;
    const certain = this.around.confirming.asks(tool);
    const timer = setTimeout(() => waits(certain), certain ? DIALOG : PERHAPS);
    try {
      const input = typeof params.input === 'object' && params.input !== null ? params.input : {};
      const result = await vscode.lm.invokeTool(params.name, { input, toolInvocationToken: undefined }, source.token);
      return { content: result.content.map(textOf).join('\n').slice(0, RESULT) };
    } catch (err) {
      if (isCancelled(err) && !token.isCancellationRequested) { // cancelled by the user in the editor's dialog
        this.around.confirming.learn(params.name);
        return { content: 'The user did not allow this call in the dialog of the editor. Do not ask for it again; go on without it.', refused: true };
      }
      this.around.log.warn(`the tool ${params.name} failed`);
      return { content: err instanceof Error ? err.message : String(err), isError: true };
    } finally {
      clearTimeout(timer);
      link.dispose();
      source.dispose();
    }
  }
}

/** The key of a call: another call may have the same id. */
function callKey(callId: string, hash: string): string {
  return `${callId} ${hash}`;
}

function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration('agentvoice');
}

function toModel(m: Message): vscode.LanguageModelChatMessage {
  if (m.role === 'assistant') {
    return vscode.LanguageModelChatMessage.Assistant(
      m.parts.flatMap((p): (vscode.LanguageModelTextPart | vscode.LanguageModelToolCallPart)[] =>
        p.is === 'text' ? [new vscode.LanguageModelTextPart(p.text)]
        : p.is === 'call' ? [new vscode.LanguageModelToolCallPart(p.callId, p.name, p.input)]
        : []));
  }
  return vscode.LanguageModelChatMessage.User(
    m.parts.flatMap((p): (vscode.LanguageModelTextPart | vscode.LanguageModelToolResultPart)[] =>
      p.is === 'text' ? [new vscode.LanguageModelTextPart(p.text)]
      : p.is === 'result' ? [new vscode.LanguageModelToolResultPart(p.callId, [new vscode.LanguageModelTextPart(p.text)])]
      : []));
}

function textOf(part: unknown): string {
  return part instanceof vscode.LanguageModelTextPart ? part.value
    : part instanceof vscode.LanguageModelPromptTsxPart ? JSON.stringify(part.value)
    : '';
}
