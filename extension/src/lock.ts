// Reports screen locks while watched. The editor has no API for that, so this asks the system: by its signal
// if it has one, or by polling.

import { execFile, spawn } from 'node:child_process';
import type { Log } from './daemon/sidecar';

/** Poll interval for systems without a signal, in milliseconds. */
const INTERVAL = 5_000;

/** Parses the output of `gdbus monitor` for the login manager and screen savers; undefined if a line is not about locks. */
export function lockOf(line: string): boolean | undefined {
  const hint = /'LockedHint': <(true|false)>/.exec(line)?.[1];
  const saver = /ScreenSaver\.ActiveChanged \((true|false),?\)/.exec(line)?.[1];
  const signal = /login1\.Session\.(Lock|Unlock) \(\)/.exec(line)?.[1];
  const said = hint ?? saver;
  return said !== undefined ? said === 'true' : signal === undefined ? undefined : signal === 'Lock';
}

/** Question is a command whose output says whether the screen is locked. */
interface Question {
  readonly command: string;
  readonly args: string[];
  readonly locked: RegExp;
}

/** Commands to poll if there is no signal. */
const QUESTIONS: Readonly<Record<string, Question>> = {
  darwin: { command: '/usr/sbin/ioreg', args: ['-n', 'Root', '-d1'], locked: /"CGSSessionScreenIsLocked"\s*=\s*Yes/ },
  // The program that draws the lock screen runs only while the screen is locked.
  win32: { command: 'tasklist.exe', args: ['/FI', 'IMAGENAME eq LogonUI.exe', '/NH'], locked: /LogonUI\.exe/i },
};

const call = (bus: string, dest: string, path: string, ...method: string[]): Question => ({
  command: 'gdbus',
  args: ['call', bus, '--timeout', '2', '--dest', dest, '--object-path', path, '--method', ...method],
  locked: /^\((<true>|true),\)/,
});

/** Signals report only changes. These commands run once, to detect a screen that is already locked. */
const FIRST: readonly Question[] = [
  call('--system', 'org.freedesktop.login1', '/org/freedesktop/login1/session/auto', 'org.freedesktop.DBus.Properties.Get', 'org.freedesktop.login1.Session', 'LockedHint'),
  call('--session', 'org.freedesktop.ScreenSaver', '/org/freedesktop/ScreenSaver', 'org.freedesktop.ScreenSaver.GetActive'),
  call('--session', 'org.gnome.ScreenSaver', '/org/gnome/ScreenSaver', 'org.gnome.ScreenSaver.GetActive'),
];

/** Calls f when the screen is locked and unlocked; the result stops the watch. On systems without support, f is never called. */
export function watchLock(f: (locked: boolean) => void, log: Log, os: string = process.platform): () => void {
  let stopped = false;
  const tell = (locked: boolean): void => {
    if (!stopped) {
      f(locked);
    }
  };
  const ask = (q: Question, answered: (locked: boolean) => void): void => {
    execFile(q.command, q.args, { windowsHide: true, timeout: INTERVAL }, (err, out) => answered(err === null && q.locked.test(out)));
  };
  const question = QUESTIONS[os];
  if (question !== undefined) {
    let before = false;
    const poll = (): void =>
      ask(question, (locked) => {
        if (locked !== before) {
          before = locked;
          tell(locked);
        }
      });
    poll();
    const timer = setInterval(poll, INTERVAL);
    return () => {
      stopped = true;
      clearInterval(timer);
    };
  }
  const stops = [
    ['--system', '--dest', 'org.freedesktop.login1'],
    ['--session', '--dest', 'org.freedesktop.ScreenSaver'],
    ['--session', '--dest', 'org.gnome.ScreenSaver'],
  ].map((bus) => listen('gdbus', ['monitor', ...bus], tell, log));
  FIRST.forEach((q) => ask(q, (locked) => locked && tell(true)));
  return () => {
    stopped = true;
    stops.forEach((stop) => stop());
  };
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
