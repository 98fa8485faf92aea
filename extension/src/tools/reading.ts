// The read-only tools: they show something in the editor or report to the model.

import * as vscode from 'vscode';
import { editorCommand } from '../editorCommands';
import { START } from '../model';
import type { EditorCommandParams } from '../protocol.gen';
import { type Files, Refused } from './files';
import { git } from './git';
import { textHoldsSecrets } from './names';
import type { Own, Token } from './tool';

/** Maximum number of files searched, and of hits and problems reported. */
const FILES = 3_000;
const HITS = 100;
const LISTED = 500;
/** Maximum number of lines read at once, and maximum length of a hit's line, in characters. */
const LINES = 400;
const LINE = 200;
/** Larger files are not searched, in bytes. */
const SEARCHED = 512 * 1024;
/** Maximum number of symbols examined. */
const SYMBOLS = 200;

const path = { type: 'string', description: 'Path of a file, relative to the workspace folder.' };
const line = { type: 'integer', minimum: 1, description: 'Line number; the first line is 1.' };

export function reading(files: Files): Own[] {
  return [
    {
      name: 'editor_open', readOnly: true,
      description: 'Opens a file (path, and a line of it), or the definition of a symbol by its name, in the editor, for the user to see.',
      properties: { path, line, symbol: { type: 'string', description: 'Name of a function, class or other symbol, instead of a path.' } },
      run: async (_callId, input) => {
        const symbol = input.text('symbol').trim();
        if (symbol !== '') {
          return openSymbol(files, symbol);
        }
        const uri = await files.uri(input.required('path'));
        const document = await files.document(uri);
        await vscode.window.showTextDocument(document);
        const at = input.number('line');
        if (at !== undefined) {
          await command({ command: 'goToLine', number: at });
        }
        return where();
      },
    },
    {
      name: 'editor_go_to_line', readOnly: true,
      description: 'Moves the cursor of the open file to a line.',
      properties: { line }, required: ['line'],
      run: async (_callId, input) => {
        await command({ command: 'goToLine', number: input.number('line') ?? 1 });
        return where();
      },
    },
    {
      name: 'editor_next_problem', readOnly: true,
      description: 'Moves the cursor to the next problem (error or warning) of the open file, or to the previous one.',
      properties: { previous: { type: 'boolean' } },
      run: async (_callId, input) => {
        await command({ command: input.flag('previous') ? 'previousProblem' : 'nextProblem' });
        return where();
      },
    },
    {
      name: 'editor_read_problems', readOnly: true,
      description: 'Lists the problems (errors and warnings) of a file, or of the whole workspace.',
      properties: { path },
      run: async (_callId, input) => {
        const only = input.text('path').trim() === '' ? undefined : await files.uri(input.text('path'));
        const all = only === undefined ? vscode.languages.getDiagnostics() : [[only, vscode.languages.getDiagnostics(only)] as [vscode.Uri, vscode.Diagnostic[]]];
        const lists = new Map(all.filter(([, list]) => list.length > 0).map(([uri, list]) => [uri, list]));
        const told = (await files.visible([...lists.keys()])).flatMap(([uri]) =>
          (lists.get(uri) ?? []).map((d) => ({ severity: d.severity, text: `${vscode.workspace.asRelativePath(uri)}:${d.range.start.line + 1}: ${['error', 'warning', 'information', 'hint'][d.severity] ?? ''}: ${d.message}` })));
        return told.length === 0 ? 'There are no problems.' : several(told.sort((a, b) => a.severity - b.severity).map((d) => d.text), HITS, 'problems');
      },
    },
    {
      name: 'editor_search', readOnly: true,
      description: 'Searches the text of the files of the workspace. Gives the lines that hold it, with file and line number.',
      properties: {
        text: { type: 'string', description: 'What to search for.' },
        ignoreCase: { type: 'boolean', description: 'Whether upper and lower case are the same.' },
        files: { type: 'string', description: 'Glob of the files to search, such as "src/**/*.ts".' },
      },
      required: ['text'],
      run: (_callId, input, token) => search(files, input.required('text'), input.flag('ignoreCase'), input.text('files').trim() || '**/*', token),
    },
    {
      name: 'editor_read_file', readOnly: true,
      description: `Reads a file, or a part of it: at most ${LINES} lines at once.`,
      properties: { path, from: { ...line, description: 'First line; 1 where it is left out.' }, to: { ...line, description: 'Last line.' } },
      required: ['path'],
      run: async (_callId, input) => {
        const document = await files.read(input.required('path'));
        const from = Math.min(input.number('from') ?? 1, document.lineCount);
        const to = Math.min(input.number('to') ?? document.lineCount, from + LINES - 1, document.lineCount);
        const text = document.getText(new vscode.Range(from - 1, 0, to, 0));
        return `${vscode.workspace.asRelativePath(document.uri)}, lines ${from} to ${to} of ${document.lineCount}:\n${text}`;
      },
    },
    {
      name: 'editor_list_files', readOnly: true,
      description: 'Lists the files of the workspace that match a glob.',
      properties: { pattern: { type: 'string', description: 'Glob, such as "src/**/*.ts"; all files where it is left out.' } },
      run: async (_callId, input) => {
        const { uris, more } = await files.find(input.text('pattern').trim() || '**/*', LISTED);
        const names = uris.map((uri) => vscode.workspace.asRelativePath(uri));
        return names.length === 0 ? 'There is no such file.' : names.join('\n') + (more ? '\nand more' : '');
      },
    },
    {
      name: 'editor_git_status', readOnly: true,
      description: 'Tells the branch, and which files are changed, staged, new or in conflict.',
      properties: {},
      run: () => git(files).then((g) => g.status()),
    },
    {
      name: 'editor_git_diff', readOnly: true,
      description: 'Gives the changes since the last commit, of one file or of all.',
      properties: { path },
      run: async (_callId, input) => {
        const only = input.text('path').trim() === '' ? undefined : await files.uri(input.text('path'));
        return (await git(files)).diff(only);
      },
    },
  ];
}

