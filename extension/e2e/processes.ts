// Processes on this machine: the daemons started by the windows under test, and what holds their transcripts.

import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** A running daemon. */
export interface Daemon {
  pid: number;
  /** the path of its executable */
  path: string;
}

/** The daemons that serve an editor and have marker in their environment. */
export function daemons(marker: string): Daemon[] {
  return running(marker, (path, args) => /agentvoice-daemon( \(deleted\))?$/.test(path) && args[1] === 'serve');
}

/** Ends the programs that hold the transcripts of closed windows and have marker in their environment. */
export function endKeepers(marker: string): void {
  for (const { pid } of running(marker, (_path, args) => args[1]?.endsWith('/dist/keeper.js') === true)) {
    try {
      process.kill(pid);
    } catch {
      // it has ended
    }
  }
}

/** The processes that have marker in their environment. Each is examined once; processes that exit meanwhile are skipped. */
function running(marker: string, is: (path: string, args: readonly string[]) => boolean): Daemon[] {
  const found: Daemon[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) {
      continue;
    }
    try {
      const path = readlinkSync(`/proc/${name}/exe`);
      const args = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      if (is(path, args) && readFileSync(`/proc/${name}/environ`, 'utf8').includes(marker)) {
        found.push({ pid: Number(name), path });
      }
    } catch {
      // it has exited, or belongs to the system
    }
  }
  return found;
}
