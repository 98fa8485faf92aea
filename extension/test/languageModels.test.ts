// Copilot through the language model API, with scripted models.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { AnswerStream } from '../src/copilot/assistant';
import type { Around } from '../src/copilot/languageModels';
import type { CopilotSendParams, InvokeToolParams } from '../src/protocol.gen';
import { english } from '../src/text';
import { Document, type FakeModel, TokenSource, Uri, install, parts } from './fakeVscode';

const fake = install();
const { LanguageModels } = require('../src/copilot/languageModels') as typeof import('../src/copilot/languageModels');

const { callHash } = require('../src/copilot/callHash') as typeof import('../src/copilot/callHash');
const { Assistants } = require('../src/copilot/assistants') as typeof import('../src/copilot/assistants');
const { Confirming } = require('../src/copilot/confirming') as typeof import('../src/copilot/confirming');
const { ChatView } = require('../src/copilot/chatView') as typeof import('../src/copilot/chatView');
const { ChatQuestions } = require('../src/copilot/questions') as typeof import('../src/copilot/questions');

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
const memento = () => {
  const kept = new Map<string, unknown>();
  return { get: (name: string, standard?: unknown) => kept.get(name) ?? standard, update: (name: string, value: unknown) => Promise.resolve(void kept.set(name, value)) } as never;
};
/** The editor's consent state, and its change event. */
const access = {
  says: true as boolean | undefined,
  tell: (): void => undefined,
  canSendRequest: () => access.says,
  onDidChange: (f: () => void) => {
    access.tell = f;
    return { dispose: () => undefined };
  },
};
const own: Around['own'] = {
  has: () => false, specs: () => [], prepare: (_id, _name, input) => Promise.resolve({ input, allowed: false }), invoke: () => assert.fail('no tool of the editor was asked for'),
};
const adapter = (over: Partial<Around> = {}): InstanceType<typeof LanguageModels> =>
  new LanguageModels({ own, confirming: new Confirming(memento(), () => undefined), material: () => Promise.resolve([]), access: access as never, log: quiet, t: english, onModel: () => undefined, onAccess: () => undefined, ...over });

/** A call as the daemon has it run, with the hash of what the user was asked about. */
const of = (call: { callId: string; name: string; input: unknown }): InvokeToolParams => ({ ...call, hash: callHash(call.name, call.input) });

async function* stream(...items: unknown[]): AsyncGenerator<unknown> {
  yield* items;
}

function model(over: Partial<FakeModel> = {}): FakeModel & { sent: { messages: unknown[]; options: Record<string, unknown> }[] } {
  const sent: { messages: unknown[]; options: Record<string, unknown> }[] = [];
  return {
    id: 'one', name: 'One', vendor: 'copilot', family: 'fam', maxInputTokens: 8000, sent,
    countTokens: (text) => Promise.resolve(text.length / 4),
    sendRequest: (messages, options, token) => {
      if (token.isCancellationRequested) { // as the editor does instead of forwarding the request
        return Promise.reject(Object.assign(new Error('Canceled'), { name: 'Canceled' }));
      }
      sent.push({ messages, options });
      return Promise.resolve({ stream: stream(new parts.TextPart('It '), new parts.TextPart('reads.')) });
    },
    ...over,
  };
}

class Out implements AnswerStream {
  said = '';
  readonly calls: unknown[][] = [];
  text(text: string): void {
    this.said += text;
  }
  call(...call: unknown[]): void {
    this.calls.push(call);
  }
}

const params = (over: Partial<CopilotSendParams> = {}): CopilotSendParams => ({
  requestId: 'req-1', turnId: 'turn-1', attempt: 1, messages: [{ role: 'user', content: 'why' }], ...over,
});

const token = (): TokenSource['token'] => new TokenSource().token;

test('an answer is streamed, and asked for with a justification', async () => {
  const m = model();
  fake.models = [m];
  const out = new Out();
  assert.deepEqual(await adapter().send(params(), out, token()), { status: 'completed', end: 'unknown' });
  assert.equal(out.said, 'It reads.');
  assert.match(String(m.sent[0]?.options['justification']), /what you say/);
});

