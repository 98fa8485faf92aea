// The command that chooses who answers, with the real daemon, agents that are scripts, and a chat endpoint
// on this machine.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import type { Row } from '../src/chooseAssistant';
import type { Assistant } from '../src/protocol.gen';
import { english } from '../src/text';
import { Uri, install } from './fakeVscode';

const fake = install();
const extension = require('../src/extension') as typeof import('../src/extension');
const { nameOfAgent, rowsOf } = require('../src/chooseAssistant') as typeof import('../src/chooseAssistant');
const root = join(__dirname, '..', '..');
const dir = mkdtempSync(join(tmpdir(), 'agentvoice-assistants-'));

/** An agent that opens a session, or asks for a sign-in. */
function layAgent(name: string, session: string): void {
  writeFileSync(join(dir, name), `#!/bin/sh
while read -r line; do
  id=\${line##*'"id":'}; id=\${id%%[,\\}]*}
  case "$line" in
  *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"x","version":"1"}}}' ;;
  *'"session/new"'*) echo '{"jsonrpc":"2.0","id":'$id',${session}}' ;;
  esac
done
`, { mode: 0o755 });
}

const stored = new Map<string, string>();
const keys: (string | undefined)[] = [];
const server = createServer((req, res) => {
  keys.push(req.headers.authorization);
  res.end('{"data":[{"id":"qwen3"}]}');
});
const endpoint = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
const memento = { get: () => undefined, update: () => Promise.resolve() };
let consents = 0;
const model = { id: 'm', name: 'Model M', vendor: 'copilot', family: 'f', maxInputTokens: 1000, countTokens: () => Promise.resolve(1), sendRequest: () => Promise.reject(new Error(`asked ${++consents}`)) };

before(async () => {
  layAgent('codex-acp', '"result":{"sessionId":"s"}');
  layAgent('gemini', '"error":{"code":-32000,"message":"Authentication required"}');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  writeFileSync(join(dir, 'script.txt'), '');
  process.env['PATH'] = dir + delimiter + (process.env['PATH'] ?? '');
  delete process.env['OPENAI_API_KEY'];
  fake.folders = [Uri.file(dir)];
  fake.settings.set('agentvoice.daemon.path', process.env['AGENTVOICE_DAEMON'] ?? join(root, '..', 'bin', 'agentvoice-daemon'));
  fake.settings.set('agentvoice.daemon.arguments', ['--headless', '--script', join(dir, 'script.txt')]);
  extension.activate({
    subscriptions: [] as { dispose(): void }[], extensionUri: { path: root }, extensionPath: root, extension: { id: 'agentvoice.agent-voice', packageJSON: {} },
    globalStorageUri: { path: '/user/User/globalStorage/agentvoice.agent-voice' }, globalState: memento, workspaceState: memento,
    languageModelAccessInformation: { canSendRequest: () => true, onDidChange: () => ({ dispose: () => undefined }) },
    secrets: { get: (name: string) => Promise.resolve(stored.get(name)), store: (name: string, value: string) => Promise.resolve(void stored.set(name, value)), delete: () => Promise.resolve() },
  } as never);
});

after(async () => {
  await extension.deactivate();
  server.close();
  rmSync(dir, { recursive: true, force: true });
});

beforeEach(() => {
  fake.toasts.length = fake.opened.length = fake.terminals.length = keys.length = 0;
  fake.models = [model];
  fake.press = () => 'closed';
  fake.pick = () => undefined;
  fake.input = undefined;
  consents = 0;
});

const run = (command: string): Promise<unknown> => Promise.resolve(fake.commands.get(`agentvoice.${command}`)?.());
const agent = (): unknown => fake.settings.get('agentvoice.agent');

let listed: readonly Row[] = [];
/** Chooses the first row whose label contains a text. */
function choose(label: string): Promise<unknown> {
  fake.pick = (items) => ((listed = items as readonly Row[]), items.find((i) => i.label.includes(label)));
  return run('selectAssistant');
}

const some: readonly Assistant[] = [
  { id: 'copilot', title: 'Copilot', found: true }, { id: 'acp:codex-acp', title: 'Codex', found: true, where: '/bin/codex-acp' }, { id: 'openai:qwen3', title: 'qwen3', found: true, where: 'http://127.0.0.1/v1' },
  { id: 'offline', title: 'Agent Voice', found: true }, { id: 'acp:kimi', title: 'Kimi Code', found: false, install: 'npm install kimi' },
];

test('the list begins with what can answer, and ends with what is not installed', () => {
  const labels = (rows: readonly Row[]): string[] => rows.map((r) => (r.choice === undefined ? `-- ${r.label}` : r.label));
  const models = [{ id: 'm', name: 'Model M', vendor: 'copilot m', refused: false }];
  assert.deepEqual(labels(rowsOf({ assistants: [...some], selected: 'copilot' }, models, 'm', english)), [
    '-- Language models of the editor', 'The editor’s choice', '$(check) Model M', '-- Coding agents on this machine', 'Codex',
    '-- Chat endpoint', 'qwen3', '$(add) Use a chat endpoint…', '-- Without a service', 'Offline', '-- Not installed', 'Kimi Code',
  ]);
  assert.deepEqual(labels(rowsOf({ assistants: [...some], selected: 'acp:codex-acp' }, [], '', english)), [
    '-- Coding agents on this machine', '$(check) Codex', '-- Chat endpoint', 'qwen3', '$(add) Use a chat endpoint…',
    '-- Without a service', 'Offline', '-- Not installed', 'GitHub Copilot', 'Kimi Code',
  ]);
});

