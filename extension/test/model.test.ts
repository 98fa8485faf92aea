// How notifications change the model. Each failure seen in comparable extensions has a test here or in
// conversation.test.ts, by name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Change, type Model, START, reduce } from '../src/model';
import type { Problem } from '../src/problem';
import { hasContinued } from '../src/transcript';
import type { Snapshot, State, StateParams, TranscriptEntry, TranscriptParams, TurnParams } from '../src/protocol.gen';

const at = Date.parse('2025-01-01T00:00:00Z');

const snapshot = (state: State, seq = 0): Snapshot => ({
  state, since: '2025-01-01T00:00:00.000Z', metadata: { sessionId: 's' }, localizedLabel: `● ${state}`, queue: { count: 0, ids: [] }, paused: { conversation: false, voice: false },
  session: { state: 'ready' }, connection: { state: 'open', epoch: 1 }, seq,
  microphone: { open: true, muted: false, wake: false, mode: 'automatic', seq: 1 },
});

const state = (to: State, over: Partial<StateParams> = {}): Change => ({
  is: 'state',
  params: {
    state: to, previousState: 'listening', localizedLabel: `● ${to}`, since: '2025-01-01T00:00:01.000Z', cause: 'stt.final',
    queue: { count: 0, ids: [] }, seq: 1, metadata: { copilotRequestId: null, interruptionCount: 0 }, ...over,
  },
});

const transcript = (over: Partial<TranscriptParams> = {}): Change => ({
  is: 'transcript', at, params: { turnId: 'turn-1', role: 'user', text: 'why', final: true, seq: 1, ...over },
});

const turn = (over: Partial<TurnParams>): Change => ({
  is: 'turn', params: { event: 'turn-completed', turnId: 'turn-1', role: 'assistant', timestamp: '2025-01-01T00:00:02.000Z', ...over },
});

const problem = (code: Problem['code'], message: string = code): Change => ({
  is: 'problem', problem: { code, message, remediation: 'do it', retryable: true },
});

const after = (...changes: Change[]): Model =>
  changes.reduce(reduce, reduce(START, { is: 'attached', snapshot: snapshot('idle'), capabilities: {}, at }));

test('an utterance that waits is counted without a transition', () => {
  const m = after(state('speaking'), { is: 'queue', params: { count: 1, ids: ['utt-7'] } });
  assert.equal(m.snapshot?.queue.count, 1);
  assert.equal(m.snapshot?.state, 'speaking');
});

test('words so far take the place of the last ones; a final line stays', () => {
  const m = after(transcript({ text: 'why does', final: false }), transcript({ text: 'why does it fail', final: true, seq: 2 }));
  assert.deepEqual(m.lines.map((l) => [l.text, l.final]), [['why does it fail', true]]);
  const two = reduce(m, transcript({ turnId: 'turn-2', text: 'and now', final: false, seq: 3 }));
  assert.deepEqual(two.lines.map((l) => l.text), ['why does it fail', 'and now']);
});

test('words that interrupt are one line, though they change their turn when they are understood', () => {
  const m = after(
    transcript({ role: 'assistant', text: 'The parser', final: false }),
    transcript({ text: 'go for', final: false, seq: 2 }),
    turn({ event: 'turn-interrupted', outcome: 'interrupted' }),
    turn({ event: 'turn-started', turnId: 'turn-2', role: 'user' }),
    transcript({ turnId: 'turn-2', text: 'go forward', final: true, seq: 3 }),
  );
  assert.deepEqual(m.lines.map((l) => [l.turnId, l.role, l.text]), [['turn-1', 'assistant', 'The parser'], ['turn-2', 'user', 'go forward']]);
});

test('interruption event without its turn: it marks the turn that it names, though the next one runs', () => {
  const m = after(
    transcript({ role: 'assistant', text: 'The parser reads tokens.', final: true }),
    turn({ event: 'turn-started', turnId: 'turn-2', role: 'user' }),
    transcript({ turnId: 'turn-2', text: 'wait', final: false, seq: 2 }),
    state('listening', { turnId: 'turn-2' }),
    turn({ event: 'turn-interrupted', outcome: 'interrupted', interruptionCount: 1 }),
  );
  assert.deepEqual(m.lines.map((l) => [l.turnId, l.cutOff === true]), [['turn-1', true], ['turn-2', false]]);
  const told = reduce(m, {
    is: 'heard',
    entries: [{ turnId: 'turn-1', role: 'assistant', text: 'The parser reads tokens.', final: true, seq: 1, heardChars: 10, timestamp: '' }],
  });
  assert.equal(told.lines[0]?.heardChars, 10);
});

