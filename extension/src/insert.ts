// Inserting code of an answer into the text editor that the user used last.

import * as vscode from 'vscode';
import type { Translate } from './text';

/** Schemes of documents that show something and cannot be written, such as the output. */
const SHOWN: ReadonlySet<string> = new Set(['output', 'git', 'debug', 'vscode-terminal', 'agentvoice-change']);

export class Insertion implements vscode.Disposable {
  /** the text editor that was active last; another kind of tab may be active now */
  private last = usable(vscode.window.activeTextEditor);
  private readonly watch = vscode.window.onDidChangeActiveTextEditor((editor) => (this.last = usable(editor) ?? this.last));

  constructor(private readonly t: Translate) {}

  /** Inserts code in place of the selection, or in a new file if no file is open. Returns what happened, for the user. */
  async insert(text: string, language: string): Promise<string> {
    const { t } = this;
    const editor = await this.editor();
    if (editor === undefined) {
      const known = (await vscode.languages.getLanguages()).includes(language);
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: text, ...(known ? { language } : {}) }));
      return t('Inserted into a new file, because none is open.');
    }
    const { document, selection } = editor;
    const name = vscode.workspace.asRelativePath(document.uri);
    const done = await editor.edit((edit) => edit.replace(selection, text));
    return done ? t('Inserted into {0}, line {1}.', name, selection.start.line + 1) : t('{0} cannot be changed. Copy the code instead.', name);
  }

  /** The editor to insert into, visible again if another tab hides it. */
  private async editor(): Promise<vscode.TextEditor | undefined> {
    const visible = vscode.window.visibleTextEditors.filter((e) => usable(e) !== undefined);
    const { last } = this;
    if (last === undefined || last.document.isClosed) {
      return visible[0];
    }
    const shown = visible.find((e) => e === last) ?? visible.find((e) => e.document === last.document);
    return shown ?? vscode.window.showTextDocument(last.document, { selection: last.selection });
  }

  dispose(): void {
    this.watch.dispose();
  }
}

function usable(editor: vscode.TextEditor | undefined): vscode.TextEditor | undefined {
  return editor === undefined || SHOWN.has(editor.document.uri.scheme) ? undefined : editor;
}
