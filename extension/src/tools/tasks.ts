// What a task runs: its command line, folder and environment, and the tasks that it starts first. A task is run only if
// this is still what the user was asked about.

import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as local from 'node:path';
import * as vscode from 'vscode';
import { canonical } from './calls';
import { type Files, Refused } from './files';
import { type Scripts, packageScripts } from './scripts';

/** Resolved is a task with all that the editor tells about what it runs. */
export interface Resolved {
  readonly task: string;
  /** the command line, or the program whose arguments are args */
  readonly command?: string;
  readonly args?: readonly string[];
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** the program that reads the command line, if the task names it, with its arguments */
  readonly interpreter?: readonly string[];
  /** the scripts of package.json that the command runs */
  readonly scripts?: Scripts;
  /** the tasks that run first */
  readonly first?: readonly Resolved[];
  /** whether more may run than a question can say, so that only a click allows it */
  readonly click?: true;
}

/** An entry of tasks.json, as far as it says more than the editor's description of a task. */
interface Entry {
  readonly label?: unknown;
  readonly taskName?: unknown;
  readonly type?: unknown;
  readonly script?: unknown;
  readonly dependsOn?: unknown;
}

/** Maximum depth of tasks that run other tasks first. */
const DEPTH = 5;

/** Those tasks that come from the workspace's tasks.json. */
export function ofWorkspace(tasks: readonly vscode.Task[]): vscode.Task[] {
  return tasks.filter((task) => task.source === 'Workspace');
}

/** The tasks of a folder, and those of the whole workspace if all is set. */
export function ofFolder(tasks: readonly vscode.Task[], folder: vscode.Uri | undefined, all = false): vscode.Task[] {
  return tasks.filter(({ scope }) => (typeof scope === 'object' ? scope.uri.toString() === folder?.toString() : all || (vscode.workspace.workspaceFolders?.length ?? 0) < 2));
}

