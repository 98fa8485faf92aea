// How a model is displayed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Change, type Model, START, mayHear, reduce } from '../src/model';
import type { Line } from '../src/transcript';
import { ERROR_CODES, STATES, type Microphone, type Snapshot, type State } from '../src/protocol.gen';
import { PANEL_COMMANDS, remedies } from '../src/remedies';
import { english } from '../src/text';
import { type ShownLine, type Surroundings, labelOf, present, shownLine, shownLines, statusOf } from '../src/view';
import { visible } from '../src/shownCall';

const around: Surroundings = {
  provider: 'local', model: 'Model', microphone: 'Mic', speaker: 'Speaker', context: [], trusted: true,
};

const statusIn = (m: Model) => statusOf(present(m, around, english), english);

const closed: Microphone = { open: false, muted: false, wake: false, mode: 'automatic', seq: 1 };

const heard = (over: Partial<Microphone>): Partial<Snapshot> => ({ microphone: { ...closed, open: true, ...over } });

const inState = (state: State, over: Partial<Model> = {}, snapshot: Partial<Snapshot> = {}): Model => ({
  ...START,
  daemon: 'running',
  snapshot: {
    state, since: '', metadata: { sessionId: '' }, localizedLabel: `● ${state}`, queue: { count: 0, ids: [] }, paused: { conversation: false, voice: false }, session: { state: 'ready' },
    connection: { state: 'open', epoch: 1 }, microphone: { ...closed, open: !['idle', 'preparing', 'faulted', 'terminating'].includes(state) }, seq: 3, ...snapshot,
  },
  ...over,
});

const commands = (m: Model): string[] => {
  const v = present(m, around, english);
  return [...(v.primary === undefined ? [] : [v.primary]), ...v.buttons].filter((b) => b.enabled).map((b) => b.command.replace('agentvoice.', ''));
};

test('the label is the daemon\'s, in its words and with its sign apart', () => {
  for (const state of STATES) {
    assert.deepEqual(labelOf(inState(state, {}, { localizedLabel: '⋯ Wartet auf Copilot' }), english), { glyph: '⋯', label: 'Wartet auf Copilot' });
  }
  assert.deepEqual(labelOf(START, english), { glyph: '○', label: 'Ready' });
  assert.equal(labelOf({ ...START, daemon: 'restarting' }, english).label, 'Restarting');
  assert.equal(labelOf({ ...START, daemon: 'failed' }, english).label, 'Not available');
});

test('what is shown of the microphone is what the daemon\'s snapshot says', () => {
  const mic = (state: State, over: Partial<Microphone>, model: Partial<Model> = {}): string => present(inState(state, model, heard(over)), around, english).mic;
  for (const state of STATES) {
    assert.equal(mic(state, { muted: true, mutedBy: 'user' }), 'muted', state);
    if (state !== 'suspended') {
      assert.equal(mic(state, {}), 'open', state);
      assert.equal(mic(state, { open: false }), 'closed', state);
      assert.equal(mic(state, { wake: true }), 'wake', state);
    }
  }
  assert.equal(mic('suspended', {}), 'paused');
  assert.equal(mic('listening', { mode: 'pushToTalk' }), 'waitsForKey');
  assert.equal(mic('listening', { mode: 'pushToTalk' }, { held: true }), 'open');
});

test('nothing looks as if it listened while the user is muted', () => {
  const tone = (over: Partial<Microphone>): string => present(inState('listening', {}, heard(over)), around, english).tone;
  assert.equal(tone({}), 'listening');
  assert.equal(tone({ muted: true, mutedBy: 'user' }), 'paused');
});

test('a microphone that is not heard says why, and nobody is asked to speak into it', () => {
  const shown = (over: Partial<Microphone>): string[] => {
    const { micText, hint } = present(inState('listening', {}, heard(over)), around, english);
    return [micText, hint];
  };
  assert.deepEqual(shown({}), ['Microphone is on', 'Go ahead, I’m listening.']);
  assert.deepEqual(shown({ fault: 'microphoneMuted' }), ['Microphone is muted in the sound settings', 'You can’t be heard.']);
  assert.deepEqual(shown({ fault: 'microphoneSilent' }), ['Microphone delivers no sound', 'You can’t be heard.']);
  assert.deepEqual(shown({ fault: 'microphoneClips' }), ['Microphone is too loud', 'Go ahead, I’m listening.']);
  assert.deepEqual(shown({ fault: 'microphoneQuiet' }), ['Microphone is too quiet', 'Go ahead, I’m listening.']);
  assert.equal(shown({ fault: 'microphoneMuted', muted: true })[0], 'Microphone is muted');
});

