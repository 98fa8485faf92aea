// Copilot by the Chat view: the words are sent there as if they were typed, with
// all the tools that it has. The view gives no answer back, only how the request
// ended; so the user is told aloud that it did, and reads there.

import * as vscode from 'vscode';
import type { AnswerStream, Assistant } from '../conversation';
import type { CopilotSendParams, CopilotSendResult, InvokeToolParams, InvokeToolResult, ToolSpec } from '../protocol.gen';
import type { Translate } from '../text';
import { failure } from './errors';
import { Once } from './once';

/** How the Chat view says that a request ended, as far as it does. */
interface Ended {
  readonly type?: string;
  readonly errorDetails?: { readonly message?: string; readonly responseIsFiltered?: boolean; readonly isQuotaExceeded?: boolean };
}

export class ChatView implements Assistant {
  private readonly sent = new Once<CopilotSendResult>();
  /** the answer that the view is at work on */
  private out: AnswerStream | undefined;

  constructor(private readonly t: Translate) {}

  /** One prompt for one question, whichever attempt it is: a view that has it needs it no second time. */
  send(params: CopilotSendParams, out: AnswerStream, token: Parameters<Assistant['send']>[2]): Promise<CopilotSendResult> {
    return this.sent.run(params.requestId, () => this.ask(params, out, token));
  }

  private async ask(params: CopilotSendParams, out: AnswerStream, token: Parameters<Assistant['send']>[2]): Promise<CopilotSendResult> {
    const query = params.messages.findLast((m) => m.role === 'user')?.content ?? '';
    const cancelled = new Promise<'cancelled'>((resolve) => token.onCancellationRequested(() => resolve('cancelled')));
    this.out = out;
    out.text(''); // a sign of life: the view answers when it has finished
    try {
      const asked = Promise.resolve(vscode.commands.executeCommand<Ended | undefined>('workbench.action.chat.open', { query, blockOnResponse: true }));
      const ended = await Promise.race([asked, cancelled]);
      if (ended === 'cancelled') {
        await vscode.commands.executeCommand('workbench.action.chat.cancel');
        return { status: 'cancelled' };
      }
      if (ended?.errorDetails !== undefined) {
        const { isQuotaExceeded, responseIsFiltered, message } = ended.errorDetails;
        const code = isQuotaExceeded === true ? 'copilotQuota' : responseIsFiltered === true ? 'copilotBlocked' : undefined;
        return { status: 'failed', error: { ...failure(new Error(message ?? '')), ...(code === undefined ? {} : { code }), retryable: false } };
      }
      out.text(ended?.type === 'confirmation' ? this.t('Copilot asks you something in the Chat view.') : this.t('The answer is in the Chat view.'));
      return { status: 'completed' };
    } catch (err) {
      return { status: 'failed', error: { ...failure(err), code: 'copilotNotInstalled', retryable: false } };
    } finally {
      this.out = undefined;
    }
  }

  /** Says a text as part of the answer that the view is at work on, if there is one. */
  say(text: string): boolean {
    this.out?.text(`${text}\n\n`);
    return this.out !== undefined;
  }

  /** The Chat view runs its own. */
  tools(): ToolSpec[] {
    return [];
  }

  invoke(_params: InvokeToolParams): Promise<InvokeToolResult> {
    return Promise.resolve({ content: 'The Chat view runs its own tools.', isError: true });
  }

  forget(): void {
    this.sent.forget();
  }
}
