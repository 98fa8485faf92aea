// Speech of Copilot's own agent, in a conversation with the real daemon in virtual time.

import assert from 'node:assert/strict';
import { test as nodeTest } from 'node:test';
import { Aloud } from '../src/copilot/aloud';
import { TokenSource } from './fakeVscode';
import { Desk, says } from './headless';

const token = (): TokenSource['token'] => new TokenSource().token;

function test(name: string, script: string, f: (d: Desk, aloud: Aloud) => Promise<void>, inAnswer: (text: string) => boolean = () => false): void {
  void nodeTest(name, { timeout: 300_000 }, async () => {
    const desk = new Desk(script);
    const { conversation } = desk;
    const aloud = new Aloud({ read: (text) => conversation.read(text), onChange: (g) => conversation.onChange(g), model: () => conversation.model }, inAnswer, { free: 20_000, answer: 20_000 });
    desk.answer = (params, out, cancelled) => says(aloud.took(params) ? 'Passed on.' : 'From the assistant.')(params, out, cancelled);
    try {
      await f(desk, aloud);
    } finally {
      await desk.close();
    }
  });
}

const heard = (d: Desk): string[] => d.model.lines.filter((l) => l.kind === 'speech' && l.role === 'assistant').map((l) => l.text);

test('a text is said in a conversation that does not listen, where none is open', 'auto speech 0ms 500ms', async (d, aloud) => {
  assert.equal(await aloud.say('The build is done.', token()), 'Said.');
  await d.state('speaking');
  assert.equal(d.model.snapshot?.microphone.muted, true);
  assert.equal(await aloud.say('  ', token()), 'There is no text to say.');
});

test('where nobody listens, nobody is asked, and no microphone is opened', '', async (d, aloud) => {
  assert.match(await aloud.ask('Which branch?', token()), /ask in the chat/);
  assert.deepEqual([d.daemons.length, d.states()], [0, []]);
});

test('a question is asked aloud, and the next words are its answer: the assistant is not asked', `
auto speech 0ms 500ms
await state listening
await state speaking
after 600ms
await state listening
say "the second one"
`, async (d, aloud) => {
  await d.conversation.start();
  await d.state('listening');
  assert.equal(await aloud.ask('Which branch?', token()), 'The user answered: the second one');
  await d.until('the acknowledgement', () => heard(d).includes('Passed on.'));
  assert.equal(d.asked.length, 1);
  assert.equal(aloud.took({ ...d.asked[0]!, requestId: 'another' }), false);
});

test('a question that is taken back is not waited for', 'auto speech 0ms 500ms', async (d, aloud) => {
  await d.conversation.start();
  await d.state('listening');
  const source = new TokenSource();
  const asked = aloud.ask('Which branch?', source.token);
  await d.state('speaking');
  source.cancel();
  assert.equal(await asked, 'The user did not answer.');
});

const answered: string[] = [];
test('what an answer is under way for is said as a part of it', '', async (d, aloud) => {
  assert.equal(await aloud.say('Half of it is done.', token()), 'Said.');
  assert.deepEqual([answered, d.daemons.length], [['Half of it is done.'], 0]);
}, (text) => answered.push(text) > 0);
