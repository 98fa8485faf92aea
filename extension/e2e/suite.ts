// The end-to-end suite, in the order in which it runs. Start it by `make e2e`.
//
// | Part       | Daemon                         | Voice                      | Copilot                   |
// | ---------- | ------------------------------ | -------------------------- | ------------------------- |
// | install    | that of the package            | -                          | -                         |
// | copilot    | that of the package, real time | a person, in a microphone  | stand-in, real VS Code API |
// | tools      | the same                       | a synthesiser              | the same                  |
// | failures   | the same                       | -                          | the same                  |
// | lifecycle  | the same, killed and restarted | a person                   | the same                  |
// | latency    | headless, virtual time         | scripted recognition       | the same                  |
// | gallery    | headless, virtual time         | scripted recognition       | the same                  |

import { after } from 'node:test';
import { gallery, latency } from './gallery.ts';
import { lifecycle } from './lifecycle.ts';
import { copilot, failures, install, tools } from './live.ts';
import { print } from './table.ts';
import { theWorld } from './world.ts';

const parts = { install, copilot, tools, failures, lifecycle, latency, gallery };

// AGENTVOICE_E2E_PARTS names those that are wanted; install comes first in any case.
const wanted = process.env['AGENTVOICE_E2E_PARTS']?.split(/[ ,]+/);
for (const [name, part] of Object.entries(parts)) {
  if (name === 'install' || wanted === undefined || wanted.includes(name)) {
    part();
  }
}

after(async () => {
  await (await theWorld()).close();
  print();
});
