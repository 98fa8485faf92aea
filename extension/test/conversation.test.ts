// The window's conversation with the real daemon in virtual time: the user's actions, the panel's
// contents, and Copilot's requests.

import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { test as nodeTest } from 'node:test';
import { callHash } from '../src/copilot/callHash';
import { english } from '../src/text';
import { present, shownLine } from '../src/view';
import { type Answer, Desk, says } from './headless';

/** Runs f at a desk, and shuts it down cleanly. */
function test(name: string, script: string, answer: Answer | undefined, f: (d: Desk) => Promise<void>): void {
  void nodeTest(name, { timeout: 300_000 }, async () => {
    const desk = new Desk(script, answer);
    try {
      await f(desk);
    } finally {
      await desk.close();
    }
  });
}

const view = (d: Desk): ReturnType<typeof present> =>
  present(d.model, { provider: 'local', model: '', microphone: '', speaker: '', context: [], trusted: true }, english);

test('start leads to Listening, with the label of the daemon and the microphone shown as open', '', undefined, async (d) => {
  assert.equal(await d.conversation.start(), true);
  await d.state('listening');
  assert.deepEqual(d.states(), ['idle', 'preparing', 'listening']);
  const v = view(d);
  assert.deepEqual([v.glyph, v.label, v.mic, v.micText], ['●', 'Listening', 'open', 'Microphone is on']);
  assert.equal(d.daemons.length, 1);
});

test('prompt doubled: a spoken question, a typed one and two impatient presses are one request each', `
auto speech 0ms 500ms
await state listening
say "explain the parser"
await answer copilot/send
after 600ms
`, undefined, async (d) => {
  void d.conversation.start();
  void d.conversation.start();
  await d.conversation.start();
  await d.until('the answer', (m) => m.lines.some((l) => l.role === 'assistant' && l.final));
  await d.state('listening');
  assert.equal(d.asked.length, 1);
  await d.conversation.say('and the lexer');
  await d.until('both answers', (m) => m.lines.filter((l) => l.role === 'assistant' && l.final).length === 2);
  assert.deepEqual(d.asked.map((a) => a.messages.at(-1)?.content), ['explain the parser', 'and the lexer']);
  assert.equal(new Set(d.asked.map((a) => a.requestId)).size, 2);
  assert.deepEqual(d.model.lines.map((l) => [l.role, l.text]), [
    ['user', 'explain the parser'], ['assistant', 'It reads tokens.'], ['user', 'and the lexer'], ['assistant', 'It reads tokens.'],
  ]);
});

test('an answer is read from a place in it on: what is being said stops for that, and its place is shown in the answer', `
auto speech 0ms 5s
auto flush 40ms
await state listening
say "explain the parser"
`, says('It reads tokens. Then it builds a tree.'), async (d) => {
  await d.conversation.start();
  await d.state('speaking');
  await d.until('the caption', (m) => m.caption?.text.trim() === 'It reads tokens.');
  assert.deepEqual(view(d).spoken, { line: d.model.caption?.line, from: 0, to: d.model.caption?.text.length });
  const read = d.conversation.readAnswer('Then it builds a tree.');
  for (let i = 0; i < 20 && d.model.snapshot?.state !== 'listening'; i++) {
    await d.advance(200);
  }
  await read;
  await d.until('the rest', (m) => m.snapshot?.state === 'speaking' && m.caption?.text.includes('builds') === true);
  assert.equal(view(d).spoken?.from, 'It reads tokens. '.length);
  assert.equal(d.asked.length, 1, 'Copilot is not asked');
});

test('voice commands: the editor scrolls while the answer goes on, spoken or typed, and Copilot is not asked', `
auto speech 0ms 3s
await state listening
say "explain the parser"
await answer copilot/send
after 1s
say "scroll down"
after 3s
`, undefined, async (d) => {
  await d.conversation.start();
  await d.until('the answer', (m) => m.lines.some((l) => l.role === 'assistant' && l.final));
  await d.until('the spoken command', () => d.commanded.length === 1);
  await d.conversation.say('go to line 42');
  await d.state('listening');
  await d.until('both commands', () => d.commanded.length === 2);
  assert.deepEqual(d.commanded, [{ command: 'scrollDown' }, { command: 'goToLine', number: 42 }]);
  assert.equal(d.asked.length, 1);
});

