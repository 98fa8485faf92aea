// The tools that run tests, tasks and commands. The call that the user approves contains what runs, and a
// terminal shows the output.

import * as vscode from 'vscode';
import { Refused } from './files';
import type { Own, Token } from './own';
import { runShell } from './shell';

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

export function running(): Own[] {
  return [
    {
      name: 'editor_run_tests',
      description: 'Runs the tests of the workspace, and gives the exit code and the end of the output. It knows how: by a test task, or by the kind of project.',
      properties: {},
      prepare: () => tests(),
      run: async (_callId, input, token) => {
        const known = input.text('command') === '' && input.text('task') === '' ? await tests() : undefined; // a retried call
        const task = known?.task ?? input.text('task');
        return task === '' ? command(known?.command ?? input.required('command'), token) : runTask(task, token);
      },
    },
    {
      name: 'editor_run_task', destructive: true,
      description: 'Runs a task of the workspace (tasks.json) by its name, and gives its exit code. Its output stays in the terminal.',
      properties: { task: { type: 'string', description: 'Name of the task.' } }, required: ['task'],
      prepare: async (_callId, input) => ({ task: (await taskNamed(input.required('task'))).name }),
      run: (_callId, input, token) => runTask(input.required('task'), token),
    },
    {
      name: 'editor_run_command', destructive: true,
      description: 'Runs a command line in a shell in the first workspace folder, and gives the exit code and the end of the output. It has no input and no terminal of its own.',
      properties: { command: COMMAND }, required: ['command'],
      run: (_callId, input, token) => command(input.required('command'), token),
    },
  ];
}

function folder(): vscode.Uri {
  const first = vscode.workspace.workspaceFolders?.find((f) => f.uri.scheme === 'file');
  if (first === undefined) {
    throw new Refused('No folder of this machine is open.');
  }
  return first.uri;
}

async function command(line: string, token: Token): Promise<string> {
  await save();
  return runShell(line, folder().fsPath, token);
}

/** Saves unsaved files first, as the editor does before a task. */
async function save(): Promise<void> {
  if (vscode.workspace.getConfiguration('task').get('saveBeforeRun', 'always') === 'always') {
    await vscode.workspace.saveAll(false);
  }
}

/** How to run the tests: with the workspace's test task, or the usual command for its project type. */
async function tests(): Promise<{ task?: string; command?: string }> {
  const all = await vscode.tasks.fetchTasks();
  const own = all.filter((task) => task.source === 'Workspace' && task.group?.id === vscode.TaskGroup.Test.id);
  const task = own.find((candidate) => candidate.group?.isDefault) ?? own[0];
  if (task !== undefined) {
    return { task: task.name };
  }
  const root = folder();
  const read = (name: string): Promise<string | undefined> =>
    Promise.resolve(vscode.workspace.fs.readFile(vscode.Uri.joinPath(root, name))).then((bytes) => new TextDecoder().decode(bytes), () => undefined);
  const manifest = await read('package.json');
  if (manifest !== undefined && hasTests(manifest)) {
    for (const [file, line] of PACKAGERS) {
      if ((await read(file)) !== undefined) {
        return { command: line };
      }
    }
    return { command: 'npm test' };
  }
  for (const [file, line] of RUNNERS) {
    if ((await read(file)) !== undefined) {
      return { command: line };
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

async function taskNamed(name: string): Promise<vscode.Task> {
  const all = (await vscode.tasks.fetchTasks()).filter((task) => task.source === 'Workspace');
  const task = all.find((candidate) => candidate.name === name) ?? all.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
  if (task === undefined) {
    throw new Refused(`There is no task ${name}. ${all.length === 0 ? 'The workspace has none.' : `There are: ${all.map((candidate) => candidate.name).join(', ')}.`}`);
  }
  if (asks(task)) {
    throw new Refused(`The task ${name} asks for input in the editor, which cannot be answered by voice.`);
  }
  return task;
}

/** Whether a task prompts the user for a value. */
function asks({ execution }: vscode.Task): boolean {
  return JSON.stringify(execution ?? '').includes('${input:');
}

async function runTask(name: string, token: Token): Promise<string> {
  const task = await taskNamed(name);
  await save();
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
          end(`The task ${task.name} ended with exit code ${e.exitCode ?? 'unknown'} after ${seconds()} s. Its output is in the terminal.`);
        }
      }),
      vscode.tasks.onDidEndTask((e) => {
        if (e.execution === execution) {
          setTimeout(() => end(`The task ${task.name} ended after ${seconds()} s.`)); // the end of its process is reported first
        }
      }),
      token.onCancellationRequested(() => execution?.terminate()),
    );
    vscode.tasks.executeTask(task).then((e) => {
      execution = e;
      if (token.isCancellationRequested) {
        e.terminate();
      }
    }, reject);
  });
}