test('prompt doubled: the same attempt sends one request', async () => {
  const m = model();
  fake.models = [m];
  const a = adapter();
  await Promise.all([a.send(params(), new Out(), token()), a.send(params(), new Out(), token())]);
  await a.send(params({ attempt: 2 }), new Out(), token());
  assert.equal(m.sent.length, 2);
});

test('without Copilot the cause is that it is not installed', async () => {
  fake.models = [];
  const result = await adapter().send(params(), new Out(), token());
  assert.deepEqual([result.status, result.error?.code, result.error?.retryable], ['failed', 'copilotNotInstalled', false]);
});

test('cancelling ends the request at the model, and is no failure', async () => {
  const source = new TokenSource();
  let cancelled = false;
  fake.models = [model({
    sendRequest: (_messages, _options, t) => {
      const inner = t as TokenSource['token'];
      return new Promise((_resolve, reject) => inner.onCancellationRequested(() => {
        cancelled = true;
        reject(Object.assign(new Error('Canceled'), { name: 'Canceled' }));
      }));
    },
  })];
  const sending = adapter().send(params(), new Out(), source.token);
  await new Promise((resolve) => setImmediate(resolve));
  source.cancel();
  assert.deepEqual(await sending, { status: 'cancelled' });
  assert.equal(cancelled, true);
});

test('the wanted model answers, by id, family or name; one that is not there gives way to the first', async () => {
  fake.models = [model(), model({ id: 'two', name: 'Two', family: 'other' })];
  const a = adapter();
  for (const [wanted, id] of [['two', 'two'], ['other', 'two'], ['Two', 'two'], ['', 'one'], ['gone', 'one']] as const) {
    assert.equal((await a.pick(wanted))?.id, id);
  }
  assert.equal(a.model?.name, 'One');
  fake.models = [model({ vendor: 'mine' })];
  assert.equal(await a.pick(''), undefined, 'another vendor is asked only where the user named one');
  fake.settings.set('agentvoice.copilot.vendor', 'absent');
  assert.equal((await a.pick(''))?.vendor, 'mine');
  fake.settings.clear();
});

test('consent is asked for by a request that the editor does not send, and nothing else is in it', async () => {
  const options: object[] = [];
  const m = model();
  const send = m.sendRequest;
  m.sendRequest = (messages, o, t) => {
    options.push(o);
    return send(messages, o, t);
  };
  fake.models = [m];
  const a = adapter();
  assert.equal(a.allowed, false);
  assert.equal(await a.consent(), 'allowed');
  assert.equal(a.allowed, true);
  assert.deepEqual([m.sent, options.map((o) => Object.keys(o))], [[], [['justification']]]);
  fake.models = [model({ sendRequest: () => Promise.reject(Object.assign(new Error('no'), { code: 'NoPermissions' })) })];
  assert.equal(await a.consent(), 'refused');
  assert.equal(a.allowed, false);
  fake.models = [];
  assert.equal(await adapter().consent(), 'none');
});

test('consent that is withdrawn is seen at once, and no dialog is raised in the middle of a conversation', async () => {
  const m = model();
  fake.models = [m];
  const told: boolean[] = [];
  const a = adapter({ onAccess: (allowed) => void told.push(allowed) });
  await a.consent();
  access.says = false;
  access.tell();
  access.tell();
  const result = await a.send(params(), new Out(), token());
  assert.deepEqual([result.status, result.error?.code], ['failed', 'copilotNoConsent']);
  assert.deepEqual([m.sent, a.allowed, await a.consent()], [[], false, 'refused'], 'the editor says no, whatever the request says');
  access.says = true;
  access.tell();
  assert.deepEqual(told, [false, true]);
  assert.equal((await a.send(params({ attempt: 2 }), new Out(), token())).status, 'completed');
});

test('any part of a stream is a sign of life: one that is not known, and a call', async () => {
  const unknown = { thinking: 'hm' };
  for (const part of [unknown, new parts.CallPart('c', 'run', {})]) {
    const deltas: string[] = [];
    fake.models = [model({ sendRequest: () => Promise.resolve({ stream: stream(part, part, new parts.TextPart('It.')) }) })];
    const out = { text: (text: string) => void deltas.push(text), call: () => undefined };
    assert.deepEqual(await adapter().send(params(), out, token()), { status: 'completed', end: 'unknown' });
    assert.deepEqual(deltas, ['', 'It.'], 'at once, and not for each of many');
  }
});