test('utterance lost after a failed reply: it stays in the panel, the cause is shown, and the button asks the same again', `
auto speech 0ms 500ms
await state listening
say "explain the parser"
await answer copilot/send
after 2s
`, () => Promise.resolve({ status: 'failed', error: { code: 'copilotQuota', message: 'spent', retryable: false } }), async (d) => {
  await d.conversation.start();
  await d.until('the failure', (m) => m.canRetry);
  await d.state('listening');
  const v = view(d);
  assert.equal(v.problem?.code, 'copilotQuota');
  assert.equal(v.problem?.remedies[0]?.command, 'agentvoice.selectAssistant');
  assert.ok(v.buttons.some((b) => b.command === 'agentvoice.retry'));
  assert.equal(d.model.lines.find((l) => l.role === 'user')?.failed, 'copilotQuota');
  d.answer = says('It reads tokens.');
  await d.conversation.retry();
  await d.until('the answer', (m) => m.lines.some((l) => l.role === 'assistant' && l.text === 'It reads tokens.'));
  assert.equal(d.asked.length, 2);
  assert.deepEqual(d.asked[1]?.messages.at(-1), { role: 'user', content: 'explain the parser', dictated: true });
  await d.settled();
  assert.equal(d.model.problem, undefined, 'the next question is the end of the last one\'s problem');
});

test('a correction is undone in the panel: the line shows what was heard, and the assistant is asked that, once', `
auto speech 0ms 100ms
await state listening
say "what listens on port eighty eighty"
await answer copilot/send
after 4s
`, says('The server.'), async (d) => {
  await d.conversation.start();
  await d.until('the corrected line', (m) => m.lines.some((l) => l.text === 'what listens on port 8080' && l.correction !== undefined));
  await d.until('the answer', (m) => m.lines.some((l) => l.role === 'assistant' && l.final));
  const { correction } = d.model.lines.find((l) => l.correction !== undefined)!;
  await d.conversation.undoCorrection(correction!);
  await d.until('the line as heard', (m) => m.lines.some((l) => l.text === 'what listens on port eighty eighty' && l.correction === undefined && l.recognised === undefined));
  await d.until('the second question', () => d.asked.length === 2);
  const heard = 'Correction: I said “what listens on port eighty eighty”, word for word. Please answer that instead.';
  assert.deepEqual(d.asked[1]?.messages.at(-1), { role: 'user', content: heard });
  await d.conversation.undoCorrection(correction!);
  assert.match(d.model.notice?.message ?? '', /no such correction/);
  await d.settled();
  assert.equal(d.asked.length, 2);
});

test('interruption event without its turn: the answer that was cut off is marked where the voice stopped', `
auto speech 100ms 5s
await state listening
say "explain the parser"
await answer copilot/send
after 1100ms
vad.start
after 300ms
vad.end
after 200ms
stt.final "what about the lexer"
after 100ms
`, says('The parser reads tokens and builds a tree.'), async (d) => {
  await d.conversation.start();
  await d.until('the mark', (m) => m.lines.some((l) => l.cutOff === true && l.heardChars !== undefined));
  const line = d.model.lines.find((l) => l.cutOff === true);
  assert.equal(line?.turnId, 'turn-1');
  const shown = shownLine(line!, english);
  assert.ok(shown.heard !== undefined && shown.heard > 0 && shown.heard < shown.text.length, String(shown.heard));
  await d.until('the next question', () => d.asked.length === 2);
  const remembered = d.asked[1]?.messages.find((m) => m.role === 'assistant')?.content;
  assert.ok(remembered !== undefined && shown.text.slice(0, shown.heard).startsWith(remembered), 'Copilot knows what was heard, and so does the panel');
  assert.match(shown.text.slice(shown.heard), /^[ .]/, 'the mark is not inside a word');
});

test('a question that has to wait is shown in the queue at once', `
auto speech 0ms 1s
await state listening
say "explain the parser"
await copilot/send
`, () => new Promise(() => undefined), async (d) => {
  await d.conversation.start();
  await d.state('waitingForCopilot');
  await d.conversation.ask((wire) => wire.request('conversation/sendText', { text: 'and the lexer' }));
  await d.until('the queue', (m) => m.snapshot?.queue.count === 1);
  assert.equal(view(d).queue.text, '1 question queued');
});

