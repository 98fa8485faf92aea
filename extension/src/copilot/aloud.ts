// Speech of Copilot's own agent: the tools agentvoice_say and agentvoice_ask, which the package contributes.
// Neither opens an editor dialog.

import type { Conversation } from '../conversation';
import { type Model, isActive } from '../model';
import type { CopilotSendParams } from '../protocol.gen';

/** How long a text waits for silence, and a question for its answer, in milliseconds. */
const FREE = 60_000;
const ANSWER = 90_000;
/** Maximum length of a spoken text, in characters: about two minutes. */
const LONGEST = 2_000;
/** Maximum number of remembered answered requests. */
const KEPT = 100;

/** The editor's cancellation signal for a call. */
interface Token {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(f: () => void): { dispose(): void };
}

type Talk = Pick<Conversation, 'onChange' | 'read'> & { model(): Model };

export class Aloud {
  /** words that answered an agent's question, until they arrive as a question for the assistant */
  private answer: string | undefined;
  private readonly taken = new Set<string>();

  /** inAnswer adds a text to an answer in progress, and returns whether there is one. */
  constructor(
    private readonly conversation: Talk,
    private readonly inAnswer: (text: string) => boolean,
    private readonly limits = { free: FREE, answer: ANSWER },
  ) {}

  /** Speaks a text when nobody is talking. The result is for the agent. */
  async say(text: unknown, token: Token): Promise<string> {
    const words = typeof text === 'string' ? text.trim().slice(0, LONGEST) : '';
    if (words === '') {
      return 'There is no text to say.';
    }
    return (await this.speak(words, token)) ? 'Said.' : 'It could not be said.';
  }

  private async speak(words: string, token: Token): Promise<boolean> {
    if (this.inAnswer(words)) {
      return true;
    }
    if (isActive(this.conversation.model().snapshot)) {
      await this.reached((m) => m.snapshot?.state === 'listening' || !isActive(m.snapshot), this.limits.free, token);
    }
    return !token.isCancellationRequested && (await this.conversation.read(words)) !== undefined;
  }

  /** Asks the user aloud and returns the answer's words. It does not open the microphone. */
  async ask(question: unknown, token: Token): Promise<string> {
    const words = typeof question === 'string' ? question.trim().slice(0, LONGEST) : '';
    const { snapshot } = this.conversation.model();
    if (words === '') {
      return 'There is no question.';
    }
    if (!isActive(snapshot) || snapshot?.microphone.muted === true) {
      return 'The user has no open voice conversation, or is muted: ask in the chat.';
    }
    const before = new Set(spoken(this.conversation.model()).map((l) => l.id));
    if (!(await this.speak(words, token))) {
      return 'The question could not be asked aloud: ask in the chat.';
    }
    const found = (m: Model): string | undefined => spoken(m).find((l) => !before.has(l.id))?.text;
    await this.reached((m) => found(m) !== undefined || !isActive(m.snapshot), this.limits.answer, token);
    const answer = found(this.conversation.model());
    if (answer === undefined) {
      return 'The user did not answer.';
    }
    this.answer = answer;
    return `The user answered: ${answer}`;
  }

  /** Whether a question for the assistant is the answer to an agent's question, which the agent already received. */
  took({ requestId, messages }: CopilotSendParams): boolean {
    if (this.answer !== undefined && messages.findLast((m) => m.role === 'user')?.content === this.answer) {
      this.answer = undefined;
      this.taken.add(requestId);
      for (const oldest of this.taken) {
        if (this.taken.size <= KEPT) {
          break;
        }
        this.taken.delete(oldest);
      }
    }
    return this.taken.has(requestId);
  }

  /** A new daemon restarts its request ids. */
  forget(): void {
    this.answer = undefined;
    this.taken.clear();
  }

  /** Waits until the model satisfies a condition, up to a timeout. */
  private reached(holds: (m: Model) => boolean, most: number, token: Token): Promise<void> {
    return new Promise((resolve) => {
      const stops: (() => void)[] = [];
      const end = (): void => {
        stops.forEach((f) => f());
        resolve();
      };
      const timer = setTimeout(end, most);
      const link = token.onCancellationRequested(end);
      stops.push(() => clearTimeout(timer), () => link.dispose(), this.conversation.onChange((m) => holds(m) && end()));
      if (holds(this.conversation.model()) || token.isCancellationRequested) {
        end();
      }
    });
  }
}

/** The user's words in this conversation. */
function spoken(m: Model): Model['lines'] {
  return m.lines.filter((l) => l.kind === 'speech' && l.role === 'user' && l.final && l.conversation === m.conversation);
}
