// The tools that change files: by replacing text, or with the editor's rename.

import * as vscode from 'vscode';
import { keyOf } from './calls';
import { type Change, type Changes, difference } from './changes';
import { CHANGED, type Files, Refused } from './files';
import type { Input, Own } from './tool';

/** Maximum number of places that one call may change, and of files in a rename. */
const EDITS = 50;
const FILES = 100;

/** Proposed is what the user is asked about, and the changes that it makes. */
interface Proposed {
  readonly input: object;
  readonly changes: readonly Change[];
}

interface Edit { readonly oldText: string; readonly newText: string }

export function editing(files: Files, changes: Changes): Own[] {
  const made = async (call: string): Promise<string> => {
    const { changes: all, unsaved } = await changes.make(call);
    const first = all[0];
    if (first !== undefined) {
      const document = await vscode.workspace.openTextDocument(first.uri);
      const at = document.positionAt(difference(first.before ?? '', first.after)[0]);
      await vscode.window.showTextDocument(document, { selection: new vscode.Range(at, at) });
    }
    const names = (uris: readonly vscode.Uri[]): string => uris.map((uri) => vscode.workspace.asRelativePath(uri)).join(', ');
    const saved = all.map(({ uri }) => uri).filter((uri) => !unsaved.includes(uri));
    return [
      ...(saved.length === 0 ? [] : [`Changed and saved: ${names(saved)}.`]),
      ...(unsaved.length === 0 ? [] : [`Changed, but not saved: ${names(unsaved)}. The file on the disk is the old one; tests and commands would use that. Tell the user.`]),
    ].join('\n');
  };
  const own = (tool: Omit<Own, 'run' | 'prepare' | 'changes'>, propose: (input: Input) => Promise<Proposed>): Own => {
    const prepare = async (callId: string, input: Input): Promise<object> => {
      const { input: asked, changes: all } = await propose(input);
      const named = folderName(all[0]?.uri);
      const guarded = all.map(({ uri, before, after }) => files.protected(uri, before, after)).filter((path) => path !== undefined);
      const whole = { ...asked, ...(named === undefined ? {} : { workspaceFolder: named }), ...(guarded.length === 0 ? {} : { protected: guarded }) };
      changes.add(keyOf(callId, whole), all);
      return whole;
    };
    return {
      ...tool,
      changes: true,
      prepare,
      run: async (callId, input) => {
        const call = keyOf(callId, input.all);
        if (changes.of(call) === undefined) { // a retried call
          await prepare(callId, input);
          if (changes.of(call) === undefined) {
            throw new Refused(CHANGED);
          }
        }
        return made(call);
      },
    };
  };
  return [
    own({
      name: 'editor_apply_edit',
      description: 'Changes a file: replaces each oldText, which has to be in the file exactly once, by newText. A new file is made by one edit with an empty oldText. The user sees the change as a diff and is asked first.',
      properties: {
        path: { type: 'string', description: 'Path of the file, relative to the workspace folder.' },
        edits: {
          type: 'array', minItems: 1, maxItems: EDITS,
          items: { type: 'object', properties: { oldText: { type: 'string' }, newText: { type: 'string' } }, required: ['oldText', 'newText'] },
        },
      },
      required: ['path', 'edits'],
    }, async (input) => {
      const uri = await files.uri(input.required('path'));
      const edits = editsOf(input);
      const path = vscode.workspace.asRelativePath(uri);
      if (await isThere(uri)) {
        const document = await files.document(uri);
        const before = document.getText();
        return { input: { path, edits }, changes: [{ uri, before, after: edited(before, edits, document.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n') }] };
      }
      const [first, ...rest] = edits;
      if (first === undefined || first.oldText !== '' || rest.length > 0) {
        throw new Refused(`${path} is not there. A new file is made by one edit with an empty oldText.`);
      }
      return { input: { path, create: true, edits }, changes: [{ uri, before: undefined, after: first.newText }] };
    }),
    own({
      name: 'editor_rename_symbol',
      description: 'Renames a function, variable, class or other symbol everywhere, as the language of the file does it. Without path it is in the open file, and without symbol the one at the cursor. The user sees the change as a diff and is asked first.',
      properties: {
        newName: { type: 'string' },
        symbol: { type: 'string', description: 'Its present name.' },
        path: { type: 'string', description: 'A file that it is in, relative to the workspace folder.' },
        line: { type: 'integer', minimum: 1, description: 'A line of the file that it is in.' },
      },
      required: ['newName'],
    }, async (input) => {
      const newName = input.required('newName');
      const { document, position, symbol } = await symbolAt(files, input);
      let edit: vscode.WorkspaceEdit | undefined;
      try {
        edit = await vscode.commands.executeCommand<vscode.WorkspaceEdit | undefined>('vscode.executeDocumentRenameProvider', document.uri, position, newName);
      } catch (err) {
        throw new Refused(`${symbol} cannot be renamed: ${err instanceof Error ? err.message : 'the language refuses it'}`);
      }
      const all = await renamed(files, edit?.entries() ?? []);
      if (all.length === 0) {
        throw new Refused(`The editor cannot rename ${symbol}: no language support for this file, or nothing to change. Use editor_apply_edit.`);
      }
      return { changes: all, input: { symbol, newName, path: vscode.workspace.asRelativePath(document.uri), line: position.line + 1, files: all.map(({ uri }) => vscode.workspace.asRelativePath(uri)) } };
    }),
  ];
}

/** The name of a file's folder, if several are open. */
function folderName(uri: vscode.Uri | undefined): string | undefined {
  return uri === undefined || (vscode.workspace.workspaceFolders?.length ?? 0) < 2 ? undefined : vscode.workspace.getWorkspaceFolder(uri)?.name;
}

function editsOf(input: Input): Edit[] {
  const list = Array.isArray(input.all['edits']) ? (input.all['edits'] as unknown[]) : [];
  const edits = list.filter((e): e is Edit => typeof e === 'object' && e !== null && typeof (e as Edit).oldText === 'string' && typeof (e as Edit).newText === 'string');
  if (edits.length === 0 || edits.length !== list.length || edits.length > EDITS) {
    throw new Refused(`"edits" is not a list of 1 to ${EDITS} objects with the texts oldText and newText.`);
  }
  return edits.map(({ oldText, newText }) => ({ oldText, newText }));
}

/** Applies edits to a text. Each is located in the original text, so that no edit changes another one's output. */
export function edited(text: string, edits: readonly Edit[], eol: string): string {
  const ended = (s: string): string => s.replace(/\r?\n/g, eol);
  const places = edits.map((edit, i) => {
    const wanted = ended(edit.oldText);
    const from = wanted === '' ? -1 : text.indexOf(wanted);
    if (from < 0 || text.indexOf(wanted, from + 1) >= 0) {
      throw new Refused(`The oldText of edit ${i + 1} is ${from < 0 ? 'not in the file' : 'in the file more than once: give more of the lines around it'}.`);
    }
    return { from, to: from + wanted.length, text: ended(edit.newText) };
  }).sort((a, b) => a.from - b.from);
  let out = '';
  let at = 0;
  for (const place of places) {
    if (place.from < at) {
      throw new Refused('Two edits overlap.');
    }
    out += text.slice(at, place.from) + place.text;
    at = place.to;
  }
  return out + text.slice(at);
}

async function isThere(uri: vscode.Uri): Promise<boolean> {
  return vscode.workspace.fs.stat(uri).then(() => true, () => false);
}

/** The symbol that a call refers to, with its position. */
async function symbolAt(files: Files, input: Input): Promise<{ document: vscode.TextDocument; position: vscode.Position; symbol: string }> {
  const editor = vscode.window.activeTextEditor;
  const path = input.text('path').trim();
  if (path === '' && editor === undefined) {
    throw new Refused('No file is open: give "path".');
  }
  const document = path === '' && editor !== undefined ? await files.document(await files.uri(editor.document.uri.path)) : await files.read(path);
  const symbol = input.text('symbol').trim();
  const cursor = document === editor?.document ? editor.selection.active : undefined;
  if (symbol === '') {
    const word = cursor === undefined ? undefined : document.getWordRangeAtPosition(cursor);
    if (word === undefined) {
      throw new Refused('The cursor is on no symbol: give "symbol".');
    }
    return { document, position: word.start, symbol: document.getText(word) };
  }
  const near = (input.number('line') ?? (cursor?.line ?? 0) + 1) - 1;
  const word = new RegExp(`(?<![\\w$])${symbol.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w$])`, 'g');
  const places = [...document.getText().matchAll(word)].map((m) => document.positionAt(m.index));
  const [position] = places.sort((a, b) => Math.abs(a.line - near) - Math.abs(b.line - near));
  if (position === undefined) {
    throw new Refused(`${symbol} is not in ${vscode.workspace.asRelativePath(document.uri)}.`);
  }
  return { document, position, symbol };
}

/** The files that a rename changes. It is refused completely if one of them is protected. */
async function renamed(files: Files, entries: readonly [vscode.Uri, vscode.TextEdit[]][]): Promise<Change[]> {
  if (entries.length > FILES) {
    throw new Refused(`This would change ${entries.length} files; at most ${FILES} are changed at once.`);
  }
  const all: Change[] = [];
  for (const [uri, edits] of entries) {
    const document = await files.document(await files.uri(uri.path));
    if (all.some((change) => change.uri.toString() === document.uri.toString())) {
      throw new Refused(`${vscode.workspace.asRelativePath(document.uri)} is reached by two names. Use editor_apply_edit.`);
    }
    const before = document.getText();
    let after = before;
    for (const { range, newText } of [...edits].sort((a, b) => document.offsetAt(b.range.start) - document.offsetAt(a.range.start))) {
      after = after.slice(0, document.offsetAt(range.start)) + newText + after.slice(document.offsetAt(range.end));
    }
    if (after !== before) {
      all.push({ uri: document.uri, before, after });
    }
  }
  return all;
}
