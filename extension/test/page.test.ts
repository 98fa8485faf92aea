// The panel's page, bundled as in the package, in a DOM. The tests drive it with the extension's
// messages.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Element, HTMLElement } from 'happy-dom' with { 'resolution-mode': 'import' };
import { type Model, START, reduce } from '../src/model';
import type { Call, Line } from '../src/transcript';
import { STATES } from '../src/protocol.gen';
import { strings } from '../src/strings';
import { english } from '../src/text';
import { present, shownLine } from '../src/view';
import { MUTED, Panel, around, inState, line, source } from './pagePanel';

const EVERY: Model[] = [
  START,
  { ...START, starting: true },
  { ...START, daemon: 'failed' },
  ...STATES.flatMap((state) => [inState(state), inState(state, { canRetry: true }, { ...MUTED, paused: { conversation: false, voice: true } })]),
];

test('a page that is sent its contents twice keeps its elements', async () => {
  const panel = await Panel.open();
  panel.show({ ...START, lines: [line({ text: 'one', final: true })] });
  const before = panel.all('[data-testid]');
  panel.post({ type: 'init', strings: strings(english), locale: 'en' });
  panel.show({ ...START, lines: [line({ text: 'one', final: true })] });
  assert.deepEqual(panel.all('[data-testid]').map((e) => before.indexOf(e)), before.map((_, i) => i));
});

test('a control is the same element in the same place in every state', async () => {
  const panel = await Panel.open();
  panel.show(START);
  const before = panel.buttons();
  for (const model of EVERY) {
    panel.show(model);
    const now = panel.buttons();
    assert.equal(now.length, before.length, model.snapshot?.state);
    now.forEach((b, i) => assert.ok(b === before[i], `${b.getAttribute('data-testid')} in ${model.snapshot?.state}`));
  }
});

test('a press that straddles a change of the state does what was pressed', async () => {
  const panel = await Panel.open();
  panel.show(inState('speaking'));
  const stop = panel.get('stop-speaking');
  panel.press(stop);
  panel.show(inState('interrupted', { canRetry: true }));
  panel.release(stop);
  assert.deepEqual(panel.sent, [{ type: 'run', command: 'agentvoice.stopSpeaking' }]);
});

test('a press whose wish came true before it was over does not undo it', async () => {
  const panel = await Panel.open();
  panel.show(inState('listening'));
  panel.press(panel.get('toggle-mute'));
  panel.show(inState('listening', {}, MUTED));
  panel.release(panel.get('toggle-mute'));
  assert.deepEqual(panel.sent, []);
  panel.click(panel.get('toggle-mute'));
  assert.deepEqual(panel.sent, [{ type: 'run', command: 'agentvoice.toggleMute' }]);
});

test('a control that does nothing now says so, is passed over by the Tab key, and does nothing', async () => {
  const panel = await Panel.open();
  panel.show(inState('listening'));
  const stop = panel.get('stop-speaking');
  assert.deepEqual([stop.getAttribute('aria-disabled'), stop.getAttribute('tabindex')], ['true', '-1']);
  panel.click(stop);
  assert.deepEqual(panel.sent, []);
  panel.show(inState('speaking'));
  assert.deepEqual([stop.getAttribute('aria-disabled'), stop.getAttribute('tabindex')], [null, null]);
  panel.click(stop);
  assert.equal(panel.sent.length, 1);
});

test('what appears under a press is not pressed by the next click: Start where Stop was, Allow for another call', async () => {
  const panel = await Panel.open();
  panel.show(inState('speaking'));
  panel.show(inState('idle'));
  panel.show(inState('idle', { starting: true }));
  panel.click(panel.get('start'));
  assert.deepEqual(panel.sent, []);
  panel.elapse();
  panel.click(panel.get('start'));
  assert.equal(panel.sent.length, 1);

  const call = (callId: string): Call => ({ callId, hash: `hash of ${callId}`, name: 'run', status: 'waitingForApproval', destructive: false });
  panel.sent.length = 0;
  panel.show(inState('listening', { approval: call('a') }));
  const first = panel.get('approve');
  panel.press(first);
  panel.show(inState('listening', { approval: call('b') }));
  panel.release(first);
  panel.click(panel.get('approve'));
  assert.deepEqual(panel.sent, [], 'nobody allowed b');
  panel.elapse();
  panel.click(panel.get('approve'));
  assert.deepEqual(panel.sent, [{ type: 'approve', callId: 'b', hash: 'hash of b', approved: true }]);
});

