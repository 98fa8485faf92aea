#!/usr/bin/env node
// Runs the daemon of this platform's package, which npm installs as an optional dependency.
'use strict';

const { spawn } = require('node:child_process');
const path = require('node:path');

const name = `@agentvoice/${process.platform}-${process.arch}`;
let folder;
try {
  folder = path.dirname(require.resolve(`${name}/package.json`));
} catch {
  console.error(
    `agentvoice: the package ${name} is not installed. Install agentvoice again without --omit=optional, or see ` +
      'https://github.com/agentvoice/agentvoice-daemon/blob/main/docs/install.md for platforms without one.',
  );
  process.exit(1);
}

const program = path.join(folder, process.platform === 'win32' ? 'agentvoice-daemon.exe' : 'agentvoice-daemon');
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
// A terminal sends Ctrl-C to both: the daemon says goodbye and ends, and this process ends with it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on('error', (problem) => {
  console.error(`agentvoice: ${program} does not start: ${problem.message}`);
  process.exitCode = 1;
});
child.on('exit', (code, signal) => {
  process.exitCode = signal ? 1 : (code ?? 1);
});
