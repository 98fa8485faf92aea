// Runs a command in its own shell, shows the output in a terminal and returns its end. A user terminal does
// not report the exit code in every shell.

import { type ChildProcess, spawn } from 'node:child_process';
import * as vscode from 'vscode';
import type { Token } from './tool';

/** Maximum length of the returned output, in characters. The end is kept, because it shows the result. */
const TAIL = 12_000;
/** Grace period before a command is killed, in milliseconds. */
const GRACE = 3_000;

/** Environment variables of the editor's process that would change the behaviour of other programs. */
const EDITORS = /^(ELECTRON_|VSCODE_|CHROME_)/;

/** Runs a command line in a folder until it ends or is cancelled, and reports how it ended. */
export async function runShell(line: string, folder: string, token: Token): Promise<string> {
  const began = performance.now();
  const output = new vscode.EventEmitter<string>();
  let child: ChildProcess | undefined;
  const terminal = vscode.window.createTerminal({
    name: 'Agent Voice',
    iconPath: new vscode.ThemeIcon('mic'),
    pty: { onDidWrite: output.event, open: () => undefined, close: () => stop(child) },
  });
  terminal.show(true);
  let tail = '';
  let cut = false;
  const take = (text: string): void => {
    output.fire(text.replace(/\r?\n/g, '\r\n'));
    tail += text;
    cut ||= tail.length > TAIL;
    tail = tail.slice(-TAIL);
  };
  output.fire(`$ ${line}\r\n`);
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !EDITORS.test(name))),
    // Otherwise cmd prefers a program of the workspace to one of that name on the path.
    ...(process.platform === 'win32' ? { NoDefaultCurrentDirectoryInExePath: '1' } : {}),
  };
  const ended = await new Promise<string>((resolve) => {
    const posix = process.platform !== 'win32';
    child = spawn(line, { cwd: folder, env, shell: true, windowsHide: true, detached: posix, stdio: ['ignore', 'pipe', 'pipe'] });
    const own = child;
    let forced: NodeJS.Timeout | undefined;
    const link = token.onCancellationRequested(() => {
      stop(own);
      forced = setTimeout(() => stop(own, 'SIGKILL'), GRACE);
    });
    const over = (how: string): void => {
      clearTimeout(forced);
      link.dispose();
      resolve(how);
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', take);
    }
    child.once('error', (err) => over(`The command could not be started: ${err.message}`));
    child.once('close', (code, signal) => over(token.isCancellationRequested ? 'The command was stopped.' : code === null ? `The command was ended by ${signal ?? 'the system'}.` : `Exit code ${code}.`));
    if (token.isCancellationRequested) {
      stop(own);
    }
  });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  output.fire(`\r\n${ended}\r\n`);
  return `${ended} It took ${seconds} s.\n${cut ? 'The end of the output:\n' : ''}${plain(tail)}`;
}

/** Terminates a command and its child processes. */
function stop(child: ChildProcess | undefined, signal: NodeJS.Signals = 'SIGTERM'): void {
  if (child?.pid === undefined || child.exitCode !== null) {
    return;
  }
  if (process.platform === 'win32') {
    spawn('taskkill', ['/pid', String(child.pid), '/t', '/f'], { windowsHide: true }).once('error', () => child.kill());
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch {
    child.kill(signal); // the process group is gone
  }
}

/** Strips ANSI escape sequences from output. */
export function plain(text: string): string {
  return text.replace(/\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-_])/g, '').replace(/\r(?!\n)/g, '\n');
}
