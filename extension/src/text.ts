// Words for the user.

/** Translates a message, and puts the arguments in place of {0}, {1} and so on: vscode.l10n.t, or in tests the English itself. */
export type Translate = (message: string, ...args: (string | number)[]) => string;

/** The English itself, with its arguments: for tests, and where there is no editor. */
export const english: Translate = (message, ...args) =>
  message.replace(/\{(\d+)\}/g, (_whole, index: string) => String(args[Number(index)] ?? ''));