test('focus stays at its place through every state, and goes to the control that is shown there', async () => {
  const panel = await Panel.open();
  const focused = (): string | null | undefined => panel.window.document.activeElement?.getAttribute('data-testid');
  panel.show(inState('listening'));
  panel.get('end').focus();
  for (const state of STATES) {
    panel.show(inState(state));
    assert.equal(focused(), 'end', state);
  }
  panel.show(inState('listening'));
  panel.get('pause').focus();
  for (const state of STATES.filter((s) => s !== 'idle' && s !== 'terminating' && s !== 'faulted')) {
    panel.show(inState(state));
    assert.equal(focused(), state === 'speaking' ? 'pause-speech' : 'pause', state);
  }
  panel.show(inState('idle'));
  assert.equal(focused(), 'start');
  panel.show(inState('idle'));
  panel.get('start').focus();
  panel.show(inState('preparing'));
  assert.equal(focused(), 'stop-speaking');
  panel.show(inState('idle'));
  assert.equal(focused(), 'start');
});

const ANSWER = 'The **parser** stops\nat a comma.\n\n- one\n- two `x`\n\n```go\nout = append(out, line)\n```\n\nThen it ends.';

test('a delta leaves what is there: the elements, a selection in them, and the focus', async () => {
  const panel = await Panel.open();
  const { document } = panel.window;
  const stream = (n: number, over: Partial<Line> = {}): void => panel.show(inState('speaking', { lines: [line({ text: ANSWER.slice(0, n), ...over })] }));
  stream(30);
  const article = panel.get('line');
  const words = [...panel.get('line-text').querySelectorAll('*')].find((e) => e.tagName === 'SPAN' && e.textContent === 'parser')!.firstChild!;
  const selection = document.getSelection()!;
  selection.setBaseAndExtent(words, 1, words, 4);
  for (let n = 31; n <= ANSWER.length; n++) {
    stream(n);
    assert.ok(panel.get('line') === article);
    assert.equal(selection.toString(), 'ars', `after ${n} characters`);
  }
  const code = panel.get('line-text').querySelector('pre')!;
  code.focus();
  stream(ANSWER.length, { final: true });
  assert.ok(document.activeElement === code);
  assert.equal(selection.toString(), 'ars', 'the end of the answer changes nothing of it');
});

test('a selection inside the text that grows keeps its place', async () => {
  const panel = await Panel.open();
  panel.show(inState('listening', { lines: [line({ role: 'user', text: 'why does' })] }));
  const text = panel.get('line-text').firstChild!;
  const selection = panel.window.document.getSelection()!;
  selection.setBaseAndExtent(text, 4, text, 8);
  panel.show(inState('listening', { lines: [line({ role: 'user', text: 'why does it lose' })] }));
  assert.equal(selection.toString(), 'does');
  panel.show(inState('listening', { lines: [line({ role: 'user', text: 'why does it lose', final: true })] }));
  assert.equal(selection.toString(), 'does');
});

test('a message that could not be sent is in the composer again, unless another was begun', async () => {
  const panel = await Panel.open();
  panel.show(inState('idle'));
  const composer = panel.get('composer') as unknown as { value: string };
  const send = (text: string): void => {
    composer.value = text;
    panel.get('send').dispatchEvent(new panel.window.Event('submit', { bubbles: true }));
    assert.equal(composer.value, '');
  };
  for (const attempt of [1, 2]) {
    send('what does it do');
    assert.equal(panel.sent.filter((m) => m.type === 'say').length, attempt);
    panel.show(inState('idle'));
    assert.equal(composer.value, '');
    panel.show(inState('idle'), { ...around, unsent: 'what does it do' });
    assert.equal(composer.value, 'what does it do');
  }
  composer.value = ''; // the user deletes it
  panel.show(inState('idle'), { ...around, unsent: 'what does it do' });
  assert.equal(composer.value, '', 'it is put back once');
  send('another');
  composer.value = 'a new one';
  panel.show(inState('idle'), { ...around, unsent: 'another' });
  assert.equal(composer.value, 'a new one');
});

