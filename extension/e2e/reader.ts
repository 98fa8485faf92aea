// With a screen reader, as far as VS Code reports one.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { until } from './wait.ts';
import { scenario, settings } from './world.ts';

const ANSWER = 'The parser splits the text at commas. It returns a list.';

export function reader(): void {
  scenario('beside a screen reader the panel asks once, and the reader reads in place of the voice', async (w) => {
    await w.closeWindow();
    // The tones that the answer enables would be heard at the speaker.
    w.server.configure({ ...settings, 'editor.accessibilitySupport': 'on', 'agentvoice.cues.volume': 0 });
    await w.openWindow();
    const panel = await w.openPanel();
    await w.window.toasts().filter({ hasText: 'A screen reader is in use.' }).waitFor();
    await w.picture('windows', 'screen-reader');
    await w.window.page.getByRole('button', { name: 'Let the screen reader read' }).click();
    await until('the settings', () => readFileSync(w.server.file('data/User/settings.json'), 'utf8').includes('agentvoice.voice.silent'));
    await w.start();
    await panel.get('mic-text').filter({ hasText: 'waits for the key' }).waitFor();
    w.copilot.answers({ parts: [{ text: ANSWER }] });
    const begin = Date.now();
    await panel.get('composer').fill('what does it do');
    await panel.get('composer').press('Enter');
    await until('a sentence for the reader', async () => (await panel.get('caption').textContent())?.includes('splits'));
    assert.equal(await panel.get('caption').getAttribute('aria-live'), 'polite');
    await until('the whole answer', async () => (await panel.shown()).captions.some((c) => c.at >= begin && c.text.includes('returns a list')));
    await until('its end', async () => (await panel.get('state').getAttribute('data-state')) === 'listening');
    assert.equal(w.room.heardSince(begin), 0, 'no voice speaks');
    await w.closeWindow();
  });
}
