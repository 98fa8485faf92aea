// The language model's prompt, and how its failures are mapped.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, failure, isCancelled } from '../src/copilot/errors';
import { Once } from '../src/copilot/once';
import { INSTRUCTIONS, type Material, type Message, around, compose, messages } from '../src/copilot/prompt';
import { listed, offered } from '../src/copilot/tools';
import type { CopilotMessage } from '../src/protocol.gen';

const lm = (code: string, message = '', cause?: Error): Error => Object.assign(new Error(message, { cause }), { code, name: 'LanguageModelError' });

test('each failure of a language model has its code, and only those that may pass are tried again', () => {
  const cases: [err: unknown, code: string, retryable: boolean][] = [
    [lm('NoPermissions', 'not allowed'), 'copilotNoConsent', false],
    [lm('NotFound', 'no such model'), 'copilotUnavailable', true],
    [lm('Blocked', 'You have exceeded your premium request allowance'), 'copilotQuota', false],
    [lm('Blocked'), 'copilotQuota', false],
    [lm('Blocked', 'Too many requests, retry after 12 s'), 'rateLimited', true],
    [lm('Blocked', 'The response was filtered'), 'copilotBlocked', false],
    [lm('ChatQuotaExceeded'), 'copilotQuota', false],
    [lm('ChatRateLimited'), 'rateLimited', true],
    [lm('Unknown', 'Request failed', new Error('getaddrinfo ENOTFOUND api.example')), 'copilotUnavailable', true],
    [lm('Unknown', 'Response contained content that violates the content policy'), 'copilotBlocked', false],
    [new Error('You are signed out'), 'copilotUnavailable', true],
    [lm('Unknown', 'Response too long.'), 'answerCutLength', false],
    [lm('Unknown', 'the model reached max_output_tokens'), 'answerCutLength', false],
    [lm('Unknown', 'Tool call limit reached'), 'answerCutTurns', false],
    [new Error('boom'), 'copilotFailed', true],
    ['text', 'copilotFailed', true],
    [undefined, 'copilotFailed', true],
  ];
  for (const [err, code, retryable] of cases) {
    assert.deepEqual([codeOf(err), failure(err).retryable], [code, retryable], String(err));
  }
  assert.equal(failure(lm('Blocked', 'Too many requests, retry after 12 s')).retryAfterMs, 12_000);
  assert.equal(isCancelled(Object.assign(new Error('Canceled'), { name: 'Canceled' })), true);
  assert.equal(isCancelled(lm('Blocked')), false);
});

test('prompt doubled: an attempt that is delivered twice is sent once, and both get its result', async () => {
  const once = new Once<number>();
  let sent = 0;
  const send = (): Promise<number> => Promise.resolve(++sent);
  const [a, b, c] = await Promise.all([once.run('req-1 0 1', send), once.run('req-1 0 1', send), once.run('req-1 0 2', send)]);
  assert.deepEqual([a, b, c, sent], [1, 1, 2, 2]);
  once.forget();
  assert.equal(await once.run('req-1 0 1', send), 3);
});

/** One token per four characters. */
const count = (text: string): number => Math.ceil(text.length / 4);
const user = (content: string): CopilotMessage => ({ role: 'user', content });
const assistant = (content: string): CopilotMessage => ({ role: 'assistant', content });
const textOf = (m: Message | undefined): string => (m?.parts ?? []).map((p) => (p.is === 'call' ? p.name : p.text)).join('');
const size = (all: readonly Message[]): number => {
  let total = 0;
  for (const m of all) {
    total += count(textOf(m));
  }
  return total;
};

test('a prompt is the instructions with what the user sees, what was said, and the question', async () => {
  const material: Material[] = [
    { key: 'activeFile', title: 'Active file a.ts', text: 'const a = 1;' },
    { key: 'workspaceName', title: 'Workspace', text: 'parser' },
  ];
  const p = compose([user('hello'), assistant('Hi.'), user('why')], material, 'Be brief.', 8000, count);
  assert.deepEqual(p.messages.map((m) => m.role), ['user', 'user', 'assistant', 'user']);
  const opening = textOf(p.messages[0]);
  assert.ok(opening.startsWith(INSTRUCTIONS));
  assert.match(opening, /wishes: Be brief\./);
  assert.ok(opening.indexOf('parser') < opening.indexOf('const a = 1;'));
  assert.equal(textOf(p.messages.at(-1)), 'why');
  assert.deepEqual([p.trimmed, p.droppedMessages], [[], 0]);
});

test('nothing but the question is sent of the editor that was not given', async () => {
  const p = compose([user('why')], [], '', 8000, count);
  assert.deepEqual(p.messages.map(textOf), [INSTRUCTIONS, 'why']);
});

