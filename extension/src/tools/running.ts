// The tools that run tests, tasks and commands. The call that the user approves holds what runs: command line, folder
// and scripts. If that is something else by then, nothing runs. A terminal shows the output.

import * as vscode from 'vscode';
import { canonical } from './calls';
import { activeFolder, localFolders } from '../folders';
import type { Translate } from '../text';
import { CHANGED, type Files, Refused } from './files';
import { failures } from './testOutput';
import type { Input, Own, Result, Token } from './tool';
import { type Scripts, packageScripts, textOf } from './scripts';
import { CommandTerminal, runShell } from './shell';
import { type Resolved, ofFolder, ofWorkspace, resolveTask, taskNamed } from './tasks';

const COMMAND = { type: 'string', description: 'A command line for the shell.' };
const FOLDER = { type: 'string', description: 'Name of the workspace folder, if several are open. Without it, that of the open file, or else the first one.' };

/** Test commands by the file that identifies the project type. */
const RUNNERS: readonly [file: string, command: string][] = [
  ['go.mod', 'go test ./...'],
  ['Cargo.toml', 'cargo test'],
  ['pyproject.toml', 'python -m pytest'],
  ['pytest.ini', 'python -m pytest'],
  ['setup.py', 'python -m pytest'],
];
/** The package manager that a lock file belongs to. */
const PACKAGERS: readonly [file: string, command: string][] = [['pnpm-lock.yaml', 'pnpm test'], ['yarn.lock', 'yarn test']];

/** Command is a command line with its folder, and the scripts of package.json that it runs. */
interface Command {
  readonly command: string;
  readonly folder: string;
  readonly scripts?: Scripts;
  readonly click?: true;
}

/** Among several open folders, a call names the one that it is about. */
interface Placed { readonly workspaceFolder?: string }

/** Plan is what a call runs: as the user sees it, and the task that the editor runs for it. */
interface Plan {
  readonly shown: (Resolved | Command) & Placed;
  readonly task?: vscode.Task;
}

export function running(files: Files, t: Translate): Own[] {
  const terminal = new CommandTerminal();
  /** Runs what the user allowed, on what is on the disk. */
  const run = async (plan: Plan, token: Token, ofTests = false): Promise<Result> => {
    const old = unsaved();
    const { shown, task: chosen } = plan;
    const { content, outcome } = chosen !== undefined ? await runTask(chosen, token, t) : await runCommand(shown as Command, token, ofTests);
    return { content: old.length === 0 ? content : `These files are not saved, so it ran with their old contents: ${old.join(', ')}.\n${content}`, outcome };
  };
  const runCommand = async ({ command, folder }: Command, token: Token, ofTests: boolean): Promise<Result> => {
    const { text, code } = await runShell(terminal, command, folder, token);
    const failed = ofTests && code !== 0 ? failures(text) : undefined;
    return { content: text, outcome: code === 0 ? (ofTests ? t('passed') : '') : code === undefined ? t('stopped') : failed === undefined ? t('exit code {0}', code) : t('{0} failed', failed) };
  };
  return [
    {
      name: 'editor_run_tests',
      description: 'Runs the tests of the workspace, and gives the exit code and the end of the output. It knows how: by a test task, or by the kind of project.',
      properties: { workspaceFolder: FOLDER },
      prepare: async (_callId, input) => (await tests(files, input)).shown,
      run: async (_callId, input, token) => run(await still(input, () => tests(files, input)), token, true),
    },
    {
      name: 'editor_run_task', destructive: true,
      description: 'Runs a task of the workspace (tasks.json) by its name, and gives its exit code. Its output stays in the terminal.',
      properties: { task: { type: 'string', description: 'Name of the task.' }, workspaceFolder: FOLDER }, required: ['task'],
      prepare: async (_callId, input) => (await namedTask(files, input)).shown,
      run: async (_callId, input, token) => run(await still(input, () => namedTask(files, input)), token),
    },
    {
      name: 'editor_run_command', destructive: true, here: true,
      description: 'Runs a command line in a shell in a workspace folder, and gives the exit code and the end of the output. It has no input and no terminal of its own.',
      properties: { command: COMMAND, workspaceFolder: FOLDER }, required: ['command'],
      prepare: async (_callId, input) => (await commandLine(files, input.required('command'), placeOf(input))).shown,
      run: async (_callId, input, token) => {
        const plan = (): Promise<Plan> => commandLine(files, input.required('command'), placeOf(input));
        if (Object.keys(input.all).some((name) => name !== 'command')) {
          return run(await still(input, plan), token);
        }
        // A call that was not prepared names nothing but its command line.
        if (localFolders().length > 1) {
          throw new Refused('Several folders are open, and this call does not say in which one it runs. Call the tool again: the user is asked again.');
        }
        await save();
        return run(await plan(), token);
      },
    },
  ];
}

/** What a call runs, if that is still what the user was asked about. Unsaved files are saved first, as before a task. */
async function still(input: Input, plan: () => Promise<Plan>): Promise<Plan> {
  await save();
  const now = await plan();
  if (canonical(now.shown) !== canonical(input.all)) {
    throw new Refused(CHANGED);
  }
  return now;
}

/** The task that a call names, of the folder that it names, or else of any. */
async function namedTask(files: Files, input: Input): Promise<Plan> {
  const all = await vscode.tasks.fetchTasks();
  return task(files, all, taskNamed(named(input) === '' ? all : ofFolder(all, placeOf(input)?.root), input.required('task')));
}

async function task(files: Files, all: readonly vscode.Task[], found: vscode.Task): Promise<Plan> {
  const resolved = await resolveTask(files, all, found);
  const own = typeof found.scope === 'object' && localFolders().length > 1 ? { workspaceFolder: nameOf(found.scope) } : {};
  return { shown: { ...resolved, ...own }, task: found };
}