/** The task of the workspace with a name. It rejects with the reason if there is no such task that can be run by voice. */
export function taskNamed(tasks: readonly vscode.Task[], name: string): vscode.Task {
  const all = ofWorkspace(tasks);
  const exact = all.filter((candidate) => candidate.name === name);
  const found = exact.length > 0 ? exact : all.filter((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
  const [task] = found;
  if (task === undefined) {
    throw new Refused(`There is no task ${name}. ${all.length === 0 ? 'The workspace has none.' : `There are: ${all.map((candidate) => candidate.name).join(', ')}.`}`);
  }
  if (found.length > 1) {
    throw new Refused(`There are ${found.length} tasks ${name}, so it is not clear which one to run. Ask the user to run it in the editor.`);
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

/** What a task runs, as far as the editor tells. tasks are all that there are. */
export async function resolveTask(files: Pick<Files, 'reach'>, tasks: readonly vscode.Task[], task: vscode.Task, depth = DEPTH): Promise<Resolved> {
  const root = folderOf(task);
  const execution = task.execution;
  const own = execution === undefined ? undefined : commandOf(execution);
  const options = own === undefined ? undefined : (execution as vscode.ShellExecution | vscode.ProcessExecution).options;
  const cwd = options?.cwd === undefined ? root : substituted(options.cwd, root);
  const folder = cwd === undefined || root === undefined ? cwd : local.resolve(root, cwd);
  const environment = { ...workspaceEnvironment(root), ...options?.env };
  const interpreter = [...interpreterOf(options), ...profileOf(root)];
  const command = own === undefined ? undefined : substituted(own.command, root);
  const args = own?.args?.map((arg) => substituted(arg, root) ?? arg);
  const before = await dependencies(files, tasks, task, root, depth);
  const scripts = command === undefined || folder === undefined ? undefined : await packageScripts(files, [command, ...(args ?? [])].join(' '), folder);
  const click = command === undefined || folder === undefined || before === undefined || scripts === 'unknown'
    || before.some((one) => one.click === true)
    || interpreter.length > 0
    || Object.entries(environment).some(([name, value]) => !isPlain(name, value))
    || [command, ...(args ?? []), folder].some((text) => text.includes('${'))
    || !(await isInside(folder));
  return {
    task: task.name,
    ...(command === undefined ? {} : { command }),
    ...(args === undefined ? {} : { args }),
    ...(folder === undefined ? {} : { folder }),
    ...(Object.keys(environment).length === 0 ? {} : { environment }),
    ...(interpreter.length === 0 ? {} : { interpreter }),
    ...(scripts === undefined || scripts === 'unknown' ? {} : { scripts }),
    ...(before === undefined || before.length === 0 ? {} : { first: before }),
    ...(click ? { click } : {}),
  };
}

/** The command of an execution; undefined if an extension runs the task by code of its own. */
function commandOf(execution: NonNullable<vscode.Task['execution']>): { command: string; args?: readonly string[] } | undefined {
  const text = (value: unknown): string | undefined =>
    typeof value === 'string' ? value : typeof value === 'object' && value !== null && 'value' in value && typeof value.value === 'string' ? value.value : undefined;
  const { process: program, commandLine, command, args = [] } = execution as { process?: unknown; commandLine?: unknown; command?: unknown; args?: readonly unknown[] };
  if (typeof commandLine === 'string' && commandLine !== '') {
    return { command: commandLine };
  }
  const name = text(program ?? command);
  const all = args.map(text);
  return name === undefined || name === '' || all.includes(undefined) ? undefined : { command: name, args: all.filter((arg) => arg !== undefined) };
}

/** Variables that change how a program reports, and not what it runs. */
const REPORTING = /^(CI|DEBUG|NO_COLOR|FORCE_COLOR|CLICOLOR|TERM|NODE_ENV|LANG|LC_[A-Z]+|TZ|GOOS|GOARCH|RUST_BACKTRACE|RUST_LOG|LOG_LEVEL|VERBOSE)$/;

function isPlain(name: string, value: string): boolean {
  return REPORTING.test(name) && /^[\w.,:+ -]*$/.test(value);
}

/** The shell that a task chooses for its command line. */
function interpreterOf(options: vscode.ShellExecutionOptions | vscode.ProcessExecutionOptions | undefined): string[] {
  const { executable, shellArgs = [] } = (options ?? {}) as vscode.ShellExecutionOptions;
  return executable === undefined ? [...shellArgs] : [executable, ...shellArgs];
}

/** The name of this system in settings. */
const SYSTEM = process.platform === 'win32' ? 'windows' : process.platform === 'darwin' ? 'osx' : 'linux';

/** A setting of terminals, if the workspace sets it. */
function setByWorkspace(name: string, folder: string | undefined): unknown {
  const found = vscode.workspace.getConfiguration('terminal.integrated', folder === undefined ? null : vscode.Uri.file(folder)).inspect(`${name}.${SYSTEM}`);
  return found?.workspaceFolderValue ?? found?.workspaceValue;
}

/** The shell that the workspace's settings choose for tasks. */
function profileOf(folder: string | undefined): string[] {
  const chosen = ['automationProfile', 'defaultProfile', 'profiles'].map((name) => setByWorkspace(name, folder)).filter((value) => value !== undefined && value !== null);
  return chosen.length === 0 ? [] : [JSON.stringify(chosen)];
}

/** The variables that the workspace's settings add to terminals. */
function workspaceEnvironment(folder: string | undefined): Record<string, string> {
  const set = setByWorkspace('env', folder);
  return typeof set === 'object' && set !== null ? Object.fromEntries(Object.entries(set).map(([name, value]) => [name, String(value)])) : {};
}

/** The tasks that a task runs first; undefined if that is not known. */
async function dependencies(
  files: Pick<Files, 'reach'>, tasks: readonly vscode.Task[], task: vscode.Task, root: string | undefined, depth: number,
): Promise<Resolved[] | undefined> {
  const entries = entriesOf(root).filter(({ label, taskName, type, script }) =>
    label === task.name || taskName === task.name || (label === undefined && taskName === undefined && type === task.definition?.type && script === task.definition?.['script']));
  if (entries.length === 0 || depth === 0) {
    return undefined;
  }
  const out: Resolved[] = [];
  for (const wanted of entries.flatMap(({ dependsOn }) => (dependsOn === undefined ? [] : Array.isArray(dependsOn) ? (dependsOn as unknown[]) : [dependsOn]))) {
    const found = typeof wanted === 'string' ? tasks.filter((one) => one.name === wanted) : [];
    const [one] = found;
    if (one === undefined || found.length > 1) {
      return undefined;
    }
    out.push(await resolveTask(files, tasks, one, depth - 1));
  }
  return out;
}

/** The entries of all tasks.json that apply to a folder. */
function entriesOf(root: string | undefined): Entry[] {
  const set = vscode.workspace.getConfiguration('tasks', root === undefined ? null : vscode.Uri.file(root));
  const found = set.inspect<unknown>('tasks');
  const lists = [found?.workspaceFolderValue, found?.workspaceValue, found?.globalValue];
  const entries = (lists.some((list) => Array.isArray(list)) ? lists : [set.get<unknown>('tasks')])
    .flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))
    .filter((entry): entry is Entry => typeof entry === 'object' && entry !== null);
  return [...new Map(entries.map((entry) => [canonical(entry), entry])).values()]; // a single folder is also the workspace
}

/** The folder of the workspace that a task belongs to, on this machine. */
function folderOf({ scope }: vscode.Task): string | undefined {
  const folder = typeof scope === 'object' ? scope : vscode.workspace.workspaceFolders?.[0];
  return folder?.uri.scheme === 'file' ? folder.uri.fsPath : undefined;
}

/** Replaces the variables that have one value, as the editor does. Others stay. */
function substituted(text: string, folder: string | undefined): string | undefined {
  if (folder === undefined && text.includes('${workspace')) {
    return undefined;
  }
  const values: Readonly<Record<string, string | undefined>> = {
    workspaceFolder: folder, workspaceRoot: folder, cwd: folder, userHome: homedir(), pathSeparator: local.sep, '/': local.sep,
    workspaceFolderBasename: folder === undefined ? undefined : local.basename(folder),
  };
  return text.replace(/\$\{([^{}]*)\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? (values[name] ?? whole) : whole));
}

/** Whether a folder is one of the workspace, or in one, behind all links. */
async function isInside(folder: string): Promise<boolean> {
  const real = await realpath(folder).catch(() => undefined);
  for (const { uri } of vscode.workspace.workspaceFolders ?? []) {
    const root = uri.scheme === 'file' ? await realpath(uri.fsPath).catch(() => undefined) : undefined;
    const below = root === undefined || real === undefined ? '..' : local.relative(root, real);
    if (below !== '..' && !below.startsWith(`..${local.sep}`) && !local.isAbsolute(below)) {
      return true;
    }
  }
  return false;
}