test('a question from the Chat view is answered by the model chosen there, with what is attached, and what was said there before', async () => {
  fake.models = [model()];
  const chosen = model({ id: 'chosen' });
  const asked = {
    question: 'why', model: chosen as never, attached: [{ key: 'attached' as const, title: 'Attached file a.go', text: 'package a' }],
    history: [{ question: 'hello', answer: 'Hi.' }, { question: 'before', answer: 'Yes.' }],
  };
  const messages = [{ role: 'user' as const, content: 'before' }, { role: 'assistant' as const, content: 'Yes.' }, { role: 'user' as const, content: 'why' }];
  assert.deepEqual(await adapter().send(params({ messages }), new Out(), token(), asked), { status: 'completed', end: 'unknown' });
  const words = (chosen.sent[0]?.messages as { content: { value: string }[] }[]).map((m) => m.content[0]?.value);
  assert.match(words[0] ?? '', /Attached file a\.go:\n```\npackage a/);
  assert.deepEqual(words.slice(1), ['hello', 'Hi.', 'before', 'Yes.', 'why'], 'what the daemon remembers too is said once');
});

test('with the Chat view as the one who answers, @voice is answered by a model all the same: it does not ask itself', async () => {
  const m = model();
  fake.models = [m];
  fake.executed.length = 0;
  const questions = new ChatQuestions();
  const all = new Assistants(adapter(), new ChatView({ read: () => Promise.resolve(undefined) }, english), questions, () => true, { took: () => false, forget: () => undefined }, english);
  questions.add({ question: 'why', model: m as never, attached: [], history: [] });
  assert.deepEqual(await all.send(params(), new Out(), token()), { status: 'completed', end: 'unknown' });
  assert.deepEqual(await all.send(params({ attempt: 2 }), new Out(), token()), { status: 'completed', end: 'unknown' }, 'and so at another attempt');
  assert.deepEqual([m.sent.length, fake.executed], [2, []]);
  fake.answers.set('workbench.action.chat.open', () => Promise.resolve({}));
  fake.textDocuments.push(new Document(new Uri('chatSessionInput', 'input-0'), ''));
  await all.send(params({ requestId: 'req-2', turnId: 'turn-2', messages: [{ role: 'user', content: 'a spoken one' }] }), new Out(), token());
  assert.deepEqual(fake.executed.map(([id]) => id), ['workbench.action.chat.open']);
  assert.equal(m.sent.length, 2);
});

test('a prompt with a file of 400 kB takes no count by the model, and about 8000 tokens of the file around the cursor', async () => {
  const lines = Array.from({ length: 20_000 }, (_x, i) => `line ${i} of the file`);
  const text = lines.join('\n');
  let counted = 0;
  const m = model({ maxInputTokens: 128_000, countTokens: (t) => (counted++, Promise.resolve(t.length / 4)) });
  fake.models = [m];
  const focus = text.indexOf('line 10000 ');
  const from = focus - 16_000;
  const file = { key: 'activeFile' as const, title: 'Active file a.txt', text: text.slice(from, from + 32_000), focus: 16_000 };
  const a = adapter({ material: () => Promise.resolve([file]) });
  for (let round = 0; round < 3; round++) {
    await a.send(params({ round }), new Out(), token());
  }
  const sizes = m.sent.map((s) => JSON.stringify(s.messages).length);
  assert.equal(counted, 0);
  assert.ok(sizes.every((n) => n > 15_000 && n < 32_000), String(sizes));
  assert.match(JSON.stringify(m.sent[0]?.messages), /line 10000 /);
});

test('near its limit a model counts once, and what is too long is made shorter', async () => {
  let counted = 0;
  const m = model({ maxInputTokens: 2_000, countTokens: (t) => (counted++, Promise.resolve(t.length / 2)) }); // more than is estimated
  fake.models = [m];
  const file = { key: 'activeFile' as const, title: 'Active file a.txt', text: 'x = 1\n'.repeat(5_000) };
  await adapter({ material: () => Promise.resolve([file]) }).send(params(), new Out(), token());
  assert.equal(counted, 1);
  const words = (m.sent[0]?.messages as { content: { value: string }[] }[]).flatMap((x) => x.content.map((c) => c.value)).join('');
  assert.ok(words.length / 2 <= 2_000, `${words.length / 2} tokens`);
});

test('a tool is offered and called by its name, and its outcome goes back behind its call', async () => {
  const m = model({ sendRequest: undefined as never });
  m.sendRequest = (messages, options) => {
    m.sent.push({ messages, options });
    return Promise.resolve({ stream: stream(new parts.CallPart('c', 'runTests', { a: 1 })) });
  };
  fake.models = [m];
  const out = new Out();
  const said = [{ role: 'user' as const, content: 'go' }, { role: 'tool' as const, content: 'ok', callId: 'b', name: 'runTests', input: {}, status: 'completed' as const }];
  await adapter().send(params({ messages: said, tools: [{ name: 'runTests', inputSchema: { type: 'object' } }] }), out, token());
  assert.deepEqual(out.calls, [['c', 'runTests', { a: 1 }, undefined, false]]);
  const { messages, options } = m.sent[0]!;
  assert.deepEqual((options['tools'] as { name: string }[]).map((t) => t.name), ['runTests']);
  const [, , call, result] = messages as { role: string; content: unknown[] }[];
  assert.ok(call?.content[0] instanceof parts.CallPart && result?.content[0] instanceof parts.ResultPart);
});

test('a tool of the editor\'s own is offered first, asked about as it was prepared, and run without the editor\'s tools', async () => {
  const m = model();
  m.sendRequest = () => Promise.resolve({ stream: stream(new parts.CallPart('c', 'editor_run_tests', {})) });
  fake.models = [m];
  fake.tools = [{ name: 'other', description: '' }];
  fake.settings.set('agentvoice.tools.allowed', ['other']);
  const asked = adapter({
    own: {
      has: (name) => name === 'editor_run_tests',
      specs: () => [{ name: 'editor_run_tests' }],
      prepare: () => Promise.resolve({ input: { command: 'npm test' }, allowed: true }),
      invoke: ({ input }) => Promise.resolve({ content: JSON.stringify(input) }),
    },
  });
  const out = new Out();
  assert.deepEqual(asked.tools().map((t) => t.name), ['editor_run_tests', 'other']);
  await asked.send(params(), out, token());
  assert.deepEqual(out.calls, [['c', 'editor_run_tests', { command: 'npm test' }, undefined, true]]);
  assert.deepEqual(await asked.invoke(of({ callId: 'c', name: 'editor_run_tests', input: { command: 'npm test' } }), token(), () => undefined), { content: '{"command":"npm test"}' });
});

test('a call is carried out once, and not at all when its tool is not on the list any more or the workspace not trusted', async () => {
  let ran = 0;
  fake.invokeTool = () => Promise.resolve({ content: [new parts.TextPart(`run ${++ran}`)] });
  fake.settings.set('agentvoice.tools.allowed', ['run*']);
  const a = adapter();
  const call = { callId: 'c', name: 'runTests', input: {} };
  assert.deepEqual(await Promise.all([a.invoke(of(call), token(), () => undefined), a.invoke(of(call), token(), () => undefined)]), [{ content: 'run 1' }, { content: 'run 1' }]);
  assert.equal((await a.invoke(of({ ...call, callId: 'd', name: 'deleteAll' }), token(), () => undefined)).isError, true);
  fake.trusted = false;
  assert.equal((await a.invoke(of({ ...call, callId: 'e' }), token(), () => undefined)).isError, true);
  assert.deepEqual(a.tools(), []);
  fake.trusted = true;
  fake.invokeTool = () => Promise.reject(new Error('exit status 1'));
  assert.deepEqual(await a.invoke(of({ ...call, callId: 'f' }), token(), () => undefined), { content: 'exit status 1', isError: true });
  assert.equal(ran, 1);
  fake.settings.clear();
});

test('a call that is not the one that was allowed does not run', async () => {
  let ran = 0;
  fake.invokeTool = () => Promise.resolve({ content: [new parts.TextPart(`run ${++ran}`)] });
  fake.settings.set('agentvoice.tools.allowed', ['run*']);
  const a = adapter();
  const { hash } = of({ callId: 'c', name: 'runTests', input: { path: 'a' } });
  for (const [name, input] of [['runTests', { path: 'b' }], ['runTests', { path: 'a', fix: true }], ['runTests', {}], ['runTest', { path: 'a' }]] as const) {
    await assert.rejects(async () => a.invoke({ callId: 'c', name, input, hash }, token(), () => undefined), { code: -32077 });
  }
  assert.equal(ran, 0);
  fake.settings.clear();
});

test('a call that a later answer gives the id of an earlier one is another call, and runs', async () => {
  let ran = 0;
  fake.invokeTool = () => Promise.resolve({ content: [new parts.TextPart(`run ${++ran}`)] });
  fake.settings.set('agentvoice.tools.allowed', ['run*']);
  fake.models = [model({ sendRequest: () => Promise.resolve({ stream: stream(new parts.CallPart('c', 'runTests', {})) }) as never })];
  const a = adapter();
  for (const [i, request] of ['r1', 'r2'].entries()) {
    await a.send({ ...params(), requestId: request }, new Out(), token());
    assert.deepEqual(await a.invoke(of({ callId: 'c', name: 'runTests', input: {} }), token(), () => undefined), { content: `run ${i + 1}` });
  }
  fake.settings.clear();
});

test('hashes are those of the daemon', () => {
  const calls = JSON.parse(readFileSync(join(__dirname, '../../../testdata/calls.json'), 'utf8')) as { tool: string; input: unknown; hash: string }[];
  for (const { tool, input, hash } of calls) {
    assert.equal(callHash(tool, input), hash, JSON.stringify(input));
  }
});

test('a tool that the editor asks about by itself: that it waits is said at once where it is known, after a while where it may, and a refusal there is remembered', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  fake.settings.set('agentvoice.tools.allowed', ['*x', 'run*', 'mcp_a', 'deploy', 'slow']);
  fake.tools = [{ name: 'run_in_terminal', description: '' }, { name: 'mcp_a', description: '', tags: ['mcp'] }, { name: 'deploy', description: '' }, { name: 'slow', description: '' }];
  let learned = 0;
  const confirming = new Confirming(memento(), () => void learned++);
  const a = adapter({ confirming });
  const canceled = Object.assign(new Error('Canceled'), { name: 'Canceled' });
  let end: (how: Promise<{ content: unknown[] }>) => void = () => undefined;
  fake.invokeTool = () => new Promise((resolve) => (end = resolve));
  let calls = 0;
  const call = async (name: string, after: number, how: () => Promise<{ content: unknown[] }>): Promise<[said: boolean[], content: string]> => {
    const said: boolean[] = [];
    const running = a.invoke(of({ callId: `call ${calls++}`, name, input: {} }), token(), (certain) => void said.push(certain));
    context.mock.timers.tick(after);
    end(how());
    return [said, (await running).content];
  };
  const done = (): Promise<{ content: unknown[] }> => Promise.resolve({ content: [new parts.TextPart('ok')] });
  assert.deepEqual(await call('run_in_terminal', 500, done), [[true], 'ok']);
  assert.deepEqual(await call('mcp_a', 500, done), [[true], 'ok']);
  assert.deepEqual(await call('run_in_terminal', 100, done), [[], 'ok'], 'the editor let it through');
  assert.deepEqual(await call('slow', 3_000, done), [[], 'ok']);
  assert.deepEqual(await call('slow', 5_000, done), [[false], 'ok'], 'nobody knows');
  const names = (): string[] => a.tools().filter((t) => t.confirms === true).map((t) => t.name);
  assert.deepEqual(names(), ['run_in_terminal', 'mcp_a']);
  const [said, content] = await call('deploy', 5_000, () => Promise.reject(canceled));
  assert.deepEqual(said, [false]);
  assert.match(content, /did not allow/);
  assert.deepEqual(names(), ['run_in_terminal', 'mcp_a', 'deploy']);
  assert.equal(learned, 1, 'the daemon is told');
  assert.deepEqual((await call('deploy', 500, done))[0], [true], 'from now on it is known');
  fake.settings.clear();
  fake.tools = [];
});
