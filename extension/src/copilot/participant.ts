// @voice in the Chat view: what is typed there is a turn of the spoken
// conversation, and the answer is shown there as well as spoken.

import type * as vscode from 'vscode';
import type { Conversation } from '../conversation';
import type { Model } from '../model';
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
  const turnId = await conversation.say(question);
  if (turnId === undefined) {
    const { problem } = conversation.model;
    return { errorDetails: { message: problem === undefined ? t('Agent Voice is not available.') : `${problem.message} ${problem.remediation}` } };
  }
  return follow(conversation, turnId, before, stream, token, t);
}

/** Shows the answer of a turn as it comes, until the turn is over. */
function follow(
  conversation: Conversation,
  turnId: string,
  before: number,
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
  t: Translate,
): Promise<vscode.ChatResult> {
  return new Promise((resolve) => {
    let shown = '';
    const { conversation: instance } = conversation.model;
    const look = (m: Model): void => {
      const own = m.lines.filter((l) => l.id >= before && l.turnId === turnId && l.kind === 'speech');
      const answer = own.findLast((l) => l.role === 'assistant');
      if (answer !== undefined && answer.text.startsWith(shown)) {
        stream.markdown(answer.text.slice(shown.length));
        shown = answer.text;
      }
      const failed = own.find((l) => l.failed !== undefined);
      if (failed !== undefined) {
        const { problem, notice } = m;
        done({ errorDetails: { message: problem === undefined ? (notice?.message ?? t('Not answered')) : `${problem.message} ${problem.remediation}` } });
      } else if (m.conversation !== instance || m.daemon !== 'running') {
        done({ errorDetails: { message: t('The conversation ended before the answer.') } });
      } else if (answer?.final === true && !conversation.answering(turnId)) {
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
