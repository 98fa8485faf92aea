// @voice: typed turns in the spoken conversation, with the real daemon.

import assert from 'node:assert/strict';
import { test as nodeTest } from 'node:test';
import { english } from '../src/text';
import { type Answer, Desk, says } from './headless';
import { ChatQuestions } from '../src/copilot/questions';
import { ChatRequestTurn, ChatResponseMarkdownPart, ChatResponseTurn, TokenSource, Uri, install } from './fakeVscode';

install();
const { participate } = require('../src/copilot/participant') as typeof import('../src/copilot/participant');

type Result = Awaited<ReturnType<typeof participate>>;

class Chat {
  text = '';
  readonly source = new TokenSource();

  readonly questions = new ChatQuestions();

  constructor(private readonly desk: Desk) {}

  ask(prompt: string, more: object = {}, history: unknown[] = []): Promise<Result> {
    const stream = { markdown: (text: string) => void (this.text += text), button: () => undefined, reference: () => undefined };
    const attachment = (uri: { path: string }) => Promise.resolve(uri.path === '/w/.env' ? undefined : { key: 'attached' as const, title: uri.path, text: 'package a' });
    const room = { conversation: this.desk.conversation, questions: this.questions, context: { attachment }, t: english };
    return participate(room, { prompt, references: [], ...more } as never, { history: history as never }, stream as never, this.source.token as never);
  }
}

/** The answer is heard to the end. */
const ANSWERED = `
auto speech 0ms 500ms
await answer copilot/send
after 5s
`;

function test(name: string, script: string, answer: Answer | undefined, f: (d: Desk, chat: Chat) => Promise<void>): void {
  void nodeTest(name, { timeout: 300_000 }, async () => {
    const desk = new Desk(script, answer);
    try {
      await f(desk, new Chat(desk));
    } finally {
      await desk.close();
    }
  });
}

test('a typed question is answered in the Chat view as the panel shows it, and begins no listening', ANSWERED, undefined, async (d, chat) => {
  assert.deepEqual(await chat.ask('What does it read?'), {});
  assert.equal(chat.text, 'It reads tokens.');
  assert.equal(d.model.snapshot?.microphone.muted, true);
  assert.deepEqual(d.asked.map((a) => a.messages.at(-1)?.content), ['What does it read?']);
});

test('a typed question that has to wait for its turn gets its own answer, and not that of the turn before', `
auto speech 0ms 2s
await state listening
say "explain the parser"
await answer copilot/send
`, (params, out) => {
  out.text(`About ${params.messages.at(-1)?.content ?? ''}.`);
  return Promise.resolve({ status: 'completed' });
}, async (d, chat) => {
  await d.conversation.start();
  await d.state('speaking');
  const asked = chat.ask('the lexer');
  await d.until('the words', (m) => m.lines.some((l) => l.text === 'the lexer'));
  await d.advance(2_500);
  await d.until('its answer', (m) => m.lines.some((l) => l.text === 'About the lexer.'));
  await d.advance(5_000);
  assert.deepEqual(await asked, {});
  assert.equal(chat.text, 'About the lexer.');
  assert.equal(d.asked[1]?.messages.find((m) => m.role === 'assistant')?.content, 'About explain the parser.', 'one thread');
});

test('a question that fails says why in the Chat view too', ANSWERED,
  () => Promise.resolve({ status: 'failed', error: { code: 'copilotQuota', message: '', retryable: false } }),
  async (_d, chat) => {
    const result = await chat.ask('What does it read?');
    assert.match(result.errorDetails?.message ?? '', /quota/);
  });

test('stopping the request in the Chat view stops the answer', 'auto speech 0ms 30s', says('It reads tokens.'), async (d, chat) => {
  const asked = chat.ask('What does it read?');
  await d.state('speaking');
  chat.source.cancel();
  assert.deepEqual(await asked, {});
  await d.state('listening');
});

/** An answer that never arrives before it is cancelled. */
const never: Answer = (_params, _out, token) =>
  new Promise((resolve) => token.onCancellationRequested(() => resolve({ status: 'cancelled' })));

test('a question that is stopped before the first word does not leave its request in the Chat view pending', 'auto speech 0ms 1s', never, async (d, chat) => {
  const asked = chat.ask('What does it read?');
  await d.state('waitingForCopilot');
  await d.conversation.interrupt('button'); // in the panel, or by voice
  const result = await asked;
  assert.match(result.errorDetails?.message ?? '', /stopped before an answer/);
});

test('a request that is stopped in the Chat view before the first word stops the question', 'auto speech 0ms 1s', never, async (d, chat) => {
  const asked = chat.ask('What does it read?');
  await d.state('waitingForCopilot');
  chat.source.cancel();
  assert.deepEqual(await asked, {});
  await d.state('listening');
});

test('a request that is stopped while the conversation begins ends at once, and its question is taken back', 'auto speech 0ms 1s', never, async (d, chat) => {
  const asked = chat.ask('What does it read?');
  chat.source.cancel();
  assert.deepEqual(await asked, {});
  await d.state('waitingForCopilot');
  await d.state('listening');
});

test('a request that is stopped while it waits for its turn leaves the answer before it alone, and is not answered', `
auto speech 0ms 2s
await state listening
say "explain the parser"
await answer copilot/send
`, (params, out, token) => {
  if (params.messages.at(-1)?.content === 'the lexer') {
    return never(params, out, token);
  }
  out.text('About the parser.');
  return Promise.resolve({ status: 'completed' });
}, async (d, chat) => {
  await d.conversation.start();
  await d.state('speaking');
  const asked = chat.ask('the lexer');
  await d.until('the words', (m) => m.lines.some((l) => l.text === 'the lexer'));
  chat.source.cancel();
  assert.deepEqual(await asked, {});
  await d.settled();
  assert.equal(d.model.snapshot?.state, 'speaking');
  assert.ok(!d.states().includes('interrupted'));
  await d.advance(2_500);
  await d.until('the second question', () => d.asked.length === 2);
  await d.state('listening');
});

test('what a question in the Chat view brings along waits for its turn: model, what is attached, and what was said there', ANSWERED, undefined, async (_d, chat) => {
  const model = { id: 'chosen' };
  const references = [{ id: 'a', value: Uri.file('/w/a.go') }, { id: 'b', value: Uri.file('/w/.env') }, { id: 'c', value: 'words', modelDescription: 'A note' }, { id: 'd', value: 7 }];
  const history = [new ChatRequestTurn('hello'), new ChatResponseTurn([new ChatResponseMarkdownPart('Hi '), { other: 1 }, new ChatResponseMarkdownPart('there.')])];
  const brought = chat.ask('What does it read?', { model, references }, history);
  await new Promise((resolve) => setImmediate(resolve));
  const q = chat.questions.of({ requestId: 'r', turnId: 't', attempt: 1, messages: [{ role: 'user', content: 'What does it read?' }] });
  assert.equal(q?.model, model);
  assert.deepEqual(q?.attached.map((m) => [m.title, m.text]), [['/w/a.go', 'package a'], ['A note', 'words']]);
  assert.deepEqual(q?.history, [{ question: 'hello', answer: 'Hi there.' }]);
  assert.deepEqual(await brought, {});
  assert.equal(chat.text, '`.env` is not sent.\n\nIt reads tokens.');
});