test('utterance lost after a failed reply: the question stays, is marked, and can be asked again', () => {
  const m = after(turn({ event: 'turn-started', role: 'user' }), transcript(), turn({ outcome: 'failed', code: 'copilotTimeout' }));
  assert.deepEqual(m.lines.map((l) => [l.text, l.failed]), [['why', 'copilotTimeout']]);
  assert.equal(m.canRetry, true);
  assert.equal(reduce(m, turn({ event: 'turn-started', turnId: 'turn-2', role: 'user' })).canRetry, false);
});

test('cut answer: it is marked with the reason, and its question counts as answered', () => {
  const begun = [turn({ event: 'turn-started', role: 'user' }), transcript(), transcript({ role: 'assistant', text: 'You may delete', final: true, seq: 2 })];
  for (const end of ['length', 'turnLimit', 'filter', 'stall', 'interrupted'] as const) {
    const m = after(...begun, turn({ role: 'assistant', outcome: 'failed', code: 'answerCutOff', end }));
    assert.deepEqual(m.lines.map((l) => [l.failed, l.cut]), [[undefined, undefined], [undefined, end]]);
    assert.equal(m.canRetry, true);
  }
  for (const end of ['whole', 'unknown'] as const) {
    const m = after(...begun, turn({ role: 'assistant', outcome: 'answered', end }));
    assert.deepEqual(m.lines.map((l) => [l.failed, l.cut]), [[undefined, undefined], [undefined, undefined]]);
  }
  const empty = after(...begun.slice(0, 2), turn({ role: 'user', outcome: 'failed', code: 'answerCutLength', end: 'length' }));
  assert.deepEqual(empty.lines.map((l) => [l.failed, l.cut]), [['answerCutLength', undefined]]);
});

test('cause hidden behind a general message: the cause stays in front, what followed is behind it', () => {
  const m = after(problem('authentication', 'The key was not accepted.'), problem('sessionFailed', 'The session failed.'), problem('breakerOpen', 'It failed often.'));
  assert.equal(m.problem?.code, 'authentication');
  assert.equal(m.problem?.message, 'The key was not accepted.');
  assert.deepEqual(m.problem?.then, ['The session failed.', 'It failed often.']);
  // A cause that follows the general message replaces it.
  assert.equal(after(problem('sessionFailed'), problem('authentication')).problem?.code, 'authentication');
  // A cause does not replace another one.
  assert.equal(after(problem('authentication'), problem('deviceLost')).problem?.code, 'deviceLost');
  // A failed answer is not the cause of the service's failure.
  const now = after(problem('copilotQuota'), problem('connectionFailed', 'The voice service cannot be reached.')).problem;
  assert.deepEqual([now?.code, now?.then], ['connectionFailed', []]);
});

test('a failure that is only said is shown with its code, and what said more is not shortened', () => {
  const said: Change = { is: 'notification', params: { message: 'Copilot is slow.', severity: 'warning', kind: 'message', code: 'copilotTimeout' } };
  assert.deepEqual(after(said).problem, { code: 'copilotTimeout', message: 'Copilot is slow.', remediation: '', retryable: true, then: [] });
  assert.equal(after(problem('copilotTimeout', 'It took 8 s.'), said).problem?.message, 'It took 8 s.');
  const progress: Change = { is: 'notification', params: { message: 'Loading', severity: 'info', kind: 'modelLoading', progress: 0.5 } };
  assert.equal(after(progress).problem, undefined);
  assert.equal(after(progress).notice?.progress, 0.5);
});

