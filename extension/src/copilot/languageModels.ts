// Copilot by the editor's language model API: one request for each attempt that
// the daemon asks for, streamed, and cancelled when it is not wanted any more.

import * as vscode from 'vscode';
import type { AnswerStream, Assistant } from '../conversation';
import type { Log } from '../daemon/sidecar';
import type { CopilotSendParams, CopilotSendResult, InvokeToolParams, InvokeToolResult, ToolSpec } from '../protocol.gen';
import type { Translate } from '../text';
import { codeOf, failure, isCancelled } from './errors';
import { Once } from './once';
import { type Material, type Message, compose } from './prompt';
import { listed, offered } from './tools';

/** The longest result of a tool that is passed on, in characters. */
const RESULT = 200_000;
/** Where a model does not say how much it takes. */
const LIMIT = 8_000;

/** What the daemon passes for a request that may be taken back. */
type Token = Parameters<Assistant['send']>[2];

/** Consent is whether the editor lets the extension ask. */
export type Consent = 'allowed' | 'refused' | 'none';

/** The end of a request that was not to be sent. */
class Unsent extends Error {}

export class LanguageModels implements Assistant {
  private readonly answers = new Once<CopilotSendResult>();
  private readonly calls = new Once<InvokeToolResult>();
  private chosen: vscode.LanguageModelChat | undefined;

  constructor(
    private readonly material: () => Material[],
    private readonly log: Log,
    private readonly t: Translate,
    private readonly onModel: () => void,
  ) {}

  /** The name of the model that answers, as far as it is known. */
  get modelName(): string {
    return this.chosen?.name ?? '';
  }

  /** A new daemon counts its requests anew. */
  forget(): void {
    this.answers.forget();
    this.calls.forget();
  }

  /** All models that could answer, those of the wanted vendor first. */
  async models(): Promise<vscode.LanguageModelChat[]> {
    const vendor = settings().get('copilot.vendor', 'copilot').trim();
    const ours = await vscode.lm.selectChatModels(vendor === '' ? {} : { vendor });
    return ours.length > 0 || vendor === 'copilot' || vendor === '' ? ours : vscode.lm.selectChatModels({});
  }

  /** The wanted model, else the first there is. */
  async pick(wanted: string): Promise<vscode.LanguageModelChat | undefined> {
    const all = await this.models();
    const named = all.find((m) => m.id === wanted) ?? all.find((m) => m.family === wanted) ?? all.find((m) => m.name === wanted);
    if (wanted !== '' && named === undefined && all.length > 0) {
      this.log.warn(`there is no model ${wanted}; ${all[0]?.id ?? ''} is used`);
    }
    const model = named ?? all[0];
    if (model?.id !== this.chosen?.id) {
      this.chosen = model;
      this.onModel();
    }
    return model;
  }

  /**
   * Has the editor ask the user, where it still has to. It is to be called from an
   * action of the user. Copilot gets nothing: what is sent refuses to be written,
   * which the editor does when the user was asked.
   */
  async consent(): Promise<Consent> {
    const model = await this.pick(settings().get('copilot.model', ''));
    if (model === undefined) {
      return 'none';
    }
    const token = new vscode.CancellationTokenSource();
    token.cancel(); // also where it can be written
    const unwritable = { toJSON: (): never => { throw new Unsent(); } };
    try {
      const options = { justification: this.justification(), modelOptions: { unwritable } };
      await model.sendRequest([vscode.LanguageModelChatMessage.User('')], options, token.token);
    } catch (err) {
      if (!(err instanceof Unsent) && !isCancelled(err)) {
        const code = codeOf(err);
        this.log.debug(`consent: ${code}`);
        return code === 'copilotNoConsent' ? 'refused' : 'allowed';
      }
    } finally {
      token.dispose();
    }
    return 'allowed';
  }

  private justification(): string {
    return this.t('Agent Voice sends what you say, and what the panel shows beside it, to this model, and reads its answer aloud.');
  }

  send(params: CopilotSendParams, out: AnswerStream, token: Token): Promise<CopilotSendResult> {
    return this.answers.run(`${params.requestId} ${params.round ?? 0} ${params.attempt}`, () => this.attempt(params, out, token));
  }

  private async attempt(params: CopilotSendParams, out: AnswerStream, token: Token): Promise<CopilotSendResult> {
    const source = new vscode.CancellationTokenSource();
    const link = token.onCancellationRequested(() => source.cancel());
    try {
      const model = await this.pick(params.model ?? settings().get('copilot.model', ''));
      if (model === undefined) {
        return { status: 'failed', error: { code: 'copilotNotInstalled', message: '', retryable: false } };
      }
      const limit = model.maxInputTokens > 0 ? model.maxInputTokens : LIMIT;
      const prompt = await compose(params.messages, this.material(), settings().get('copilot.instructions', ''), limit, (text) => model.countTokens(text, source.token));
      if (token.isCancellationRequested) {
        return { status: 'cancelled' };
      }
      const tools = (params.tools ?? []).map((spec): vscode.LanguageModelChatTool => ({
        name: spec.name,
        description: spec.description ?? spec.name,
        ...(typeof spec.inputSchema === 'object' && spec.inputSchema !== null ? { inputSchema: spec.inputSchema } : {}),
      }));
      const options = { justification: this.justification(), ...(tools.length === 0 ? {} : { tools }) };
      const response = await model.sendRequest(prompt.messages.map(toModel), options, source.token);
      for await (const part of response.stream) {
        if (token.isCancellationRequested) {
          return { status: 'cancelled' };
        }
        if (part instanceof vscode.LanguageModelTextPart) {
          out.text(part.value);
        } else if (part instanceof vscode.LanguageModelToolCallPart) {
          out.call(part.callId, part.name, part.input);
        }
      }
      return { status: token.isCancellationRequested ? 'cancelled' : 'completed' };
    } catch (err) {
      if (token.isCancellationRequested || isCancelled(err)) {
        return { status: 'cancelled' };
      }
      const error = failure(err);
      this.log.warn(`the language model failed: ${error.code}`);
      return { status: 'failed', error };
    } finally {
      link.dispose();
      source.dispose();
    }
  }

  tools(): ToolSpec[] {
    if (!vscode.workspace.isTrusted) {
      return [];
    }
    const tools = settings();
    return offered(vscode.lm.tools, tools.get<string[]>('tools.allowed', []), tools.get<string[]>('tools.harmless', []));
  }

  invoke(params: InvokeToolParams, token: Token): Promise<InvokeToolResult> {
    return this.calls.run(params.callId, () => this.call(params, token));
  }

  private async call(params: InvokeToolParams, token: Token): Promise<InvokeToolResult> {
    if (!vscode.workspace.isTrusted || !listed(params.name, settings().get<string[]>('tools.allowed', []))) {
      return { content: 'This tool is not allowed any more.', isError: true };
    }
    const source = new vscode.CancellationTokenSource();
    const link = token.onCancellationRequested(() => source.cancel());
    try {
      const input = typeof params.input === 'object' && params.input !== null ? params.input : {};
      const result = await vscode.lm.invokeTool(params.name, { input, toolInvocationToken: undefined }, source.token);
      return { content: result.content.map(textOf).join('\n').slice(0, RESULT) };
    } catch (err) {
      this.log.warn(`the tool ${params.name} failed`);
      return { content: err instanceof Error ? err.message : String(err), isError: true };
    } finally {
      link.dispose();
      source.dispose();
    }
  }
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
