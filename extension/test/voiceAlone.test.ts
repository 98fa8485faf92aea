// A whole session without a key or a click: every step is a sound that the daemon hears. The
// extension does nothing but answer the daemon.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { english } from '../src/text';
import { present } from '../src/view';
import { type Answer, Desk } from './headless';

const SESSION = `
auto speech 0ms 1s
auto flush 20ms
await client/heartbeat
await client/heartbeat
wake                            # starts it
await state listening
say "do the tests pass"
await answer copilot/send
after 5s                        # the question is spoken
say "read it"
after 8s
say "yes, run"                  # allows the tool, if nothing takes it back
after 1s
await answer copilot/invokeTool
await answer copilot/send
after 5s
say "scroll down"
say "open settings"
after 1s
say "what is left"              # fails
await answer copilot/send
after 8s
say "fix it"                    # the first remedy of the visible problem
after 1s
say "try again"
await answer copilot/send
after 5s
device.lost                     # the microphone goes and comes back by itself
after 1s
device.restored
after 1s
conn.lost                       # so does the service
after 1s
say "are you there"
await answer copilot/send
after 1s
say "hold on"                   # pauses the voice
after 1s
say "continue"
after 5s
say "go to sleep"               # ends it
after 2s
wake
await state listening
after 1s
say "end the conversation"
after 2s
`;

void test('a session by voice alone: start, approve, scroll, settings, recover, end', { timeout: 300_000 }, async () => {
  let failures = 0;
  const answer: Answer = (params, out) => {
    const last = params.messages.at(-1);
    void d.conversation.wire?.notify('client/heartbeat'); // virtual time runs faster than the window's clock
    if (last?.content === 'do the tests pass') {
      out.call('call-1', 'runTests', { pattern: 'parser' });
    } else if (last?.content === 'what is left' && failures++ === 0) {
      return Promise.resolve({ status: 'failed', error: { code: 'copilotQuota', message: 'spent', retryable: false } });
    } else {
      out.text('It is done. There is one thing left. It is the parser.');
    }
    return Promise.resolve({ status: 'completed' });
  };
  const d = new Desk(SESSION, answer);
  try {
    d.configuration = { 'agentvoice.wake.enabled': true };
    await d.conversation.ask(() => Promise.resolve()); // the daemon runs, and listens for the phrase
    await d.settled();
    assert.equal(present(d.model, { provider: 'local', model: '', microphone: '', speaker: '', context: [], trusted: true }, english).mic, 'wake');
    await d.conversation.wire?.notify('client/heartbeat');
    await d.conversation.wire?.notify('client/heartbeat');
    await d.until('the first conversation', (m) => m.snapshot?.state === 'listening');
    await d.until('the end of the second', () => d.states().filter((s) => s === 'idle').length >= 3);
    assert.deepEqual(d.invoked.map((i) => i.name), ['runTests']);
    assert.deepEqual(d.commanded.map((c) => c.command), ['scrollDown', 'openSettings', 'fixIt']);
    assert.deepEqual(d.asked.map((a) => a.messages.at(-1)?.content).filter((c) => c !== 'done'), ['do the tests pass', 'what is left', 'what is left', 'are you there']);
    assert.ok(d.shown.some((m) => m.problem?.code === 'copilotQuota'), 'the failure was shown');
    assert.equal(d.model.problem, undefined, 'and is over');
    assert.ok(d.states().includes('suspended'), 'the microphone was lost');
    assert.ok(d.shown.some((m) => m.snapshot?.paused.voice === true), 'the voice was paused');
  } finally {
    await d.close();
  }
});