test('a problem ends with what ends it: the next question, or a conversation that works', () => {
  assert.equal(after(problem('copilotQuota'), turn({ event: 'turn-started', role: 'user' })).problem, undefined);
  assert.equal(after(problem('deviceLost'), turn({ event: 'turn-started', role: 'user' })).problem?.code, 'deviceLost');
  assert.equal(after(problem('deviceLost'), state('listening', { cause: 'audio.ready' })).problem, undefined);
  assert.equal(
    after(problem('deviceLost'), state('listening', { cause: 'audio.ready', metadata: { copilotRequestId: null, interruptionCount: 0, reason: 'device' } })).problem?.code,
    'deviceLost', 'the speaker is lost',
  );
  assert.equal(after(problem('deviceLost'), state('suspended', { cause: 'device.lost' }), state('speaking', { cause: 'device.restored' })).problem, undefined);
  const oneBack = { state: 'listening' as const, cause: 'device.restored' as const };
  assert.equal(after(problem('deviceLost'), state('listening', { ...oneBack, metadata: { copilotRequestId: null, interruptionCount: 0, reason: 'device' } })).problem?.code, 'deviceLost');
  const back = (code?: 'deviceLost'): Change => ({ is: 'notification', params: { message: 'The speaker is back.', severity: 'info', kind: 'message', ...(code === undefined ? {} : { code }) } });
  assert.equal(after(problem('deviceLost'), back()).problem?.code, 'deviceLost', 'the microphone is still lost');
  assert.equal(after(problem('deviceLost'), back('deviceLost')).problem, undefined, 'nothing is lost, and the state need not change');
  assert.equal(after(problem('copilotQuota'), back('deviceLost')).problem?.code, 'copilotQuota');
  assert.equal(after(problem('authentication'), state('terminating', { cause: 'fatal' }), state('idle', { cause: 'reset' })).problem?.code, 'authentication');
});

test('a fault of the microphone is a problem with its remedy until the microphone works', () => {
  const told: Change = { is: 'notification', params: { message: 'The microphone is muted.', severity: 'warning', kind: 'message', code: 'microphoneMuted', remediation: 'Unmute it.' } };
  const mic = (seq: number, fault?: 'microphoneMuted'): Change => ({ is: 'microphone', params: { open: true, muted: false, wake: false, mode: 'automatic', seq, ...(fault === undefined ? {} : { fault }) } });
  const dead = [state('listening'), mic(100, 'microphoneMuted'), told];
  assert.deepEqual([after(...dead).problem?.code, after(...dead).problem?.remediation], ['microphoneMuted', 'Unmute it.']);
  assert.equal(after(...dead, turn({ event: 'turn-started', role: 'user' })).problem?.code, 'microphoneMuted');
  assert.equal(after(...dead, mic(101)).problem, undefined);
  assert.equal(after(state('listening'), problem('copilotQuota'), mic(101)).problem?.code, 'copilotQuota');
});

test('an answer to a request that comes late does not bring an old state back', () => {
  const m = after(state('speaking', { seq: 7 }), { is: 'snapshot', snapshot: snapshot('listening', 6) });
  assert.equal(m.snapshot?.state, 'speaking');
  assert.equal(reduce(m, { is: 'snapshot', snapshot: snapshot('listening', 7) }).snapshot?.state, 'listening');
});

test('a client that fell behind goes on from the new snapshot', () => {
  const m = after(state('speaking', { seq: 7 }), {
    is: 'notification', params: { message: '', severity: 'info', kind: 'resync', snapshot: snapshot('listening', 20) },
  });
  assert.deepEqual([m.snapshot?.state, m.snapshot?.seq, m.notice], ['listening', 20, undefined]);
});

test('after a restart the state is the new daemon\'s, and the old transcript is kept above a line', () => {
  const before = after(state('speaking', { turnId: 'turn-1' }), transcript(), transcript({ role: 'assistant', text: 'The pars', final: false, seq: 2 }));
  const gone = reduce(before, { is: 'daemon', phase: 'restarting', restarts: 1 });
  assert.deepEqual([gone.snapshot, gone.caption, gone.approval, gone.canRetry], [undefined, undefined, undefined, false]);
  const m = reduce(gone, { is: 'attached', snapshot: snapshot('idle'), capabilities: {}, at, divider: 'A new conversation.' });
  assert.equal(m.snapshot?.state, 'idle');
  assert.deepEqual(m.lines.map((l) => [l.kind, l.text, l.final, l.cutOff === true]), [
    ['speech', 'why', true, false],
    ['speech', 'The pars', true, true],
    ['divider', 'A new conversation.', true, false],
  ]);
  // The new daemon's first turn differs from the old one's.
  const next = reduce(m, transcript({ text: 'hello' }));
  assert.deepEqual(next.lines.filter((l) => l.kind === 'speech').map((l) => l.text), ['why', 'The pars', 'hello']);
});

