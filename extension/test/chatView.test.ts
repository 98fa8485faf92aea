// Copilot by the Chat view, and the keys of voice services: with an editor that
// answers as the test says.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnswerStream } from '../src/conversation';
import type { CopilotSendParams, CopilotSendResult } from '../src/protocol.gen';
import { english } from '../src/text';
import { TokenSource, install } from './fakeVscode';

const fake = install();
const { ChatView } = require('../src/copilot/chatView') as typeof import('../src/copilot/chatView');
const { Keys } = require('../src/secrets') as typeof import('../src/secrets');

const OPEN = 'workbench.action.chat.open';
const opened = (): unknown[] => fake.executed.filter(([id]) => id === OPEN).map(([, options]) => options);

class Out implements AnswerStream {
  said = '';
  text(text: string): void {
    this.said += text;
  }
  call(): void {
    assert.fail('the Chat view calls its own tools');
  }
}

const params = (attempt: number): CopilotSendParams => ({
  requestId: 'req-1', turnId: 'turn-1', attempt, messages: [{ role: 'user', content: 'before' }, { role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'why' }],
});

/** One attempt with an editor that ends it in a way. */
async function send(ended: () => Promise<unknown>): Promise<[CopilotSendResult, string]> {
  fake.executed.length = 0;
  fake.answers.set(OPEN, ended);
  const out = new Out();
  return [await new ChatView(english).send(params(1), out, new TokenSource().token), out.said];
}

test('prompt doubled: the words go to the Chat view once, whatever is tried again', async () => {
  fake.executed.length = 0;
  fake.answers.set(OPEN, () => Promise.resolve({}));
  const chat = new ChatView(english);
  await Promise.all([chat.send(params(1), new Out(), new TokenSource().token), chat.send(params(2), new Out(), new TokenSource().token)]);
  assert.deepEqual(opened(), [{ query: 'why', blockOnResponse: true }]);
});

test('how the Chat view ended a request is said', async () => {
  assert.deepEqual(await send(() => Promise.resolve({})), [{ status: 'completed' }, 'The answer is in the Chat view.']);
  assert.deepEqual(await send(() => Promise.resolve({ type: 'confirmation' })), [{ status: 'completed' }, 'Copilot asks you something in the Chat view.']);
  const failures: [details: object, code: string][] = [
    [{ message: 'spent', isQuotaExceeded: true }, 'copilotQuota'],
    [{ message: 'no', responseIsFiltered: true }, 'copilotBlocked'],
    [{ message: 'getaddrinfo ENOTFOUND' }, 'copilotUnavailable'],
  ];
  for (const [errorDetails, code] of failures) {
    const [result] = await send(() => Promise.resolve({ errorDetails }));
    assert.deepEqual([result.status, result.error?.code, result.error?.retryable], ['failed', code, false]);
  }
  const [absent] = await send(() => Promise.reject(new Error('command not found')));
  assert.equal(absent.error?.code, 'copilotNotInstalled');
});

test('an interruption stops the Chat view too', async () => {
  fake.executed.length = 0;
  fake.answers.set(OPEN, () => new Promise(() => undefined));
  const source = new TokenSource();
  const sending = new ChatView(english).send(params(1), new Out(), source.token);
  source.cancel();
  assert.deepEqual(await sending, { status: 'cancelled' });
  assert.ok(fake.executed.some(([id]) => id === 'workbench.action.chat.cancel'));
});

test('a key is stored in the editor\'s store, given to the daemon for its own provider only, and removed', async () => {
  const store = new Map<string, string>();
  const secrets = {
    get: (name: string) => Promise.resolve(store.get(name)),
    store: (name: string, value: string) => Promise.resolve(void store.set(name, value)),
    delete: (name: string) => Promise.resolve(void store.delete(name)),
  };
  const keys = new Keys(secrets as never, english);
  await assert.rejects(keys.get({ provider: 'openai', kind: 'apiKey' }));
  fake.input = '  sk-1 ';
  assert.equal(await keys.ask('openai'), true);
  assert.deepEqual(await keys.get({ provider: 'openai', kind: 'apiKey' }), { value: 'sk-1' });
  await assert.rejects(keys.get({ provider: 'azure', kind: 'apiKey' }));
  await assert.rejects(keys.get({ provider: 'openai', kind: 'bearerToken' }));
  fake.input = undefined;
  assert.equal(await keys.ask('openai'), false, 'the user changed their mind');
  assert.equal(store.size, 1);
  await keys.remove('openai');
  await assert.rejects(keys.get({ provider: 'openai', kind: 'apiKey' }));
});
