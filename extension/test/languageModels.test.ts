// Copilot by the language model API, with models that do as the test says.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnswerStream } from '../src/conversation';
import type { CopilotSendParams } from '../src/protocol.gen';
import { english } from '../src/text';
import { type FakeModel, TokenSource, install, parts } from './fakeVscode';

const fake = install();
const { LanguageModels } = require('../src/copilot/languageModels') as typeof import('../src/copilot/languageModels');

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
const adapter = (): InstanceType<typeof LanguageModels> => new LanguageModels(() => [], quiet, english, () => undefined);

async function* stream(...items: unknown[]): AsyncGenerator<unknown> {
  yield* items;
}

function model(over: Partial<FakeModel> = {}): FakeModel & { sent: { messages: unknown[]; options: Record<string, unknown> }[] } {
  const sent: { messages: unknown[]; options: Record<string, unknown> }[] = [];
  return {
    id: 'one', name: 'One', vendor: 'copilot', family: 'fam', maxInputTokens: 8000, sent,
    countTokens: (text) => Promise.resolve(text.length / 4),
    sendRequest: (messages, options) => {
      JSON.stringify(options); // as the editor does to hand it on
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
  assert.deepEqual(await adapter().send(params(), out, token()), { status: 'completed' });
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
  assert.equal(a.modelName, 'One');
  fake.models = [model({ vendor: 'mine' })];
  assert.equal(await a.pick(''), undefined, 'another vendor is asked only where the user named one');
  fake.settings.set('agentvoice.copilot.vendor', 'absent');
  assert.equal((await a.pick(''))?.vendor, 'mine');
  fake.settings.clear();
});

test('consent is asked for with nothing that could reach the model', async () => {
  const m = model();
  fake.models = [m];
  assert.equal(await adapter().consent(), 'allowed');
  assert.deepEqual(m.sent, []);
  fake.models = [model({ sendRequest: () => Promise.reject(Object.assign(new Error('no'), { code: 'NoPermissions' })) })];
  assert.equal(await adapter().consent(), 'refused');
  fake.models = [];
  assert.equal(await adapter().consent(), 'none');
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
  assert.deepEqual(out.calls, [['c', 'runTests', { a: 1 }]]);
  const { messages, options } = m.sent[0]!;
  assert.deepEqual((options['tools'] as { name: string }[]).map((t) => t.name), ['runTests']);
  const [, , call, result] = messages as { role: string; content: unknown[] }[];
  assert.ok(call?.content[0] instanceof parts.CallPart && result?.content[0] instanceof parts.ResultPart);
});

test('a call is carried out once, and not at all when its tool is not on the list any more or the workspace not trusted', async () => {
  let ran = 0;
  fake.invokeTool = () => Promise.resolve({ content: [new parts.TextPart(`run ${++ran}`)] });
  fake.settings.set('agentvoice.tools.allowed', ['run*']);
  const a = adapter();
  const call = { callId: 'c', name: 'runTests', input: {} };
  assert.deepEqual(await Promise.all([a.invoke(call, token()), a.invoke(call, token())]), [{ content: 'run 1' }, { content: 'run 1' }]);
  assert.equal((await a.invoke({ ...call, callId: 'd', name: 'deleteAll' }, token())).isError, true);
  fake.trusted = false;
  assert.equal((await a.invoke({ ...call, callId: 'e' }, token())).isError, true);
  assert.deepEqual(a.tools(), []);
  fake.trusted = true;
  fake.invokeTool = () => Promise.reject(new Error('exit status 1'));
  assert.deepEqual(await a.invoke({ ...call, callId: 'f' }, token()), { content: 'exit status 1', isError: true });
  assert.equal(ran, 1);
  fake.settings.clear();
});
