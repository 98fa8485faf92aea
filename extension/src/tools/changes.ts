// File changes proposed by a tool: shown as a diff during approval, applied exactly as shown, and reverted on
// request.

import * as vscode from 'vscode';
import type { EditorCommandResult } from '../protocol.gen';
import type { Translate } from '../text';
import { type Files, Refused } from './files';

/** Change is one file, the one behind all links, before and after; before is undefined for a new file. */
export interface Change {
  readonly uri: vscode.Uri;
  readonly before: string | undefined;
  readonly after: string;
}

const SCHEME = 'agentvoice-change';
/** Maximum number of pending and of applied changes kept. */
const KEPT = 50;

/** Made is what became of a call's changes: the files that are on the disk as shown, and those that only the editor has so. */
export interface Made {
  readonly changes: readonly Change[];
  readonly unsaved: readonly vscode.Uri[];
}

/** Changes are kept by the keys of their calls (calls.ts). */
export class Changes implements vscode.TextDocumentContentProvider {
  private readonly waiting = new Map<string, readonly Change[]>();
  private readonly made: (readonly Change[])[] = [];
  private shown: string | undefined;
  private registration: vscode.Disposable | undefined;

  constructor(
    private readonly t: Translate,
    private readonly files: Pick<Files, 'stays'>,
  ) {}

  /** Registers a call's changes to await the user's decision. */
  add(call: string, changes: readonly Change[]): void {
    this.waiting.set(call, changes);
    for (const oldest of this.waiting.keys()) {
      if (this.waiting.size <= KEPT) {
        break;
      }
      this.waiting.delete(oldest);
    }
  }

  of(call: string): readonly Change[] | undefined {
    return this.waiting.get(call);
  }

  /** Shows the diff of the call that awaits approval, and closes any other one. */
  async follow(call: string | undefined, prepare: () => Promise<void>): Promise<void> {
    if (call === this.shown) {
      return;
    }
    const before = this.shown;
    this.shown = call;
    if (before !== undefined && this.waiting.has(before)) {
      await this.close();
    }
    if (call !== undefined && !this.waiting.has(call)) {
      await prepare();
    }
    if (call !== undefined && call === this.shown && this.waiting.has(call)) {
      await this.show(call);
    }
  }

  /** Shows a call's changes next to the current contents. */
  async show(call: string): Promise<EditorCommandResult> {
    const changes = this.waiting.get(call);
    const first = changes?.[0];
    if (changes === undefined || first === undefined) {
      return { problem: this.t('There is no change to show.') };
    }
    this.registration ??= vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
    const sides = changes.map((change, i): [vscode.Uri, vscode.Uri, vscode.Uri] => {
      const side = (which: 'before' | 'after'): vscode.Uri =>
        vscode.Uri.from({ scheme: SCHEME, path: change.uri.path, query: JSON.stringify({ call, i, which }) });
      return [change.uri, change.before === undefined ? side('before') : change.uri, side('after')];
    });
    const [, left, right] = sides[0] ?? [first.uri, first.uri, first.uri];
    await (changes.length === 1
      ? vscode.commands.executeCommand('vscode.diff', left, right, this.t('Proposed change: {0}', nameOf(first.uri)), { preview: true, preserveFocus: true })
      : vscode.commands.executeCommand('vscode.changes', this.t('Proposed change: {0}', nameOf(first.uri)), sides));
    return {};
  }

  provideTextDocumentContent({ query }: vscode.Uri): string {
    const { call, i, which } = JSON.parse(query) as { call: string; i: number; which: 'before' | 'after' };
    return this.waiting.get(call)?.[i]?.[which] ?? '';
  }

  /** A call ended: closes its diff. */
  async settle(call: string): Promise<void> {
    if (this.waiting.has(call)) {
      await this.close();
      this.waiting.delete(call);
    }
  }

