// What a tool of the editor is, and what it gets.

import { Refused } from './files';

/** The daemon's cancellation signal for a call. */
export interface Token {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(f: () => void): { dispose(): void };
}

/** The fields of a call's input; the model may not follow the schema. */
export class Input {
  constructor(readonly all: Readonly<Record<string, unknown>>) {}

  text(name: string): string {
    const value = this.all[name];
    return typeof value === 'string' ? value : '';
  }

  /** A required text. */
  required(name: string): string {
    const value = this.text(name).trim();
    if (value === '') {
      throw new Refused(`The input has no "${name}".`);
    }
    return value;
  }

  number(name: string): number | undefined {
    const value = this.all[name];
    return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;
  }

  flag(name: string): boolean {
    return this.all[name] === true;
  }
}

/** Result is what a tool returns: for the model, and in a few words for the user, in the user's language. */
export interface Result {
  readonly content: string;
  /** how it ended, such as "3 failed"; empty if there is nothing to say */
  readonly outcome: string;
}

/** Own is a tool. It rejects with Refused, whose message is for the model, when it cannot do something. */
export interface Own {
  readonly name: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  /** it changes nothing and runs nothing */
  readonly readOnly?: true;
  /** its effects may be irreversible, so a plain yes is not enough */
  readonly destructive?: true;
  /** it works only in a folder of this machine */
  readonly here?: true;
  /** it changes files, which the editor shows during approval */
  readonly changes?: true;
  /** What the user approves: the input with everything that the call depends on. */
  prepare?(callId: string, input: Input): Promise<object>;
  run(callId: string, input: Input, token: Token): Promise<string | Result>;
}