test('a call waits with its exact input until it is decided, and is one line', () => {
  const call = { callId: 'c', turnId: 'turn-1', requestId: 'r', name: 'runTests' } as const;
  const m = after(
    { is: 'tool', at, params: { ...call, status: 'requested', destructive: true, input: { pattern: 'old' } } },
    { is: 'tool', at, params: { ...call, status: 'waitingForApproval', question: 'May I?', destructive: true, input: { pattern: 'parser' } } },
  );
  assert.deepEqual(m.approval, { callId: 'c', name: 'runTests', status: 'waitingForApproval', destructive: true, input: { pattern: 'parser' }, question: 'May I?' });
  const ran = [{ status: 'running' as const }, { status: 'completed' as const }].map((s): Change => ({ is: 'tool', at, params: { ...call, ...s } })).reduce(reduce, m);
  assert.equal(ran.approval, undefined);
  assert.deepEqual(ran.lines.map((l) => [l.kind, l.call?.status, l.final]), [['tool', 'completed', true]]);
});

test('a caption is there while something is said, and no longer', () => {
  const m = after(state('speaking'), { is: 'caption', params: { turnId: 'turn-1', text: 'The parser', heardChars: 3 } });
  assert.equal(m.caption?.heardChars, 3);
  assert.equal(reduce(m, state('interrupted')).caption?.text, 'The parser');
  assert.equal(reduce(m, state('listening')).caption, undefined);
});

test('a segment that is spoken is found in the transcript: where it is, also of two that are the same', () => {
  const answer = transcript({ role: 'assistant', turnId: 'turn-1', text: 'It fails. Why? It fails. 🎉 Done.' });
  const spoken = (text: string, heardChars = 0, turnId = 'turn-1'): Change => ({ is: 'caption', params: { turnId, text, heardChars } });
  const place = (...changes: Change[]): (number | undefined)[] => {
    const { caption, lines } = after(state('listening'), answer, state('speaking'), ...changes);
    return [caption?.line === undefined ? undefined : lines.findIndex((l) => l.id === caption.line), caption?.start];
  };
  assert.deepEqual(place(spoken('It fails.')), [0, 0]);
  assert.deepEqual(place(spoken('It fails.'), spoken('It fails.', 9)), [0, 0], 'it was heard');
  assert.deepEqual(place(spoken('It fails.'), spoken(' Why?'), spoken(' It fails.')), [0, 14], 'the second one');
  assert.deepEqual(place(spoken('It fails.', 0, 'turn-2')), [0, 0], 'the answer is repeated');
  assert.deepEqual(place(spoken('One moment.')), [undefined, undefined], 'a notice');
});

test('a transcript that was cleared can be had back', () => {
  const full = after(state('listening'), transcript({ text: 'one', seq: 1 }));
  const later = reduce(reduce(full, { is: 'clear' }), transcript({ turnId: 'turn-2', text: 'two', seq: 2 }));
  assert.deepEqual(later.lines.map((l) => l.text), ['two']);
  const back = reduce(later, { is: 'restored', lines: full.lines, clearedSeq: full.clearedSeq });
  assert.deepEqual([back.lines.map((l) => l.text), back.clearedSeq], [['one', 'two'], full.clearedSeq]);
});

test('clearing the transcript leaves what is being said', () => {
  const m = after(transcript(), transcript({ turnId: 'turn-2', text: 'and', final: false, seq: 2 }), { is: 'clear' });
  assert.deepEqual(m.lines.map((l) => l.text), ['and']);
});

test('the transcript is bounded', () => {
  let m = after();
  for (let i = 0; i < 1000; i++) {
    m = reduce(m, transcript({ turnId: `turn-${i}`, text: `${i}`, seq: i }));
  }
  assert.equal(m.lines.length, 400);
  assert.equal(m.lines.at(-1)?.text, '999');
});

const entry = (over: Partial<TranscriptEntry>): TranscriptEntry => ({
  turnId: 'turn-1', role: 'user', text: 'why', final: true, seq: 1, timestamp: '2025-01-01T00:00:01.000Z', ...over,
});