test('a row says what was checked, and no more', () => {
  const detail = (a: Assistant): string | undefined => rowsOf({ assistants: [a], selected: '' }, [], '', english)[1]?.description;
  assert.equal(detail({ ...some[1]!, ready: true }), 'ready');
  assert.equal(detail({ ...some[1]!, ready: false, reason: 'The coding agent is not signed in.' }), 'The coding agent is not signed in.');
  assert.equal(detail(some[1]!), 'installed; its sign-in is checked when you choose it');
  const refused = rowsOf({ assistants: [...some], selected: '' }, [{ id: 'm', name: 'M', vendor: 'copilot m', refused: true }], '', english);
  assert.equal(refused[2]?.description, 'copilot m; you did not allow it');
});

test('the labels name the assistant that is chosen', () => {
  for (const [value, name] of [['', ''], ['acp:codex-acp', 'Codex'], ['gemini', 'Gemini CLI'], ['acp:/opt/my-agent --acp', 'my-agent'], ['openai', 'qwen3'], ['openai:llama3:8b', 'llama3:8b'], ['offline', 'Offline']] as const) {
    assert.equal(nameOfAgent(value, 'qwen3', english), name, value);
  }
});

test('an agent that opens a session is chosen, and one without a sign-in only says how', { timeout: 120_000 }, async () => {
  await choose('Codex');
  assert.equal(agent(), 'acp:codex-acp');
  assert.deepEqual(fake.toasts, []);
  assert.equal(consents, 0, 'Copilot is not used, so it is not asked about');

  fake.press = (_message, buttons) => buttons.find((b) => b === 'Open terminal');
  await choose('Gemini CLI');
  assert.equal(listed.find((r) => r.label.includes('Codex'))?.label, '$(check) Codex');
  assert.match(fake.toasts[0] ?? '', /^Gemini CLI: The coding agent is not signed in\. To sign in, run `gemini` once/);
  assert.deepEqual(fake.terminals.map((terminal) => [terminal.name, terminal.typed]), [['Gemini CLI', 'gemini']]);
  assert.equal(agent(), 'acp:codex-acp', 'the one before still answers');

  fake.press = (_message, buttons) => buttons.find((b) => b === 'Use anyway');
  await choose('Gemini CLI');
  assert.equal(agent(), 'acp:gemini');
});

test('an agent that is not installed says how to install it, and changes nothing', { timeout: 120_000 }, async () => {
  const before = agent();
  fake.press = (_message, buttons) => buttons.find((b) => b === 'Open page');
  await choose('Qwen Code');
  assert.equal(fake.toasts[0], 'Qwen Code is not installed. To install it, run: npm install -g @qwen-code/qwen-code');
  assert.deepEqual(fake.opened, ['https://github.com/QwenLM/qwen-code']);
  assert.equal(agent(), before);
});

test('a chat endpoint gets its address, model and key here, and the key goes to that address only', { timeout: 120_000 }, async () => {
  let name = 'qwen3';
  fake.input = ({ prompt = '', password }) => (password === true ? 'secret' : prompt.startsWith('Address') ? endpoint() : name);
  await choose('Use a chat endpoint');
  assert.deepEqual(fake.toasts, []);
  assert.deepEqual([agent(), fake.settings.get('agentvoice.chat.endpoint'), fake.settings.get('agentvoice.chat.model')], ['openai:qwen3', endpoint(), 'qwen3']);
  assert.deepEqual([...stored], [[`agentvoice.key.chat:${endpoint()}`, 'secret']]);
  assert.deepEqual(keys, ['Bearer secret']);

  name = 'llama';
  await choose('Use a chat endpoint');
  assert.match(fake.toasts[0] ?? '', /^llama: .*model/);
  assert.equal(agent(), 'openai:qwen3', 'a model that the endpoint does not list is not chosen');
});

test('a language model is chosen without asking for consent, which is asked when it is used', { timeout: 120_000 }, async () => {
  await choose('Model M');
  assert.deepEqual([agent(), fake.settings.get('agentvoice.copilot.model'), consents], [undefined, 'm', 0]);
  await run('start');
  assert.equal(consents, 1);
  await run('end');
});

test('without a language model, Start offers those who can answer', { timeout: 120_000 }, async () => {
  fake.models = [];
  const label = (): string => (fake.statusItems.at(-1)?.accessibilityInformation as { label: string } | undefined)?.label ?? '';
  const until = async (what: string): Promise<void> => {
    for (const limit = Date.now() + 60_000; !label().includes(what); await new Promise((r) => setTimeout(r, 10))) {
      assert.ok(Date.now() < limit, `still waiting for “${what}”: ${label()}`);
    }
  };
  await until('Ready');
  fake.pick = (items) => ((listed = items as readonly Row[]), undefined);
  // The check finds that the model of the last test is gone.
  await run('checkSetup');
  await run('start');
  assert.deepEqual(listed.slice(0, 2).map((r) => r.label), ['Coding agents on this machine', 'Codex']);
  await until('There is no language model in this editor.');
  fake.pick = (items) => items.find((i) => i.label.includes('Offline'));
  await run('start');
  await until('Listening');
  assert.equal(agent(), 'offline');
  assert.ok(!label().includes('language model'), label());
  await run('end');
});