test('the window whose microphone another one took says so after its conversation ended, and offers to take it back', () => {
  const changes: Change[] = [
    { is: 'notification', params: { code: 'microphoneTaken', message: 'Another window took over the microphone.', remediation: 'Take it over here to get it back.', severity: 'warning', kind: 'message' } },
    ...(['terminating', 'idle'] as const).map((state, i): Change => ({
      is: 'state', params: { state, previousState: 'listening', localizedLabel: state, since: '', cause: 'user.stop', queue: { count: 0, ids: [] }, seq: 4 + i, metadata: { copilotRequestId: null, interruptionCount: 0 } },
    })),
  ];
  const m = changes.reduce(reduce, inState('listening'));
  const { problem } = present(m, around, english);
  assert.deepEqual([problem?.message, problem?.remediation, problem?.remedies.map((r) => r.command)], [
    'Another window took over the microphone.', 'Take it over here to get it back.', ['agentvoice.takeOver'],
  ]);
});

test('a muted microphone reads Muted wherever the panel says what it hears, and a question says that it cannot hear', () => {
  const muted = heard({ muted: true, mutedBy: 'user' });
  assert.equal(present(inState('listening', {}, { ...muted, localizedLabel: '● Listening' }), around, english).label, 'Muted');
  assert.equal(statusIn(inState('listening', {}, { ...muted, localizedLabel: '● Listening' })).text, '$(mute) Muted');
  for (const state of STATES.filter((s) => !['idle', 'preparing', 'suspended', 'faulted', 'terminating', 'interrupted'].includes(s))) {
    assert.equal(present(inState(state, {}, muted), around, english).hint, 'You’re muted.', state);
  }
  for (const over of [{}, { destructive: true }, { click: true }]) {
    const approval = { callId: 'c', name: 'run', status: 'waitingForApproval' as const, destructive: false, ...over };
    const { hint } = present(inState('listening', { approval }, muted), around, english);
    assert.equal(hint, 'Muted, I can’t hear you: click, or unmute.');
  }
});

test('while no daemon runs nobody says that the microphone is muted', () => {
  const mic = (m: Partial<Model>): string => present({ ...START, ...m }, around, english).mic;
  assert.equal(mic({}), 'closed');
  assert.equal(mic({ daemon: 'failed' }), 'closed');
  assert.equal(mic({ daemon: 'starting' }), 'starting');
  assert.equal(mic({ daemon: 'restarting' }), 'starting');
});

test('whatever is muted can be unmuted by a button, and what listens for the phrase can be muted', () => {
  for (const state of STATES) {
    assert.ok(commands(inState(state, {}, heard({ muted: true }))).includes('toggleMute'), state);
  }
  const waits = heard({ wake: true, phrase: 'okay copilot' });
  assert.deepEqual(commands(inState('idle', {}, waits)), ['start', 'toggleMute']);
  assert.equal(present(inState('idle', {}, waits), around, english).hint, 'Say “okay copilot”, or press Start.');
  const muted = present(inState('idle', {}, heard({ open: false, muted: true, phrase: 'okay copilot' })), around, english);
  assert.deepEqual([muted.micText, muted.hint, muted.buttons[0]?.title], ['Microphone is muted', 'Unmute to start with “okay copilot”.', 'Unmute']);
  assert.deepEqual(commands(inState('idle')), ['start']);
});

test('lock-mute watches wherever the user may be heard: in a conversation, at its start, and for the phrase', () => {
  assert.equal(mayHear(inState('idle')), false);
  assert.equal(mayHear(START), false);
  assert.equal(mayHear({ ...START, starting: true }), true);
  assert.equal(mayHear(inState('listening')), true);
  assert.equal(mayHear(inState('idle', {}, heard({ wake: true }))), true);
  assert.equal(mayHear(inState('faulted', {}, heard({}))), true, 'a device that did not close');
});

test('dead Start button: in every state without a conversation it is there', () => {
  const idle = [START, { ...START, starting: true }, { ...START, daemon: 'failed' as const }, { ...START, daemon: 'restarting' as const }, inState('idle'), inState('faulted')];
  for (const m of idle) {
    assert.ok(commands(m).includes('start'), JSON.stringify(m.daemon));
  }
});