  /** Closes the diff, however it was opened. */
  private async close(): Promise<void> {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(({ input, label }) =>
      input instanceof vscode.TabInputTextDiff ? input.modified.scheme === SCHEME : label.startsWith(this.t('Proposed change: {0}', '')));
    if (tabs.length > 0) {
      await vscode.window.tabGroups.close(tabs, true);
    }
  }

  /**
   * Applies a call's changes if every file is still as it was shown, and still where it was: a link may have taken
   * its place while the user was asked. Saves files that had no unsaved changes, and says which are not saved.
   */
  async make(call: string): Promise<Made> {
    const changes = this.waiting.get(call) ?? [];
    const edit = new vscode.WorkspaceEdit();
    const changed: { uri: vscode.Uri; document: vscode.TextDocument }[] = [];
    const save: vscode.TextDocument[] = [];
    for (const { uri, before, after } of changes) {
      await this.files.stays(uri);
      if (before === undefined) {
        edit.createFile(uri, { ignoreIfExists: false, contents: new TextEncoder().encode(after) });
        continue;
      }
      const document = await vscode.workspace.openTextDocument(uri);
      if (document.getText() !== before) {
        throw new Refused(`${vscode.workspace.asRelativePath(uri)} has changed since the user saw the change. Nothing was changed; read it again.`);
      }
      changed.push({ uri, document });
      if (!document.isDirty) {
        save.push(document);
      }
      replace(edit, document, after);
    }
    if (!(await vscode.workspace.applyEdit(edit))) {
      throw new Refused('The editor did not take the change. Nothing was changed.');
    }
    await saveAll(save);
    this.made.push(changes);
    this.made.splice(0, this.made.length - KEPT);
    return { changes, unsaved: changed.filter(({ document }) => document.isDirty).map(({ uri }) => uri) };
  }

  /** Reverts the last change if its files were not changed since; undefined if there is nothing to revert. */
  async undo(): Promise<EditorCommandResult | undefined> {
    const changes = this.made.at(-1) ?? [];
    const edit = new vscode.WorkspaceEdit();
    const save: vscode.TextDocument[] = [];
    for (const { uri, before, after } of changes) {
      const there = await this.files.stays(uri).then(() => true, () => false);
      const document = there ? await vscode.workspace.openTextDocument(uri).then((d) => d, () => undefined) : undefined;
      if (document?.getText() !== after) {
        return undefined; // the editor's own undo covers later changes
      }
      if (before === undefined) {
        edit.deleteFile(uri);
      } else {
        replace(edit, document, before);
        save.push(...(document.isDirty ? [] : [document]));
      }
    }
    if (changes.length === 0 || !(await vscode.workspace.applyEdit(edit))) {
      return undefined;
    }
    this.made.pop();
    await saveAll(save);
    return save.some((document) => document.isDirty) ? { problem: this.t('The change was undone, but not saved.') } : {};
  }

  dispose(): void {
    this.registration?.dispose();
  }
}

/** Saves documents. One that cannot be saved stays dirty. */
async function saveAll(documents: readonly vscode.TextDocument[]): Promise<void> {
  await Promise.all(documents.map((document) => document.save().then(() => undefined, () => undefined)));
}

/** Replaces only the differing part, so that cursors and decorations outside of it stay. */
function replace(edit: vscode.WorkspaceEdit, document: vscode.TextDocument, after: string): void {
  const [from, to, text] = difference(document.getText(), after);
  edit.replace(document.uri, new vscode.Range(document.positionAt(from), document.positionAt(to)), text);
}

/** The part of a text that differs from another, and its replacement. */
export function difference(before: string, after: string): [from: number, to: number, text: string] {
  const shorter = Math.min(before.length, after.length);
  let from = 0;
  while (from < shorter && before[from] === after[from]) {
    from++;
  }
  let end = 0;
  while (end < shorter - from && before.at(-1 - end) === after.at(-1 - end)) {
    end++;
  }
  return [from, before.length - end, after.slice(from, after.length - end)];
}

function nameOf(uri: vscode.Uri): string {
  return uri.path.split('/').at(-1) ?? uri.path;
}