test('Escape stops the assistant, but not while an input method is at work: there it takes back what that offers', async () => {
  const panel = await Panel.open();
  panel.show(inState('speaking'));
  const escape = (over: object): void => {
    panel.get('composer').dispatchEvent(new panel.window.KeyboardEvent('keydown', { key: 'Escape', bubbles: true, ...over }));
  };
  escape({ isComposing: true });
  escape({ keyCode: 229 });
  assert.deepEqual(panel.sent, []);
  escape({});
  assert.deepEqual(panel.sent, [{ type: 'run', command: 'agentvoice.stopSpeaking' }]);
});

test('an open detail stays open, and a focused element focused, when its line, the facts or the problem change', async () => {
  const panel = await Panel.open();
  const { document } = panel.window;
  const tool = (status: Call['status']): Line => line({ kind: 'tool', call: { callId: 'c', name: 'run', status, input: { a: 1 }, destructive: false } });
  panel.show(inState('processing', { lines: [tool('running')] }));
  const details = panel.get('line').querySelector('details')!;
  details.setAttribute('open', '');
  panel.show(inState('processing', { lines: [tool('completed')] }));
  assert.equal(panel.get('tool-status').textContent, 'Used the tool run');
  assert.ok(panel.get('line').querySelector('details') === details && details.hasAttribute('open'));

  panel.get('microphone').focus();
  panel.show(inState('processing'), { ...around, microphone: 'Headset' });
  assert.ok(document.activeElement === panel.get('microphone'));
  assert.match(panel.get('microphone').textContent, /Headset/);

  const problem = { code: 'connectionFailed' as const, message: 'The voice service cannot be reached.', remediation: 'Check the network.', retryable: true };
  panel.show(inState('faulted', { problem: { ...problem, then: [] } }));
  const remedy = panel.get('remedy');
  remedy.focus();
  panel.press(remedy);
  panel.show(inState('faulted', { problem: { ...problem, then: ['The session failed.'] } }));
  assert.ok(document.activeElement === remedy);
  panel.release(remedy);
  assert.deepEqual(panel.sent.map((m) => m.type), ['run']);
});

test('a notice is shown above a problem, each in its own words', async () => {
  const panel = await Panel.open();
  const problem = { code: 'connectionFailed' as const, message: 'The voice service cannot be reached.', remediation: 'Check the network.', retryable: true, then: [] };
  const notice = { message: 'The tool edit takes a while. The editor may be asking you to confirm it in a dialog.', severity: 'warning', kind: 'message' } as const;
  panel.show(inState('listening', { problem, notice }));
  assert.ok(!panel.get('notice').hidden && !panel.get('problem').hidden);
  assert.equal(panel.get('notice').textContent, notice.message);
  assert.equal(panel.get('problem-message').textContent, problem.message);
  assert.ok(panel.get('notice').nextElementSibling === panel.get('problem'));

  panel.show(inState('listening', { problem, notice: { ...notice, code: 'connectionFailed', message: problem.message } }));
  assert.ok(panel.get('notice').hidden, 'the problem says the same');
});

test('controls that share a place are never shown together, and a press on one is none on the other', async () => {
  const panel = await Panel.open();
  const shown = (...names: string[]): string[] => names.filter((name) => !panel.get(name).hidden);
  for (const model of EVERY) {
    panel.show(model);
    assert.equal(shown('start', 'stop-speaking', 'retry').length, 1, model.snapshot?.state);
    assert.ok(shown('pause', 'pause-speech').length <= 1, model.snapshot?.state);
  }
  panel.show(inState('listening'));
  panel.press(panel.get('pause'));
  panel.show(inState('speaking'));
  panel.release(panel.get('pause-speech'));
  panel.click(panel.get('pause-speech'));
  assert.deepEqual(panel.sent, [], 'nobody paused the voice');
});

const spokenAt = (text: string, heardChars: number, over: Partial<Line> = {}): Model =>
  reduce(inState('speaking', { conversation: 1, lines: [line({ text: ANSWER, final: true, ...over })] }), { is: 'caption', params: { turnId: 't', text, heardChars } });

