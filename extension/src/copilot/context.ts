// What of the editor goes with a question: gathered when it is shown, and again
// when it is sent.

import * as vscode from 'vscode';
import type { Translate } from '../text';
import { CONTEXT_KEYS, type ContextKey, type Piece } from '../view';
import type { Material } from './prompt';

/** Schemes whose documents the user edits. */
const SCHEMES: ReadonlySet<string> = new Set(['file', 'untitled', 'vscode-remote', 'vscode-vfs', 'vscode-notebook-cell', 'vscode-userdata']);
/** How many problems are sent. */
const PROBLEMS = 20;
/** How many characters of a file are looked at, around the cursor. */
const FILE = 400_000;

/** Context keeps what the user switched off for this window. */
export class Context {
  private readonly switched = new Map<ContextKey, boolean>();

  constructor(private readonly t: Translate) {}

  /** Switches a piece on or off, until the window is closed. */
  set(key: ContextKey, on: boolean): void {
    this.switched.set(key, on);
  }

  /** A setting that changed counts again. */
  reset(): void {
    this.switched.clear();
  }

  private on(key: ContextKey): boolean {
    return this.switched.get(key) ?? vscode.workspace.getConfiguration('agentvoice.context').get(key, true);
  }

  /** What would be sent now. */
  pieces(): Piece[] {
    const { t } = this;
    const editor = this.editor();
    const lines = editor === undefined || editor.selection.isEmpty ? 0 : editor.selection.end.line - editor.selection.start.line + 1;
    const problems = editor === undefined ? 0 : vscode.languages.getDiagnostics(editor.document.uri).length;
    const all: Record<ContextKey, [title: string, detail: string, present: boolean]> = {
      activeFile: [t('Active file'), editor === undefined ? t('no file') : nameOf(editor.document), editor !== undefined],
      selection: [t('Selection'), lines === 0 ? t('no selection') : lines === 1 ? t('1 line') : t('{0} lines', lines), lines > 0],
      diagnostics: [t('Problems'), problems === 1 ? t('1 problem') : t('{0} problems', problems), problems > 0],
      workspaceName: [t('Workspace'), vscode.workspace.name ?? t('no workspace'), vscode.workspace.name !== undefined],
    };
    return CONTEXT_KEYS.map((key) => {
      const [title, detail, present] = all[key];
      return { key, title, detail, present, on: this.on(key) };
    });
  }

  /** The material for a prompt. In a workspace that is not trusted there is none. */
  material(): Material[] {
    if (!vscode.workspace.isTrusted) {
      return [];
    }
    const out: Material[] = [];
    const { name } = vscode.workspace;
    if (this.on('workspaceName') && name !== undefined) {
      out.push({ key: 'workspaceName', title: 'Workspace', text: name });
    }
    const editor = this.editor();
    if (editor === undefined) {
      return out;
    }
    const { document, selection } = editor;
    const file = vscode.workspace.asRelativePath(document.uri);
    if (this.on('selection') && !selection.isEmpty) {
      out.push({ key: 'selection', title: `Selected text in ${file}, from line ${selection.start.line + 1}`, text: document.getText(selection) });
    }
    const problems = this.on('diagnostics') ? vscode.languages.getDiagnostics(document.uri) : [];
    if (problems.length > 0) {
      const severities = ['Error', 'Warning', 'Information', 'Hint'];
      const text = [...problems]
        .sort((a, b) => a.severity - b.severity)
        .slice(0, PROBLEMS)
        .map((p) => `${severities[p.severity] ?? ''}, line ${p.range.start.line + 1}: ${p.message}`)
        .join('\n');
      out.push({ key: 'diagnostics', title: `Problems of ${file}`, text });
    }
    if (this.on('activeFile')) {
      const at = document.offsetAt(selection.active);
      const from = Math.max(0, at - FILE / 2);
      const text = document.getText(new vscode.Range(document.positionAt(from), document.positionAt(from + FILE)));
      out.push({ key: 'activeFile', title: `Active file ${file} (${document.languageId}), cursor in line ${selection.active.line + 1}`, text, focus: at - from });
    }
    return out;
  }

  private editor(): vscode.TextEditor | undefined {
    const editor = vscode.window.activeTextEditor;
    return editor !== undefined && SCHEMES.has(editor.document.uri.scheme) ? editor : undefined;
  }
}

function nameOf(document: vscode.TextDocument): string {
  return document.uri.path.split('/').at(-1) ?? document.uri.path;
}
