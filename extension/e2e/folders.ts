// Two windows at once: a repository that attacks, which is not trusted, and a workspace of two folders. A
// coding agent records the folder that it gets, and commands run where the question says.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Panel } from './panel.ts';
import * as paths from './paths.ts';
import { Server, Window } from './vscode.ts';
import { until } from './wait.ts';
import { FAKE, type World, scenario, settings } from './world.ts';

/** Timeout in milliseconds: both windows start, and hold three conversations. */
const SCENARIO = 400_000;

/** What an agent recorded about each of its sessions. */
interface Session { readonly process: string; readonly session: string }

/** Two windows of an installation that asks whether a folder is trusted. */
class Folders {
  readonly server: Server;
  readonly windows: Window[] = [];
  private readonly w: World;
  private readonly dir: string;
  private readonly settings: Readonly<Record<string, unknown>>;

  constructor(w: World) {
    this.w = w;
    this.dir = join(w.dir, 'folders');
    this.server = new Server(this.dir, { ...w.env }, { extensions: w.server.file('extensions'), trust: true });
    const agent = `acp:${process.execPath} ${join(paths.root, 'extension', 'e2e', 'agent.ts')} ${this.file('agent.jsonl')}`;
    this.settings = { ...settings, 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'always', 'agentvoice.agent': agent, 'agentvoice.voice.engine': 'fast' };
    this.server.configure(this.settings);
    for (const name of ['hostile', 'out', 'front', 'back']) {
      mkdirSync(this.file(name));
    }
    writeFileSync(this.file('back/parser.go'), 'package back\n');
    writeFileSync(this.file('both.code-workspace'), JSON.stringify({ folders: [{ path: 'front' }, { path: 'back' }] }));
    writeFileSync(this.file('canary'), `#!/bin/sh\necho "$0" >>"${this.file('ran')}"\nexec cat\n`, { mode: 0o755 });
    execFileSync('sh', ['-e', join(paths.root, 'testdata', 'hostile', 'lay.sh')], {
      cwd: this.file('hostile'), env: { ...process.env, OUT: this.file('out'), CANARY: this.file('canary'), GIT_CONFIG_GLOBAL: '/dev/null' },
    });
  }

  file(name: string): string {
    return join(this.dir, name);
  }

  /** The real path of a folder, as a process sees it. */
  real(name: string): string {
    return realpathSync(this.file(name));
  }

  /** The folders that agents got, in order. */
  sessions(): Session[] {
    return existsSync(this.file('agent.jsonl')) ? readFileSync(this.file('agent.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Session) : [];
  }

  /** Opens a window, answers whether its folders are trusted, and opens the panel. */
  async open(name: string, trusted: boolean): Promise<{ window: Window; panel: Panel }> {
    const window = await Window.open(this.w.browser, this.server, this.file(name));
    this.windows.push(window);
    const dialog = window.dialog();
    await dialog.filter({ hasText: 'trust the authors' }).waitFor();
    await dialog.locator('.monaco-button').filter({ hasText: trusted ? /^Yes, / : /^No, / }).first().click();
    await dialog.waitFor({ state: 'hidden' });
    return { window, panel: await Panel.open(window) };
  }

  /** No coding agent answers from now on. */
  async withCopilot(): Promise<void> {
    await this.w.copilot.configure({ 'agentvoice.agent': null });
  }

  async picture(window: Window, name: string): Promise<void> {
    await window.page.screenshot({ path: join(paths.folder('windows'), `${name}.png`) });
  }
}

/** Starts a conversation, asks the agent by typed text, and returns its answer. */
async function asked({ window, panel }: { window: Window; panel: Panel }): Promise<string | undefined> {
  await panel.button('start').click();
  await panel.label('Listening');
  assert.equal(await window.dialog().count(), 0, 'an agent answers, so the editor is not asked for a model');
  const before = (await panel.lines('assistant')).length;
  await panel.get('composer').fill('Where do you work?');
  await panel.get('composer').press('Enter');
  const answer = await until('the answer of the agent', async () => (await panel.lines('assistant'))[before]);
  await panel.label('Listening');
  await panel.end();
  return answer;
}

/** Has the model run a command, allows it by a click in the panel, and returns the question and the result. */
async function runs(w: World, { panel }: { panel: Panel }, input: object): Promise<{ question: string; result: string }> {
  w.copilot.answers(
    { parts: [{ tool: 'editor_run_command', input }] },
    { afterTool: true, parts: [{ text: 'That is all.' }] },
  );
  w.copilot.forget();
  const before = (await panel.lines('assistant')).length;
  await panel.get('composer').fill('Run it.');
  await panel.get('composer').press('Enter');
  await panel.get('approval-question').waitFor();
  const question = await panel.get('approval-question').innerText();
  await panel.get('approve').click();
  const result = (await w.copilot.nth('request', 2)).messages.at(-1)?.results?.[0]?.text ?? '';
  await until('the answer', async () => (await panel.lines('assistant')).length > before);
  await panel.label('Listening');
  return { question, result };
}

export function folders(): void {
  scenario('two windows: the agent gets the folder of the trusted one, and none in the other', async (w) => {
    await w.closeWindow();
    const two = new Folders(w);
    await two.server.start([FAKE]);
    try {
      const untrusted = await two.open('hostile', false);
      const both = await two.open('both.code-workspace', true);

      // The folder's own settings name an agent, a daemon and services; none applies.
      const begin = Date.now();
      await untrusted.panel.button('start').click();
      const problem = await untrusted.panel.problem();
      assert.match(problem, /no trusted folder/i);
      await untrusted.panel.remedy('manageTrust').waitFor();
      await two.picture(untrusted.window, 'untrusted');
      assert.match(await untrusted.panel.get('problem').innerText(), /hostile is open, but not trusted/);
      // A screen reader reads it at once. The voice does not: without a conversation, nothing plays.
      assert.equal(await untrusted.panel.get('problem').getAttribute('role'), 'alert');
      assert.equal(await untrusted.panel.get('mic').getAttribute('data-mic'), 'closed');
      assert.equal(w.room.heardSince(begin), 0);

      assert.equal(await asked(both), 'I work in front.');
      await both.window.openFile('parser.go');
      assert.equal(await asked(both), 'I work in back.');
      await two.picture(both.window, 'several-folders');
      assert.deepEqual(two.sessions(), ['front', 'back'].map((name) => ({ process: two.real(name), session: two.file(name) })));

      // The editor's own tools run a command in the folder that the question names.
      await two.withCopilot();
      await both.panel.button('start').click();
      await both.window.answer('Allow');
      await both.panel.label('Listening');
      for (const [input, folder] of [[{ command: 'pwd' }, 'back'], [{ command: 'pwd', workspaceFolder: 'front' }, 'front']] as const) {
        const { question, result } = await runs(w, both, input);
        assert.match(question, new RegExp(`It would run pwd\\. In the folder “${folder}”\\.`));
        assert.ok(result.includes(`\n${two.file(folder)}\n`) || result.endsWith(`\n${two.file(folder)}`), result);
      }
      await two.picture(both.window, 'command-in-folder');
      assert.ok(!existsSync(two.file('ran')), 'a program of the hostile repository ran');
    } catch (err) {
      for (const [i, window] of two.windows.entries()) {
        await two.picture(window, `failed-folders-${i}`);
      }
      throw err;
    } finally {
      for (const window of two.windows) {
        await window.close();
      }
      await two.server.stop();
    }
  }, SCENARIO);
}
