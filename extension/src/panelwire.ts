// Messages between the extension and the panel's page.

import type { PanelCommand } from './remedies';
import type { ContextKey, ShownLine, View } from './view';

/** Strings are the page's state-independent texts. */
export type Strings = Readonly<Record<keyof ReturnType<typeof import('./strings').strings>, string>>;

/** To the page. */
export type ToPage =
  | { readonly type: 'init'; readonly strings: Strings; readonly locale: string }
  | {
      readonly type: 'view';
      readonly view: View;
      /** new and changed lines */
      readonly lines: readonly ShownLine[];
      /** ids of all lines in order, if lines were removed or inserted */
      readonly keep?: readonly number[];
    }
  | { readonly type: 'level'; readonly input: number; readonly output: number };

/** From the page. */
export type FromPage =
  | { readonly type: 'ready' }
  /** VS Code runs with a screen reader */
  | { readonly type: 'screenReader' }
  | { readonly type: 'run'; readonly command: PanelCommand }
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'hold'; readonly down: boolean }
  | { readonly type: 'approve'; readonly callId: string; readonly hash: string; readonly approved: boolean }
  | { readonly type: 'context'; readonly key: ContextKey; readonly on: boolean }
  | { readonly type: 'dismiss' }
  /** a file of the workspace, as PATH or PATH:LINE */
  | { readonly type: 'open'; readonly file: string }
  | { readonly type: 'copy'; readonly text: string }
  /** inserts code at the cursor */
  | { readonly type: 'insert'; readonly text: string; readonly language: string }
  /** takes back the correction of the user's words */
  | { readonly type: 'undoCorrection'; readonly correction: string }
  /** reads an answer aloud from a position */
  | { readonly type: 'read'; readonly text: string };
