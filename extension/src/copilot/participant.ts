// @voice in the Chat view: typed questions become turns of the spoken conversation, and their answers are
// shown there as well as spoken.

import * as vscode from 'vscode';
import type { Conversation } from '../conversation';
import { type Model, isActive } from '../model';
import type { Translate } from '../text';
import { cutNote } from '../cut';
import type { Context } from './context';
import type { Material } from './prompt';
import { type ChatQuestions, type Exchange, asks } from './questions';
import { hasPrivateKey } from './guard';

/** Room is what a participant needs. */
export interface Room {
  readonly conversation: Conversation;
  readonly questions: ChatQuestions;
  readonly context: Pick<Context, 'attachment'>;
  readonly t: Translate;
}

type Chat = Pick<vscode.ChatContext, 'history'>;

export async function participate(
  room: Room,
  request: vscode.ChatRequest,
  chat: Chat,
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
): Promise<vscode.ChatResult> {
  const { conversation, t } = room;
  const question = request.prompt.trim();
  if (question === '') {
    stream.markdown(t('Ask something, or start a conversation and speak.'));
    stream.button({ command: 'agentvoice.start', title: t('Start conversation') });
    return {};
  }
  const attached = await attachments(room, request, stream);
  const forget = room.questions.add({ question, model: request.model, attached, history: exchanges(chat) });
  const turn = new Turn(conversation, question, token);
  try {
    const said = await Promise.race([conversation.say(question).then((turnId) => ({ turnId })), turn.stopped]);
    if (said === 'stopped') {
      return {};
    }
    if (said.turnId === undefined) {
      const { problem } = conversation.model;
      return { errorDetails: { message: problem === undefined ? t('Agent Voice is not available.') : `${problem.message} ${problem.remediation}` } };
    }
    turn.is(said.turnId);
    return await follow(conversation, turn, stream, t);
  } finally {
    turn.end();
    forget();
  }
}

/** The question's attachments. Names those that must not be sent. */
async function attachments({ context, t }: Room, request: vscode.ChatRequest, stream: vscode.ChatResponseStream): Promise<Material[]> {
  const out: Material[] = [];
  for (const reference of request.references) {
    const { value } = reference;
    if (typeof value === 'string' && hasPrivateKey(value)) {
      stream.markdown(`${t('{0} is not sent.', `\`${reference.id}\``)}\n\n`);
    } else if (typeof value === 'string') {
      out.push({ key: 'attached', title: reference.modelDescription ?? 'Attached text', text: value });
    } else if (value instanceof vscode.Uri || value instanceof vscode.Location) {
      const uri = value instanceof vscode.Uri ? value : value.uri;
      const material = await context.attachment(uri, value instanceof vscode.Uri ? undefined : value.range);
      if (material === undefined) {
        stream.markdown(`${t('{0} is not sent.', `\`${vscode.workspace.asRelativePath(uri)}\``)}\n\n`);
      } else {
        stream.reference(value);
        out.push(material);
      }
    }
  }
  return out;
}

/** The earlier exchanges with this participant. */
function exchanges({ history }: Chat): Exchange[] {
  const out: Exchange[] = [];
  for (const entry of history) {
    if (entry instanceof vscode.ChatRequestTurn) {
      out.push({ question: entry.prompt.trim(), answer: '' });
    } else if (entry instanceof vscode.ChatResponseTurn) {
      const text = entry.response.map((part) => (part instanceof vscode.ChatResponseMarkdownPart ? part.value.value : '')).join('');
      const last = out.pop();
      if (last !== undefined) {
        out.push({ ...last, answer: last.answer + text });
      }
    }
  }
  return out.filter((e) => e.question !== '');
}

/**
 * Turn is the turn of a question. A queued question has no id until the daemon requests its answer;
 * if its chat request was stopped, the turn is withdrawn at that point.
 */
class Turn {
  id = '';
  /** resolves when the request is stopped in the Chat view */
  readonly stopped: Promise<'stopped'>;
  private readonly begun = new Set<string>();
  private readonly subscriptions: (() => void)[] = [];

  constructor(
    private readonly conversation: Conversation,
    private readonly question: string,
    private readonly token: vscode.CancellationToken,
  ) {
    const see = (m: Model): void => m.openTurns.forEach((id) => this.begun.add(id));
    see(conversation.model);
    this.subscriptions.push(
      conversation.onChange(see),
      conversation.onQuestion((params) => {
        if (this.id === '' && asks(params, question)) {
          this.is(params.turnId);
        }
      }),
    );
    this.stopped = new Promise((resolve) => {
      const stop = (): void => {
        this.takeBack();
        resolve('stopped');
      };
      const link = token.onCancellationRequested(stop);
      this.subscriptions.push(() => link.dispose());
      if (token.isCancellationRequested) {
        stop();
      }
    });
  }

  is(turnId: string): void {
    this.id ||= turnId;
    this.takeBack();
  }

  /** Whether the turn has started and ended. */
  over(m: Model): boolean {
    return this.begun.has(this.id) && !m.openTurns.has(this.id);
  }

  /** Stops only this turn's answer. */
  private takeBack(): void {
    if (this.token.isCancellationRequested && this.id !== '') {
      void this.conversation.interrupt('button');
    }
  }

  /** The request ended. If it was stopped before its turn, this withdraws the question when it is asked alone. */
  end(): void {
    this.subscriptions.forEach((f) => f());
    if (this.token.isCancellationRequested && this.id === '') {
      const { conversation: instance } = this.conversation.model;
      const forget = this.conversation.onQuestion((params) => {
        const mine = asks(params, this.question);
        if (mine || this.conversation.model.conversation > instance + 1) {
          forget();
        }
        if (mine && params.messages.findLast((m) => m.role === 'user')?.content === this.question) {
          void this.conversation.interrupt('button');
        }
      });
    }
  }
}

/** Streams the answer of a turn until the turn ends. */
function follow(conversation: Conversation, turn: Turn, stream: vscode.ChatResponseStream, t: Translate): Promise<vscode.ChatResult> {
  return new Promise((resolve) => {
    let shown = '';
    const { conversation: instance } = conversation.model;
    const look = (m: Model): void => {
      const own = turn.id === '' ? [] : m.lines.filter((l) => l.conversation === instance && l.kind === 'speech' && l.turnId === turn.id);
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
      } else if (turn.over(m)) {
        done(answer?.cut !== undefined ? { errorDetails: { message: cutNote(answer.cut, t) } }
        : answer === undefined ? { errorDetails: { message: t('The question was stopped before an answer came.') } } : {});
      }
    };
    const stop = conversation.onChange(look);
    const done = (result: vscode.ChatResult): void => {
      stop();
      resolve(result);
    };
    void turn.stopped.then(() => done({}));
    look(conversation.model);
  });
}
