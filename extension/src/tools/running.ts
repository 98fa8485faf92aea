// The tools that run tests, tasks and commands. The call that the user approves holds what runs: command line, folder
// and scripts. If that is something else by then, nothing runs. A terminal shows the output.

import * as vscode from 'vscode';
import { canonical } from './calls';
import { CHANGED, type Files, Refused } from './files';
import type { Input, Own, Token } from './own';
import { type Scripts, packageScripts, textOf } from './scripts';
import { runShell } from './shell';
import { type Resolved, ofWorkspace, resolveTask, taskNamed } from './tasks';

const COMMAND = { type: 'string', description: 'A command line for the shell, run in the first workspace folder.' };

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
  readonly folder?: string;
  readonly scripts?: Scripts;
  readonly click?: true;
}

/** Plan is what a call runs: as the user sees it, and the task that the editor runs for it. */
interface Plan {
  readonly shown: Resolved | Command;
  readonly task?: vscode.Task;
}

export function running(files: Files): Own[] {
  return [
    {
      name: 'editor_run_tests',
      description: 'Runs the tests of the workspace, and gives the exit code and the end of the output. It knows how: by a test task, or by the kind of project.',
      properties: {},
      prepare: async () => (await tests(files)).shown,
      run: async (_callId, input, token) => run(await still(input, () => tests(files)), token),
    },
    {
      name: 'editor_run_task', destructive: true,
      description: 'Runs a task of the workspace (tasks.json) by its name, and gives its exit code. Its output stays in the terminal.',
      properties: { task: { type: 'string', description: 'Name of the task.' } }, required: ['task'],
      prepare: async (_callId, input) => (await task(files, input.required('task'))).shown,
      run: async (_callId, input, token) => run(await still(input, () => task(files, input.required('task'))), token),
    },
    {
      name: 'editor_run_command', destructive: true,
      description: 'Runs a command line in a shell in the first workspace folder, and gives the exit code and the end of the output. It has no input and no terminal of its own.',
      properties: { command: COMMAND }, required: ['command'],
      prepare: async (_callId, input) => (await commandLine(files, input.required('command'))).shown,
      run: async (_callId, input, token) => {
        const plan = (): Promise<Plan> => commandLine(files, input.required('command'));
        // A call that was not prepared names nothing but its command line.
        return run(input.text('folder') === '' ? await save().then(plan) : await still(input, plan), token);
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

async function run({ shown, task: found }: Plan, token: Token): Promise<string> {
  if (found !== undefined) {
    return runTask(found, token);
  }
  const { command, folder: root } = shown;
  return runShell(command ?? '', root ?? folder().fsPath, token);
}

async function task(files: Files, name: string, tasks?: readonly vscode.Task[]): Promise<Plan> {
  const all = tasks ?? await vscode.tasks.fetchTasks();
  const found = taskNamed(all, name);
  return { shown: await resolveTask(files, all, found), task: found };
}

function localFolder(): vscode.Uri | undefined {
  return vscode.workspace.workspaceFolders?.find((f) => f.uri.scheme === 'file')?.uri;
}

function folder(): vscode.Uri {
  const first = localFolder();
  if (first === undefined) {
    throw new Refused('No folder of this machine is open.');
  }
  return first;
}

/** A command line as the user is asked about it. */
async function commandLine(files: Files, command: string): Promise<Plan> {
  const root = localFolder()?.fsPath;
  if (root === undefined) {
    return { shown: { command } };
  }
  const scripts = await packageScripts(files, command, root);
  return { shown: { command, folder: root, ...(scripts === 'unknown' ? { click: true } : scripts === undefined ? {} : { scripts }) } };
}

/** Saves unsaved files first, as the editor does before a task. */
async function save(): Promise<void> {
  if (vscode.workspace.getConfiguration('task').get('saveBeforeRun', 'always') === 'always') {
    await vscode.workspace.saveAll(false);
  }
}

/** How to run the tests: with the workspace's test task, or the usual command for its project type. */
async function tests(files: Files): Promise<Plan> {
  const all = await vscode.tasks.fetchTasks();
  const own = ofWorkspace(all).filter((candidate) => candidate.group?.id === vscode.TaskGroup.Test.id);
  const chosen = own.find((candidate) => candidate.group?.isDefault) ?? own[0];
  if (chosen !== undefined) {
    return task(files, chosen.name, all);
  }
  const root = folder();
  const read = (name: string): Promise<string | undefined> => textOf(files, vscode.Uri.joinPath(root, name)).catch(() => undefined);
  const manifest = await read('package.json');
  if (manifest !== undefined && hasTests(manifest)) {
    for (const [file, line] of PACKAGERS) {
      if ((await read(file)) !== undefined) {
        return commandLine(files, line);
      }
    }
    return commandLine(files, 'npm test');
  }
  for (const [file, line] of RUNNERS) {
    if ((await read(file)) !== undefined) {
      return commandLine(files, line);
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

async function runTask(chosen: vscode.Task, token: Token): Promise<string> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    let execution: vscode.TaskExecution | undefined;
    const subscriptions: { dispose(): void }[] = [];
    const end = (text: string): void => {
      subscriptions.forEach((s) => s.dispose());
      resolve(text);
    };
    const seconds = (): string => ((performance.now() - began) / 1000).toFixed(1);
    subscriptions.push(
      vscode.tasks.onDidEndTaskProcess((e) => {
        if (e.execution === execution) {
          end(`The task ${chosen.name} ended with exit code ${e.exitCode ?? 'unknown'} after ${seconds()} s. Its output is in the terminal.`);
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
