// Editor content that accompanies a question: collected for display and again when sending. It is
// size-limited, and rebuilt only when the editor changes.

import * as vscode from 'vscode';
import type { Translate } from '../text';
import { CONTEXT_KEYS, type ContextKey, type Piece } from '../view';
import { targetOf } from '../tools/links';
import { textHoldsSecrets } from '../tools/names';
import type { Guard } from './guard';
import { CONTEXT, type Material } from './prompt';

/** Schemes of documents that users edit. */
const SCHEMES: ReadonlySet<string> = new Set(['file', 'untitled', 'vscode-remote', 'vscode-vfs', 'vscode-notebook-cell']);
/** Maximum number of problems sent. */
const PROBLEMS = 20;
/** Length of the part of a file around the cursor that is considered, in characters; more would not fit. */
const FILE = 4 * CONTEXT;

/** Context tracks what the user switched off in this window. */
export class Context {
  private readonly switched = new Map<ContextKey, boolean>();
  /** the last texts, keyed by their sources */
  private texts = new Map<string, string>();

  constructor(
    private readonly t: Translate,
    private readonly guard: Pick<Guard, 'withheld' | 'never' | 'look'>,
  ) {}

  /** Toggles a piece until the window closes. */
  set(key: ContextKey, on: boolean): void {
    this.switched.set(key, on);
  }

  /** A changed setting overrides the toggle. */
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
    const withheld = editor !== undefined && this.guard.withheld(editor.document) !== undefined;
    const lines = editor === undefined || withheld || editor.selection.isEmpty ? 0 : editor.selection.end.line - editor.selection.start.line + 1;
    const problems = editor === undefined || withheld ? 0 : vscode.languages.getDiagnostics(editor.document.uri).length;
    const all: Record<ContextKey, [title: string, detail: string, present: boolean]> = {
      activeFile: [t('Active file'), editor === undefined ? t('no file') : withheld ? t('{0} (never sent)', nameOf(editor.document)) : nameOf(editor.document), editor !== undefined],
      selection: [t('Selection'), lines === 0 ? t('no selection') : lines === 1 ? t('1 line') : t('{0} lines', lines), lines > 0],
      diagnostics: [t('Problems'), problems === 1 ? t('1 problem') : t('{0} problems', problems), problems > 0],
      workspaceName: [t('Workspace'), vscode.workspace.name ?? t('no workspace'), vscode.workspace.name !== undefined],
    };
    return CONTEXT_KEYS.map((key) => {
      const [title, detail, present] = all[key];
      return { key, title, detail, present, on: this.on(key) && !(withheld && key === 'activeFile') };
    });
  }

  /** The material for a prompt; empty in an untrusted workspace. */
  async material(): Promise<Material[]> {
    if (!vscode.workspace.isTrusted) {
      return [];
    }
    const out: Material[] = [];
    const { name } = vscode.workspace;
    if (this.on('workspaceName') && name !== undefined) {
      out.push({ key: 'workspaceName', title: 'Workspace', text: name });
    }
    const editor = this.editor();
    if (editor !== undefined) {
      await this.guard.look(editor.document.uri);
      if (this.guard.withheld(editor.document) === undefined) {
        out.push(...this.ofEditor(editor));
      }
    }
    const path = editor === undefined ? '' : await pathOf(editor.document.uri);
    return out.filter((m) => !textHoldsSecrets(path, m.text));
  }

  private ofEditor({ document, selection }: vscode.TextEditor): Material[] {
    const out: Material[] = [];
    const file = vscode.workspace.asRelativePath(document.uri);
    const before = this.texts;
    this.texts = new Map();
    const text = (range: vscode.Range): string => {
      const key = JSON.stringify([document.uri.toString(), document.version, range.start, range.end]);
      const found = before.get(key) ?? document.getText(range);
      this.texts.set(key, found);
      return found;
    };
    const around = (from: number): vscode.Range => new vscode.Range(document.positionAt(from), document.positionAt(from + FILE));
    if (this.on('selection') && !selection.isEmpty) {
      const from = document.offsetAt(selection.start);
      const long = document.offsetAt(selection.end) - from > FILE;
      out.push({ key: 'selection', title: `Selected text in ${file}, from line ${selection.start.line + 1}`, text: text(long ? around(from) : selection) });
    }
    const problems = this.on('diagnostics') ? vscode.languages.getDiagnostics(document.uri) : [];
    if (problems.length > 0) {
      const severities = ['Error', 'Warning', 'Information', 'Hint'];
      const list = [...problems]
        .sort((a, b) => a.severity - b.severity)
        .slice(0, PROBLEMS)
        .map((p) => `${severities[p.severity] ?? ''}, line ${p.range.start.line + 1}: ${p.message}`)
        .join('\n');
      out.push({ key: 'diagnostics', title: `Problems of ${file}`, text: list });
    }
    if (this.on('activeFile')) {
      const at = document.offsetAt(selection.active);
      const from = Math.max(0, at - FILE / 2);
      const title = `Active file ${file} (${document.languageId}), cursor in line ${selection.active.line + 1}`;
      out.push({ key: 'activeFile', title, text: text(around(from)), focus: at - from });
    }
    return out;
  }

  /** A file attached to a question, or undefined if it must not be sent. */
  async attachment(uri: vscode.Uri, range: vscode.Range | undefined): Promise<Material | undefined> {
    if (!vscode.workspace.isTrusted || (await this.guard.never(uri)) !== undefined) {
      return undefined;
    }
    try {
      const document = await vscode.workspace.openTextDocument(uri);
      const from = range === undefined ? 0 : document.offsetAt(range.start);
      const to = Math.min(from + FILE, range === undefined ? Number.POSITIVE_INFINITY : document.offsetAt(range.end));
      const text = document.getText(new vscode.Range(document.positionAt(from), document.positionAt(to)));
      const title = `Attached file ${vscode.workspace.asRelativePath(uri)}${range === undefined ? '' : `, from line ${range.start.line + 1}`}`;
      return textHoldsSecrets(await pathOf(uri), text) ? undefined : { key: 'attached', title, text };
    } catch {
      return undefined; // a folder or a binary file
    }
  }

  private editor(): vscode.TextEditor | undefined {
    const editor = vscode.window.activeTextEditor;
    return editor !== undefined && SCHEMES.has(editor.document.uri.scheme) ? editor : undefined;
  }
}

/** The path of the file behind all links. */
async function pathOf(uri: vscode.Uri): Promise<string> {
  const target = await targetOf(uri);
  return typeof target === 'string' ? uri.path : target.path;
}

function nameOf(document: vscode.TextDocument): string {
  return document.uri.path.split('/').at(-1) ?? document.uri.path;
}