const resync = (over: Partial<Snapshot> = {}): Change => ({
  is: 'notification', params: { message: '', severity: 'info', kind: 'resync', snapshot: { ...snapshot('listening', 9), ...over } },
});

const waiting = (callId: string): Change => ({
  is: 'tool', at, params: { callId, turnId: 'turn-1', requestId: 'request-1', name: 'delete_file', status: 'waitingForApproval', question: 'May I?' },
});

test('new text only: it is appended to the words that it continues', () => {
  const m = after(
    transcript({ role: 'assistant', text: 'The ', final: false, seq: 1 }),
    transcript({ role: 'assistant', text: 'parser', final: false, seq: 2, after: 1 }),
    transcript({ role: 'assistant', text: ' fails.', final: false, seq: 4, after: 3 }), // 3 was missed
  );
  assert.deepEqual(m.lines.map((l) => l.text), ['The parser']);
  assert.equal(hasContinued(m, { turnId: 'turn-1', role: 'assistant', text: '', final: false, seq: 4, after: 3 }), false);
  assert.equal(hasContinued(m, { turnId: 'turn-1', role: 'assistant', text: '', final: false, seq: 3, after: 2 }), true);
});

test('an undone correction: the line shows the words as heard', () => {
  const corrected = transcript({ text: 'why does splitFields fail', heard: 'why does split fields fail', correction: 'utt-1', seq: 1 });
  const later = [transcript({ turnId: 'turn-2', text: 'and now', seq: 2 })];
  const undone = transcript({ text: 'why does split fields fail', seq: 3, replaces: 1 });
  const heard = [['why does split fields fail', undefined, undefined, 3], ['and now', undefined, undefined, 2]];
  const shown = (m: Model) => m.lines.map((l) => [l.text, l.recognised, l.correction, l.seq]);
  assert.deepEqual(shown(after(corrected))[0], ['why does splitFields fail', 'why does split fields fail', 'utt-1', 1]);
  assert.deepEqual(shown(after(corrected, ...later, undone)), heard);
  assert.deepEqual(shown(after(...later, undone)), [['and now', undefined, undefined, 2]], 'the line was cleared');
  const entries = [entry({ text: 'why does split fields fail', seq: 3 }), entry({ turnId: 'turn-2', text: 'and now', seq: 2 })];
  assert.deepEqual(shown(after(corrected, ...later, resync(), { is: 'rebuilt', at, transcript: { entries } })), heard, 'the window fell behind');
});

test('a sentence with a pause: one line shows the whole, and what was recognised of its parts', () => {
  const parts = [transcript({ text: 'Which tester?', seq: 1 }), transcript({ text: 'Fail', final: false, seq: 2 })];
  const whole = transcript({ text: 'Which tests are failing?', heard: 'Which tester? Failing.', seq: 3, replaces: 1 });
  const shown = (m: Model) => m.lines.map((l) => [l.text, l.recognised, l.final, l.seq]);
  assert.deepEqual(shown(after(...parts, whole)), [['Which tests are failing?', 'Which tester? Failing.', true, 3]]);
  assert.deepEqual(shown(after(parts[1]!, whole)), [['Which tests are failing?', 'Which tester? Failing.', true, 3]], 'the first part was cleared');
  const undone = transcript({ text: 'Which tester?', seq: 4, replaces: 1 });
  const other = transcript({ turnId: 'turn-2', text: 'And', final: false, seq: 3 });
  assert.deepEqual(shown(after(parts[0]!, other, undone)).map((l) => l[0]), ['Which tester?', 'And'], 'what is being said stays');
});

test('a window that fell behind has the words that it missed, in their order, and none that were taken back', () => {
  const m = after(
    transcript({ text: 'why', seq: 1 }),
    transcript({ role: 'assistant', text: 'Because', final: false, seq: 2 }),
    transcript({ turnId: 'turn-1', text: 'hm', final: false, seq: 3 }),
    resync(),
    {
      is: 'rebuilt', at,
      transcript: {
        entries: [
          entry({ seq: 1 }), entry({ role: 'assistant', text: 'Because it fails.', seq: 5, heardChars: 7 }),
          entry({ turnId: 'turn-2', text: 'and now', seq: 6 }), entry({ turnId: 'turn-2', role: 'assistant', text: 'Now', final: false, seq: 7 }),
        ],
      },
    },
    transcript({ turnId: 'turn-2', role: 'assistant', text: ' it works.', final: false, seq: 8, after: 7 }),
  );
  assert.deepEqual(m.lines.map((l) => [l.turnId, l.role, l.text, l.heardChars]), [
    ['turn-1', 'user', 'why', undefined], ['turn-1', 'assistant', 'Because it fails.', 7], ['turn-2', 'user', 'and now', undefined],
    ['turn-2', 'assistant', 'Now it works.', undefined],
  ]);
});

