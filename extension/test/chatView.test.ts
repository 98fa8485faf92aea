// Copilot through the Chat view, and the keys of voice services, with a scripted editor.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { AnswerStream } from '../src/copilot/assistant';
import type { ChatRequest } from '../src/copilot/chatExport';
import type { CopilotSendParams, CopilotSendResult } from '../src/protocol.gen';
import { english } from '../src/text';
import { Document, TokenSource, Uri, install } from './fakeVscode';

const fake = install();
const { ChatExport } = require('../src/copilot/chatExport') as typeof import('../src/copilot/chatExport');
const { ChatView } = require('../src/copilot/chatView') as typeof import('../src/copilot/chatView');
const { Keys } = require('../src/secrets') as typeof import('../src/secrets');

const OPEN = 'workbench.action.chat.open';
const CANCEL = 'workbench.action.chat.cancel';
const SENT = { query: 'why', mode: 'agent', blockOnResponse: true };
const executed = (id: string): unknown[] => fake.executed.filter(([name]) => name === id).map(([, options]) => options);

class Out implements AnswerStream {
  said = '';
  signs = 0;
  text(text: string): void {
    this.said += text;
    this.signs++;
  }
  call(): void {
    assert.fail('the Chat view calls its own tools');
  }
}

const params = (attempt: number): CopilotSendParams => ({
  requestId: 'req-1', turnId: 'turn-1', attempt, messages: [{ role: 'user', content: 'before' }, { role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'why' }],
});

/** The request as exported; active by default. */
let clock = 0;
const request = (more: Partial<ChatRequest> = {}): ChatRequest =>
  ({ id: 'r2', prompt: 'why', text: '', acted: false, command: undefined, waited: 0, endedAt: ++clock, stopped: true, result: undefined, ...more });
const earlier = request({ id: 'r1', text: 'Before.', stopped: false, result: {} });

const input = (text: string): Document => new Document(new Uri('chatSessionInput', 'input-0'), text);

type Exported = ChatRequest[] | undefined;

/** A Chat view whose state follows the given exports in order; the last one stays. */
function view(...exports: (Exported | (() => Exported))[]): InstanceType<typeof ChatView> {
  const read = (): Promise<Exported> => {
    const next = exports.length > 1 ? exports.shift() : exports[0];
    return Promise.resolve(typeof next === 'function' ? next() : next);
  };
  return new ChatView({ read }, english, { poll: 1, opening: 20, draft: 1, lost: 5, stop: 50 });
}

/** Sends the question; the test sets the command's return value. */
async function send(chat: InstanceType<typeof ChatView>, ended: () => Promise<unknown>): Promise<[CopilotSendResult, string]> {
  fake.answers.set(OPEN, (options?: unknown) => (options === undefined ? Promise.resolve() : ended()));
  const out = new Out();
  return [await chat.send(params(1), out, new TokenSource().token), out.said];
}
const returns = (ended: unknown) => (): Promise<unknown> => Promise.resolve(ended);
const never = (): Promise<unknown> => new Promise(() => undefined);
const COMPLETED = { status: 'completed', end: 'unknown' };
const REFUSED = { status: 'completed', end: 'whole' };

beforeEach(() => {
  fake.executed.length = 0;
  fake.toasts.length = 0;
  fake.textDocuments.splice(0, fake.textDocuments.length, input(''));
});

test('prompt doubled: the words go to the Chat view once, in agent mode, whatever is tried again', async () => {
  fake.answers.set(OPEN, () => Promise.resolve({}));
  const chat = view([]);
  await Promise.all([chat.send(params(1), new Out(), new TokenSource().token), chat.send(params(2), new Out(), new TokenSource().token)]);
  assert.deepEqual(executed(OPEN), [SENT]);
});

test('the answer is read aloud as it grows, to its end, each word once', async () => {
  const chat = view([earlier], [earlier], [earlier, request({ text: 'It is ' })], [earlier, request({ text: 'It is ' })], [earlier, request({ text: 'It is so.' })], [earlier, request({ text: 'It is so. Really.', stopped: false, result: {} })]);
  assert.deepEqual(await send(chat, never), [COMPLETED, 'It is so. Really.']);
});

test('an earlier question with the same words is not taken for this one', async () => {
  const before = request({ id: 'r1', text: 'The old answer.', stopped: false, result: {} });
  assert.deepEqual(await send(view([before], [before, request({ text: 'The new one.', stopped: false, result: {} })]), returns({})), [COMPLETED, 'The new one.']);
});

