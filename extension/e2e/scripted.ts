// Scenarios with a headless daemon: how the window handles keys, interruptions and failures produced by
// a script.

import assert from 'node:assert/strict';
import { DARK, GATE, Stage } from './stage.ts';
import { until } from './wait.ts';
import { scenario, settings } from './world.ts';

/** A cough, too short and without words; then a question. */
const INTERRUPTIONS = `
auto speech 50ms 3s
auto flush 40ms
await state listening
${GATE}
say "why does the parser lose the last field"
${GATE}
vad.start
${GATE}
after 150ms
vad.end
stt.final ""
${GATE}
vad.start
${GATE}
after 600ms
vad.end
stt.final "show me the line"
`;

const ANSWER = 'The parser stops at the last comma. So the last field is lost. Add it after the loop.';

const FAILURES = `
await state listening
${GATE}
session.failed connectionFailed
${GATE}
session.failed connectionFailed
${GATE}
session.failed connectionFailed
`;

export function scripted(): void {
  scenario('everything goes by the keyboard: mute, the order of focus, a key to hold, end and start', async (w) => {
    const stage = await Stage.open(w, 'keyboard', 'await state listening\n');
    const { panel } = w;
    const { keyboard } = w.window.page;
    await w.start();
    await panel.button('toggle-mute').focus();
    await keyboard.press('Alt+Shift+M');
    await panel.get('mic-text').filter({ hasText: 'muted' }).waitFor();
    await keyboard.press('Alt+Shift+M');
    await panel.get('mic-text').filter({ hasText: 'on' }).waitFor();
    const order: string[] = [];
    await panel.get('transcript').focus();
    for (let i = 0; i < 12 && order.at(-1) !== 'answers'; i++) {
      const id = await panel.frame.evaluate(() => document.activeElement?.getAttribute('data-testid') ?? '');
      if (!id.startsWith('context-')) { // their number depends on the open file
        order.push(id);
      }
      await keyboard.press('Tab');
    }
    assert.deepEqual(order, ['transcript', 'composer', 'send', 'toggle-mute', 'pause', 'end', 'answers']);
    await keyboard.press('Alt+Shift+K');
    await panel.label('Ready');
    await w.copilot.configure({ 'agentvoice.turnDetection.mode': 'pushToTalk' });
    await keyboard.press('Alt+Shift+K');
    await panel.label('Listening');
    await panel.get('mic-text').filter({ hasText: 'waits for the key' }).waitFor();
    await keyboard.press('Alt+Shift+J');
    const held = (): unknown[] => stage.tap.of('conversation/pushToTalk').map((p) => (p.message.params as { down: boolean }).down);
    await until('the key to be up again', () => held().length >= 2);
    assert.deepEqual(held(), [true, false]);
    assert.equal(await w.window.page.locator('.monaco-menu-container').count(), 0, 'no key opened a menu of the editor');
    await w.copilot.configure({ 'agentvoice.turnDetection.mode': null });
    await panel.end();
    await w.closeWindow();
  });

  scenario('the keys work while a terminal has the focus', async (w) => {
    await Stage.open(w, 'terminal', 'await state listening\n');
    const { panel, window: { page } } = w;
    await w.start();
    await w.window.command('Terminal: Create New Terminal');
    await page.locator('.xterm.focus').first().waitFor();
    await page.keyboard.press('Alt+Shift+M');
    await panel.label('Muted');
    await page.keyboard.press('Alt+Shift+M');
    await panel.label('Listening');
    await page.keyboard.press('Alt+Shift+K');
    await panel.label('Ready');
    assert.equal(await page.locator('.xterm.focus').count(), 1);
    await w.window.command('Terminal: Kill All Terminals');
    await w.closeWindow();
  });

  scenario('a press that straddles a change of state is carried out, and a selection in a growing answer stays', async (w) => {
    const stage = await Stage.open(w, 'presses', `auto speech 50ms 9s\nawait state listening\n${GATE}\nsay "why does the parser lose the last field"\n`);
    const { panel } = w;
    const { mouse } = w.window.page;
    w.copilot.answers({ parts: [{ gate: 'one' }, { text: 'The parser stops ' }, { gate: 'two' }, { text: 'at the last comma.' }] });
    await w.start();
    await panel.button('toggle-mute').hover();
    await mouse.down();
    await stage.next();
    await panel.label('Waiting for Copilot');
    await mouse.up();
    await panel.get('mic-text').filter({ hasText: 'muted' }).waitFor();
    w.copilot.open('one');
    const answer = panel.frame.locator('[data-testid="line"][data-who="assistant"] [data-testid="line-text"]').last();
    await answer.filter({ hasText: 'The parser stops' }).waitFor();
    await answer.evaluate((node) => {
      const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
      const text = walker.nextNode()!;
      getSelection()!.setBaseAndExtent(text, 4, text, 10);
    });
    w.copilot.open('two');
    await answer.filter({ hasText: 'at the last comma.' }).waitFor();
    assert.equal(await panel.frame.evaluate(() => getSelection()!.toString()), 'parser');
    await panel.button('toggle-mute').click(); // mute persists across windows
    await panel.get('mic-text').filter({ hasText: 'on' }).waitFor();
    await panel.end();
    await w.closeWindow();
  });

  scenario('an interruption is shown as it happens: after a cough the answer goes on, words end it where it was heard', async (w) => {
    const stage = await Stage.open(w, 'interruptions', INTERRUPTIONS);
    const { panel } = w;
    w.copilot.answers({ when: 'line', parts: [{ text: 'Line 12.' }] }, { parts: [{ text: ANSWER }] });
    await w.start();
    await stage.next();
    await until('all of the answer', async () => (await panel.lines('assistant')).at(-1) === ANSWER);
    await stage.reach('Speaking');
    await stage.tap.advance(1500);
    await panel.get('caption').waitFor();

    await stage.next();
    await panel.label('Interrupted');
    await w.status().filter({ hasText: 'Interrupted' }).waitFor();
    await stage.next();
    await panel.label('Speaking');
    assert.equal(await panel.get('cut').count(), 0);
    assert.equal(w.copilot.all('request').length, 1, 'a cough is no question');

    await stage.next();
    await panel.label('Interrupted');
    await stage.next();
    await panel.get('line-note').filter({ hasText: 'Interrupted' }).waitFor();
    await panel.get('cut').waitFor();
    await until('the next answer', async () => (await panel.lines('assistant')).at(-1) === 'Line 12.');
    await stage.reach('Listening');
    await w.status().filter({ hasText: 'Listening' }).waitFor();
    assert.deepEqual(await panel.lines('user'), ['why does the parser lose the last field', 'show me the line']);
    assert.equal(w.copilot.all('request').length, 2);
    await w.closeWindow();
  });

  scenario('a service that fails three times in a minute is given up: nothing is tried, and Start begins again', async (w) => {
    const stage = await Stage.open(w, 'breaker', FAILURES);
    const { panel } = w;
    await w.start();
    for (let failure = 1; failure <= 3; failure++) {
      await panel.label('Listening');
      await stage.next();
      await panel.label('Problem');
      if (failure < 3) {
        await stage.reach('Listening'); // after a retry
      }
    }
    const before = stage.tap.of('agentvoice.state').length;
    await stage.tap.advance(10_000);
    assert.deepEqual(stage.tap.of('agentvoice.state').slice(before), [], 'nothing is tried');
    await panel.get('problem').filter({ hasText: 'several times' }).waitFor();
    await w.status().filter({ hasText: 'Problem' }).waitFor();
    await w.picture('windows', 'given-up');
    await panel.remedy('start').click();
    await panel.label('Listening');
    await panel.get('problem').waitFor({ state: 'hidden' });
    await w.closeWindow();
  });

  scenario('a daemon that is not there: the panel says so with what helps, and Start can be pressed again', async (w) => {
    w.server.configure({ ...settings, 'agentvoice.daemon.path': '/nowhere/agentvoice-daemon', 'workbench.colorTheme': DARK });
    await w.openWindow();
    const panel = await w.openPanel();
    await w.start('Not available');
    assert.match(await panel.problem(), /agentvoice\.daemon\.path/);
    await panel.remedy('openSettings').waitFor();
    await w.copilot.configure({ 'agentvoice.daemon.path': null });
    await until('Start to work', async () => {
      await panel.button('start').click();
      return until('Listening', async () => (await panel.get('state-label').innerText()) === 'Listening', 5000).catch(() => false as const);
    });
    assert.equal(await panel.get('problem').isVisible(), false);
    await panel.end();
    await w.closeWindow();
  });
}
