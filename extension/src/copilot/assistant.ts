// What a conversation needs from an assistant: Copilot's models, or the Chat view.

import type { CancellationToken } from 'vscode-jsonrpc/node';
import type { CopilotSendParams, CopilotSendResult, InvokeToolParams, InvokeToolResult, ToolSpec } from '../protocol.gen';

/** Assistant answers the user's questions, and runs tools. */
export interface Assistant {
  /** Answers one attempt at a question. Never rejects: the result carries any failure. */
  send(params: CopilotSendParams, out: AnswerStream, token: CancellationToken): Promise<CopilotSendResult>;
  /** Runs an approved call; calls waits when the editor asks the user again, or may do so. */
  invoke(params: InvokeToolParams, token: CancellationToken, waits: (certain: boolean) => void): Promise<InvokeToolResult>;
  /** The tools that may be called. */
  tools(): ToolSpec[];
  /** A new daemon restarts its request ids, so earlier ones are invalid. */
  forget(): void;
}

/** AnswerStream receives an answer as it arrives. */
export interface AnswerStream {
  text(text: string): void;
  call(callId: string, name: string, input: unknown, destructive?: boolean, allowed?: boolean): void;
}