test('what is spoken is marked in the text, and what is behind it is dimmed, without a change of the page', async () => {
  const panel = await Panel.open();
  panel.show(inState('speaking', { conversation: 1, lines: [line({ text: ANSWER, final: true })] }));
  const before = panel.get('line-text').innerHTML;
  panel.show(spokenAt('The **parser** stops\nat a comma.', 0));
  assert.equal(panel.marked('spoken-now'), 'The parser stops\nat a comma.');
  assert.equal(panel.marked('spoken-rest'), 'onetwo xThen it ends.');
  panel.show(spokenAt('The **parser** stops\nat a comma.', 'The **par'.length));
  assert.equal(panel.marked('spoken-now'), 'ser stops\nat a comma.');
  assert.equal(panel.get('line-text').innerHTML, before);
  assert.ok(panel.get('caption').classList.contains('sr'), 'there is no second caption');
  panel.show(inState('listening', { conversation: 1, lines: [line({ text: ANSWER, final: true })] }));
  assert.equal(panel.marked('spoken-now') + panel.marked('spoken-rest'), '');
});

test('beside a screen reader one voice speaks: the sentence is read only where no voice says it, and tones tell the state', async () => {
  const panel = await Panel.open();
  const live = (): (string | null)[] => [panel.get('caption').getAttribute('aria-live'), panel.get('state').getAttribute('aria-live')];
  const m = spokenAt('The quota is used up.', 0);
  panel.show(m, { ...around, tones: true });
  assert.deepEqual(live(), ['polite', 'polite'], 'without a reader nothing is changed');
  panel.window.document.body.classList.add('vscode-using-screen-reader');
  await panel.window.happyDOM.waitUntilComplete();
  assert.deepEqual(panel.sent, [{ type: 'screenReader' }], 'the editor is told, once');
  panel.show(m, { ...around, tones: true });
  assert.deepEqual(live(), ['off', 'off']);
  panel.show(m, { ...around, tones: true, silent: true });
  assert.deepEqual(live(), ['polite', 'off'], 'the reader reads what no voice says');
  panel.show(m, around);
  assert.deepEqual(live(), ['off', 'polite'], 'without tones the reader tells the state');
});

test('what is said besides the transcript is shown beside it', async () => {
  const panel = await Panel.open();
  panel.show(spokenAt('The quota is used up.', 0));
  assert.equal(panel.get('caption').className, 'caption');
  assert.equal(panel.get('caption').textContent, 'The quota is used up.');
  assert.equal(panel.marked('spoken-now'), '');
});

test('what was not heard begins with a button that reads from there, and a click on it reads from that word', async () => {
  const panel = await Panel.open();
  panel.show(inState('listening', { conversation: 1, lines: [line({ text: ANSWER, final: true, cutOff: true, heardChars: 14 })] }));
  panel.click(panel.get('cut'));
  assert.deepEqual(panel.sent, [{ type: 'read', text: ANSWER.slice(14) }]);
  const comma = panel.all('.unheard').find((e) => e.textContent.includes('comma'))!;
  panel.window.document.getSelection()!.setBaseAndExtent(comma.firstChild!, comma.textContent.indexOf('mma'), comma.firstChild!, comma.textContent.indexOf('mma'));
  panel.click(comma);
  assert.deepEqual(panel.sent.at(-1), { type: 'read', text: ANSWER.slice(ANSWER.indexOf('comma')) });
  panel.window.document.getSelection()!.setBaseAndExtent(comma.firstChild!, 0, comma.firstChild!, 3);
  panel.click(comma);
  assert.equal(panel.sent.length, 2, 'who selects text reads nothing');
});

test('the correction of a request has a button that undoes it', async () => {
  const panel = await Panel.open();
  const corrected = { role: 'user', text: 'why does splitFields fail', final: true, recognised: 'why does split fields fail' } as const;
  panel.show(inState('listening', { conversation: 1, lines: [line({ ...corrected, correction: 'utt-3' })] }));
  panel.click(panel.get('undo-correction'));
  assert.deepEqual(panel.sent, [{ type: 'undoCorrection', correction: 'utt-3' }]);
  panel.show(inState('listening', { conversation: 1, lines: [line({ role: 'user', text: 'why does split fields fail', final: true })] }));
  assert.equal(panel.all('[data-testid="undo-correction"]').length, 0);
  panel.show(inState('listening', { conversation: 1, lines: [line(corrected)] }));
  assert.equal(panel.all('[data-testid="undo-correction"]').length, 0, 'what was heard is shown also of other words');
});