test('a request that runs gives signs of life, so that it does not count as stalled', async () => {
  const out = new Out();
  fake.answers.set(OPEN, never);
  await view([], [request()], [request()], [request()], [request({ text: 'Done.', stopped: false, result: {} })]).send(params(1), out, new TokenSource().token);
  assert.ok(out.signs >= 5, `${out.signs} signs of life`);
});

test('what waits for the user is said once a wait, and the end is the true one', async () => {
  const asks = { type: 'confirmation', kind: 'toolInvocation', toolId: 'runInTerminal' };
  const chat = view(
    [],
    [request({ text: 'I run it.', acted: true, command: 'npm test', waited: 10 })],
    [request({ text: 'I run it.', acted: true, command: 'npm test', waited: 20 })],
    [request({ text: 'I run it.', acted: true, waited: 25 })],
    [request({ text: 'I run it.', acted: true, waited: 25 })],
    [request({ text: 'I run it.', acted: true, waited: 35 })],
    [request({ text: 'I run it.', acted: true, waited: 45 })],
    [request({ text: 'I run it.\n\nIt passes.', acted: true, waited: 46, stopped: false, result: {} })],
  );
  assert.deepEqual(await send(chat, returns(asks)), [COMPLETED,
    'I run it.\n\nThe Chat view asks to run `npm test`. Allow or skip it there; it does not work by voice.\n\n' +
    '\n\nThe Chat view needs your approval or an answer. Respond there; it does not work by voice.\n\n' +
    '\n\nIt passes.\n\nThe Chat view is done.']);
});

test('how the Chat view ended a request is said', async () => {
  assert.deepEqual(await send(view([], [request({ stopped: false, result: {} })]), returns({})), [COMPLETED, 'The answer is in the Chat view.']);
  const stopped = request({ text: 'It', result: {} });
  assert.deepEqual(await send(view([], [stopped]), returns({})), [{ status: 'completed', end: 'interrupted' }, 'It\n\nThe request was stopped in the Chat view.']);
  const failures: [details: object, code: string][] = [
    [{ message: 'spent', isQuotaExceeded: true }, 'copilotQuota'],
    [{ message: 'no', responseIsFiltered: true }, 'copilotBlocked'],
    [{ message: 'getaddrinfo ENOTFOUND' }, 'copilotUnavailable'],
  ];
  for (const [errorDetails, code] of failures) {
    for (const ended of [returns({ errorDetails }), never]) {
      const [result] = await send(view([], [request({ stopped: false, result: { errorDetails } })]), ended);
      assert.deepEqual([result.status, result.error?.code, result.error?.retryable], ['failed', code, false]);
    }
  }
  const [absent] = await send(view(undefined), () => Promise.reject(new Error('command not found')));
  assert.equal(absent.error?.code, 'copilotNotInstalled');
});

test('an answer that cannot be read is not made up: it is said where it is', async () => {
  assert.deepEqual(await send(view(undefined), returns({})), [COMPLETED, 'The answer is in the Chat view.']);
  assert.deepEqual(await send(view(undefined), returns(undefined)), [COMPLETED, 'I lost track of the Chat view. Its answer is shown there.']);
  assert.deepEqual(await send(view([], [request({ text: 'It', waited: 1 })], undefined), returns({ type: 'confirmation' })), [COMPLETED,
    'It\n\nThe Chat view needs your approval or an answer. Respond there; it does not work by voice.\n\n\n\nI lost track of the Chat view. Its answer is shown there.']);
  assert.deepEqual(await send(view([], [request({ text: 'It is' })], [request({ text: 'Something else.', stopped: false, result: {} })]), never), [COMPLETED,
    'It is\n\nThe answer is in the Chat view.']);
});

test('a draft in the Chat view is not overwritten, and neither is one that shows up as the view opens', async () => {
  const words = 'There is a draft in the Chat view, so I sent nothing. Send or clear it there, then ask again.';
  fake.textDocuments.splice(0, 1, input('half a thought'));
  assert.deepEqual(await send(view([]), returns({})), [REFUSED, words]);
  assert.deepEqual(executed(OPEN), []);

  fake.textDocuments.length = 0;
  const chat = view([]);
  fake.answers.set(OPEN, () => {
    setImmediate(() => fake.open(input('restored')));
    return Promise.resolve();
  });
  const out = new Out();
  assert.deepEqual([await chat.send(params(1), out, new TokenSource().token), out.said], [REFUSED, words]);
  assert.deepEqual(executed(OPEN), [undefined], 'the view was opened, and nothing was sent');
});