test('captions are of what is being said, and go with it', `
auto speech 0ms 1s
await state listening
say "explain the parser"
await answer copilot/send
after 100ms
`, says('It reads tokens.'), async (d) => {
  await d.conversation.start();
  await d.state('speaking');
  await d.until('a caption', (m) => m.caption !== undefined);
  assert.equal(view(d).caption?.text, 'It reads tokens.');
  assert.equal(view(d).caption?.audible, true);
  await d.advance(2000);
  await d.state('listening');
  assert.equal(view(d).caption, undefined);
});

const wantsTool: Answer = (params, out) => {
  if (params.messages.at(-1)?.role === 'tool') {
    out.text(`It is ${params.messages.at(-1)?.status ?? ''}.`);
  } else {
    out.call('call-1', 'runTests', { pattern: 'parser' });
  }
  return Promise.resolve({ status: 'completed' });
};

const TOOL = `
auto speech 0ms 500ms
await state listening
say "do the tests pass"
await answer copilot/send
`;

const COMMAND = 'cd x && rm -rf . # harmless';

test('a command of a tool that is called harmless is shown whole, named in full, and needs a click for its comment', `${TOOL}
after 8s
say "yes"
after 10s
`, (params, out) => {
  if (params.messages.at(-1)?.role !== 'tool') {
    out.call('call-1', 'run_in_terminal', { command: COMMAND, explanation: 'looks around' }, false);
  }
  return Promise.resolve({ status: 'completed' });
}, async (d) => {
  await d.conversation.start();
  await d.until('the question', (m) => m.approval !== undefined);
  const { approval, hint } = view(d);
  assert.match(approval?.question ?? '', /It would run cd and rm\./);
  assert.deepEqual([approval?.destructive, approval?.commands, hint], [true, [COMMAND], 'Click to allow it, or say no.']);
  assert.deepEqual(JSON.parse(approval?.input ?? ''), { command: COMMAND, explanation: 'looks around' });
  await d.settled();
  assert.equal(d.invoked.length, 0, 'a plain yes allows nothing that deletes');
  await d.conversation.approve(true);
  await d.until('the call', () => d.invoked.length === 1);
  assert.deepEqual(d.invoked.map((i) => i.input), [{ command: COMMAND, explanation: 'looks around' }]);
});

test('a tool waits with its exact call and runs once when it was allowed', TOOL, wantsTool, async (d) => {
  await d.conversation.start();
  await d.until('the question', (m) => m.approval !== undefined);
  const { approval } = view(d);
  assert.equal(approval?.name, 'runTests');
  assert.equal(approval?.input, '{\n  "pattern": "parser"\n}');
  assert.deepEqual(d.invoked, []);
  await d.conversation.approve(true);
  await d.until('its end', (m) => m.lines.some((l) => l.call?.status === 'completed'));
  assert.deepEqual(d.invoked, [{ callId: 'call-1', name: 'runTests', input: { pattern: 'parser' }, hash: callHash('runTests', { pattern: 'parser' }) }]);
  assert.equal(view(d).approval, undefined);
});

test('a tool that is not allowed does not run, and Copilot goes on without it', TOOL, wantsTool, async (d) => {
  await d.conversation.start();
  await d.until('the question', (m) => m.approval !== undefined);
  await d.conversation.approve(false);
  await d.until('the next round', () => d.asked.length === 2);
  assert.equal(d.asked[1]?.messages.at(-1)?.status, 'rejected');
  assert.deepEqual(d.invoked, []);
  assert.equal(d.model.lines.find((l) => l.kind === 'tool')?.call?.status, 'rejected');
});

test('a daemon that is killed comes back in a conversation of its own, still muted, with the old words above it', `
await state listening
say "explain the parser"
await answer copilot/send
`, undefined, async (d) => {
  await d.conversation.start();
  await d.until('the answer', (m) => m.lines.some((l) => l.role === 'assistant' && l.final));
  await d.conversation.mute(true);
  d.daemons[0]?.kill('SIGKILL');
  await d.until('a new conversation', (m) => m.lines.some((l) => l.kind === 'divider') && m.snapshot?.state === 'listening');
  assert.equal(d.daemons.length, 2);
  assert.equal(view(d).mic, 'muted');
  assert.deepEqual(d.model.lines.slice(0, 3).map((l) => [l.kind, l.text.split('.')[0]]), [
    ['speech', 'explain the parser'], ['speech', 'It reads tokens'], ['divider', 'Agent Voice was restarted'],
  ]);
  const shown = d.shown.map((m) => m.daemon);
  assert.ok(shown.includes('restarting'), 'the panel said so meanwhile');
});

