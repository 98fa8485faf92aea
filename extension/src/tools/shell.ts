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

/** CommandTerminal is the terminal that shows the commands, one after the other. A new one replaces one that the user closed. */
export class CommandTerminal {
  private output = new vscode.EventEmitter<string>();
  private terminal: vscode.Terminal | undefined;
  /** what was written before the terminal opened, because VS Code drops that; undefined once it is open */
  private early: string[] | undefined = [];
  private readonly running = new Set<ChildProcess>();

  /** Shows the terminal without taking the focus. */
  show(): void {
    this.terminal ??= this.create();
    this.terminal.show(true);
  }

  write(text: string): void {
    const lines = text.replace(/\r?\n/g, '\r\n');
    if (this.early === undefined) {
      this.output.fire(lines);
    } else {
      this.early.push(lines);
    }
  }

  /** Stops a process if the user closes the terminal before the process ends. */
  follow(child: ChildProcess): void {
    this.running.add(child);
    child.once('close', () => this.running.delete(child));
  }

  private create(): vscode.Terminal {
    const output = (this.output = new vscode.EventEmitter<string>());
    const early: string[] = (this.early = []);
    return vscode.window.createTerminal({
      name: 'Agent Voice',
      iconPath: new vscode.ThemeIcon('mic'),
      pty: {
        onDidWrite: output.event,
        open: () => {
          this.early = undefined;
          early.forEach((text) => output.fire(text));
        },
        close: () => {
          this.terminal = undefined;
          this.running.forEach((child) => stop(child));
        },
      },
    });
  }
}

/** Ended is what a command returned, and its exit code, if it has one. */
export interface Ended {
  readonly text: string;
  readonly code: number | undefined;
}

/** Runs a command line in a folder until it ends or is cancelled, and reports how it ended. */
export async function runShell(terminal: CommandTerminal, line: string, folder: string, token: Token): Promise<Ended> {
  const began = performance.now();
  let exit: number | undefined;
  terminal.show();
  let tail = '';
  let cut = false;
  const take = (text: string): void => {
    terminal.write(text);
    tail += text;
    cut ||= tail.length > TAIL;
    tail = tail.slice(-TAIL);
  };
  terminal.write(`$ ${line}\n`);
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !EDITORS.test(name))),
    // Otherwise cmd prefers a program of the workspace to one of that name on the path.
    ...(process.platform === 'win32' ? { NoDefaultCurrentDirectoryInExePath: '1' } : {}),
  };
  const ended = await new Promise<string>((resolve) => {
    const posix = process.platform !== 'win32';
    const child = spawn(line, { cwd: folder, env, shell: true, windowsHide: true, detached: posix, stdio: ['ignore', 'pipe', 'pipe'] });
    terminal.follow(child);
    let forced: NodeJS.Timeout | undefined;
    const link = token.onCancellationRequested(() => {
      stop(child);
      forced = setTimeout(() => stop(child, 'SIGKILL'), GRACE);
    });
    const over = (how: string): void => {
      clearTimeout(forced);
      link.dispose();
      resolve(how);
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', take);
    }
    child.once('error', (err) => over(`The command could not be started: ${err.message}`));
    child.once('close', (code, signal) => {
      exit = token.isCancellationRequested ? undefined : (code ?? undefined);
      over(token.isCancellationRequested ? 'The command was stopped.' : code === null ? `The command was ended by ${signal ?? 'the system'}.` : `Exit code ${code}.`);
    });
    if (token.isCancellationRequested) {
      stop(child);
    }
  });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  terminal.write(`\n${ended}\n\n`);
  return { text: `${ended} It took ${seconds} s.\n${cut ? 'The end of the output:\n' : ''}${plain(tail)}`, code: exit };
}

/** Terminates a command and its child processes. */
function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): void {
  if (child.pid === undefined || child.exitCode !== null) {
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