test('a button has its place in every state', () => {
  const places = (m: Model): string => present(m, around, english).buttons.map((b) => b.command).join(' ');
  for (const m of [START, ...STATES.flatMap((s) => [inState(s), inState(s, { canRetry: true }, { ...heard({ muted: true }), paused: { conversation: false, voice: true } })])]) {
    assert.equal(places(m), places(START), m.snapshot?.state);
  }
});

test('the buttons that can be pressed are those that do something', () => {
  assert.deepEqual(commands(START), ['start']);
  assert.deepEqual(commands(inState('faulted')), ['start', 'end']);
  assert.deepEqual(commands(inState('listening')), ['toggleMute', 'end', 'pause']);
  assert.deepEqual(commands(inState('speaking')), ['toggleMute', 'stopSpeaking', 'end', 'pauseSpeech']);
  assert.deepEqual(commands(inState('waitingForCopilot')), ['toggleMute', 'stopSpeaking', 'end']);
  assert.deepEqual(commands(inState('suspended')), ['end', 'pause']);
  assert.deepEqual(commands(inState('listening', { canRetry: true })), ['toggleMute', 'end', 'pause', 'retry']);
});

test('every failure that may be shown has words for each of its buttons, and they are commands of the panel', () => {
  for (const code of [...ERROR_CODES, 'daemonMissing', 'daemonPlatform', 'daemonProtocol', 'daemonBroken', 'daemonGivenUp', 'untrusted', 'noSelection', 'unexpected'] as const) {
    for (const r of remedies(code, true, english, '', true)) {
      assert.notEqual(r.title, r.command, code);
      assert.ok(PANEL_COMMANDS.includes(r.command), r.command);
    }
  }
  assert.equal(remedies('copilotNoConsent', false, english)[0]?.command, 'agentvoice.allowCopilot');
  assert.deepEqual(remedies('copilotNotInstalled', false, english).map((r) => r.command), ['agentvoice.selectAssistant', 'agentvoice.installCopilot']);
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
  assert.match(shownLine(answer({ cut: 'length' }), english).note ?? '', /^Cut off: length limit/);
  assert.equal(new Set((['length', 'turnLimit', 'filter', 'stall', 'interrupted'] as const).map((cut) => shownLine(answer({ cut }), english).note)).size, 5);
  assert.equal(shownLine(answer({ cutOff: true, heardChars: 0 }), english).note, 'Not heard');
  assert.equal(shownLine(answer({ cutOff: true, heardChars: 14 }), english).note, undefined, 'all of it was heard');
  assert.equal(shownLine(answer({ heardChars: 6 }), english).heard, undefined, 'it was not interrupted');
  assert.equal(shownLine(answer({ role: 'user', recognised: 'parse config v two' }), english).note, 'Heard: parse config v two');
  assert.equal(shownLine(answer({ role: 'user', recognised: 'parse config v two', correction: 'utt-3' }), english).correction, 'utt-3');
});

test('a caption is audible while the assistant speaks and is not held', () => {
  const caption = { turnId: 't', text: 'The parser', heardChars: 4 };
  assert.equal(present(inState('speaking', { caption }), around, english).caption?.audible, true);
  assert.equal(present(inState('speaking', { caption }, { paused: { conversation: false, voice: true } }), around, english).caption?.audible, false);
  assert.equal(present(inState('interrupted', { caption }), around, english).caption?.audible, false);
});

test('the status bar says state and microphone in words, and raises an alarm only for what needs the user', () => {
  const item = statusIn(inState('listening', {}, { localizedLabel: '● Listening' }));
  assert.deepEqual([item.text, item.accessible, item.alarm], ['$(mic-filled) Listening', 'Agent Voice: Listening, Microphone is on', 'none']);
  const approval = { callId: 'c', name: 'runTests', status: 'waitingForApproval' as const, destructive: false };
  assert.deepEqual([statusIn(inState('listening', { approval })).alarm, statusIn(inState('faulted')).alarm], ['warning', 'error']);
  assert.equal(statusIn(START).text, '$(mic) Agent Voice');
});

test('of a workspace that is not trusted nothing is offered to be sent', () => {
  assert.notEqual(present(START, { ...around, trusted: false }, english).contextOff, '');
});

