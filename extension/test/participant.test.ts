// @voice: typed turns in the spoken conversation, with the real daemon.

import assert from 'node:assert/strict';
import { test as nodeTest } from 'node:test';
import { participate } from '../src/copilot/participant';
import { english } from '../src/text';
import { type Answer, Desk, says } from './headless';
import { TokenSource } from './fakeVscode';

type Result = Awaited<ReturnType<typeof participate>>;

class Chat {
  text = '';
  readonly source = new TokenSource();

  constructor(private readonly desk: Desk) {}

  ask(prompt: string): Promise<Result> {
    const stream = { markdown: (text: string) => void (this.text += text), button: () => undefined };
    return participate(this.desk.conversation, { prompt } as never, stream as never, this.source.token as never, english);
  }
}

/** The answer is heard to its end. */
const ANSWERED = `
auto speech 0ms 500ms
await answer copilot/send
after 5s
`;

function test(name: string, script: string, answer: Answer | undefined, f: (d: Desk, chat: Chat) => Promise<void>): void {
  void nodeTest(name, { timeout: 60_000 }, async () => {
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
  assert.equal(d.model.muted, true);
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
