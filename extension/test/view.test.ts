// What is shown of a model.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Line, type Model, START } from '../src/model';
import { ERROR_CODES, STATES, type Snapshot, type State } from '../src/protocol.gen';
import { PANEL_COMMANDS, remedies } from '../src/remedies';
import { english } from '../src/text';
import { type Surroundings, labelOf, present, shownLine, statusOf } from '../src/view';

const around: Surroundings = {
  provider: 'local', model: 'Model', microphone: 'Mic', speaker: 'Speaker', pushToTalk: false, wakePhrase: '', context: [], trusted: true,
};

const inState = (state: State, over: Partial<Model> = {}, snapshot: Partial<Snapshot> = {}): Model => ({
  ...START,
  daemon: 'running',
  snapshot: {
    state, since: '', metadata: { sessionId: '' }, localizedLabel: `● ${state}`, queue: { count: 0, ids: [] }, session: { state: 'ready' },
    connection: { state: 'open', epoch: 1 }, seq: 3, ...snapshot,
  },
  ...over,
});

const commands = (m: Model): string[] => {
  const v = present(m, around, english);
  return [...(v.primary === undefined ? [] : [v.primary]), ...v.buttons].map((b) => b.command.replace('agentvoice.', ''));
};

test('the label is the daemon\'s, in its words and with its sign apart', () => {
  for (const state of STATES) {
    assert.deepEqual(labelOf(inState(state, {}, { localizedLabel: '⋯ Wartet auf Copilot' }), english), { glyph: '⋯', label: 'Wartet auf Copilot' });
  }
  assert.deepEqual(labelOf(START, english), { glyph: '○', label: 'Ready' });
  assert.equal(labelOf({ ...START, daemon: 'restarting' }, english).label, 'Restarting');
  assert.equal(labelOf({ ...START, daemon: 'failed' }, english).label, 'Not available');
});

test('that the microphone is open is said in exactly the states in which it is', () => {
  const open = STATES.filter((s) => present(inState(s), around, english).mic === 'open');
  assert.deepEqual(open, ['listening', 'processing', 'waitingForCopilot', 'speaking', 'interrupted']);
  assert.equal(present(inState('listening', { muted: true }), around, english).mic, 'muted');
  assert.equal(present(inState('suspended'), around, english).mic, 'paused');
  assert.equal(present(inState('listening'), { ...around, pushToTalk: true }, english).mic, 'waitsForKey');
  assert.equal(present(inState('listening', { held: true }), { ...around, pushToTalk: true }, english).mic, 'open');
  assert.equal(present(inState('idle'), { ...around, wakePhrase: 'okay copilot' }, english).mic, 'wake');
  assert.equal(present({ ...START }, { ...around, wakePhrase: 'okay copilot' }, english).mic, 'closed', 'no daemon, no microphone');
});

test('dead Start button: in every state without a conversation it is there', () => {
  const idle = [START, { ...START, starting: true }, { ...START, daemon: 'failed' as const }, { ...START, daemon: 'restarting' as const }, inState('idle'), inState('faulted')];
  for (const m of idle) {
    assert.ok(commands(m).includes('start'), JSON.stringify(m.daemon));
  }
});

test('the buttons are those that do something', () => {
  assert.deepEqual(commands(inState('listening')), ['toggleMute', 'pause', 'end']);
  assert.deepEqual(commands(inState('speaking')), ['toggleMute', 'stopSpeaking', 'pauseSpeech', 'end']);
  assert.deepEqual(commands(inState('waitingForCopilot')), ['toggleMute', 'stopSpeaking', 'end']);
  assert.deepEqual(commands(inState('suspended')), ['pause', 'end']);
  assert.deepEqual(commands(inState('listening', { canRetry: true })), ['toggleMute', 'pause', 'retry', 'end']);
});

test('every failure that may be shown has words for each of its buttons, and they are commands of the panel', () => {
  for (const code of [...ERROR_CODES, 'daemonMissing', 'daemonPlatform', 'daemonProtocol', 'daemonBroken', 'daemonGivenUp', 'untrusted', 'noSelection', 'unexpected'] as const) {
    for (const r of remedies(code, true, english)) {
      assert.notEqual(r.title, r.command, code);
      assert.ok(PANEL_COMMANDS.includes(r.command), r.command);
    }
  }
  assert.equal(remedies('copilotNoConsent', false, english)[0]?.command, 'agentvoice.allowCopilot');
  assert.equal(remedies('copilotNotInstalled', false, english)[0]?.command, 'agentvoice.installCopilot');
  assert.deepEqual(remedies('copilotTimeout', false, english), [], 'nothing to try again');
});

test('the particulars of a failure are set apart from its message', () => {
  const problem = { code: 'deviceUnavailable' as const, message: 'The device cannot be opened. (there is none)', remediation: 'Plug it in.', retryable: true, then: [] };
  const v = present(inState('faulted', { problem }), around, english).problem;
  assert.deepEqual([v?.message, v?.detail], ['The device cannot be opened.', 'there is none']);
});

const answer = (over: Partial<Line>): Line => ({
  id: 1, kind: 'speech', conversation: 1, turnId: 't', role: 'assistant', text: '🎉 done at last', final: true, at: 0, ...over,
});

test('what was heard of an interrupted answer is a place in the text, whatever characters it has', () => {
  const line = shownLine(answer({ cutOff: true, heardChars: 6 }), english);
  assert.equal(line.text.slice(0, line.heard), '🎉 done');
  assert.equal(line.note, 'Interrupted');
  assert.equal(shownLine(answer({ cutOff: true, heardChars: 0 }), english).note, 'Not heard');
  assert.equal(shownLine(answer({ cutOff: true, heardChars: 14 }), english).note, undefined, 'all of it was heard');
  assert.equal(shownLine(answer({ heardChars: 6 }), english).heard, undefined, 'it was not interrupted');
});

test('a caption is audible while the assistant speaks and is not held', () => {
  const caption = { turnId: 't', text: 'The parser', heardChars: 4 };
  assert.equal(present(inState('speaking', { caption }), around, english).caption?.audible, true);
  assert.equal(present(inState('speaking', { caption, speechPaused: true }), around, english).caption?.audible, false);
  assert.equal(present(inState('interrupted', { caption }), around, english).caption?.audible, false);
});

test('the status bar says state and microphone in words, and raises an alarm only for what needs the user', () => {
  const item = statusOf(inState('listening', {}, { localizedLabel: '● Listening' }), around, english);
  assert.deepEqual([item.text, item.accessible, item.alarm], ['$(mic-filled) Listening', 'Agent Voice: Listening, Microphone is on', 'none']);
  const approval = { callId: 'c', name: 'runTests', status: 'waitingForApproval' as const, destructive: false };
  assert.deepEqual([statusOf(inState('listening', { approval }), around, english).alarm, statusOf(inState('faulted'), around, english).alarm], ['warning', 'error']);
  assert.equal(statusOf(START, around, english).text, '$(mic) Agent Voice');
});

test('of a workspace that is not trusted nothing is offered to be sent', () => {
  assert.notEqual(present(START, { ...around, trusted: false }, english).contextOff, '');
});