test('a call is shown as it would run: commands whole, every member of the input, and nothing invisible', () => {
  const command = `cd x && ${'echo a && '.repeat(500)}rm -rf .`;
  const approval = {
    callId: 'c', name: 'run_in_terminal', status: 'waitingForApproval' as const, destructive: true, click: true,
    commands: [command, 'ls \u202egpj.exe'], input: { command, explanation: 'looks\naround', env: { PATH: '.' } },
  };
  const v = present(inState('listening', { approval }), around, english);
  assert.equal(v.approval?.commands[0], command);
  assert.equal(v.approval?.commands[1], 'ls \\u{202e}gpj.exe');
  assert.deepEqual(JSON.parse(v.approval?.input ?? ''), approval.input);
  assert.deepEqual([v.approval?.click, v.hint], [true, 'Click to allow it, or say no.']);
});

test('what does not show, or looks like a space, is shown as its code point', () => {
  for (const c of ['\u3164', '\u115f', '\ufe0f', '\u034f', '\u00a0', '\u3000', '\u2028', '\u202e', '\u200b', '\u00ad', '\u{e0001}', '\r', '\0']) {
    assert.equal(visible(`a${c}b`), `a\\u{${(c.codePointAt(0) ?? 0).toString(16)}}b`);
  }
  assert.equal(visible('ä 日本\n\t"é"'), 'ä 日本\n\t"é"');
});

test('the status bar says what a click does', () => {
  const click = (m: Model): string | undefined => statusIn(m).tooltip.split('\n').at(-1);
  assert.equal(click(START), 'Click to start a conversation.');
  assert.equal(click(inState('listening')), 'Click to end the conversation.');
  assert.equal(click(inState('faulted', { problem: { code: 'startTimeout', message: 'x', remediation: '', retryable: true, then: [] } })), 'Click to show the problem.');
});

test('a call says what to say to allow it, as the question has it, in each language', () => {
  const say = (question: string, over: object = {}): string | undefined =>
    present(inState('listening', { approval: { callId: 'c', name: 'run', status: 'waitingForApproval', destructive: false, question, ...over } }), around, english).approval?.say;
  assert.equal(say('Yes or no: May I use the tool run?'), 'yes');
  assert.equal(say('May I? To allow it, say “yes, run”; if not, say no.'), 'yes, run');
  assert.equal(say('Darf ich? Sagen Sie „ja, ausführen“, wenn ich darf, sonst nein.'), 'ja, ausführen');
  assert.equal(say('許可する場合は「はい、実行」、しない場合は「いいえ」と言ってください。'), 'はい、実行');
  assert.equal(say('May I? To allow it, click Allow once in the panel; if not, say no.', { click: true }), '');
});

test('what a conversation needs is unknown until it was looked at, and missing where a failure names it', () => {
  const states = (m: Model, over: Partial<Surroundings> = {}): string[] => present(m, { ...around, ...over }, english).checks.map((c) => c.state);
  assert.deepEqual(states(START), ['unknown', 'unknown', 'unknown']);
  assert.deepEqual(states(START, { found: { microphone: true, voice: true, assistant: false } }), ['works', 'works', 'missing']);
  const problem = { code: 'microphoneDenied' as const, message: 'x', remediation: '', retryable: true, then: [] };
  assert.deepEqual(states({ ...START, problem }, { found: { microphone: true } }), ['missing', 'unknown', 'unknown']);
});

test('who answers is the model, or the agent that is chosen', () => {
  assert.equal(present(START, around, english).facts.model, 'Model');
  const v = present(START, { ...around, agent: 'codex-acp' }, english);
  assert.deepEqual([v.facts.model, v.assistant], ['codex-acp', 'codex-acp']);
});

test('the question that its card shows is no caption and no notice, nor is it when the card is gone', () => {
  const question = 'Yes or no: May I use the tool run? The panel shows the whole call.';
  const approval = { callId: 'c', name: 'run', status: 'waitingForApproval' as const, destructive: false, question };
  const apart = (over: Partial<Model>): boolean | undefined => present(inState('speaking', { caption: { turnId: 't', text: question, heardChars: 3 }, ...over }), around, english).caption?.apart;
  const decided: Line = { id: 1, kind: 'tool', conversation: 1, turnId: 't', role: 'assistant', text: 'run', final: true, at: 0, call: { ...approval, status: 'rejected' } };
  const again = { approval, notice: { message: question, severity: 'info' as const, kind: 'message' as const } };
  assert.equal(present(inState('listening', again), around, english).notice, undefined);
  assert.ok(present(inState('listening', { ...again, notice: { ...again.notice, message: 'Louder.' } }), around, english).notice);
  assert.deepEqual([apart({ approval }), apart({ lines: [decided] }), apart({})], [false, false, true]);
});