test('an answer with a tool in it: where the voice stopped is marked once, and reading on goes to its end', async () => {
  const panel = await Panel.open();
  const call = { callId: 'c', name: 'run_tests', status: 'completed', destructive: false } as const;
  const text = 'I look at it.\n\nIt is fine.';
  panel.show(inState('listening', { conversation: 1, lines: [
    line({ text, final: true, cutOff: true, heardChars: 2 }),
    line({ id: 2, kind: 'tool', text: 'run_tests', final: true, call, within: { line: 1, at: 13 } }),
  ] }));
  assert.deepEqual(panel.all('[data-testid="line"]').map((e) => e.dataset['kind']), ['speech', 'tool', 'speech']);
  assert.deepEqual(panel.all('.unheard').map((e) => e.textContent), ['look at it.', 'It is fine.']);
  assert.equal(panel.all('[data-testid="cut"]').length, 1);
  panel.click(panel.get('cut'));
  assert.deepEqual(panel.sent, [{ type: 'read', text: text.slice(2) }]);
});

test('code gets its colours when its block is complete, by its language, and stays the text that it is', async () => {
  const panel = await Panel.open();
  const go = '```go\nfunc main() { return "a<b" } // so\n```';
  const coloured = (): string[] => panel.all('[class^="hl-"]').map((e) => `${e.className.slice(3)} ${e.textContent}`);
  panel.show(inState('processing', { lines: [line({ text: go })] }));
  assert.deepEqual(coloured(), [], 'it may grow');
  panel.show(inState('processing', { lines: [line({ text: `${go}\n\nNext` })] }));
  assert.deepEqual(coloured(), ['keyword func', 'title main', 'keyword return', 'string "a<b"', 'comment // so']);
  assert.equal(panel.all('pre code')[0]?.textContent, 'func main() { return "a<b" } // so');
  const pre = panel.all('pre code')[0]?.firstChild;
  panel.show(inState('listening', { lines: [line({ text: `${go}\n\nNext`, final: true })] }));
  assert.equal(panel.all('pre code')[0]?.firstChild, pre, 'it is coloured once');
  for (const text of ['```brainfuck\n+++ "x"\n```', '```\nfunc x\n```', `\`\`\`go\n${'func x() {}\n'.repeat(2_000)}\`\`\``]) {
    panel.show(inState('listening', { lines: [line({ id: 2, text, final: true })] }));
    assert.equal(panel.all('[data-line="2"] [class^="hl-"]').length, 0, text.slice(0, 20));
  }
  panel.show(inState('listening', { lines: [line({ id: 3, text: go, final: true, cutOff: true, heardChars: 0 })] }));
  assert.equal(panel.all('[data-line="3"] [class^="hl-"]').length, 0, 'what was not heard is grey');
});

const RICH = '## Why\n\nSee `parser.go:12`, src/a/b.go and [the page](https://example.com/x).\n\n- [x] done\n- [ ] open\n\n| a | b |\n|--|--:|\n| 1 | 2 |\n\n'
  + `\`\`\`go\n${Array.from({ length: 30 }, (_, i) => `line${i}()`).join('\n')}\n\`\`\`\n\n<img src=x onerror=alert(1)> ~~gone~~`;

test('an answer is rendered from its Markdown: files open, code is copied and inserted, long code is folded', async () => {
  const panel = await Panel.open();
  panel.show(inState('listening', { lines: [line({ text: RICH, final: true })] }));
  const text = panel.get('line-text');
  assert.deepEqual(panel.all('[data-testid="file"]').map((f) => f.getAttribute('data-file')), ['parser.go:12', 'src/a/b.go']);
  panel.click(panel.get('file'));
  assert.equal(text.querySelector('a[href]')?.getAttribute('href'), 'https://example.com/x');
  assert.deepEqual([...text.querySelectorAll('.box')].map((b) => b.getAttribute('aria-label')), ['Done', 'Open task']);
  assert.deepEqual([...text.querySelectorAll('th, td')].map((c) => c.textContent), ['a', 'b', '1', '2']);
  assert.equal(text.querySelector('[role="heading"]')?.textContent, 'Why');
  assert.equal(text.querySelector('img'), null);
  assert.match(text.textContent, /<img src=x onerror=alert\(1\)>/);
  const code = `${Array.from({ length: 30 }, (_, i) => `line${i}()`).join('\n')}`;
  panel.click(panel.get('code-copy'));
  panel.click(panel.get('code-insert'));
  assert.deepEqual(panel.sent, [{ type: 'open', file: 'parser.go:12' }, { type: 'copy', text: code }, { type: 'insert', text: code, language: 'go' }]);
  assert.equal(panel.get('done').textContent, 'Copied');
  assert.ok(text.querySelector('pre')?.classList.contains('folded'));
  panel.click(panel.get('fold'));
  assert.equal(text.querySelector('pre')?.classList.contains('folded'), false);
  assert.equal(panel.get('fold').getAttribute('aria-expanded'), 'true');
});

