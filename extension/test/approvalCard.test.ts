// The card of a call that awaits approval, and what a window says that it cannot do.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { visible } from '../src/shownCall';
import type { Call } from '../src/transcript';
import type { Surroundings } from '../src/view';
import { Panel, around, inState } from './pagePanel';

test('the approval card shows a long command to its end, and every member of the input', async () => {
  const panel = await Panel.open();
  const command = `cd x && ${'echo a && '.repeat(2000)}rm -rf .`;
  const approval: Call = {
    callId: 'a', name: 'run', status: 'waitingForApproval', destructive: true, click: true, commands: [command],
    input: { command, cwd: '/', env: { PATH: '.' }, note: 'x'.repeat(5000) },
  };
  panel.show(inState('listening', { approval }));
  assert.equal(panel.get('approval-command').textContent, command);
  const members = Object.fromEntries(panel.all('.member').map((m) => [m.querySelector('dt')?.textContent, m.querySelector('dd')?.textContent ?? '']));
  const { cwd, env, note } = approval.input as Record<string, unknown>;
  assert.deepEqual({ ...members, env: JSON.parse(members['env'] ?? '') as unknown }, { cwd, env, note }, 'the command is shown above them');
  assert.match(panel.get('approval-destructive').textContent ?? '', /Only a click allows it/);
});

test('a window without a folder of this machine says beforehand what does not work', async () => {
  const panel = await Panel.open();
  const said = (place: Surroundings['place'] & string): string | undefined => {
    panel.show(inState('idle'), { ...around, place });
    return panel.all('[data-testid=limits]')[0]?.textContent;
  };
  assert.match(said('remote') ?? '', /^Remote window: .*no commands run/);
  assert.match(said('none') ?? '', /^No folder is open: /);
  assert.equal(said('here'), undefined);
});

test('a change is shown as a diff, old before new, in the order of the call, with the whole input one click away', async () => {
  const panel = await Panel.open();
  const input = { edits: [{ newText: 'one\nthree\n', oldText: 'one\ntwo\n', why: 'it is wrong' }, { oldText: '', newText: 'new' }], path: 'a.go' };
  panel.show(inState('listening', { approval: { callId: 'c', name: 'editor_apply_edit', status: 'waitingForApproval', destructive: false, input } }));
  const rows = panel.all('.member').map((row) => [row.querySelector('dt')?.textContent, [...row.querySelectorAll('dd code')].map((code) => `${code.className}|${code.textContent}`)]);
  assert.deepEqual(rows, [
    ['edits 1 oldText → newText', ['kept|  one', 'removed|- two', 'added|+ three', 'kept|  ']],
    ['edits 1 why', ['|it is wrong']],
    ['edits 2 oldText → newText', ['added|+ new']],
    ['path', ['|a.go']],
  ]);
  const whole = panel.get('approval-whole');
  assert.ok(!whole.hasAttribute('open'));
  assert.deepEqual(JSON.parse(whole.querySelector('pre')?.textContent ?? ''), input);
});

test('each call is shown whole, and the click that allows it sends its hash', async () => {
  const calls = JSON.parse(readFileSync(join(__dirname, '../../../testdata/calls.json'), 'utf8')) as { tool: string; input: unknown; hash: string }[];
  const leaves = (v: unknown): unknown[] => typeof v === 'object' && v !== null && Object.keys(v).length > 0
    ? Object.entries(v).flatMap(([name, member]: [string, unknown]) => [...Array.isArray(v) ? [] : [name], ...leaves(member)]) : [v];
  for (const [i, { tool, input, hash }] of calls.entries()) {
    const panel = await Panel.open();
    panel.show(inState('listening', { approval: { callId: `c${String(i)}`, hash, name: tool, input, status: 'waitingForApproval', destructive: false } }));
    panel.window.document.querySelector('[data-testid=approval-whole]')?.remove(); // the card says all of it without that
    const card = panel.get('approve').closest('[data-testid=approval]')?.textContent ?? '';
    for (const leaf of leaves(input)) {
      const text = visible(typeof leaf === 'string' ? leaf : JSON.stringify(leaf));
      assert.ok(text === '{}' || text.split('\n').every((line) => card.includes(line)) || card.includes(JSON.stringify(leaf).slice(1, -1)), `${text} is not in ${card}`);
    }
    panel.elapse();
    panel.click(panel.get('approve'));
    assert.deepEqual(panel.sent.at(-1), { type: 'approve', callId: `c${String(i)}`, hash, approved: true });
  }
});