/** A turn with an answer that calls tools: strings are the answer's text so far, names are calls. */
function acting(...steps: ({ text: string } | { call: string })[]): Model {
  return steps.reduce<Model>((m, step, i) => reduce(m, 'text' in step
    ? { is: 'transcript', at: 0, params: { turnId: 't', role: 'assistant', text: step.text, final: false, seq: i + 1 } }
    : { is: 'tool', at: 0, params: { callId: step.call, turnId: 't', requestId: 'r', name: step.call, status: 'completed' } }), inState('speaking'));
}

const texts = (lines: readonly ShownLine[]): string[] => lines.map((l) => l.text.trim());

test('an answer that goes on after a tool is shown below the tool, in the order in which it happened', () => {
  const shown = shownLines(english);
  const m = acting({ text: 'I look.' }, { call: 'a' }, { text: 'I look.\n\nI see.' }, { call: 'b' }, { call: 'c' }, { text: 'I look.\n\nI see.\n\nDone.' });
  const lines = shown(m.lines);
  assert.deepEqual(texts(lines), ['I look.', 'a', 'I see.', 'b', 'c', 'Done.']);
  assert.equal(new Set(lines.map((l) => l.id)).size, lines.length);
  assert.deepEqual(lines.map((l) => l.final), [true, true, true, true, true, false]);

  const more = shown(reduce(m, { is: 'transcript', at: 0, params: { turnId: 't', role: 'assistant', text: 'I look.\n\nI see.\n\nDone. All.', final: true, seq: 9 } }).lines);
  assert.deepEqual(more.map((l, i) => l === lines[i]), [true, true, true, true, true, false], 'only the part that grew is sent again');
});

test('what the user says while a tool waits stands between it and the rest of the answer', () => {
  const said = (m: Model, text: string, final: boolean): Model => reduce(m, { is: 'transcript', at: 0, params: { turnId: 'u', role: 'user', text, final, seq: 7 } });
  const more = (m: Model, text: string): Model => reduce(m, { is: 'transcript', at: 0, params: { turnId: 't', role: 'assistant', text, final: false, seq: 8 } });
  const asked = acting({ text: 'I look.' }, { call: 'a' });
  const allowed = said(said(asked, 'yes', false), 'yes please', true);
  assert.deepEqual(texts(shownLines(english)(more(allowed, 'I look.\n\nDone.').lines)), ['I look.', 'a', 'yes please', 'Done.']);
  assert.deepEqual(texts(shownLines(english)(said(more(asked, 'I look.\n\nDone.'), 'thanks', true).lines)), ['I look.', 'a', 'Done.', 'thanks']);
});

test('a tool that is called before the first word, or after the last, divides nothing', () => {
  assert.deepEqual(texts(shownLines(english)(acting({ call: 'a' }, { text: 'Done.' }).lines)), ['a', 'Done.']);
  assert.deepEqual(texts(shownLines(english)(acting({ text: 'I look.' }, { call: 'a' }).lines)), ['I look.', 'a']);
});

test('what is spoken and what was heard are found in the parts of an answer', () => {
  const whole = 'I look.\n\nI see it.';
  const m = acting({ text: 'I look.' }, { call: 'a' }, { text: whole });
  const spoken = (model: Model, text: string): readonly [string | undefined, string | undefined] => {
    const said = reduce(model, { is: 'caption', params: { turnId: 't', text, heardChars: 0 } });
    const { spoken: at } = present(said, around, english);
    const part = shownLines(english)(said.lines).find((l) => l.id === at?.line);
    return [part?.text.trim(), part?.text.slice(at?.from, at?.to)];
  };
  assert.deepEqual(spoken(m, 'I look.'), ['I look.', 'I look.']);
  assert.deepEqual(spoken(m, 'I see it.'), ['I see it.', 'I see it.']);

  const cut = (heardChars: number): (number | undefined)[] =>
    shownLines(english)(m.lines.map((l) => (l.kind === 'speech' ? { ...l, final: true, cutOff: true, heardChars } : l))).filter((l) => l.kind === 'speech').map((l) => l.heard);
  assert.deepEqual(cut(1), [1, -1], 'in the first part, and so not in the second');
  assert.deepEqual(cut(10), [undefined, 3], 'in the second');
});
