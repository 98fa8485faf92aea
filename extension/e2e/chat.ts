// Scenarios with the Chat view of VS Code: @voice there, and the Chat view as the
// one who answers what is said.

import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { question } from './copilot.ts';
import { until } from './wait.ts';
import { type World, conversation } from './world.ts';

/** The answers in the Chat view. */
function answers(w: World): Locator {
  return w.window.page.locator('.interactive-session .interactive-response');
}

async function openChat(w: World): Promise<void> {
  await w.window.command('Chat: Open Chat');
  await w.window.page.locator('.interactive-session .interactive-input-part .view-line').first().waitFor();
}

export function chat(): void {
  conversation('@voice: what is typed in the Chat view is a turn of the conversation, answered there and aloud', async (w) => {
    const { page } = w.window;
    w.copilot.answers({ parts: [{ text: 'It has three entries.' }] });
    w.copilot.forget();
    const begin = Date.now();
    await openChat(w);
    await page.locator('.interactive-session .interactive-input-part .monaco-editor').first().click();
    await page.keyboard.insertText('@voice how long is the list'); // at once: no suggestion is taken on the way
    await page.locator('.interactive-session .interactive-input-part').getByRole('button', { name: /^Send/ }).first().click();
    const request = await w.copilot.nth('request');
    assert.ok(question(request).endsWith('how long is the list'), question(request));
    await answers(w).filter({ hasText: 'It has three entries.' }).waitFor();
    await until('the voice', () => w.room.heardSince(begin) > 500);
    await w.panel.labelAfter('Speaking', begin);
    await w.panel.label('Listening');
    assert.equal((await w.panel.lines('user')).at(-1), 'how long is the list');
    assert.equal((await w.panel.lines('assistant')).at(-1), 'It has three entries.');
    assert.equal(w.copilot.all('request').length, 1);
    assert.deepEqual(w.copilot.all('chat'), [], 'the default participant is not asked as well');
    await w.picture('windows', 'chat-voice');
  });

  conversation('the Chat view answers: a spoken question arrives there once, and the voice says where the answer is', async (w) => {
    await w.copilot.configure({ 'agentvoice.copilot.mode': 'chatView' });
    try {
      await w.panel.get('session').filter({ hasText: 'Chat view' }).waitFor();
      w.copilot.forget();
      const begin = Date.now();
      await w.say('question');
      const { prompt } = await w.copilot.nth('chat');
      await answers(w).filter({ hasText: `Fake Copilot heard: ${prompt}` }).waitFor();
      await until('the answer', async () => (await w.panel.lines('assistant')).at(-1) === 'The answer is in the Chat view.');
      await until('the voice', () => w.room.heardSince(begin) > 500);
      await w.panel.label('Listening');
      assert.equal((await w.panel.lines('user')).at(-1), prompt);
      assert.equal(w.copilot.all('chat').length, 1);
      assert.deepEqual(w.copilot.all('request'), [], 'no model is asked beside it');
      await w.picture('windows', 'chat-view');
    } finally {
      await w.copilot.configure({ 'agentvoice.copilot.mode': null });
    }
  });
}
