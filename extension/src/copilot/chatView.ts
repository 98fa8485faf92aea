// Copilot through the Chat view: words are submitted there as if typed, in agent mode with all tools. The
// command returns how a request ended. Until then, the chat export contains the answer so far
// (chatExport.ts), which is read aloud as it grows. Approvals are announced here but given in the view,
// because VS Code has no command that allows exactly one call.

import * as vscode from 'vscode';
import type { AnswerStream, Assistant } from './assistant';
import type { CopilotSendParams, CopilotSendResult, InvokeToolParams, InvokeToolResult, ToolSpec } from '../protocol.gen';
import type { Translate } from '../text';
import { type ChatExport, type ChatRequest, type Ended, isOver } from './chatExport';
import { failure } from './errors';
import { Once } from './once';

const OPEN = 'workbench.action.chat.open';
const CANCEL = 'workbench.action.chat.cancel';
/** The scheme of the Chat view's input, which VS Code 1.139 shows to extensions as a document. */
const INPUT = 'chatSessionInput';
/** An input without a draft: VS Code leaves the participant of the last question in it. */
const EMPTY = /^\s*(@\S+)?\s*$/;
/** The poll interval is at least this multiple of the last export's duration, to limit the load on the editor. */
const POLL_RATIO = 20;
/** Maximum poll interval, in milliseconds: each poll reports progress, and an answer counts as stalled after 15 s by default. */
const LONGEST_POLL = 5_000;

/** Times in milliseconds. */
export interface Waits {
  /** minimum poll interval */
  readonly poll: number;
  /** timeouts for an opened view to show its input, and then to restore a draft */
  readonly opening: number;
  readonly draft: number;
  /** when to give up a request that appears in no export */
  readonly lost: number;
  /** how long to look for a request to stop */
  readonly stop: number;
}
const WAITS: Waits = { poll: 1_000, opening: 3_000, draft: 500, lost: 15_000, stop: 10_000 };

type Token = Parameters<Assistant['send']>[2];

export class ChatView implements Assistant {
  private readonly sent = new Once<CopilotSendResult>();
  /** the answer in progress */
  private out: AnswerStream | undefined;

  constructor(private readonly chat: Pick<ChatExport, 'read'>, private readonly t: Translate, private readonly waits = WAITS) {}

  /** Sends a question once for all attempts, because the view already has it. */
  send(params: CopilotSendParams, out: AnswerStream, token: Token): Promise<CopilotSendResult> {
    return this.sent.run(params.requestId, () => this.ask(params, out, token));
  }

  private async ask(params: CopilotSendParams, out: AnswerStream, token: Token): Promise<CopilotSendResult> {
    const query = params.messages.findLast((m) => m.role === 'user')?.content ?? '';
    this.out = out;
    out.text(''); // reports progress, because opening the view takes a while
    try {
      const draft = await this.draft();
      const before = await this.chat.read();
      const refused = draft ?? (await this.busy(before?.at(-1)));
      if (refused !== undefined) {
        out.text(refused);
        return { status: 'completed', end: 'whole' };
      }
      if (token.isCancellationRequested) {
        return { status: 'cancelled' };
      }
      return await this.follow(new Followed(query, new Set(before?.map((r) => r.id)), out, this.t), token);
    } catch (err) {
      return { status: 'failed', error: { ...failure(err), code: 'copilotNotInstalled', retryable: false } };
    } finally {
      this.out = undefined;
    }
  }

  /** Why a question cannot be sent: the command would overwrite a draft in the view's input. */
  private async draft(): Promise<string | undefined> {
    if (inputs().length === 0) {
      await this.opened();
    }
    const drafts = inputs();
    if (drafts.length === 0) {
      return this.t('This version of VS Code does not show whether the Chat view holds a draft, so I sent nothing. Update VS Code, or choose another way to reach Copilot in the settings.');
    }
    return drafts.some((d) => !EMPTY.test(d.getText()))
      ? this.t('There is a draft in the Chat view, so I sent nothing. Send or clear it there, then ask again.')
      : undefined;
  }

  /** Why a question cannot be sent: a new request would stop one that waits for the user. last is the last request of the chat. */
  private async busy(last: ChatRequest | undefined): Promise<string | undefined> {
    if (last?.endedAt === undefined || last.result !== undefined) {
      return undefined;
    }
    await pause(10);
    const again = (await this.chat.read())?.at(-1);
    return again?.id === last.id && !isOver(again, last)
      ? this.t('The Chat view is still working on another request, so I sent nothing. Ask again when it is done.')
      : undefined;
  }