test('the participant that VS Code leaves in the input after a question is no draft', async () => {
  fake.textDocuments.splice(0, 1, input('@voice '));
  assert.deepEqual(await send(view([], [request({ text: 'Yes.', stopped: false, result: {} })]), never), [COMPLETED, 'Yes.']);
});

test('where an editor does not show the input of the Chat view, nothing is sent', async () => {
  fake.textDocuments.length = 0;
  const [result, said] = await send(view([]), returns({}));
  assert.deepEqual([result, executed(OPEN)], [REFUSED, [undefined]]);
  assert.match(said, /^This version of VS Code does not show whether the Chat view holds a draft/);
});

test('a request of the user that runs in the Chat view is not disturbed, and one that was stopped is in nobody\'s way', async () => {
  assert.deepEqual(await send(view([request({ id: 'r1', prompt: 'mine' })], [request({ id: 'r1', prompt: 'mine' })]), returns({})), [REFUSED,
    'The Chat view is still working on another request, so I sent nothing. Ask again when it is done.']);
  assert.deepEqual(executed(OPEN), []);
  const stopped = request({ id: 'r1', prompt: 'mine' });
  assert.deepEqual(await send(view([stopped], [stopped], [stopped, request({ text: 'Yes.', stopped: false, result: {} })]), returns({})), [COMPLETED, 'Yes.']);
});

/** Interrupts a request while the exports show this. */
async function interrupt(exported: () => Exported): Promise<unknown> {
  fake.answers.set(OPEN, never);
  const source = new TokenSource();
  const sending = view([], exported).send(params(1), new Out(), source.token);
  await new Promise((resolve) => setTimeout(resolve, 5));
  source.cancel();
  return sending;
}

test('an interruption stops the request in the Chat view, and no other one', async () => {
  assert.deepEqual(await interrupt(() => [request()]), { status: 'cancelled' });
  assert.deepEqual([executed(CANCEL).length, fake.toasts], [1, []]);

  fake.executed.length = 0;
  assert.deepEqual(await interrupt(() => [request(), request({ id: 'r3', prompt: 'mine' })]), { status: 'cancelled' });
  assert.deepEqual([executed(CANCEL), fake.toasts], [[], ['The Chat view may still be working on your request. Stop it there.']]);
});

/** VS Code 1.139.1's export of a request with a tool that awaited approval, shortened. */
const EXPORTED = JSON.stringify({
  requests: [{
    requestId: 'request_1', message: { text: 'deploy it' },
    response: [
      { kind: 'mcpServersStarting', didStartServerIds: [] },
      { value: 'See ', supportThemeIcons: false }, { kind: 'inlineReference', inlineReference: { $mid: 1, path: '/w/parser.go', scheme: 'file' } }, { value: '. I run it.' },
      { kind: 'toolInvocationSerialized', toolId: 'run_in_terminal', isComplete: true, toolSpecificData: { kind: 'terminal', commandLine: { original: 'npm test' } } },
    ],
    modelState: { value: 2, completedAt: 1795500011806 }, timeSpentWaiting: 158,
  }],
});

test('the export of the Chat view is read in memory, and is for nobody else', async () => {
  fake.answers.set('workbench.action.chat.export', (uri: Uri) => {
    const files = fake.fileSystems.get(uri.scheme);
    assert.throws(() => files?.stat(uri));
    files?.writeFile(uri, new TextEncoder().encode(EXPORTED));
    assert.throws(() => files?.readFile(uri), /no permission/);
    return Promise.resolve();
  });
  const exported = new ChatExport();
  assert.deepEqual(await exported.read(), [{
    id: 'request_1', prompt: 'deploy it', text: 'See `parser.go`. I run it.\n\n', acted: true, command: 'npm test', waited: 158,
    endedAt: 1795500011806, stopped: true, result: undefined,
  }]);
  fake.answers.set('workbench.action.chat.export', () => Promise.resolve());
  assert.equal(await exported.read(), undefined, 'what was read is gone');
  exported.dispose();
  assert.equal(fake.fileSystems.size, 0);
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
