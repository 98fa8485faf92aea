// Selects who answers: a language model, or the Chat view if the user configured it.

import type { Assistant } from './assistant';
import type { InvokeToolResult, ToolSpec } from '../protocol.gen';
import type { Translate } from '../text';
import type { Aloud } from './aloud';
import type { ChatView } from './chatView';
import type { LanguageModels } from './languageModels';
import type { ChatQuestions } from './questions';

export class Assistants implements Assistant {
  constructor(
    private readonly models: LanguageModels,
    private readonly chat: ChatView,
    private readonly questions: ChatQuestions,
    private readonly inChatView: () => boolean,
    private readonly aloud: Pick<Aloud, 'took' | 'forget'>,
    private readonly t: Translate,
  ) {}

  /** A model answers questions from the Chat view in every mode, because the view waits for this answer. */
  send(...[params, out, token]: Parameters<Assistant['send']>): ReturnType<Assistant['send']> {
    if (this.aloud.took(params)) {
      out.text(this.t('Passed on.'));
      return Promise.resolve({ status: 'completed', end: 'whole' });
    }
    const question = this.questions.of(params);
    return question === undefined && this.inChatView() ? this.chat.send(params, out, token) : this.models.send(params, out, token, question);
  }

  invoke(...call: Parameters<Assistant['invoke']>): Promise<InvokeToolResult> {
    return this.models.invoke(...call);
  }

  tools(): ToolSpec[] {
    return this.inChatView() ? this.chat.tools() : this.models.tools();
  }

  forget(): void {
    this.models.forget();
    this.chat.forget();
    this.questions.forget();
    this.aloud.forget();
  }
}
