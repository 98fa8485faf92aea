// Editor actions for voice commands. Each result says why the action failed, if it did, in the
// user's language, to be spoken.

import * as vscode from 'vscode';
import type { Model } from './model';
import type { EditorCommandParams, EditorCommandResult } from './protocol.gen';
import { remedies } from './remedies';
import { targetOf } from './tools/links';

const t = vscode.l10n.t;

const DONE: EditorCommandResult = {};

/** Maximum number of files with one name that are examined. */
const FILES = 16;

/** Runs a voice command. It needs no approval, because the user asked for exactly this. */
export async function editorCommand(params: EditorCommandParams, model: Model): Promise<EditorCommandResult> {
  switch (params.command) {
    case 'openSettings':
      return run('agentvoice.openSettings');
    case 'chooseMicrophone':
      void vscode.commands.executeCommand('agentvoice.selectMicrophone'); // resolves only when the user has chosen
      return DONE;
    case 'fixIt':
      return fixIt(model);
    case 'runTests':
      return runTests();
    case 'openFile':
      return openFile(params.names ?? []);
    case 'keepVoice':
      return keepVoice(params.names?.[0] ?? '');
    case 'keepAssistant':
      return keepAssistant(params.names?.[0] ?? '');
    default:
      return inEditor(params);
  }
}

/** Writes the setting where it is set already, so that a workspace does not hide the choice. */
export async function keepVoice(voice: string): Promise<EditorCommandResult> {
  const settings = vscode.workspace.getConfiguration('agentvoice');
  const inWorkspace = settings.inspect('voice.name')?.workspaceValue !== undefined;
  try {
    await settings.update('voice.name', voice, inWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global);
    return DONE;
  } catch {
    return { problem: t('The settings could not be written, so this voice is used only for now.') };
  }
}

/** Writes the setting. Copilot is about to be used, so the editor asks for consent now if it has to. */
async function keepAssistant(id: string): Promise<EditorCommandResult> {
  if (id === 'copilot') {
    void vscode.commands.executeCommand('agentvoice.allowCopilot'); // resolves only when the user has answered
  }
  try {
    await vscode.workspace.getConfiguration('agentvoice').update('agent', id === 'copilot' ? undefined : id, vscode.ConfigurationTarget.Global);
    return DONE;
  } catch {
    return { problem: t('The settings could not be written, so this assistant is used only for now.') };
  }
}

/** Runs the tests that the editor knows. It may know none, although the workspace has some: the assistant finds those. */
async function runTests(): Promise<EditorCommandResult> {
  let known: readonly string[] | undefined;
  try {
    known = await vscode.commands.executeCommand<string[]>('vscode.testing.getControllersWithTests');
  } catch {
    // An editor without this command cannot say whether it knows tests.
  }
  if (known === undefined || known.length === 0) {
    return { toAssistant: true };
  }
  void vscode.commands.executeCommand('testing.runAll'); // resolves only when the tests end
  return DONE;
}

async function run(command: string, ...args: unknown[]): Promise<EditorCommandResult> {
  await vscode.commands.executeCommand(command, ...args);
  return DONE;
}

async function fixIt(model: Model): Promise<EditorCommandResult> {
  const p = model.problem;
  const first = p === undefined ? undefined : remedies(p.code, model.canRetry, t, process.platform, p.hasHelp)[0];
  if (first === undefined) {
    return { problem: t('There is nothing I can fix.') };
  }
  void vscode.commands.executeCommand(first.command); // it may prompt the user
  return DONE;
}

/** Actions in the open file, which gets the focus. */
async function inEditor({ command, number }: EditorCommandParams): Promise<EditorCommandResult> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    return { problem: t('No file is open.') };
  }
  const { document } = editor;
  if (command === 'goToLine') {
    return goTo(document, number ?? 0);
  }
  if ((command === 'nextProblem' || command === 'previousProblem') && vscode.languages.getDiagnostics(document.uri).length === 0) {
    return { problem: t('There are no problems in this file.') };
  }
  await vscode.window.showTextDocument(document, { viewColumn: editor.viewColumn ?? vscode.ViewColumn.Active });
  switch (command) {
    case 'undo':
      return run('undo');
    case 'scrollUp':
    case 'scrollDown':
      return run('editorScroll', { to: command === 'scrollUp' ? 'up' : 'down', by: 'halfPage', revealCursor: false });
    case 'nextProblem':
      return run('editor.action.marker.next');
    case 'previousProblem':
      return run('editor.action.marker.prev');
    default:
      return { problem: t('The editor cannot do that.') };
  }
}

async function goTo(document: vscode.TextDocument, line: number): Promise<EditorCommandResult> {
  if (line > document.lineCount) {
    return { problem: document.lineCount === 1 ? t('This file has one line.') : t('This file has {0} lines.', document.lineCount) };
  }
  const editor = await vscode.window.showTextDocument(document, { viewColumn: vscode.window.activeTextEditor?.viewColumn ?? vscode.ViewColumn.Active });
  const at = new vscode.Position(line - 1, 0);
  editor.selection = new vscode.Selection(at, at);
  editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  return DONE;
}

/** Opens the first name that is a file of the workspace. */
async function openFile(names: readonly string[]): Promise<EditorCommandResult> {
  for (const name of names) {
    const [, path = name, line] = /^(.*?)(?::(\d+))?$/.exec(name) ?? [];
    const uri = await found(path.replaceAll('\\', '/'));
    if (uri !== undefined && (await targetOf(uri)) !== 'special') { // a pipe or a device has no end
      const document = await vscode.workspace.openTextDocument(uri);
      await vscode.window.showTextDocument(document);
      return line === undefined ? DONE : goTo(document, Math.max(1, Number(line)));
    }
  }
  return { problem: names.length === 1 ? t('There is no file {0} here.', names[0] ?? '') : t('None of these files is here.') };
}

async function found(path: string): Promise<vscode.Uri | undefined> {
  const name = path.replace(/^(?:\.{0,2}\/)+/, '');
  if (name === '' || /[*?[\]{}]/.test(name)) {
    return undefined;
  }
  const files = await vscode.workspace.findFiles(`**/${name}`, undefined, FILES);
  return files
    .filter((uri) => uri.path === `/${name}` || uri.path.endsWith(`/${name}`))
    .sort((a, b) => a.path.length - b.path.length)[0];
}
