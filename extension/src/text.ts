// User-visible text.

/** Translates a message and replaces {0}, {1} and so on with the arguments: vscode.l10n.t, or plain English in tests. */
export type Translate = (message: string, ...args: (string | number)[]) => string;

/** Plain English with its arguments: for tests and without an editor. */
export const english: Translate = (message, ...args) =>
  message.replace(/\{(\d+)\}/g, (_whole, index: string) => String(args[Number(index)] ?? ''));
