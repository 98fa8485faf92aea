// The end-to-end suite, in execution order. Start it with `make e2e`. The Chat view is
// last, because it stays open in later windows. The fake Copilot answers through VS Code's real API.
//
// | Part          | Daemon                                       | Voice                |
// | ------------- | -------------------------------------------- | -------------------- |
// | install       | -                                            | -                    |
// | firstUse      | packaged                                     | -                    |
// | copilot       | packaged                                     | recorded person      |
// | pushToTalk    | packaged                                     | recorded person      |
// | tools         | packaged                                     | synthetic            |
// | confirmations | packaged; VS Code confirms one tool itself   | synthetic            |
// | acting        | packaged; the extension's own tools          | synthetic            |
// | failures      | packaged                                     | -                    |
// | lifecycle     | packaged; killed and restarted               | recorded person      |
// | scripted      | headless, virtual time                       | scripted recognition |
// | latency       | headless, virtual time                       | scripted recognition |
// | painting      | headless, virtual time                       | -                    |
// | gallery       | headless, virtual time                       | scripted recognition |
// | reader        | packaged; a screen reader speaks             | silent               |
// | localVoice    | packaged; the extension installs models      | -                    |
// | chooseVoice   | packaged; speaks samples                     | -                    |
// | folders       | packaged; two windows, a coding agent        | -                    |
// | assistants    | packaged; each kind of assistant              | -                    |
// | chat          | packaged; in the Chat view                   | recorded person      |

import { after } from 'node:test';
import { acting } from './acting.ts';
import { assistants } from './assistants.ts';
import { chat } from './chat.ts';
import { chooseVoice } from './chooseVoice.ts';
import { folders } from './folders.ts';
import { gallery, latency, painting } from './gallery.ts';
import { lifecycle } from './lifecycle.ts';
import { confirmations, copilot, failures, firstUse, install, pushToTalk, tools } from './live.ts';
import { localVoice } from './localVoice.ts';
import { reader } from './reader.ts';
import { scripted } from './scripted.ts';
import { print } from './table.ts';
import { theWorld } from './world.ts';

const parts = { install, firstUse, copilot, pushToTalk, tools, confirmations, acting, failures, lifecycle, scripted, latency, painting, gallery, reader, localVoice, chooseVoice, folders, assistants, chat };

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
