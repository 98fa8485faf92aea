// Which code may open files of the workspace: everything else goes through the gate of the tools.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(__dirname, '..', '..', 'src');

/** Calls that open, read, find or change files of the workspace, or start programs. */
const OPENS = /\bworkspace\.fs\b|\bopenTextDocument\((?!\{)|\bfindFiles\(|\bapplyEdit\(|\bopenNotebookDocument\(|\bexecuteTask\(|\bsendText\(|^import (?!type ).* from 'node:(fs|fs\/promises|child_process)'/m;

/** The files that may, and why. */
const MAY: Readonly<Record<string, string>> = {
  'tools/files.ts': 'is the gate',
  'tools/links.ts': 'asks where a path leads',
  'tools/changes.ts': 'applies changes, each after the gate',
  'tools/editing.ts': 'shows the place of a change that was made, and asks whether a reached file is there',
  'tools/reading.ts': 'reads what a search of the gate found, and checks it again',
  'tools/scripts.ts': 'reads package.json after the gate',
  'tools/tasks.ts': 'resolves the folder of a task',
  'tools/running.ts': 'runs a task that was resolved again',
  'tools/shell.ts': 'runs a command that was allowed',
  'copilot/guard.ts': 'resolves the folder of the user settings',
  'copilot/context.ts': 'opens an attachment that the guard has seen',
  'editorCommands.ts': 'shows the user a file that the user named',
  'words.ts': 'names the files of another machine, and reads a list behind no link',
  'window.ts': 'starts the daemon, and shows an answer as a document',
  'panelPage.ts': 'reads parts of the extension',
  'diagnostics.ts': 'reads a journal that the daemon wrote',
  'daemon/find.ts': 'asks the daemon for its version',
  'lock.ts': 'asks the system whether the screen is locked',
  'localVoice.ts': 'runs the daemon to install models',
  'chooseAssistant.ts': 'types a command to install or sign in, which the user runs',
  'voices.ts': 'runs the daemon to hear a voice',
  'kept.ts': 'starts the program that holds the transcript',
  'keeper.ts': 'removes the folder of its socket',
};

test('no other code opens files of the workspace or starts programs', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts') && !file.endsWith('.gen.ts')).map((file) => file.replaceAll('\\', '/'));
  assert.ok(files.length > 50, 'the walk is broken');
  const opens = files.filter((file) => OPENS.test(readFileSync(join(root, file), 'utf8')));
  assert.deepEqual(opens.filter((file) => !(file in MAY)), [], 'use Files (tools/files.ts), or add the file with its reason');
  assert.deepEqual(Object.keys(MAY).filter((file) => !opens.includes(file)), [], 'these open nothing: remove their rows');
});