/** Runs a voice command. A failure is reported to the model. */
async function command(params: EditorCommandParams): Promise<void> {
  const { problem } = await editorCommand(params, START);
  if (problem !== undefined) {
    throw new Refused(problem);
  }
}

/** The position of the cursor. */
function where(): string {
  const editor = vscode.window.activeTextEditor;
  return editor === undefined ? 'No file is open.' : `The cursor is in line ${editor.selection.active.line + 1} of ${vscode.workspace.asRelativePath(editor.document.uri)}.`;
}

/** Limits a list to a maximum number of entries. */
function several(all: readonly string[], most: number, what: string): string {
  return all.slice(0, most).join('\n') + (all.length > most ? `\nand ${all.length - most} more ${what}` : '');
}

async function openSymbol(files: Files, symbol: string): Promise<string> {
  const found = await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>('vscode.executeWorkspaceSymbolProvider', symbol);
  const all = (found ?? []).slice(0, SYMBOLS).filter((s) => s.name.replace(/\(.*$/, '') === symbol);
  const visible = new Set((await files.visible(all.map((s) => s.location.uri))).map(([uri]) => uri));
  const named = all.filter((s) => visible.has(s.location.uri));
  const first = named[0];
  if (first === undefined) {
    throw new Refused(`The editor finds no symbol ${symbol} in the workspace.`);
  }
  const document = await files.document(first.location.uri);
  await vscode.window.showTextDocument(document, { selection: first.location.range });
  return `${where()}${named.length > 1 ? ` There are ${named.length} symbols of that name.` : ''}`;
}

async function search(files: Files, wanted: string, ignoreCase: boolean, pattern: string, token: Token): Promise<string> {
  const folded = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const { uris, more } = await files.find(pattern, FILES);
  const hits: string[] = [];
  for (const uri of uris) {
    if (token.isCancellationRequested || hits.length > HITS) {
      break;
    }
    const text = await textOf(files, uri);
    if (text !== undefined) {
      text.split(/\r?\n/).forEach((content, i) => {
        if (hits.length <= HITS && folded(content).includes(folded(wanted))) {
          hits.push(`${vscode.workspace.asRelativePath(uri)}:${i + 1}: ${content.trim().slice(0, LINE)}`);
        }
      });
    }
  }
  const rest = more ? '\nNot all files were searched: name fewer by "files".' : '';
  return (hits.length === 0 ? 'Nothing was found.' : several(hits, HITS, 'or more lines')) + rest;
}

/** The text of a file with unsaved changes; undefined if it is binary, too long, holds a secret or was replaced. */
async function textOf(files: Files, uri: vscode.Uri): Promise<string | undefined> {
  const open = vscode.workspace.textDocuments.find((d) => d.uri.toString() === uri.toString());
  let text = open?.getText();
  if (text === undefined) {
    try {
      if ((await vscode.workspace.fs.stat(uri)).size > SEARCHED) {
        return undefined;
      }
      const bytes = await vscode.workspace.fs.readFile(uri);
      await files.stays(uri);
      text = bytes.length > SEARCHED || bytes.includes(0) ? undefined : new TextDecoder().decode(bytes);
    } catch {
      return undefined; // it was removed or replaced in the meantime
    }
  }
  return text === undefined || textHoldsSecrets(uri.path, text) ? undefined : text;
}