test('what does not fit is trimmed to the model\'s budget: the file around the cursor, then the oldest words, never the question', async () => {
  const lines = Array.from({ length: 2000 }, (_x, i) => `line ${i}`);
  const text = lines.join('\n');
  const material: Material[] = [{ key: 'activeFile', title: 'Active file a.ts', text, focus: text.indexOf('line 1000\n') }];
  const said = Array.from({ length: 40 }, (_x, i) => (i % 2 === 0 ? user(`question ${i} ${'x'.repeat(200)}`) : assistant(`answer ${i} ${'x'.repeat(200)}`)));
  const p = compose([...said, user('why')], material, '', 2000, count);
  assert.ok((size(p.messages)) <= 2000, `${size(p.messages)} tokens`);
  assert.deepEqual(p.trimmed, ['activeFile']);
  assert.match(textOf(p.messages[0]), /\nline 1000\n/);
  assert.doesNotMatch(textOf(p.messages[0]), /line 0\n/);
  assert.ok(p.droppedMessages > 0 && p.droppedMessages < 40);
  assert.match(textOf(p.messages.at(-2)), /answer 39/, 'the newest are kept');
  assert.equal(textOf(p.messages.at(-1)), 'why');
});

test('a question that fills the budget goes alone and whole', async () => {
  const long = 'why '.repeat(3000);
  const p = compose([user('before'), user(long)], [{ key: 'selection', title: 'Selected text', text: 'x'.repeat(5000) }], '', 1000, count);
  assert.deepEqual(p.messages.map(textOf), [INSTRUCTIONS, long]);
  assert.deepEqual(p.trimmed, ['selection']);
});

test('the model is told which words were dictated and which answers were cut off', () => {
  const said: CopilotMessage[] = [user('typed'), { ...user('spoken'), dictated: true }, assistant('All.'), { ...assistant('Half'), cut: true }];
  const notes = messages(said).map((m, i) => textOf(m).slice(said[i]?.content.length));
  assert.equal(notes[0], '');
  assert.match(notes[1] ?? '', /^\n\n\[.*dictated.*misheard.*\]$/);
  assert.equal(notes[2], '');
  assert.match(notes[3] ?? '', /^\n\n\[.*cut off.*\]$/);
});

test('the outcome of a tool follows its call, and what did not run says so', () => {
  const tool = (over: Partial<CopilotMessage>): CopilotMessage => ({ role: 'tool', content: '', callId: 'c', name: 'runTests', input: { a: 1 }, ...over });
  const [call, result] = messages([tool({ content: '1 failed', status: 'completed' })]);
  assert.deepEqual(call, { role: 'assistant', parts: [{ is: 'call', callId: 'c', name: 'runTests', input: { a: 1 } }] });
  assert.deepEqual(result, { role: 'user', parts: [{ is: 'result', callId: 'c', text: '1 failed' }] });
  assert.match(textOf(messages([tool({ status: 'rejected' })])[1]), /did not allow/);
  assert.match(textOf(messages([tool({ status: 'cancelled' })])[1]), /cancelled/);
});

test('an outcome of a tool is not kept without what it belongs to', async () => {
  const said: CopilotMessage[] = [user('x'.repeat(4000)), { role: 'tool', content: 'ok', callId: 'c', name: 'n', input: {} }, assistant('Done.'), user('and now')];
  const p = compose(said, [], '', 900, count);
  assert.deepEqual(p.messages.map((m) => m.role), ['user', 'assistant', 'user']);
});

test('a piece of a text is made of whole lines', () => {
  const text = 'one\ntwo\nthree\nfour\nfive';
  assert.equal(around(text, 9, 13), 'two\nthree');
  assert.equal(around(text, 0, 9), 'one\ntwo');
  assert.equal(around(text, 23, 10), 'four\nfive');
  assert.equal(around('x'.repeat(100), 50, 10), 'x'.repeat(10));
});

test('tools are those of the list, and destructive unless they are known to be harmless', () => {
  const tools = ['fake_read', 'fake_delete', 'other'].map((name) => ({ name, description: name }));
  const asks = (tool: { name: string }): boolean => tool.name === 'fake_delete';
  assert.deepEqual(offered(tools, [], [], asks), []);
  assert.deepEqual(
    offered(tools, ['fake_*'], ['fake_read'], asks).map((t) => [t.name, t.destructive, t.confirms]),
    [['fake_read', false, undefined], ['fake_delete', true, true]],
  );
  assert.equal(listed('fake_read', ['fake']), false);
  assert.equal(listed('fake_read', [' fake_read ']), true);
  assert.equal(listed('anything', ['']), false);
});
