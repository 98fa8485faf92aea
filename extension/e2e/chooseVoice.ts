// Choose Voice: each speaker is heard before it is chosen, but not beside an open microphone.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Locator } from 'playwright-core';
import { until } from './wait.ts';
import { type World, scenario, settings } from './world.ts';

/** How much of a sample is heard before the test goes on, in milliseconds. */
const SOME = 400;

/** How long a sample that must not be heard gets to sound, in milliseconds: several times what it takes. */
const SILENCE = 4000;

/** Runs the command; returns the rows of its list. */
async function open(w: World): Promise<Locator> {
  await w.window.command('Agent Voice: Choose Voice');
  const list = w.window.page.locator('.quick-input-widget');
  await list.locator('.quick-input-title').filter({ hasText: 'Choose Voice' }).waitFor();
  return list.locator('.monaco-list-row');
}

/** The name of the speaker in a row. */
async function name(row: Locator): Promise<string> {
  return (await row.locator('.label-name').first().innerText()).trim();
}

function chosen(w: World): string | undefined {
  return (JSON.parse(readFileSync(w.server.file('data/User/settings.json'), 'utf8')) as Record<string, string>)['agentvoice.voice.name'];
}

export function chooseVoice(): void {
  scenario('Choose Voice: each speaker is heard when the user moves to it or presses its button; the accepted one is kept', async (w) => {
    await w.closeWindow();
    w.server.configure(settings);
    await w.openWindow();
    const panel = await w.openPanel();
    await panel.label('Ready');
    const { page } = w.window;
    const opened = Date.now();
    const rows = await open(w);
    const focused = rows.and(page.locator('.focused'));
    const first = await name(focused);
    assert.ok((await rows.count()) >= 4, `${await rows.count()} speakers are offered`);
    await new Promise((resolve) => setTimeout(resolve, SILENCE));
    assert.equal(w.room.heardSince(opened), 0, 'opening the list is no move of the user');

    const moved = Date.now();
    await page.keyboard.press('ArrowDown');
    const second = await name(focused);
    assert.notEqual(second, first);
    await until(`the voice of ${second}`, () => w.room.heardSince(moved) > SOME);
    await w.picture('windows', 'choose-voice');

    const pressed = Date.now();
    const third = rows.nth(2);
    await third.hover();
    await third.locator('.quick-input-list-entry-action-bar .action-label').first().click();
    await until(`the voice of ${await name(third)}`, () => w.room.heardSince(pressed) > SOME);

    // Accepting stops the sample.
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    const accepted = await name(focused);
    await page.keyboard.press('Enter');
    await until('the setting', () => chosen(w) === accepted);
    const again = await open(w);
    assert.equal(await name(again.and(page.locator('.focused'))), accepted, 'the list opens with the chosen one');
    await page.keyboard.press('Escape');

    await w.start();
    w.copilot.answers({ parts: [{ text: 'The parser splits the text at commas.' }] });
    const asked = Date.now();
    await panel.get('composer').fill('what does it do');
    await panel.get('composer').press('Enter');
    await until('the answer in the chosen voice', () => w.room.heardSince(asked) > SOME);
  });

  scenario('Choose Voice beside an open microphone: no sample sounds, and the list says so', async (w) => {
    await w.listening();
    await until('the end of the answer', () => Date.now() - (w.room.lastHeard() ?? 0) > 1000);
    const opened = Date.now();
    const rows = await open(w);
    await w.window.page.getByPlaceholder('To hear others now, say').waitFor();
    await w.window.page.keyboard.press('ArrowDown');
    assert.equal(await rows.first().locator('.quick-input-list-entry-action-bar .action-label').count(), 0);
    await new Promise((resolve) => setTimeout(resolve, SILENCE));
    assert.equal(w.room.heardSince(opened), 0);
    await w.window.page.keyboard.press('Escape');
    await w.closeWindow();
    w.server.configure(settings);
  });
}