test('a window that fell behind drops the approval that is over, and has the one that waits', () => {
  const one = after(waiting('call-1'), resync());
  assert.equal(one.approval, undefined);
  const other = reduce(after(waiting('call-1'), resync({ metadata: { sessionId: 's', pendingActions: ['call-2'] } })), {
    is: 'rebuilt', at,
    transcript: {
      entries: [],
      tools: [
        { callId: 'call-1', turnId: 'turn-1', requestId: 'request-1', name: 'delete_file', status: 'rejected' },
        { callId: 'call-2', turnId: 'turn-1', requestId: 'request-1', name: 'runTests', status: 'waitingForApproval', question: 'May I run them?' },
      ],
    },
  });
  assert.equal(other.approval?.question, 'May I run them?');
  assert.deepEqual(other.lines.map((l) => [l.call?.callId, l.call?.status]), [['call-1', 'rejected'], ['call-2', 'waitingForApproval']]);
});

test('a window that fell behind does not bring back what was cleared', () => {
  const m = after(
    transcript({ seq: 1 }), { is: 'clear' }, resync(),
    { is: 'rebuilt', at, transcript: { entries: [entry({ seq: 1 }), entry({ turnId: 'turn-2', text: 'and now', seq: 2 })] } },
  );
  assert.deepEqual(m.lines.map((l) => l.text), ['and now']);
});

test('a window that missed the end of a conversation begins another with what is said in the next', () => {
  const m = after(
    transcript({ text: 'why', seq: 1 }), resync(),
    { is: 'rebuilt', at, transcript: { entries: [entry({ text: 'hello', seq: 12 })] } },
  );
  assert.deepEqual(m.lines.map((l) => l.text), ['why', 'hello']);
  assert.notEqual(m.lines[0]?.conversation, m.lines[1]?.conversation);
});

test('a quota that was spent is no problem any more when an answer comes: it is not shown, and the question that was asked again is answered', () => {
  for (const code of ['copilotQuota', 'rateLimited'] as const) {
    const failed = after(turn({ event: 'turn-started' }), transcript(), turn({ outcome: 'failed', code }), problem(code));
    assert.equal(failed.problem?.code, code);
    const again = [turn({ event: 'turn-started', turnId: 'turn-2' }), turn({ turnId: 'turn-2', outcome: 'answered' })];
    assert.equal(reduce(failed, again[0]!).problem, undefined, `${code}: the next question`);
    // The service reported it once more before it answered.
    const answered = [again[0]!, problem(code), again[1]!].reduce(reduce, failed);
    assert.equal(answered.problem, undefined, `${code}: an answer`);
    assert.deepEqual([answered.lines[0]?.failed, answered.canRetry], [undefined, false], code);
  }
  const other = after(turn({ event: 'turn-started' }), transcript(), turn({ outcome: 'failed', code: 'copilotQuota' }),
    turn({ event: 'turn-started', turnId: 'turn-2' }), transcript({ turnId: 'turn-2', text: 'another' }), turn({ turnId: 'turn-2', outcome: 'answered' }));
  assert.equal(other.lines[0]?.failed, 'copilotQuota', 'another question was answered, and not this one');
  const quota = after(state('listening'), problem('copilotQuota'));
  const suspended = (reason: 'connection' | 'user'): Model =>
    reduce(quota, state('suspended', { metadata: { copilotRequestId: null, interruptionCount: 0, reason } }));
  assert.deepEqual([suspended('connection').problem, suspended('user').problem?.code], [undefined, 'copilotQuota'], 'a lost connection is another matter');
  for (const code of ['deviceLost', 'toolFailed', 'speechFailed'] as const) {
    assert.equal(after(turn({ event: 'turn-started' }), problem(code), turn({ outcome: 'answered' })).problem?.code, code, 'an answer does not mend it');
  }
});
