// @voice in the Chat view: what is typed there is a turn of the spoken
// conversation, and the answer is shown there as well as spoken.

import type * as vscode from 'vscode';
import type { Conversation } from '../conversation';
import { type Model, isActive } from '../model';
import type { Translate } from '../text';

export async function participate(
  conversation: Conversation,
  request: vscode.ChatRequest,
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
  t: Translate,
): Promise<vscode.ChatResult> {
  const question = request.prompt.trim();
  if (question === '') {
    stream.markdown(t('Ask something, or start a conversation and speak.'));
    stream.button({ command: 'agentvoice.start', title: t('Start conversation') });
    return {};
  }
  const before = conversation.model.nextLine;
  const { turn, forget } = turnOf(conversation, question);
  try {
    const turnId = await conversation.say(question);
    if (turnId === undefined) {
      const { problem } = conversation.model;
      return { errorDetails: { message: problem === undefined ? t('Agent Voice is not available.') : `${problem.message} ${problem.remediation}` } };
    }
    return await follow(conversation, () => turnId || turn(), before, stream, token, t);
  } finally {
    forget();
  }
}

/** Which turn a question is asked in: one that waits has none, until the assistant is asked for it, alone or with others. */
function turnOf(conversation: Conversation, question: string): { turn: () => string; forget: () => void } {
  let turnId = '';
  const forget = conversation.onQuestion((params) => {
    if (turnId === '' && params.messages.findLast((m) => m.role === 'user')?.content.includes(question) === true) {
      turnId = params.turnId;
    }
  });
  return { turn: () => turnId, forget };
}

/** Shows the answer of a turn as it comes, until the turn is over. */
function follow(
  conversation: Conversation,
  turn: () => string,
  before: number,
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
  t: Translate,
): Promise<vscode.ChatResult> {
  return new Promise((resolve) => {
    let shown = '';
    const { conversation: instance } = conversation.model;
    const look = (m: Model): void => {
      const turnId = turn();
      const own = m.lines.filter((l) => l.id >= before && l.kind === 'speech' && l.turnId === turnId);
      const answer = own.findLast((l) => l.role === 'assistant');
      if (answer !== undefined && answer.text.startsWith(shown)) {
        stream.markdown(answer.text.slice(shown.length));
        shown = answer.text;
      }
      const failed = own.find((l) => l.failed !== undefined);
      if (failed !== undefined) {
        const { problem, notice } = m;
        done({ errorDetails: { message: problem === undefined ? (notice?.message ?? t('Not answered')) : `${problem.message} ${problem.remediation}` } });
      } else if (m.conversation !== instance || m.daemon !== 'running' || !isActive(m.snapshot)) {
        done({ errorDetails: { message: t('The conversation ended before the answer.') } });
      } else if (answer?.final === true && !m.openTurns.has(turnId)) {
        done({});
      }
    };
    const stop = conversation.onChange(look);
    const cancel = token.onCancellationRequested(() => {
      void conversation.interrupt('button');
      done({});
    });
    const done = (result: vscode.ChatResult): void => {
      stop();
      cancel.dispose();
      resolve(result);
    };
    look(conversation.model);
  });
}
