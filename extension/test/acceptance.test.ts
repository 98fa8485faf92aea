// The acceptance criteria of the conversation specification, by name, over the real wire, with exact
// virtual times. The scripts are testdata/script/ac-*.txt.

import assert from 'node:assert/strict';
import { test as nodeTest } from 'node:test';
import type { TurnParams } from '../src/protocol.gen';
import { type Assistant, Editor, at, cancellation, completed, says } from './editor';

/** Runs f with an editor, which it shuts down cleanly. */
async function withEditor(script: string, assistant: Assistant, f: (e: Editor) => Promise<void>): Promise<void> {
  const editor = await Editor.open(script, assistant);
  try {
    await f(editor);
    await editor.close();
  } finally {
    editor.kill();
  }
}

/** Timeout of a test, long enough for a slow machine. */
const test = (name: string, f: () => Promise<void>): void => void nodeTest(name, { timeout: 300_000 }, f);

const ends = (e: Editor): TurnParams[] => e.all('agentvoice.turn').filter((t) => t.event !== 'turn-started');

test('AC-001: startConversation leads Idle → Preparing → Listening within 500 ms', async () => {
  await withEditor('ac-001.txt', says('unused'), async (e) => {
    const snapshot = await e.request('conversation/start');
    assert.equal(snapshot.state, 'idle');
    await e.settledIn('listening');
    assert.deepEqual(e.steps(), [
      ['preparing', 120, 'session.ready'],
      ['listening', 300, 'audio.ready'],
    ]);
    assert.deepEqual(
      e.states().map((p) => [p.previousState, p.seq, p.localizedLabel]),
      [
        ['idle', 1, '⋯ Preparing'],
        ['preparing', 2, '● Listening'],
      ],
    );
  });
});

test('AC-002: a final transcript leads Listening → Processing and to one Copilot request', async () => {
  await withEditor('ac-002.txt', says('It is open.'), async (e) => {
    await e.request('conversation/start');
    await e.settledIn('speaking');
    await e.request('headless/advance', { ms: 1000 });
    assert.deepEqual(e.steps(), [
      ['preparing', 0, 'session.ready'],
      ['listening', 0, 'audio.ready'],
      ['analysing', 1150, 'stt.final'],
      ['waitingForCopilot', 1150, 'copilot.request'],
      ['generatingResponse', 1150, 'copilot.response'],
      ['speaking', 1150, 'tts.bufferReady'],
      ['listening', 2150, 'tts.complete'],
    ]);
    assert.equal(e.asked.length, 1);
    assert.deepEqual(e.asked[0]?.messages, [{ role: 'user', content: 'open the config', dictated: true }]);
    assert.equal(e.asked[0]?.attempt, 1);
    const heard = e.all('agentvoice.transcript').filter((t) => t.role === 'user');
    assert.deepEqual(
      heard.map((t) => [t.text, t.final]),
      [
        ['open the', false],
        ['open the config', true],
      ],
    );
  });
});

test('AC-003: Speaking begins when the first audio is buffered', async () => {
  await withEditor('ac-003.txt', says('The config is open. ', 'It has three keys.'), async (e) => {
    await e.request('conversation/start');
    await e.settledIn('listening', 2);
    assert.deepEqual(e.steps().slice(1), [
      ['listening', 0, 'audio.ready'],
      ['analysing', 0, 'stt.final'],
      ['waitingForCopilot', 0, 'copilot.request'],
      ['generatingResponse', 0, 'copilot.response'],
      ['speaking', 180, 'tts.bufferReady'],
      ['listening', 1080, 'tts.complete'],
    ]);
    const speaking = e.states().find((p) => p.state === 'speaking');
    assert.equal(speaking?.localizedLabel, '● Speaking');
    const [turn] = ends(e);
    assert.deepEqual([turn?.event, turn?.outcome, turn?.role, turn?.durationMs], ['turn-completed', 'answered', 'assistant', 1080]);
  });
});

test('AC-004: an interruption leads Speaking → Interrupted within 150 ms and to Listening within 400 ms', async () => {
  await withEditor('ac-004.txt', says('The parser reads tokens and builds a tree.'), async (e) => {
    await e.request('conversation/start');
        await e.until('the second question', () => e.asked.length === 2);
    const steps = e.steps();
    const from = steps.findIndex(([state]) => state === 'speaking');
    assert.deepEqual(steps.slice(from, from + 4), [
      ['speaking', 100, 'tts.bufferReady'],
      ['interrupted', 1100, 'user.interrupt'], // speech started at 1100 ms
      ['listening', 1350, 'interrupt.cleared'], // 250 ms of speech is not a cough
      ['analysing', 1600, 'stt.final'],
    ]);
    const [cut] = ends(e);
    assert.deepEqual([cut?.event, cut?.interruptionCount], ['turn-interrupted', 1]);
    // The user heard one of five seconds, so Copilot is told a prefix of its answer.
    const told = e.asked[1]?.messages.find((m) => m.role === 'assistant')?.content ?? '';
    assert.ok(told.length > 0 && told.length < 'The parser reads tokens and builds a tree.'.length, told);
    assert.ok('The parser reads tokens and builds a tree.'.startsWith(told), told);
  });
});

