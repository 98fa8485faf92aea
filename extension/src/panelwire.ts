// What the extension and the panel's page say to each other.

import type { PanelCommand } from './remedies';
import type { ContextKey, ShownLine, View } from './view';

/** Strings are the words of the page that do not depend on the state. */
export type Strings = Readonly<Record<keyof ReturnType<typeof import('./strings').strings>, string>>;

/** To the page. */
export type ToPage =
  | { readonly type: 'init'; readonly strings: Strings; readonly locale: string }
  | {
      readonly type: 'view';
      readonly view: View;
      /** those that are new or changed */
      readonly lines: readonly ShownLine[];
      /** ids of all lines in their order, where some are gone, or new ones stand between others */
      readonly keep?: readonly number[];
    }
  | { readonly type: 'level'; readonly input: number; readonly output: number };

/** From the page. */
export type FromPage =
  | { readonly type: 'ready' }
  /** VS Code works with a screen reader */
  | { readonly type: 'screenReader' }
  | { readonly type: 'run'; readonly command: PanelCommand }
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'hold'; readonly down: boolean }
  | { readonly type: 'approve'; readonly callId: string; readonly approved: boolean }
  | { readonly type: 'context'; readonly key: ContextKey; readonly on: boolean }
  | { readonly type: 'dismiss' }
  /** a file of the workspace, as PATH or PATH:LINE */
  | { readonly type: 'open'; readonly file: string }
  | { readonly type: 'copy'; readonly text: string }
  /** puts code where the cursor is */
  | { readonly type: 'insert'; readonly text: string; readonly language: string }
  /** reads an answer aloud from a place in it on */
  | { readonly type: 'read'; readonly text: string };