  /** Opens the view, and waits for its input and a restored draft. */
  private async opened(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    let watch: vscode.Disposable | undefined;
    const shown = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.waits.opening);
      watch = vscode.workspace.onDidOpenTextDocument((d) => d.uri.scheme === INPUT && resolve());
    });
    await vscode.commands.executeCommand(OPEN);
    if (inputs().length === 0) {
      await shown;
    }
    clearTimeout(timer);
    watch?.dispose();
    await pause(this.waits.draft);
  }

  /** Sends the question and follows its request to the end. */
  private async follow(request: Followed, token: Token): Promise<CopilotSendResult> {
    const cancelled = new Promise<'cancelled'>((resolve) => token.onCancellationRequested(() => resolve('cancelled')));
    const options = { query: request.query, mode: 'agent', blockOnResponse: true };
    const returned = Promise.resolve(vscode.commands.executeCommand<Ended | undefined>(OPEN, options)).then((ended) => ({ ended }));
    let returns = false;
    let seen = 0;
    for (let every = this.waits.poll; ;) {
      const what: 'cancelled' | { ended: Ended | undefined } | void = await Promise.race([cancelled, pause(every), ...(returns ? [] : [returned])]);
      if (what === 'cancelled') {
        await this.stop(request, returned);
        return { status: 'cancelled' };
      }
      const began = performance.now();
      const found = request.take(await this.chat.read());
      const now = performance.now();
      every = Math.min(Math.max(this.waits.poll, POLL_RATIO * (now - began)), LONGEST_POLL);
      returns ||= what !== undefined;
      seen = found || !returns ? now : seen;
      const asks = what?.ended?.type === 'confirmation';
      if (what?.ended !== undefined && !asks) {
        return request.end(what.ended);
      }
      if (found && request.over) {
        return request.end();
      }
      if (returns && (request.unseen || now - seen >= this.waits.lost)) {
        return request.lost();
      }
      request.goesOn(asks);
    }
  }

  /** Stops only this request: the command stops the last request of the focused chat, whichever that is. */
  private async stop(request: Followed, returned: Promise<{ ended: Ended | undefined }>): Promise<void> {
    let over = false;
    void returned.then(({ ended }) => (over ||= ended !== undefined && ended.type !== 'confirmation'), () => (over = true));
    for (const until = performance.now() + this.waits.stop; performance.now() < until && !over; await pause(this.waits.poll / 10)) {
      const last = (await this.chat.read())?.at(-1);
      if (last !== undefined && request.is(last)) {
        await vscode.commands.executeCommand(CANCEL);
        return;
      }
    }
    if (!over) {
      void vscode.window.showWarningMessage(this.t('The Chat view may still be working on your request. Stop it there.'));
    }
  }

  /** Adds a text to the answer in progress; returns false if there is none. */
  say(text: string): boolean {
    this.out?.text(`${text}\n\n`);
    return this.out !== undefined;
  }

  /** The Chat view runs its own tools. */
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

/** Followed tracks the sent request through successive exports. */
class Followed {
  private last: ChatRequest | undefined;
  /** the part of the answer that was forwarded */
  private said = '';
  private grew = false;
  private waits = false;
  private waited = false;
  over = false;

  /** known holds the ids of earlier requests. */
  constructor(readonly query: string, private readonly known: ReadonlySet<string>, private readonly out: AnswerStream, private readonly t: Translate) {}

  is(r: ChatRequest): boolean {
    return r.prompt.trim() === this.query.trim() && !this.known.has(r.id);
  }

  get unseen(): boolean {
    return this.last === undefined;
  }

  /** Forwards the new part of the answer; returns false if the export does not contain the request. */
  take(chat: readonly ChatRequest[] | undefined): boolean {
    const found = chat?.findLast((r) => this.is(r));
    if (found === undefined) {
      return false;
    }
    this.over = isOver(found, this.last);
    const grew = found.waited > (this.last?.waited ?? 0);
    this.waits = grew && this.grew;
    this.grew = grew;
    this.last = found;
    if (found.text.length > this.said.length && found.text.startsWith(this.said)) {
      this.out.text(found.text.slice(this.said.length));
      this.said = found.text;
    }
    return true;
  }

  /** Reports progress, and announces once that the view waits for the user; asks means that the command returned so. */
  goesOn(asks: boolean): void {
    const waits = asks || this.waits;
    this.out.text(waits && !this.waited ? `\n\n${this.question()}\n\n` : '');
    this.waited = waits;
  }

  private question(): string {
    return this.last?.command === undefined
      ? this.t('The Chat view needs your approval or an answer. Respond there; it does not work by voice.')
      : this.t('The Chat view asks to run {0}. Allow or skip it there; it does not work by voice.', `\`${this.last.command}\``);
  }

  /** The result, from the command's return value, or else from the export. */
  end(ended = this.last?.result ?? {}): CopilotSendResult {
    if (this.last?.result !== undefined && this.last.stopped) {
      this.close(this.t('The request was stopped in the Chat view.'));
      return { status: 'completed', end: 'interrupted' };
    } else if (ended.errorDetails !== undefined) {
      const { isQuotaExceeded, responseIsFiltered, message } = ended.errorDetails;
      const code = isQuotaExceeded === true ? 'copilotQuota' : responseIsFiltered === true ? 'copilotBlocked' : undefined;
      return { status: 'failed', error: { ...failure(new Error(message ?? '')), ...(code === undefined ? {} : { code }), retryable: false } };
    } else if (this.said === '' || this.said !== this.last?.text) {
      this.close(this.t('The answer is in the Chat view.'));
    } else if (this.last.acted) {
      this.close(this.t('The Chat view is done.'));
    }
    return { status: 'completed', end: 'unknown' };
  }

  lost(): CopilotSendResult {
    this.close(this.t('I lost track of the Chat view. Its answer is shown there.'));
    return { status: 'completed', end: 'unknown' };
  }

  private close(text: string): void {
    this.out.text(this.said === '' ? text : `\n\n${text}`);
  }
}

/** The inputs of Chat views, with the user's drafts. */
function inputs(): vscode.TextDocument[] {
  return vscode.workspace.textDocuments.filter((d) => d.uri.scheme === INPUT);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