test('AC-005: a renewal suspends the conversation, which goes on with its turn', async () => {
  let resumed = (): void => {};
  const suspension = new Promise<void>((resolve) => (resumed = resolve));
  const assistant: Assistant = async (_params, say) => {
    await suspension;
    await say('It reads tokens.');
    return completed;
  };
  await withEditor('ac-005.txt', assistant, async (e) => {
    await e.request('conversation/start');
    await e.settledIn('waitingForCopilot', 2);
    resumed();
    await e.settledIn('listening', 2);
    assert.deepEqual(e.steps().slice(1), [
      ['listening', 0, 'audio.ready'],
      ['analysing', 0, 'stt.final'],
      ['waitingForCopilot', 0, 'copilot.request'],
      ['suspended', 500, 'session.renewal'],
      ['waitingForCopilot', 2500, 'session.resume'],
      ['generatingResponse', 2500, 'copilot.response'],
      ['speaking', 2600, 'tts.bufferReady'],
      ['listening', 3000, 'tts.complete'],
    ]);
    assert.equal(e.asked.length, 1, 'nothing is asked twice');
    const suspended = e.states().find((p) => p.state === 'suspended');
    assert.equal(suspended?.metadata.reason, 'session-renewal');
    const turns = new Set(e.states().flatMap((p) => p.turnId ?? []));
    assert.deepEqual([...turns], [e.asked[0]?.turnId], 'the turn is kept');
    assert.deepEqual(
      ends(e).map((t) => t.outcome),
      ['answered'],
    );
  });
});

test('AC-006: an authentication failure leads to Faulted, a remediation, and Terminating', async () => {
  await withEditor('ac-006.txt', says('unused'), async (e) => {
    await e.request('conversation/start');
    await e.settledIn('idle');
    assert.deepEqual(e.steps().slice(1), [
      ['listening', 0, 'audio.ready'],
      ['faulted', 1000, 'error'],
      ['terminating', 1000, 'fatal'],
      ['idle', 1030, 'reset'],
    ]);
    const errors = e.all('agentvoice.error');
    assert.equal(errors.length, 1);
    assert.equal(errors[0]?.code, 'authentication');
    assert.notEqual(errors[0]?.remediation, '');
    assert.equal(errors[0]?.retryable, false);
    const order = e.published.map((p) => (p.method === 'agentvoice.state' ? p.params.state : p.method));
    assert.ok(order.indexOf('agentvoice.error') < order.indexOf('terminating'), 'the remediation comes before the end');
  });
});

test('AC-007: turns in quick succession are unique, ordered, and Listening comes between them', async () => {
  const release: (() => void)[] = [];
  const assistant: Assistant = async (params, say) => {
    const question = params.messages.at(-1)?.content ?? '';
    if (question === 'third question') {
      await new Promise<void>((resolve) => release.push(resolve)); // while the fourth is typed
    }
    await say(`The answer to the ${question}.`);
    return completed;
  };
  await withEditor('ac-007.txt', assistant, async (e) => {
    await e.request('conversation/start');
    await e.until('the third question', () => release.length === 1);
    await e.request('conversation/sendText', { text: 'fourth question' });
    await e.until('the fourth question', () =>
      e.all('agentvoice.transcript').some((t) => t.final && t.text === 'fourth question'),
    );
    release.forEach((f) => f());
    await e.until('the end of four turns', () => ends(e).length === 4);

    assert.deepEqual(
      e.asked.map((p) => p.messages.at(-1)?.content),
      ['first question', 'second question', 'third question', 'fourth question'],
    );
    const turns = e.asked.map((p) => p.turnId);
    assert.deepEqual(turns, ['turn-1', 'turn-2', 'turn-3', 'turn-4']);
    assert.deepEqual(
      ends(e).map((t) => [t.turnId, t.event, at(t.timestamp)]),
      [
        ['turn-1', 'turn-interrupted', 300],
        ['turn-2', 'turn-interrupted', 620],
        ['turn-3', 'turn-completed', 1790],
        ['turn-4', 'turn-completed', 2840],
      ],
    );
    // Listening comes between the last state of a turn and the first Processing of the next.
    const states = e.states();
    for (const [i, p] of states.entries()) {
      if (p.substate === 'analysing') {
        assert.equal(p.previousState, 'listening');
        assert.equal(states[i - 1]?.state, 'listening');
      }
    }
  });
});

test('AC-008: Copilot that does not answer is given up after 8 s, in Listening, and can be asked again', async () => {
  let cancel = (): void => {};
  const cancelled = new Promise<void>((resolve) => (cancel = resolve));
  const assistant: Assistant = async (params, say, token) => {
    if (params.requestId === 'req-1') {
      await cancellation(token);
      cancel();
      return { status: 'cancelled' };
    }
    await say('It reads tokens.');
    return completed;
  };
  await withEditor('ac-008.txt', assistant, async (e) => {
    await e.request('conversation/start');
    await e.settledIn('listening', 2);
    assert.deepEqual(e.steps().slice(1), [
      ['listening', 0, 'audio.ready'],
      ['analysing', 0, 'stt.final'],
      ['waitingForCopilot', 0, 'copilot.request'],
      ['listening', 8000, 'copilot.timeout'],
    ]);
    const [told] = e.all('agentvoice.notification');
    assert.equal(told?.code, 'copilotTimeout');
    assert.equal(told?.severity, 'warning');

    // The explanation is spoken, then the turn ends.
    await e.request('headless/advance', { ms: 1100 });
    assert.deepEqual(e.steps().slice(-2), [
      ['speaking', 8100, 'tts.bufferReady'],
      ['listening', 9100, 'tts.complete'],
    ]);
    assert.deepEqual(
      ends(e).map((t) => [t.outcome, t.code]),
      [['failed', 'copilotTimeout']],
    );
    await cancelled; // the editor learns that the request was cancelled

    const again = await e.request('conversation/retry');
    assert.equal(again.substate, 'analysing');
    await e.until('the second request', () => e.asked.length === 2);
    assert.deepEqual(e.asked[1]?.messages.at(-1), { role: 'user', content: 'explain the parser', dictated: true });
  });
});
