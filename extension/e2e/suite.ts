// The end-to-end suite, in execution order. Start it with `make e2e`. The Chat view is
// last, because it stays open in later windows.
//
// | Part       | Daemon                         | Voice                      | Copilot                    |
// | ---------- | ------------------------------ | -------------------------- | -------------------------  |
// | install    | -                              | -                          | -                          |
// | firstUse   | that of the package            | -                          | stand-in, real VS Code API |
// | copilot    | that of the package, real time | a person, in a microphone  | the same                   |
// | pushToTalk | the same                       | the same                   | the same                   |
// | tools      | the same                       | a synthesiser              | the same                   |
// | confirmations | the same                    | a synthesiser              | the same, with a tool that VS Code confirms |
// | acting     | the same                       | a synthesiser              | the same, for tools of the extension's own |
// | failures   | the same                       | -                          | the same                   |
// | lifecycle  | the same, killed and restarted | a person                   | the same                   |
// | scripted   | headless, virtual time         | scripted recognition       | the same                   |
// | latency    | the same                       | the same                   | the same                   |
// | painting   | the same                       | -                          | -                          |
// | gallery    | the same                       | the same                   | the same                   |
// | reader     | that of the package            | a voice that is silent     | the same                   |
// | localVoice | installs models, as a child of the extension | -        | the same                   |
// | chat       | that of the package            | a person                   | the same, in the Chat view |

import { after } from 'node:test';
import { acting } from './acting.ts';
import { chat } from './chat.ts';
import { gallery, latency, painting } from './gallery.ts';
import { lifecycle } from './lifecycle.ts';
import { confirmations, copilot, failures, firstUse, install, pushToTalk, tools } from './live.ts';
import { localVoice } from './localVoice.ts';
import { reader } from './reader.ts';
import { scripted } from './scripted.ts';
import { print } from './table.ts';
import { theWorld } from './world.ts';

const parts = { install, firstUse, copilot, pushToTalk, tools, confirmations, acting, failures, lifecycle, scripted, latency, painting, gallery, reader, localVoice, chat };

// AGENTVOICE_E2E_PARTS selects parts; install always runs first.
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
