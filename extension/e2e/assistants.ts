// Choose Assistant: each kind of assistant answers in one conversation, and is tried before it is used. The
// agents are scripts in the PATH, and the chat endpoint is a server of this suite.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Panel } from './panel.ts';
import * as paths from './paths.ts';
import { Server, Window } from './vscode.ts';
import { until } from './wait.ts';
import { FAKE, type World, scenario, settings } from './world.ts';

/** Timeout in milliseconds: an installation of its own, and four assistants. */
const SCENARIO = 300_000;

const KEY = 'key-of-the-endpoint';

/** A chat endpoint that records what it gets. */
class Endpoint {
  readonly got: { readonly key: string; readonly messages: readonly { readonly content: string }[] }[] = [];
  private readonly server = createServer((request, response) => {
    let body = '';
    request.on('data', (text: Buffer) => (body += text.toString()));
    request.on('end', () => {
      if (request.headers.authorization !== `Bearer ${KEY}`) {
        response.writeHead(401).end('{}');
      } else if (request.method === 'GET') {
        response.end('{"data":[{"id":"qwen3"}]}');
      } else {
        this.got.push({ key: request.headers.authorization, messages: (JSON.parse(body) as { messages: { content: string }[] }).messages });
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end('data: {"choices":[{"delta":{"content":"The endpoint answers."}}]}\n\ndata: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
      }
    });
  });

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

/** A window of an installation with coding agents in its PATH. */
class Choice {
  readonly server: Server;
  private readonly dir: string;
  private readonly w: World;
  window!: Window;
  panel!: Panel;

  constructor(w: World) {
    this.w = w;
    this.dir = join(w.dir, 'assistants');
    mkdirSync(join(this.dir, 'bin'), { recursive: true });
    const agent = join(paths.root, 'extension', 'e2e', 'agent.ts');
    for (const [name, as] of [['codex-acp', 'signed-in'], ['gemini', 'signed-out']] as const) {
      writeFileSync(join(this.dir, 'bin', name), `#!/bin/sh\nexec "${process.execPath}" "${agent}" "${join(this.dir, `${name}.jsonl`)}" ${as}\n`, { mode: 0o755 });
    }
    this.server = new Server(this.dir, { ...w.env }, { extensions: w.server.file('extensions'), programs: join(this.dir, 'bin') });
    this.server.configure({ ...settings, 'agentvoice.voice.engine': 'fast' });
  }

  async open(): Promise<void> {
    await this.server.start([FAKE]);
    this.window = await Window.open(this.w.browser, this.server);
    this.panel = await Panel.open(this.window);
    await this.panel.label('Ready');
  }

  /** The list, once it is open. */
  async list(): Promise<readonly string[]> {
    const list = this.window.page.locator('.quick-input-widget');
    await list.locator('.quick-input-title').filter({ hasText: 'Choose Assistant' }).waitFor();
    return list.locator('.monaco-list-row').evaluateAll((rows) => rows.map((row) => row.querySelector('.label-name')?.textContent ?? '')); // the second line of a row is its detail
  }

  /** Chooses a row of the open list. */
  async pick(label: string): Promise<void> {
    await this.list();
    await this.window.page.locator('.quick-input-widget .monaco-list-row').filter({ hasText: label }).first().click();
  }

  /** Opens the list from the panel's chip, and chooses a row. */
  async choose(label: string): Promise<void> {
    if (!(await this.panel.get('model').isVisible())) { // it stays open
      await this.panel.get('answers').click();
    }
    await this.panel.get('model').click();
    await this.pick(label);
  }

  /** Types into the open input box. */
  async enter(prompt: RegExp, text: string): Promise<void> {
    const { page } = this.window;
    await page.locator('.quick-input-widget .quick-input-message').filter({ hasText: prompt }).waitFor();
    await page.locator('.quick-input-widget input').first().fill(text);
    await page.keyboard.press('Enter');
  }

  /** Asks by typed text; returns the name above the answer, and the answer. */
  async asked(text: string): Promise<{ who: string; answer: string }> {
    const { panel } = this;
    const before = (await panel.lines('assistant')).length;
    await panel.get('composer').fill(text);
    await panel.get('composer').press('Enter');
    const answer = await until(`the answer to “${text}”`, async () => (await panel.lines('assistant'))[before]);
    await panel.label('Listening');
    const line = panel.frame.locator('[data-testid="line"][data-kind="speech"][data-who="assistant"]').nth(before);
    return { who: (await line.locator('.sr').first().textContent()) ?? '', answer };
  }

  /** The setting of this installation. */
  agent(): string | undefined {
    return (JSON.parse(readFileSync(this.server.file('data/User/settings.json'), 'utf8')) as Record<string, string>)['agentvoice.agent'];
  }

  started(name: string): boolean {
    return existsSync(join(this.dir, `${name}.jsonl`));
  }

  async picture(name: string): Promise<void> {
    await this.window.page.screenshot({ path: join(paths.folder('windows'), `${name}.png`) });
  }
}

export function assistants(): void {
  scenario('Choose Assistant: without Copilot an agent is offered first; then a chat endpoint, offline and Copilot answer in the same conversation', async (w) => {
    await w.closeWindow();
    const endpoint = new Endpoint();
    const address = await endpoint.open();
    w.copilot.offersNone();
    const c = new Choice(w);
    try {
      await c.open();
      await c.panel.button('start').click();
      const rows = await c.list();
      assert.deepEqual([rows[0], rows[1]], ['Codex', 'Gemini CLI'], 'the agents that are installed come first');
      assert.ok(!c.started('codex-acp'), 'the list starts nothing');
      await c.picture('choose-assistant');
      await c.pick('Codex');
      await c.panel.label('Listening');
      assert.equal(await c.window.dialog().count(), 0, 'Copilot is not used, so there is no question about it');
      assert.equal(await c.panel.get('problem').isVisible(), false);
      assert.deepEqual(await c.asked('Where do you work?'), { who: 'Codex', answer: 'I work in workspace.' });

      await c.choose('Gemini CLI');
      await c.window.toasts().filter({ hasText: 'Gemini CLI: The coding agent is not signed in. To sign in, run' }).waitFor();
      await c.picture('assistant-not-signed-in');
      assert.equal(c.agent(), 'acp:codex-acp');

      await c.choose('Use a chat endpoint');
      await c.enter(/Address of an OpenAI-compatible endpoint/, address);
      await c.enter(/Model, as the endpoint names it/, 'qwen3');
      await c.enter(/secret storage/, KEY);
      await c.panel.get('notice').filter({ hasText: 'From your next message on, qwen3 answers. It gets what was said so far' }).waitFor();
      assert.deepEqual(await c.asked('And you?'), { who: 'qwen3', answer: 'The endpoint answers.' });
      assert.ok(endpoint.got[0]?.messages.some((m) => m.content.includes('Where do you work?')), 'it gets what was said');

      await c.panel.get('composer').fill('switch to offline');
      await c.panel.get('composer').press('Enter');
      await until('the choice by words to be kept', () => c.agent() === 'offline');
      assert.equal((await c.asked('Hello there')).who, 'Offline');
      assert.equal(await c.panel.get('problem').isVisible(), false);

      await w.copilot.offers('large');
      w.copilot.answers({ parts: [{ text: 'Here I am.' }] });
      await c.choose('large');
      await c.window.answer('Allow');
      await until('Copilot to be chosen', () => c.agent() === undefined);
      assert.deepEqual(await c.asked('Who are you?'), { who: 'Copilot', answer: 'Here I am.' });
      await c.panel.end();
    } catch (err) {
      await c.picture('failed-assistants');
      throw err;
    } finally {
      await c.window.close();
      await c.server.stop();
      endpoint.close();
      w.copilot.offersAgain();
    }
  }, SCENARIO);
}
