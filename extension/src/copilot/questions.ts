// Context of questions from the Chat view: the selected model, the attachments and the earlier exchanges. The
// daemon only carries the words; the rest is kept here until the daemon requests the answer.

import type * as vscode from 'vscode';
import type { CopilotMessage, CopilotSendParams } from '../protocol.gen';
import type { Material } from './prompt';

/** Exchange is an earlier question in the Chat view with its answer. */
export interface Exchange {
  readonly question: string;
  readonly answer: string;
}

export interface ChatQuestion {
  readonly question: string;
  readonly model: vscode.LanguageModelChat | undefined;
  readonly attached: readonly Material[];
  readonly history: readonly Exchange[];
}

/** Maximum number of questions kept for further attempts. */
const KEPT = 20;

export class ChatQuestions {
  private readonly waiting = new Set<ChatQuestion>();
  private readonly byTurn = new Map<string, ChatQuestion>();

  /** Registers a question for its turn; the result withdraws it. */
  add(question: ChatQuestion): () => void {
    this.waiting.add(question);
    return () => this.waiting.delete(question);
  }

  /** The Chat view's question that the daemon wants answered, or undefined. */
  of(params: CopilotSendParams): ChatQuestion | undefined {
    const known = this.byTurn.get(params.turnId);
    if (known !== undefined) {
      return known;
    }
    const found = [...this.waiting].find((q) => asks(params, q.question));
    if (found !== undefined) {
      this.waiting.delete(found);
      this.byTurn.set(params.turnId, found);
      for (const oldest of this.byTurn.keys()) {
        if (this.byTurn.size <= KEPT) {
          break;
        }
        this.byTurn.delete(oldest);
      }
    }
    return found;
  }

  /** A new daemon restarts its turn ids. */
  forget(): void {
    this.byTurn.clear();
  }
}

/** Whether a turn asks a question, alone or with others that were queued. */
export function asks(params: CopilotSendParams, question: string): boolean {
  return params.messages.findLast((m) => m.role === 'user')?.content.includes(question) === true;
}

/** Chat view exchanges that are missing in the daemon's thread, such as those before a window reload. */
export function earlier(history: readonly Exchange[], thread: readonly CopilotMessage[]): CopilotMessage[] {
  return history
    .filter(({ question }) => !thread.some((m) => m.role === 'user' && m.content.includes(question)))
    .flatMap(({ question, answer }): CopilotMessage[] => [
      { role: 'user', content: question },
      ...(answer === '' ? [] : [{ role: 'assistant' as const, content: answer }]),
    ]);
}