test('dead Start button: a start that fails says why, and the next press is an attempt of its own', `
await conversation/start
session.failed authentication
`, undefined, async (d) => {
  await d.conversation.start();
  await d.until('the cause', (m) => m.problem !== undefined && m.snapshot?.state === 'idle');
  const v = view(d);
  assert.equal(v.problem?.code, 'authentication');
  assert.notEqual(v.problem?.remediation, '');
  assert.equal(v.problem?.remedies[0]?.command, 'agentvoice.setKey');
  assert.equal(v.primary?.command, 'agentvoice.start');
  assert.equal(d.model.starting, false);
  assert.equal(await d.conversation.start(), true);
  await d.settled();
  assert.equal(d.model.problem, undefined);
});

test('cause hidden behind a general message: what follows a failure does not take its place', `
await state listening
session.failed authentication
`, undefined, async (d) => {
  await d.conversation.start();
  await d.until('the end', (m) => m.problem !== undefined && m.snapshot?.state === 'idle');
  assert.equal(d.model.problem?.code, 'authentication');
  assert.match(d.model.problem?.message ?? '', /credentials/);
});

test('typed words begin a conversation that does not listen', '', undefined, async (d) => {
  const turnId = await d.conversation.say('explain the parser');
  assert.equal(turnId, 'turn-1');
  await d.until('the answer', (m) => m.lines.some((l) => l.role === 'assistant' && l.final));
  assert.equal(view(d).mic, 'muted');
  assert.equal(d.asked.length, 1);
  await d.conversation.end();
  await d.state('idle');
  await d.conversation.start();
  await d.state('listening');
  assert.equal(view(d).mic, 'open', 'who presses Start wants to be heard');
});

test('a text that arrives when the conversation has just ended begins one that does not listen', '', undefined, async (d) => {
  const reply = await d.conversation.ask((wire) => wire.request('conversation/sendText', { text: 'explain the parser' }));
  assert.deepEqual(reply, { turnId: '' });
  await d.until('the answer', (m) => m.lines.some((l) => l.role === 'assistant' && l.final));
  assert.equal((await d.microphone())?.mutedBy, 'typed');
  assert.equal(d.asked.length, 1);
  await d.conversation.end();
  await d.state('idle');
  await d.conversation.start();
  await d.state('listening');
  assert.equal(view(d).mic, 'open');
});

test('who was muted by hand stays so over a new conversation', '', undefined, async (d) => {
  await d.conversation.start();
  await d.conversation.mute(true);
  await d.conversation.end();
  await d.state('idle');
  await d.conversation.start();
  await d.state('listening');
  assert.equal(view(d).mic, 'muted');
});

test('a setting that is not allowed is refused by name, and the others stay', '', undefined, async (d) => {
  await d.conversation.start();
  await d.conversation.configure({ 'agentvoice.copilot.timeoutMs': 5 });
  assert.equal(d.model.problem?.code, 'invalidParams');
  assert.match(d.model.problem?.message ?? '', /agentvoice\.copilot\.timeoutMs/);
  await d.conversation.configure({ 'agentvoice.copilot.timeoutMs': 9000 });
});

test('pausing holds the conversation, and continuing brings it back', '', undefined, async (d) => {
  await d.conversation.start();
  await d.state('listening');
  await d.conversation.togglePause();
  await d.state('suspended');
  assert.deepEqual([view(d).mic, view(d).hint], ['paused', 'You paused the conversation.']);
  await d.conversation.togglePause();
  await d.state('listening');
});

