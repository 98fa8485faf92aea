// What a question from the Chat view brings along: the model that was chosen
// there, what was attached to it, and what was said there before. The daemon
// carries the words only; the rest waits here until it asks for the answer.

import type * as vscode from 'vscode';
import type { CopilotMessage, CopilotSendParams } from '../protocol.gen';
import type { Material } from './prompt';

/** Exchange is an earlier question of the Chat view with its answer. */
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

/** How many questions are kept for another attempt. */
const KEPT = 20;

export class ChatQuestions {
  private readonly waiting = new Set<ChatQuestion>();
  private readonly byTurn = new Map<string, ChatQuestion>();

  /** Has a question wait for its turn; the result takes it back. */
  add(question: ChatQuestion): () => void {
    this.waiting.add(question);
    return () => this.waiting.delete(question);
  }

  /** The question of the Chat view that the daemon wants answered, if it is one. */
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

  /** A new daemon counts its turns from the beginning. */
  forget(): void {
    this.byTurn.clear();
  }
}

/** Whether a question is asked in a turn, alone or with others that waited too. */
export function asks(params: CopilotSendParams, question: string): boolean {
  return params.messages.findLast((m) => m.role === 'user')?.content.includes(question) === true;
}

/** What was said in the Chat view and is not in the daemon's thread, such as before the window was reloaded. */
export function earlier(history: readonly Exchange[], thread: readonly CopilotMessage[]): CopilotMessage[] {
  return history
    .filter(({ question }) => !thread.some((m) => m.role === 'user' && m.content.includes(question)))
    .flatMap(({ question, answer }): CopilotMessage[] => [
      { role: 'user', content: question },
      ...(answer === '' ? [] : [{ role: 'assistant' as const, content: answer }]),
    ]);
}
