// Processes on this machine: the daemons started by the windows under test.

import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** A running daemon. */
export interface Daemon {
  pid: number;
  /** the path of its executable */
  path: string;
}

/**
 * The daemons that serve an editor and have marker in their environment. Each process is
 * examined once; processes that exit meanwhile are skipped.
 */
export function daemons(marker: string): Daemon[] {
  const found: Daemon[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) {
      continue;
    }
    try {
      const path = readlinkSync(`/proc/${name}/exe`);
      const args = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      if (/agentvoice-daemon( \(deleted\))?$/.test(path) && args[1] === 'serve' && readFileSync(`/proc/${name}/environ`, 'utf8').includes(marker)) {
        found.push({ pid: Number(name), path });
      }
    } catch {
      // it has exited, or belongs to the system
    }
  }
  return found;
}
