// Tells when the screen is locked, for as long as it is wanted. The editor does not
// say, so the system is asked: by its own signal where there is one.

import { execFile, spawn } from 'node:child_process';
import type { Log } from './daemon/sidecar';

/** How often a system without a signal is asked, in milliseconds. */
const INTERVAL = 5_000;

/** Reads what `gdbus monitor` prints of the login manager and the screen savers; undefined where a line says nothing about locks. */
export function lockOf(line: string): boolean | undefined {
  const hint = /'LockedHint': <(true|false)>/.exec(line)?.[1];
  const saver = /ScreenSaver\.ActiveChanged \((true|false),?\)/.exec(line)?.[1];
  const signal = /login1\.Session\.(Lock|Unlock) \(\)/.exec(line)?.[1];
  const said = hint ?? saver;
  return said !== undefined ? said === 'true' : signal === undefined ? undefined : signal === 'Lock';
}

/** Commands that say by their output whether the screen is locked. */
const QUESTIONS: Readonly<Record<string, { command: string; args: string[]; locked: RegExp }>> = {
  darwin: { command: '/usr/sbin/ioreg', args: ['-n', 'Root', '-d1'], locked: /"CGSSessionScreenIsLocked"\s*=\s*Yes/ },
  // The program that draws the lock screen runs while it is there.
  win32: { command: 'tasklist.exe', args: ['/FI', 'IMAGENAME eq LogonUI.exe', '/NH'], locked: /LogonUI\.exe/i },
};

/** Has f told when the screen is locked and unlocked; the result ends that. Where the system cannot say it is never told. */
export function watchLock(f: (locked: boolean) => void, log: Log, os: string = process.platform): () => void {
  const question = QUESTIONS[os];
  if (question !== undefined) {
    let before = false;
    const timer = setInterval(() => {
      execFile(question.command, question.args, { windowsHide: true, timeout: INTERVAL }, (err, out) => {
        const locked = err === null && question.locked.test(out);
        if (locked !== before) {
          before = locked;
          f(locked);
        }
      });
    }, INTERVAL);
    return () => clearInterval(timer);
  }
  const stops = [
    ['--system', '--dest', 'org.freedesktop.login1'],
    ['--session', '--dest', 'org.freedesktop.ScreenSaver'],
    ['--session', '--dest', 'org.gnome.ScreenSaver'],
  ].map((bus) => listen('gdbus', ['monitor', ...bus], f, log));
  return () => stops.forEach((stop) => stop());
}

function listen(command: string, args: string[], f: (locked: boolean) => void, log: Log): () => void {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  child.on('error', (err) => log.debug(`the lock of the screen cannot be watched: ${err.message}`));
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const locked = lockOf(line);
      if (locked !== undefined) {
        f(locked);
      }
    }
  });
  return () => child.kill();
}