test('the bundle makes no HTML of text', () => {
  assert.doesNotMatch(source, /\.(innerHTML|outerHTML|insertAdjacentHTML)\b|document\.write/);
});

test('before the first word the panel says how to begin, and what was found; then it is gone', async () => {
  const panel = await Panel.open();
  panel.show(START, { ...around, startKey: 'Alt+Shift+K', found: { microphone: false, assistant: true } });
  assert.equal(panel.get('empty').hidden, false);
  assert.deepEqual(panel.all('.checks li').map((c) => c.getAttribute('data-state')), ['missing', 'unknown', 'works']);
  panel.click(panel.get('welcome-start'));
  panel.click(panel.get('check-setup'));
  assert.deepEqual(panel.sent, [{ type: 'run', command: 'agentvoice.start' }, { type: 'run', command: 'agentvoice.checkSetup' }]);
  panel.show(inState('listening', { lines: [line({ role: 'user', text: 'why' })] }));
  assert.equal(panel.get('empty').hidden, true);
});

test('what is sent with a question can be switched by a press that straddles a change of the editor', async () => {
  const panel = await Panel.open();
  const piece = (detail: string) => ({ key: 'activeFile' as const, title: 'Active file', detail, on: true, present: true });
  panel.show(START, { ...around, context: [piece('a.go')] });
  const chip = panel.get('context-activeFile');
  panel.press(chip);
  panel.show(START, { ...around, context: [piece('a.go'), { key: 'selection', title: 'Selection', detail: '1 line', on: true, present: true }] });
  panel.release(chip);
  assert.deepEqual(panel.sent, [{ type: 'context', key: 'activeFile', on: false }]);
});

test('lines that come back stand where they were', async () => {
  const panel = await Panel.open();
  const say = (id: number): Line => line({ id, role: 'user', text: `line ${id}`, final: true });
  const shown = (): string[] => panel.all('[data-testid="line-text"]').map((l) => l.textContent);
  panel.show(inState('listening', { lines: [say(1), say(2), say(4)] }));
  panel.post({ type: 'view', view: present(inState('listening'), around, english), lines: [shownLine(say(3), english)], keep: [1, 2, 3, 4] });
  assert.deepEqual(shown(), ['line 1', 'line 2', 'line 3', 'line 4']);
  panel.post({ type: 'view', view: present(inState('listening'), around, english), lines: [], keep: [2, 4] });
  assert.deepEqual(shown(), ['line 2', 'line 4']);
});

/** Pseudo-random numbers, the same in every run (mulberry32). */
function* numbers(seed: number): Generator<number, never> {
  for (let a = seed; ; ) {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    yield ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }
}

test('of 200 presses across changes of the state none is lost, and none does what another control does', async () => {
  const panel = await Panel.open();
  const random = numbers(18);
  const any = <T>(list: readonly T[]): T => list[Math.floor(random.next().value * list.length)]!;
  const what = (b: Element): string => (b as HTMLElement).hidden || b.getAttribute('aria-disabled') === 'true' ? '' : `does ${b.getAttribute('aria-pressed') ?? ''}`;
  let done = 0;
  for (let i = 0; i < 200; i++) {
    panel.show(any(EVERY));
    if (random.next().value < 0.8) {
      panel.elapse();
    }
    const control = any(panel.buttons().filter((b) => !(b as HTMLElement).hidden));
    const offered = what(control);
    panel.sent.length = 0;
    panel.press(control);
    panel.show(any(EVERY));
    const offers = what(control);
    if (!(control as HTMLElement).hidden) { // a browser cannot click a hidden element
      panel.release(control);
    }
    const wanted = offered !== '' && offered === offers ? [control.getAttribute('data-testid')] : [];
    const commands = panel.sent.map((m) => (m.type === 'run' ? m.command.replace('agentvoice.', '').replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`) : m.type));
    assert.deepEqual(commands, wanted, `press ${i}`);
    done += wanted.length;
  }
  assert.ok(done > 50, `only ${done} presses did something`);
});