test('a voice that is paused by word is shown as paused, and the button lets it go on', `
auto speech 0ms 10s
await state listening
say "explain the parser"
await answer copilot/send
await state speaking
after 1s
say "Hold on."
await conversation/history
say "Continue."
`, undefined, async (d) => {
  const voice = (): unknown[] => {
    const v = view(d);
    const button = v.buttons.find((b) => b.command === 'agentvoice.pauseSpeech');
    return [v.label, v.tone, v.hint, button?.title, button?.pressed];
  };
  await d.conversation.start();
  await d.until('the pause', (m) => m.snapshot?.paused.voice === true);
  assert.deepEqual(voice(), ['Voice paused', 'paused', 'The voice is paused.', 'Continue voice', true]);
  await d.conversation.toggleSpeech();
  await d.until('the voice', (m) => m.snapshot?.paused.voice === false);
  assert.deepEqual(voice(), ['Speaking', 'speaking', 'Just speak to interrupt.', 'Pause voice', false]);
  await d.conversation.toggleSpeech();
  await d.until('the second pause', (m) => m.snapshot?.paused.voice === true);
  await d.conversation.ask((wire) => wire.request('conversation/history')); // now it is spoken
  await d.until('the voice again', (m) => m.snapshot?.paused.voice === false);
  assert.equal(d.asked.length, 1);
});

test('ending ends: the daemon lives on, and the microphone is shown as off', '', undefined, async (d) => {
  await d.conversation.start();
  await d.state('listening');
  await d.conversation.end();
  await d.state('idle');
  assert.deepEqual([view(d).mic, view(d).primary?.command], ['closed', 'agentvoice.start']);
  await d.conversation.start();
  await d.state('listening');
  assert.equal(d.daemons.length, 1);
});

test('what is asked for at the wrong moment is said, and is no problem', '', undefined, async (d) => {
  await d.conversation.start();
  await d.state('listening');
  await d.conversation.interrupt('keyboard');
  assert.deepEqual([d.model.problem, d.model.notice], [undefined, undefined], 'there is nothing to stop');
  await d.conversation.repeat();
  assert.equal(d.model.problem, undefined);
  assert.match(view(d).notice?.message ?? '', /nothing was answered yet/);
});

const LONG = Array.from({ length: 4_000 }, (_, i) => `word ${i} of the answer. `);

/** Bytes of a message with a piece of it, at least. */
const MESSAGE = 140;

/** Bytes that were written to a daemon. */
const written = (stdin: Writable): number => (stdin as Socket).bytesWritten - stdin.writableLength;

test('a window that falls behind in a long answer has all of it in the end', 'auto speech 0ms 1s\n', async (_params, out) => {
  for (const piece of LONG) {
    out.text(piece);
  }
  return Promise.resolve({ status: 'completed' });
}, async (d) => {
  await d.conversation.start();
  await d.state('listening');
  const { stdin, stdout } = d.daemons[0]!;
  d.conversation.onQuestion(() => {
    stdout.pause(); // the window does not read the daemon's output until nearly all pieces are written
    const before = written(stdin);
    const poll = setInterval(() => {
      if (written(stdin) - before > 0.9 * LONG.length * MESSAGE) {
        clearInterval(poll);
        stdout.resume();
      }
    }, 10);
  });
  await d.conversation.say('tell me');
  await d.until('the answer', (m) => m.lines.some((l) => l.role === 'assistant' && l.final));
  assert.equal(d.model.lines.find((l) => l.role === 'assistant')?.text, LONG.join('').trim());
  const texts = d.shown.map((m) => m.lines.find((l) => l.role === 'assistant')?.text ?? '');
  assert.ok(new Set(texts).size < LONG.length / 2, 'nothing was missed');
  assert.ok(texts.every((t) => LONG.join('').startsWith(t)), 'what was shown on the way is no beginning of the answer');
});

test('a message typed while a conversation starts leaves the queue once it is sent', `
auto connection off
await conversation/sendText
after 100ms
conn.ready
`, undefined, async (d) => {
  void d.conversation.start();
  await d.state('preparing');
  assert.equal(await d.conversation.say('explain the parser'), '');
  assert.equal(await d.conversation.unqueued(), true);
  await d.until('the answer', (m) => m.lines.some((l) => l.role === 'assistant' && l.final));
});

test('a message typed while a conversation starts is known to be dropped if the start fails', `
auto connection off
await conversation/sendText
after 100ms
session.failed authentication
`, undefined, async (d) => {
  void d.conversation.start();
  await d.state('preparing');
  assert.equal(await d.conversation.say('explain the parser'), '');
  assert.equal(await d.conversation.unqueued(), false);
  assert.deepEqual(d.asked, []);
});