const NO_FOLDER = 'No folder of this machine is open, so nothing can be run. In a remote window, files can be read and changed, but the commands of this extension do not run there.';

/** The name of a folder, or its path if another one has the same name. */
function nameOf({ name, uri }: vscode.WorkspaceFolder): string {
  return localFolders().filter((f) => f.name === name).length === 1 ? name : uri.fsPath;
}

/** The folder that a call names, "" if it names none. */
function named(input: Input): string {
  return input.text('workspaceFolder').trim();
}

/** Place is the folder that a call is about, and its name if several are open. */
interface Place { readonly root: vscode.Uri; readonly shown: Placed }

/** The folder that a call names. Without a name: the active file's folder, or the first one; undefined if no folder is open. */
function placeOf(input: Input): Place | undefined {
  const all = localFolders();
  const wanted = named(input);
  const active = activeFolder()?.uri.fsPath;
  const found = wanted === ''
    ? (all.find((f) => f.uri.fsPath === active) ?? all[0])
    : all.find((f) => nameOf(f) === wanted || f.uri.fsPath === wanted);
  if (found === undefined && wanted !== '') {
    throw new Refused(`There is no folder ${wanted} open on this machine. Open are: ${all.map(nameOf).join(', ')}.`);
  }
  return found && { root: found.uri, shown: all.length > 1 ? { workspaceFolder: nameOf(found) } : {} };
}

/** A command line as the user is asked about it. */
async function commandLine(files: Files, command: string, place: Place | undefined): Promise<Plan> {
  if (place === undefined) {
    throw new Refused(NO_FOLDER);
  }
  const folder = place.root.fsPath;
  const scripts = await packageScripts(files, command, folder);
  return { shown: { command, folder, ...place.shown, ...(scripts === 'unknown' ? { click: true } : scripts === undefined ? {} : { scripts }) } };
}

/** Saves unsaved files first, as the editor does before a task. */
async function save(): Promise<void> {
  if (vscode.workspace.getConfiguration('task').get('saveBeforeRun', 'always') === 'always') {
    await vscode.workspace.saveAll(false);
    const old = unsaved();
    if (old.length > 0) {
      throw new Refused(`Nothing was run, because these files could not be saved, and it would have used their old contents: ${old.join(', ')}. Tell the user.`);
    }
  }
}

/** The files of the workspace whose latest contents are not on the disk. */
function unsaved(): string[] {
  return vscode.workspace.textDocuments
    .filter((d) => d.isDirty && !d.isUntitled && vscode.workspace.getWorkspaceFolder(d.uri) !== undefined)
    .map((d) => vscode.workspace.asRelativePath(d.uri));
}

/** How to run the tests: with the workspace's test task, or the usual command for its project type. */
async function tests(files: Files, input: Input): Promise<Plan> {
  const place = placeOf(input);
  const all = await vscode.tasks.fetchTasks();
  // Tasks of the whole workspace are nobody's, so they do not run for a folder that is named.
  const own = ofWorkspace(ofFolder(all, place?.root, named(input) === '')).filter((candidate) => candidate.group?.id === vscode.TaskGroup.Test.id);
  const chosen = own.find((candidate) => candidate.group?.isDefault) ?? own[0];
  if (chosen !== undefined) {
    return task(files, all, chosen);
  }
  if (place === undefined) {
    throw new Refused(NO_FOLDER);
  }
  const { root } = place;
  const read = (name: string): Promise<string | undefined> => textOf(files, vscode.Uri.joinPath(root, name)).catch(() => undefined);
  const manifest = await read('package.json');
  if (manifest !== undefined && hasTests(manifest)) {
    for (const [file, line] of PACKAGERS) {
      if ((await read(file)) !== undefined) {
        return commandLine(files, line, place);
      }
    }
    return commandLine(files, 'npm test', place);
  }
  for (const [file, line] of RUNNERS) {
    if ((await read(file)) !== undefined) {
      return commandLine(files, line, place);
    }
  }
  throw new Refused('It is not known how the tests of this workspace are run. Ask the user for the command, and use editor_run_command.');
}

/** Whether a package.json has a test script. */
export function hasTests(manifest: string): boolean {
  try {
    const { scripts } = JSON.parse(manifest) as { scripts?: { test?: unknown } };
    return typeof scripts?.test === 'string' && scripts.test !== '';
  } catch {
    return false;
  }
}

async function runTask(chosen: vscode.Task, token: Token, t: Translate): Promise<Result> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    let execution: vscode.TaskExecution | undefined;
    const subscriptions: { dispose(): void }[] = [];
    const end = (content: string, code?: number): void => {
      subscriptions.forEach((s) => s.dispose());
      resolve({ content, outcome: token.isCancellationRequested ? t('stopped') : code === undefined || code === 0 ? '' : t('exit code {0}', code) });
    };
    const seconds = (): string => ((performance.now() - began) / 1000).toFixed(1);
    subscriptions.push(
      vscode.tasks.onDidEndTaskProcess((e) => {
        if (e.execution === execution) {
          end(`The task ${chosen.name} ended with exit code ${e.exitCode ?? 'unknown'} after ${seconds()} s. Its output is in the terminal.`, e.exitCode);
        }
      }),
      vscode.tasks.onDidEndTask((e) => {
        if (e.execution === execution) {
          setTimeout(() => end(`The task ${chosen.name} ended after ${seconds()} s.`)); // the end of its process is reported first
        }
      }),
      token.onCancellationRequested(() => execution?.terminate()),
    );
    vscode.tasks.executeTask(chosen).then((e) => {
      execution = e;
      if (token.isCancellationRequested) {
        e.terminate();
      }
    }, reject);
  });
}
